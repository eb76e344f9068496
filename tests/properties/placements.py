"""Expressions that may write to arrays, or share memory with them, at all places of a program.

    python -m tests.properties.placements [COUNT] [--first SEED] [-k WORD]

An expression of `placements.txt` (1,000 calls of NumPy, SciPy and Python) is put to one of BODIES,
where arrays lie as one of LAYOUTS says: that many programs are drawn of all of them. What they give
is compared with plain Python, their derivatives with finite differences (`tests.border.verdicts`),
compiled in all modes and recorded. Nothing may be wrong; what is neither right nor refused is
printed, with the text of the program.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import os
import random
import re
import signal
import sys
import textwrap
import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from tests.border import verdicts
from tests.recording.test_border import Recorded

X = np.array([0.93, 1.31, 0.57, 1.74])
SECONDS = 60
BATCH = 100

PRELUDE = """
import array, bisect, collections, contextlib, copy, ctypes, functools, heapq, io, itertools, math
import operator, pickle, statistics, struct, warnings
import numpy as np, numpy.ctypeslib, numpy.lib.array_utils, numpy.lib.recfunctions
import scipy.cluster.hierarchy as clh, scipy.cluster.vq as clv, scipy.fft as ff, scipy.fftpack as fp
import scipy.fftpack.convolve, scipy.integrate as ig, scipy.interpolate as ip, scipy.linalg as sl
import scipy.linalg.blas, scipy.linalg.lapack, scipy.ndimage as nd, scipy.optimize as op
import scipy.signal as sg, scipy.sparse as ss, scipy.sparse.csgraph as cg
import scipy.sparse.linalg as ssl, scipy.spatial as spt, scipy.spatial.distance
import scipy.spatial.transform, scipy.special as sp
import scipy.stats as st, scipy.stats.mstats, scipy.stats.qmc

W = np.array([0.7, -1.3, 2.1, 0.4])
A0 = np.array([4.2, 0.5, 0.2, 0.5, 0.5, 4.6, 0.5, 1.3, 0.2, 0.5, 3.4, 0.5, 0.5, 1.3, 0.5, 4.3])
A0 = A0.reshape(4, 4)
O0 = np.outer([0.5, 0.7, 0.9, 0.6], [0.5, 0.7, 0.9, 0.6]) + np.eye(4)
AS = [1.0, 3.0, 0.8, 2.5]
OS = [0.5, 0.7, 0.9, 0.6]

class Parts:
    def __init__(self, a, A, o, O):
        self.a, self.A, self.o, self.O = a, A, o, O

