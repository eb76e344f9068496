"""The short way of an eager operation gives what the general way gives.

The general way is taken while a mode is on, even one that does nothing.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradscribe.torchlike as T
from gradscribe.runtime.arrays.rows import MAIN
from gradscribe.runtime.graph import modes
from gradscribe.runtime.operations.launcher_text import ALONG, BINARY, REDUCTION, UNARY
from gradscribe.runtime.operations.provider import WAYS
from gradscribe.runtime.operations.spellings import public
from tests.sampling import one_in

rng = np.random.default_rng(7)


@contextlib.contextmanager
def general() -> Iterator[None]:
    """While everything goes the general way."""
    mode = modes.Mode()
    modes.enter(mode)
    try:
        yield
    finally:
        modes.leave(mode)


def leaf(*shape: int, dtype: object = np.float64) -> T.Tensor:
    return T.tensor((0.2 + 0.6 * rng.random(shape)).astype(dtype), requires_grad=True)


OPERANDS = {
    "leaf": lambda: leaf(3),
    "result": lambda: leaf(3) * 0.5 + 0.3,
    "view": lambda: leaf(5)[1:4],
    "view of a changed base": lambda: changed(leaf(5) * 1.0),
    "constant": lambda: leaf(3).detach(),
    "single": lambda: leaf(1),
    "matrix": lambda: leaf(3, 3),
    "no axes": lambda: leaf(),
    "float32": lambda: leaf(3, dtype=np.float32),
    "integers": lambda: T.tensor([1, 2, 3]),
    "number": lambda: 0.7,
    "whole number": lambda: 2,
}


PAIRS = [
    *(("leaf", each) for each in OPERANDS),
    *((each, "leaf") for each in OPERANDS),
    *itertools.product(("no axes", "float32", "integers", "number"), ("no axes", "float32")),
    *itertools.product(("view", "constant"), ("number", "whole number", "constant")),
]


def changed(base: T.Tensor) -> T.Tensor:
    view = base[1:4]
    base[2] = 0.4
    return view


def told(result: object) -> object:
    """All that users see of a result and its node."""
    if not isinstance(result, T.Tensor):
        return result
    node = result.grad_fn
    seen = [result.tolist(), result.dtype, result.shape, result.requires_grad, result.is_leaf]
    if node is not None:
        kept = [name for name in dir(node) if name.startswith("_saved_")]
        seen += [node.name(), [kind(other) for other, _ in node.next_functions]]
        seen += [(name, shown(getattr(node, name))) for name in kept]
        seen += [node._input_metadata]
    return seen


def kind(node: object) -> str:
    return type(node).__name__


def shown(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(shown, value))
    return value.tolist() if isinstance(value, T.Tensor) else value


def outcome(call: object, operands: list[object]) -> list[object]:
    """What a call gives, its first and its second derivatives; or its error."""
    try:
        result = call(*operands)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return [type(error), str(error)]
    seen = [told(result)]
    if isinstance(result, T.Tensor) and result.requires_grad:
        active = [o for o in operands if isinstance(o, T.Tensor) and o.requires_grad]
        total = (result * result).sum()
        try:
            first = T.autograd.grad(total, active, create_graph=True, allow_unused=True)
            weighted = sum((g * g).sum() for g in first if g is not None and g.requires_grad)
            again = active
            second = (
                T.autograd.grad(weighted, again, allow_unused=True)
                if isinstance(weighted, T.Tensor)
                else ()
            )
            seen += [shown(g) for g in (*first, *second) if g is not None]
        except (RuntimeError, NotImplementedError) as error:
            seen += [type(error), str(error)]
    return seen


FUNCTIONS = {row.name: (public(row), row.launcher[0]) for row in MAIN if row.launcher}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", one_in(3, sorted(FUNCTIONS)))
def test_a_function_gives_the_same_both_ways(name: str) -> None:
    function, form = FUNCTIONS[name]
    if form is BINARY:
        kinds = [pair for pair in PAIRS if "number" not in pair[0]]
    else:
        kinds = [(each,) for each in OPERANDS if "number" not in each]
    assert form in (UNARY, BINARY, REDUCTION, ALONG)
    for each in kinds:
        operands = [OPERANDS[one]() for one in each]
        with general():
            expected = outcome(function, operands)
        for _ in range(2):
            np.testing.assert_equal(outcome(function, operands), expected, err_msg=str(each))


OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.matmul,
    operator.mod,
    operator.floordiv,
    operator.lt,
    operator.eq,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", OPERATORS)
def test_an_operator_gives_the_same_both_ways(call: object) -> None:
    for each in PAIRS:
        operands = [OPERANDS[one]() for one in each]
        if not any(isinstance(operand, T.Tensor) for operand in operands):
            continue
        with general():
            expected = outcome(call, operands)
        for _ in range(2):
            np.testing.assert_equal(outcome(call, operands), expected, err_msg=str(each))


AXES = [
    {"args": (0,)},
    {"args": (1, True)},
    {"args": (-1,), "keepdim": True},
    {"dim": 1},
    {"dim": 0, "keepdim": True},
    {"axis": 1},
    {"keepdim": True},
    {"args": (5,)},
    {"args": (0,), "dim": 1},
    {"args": (True,)},
    {"dim": (0, 1)},
    {"dim": None},
    {"dtype": T.float32, "dim": 0},
]
"""What is given beside the Tensor."""

OF_AXES = [name for name, (_, form) in FUNCTIONS.items() if form in (REDUCTION, ALONG)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(OF_AXES))
def test_axes_are_understood_both_ways(name: str) -> None:
    function, _ = FUNCTIONS[name]
    for given in AXES:
        rest = {key: value for key, value in given.items() if key != "args"}
        operands = [leaf(3, 4)]

        def call(tensor: T.Tensor, given=given, rest=rest) -> object:
            return function(tensor, *given.get("args", ()), **rest)

        with general():
            expected = outcome(call, operands)
        for _ in range(2):
            np.testing.assert_equal(outcome(call, operands), expected, err_msg=str(given))


SHAPES = [
    [((4,), (4,)), ((7,), (7,)), ((1,), (1,)), ((0,), (0,)), ((5,), (1,)), ((8,), (1,))],
    [((4, 1), (4, 5)), ((6, 1), (6, 3)), ((6, 6), (6, 6)), ((2, 3), (3,)), ((5, 2), (2,))],
    [((4, 2), (2, 4)), ((5, 3), (3, 5)), ((5, 3), (3, 2)), ((3, 4, 5), (5, 2)), ((2, 2, 2), (2,))],
]
"""Of which some are alike but for their lengths."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shapes", SHAPES, ids=["one axis", "two axes", "products"])
@pytest.mark.parametrize("name", one_in(3, sorted(FUNCTIONS)))
def test_what_is_known_for_other_lengths_gives_the_same(name: str, shapes: list[object]) -> None:
    function, form = FUNCTIONS[name]
    for both in shapes:
        operands = [leaf(*shape) for shape in (both if form is BINARY else both[:1])]
        found = outcome(function, operands)
        with general():
            np.testing.assert_equal(found, outcome(function, operands), err_msg=str(both))
    assert all(len(ways) <= 1 << 10 for ways in WAYS)


