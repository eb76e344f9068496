"""Functions of NumPy that change an array, given parts of that array: right, or refused?

    python -m tests.properties.overlaps [COUNT] [--first SEED]

A program makes an array of some layout, takes two parts of it that may overlap, and changes one by
the other. What it gives is compared with plain Python, and its derivatives, compiled in both modes
and recorded, with central differences.
"""

from __future__ import annotations

import argparse
import collections
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradscribe as gs
from gradscribe.compiler.eager_calls import _define

X = np.array([0.7, 1.3, 2.1, 0.4, 1.9, 0.6])

VECTOR = "a a[1:5] a[:4] a[2:] a[::-1] a[::2] a[1::2] a[4:0:-1]"
MATRIX = "a a[0] a[1] a[:,1:] a[:,:2] a[::-1] a[:,::-1] a.T a[:,0] a.ravel() a.reshape(3,2) a[0,1:]"
BASES = {
    "x.copy()": VECTOR,
    "x.reshape(2, 3).copy()": MATRIX,
    "x.reshape(2, 3).copy().T": "a a[0] a[:,1] a[1:] a[:2] a[::-1] a.T a.ravel() a[0,::-1]",
    "np.asfortranarray(x.reshape(2, 3) * 1.0)": MATRIX,
}
"""How the array is made, and its parts."""

CHANGES = """
t[...] = s
t += s
t *= s
t -= s
np.copyto(t, s)
np.copyto(t, s, where=t > 1)
np.add(t, s, out=t)
np.multiply(s, 2.0, out=t)
np.maximum(t, s, out=t)
np.sqrt(s, out=t, where=t > 1)
np.clip(s, 0.5, 1.5, out=t)
np.cumsum(s, axis=0, out=t)
np.take(s, [1, 0], axis=0, out=t)
np.putmask(t, t > 1, s)
np.put(t, [0, 1], s)
np.place(t, t > 1, s)
np.fill_diagonal(t, s)
np.put_along_axis(t, np.argsort(t, axis=0), s, axis=0)
np.add.at(t, [0, 1], s[:2])
np.multiply.at(t, [0, 1], s[:2])
t.sort()
t.flat[:2] = s.flat[:2]
t.flat[0] = s.flat[1]
t.flat[1:] = s[:-1]
t[[0, 1]] = s[[1, 0]]
t[1:] += t[:-1]
t[:-1] = s[1:]
t[0], t[1] = s[1], s[0]
t[:] = np.cumsum(s, axis=0)
"""


@dataclass(frozen=True)
class Overlap:
    """One program. base: how the array is made; target, source: the two parts."""

    base: str
    target: str
    source: str
    change: str

    @property
    def text(self) -> str:
        lines = (f"a = {self.base}", f"t = {self.target}", f"s = {self.source}", self.change)
        result = "return np.sum(np.ravel(a) * np.arange(1.0, 7.0)) + np.sum(np.ravel(t) ** 2) / 7"
        return "def program(x):\n" + "".join(f"    {line}\n" for line in (*lines, result))

    def function(self) -> Callable[[Any], Any]:
        made: Callable[[Any], Any] = _define("program", self.text, (("np", np),))
        return made


def programs(count: int, seed: int) -> list[Overlap]:
    """So many of all programs, drawn."""
    every = [
        Overlap(base, target, source, change)
        for base, parts in BASES.items()
        for target in parts.split()
        for source in parts.split()
        for change in CHANGES.strip().splitlines()
    ]
    return random.Random(seed).sample(every, min(count, len(every)))


def verdicts(program: Overlap) -> Iterator[tuple[str, str]]:
    """What becomes of a program, by the way in which it is differentiated."""
    function, point = program.function(), X
    with np.errstate(all="ignore"):
        try:
            expected, raised = function(point.copy()), None
        except Exception as error:  # of NumPy: any
            expected, raised = None, error
        slopes = None if raised else _slopes(function, point)
    if raised is None and slopes is None:
        return  # not differentiable here
    ways: dict[str, Callable[[], tuple[Any, Any]]] = {
        "reverse": lambda: gs.value_and_grad(function)(point),
        "recorded": lambda: gs.value_and_grad(function, compile=False)(point),
        "forward": lambda: gs.jvp(function, (point,), (np.ones(6),)),
    }
    for name, run in ways.items():
        try:
            value, found = run()
        except gs.errors.InternalError:
            yield name, "crash"
        except gs.errors.GradscribeError:
            yield name, "refused"
        except Exception as error:  # what NumPy raises
            yield name, "raises" if isinstance(error, type(raised)) else "crash"
        else:
            wanted = None if slopes is None else np.sum(slopes) if name == "forward" else slopes
            is_right = wanted is not None and np.isclose(value, expected)
            yield name, "right" if is_right and _agree(found, wanted) else "wrong"


def _agree(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(found, wanted, rtol=1e-4, atol=1e-3))


def _slopes(function: Any, point: Any) -> Any:
    """The gradient by central differences; None where two steps disagree."""
    near, far = (
        np.array(
            [(function(point + h) - function(point - h)) / (2 * step) for h in np.eye(6) * step]
        )
        for step in (1e-6, 1e-5)
    )
    return near if np.all(np.isfinite(near)) and _agree(near, far) else None


def main() -> None:
    parser = argparse.ArgumentParser(description="Check NumPy's changes of overlapping arrays.")
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the draw")
    options = parser.parse_args()
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for program in programs(options.count, options.first):
        for way, verdict in verdicts(program):
            counts[way, verdict] += 1
            if verdict in ("wrong", "crash"):
                print(f"{way}: {verdict}\n{program.text}")
    for (way, verdict), number in sorted(counts.items()):
        print(f"{number:6} {way} {verdict}")
    if any(verdict in ("wrong", "crash") for _, verdict in counts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