G = Parts(np.array(AS), A0.copy(), np.array(OS), O0.copy())
"""

ARRAYS = "np.sum(a * x) + np.sum(o * x**2) + np.sum((A @ x) * W) + np.sum((O @ x) * x)"

LAYOUTS: dict[str, tuple[str, str]] = {
    "constants": ("a, A, o, O = np.array(AS), np.array(A0), np.array(OS), np.array(O0)", ARRAYS),
    "parts of constants": (
        """
        B, F, b, P = np.zeros((2, 4)), np.asfortranarray(A0), np.ones(8), np.zeros((5, 5))
        a, A, o, O = B[1], F.T, b[::2], P[1:, :4]
        a[:], o[:], O[:] = AS, OS, O0
        """,
        "np.sum(B @ x) + np.sum(b.reshape(2, 4) @ x) + np.sum((F @ x) * W) + np.sum(P[:, :4] @ x)",
    ),
    "other orders": (
        """
        B, R, P = np.array(AS[::-1]), np.ones((4, 3)), np.array(O0[::-1], order="F")
        a, A, o, O = B[::-1], np.array(A0, order="F"), R[:, 1], P[::-1]
        o[:] = OS
        """,
        "np.sum(B * x) + np.sum(R.T @ x) + np.sum((A @ x) * W) + np.sum((P @ x) * x)",
    ),
    "from outside": (
        "a, A, o, O = G.a, G.A, G.o, G.O",
        "np.sum(G.a * x) + np.sum(G.o * x**2) + np.sum((G.A @ x) * W) + np.sum((G.O @ x) * x)",
    ),
    "differentiated": (
        "a, A, o, O = x * 1.5, np.outer(x, x) / 7 + A0, np.sin(x), np.outer(x, x) / 5 + np.eye(4)",
        ARRAYS,
    ),
    "the argument": (
        "a, A, o, O = x, np.outer(x, x).T / 7 + A0, x[::-1], np.outer(x, x) / 5 + np.eye(4)",
        ARRAYS,
    ),
    "one item differentiated": (
        """
        a, A, o, O = np.array(AS), np.array(A0), np.array(OS), np.array(O0)
        a[0], A[1, 1], O[2, 2] = x[0], A[1, 1] + x[1], x[2] + 1
        """,
        ARRAYS,
    ),
    "parts filled": (
        """
        B, b, P = np.zeros((2, 4)), np.zeros(8), np.zeros((4, 4), order="F")
        a, A, o, O = B[1], np.asfortranarray(np.outer(x, x) / 7 + A0).T, b[::2], P
        B[1], o[:], P[:] = x, x * 0.3, np.outer(x, x) / 5 + np.eye(4)
        """,
        "np.sum(B * 2) + np.sum(b) + np.sum((A @ x) * W) + np.sum((P @ x) * x)",
    ),
}
"""How the arrays are made, and what is read of them and of what holds them at the end."""

BODIES: dict[str, str] = {
    "a statement": "E",
    "a result": "r = E\nUSE",
    "a loop": """
        for k in range(3):
            r = E
            a[1] += 0.25
            total = total + np.sum(a * x) * (k + 1)
            USE
        """,
    "a helper": """
        def helper(a, A, o, O, z):
            y = a * z
            r = E
            return r, y * a
        r, y = helper(a, A, o, O, x)
        total = total + np.sum(y)
        USE
        """,
    "items": """
        held = {"p": a, "q": [A, O]}
        held["r"] = E
        held["p"][0] = 4.0
        held["q"][0][0, 0] = 6.0
        r = held["r"]
        USE
        """,
    "a store to the result": "r = E\nSTORE\nUSE",
    "stores to what it is given": """
        r = E
        a[0], o[1], A[0, 0], O[1, 1] = 7.0, 3.0, 5.0, 2.0
        USE
        """,
    "differentiated stores to what it is given": """
        r = E
        a[:], A[0], o[1] = x * 2, x, x[2]
        O *= x
        USE
        """,
    "a branch": """
        if x[0] > 0:
            r = E
            USE
        else:
            a[0] = 9.0
        """,
    "a try": """
        try:
            r = E
            USE
        except ValueError:
            total = total * 2.0
        """,
    "a function without a name": "call = lambda: E\nr = call()\nUSE",
    "another call": "r = E\na[2] = 1.5\nr = E\nUSE",
    "a comprehension": "r, s = [E for _ in range(2)]\nUSE\nr = s\nUSE",
    "between operations": """
        y, u = np.sin(a * x) * a, (A @ x) * o
        r = E
        total = total + np.sum(np.cos(a * y) * u)
        USE
        """,
    "an object": """
        parts = Parts(a, A, o, O)
        parts.y = parts.a * x
        r = E
        total = total + np.sum(parts.y * parts.a)
        USE
        """,
}
"""Where an expression E stands, where its result is read (USE), and stored to (STORE)."""


@dataclass(frozen=True)
class Placement:
    """One program."""

    expression: str
    layout: str
    body: str

    def program(self) -> str | None:
        """The function; None where plain Python raises, or nothing can be stored to the result."""
        made, result = LAYOUTS[self.layout]
        found = self._sample(made)
        if found is None:
            return None
        pieces = {"USE": [*_used(found, "r")] or ["pass"], "STORE": [*_stored(found)]}
        lines = []
        for line in _lines(BODIES[self.body]):
            space, word = line[: len(line) - len(line.lstrip())], line.strip()
            if not pieces.get(word, [word]):
                return None
            lines += [space + piece for piece in pieces.get(word, [self._placed(word)])]
        body = [*_lines(made), "total = np.sum(a * x)", *lines]
        program = "\n".join(["def program(x):", *body, f"return total + {result}"])
        return program.replace("\n", "\n    ") + "\n"

    def _placed(self, line: str) -> str:
        return re.sub(r"\bE\b", lambda _: self.expression, line)

    def _sample(self, made: str) -> Any:
        names: dict[str, Any] = {"x": X.copy()}
        try:
            exec(PRELUDE + textwrap.dedent(made), names)
            return eval(self.expression, names)
        except Exception:  # of any library: nothing can be said of such a program
            return None


def _lines(text: str) -> list[str]:
    return textwrap.dedent(text).strip().splitlines()


def _used(found: Any, name: str, depth: int = 0) -> Iterator[str]:
    """Statements that read a result."""
    if isinstance(found, int | float | np.floating | np.integer | np.bool_):
        yield f"total = total + float({name}) * x[0]"
    elif isinstance(found, np.ndarray) and found.dtype.kind in "fiub" and found.size:
        yield f"q = np.zeros({found.shape})"
        yield f"q[...] = {name}"
        weights = f"np.linspace(0.5, 1.7, {found.size}).reshape({found.shape})"
        yield f"total = total + np.sum(q * {weights}) * x[0]"
    elif isinstance(found, tuple | list) and depth == 0:
        for position, item in enumerate(found[:3]):
            yield from _used(item, f"{name}[{position}]", 1)


def _stored(found: Any) -> Iterator[str]:
    """A statement that stores to a result, if anything can be stored to it."""
    first = found[0] if isinstance(found, tuple | list) and found else None
    for name, item in (("r", found), ("r[0]", first)):
        if isinstance(item, np.ndarray) and item.flags.writeable and item.dtype.kind == "f":
            yield f"{name}[...] = 2.0"


def drawn(count: int, first: int, word: str) -> list[Placement]:
    """So many programs, with this word in the expression."""
    lines = Path(__file__).with_suffix(".txt").read_text().splitlines()
    expressions = [line for line in lines if not line.startswith("#") and word in line]
    every = [(e, place, body) for e in expressions for place in LAYOUTS for body in BODIES]
    chosen = random.Random(first).sample(every, min(count, len(every)))
    return [Placement(*each) for each in chosen]


def checked(placements: list[Placement]) -> list[tuple[Placement, str, str]]:
    """What becomes of each, compiled and recorded, and what is said of it."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _out_of_time)
    found = []
    for placement in placements:
        program = placement.program()
        for way in ("compiled", "recorded") if program is not None else ():
            found.append((placement, *_checked(f"{PRELUDE}\n{program}", way)))
    return found


