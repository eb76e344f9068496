"""NumPy's functions in all the forms of their calls, as texts of programs.

Each form is run as it is written, compiled in both modes, and with Tensors: the value is NumPy's
to the last bit, the modes agree with each other and with finite differences, what is of single
precision stays so, and eager Tensors give the same values and gradients.
"""

from __future__ import annotations

import contextlib
import operator
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.compiler.eager_calls import _define
from gradscribe.ir.trees import flatten
from tests.sampling import one_in

pytestmark = pytest.mark.filterwarnings("ignore")


def array(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    return np.asarray(RNG.uniform(low, high, shape))


RNG = np.random.default_rng(5)
HALF = array(3, 3)
MATRIX = array(3, 4)
SAMPLES = {
    "v": array(5),
    "w": array(5),
    "u": array(5, low=0.3, high=3),
    "z": np.sort(array(5)),
    "h": array(8),
    "m": MATRIX,
    "n": array(3, 4),
    "q": array(3, 4, low=0.2, high=0.9),
    "nan": np.where(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), np.nan, MATRIX),
    "t": array(2, 3, 4),
    "a": np.float64(0.7),
    "b": np.float64(1.9),
    "e": np.asarray(0.9),
    "one": array(1),
    "s": array(3, 3) + 4 * np.eye(3),
    "r": array(2, 3, 3) + 4 * np.eye(3),
    "p": HALF @ HALF.T + np.diag([1.0, 2.0, 3.0]),
    "sq": array(4, 4),
    "tall": array(5, 3),
    "wide": array(3, 5),
    "c": array(5) + 1j * array(5),
    "d": array(3, 4) + 1j * array(3, 4),
    "cs": array(3, 3) + 1j * array(3, 3) + 4 * np.eye(3),
    "i": np.array([2, 0, 1, 1]),
    "k": np.array([True, False, True, True, False]),
    "M": np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=bool),
}
"""The arrays that the forms name: vectors, matrices, indices, masks."""


def marked_forms(folder: str = "forms") -> dict[str, set[str]]:
    """All forms in the files of a folder, and the marks that they have there.

    close: the value is NumPy's but for its dtype (eigenvalues are complex here) or the last bit.
    double: what it makes or is given is float64, whatever the arguments are.
    compiled: NumPy makes an array of its arguments, Tensors or not, or there is no gradient.
    first: there is no second derivative.
    reverse: forward mode refuses it: vectors of which there is a choice have no tangents.
    """
    forms = {}
    for file in sorted((Path(__file__).parent / folder).glob("*.txt")):
        for line in file.read_text().splitlines():
            text, _, marks = line.partition("  # ")
            if not line.startswith("#"):
                forms[text] = set(marks.split(", "))
    return forms


FORMS = marked_forms()
SAMPLE = one_in(6, FORMS)


NAMES = {name for text in FORMS for name in re.findall(r"np\.([\w.]+)\(|(?<=\.)(\w+)\(", text)}
TESTED = {method for _, method in NAMES}
for _name, _ in NAMES:
    with contextlib.suppress(AttributeError):
        TESTED.add(operator.attrgetter(_name)(np))


Modules = tuple[tuple[str, Any], ...]
NUMPY = (("np", np),)


def function_of(text: str, modules: Modules = NUMPY) -> tuple[Any, list[str]]:
    """The function whose body is the text, and the names of its arguments, among the samples."""
    names = [name for name in SAMPLES if re.search(rf"(?<![\w.'\"]){name}(?!\w|=[^=])", text)]
    return function_of_text(text, names, modules), names


def function_of_text(text: str, names: list[str], modules: Modules = NUMPY) -> Any:
    """The function of these arguments that returns the last expression of the text."""
    *statements, result = [part.strip() for part in text.split(";")]
    body = "".join(f"    {statement}\n" for statement in [*statements, f"return {result}"])
    return _define("form", f"def form({', '.join(names)}):\n{body}", modules)


def copies(arguments: list[Any]) -> list[Any]:
    return [np.array(x) if isinstance(x, np.ndarray) else x for x in arguments]


