"""Tables of small programs as text, with arguments that their parameters' names ask for.

In: the files `rows/*.txt`; `=== name` begins a program, a module that defines `program`. What it
imports is imported when it runs: rows whose library is not installed are skipped. Out: `Program`s.

`python -m tests.border.programs [TABLE ...] [-k WORD]` prints the verdict on each row.
"""

from __future__ import annotations

import argparse
import collections
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.border.verdicts import Verdict, function_of, verdict

ROWS = Path(__file__).parent / "rows"

PRELUDE = """import numpy as np
W = np.cos(np.arange(1.0, 7.0))
M = np.sin(np.arange(1.0, 17.0)).reshape(4, 4)
"""
"""What each program finds in its module: weights of vectors of length 6 and of 4 by 4 matrices."""

X = np.array([0.3, -0.8, 1.1, 0.55, -0.2, 0.9])
Y = np.array([0.7, 0.4, -0.6, 1.3, 0.1, -0.9])
A = np.array(
    [[4.1, 0.3, -0.2, 0.5], [0.6, 3.2, 0.1, -0.7], [0.2, -0.4, 5.3, 0.9], [1.1, 0.8, -0.3, 2.7]]
)

ARGUMENTS: dict[str, Callable[[], Any]] = {
    "x": X.copy,
    "y": Y.copy,
    "h": lambda: X.astype(np.float32),
    "A": A.copy,
    "B": lambda: A[::-1].T.copy(),
    "F": lambda: np.asfortranarray(A),
    "s": lambda: 0.7,
    "n": lambda: 3,
    "k": lambda: np.array([2, 0, 1]),
    "items": lambda: [X.copy(), Y.copy()],
    "table": lambda: {"a": X.copy(), "b": Y.copy()},
    "numbers": lambda: [0.3, 1.2, -0.5],
}
"""vectors x, y (h: of float32), matrices A, B (F: in Fortran's order), a number s, an integer n,
integers k, a list and a dict of arrays, a list of numbers."""


@dataclass(frozen=True)
class Program:
    """A row: its table, its name, the text of its module."""

    table: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.table}: {self.name}"

    def verdict(self) -> Verdict:
        """Skips where a library or the C compiler is missing."""
        text = PRELUDE + self.text
        try:
            function = function_of(text)
        except ImportError as missing:
            pytest.skip(f"{missing}: not tested")
        parameters = inspect.signature(function).parameters.values()
        args = tuple(ARGUMENTS[p.name]() for p in parameters if p.default is p.empty)
        return verdict(lambda: function_of(text), args)


def programs(*tables: str) -> list[Program]:
    """All rows of these tables."""
    found = []
    for table in tables:
        _, *rows = ("\n" + (ROWS / f"{table}.txt").read_text()).split("\n=== ")
        for row in rows:
            name, _, text = row.partition("\n")
            found.append(Program(table, name.strip(), text.strip("\n") + "\n"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=sorted(p.stem for p in ROWS.glob("*.txt")))
    parser.add_argument("-k", default="", help="only rows with this word in their names")
    parser.add_argument("-v", action="store_true", help="what is said of each")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    for row in programs(*options.tables):
        if options.k not in str(row):
            continue
        try:
            found = row.verdict()
            kind, modes = found.kind, " ".join(found.modes.values())
        except pytest.skip.Exception as skipped:
            kind, modes = "skipped", str(skipped)
        except Exception as error:
            kind, modes = "broken", repr(error)
        counts[kind] += 1
        print(f"{kind:8} {row}  [{modes}]", flush=True)
        if options.v and kind not in ("skipped", "broken"):
            print(found.detail)
    print(dict(counts))


if __name__ == "__main__":
    main()
