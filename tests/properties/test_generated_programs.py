"""Generated programs, other ones in each run: a few of each kind in a sampled run, 2,016 in all
otherwise, in parts that run side by side. `--draw` repeats the programs of a run.

`make fuzz` runs 50,000 others, and idioms too, of which some are refused.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, seed, settings
from hypothesis import strategies as st

import gradscribe as gs
from tests.properties.grammar.programs import KINDS, programs
from tests.properties.oracles import check
from tests.sampling import RUN, examples

PARTS = examples(4, 1)
EACH = examples(72, 9)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "idioms"])
def test_generated_programs_are_differentiated_correctly(kind: str, part: int) -> None:
    @seed(RUN.draw * PARTS + part)
    @settings(
        max_examples=EACH,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(kind), st.integers(0, 1000))
    def run(text: str, values: int) -> None:
        try:
            check(text, values)
        except gs.errors.AliasingError:
            reject()

    run()
