"""Generated programs: 400 of each kind. `make fuzz` runs 50,000."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import gradscribe as gs
from tests.properties.grammar.programs import KINDS, programs
from tests.properties.oracles import check


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_generated_programs_are_differentiated_correctly(kind: str) -> None:
    @settings(max_examples=400, suppress_health_check=list(HealthCheck))
    @given(programs(kind), st.integers(0, 1000))
    def run(text: str, seed: int) -> None:
        try:
            check(text, seed)
        except gs.errors.AliasingError:
            reject()

    run()
