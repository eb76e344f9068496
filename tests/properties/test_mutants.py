"""Mutants of the library's programs are right, or refused, or raise what plain Python raises: the
same 120 in a run of everything, 20 others in each sampled one. `make mutate` checks 10,000."""

from __future__ import annotations

import pytest

from tests.properties.mutate import BAD, outcome
from tests.sampling import RUN, examples

PARTS = 4
EACH = examples(30, 5)


@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_are_right_or_refused_or_raise_as_in_python(part: int) -> None:
    first = (RUN.seed * PARTS + part) * EACH
    for number in range(first, first + EACH):
        kind, detail, made = outcome(number)
        assert kind.split(":")[0] not in BAD, (
            f"mutate --only {number}: {made.change}\n{made.text}\n{detail}"
        )


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("of", ["operands", "calls"])
def test_programs_with_mistakes_mean_what_they_do_to_python(of: str, part: int) -> None:
    for number in range(part, 40, PARTS):
        kind, detail, made = outcome(number, of)
        assert kind.split(":")[0] not in BAD, f"{made.text}\n{detail}"
