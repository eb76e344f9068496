"""Generated programs. A sampled run checks a few of each kind, other ones each time (`--draw`
repeats them), of which the compiler may refuse one (it does so with one in two thousand); a run of
everything checks the same 2,016 in each run, in parts that run side by side, and refuses none. Not
counted is what is refused for its aliasing.

Programs that call compiled code are a part of their own: refused is none into which no active value
enters; the others may be. So may those with computed keys, programs of references (names that lead
to one object), and those about the state of a module.

`make fuzz` runs 50,000 others, and idioms too.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, seed, settings
from hypothesis import strategies as st

from gradscribe.errors import AliasingError, UnsupportedError
from tests.properties.grammar.programs import KINDS, programs
from tests.properties.oracles import check
from tests.sampling import RUN, examples

SEEDS = [RUN.draw] if RUN.thin else [0, 1, 2, 3]
EACH = examples(72, 9)
REFUSED = 1 if RUN.thin else 0
APART = ("idioms", "scratch", "border", "keyed", "references", "outside")


@pytest.mark.parametrize("part", range(len(SEEDS)))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in APART])
def test_generated_programs_are_differentiated_correctly(kind: str, part: int) -> None:
    refused = 0

    @seed(SEEDS[part])
    @settings(
        max_examples=EACH,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(kind), st.integers(0, 1000))
    def run(text: str, values: int) -> None:
        nonlocal refused
        try:
            check(kind, text, values)
        except AliasingError:
            reject()
        except UnsupportedError:
            refused += 1
            if refused > REFUSED:
                raise
            reject()

    run()


@pytest.mark.parametrize(
    ("kind", "whole", "sample"),
    [
        ("scratch", 60, 8),
        ("border", 60, 8),
        ("keyed", 60, 8),
        ("references", 100, 4),
        ("outside", 60, 3),
    ],
)
def test_generated_programs_are_right_or_refused(kind: str, whole: int, sample: int) -> None:
    @seed(SEEDS[0])
    @settings(
        max_examples=examples(whole, sample),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(kind), st.integers(0, 1000))
    def run(text: str, values: int) -> None:
        try:
            check(kind, text, values)
        except UnsupportedError:
            reject()

    run()
