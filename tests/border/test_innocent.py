"""Programs that log, print, measure, look up, and differentiate something besides: they compile."""

from __future__ import annotations

import pytest

from tests.border.programs import Program, programs
from tests.sampling import one_in


@pytest.mark.parametrize("program", one_in(4, programs("innocent")), ids=str)
def test_what_does_not_concern_the_derivative_does_not_stop_it(program: Program) -> None:
    found = program.verdict()
    assert found.kind == "right", f"{found.detail}\n{program.text}"
