"""The gradients of the program library as native code: `python -m tests.native [names]`.

Each must be what the NumPy tier computes, with the same errors. What is not native is counted by
its reason. (Whether a number is Python's or NumPy's may be known at run time only; it is no
difference here.)
"""

from __future__ import annotations

import collections
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from tqdm import tqdm

import gradscribe as gs
from gradscribe.ir.trees import flatten
from tests.programs.registry import Program, load


def gradients(program: Program, jit: bool) -> tuple[Any, str]:
    """The gradients, with the result for its cotangent, and what became of `jit`; an error stands
    for itself."""
    found = gs.differentiable(program.function, jit=jit).specialize(*program.args())
    values = found._values(program.args(), {})
    seeds = found.seeds_of(program.function(*program.args()))
    generated = found.generated_gradient
    function = generated.native if jit else generated.of_numpy
    try:
        result = function(*values, *seeds)
    except Exception as error:
        result = error
    return result, generated.native.report if jit else ""


CLASSES = {float: float, np.float64: float, int: int, np.int64: int}


def difference(found: Any, right: Any) -> str:
    """What is not the same; "" where all is."""
    if isinstance(right, Exception):
        return "" if repr(found) == repr(right) else f"{found!r}, not {right!r}"
    if isinstance(found, Exception):
        return repr(found)
    (shape, a), (wanted, b) = flatten(found), flatten(right)
    if shape != wanted:
        return f"{shape}, not {wanted}"
    numbers = [y for y in numbers_in(b) if y is not None]
    scale = max((float(np.max(np.abs(y), initial=0.0)) for y in numbers), default=0.0)
    for x, y in zip(numbers_in(a), numbers_in(b), strict=True):
        if CLASSES.get(type(x), type(x)) is not CLASSES.get(type(y), type(y)):
            return f"{type(x).__name__}, not {type(y).__name__}"
        if np.shape(x) != np.shape(y):
            return f"the shape {np.shape(x)}, not {np.shape(y)}"
        if y is None:
            continue
        if not np.allclose(x, y, rtol=1e-12, atol=1e-12 * scale, equal_nan=True):
            return f"{x}, not {y}"
    return ""


def numbers_in(leaves: list[Any]) -> Iterator[Any]:
    """The leaves, with the items of lists in the place of these."""
    for leaf in leaves:
        yield from numbers_in(leaf) if isinstance(leaf, list) else (leaf,)


def kind_of(report: str) -> str:
    """The reason without the user's statement and types."""
    reason = re.sub(r"line \d+: ", "", report).removeprefix("NumPy: ").split(": `")[0]
    return re.sub(r"\[[^\[\]]*[:\d][^\[\]]*\]", "[]", reason)


def main() -> int:
    warnings.simplefilter("ignore")
    programs = load()
    names = sys.argv[1:] or list(programs)
    reasons: collections.Counter[str] = collections.Counter()
    wrong = []
    for name in tqdm(names, disable=None):
        try:
            found, report = gradients(programs[name], jit=True)
            right, _ = gradients(programs[name], jit=False)
            differs = difference(found, right)
        except Exception:
            differs, report = traceback.format_exc(), "failed"
        reasons[kind_of(report)] += 1
        if differs:
            wrong.append(f"{name}: {differs}")
        if sys.argv[1:]:
            print(f"{name}: {report}")
    for reason, number in reasons.most_common():
        print(f"{number:5}  {reason}")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
