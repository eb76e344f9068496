"""Calls of NumPy's and SciPy's functions with one or two mistakes in them.

A number draws a form of a call (tests/primitives/forms), in which an operand, an option, an axis, a
dtype or an index is changed as programs are by mutations.py. Most such calls raise, or convert, or
broadcast otherwise than was meant: what NumPy does then has to be what is compiled, too.
"""

from __future__ import annotations

import ast
import copy

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
    others = [name for name in SAMPLES if name not in names]
    names += [str(name) for name in rng.permutation(others)[:_MORE]]
    *statements, result = [part.strip() for part in text.split(";")]
    body = "".join(f"    {line}\n" for line in [*statements, f"return {result}"])
    tree = ast.parse(f"def form({', '.join(names)}):\n{body}")
    while True:
        other = copy.deepcopy(tree)
        done = [change_one_place(other, rng) for _ in range(rng.integers(1, 3))]
        try:
            source = ast.unparse(other) + "\n"
            function = defined(source, dict(_MODULES), f"<call {number}>")
        except Exception:  # no program: a default without a value, a starred slice, …
            continue
        arguments = tuple(copy.deepcopy(SAMPLES[name]) for name in names)
        return Mutant(text, "; ".join(done), source, function, arguments)
