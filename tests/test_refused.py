"""Every text with which something is refused is provoked by a program of `tests.refused`."""

from __future__ import annotations

import sys

import pytest

from gradscribe import errors
from tests.refusals import PAGE, PARTS, Refusal, closest, page, refusals
from tests.refused import Program, programs

PROGRAMS = programs()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_program_is_refused_by_its_text(program: Program) -> None:
    with pytest.raises(errors.GradscribeError) as caught:
        program.run()
    error = caught.value
    assert error.what == program.text
    assert public_kind(error) is program.kind
    written = closest(error.what)
    assert written, "the page of all refusals has no such text"
    assert any(refusal.fits_advice(error.advice) for refusal in written), error.advice
    if program.placed:
        assert error.location is not None
        assert error.location.filename == sys.modules[program.function.__module__].__file__


def public_kind(error: errors.GradscribeError) -> type:
    """The nearest class of the error that users know."""
    return next(kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="it has no `except*`, which is refused")
@pytest.mark.parametrize("part", PARTS)
def test_every_text_is_provoked_by_a_program(part: str) -> None:
    provoked = {refusal for program in PROGRAMS for refusal in closest(program.text)}
    missing = [refusal for refusal in refusals(part) if refusal not in provoked]
    assert not missing, "no program of `tests.refused` provokes:\n" + listed(missing)


def listed(missing: list[Refusal]) -> str:
    return "\n".join(f"  {refusal.file}: {refusal.what}" for refusal in missing)


def test_the_page_of_all_refusals_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.refusals`"
