"""Generated programs: 2,016, the same ones in every run, in parts that run side by side.

`make fuzz` runs 50,000 others, and idioms too, of which some are refused.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, seed, settings
from hypothesis import strategies as st

import gradscribe as gs
from tests.properties.grammar.programs import KINDS, programs
from tests.properties.oracles import check

EACH = 288
PARTS = 4


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "idioms"])
def test_generated_programs_are_differentiated_correctly(kind: str, part: int) -> None:
    @seed(part)
    @settings(
        max_examples=EACH // PARTS,
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
