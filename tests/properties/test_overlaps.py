"""A few of the programs that `python -m tests.properties.overlaps` draws."""

from __future__ import annotations

import pytest

from tests.properties.overlaps import Overlap, programs, verdicts


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", programs(20, 3), ids=lambda program: program.change)
def test_a_change_of_an_array_by_a_part_of_it_is_right_or_refused(program: Overlap) -> None:
    assert {verdict for _, verdict in verdicts(program)} <= {"right", "refused", "raises"}