def _checked(text: str, way: str) -> tuple[str, str]:
    modes, used = verdicts.MODES, verdicts.gs
    signal.alarm(SECONDS)
    try:
        if way == "recorded":
            verdicts.gs = Recorded("gradscribe")
            verdicts.MODES = {name: run for name, run in modes.items() if name != "Tensors"}
        found = verdicts.verdict(lambda: verdicts.function_of(text), (X.copy(),))
    except _OutOfTime:
        return "out of time", way
    except Exception:  # of plain Python, which any library may raise
        return "raises", way
    finally:
        signal.alarm(0)
        verdicts.gs, verdicts.MODES = used, modes
    return found.kind, f"{way}: {found.detail}"


class _OutOfTime(BaseException):
    """No exception that a program could handle."""


def _out_of_time(*_: Any) -> None:
    raise _OutOfTime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=2_000)
    parser.add_argument("--first", type=int, default=0, help="another draw")
    parser.add_argument("-k", default="", help="only expressions with this word")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    programs = drawn(options.count, options.first, options.k)
    kinds: collections.Counter[str] = collections.Counter()
    with tqdm(total=len(programs), unit="program") as progress:
        for start in range(0, len(programs), BATCH * options.processes):
            part = programs[start : start + BATCH * options.processes]
            for placement, kind, said in _in_processes(part, options.processes):
                kinds[kind] += 1
                if kind in ("wrong", "crash", "lost"):
                    progress.write(f"{kind}, {placement}: {said}\n{placement.program()}")
            progress.update(len(part))
    print(dict(kinds))
    return 1 if {"wrong", "crash", "lost"} & kinds.keys() else 0


def _in_processes(
    programs: list[Placement], processes: int
) -> Iterator[tuple[Placement, str, str]]:
    """What becomes of these; a process that a program ends is a loss of all that it had."""
    parts = [programs[start::processes] for start in range(processes)]
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        for part, future in [(part, pool.submit(checked, part)) for part in parts]:
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield from ((one, "lost", "the process has ended") for one in part)


if __name__ == "__main__":
    sys.exit(main())
