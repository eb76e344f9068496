"""Calls of compiled code: what is not differentiated rightly is refused, in every mode; what no
active value enters is not refused. The rows stand in `rows/`."""

from __future__ import annotations

import pytest

from tests.border.programs import Program, programs
from tests.sampling import one_in

NOT_YET = frozenset(
    {
        "inactive: a list of constants filled",
        "inactive: scratch of an object",
    }
)
"""What does not hold yet. Of constants, these are refused, or fail when they run."""


def _holding(*tables: str) -> list[Program]:
    return [row for row in programs(*tables) if str(row) not in NOT_YET]


CALLS = _holding(
    *("native", "ways", "scipy", "memory", "others", "unknown", "everyday", "hidden"), "called_back"
)


def test_what_does_not_hold_yet_is_known() -> None:
    rows = map(str, programs("scipy", "memory", "inactive"))
    assert NOT_YET <= set(rows)


@pytest.mark.parametrize("program", one_in(4, CALLS), ids=str)
def test_a_call_of_compiled_code_is_right_or_refused(program: Program) -> None:
    found = program.verdict()
    assert found.kind in ("right", "refused"), f"{found.detail}\n{program.text}"


@pytest.mark.parametrize("program", one_in(4, _holding("inactive", "callbacks", "kept")), ids=str)
def test_compiled_code_may_do_what_it_likes_with_constants(program: Program) -> None:
    found = program.verdict()
    assert found.kind == "right", f"{found.detail}\n{program.text}"
