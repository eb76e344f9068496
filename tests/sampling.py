"""What a sampled run checks of the long tables: `pytest --sample 1`, which is `make test`.

Each table says how many of its rows make one slice, and each run draws which slice it checks:
run by run, all of it. `--sample 2` runs half of these tests, which half is drawn too. Without
`--sample` every row is checked: that is `make test-all`, and what `pytest FILE` or
`pytest -k NAME` do.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

Row = TypeVar("Row")


@dataclass
class Run:
    """The run at hand; pytest's options set it before a table is read.

    thin: one in how many tests runs, of those that the slices leave; 0: every row is checked.
    draw: the number that chooses the slices, and seeds the generated programs.
    """

    thin: int = 0
    draw: int = 0

    @property
    def seed(self) -> int:
        """Of what hypothesis draws: in a run of everything, the same each time."""
        return self.draw if self.thin else 0

    def start(self, thin: int, draw: int | None) -> None:
        """Begin a run, with a new draw where none is given."""
        self.thin = thin
        self.draw = random.SystemRandom().randrange(1_000_000) if draw is None else draw


RUN = Run()


def one_in(number: int, rows: Iterable[Row]) -> list[Row]:
    """The rows of a table that this run checks: one in so many, or all."""
    table = list(rows)
    step = max(min(number, len(table)), 1) if RUN.thin else 1
    return table[RUN.draw % step :: step]


def is_one_in(number: int, name: str) -> bool:
    """Whether this run checks a row that is known by its name alone."""
    step = number if RUN.thin else 1
    return zlib.crc32(name.encode()) % step == RUN.draw % step


def examples(whole: int, sample: int) -> int:
    """How many examples hypothesis draws: in a run of everything, and in a sampled one."""
    return sample if RUN.thin else whole
