"""Calls of NumPy's and SciPy's functions with one or two mistakes in them.

A number draws a form of a call (tests/primitives/forms), in which an operand, an option, an axis, a
dtype or an index is changed as programs are by mutations.py, or numbers are of a small type. Most
such calls raise, or convert, or broadcast otherwise than was meant: what NumPy does then has to be
what is compiled, too.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

import numpy as np
from scipy import fft, integrate, linalg, signal, special, stats

from tests.primitives.test_forms import SAMPLES, function_of, marked_forms
from tests.properties.mutations import Mutant, change_one_place
from tests.properties.operands import defined

_MODULES = {
    **{"np": np, "sp": special, "fft": fft, "integrate": integrate, "linalg": linalg},
    **{"signal": signal, "stats": stats},
}
_FORMS = [*marked_forms(), *marked_forms("forms/scipy")]
_MORE = 2
"""So many samples are arguments beside those that the form names."""


def program(number: int) -> Mutant:
    """The call of a number."""
    rng = np.random.default_rng(number)
    text = _FORMS[rng.integers(len(_FORMS))]
    names = function_of(text)[1]
    count = len(names)
    others = [name for name in SAMPLES if name not in names]
    names += [str(name) for name in rng.permutation(others)[:_MORE]]
    *statements, result = [part.strip() for part in text.split(";")]
    body = "".join(f"    {line}\n" for line in [*statements, f"return {result}"])
    tree = ast.parse(f"def form({', '.join(names)}):\n{body}")
    while True:
        other = copy.deepcopy(tree)
        arguments = [copy.deepcopy(SAMPLES[name]) for name in names]
        if rng.integers(2):
            done = [_of_small_type(other, arguments, rng.integers(max(count, 1)), rng)]
        else:
            done = [change_one_place(other, rng) for _ in range(rng.integers(1, 3))]
        try:
            source = ast.unparse(other) + "\n"
            function = defined(source, dict(_MODULES), f"<call {number}>")
        except Exception:  # no program: a default without a value, a starred slice, …
            continue
        return Mutant(text, "; ".join(done), source, function, tuple(arguments))


def _of_small_type(
    tree: ast.AST, arguments: list[Any], position: int, rng: np.random.Generator
) -> str:
    """Let this argument, or a whole number in the call, be of a small type; which one."""
    cls = _SMALL[rng.integers(len(_SMALL))]
    numbers = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int]
    if numbers and rng.integers(2):
        number = numbers[rng.integers(len(numbers))]
        text = f"np.{cls}({number.value})"
        number.value = ast.parse(text, mode="eval").body  # type: ignore[assignment]
        return f"a number as {text}"
    given = arguments[position]
    if isinstance(given, (float, int, np.ndarray)) and np.asarray(given).dtype.kind in "fi":
        arguments[position] = np.round(np.abs(3 * given)).astype(cls)[()]
    return f"argument {position} as {cls}"


_SMALL = ("uint8", "int8", "uint16", "int32", "uint64", "bool", "float16")
