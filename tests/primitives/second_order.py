"""Second derivatives of all forms of calls: `python -m tests.primitives.second_order [TEXT]`.

`hvp` is compared with differences of the gradient and with itself (it is symmetric), and, of real
numbers, with `grad` of `grad`. The suite does it for some of the forms; this does for all, or for
those that contain the text.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradscribe as gs
from tests.primitives.test_forms import (
    FORMS,
    NUMPY,
    SAMPLES,
    copies,
    expected_of,
    function_of,
    function_of_text,
    modes_of,
)


class Given:
    """What a function has besides its argument."""

    weights: np.ndarray
    inner: Callable[..., Any]
    along: Any


def check(text: str) -> None:
    """Compare the second derivatives of a form; raises what tells of a difference."""
    function, names = function_of(text)
    arguments = copies([SAMPLES[name] for name in names])
    value = expected_of(function, arguments)
    gs.testing.check_grad(function, *copies(arguments), modes=modes_of(FORMS[text]), order=2)
    real = all(np.asarray(x).dtype.kind != "c" for x in arguments)
    moved = next((name for name in names if np.asarray(SAMPLES[name]).dtype.kind == "f"), None)
    real = real and not any(name in text for name in COMPLEX)
    if real and moved and not isinstance(value, (tuple, list)) and is_real(value):
        check_grad_of_grad(text, moved, names, np.asarray(value))


def is_real(value: object) -> bool:
    return np.asarray(value).dtype.kind == "f"


COMPLEX = ("np.linalg.eig", "np.roots", "np.linalg.eigvals")
"""What is complex here, whatever its values are."""


def check_grad_of_grad(text: str, moved: str, names: list[str], value: np.ndarray) -> None:
    """Of one of the arguments, the others held constant."""
    *statements, result = text.split(";")
    x = SAMPLES[moved]
    given, along = Given(), np.asarray(np.cos(x))[()]
    vars(given).update({name: SAMPLES[name] for name in names if name != moved})
    given.weights = np.sin(1 + np.arange(value.size)).reshape(value.shape)
    held = [f"{name} = given.{name}" for name in vars(given)]
    weighted = "; ".join([*held, *statements, f"np.sum(({result}) * weights)"])
    inner = function_of_text(weighted, [moved], (*NUMPY, ("given", given)))
    given.inner, given.along = inner, along
    outer_text = f"np.sum(gs.grad(given.inner)({moved}) * given.along)"
    outer = function_of_text(outer_text, [moved], (*NUMPY, ("gs", gs), ("given", given)))
    (once,) = gs.hvp(inner, (x,), (along,))
    np.testing.assert_allclose(gs.grad(outer)(x), once, rtol=1e-8, atol=1e-9)


def main(part: str = "") -> int:
    """How many forms fail; each is told."""
    chosen = [text for text in FORMS if part in text]
    failed = 0
    for text in chosen:
        try:
            check(text)
        except gs.errors.UnsupportedError as error:
            print(f"{text}\n    refused: {error.what}")
        except Exception as error:
            failed += 1
            print(f"{text}\n    {type(error).__name__}: {str(error).strip().splitlines()[:1]}")
    print(f"{len(chosen)} forms, {failed} failed")
    return failed


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(bool(main(*sys.argv[1:])))
