"""Calls of compiled code: what is not differentiated rightly is refused, in every mode; what no
active value enters is not refused. The rows stand in `rows/`."""

from __future__ import annotations

import pytest

from tests.border.programs import Program, programs
from tests.sampling import one_in

CALLS = programs(
    *("native", "ways", "scipy", "memory", "others", "unknown", "everyday", "hidden"),
    *("called_back", "holders", "copies", "registered"),
)


@pytest.mark.parametrize("program", one_in(8, CALLS), ids=str)
def test_a_call_of_compiled_code_is_right_or_refused(program: Program) -> None:
    found = program.verdict()
    assert found.kind in ("right", "refused"), f"{found.detail}\n{program.text}"


@pytest.mark.parametrize("program", one_in(8, programs("inactive", "callbacks", "kept")), ids=str)
def test_compiled_code_may_do_what_it_likes_with_constants(program: Program) -> None:
    found = program.verdict()
    assert found.kind == "right", f"{found.detail}\n{program.text}"