INDICES = [
    0,
    -1,
    7,
    slice(1, None),
    slice(None, None, 2),
    slice(1, -1),
    slice(np.int64(1), None),
    slice(True, None),
    slice(1.0, None),
    (0,),
    (slice(1, 3), None),
    (..., 1),
    (None, ...),
    None,
    ...,
    True,
    [0, 2],
    T.tensor([0, 2]),
    T.tensor([0, 7]),
    T.tensor(1),
    T.tensor([True, False, True]),
    (T.tensor([0, 1]),),
    np.array([2, 0]),
    "a",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("of", [o for o in OPERANDS if "number" not in o])
def test_an_index_gives_the_same_both_ways(of: str, index: object) -> None:
    operand = OPERANDS[of]()

    def take(tensor: T.Tensor) -> T.Tensor:
        return tensor[index]

    with general():
        expected = outcome(take, [operand])
    for _ in range(2):
        np.testing.assert_equal(outcome(take, [operand]), expected)


def test_a_view_is_one_of_its_base_both_ways() -> None:
    for _ in range(3):
        base = leaf(5) * 1.0
        view = base[1:4][1:]
        assert view._base is base and view._version == base._version
        view[0] = 9.0
        assert base.tolist()[2] == 9.0
        assert (kind(view.grad_fn), view._version) == ("AsStridedBackward0", 1)
        with T.no_grad():
            plain = base[1:4]
        assert plain._base is base
        with pytest.raises(RuntimeError, match="created in no_grad mode"):
            plain.mul_(2)


def test_an_index_that_changes_afterwards_counts_as_it_was() -> None:
    x = leaf(4)
    for _ in range(3):
        places = T.tensor([0, 1])
        taken = x[places]
        places[0] = 3
        (gradient,) = T.autograd.grad(taken.sum(), x)
        assert gradient.tolist() == [1, 1, 0, 0]


def test_a_change_in_place_is_noticed_both_ways() -> None:
    for _ in range(3):
        x = leaf(3)
        y = x * 1.0
        product = y * y
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()
    for _ in range(3):
        y = T.tanh(leaf(3))
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_floating_point_errors_are_silent_both_ways() -> None:
    x = T.tensor([0.0, 1.0], requires_grad=True)
    with np.errstate(all="raise"):
        for _ in range(3):
            assert (1 / x).tolist() == [float("inf"), 1]
            assert T.log(x).tolist() == [float("-inf"), 0]


def test_what_is_kept_is_bounded() -> None:
    x = leaf(4000)
    for stop in range(1, 3000):
        x[:stop]
    assert max(map(len, WAYS)) <= 1 << 10


def test_errors_show_no_frames_of_the_launcher() -> None:
    x, y = leaf(3), leaf(4)
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            x * y
        frames = [entry.frame.code.path for entry in caught.traceback]
        assert all("gradscribe/runtime" not in str(path) for path in frames)


def test_eight_threads_that_build_and_run_graphs_do_what_one_does() -> None:
    def gradients(number: int) -> list[list[float]]:
        found = []
        for length in range(1, 40):
            x = T.tensor(np.linspace(0.1, 1.0, length) * (number + 1), requires_grad=True)
            y = T.tanh(x * 2.0) + x[: length // 2 + 1].sum() * x
            (y * y).mean().backward()
            found.append(x.grad.tolist())
        return found

    expected = [gradients(number) for number in range(8)]
    for ways in WAYS:
        ways.clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(gradients, range(8))) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", one_in(3, sorted(FUNCTIONS)))
def test_gradients_of_leaves_have_memory_of_their_own(name: str) -> None:
    function, form = FUNCTIONS[name]
    shapes = ((), (3,), (1,), (2, 3), (1, 3))
    for both in itertools.product(shapes, repeat=2 if form is BINARY else 1):
        operands = [leaf(*shape) for shape in both]
        try:
            result = function(*operands)
            seed = T.ones_like(result.detach())
            result.backward(seed)
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue  # no such operands, or no derivative
        gradients = [operand.grad.array for operand in operands if operand.grad is not None]
        held = [each.array for each in (*operands, result, seed)]
        pairs = [*itertools.combinations(gradients, 2), *itertools.product(gradients, held)]
        assert not any(np.shares_memory(*pair) for pair in pairs), both
        assert all(gradient.flags.writeable for gradient in gradients)


def test_gradients_that_are_equal_are_added_up_apart() -> None:
    a, b = leaf(), leaf()
    for _ in range(3):
        (a + b).backward()
    assert (a.grad.item(), b.grad.item()) == (3.0, 3.0)