def expected_of(function: Any, arguments: list[Any]) -> Any:
    """What plain Python gives; an older or newer NumPy may not have all the forms."""
    try:
        return function(*copies(arguments))
    except (AttributeError, TypeError, ValueError):
        pytest.skip("this NumPy does not have it")


def leaves(value: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in flatten(value)[1]]


def in_single_precision(x: Any) -> Any:
    single = {"d": np.float32, "D": np.complex64}.get(np.asarray(x).dtype.char)
    return x if single is None else x.astype(single)


def is_floating(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


@pytest.mark.parametrize("text", SAMPLE)
def test_value_and_both_modes(text: str) -> None:
    check_value_and_modes(*function_of(text), FORMS[text])


def check_value_and_modes(function: Any, names: list[str], marks: set[str], order: int = 1) -> None:
    """That the value is plain Python's, and that the modes agree with differences."""
    arguments = [SAMPLES[name] for name in names]
    expected = expected_of(function, arguments)
    value, _ = gs.vjp(function, *copies(arguments))
    for result, wanted in zip(leaves(value), leaves(expected), strict=True):
        assert result.shape == wanted.shape
        if "close" in marks:
            np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
        else:
            assert result.dtype == wanted.dtype
            np.testing.assert_array_equal(result, wanted)
    gs.testing.check_grad(function, *copies(arguments), modes=modes_of(marks), order=order)
    if "reverse" in marks:
        with pytest.raises(gs.errors.NoDerivativeError, match="as forward mode needs it"):
            gs.jvp(function, tuple(copies(arguments)), tuple(copies(arguments)))


def modes_of(marks: set[str]) -> tuple[str, ...]:
    """The modes in which a form with these marks is differentiated."""
    return ("reverse",) if "reverse" in marks else ("reverse", "forward")


@pytest.mark.parametrize("text", [t for t in SAMPLE if "double" not in FORMS[t]])
def test_single_precision_stays_single(text: str) -> None:
    function, names = function_of(text)
    arguments = [in_single_precision(SAMPLES[name]) for name in names]
    expected = expected_of(function, arguments)
    value, pullback = gs.vjp(function, *copies(arguments))
    for result, wanted in zip(leaves(value), leaves(expected), strict=True):
        assert result.dtype == wanted.dtype
    for argument, cotangent in zip(arguments, pullback(value), strict=True):
        if is_floating(argument):
            assert np.asarray(cotangent).dtype == argument.dtype


CALLS = [
    text
    for text in SAMPLE
    if "compiled" not in FORMS[text] and text.startswith("np.") and ";" not in text
]


@pytest.mark.parametrize("text", CALLS)
def test_eager_tensors_give_the_same(text: str) -> None:
    """Also where the gradients are recorded, and so computed by other operations."""
    function, names = function_of(text)
    arguments = [SAMPLES[name] for name in names]
    expected_of(function, arguments)
    value, pullback = gs.vjp(function, *arguments)
    given = [gs.tensor(x, requires_grad=True) if is_floating(x) else x for x in arguments]
    result = function(*given)
    seeded = []
    for tensor, wanted in zip(flatten(result)[1], leaves(value), strict=True):
        np.testing.assert_allclose(tensor.detach().numpy(), wanted, rtol=1e-10, atol=1e-12)
        if tensor.requires_grad:
            seeded.append((tensor, gs.tensor(wanted)))
    inputs = [x for x in given if isinstance(x, gs.Tensor)]
    outputs, seeds = [tensor for tensor, _ in seeded], [seed for _, seed in seeded]
    pairs = zip(given, pullback(value), strict=True)
    cotangents = [d for x, d in pairs if isinstance(x, gs.Tensor)]
    for create_graph in (True, False):
        gradients = gs.autograd.grad(
            outputs, inputs, seeds, create_graph=create_graph, allow_unused=True
        )
        for gradient, wanted in zip(gradients, cotangents, strict=True):
            found = np.zeros(np.shape(wanted)) if gradient is None else gradient.detach().numpy()
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)
