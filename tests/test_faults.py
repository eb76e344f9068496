"""The faults that `python -m tests.mutants` plants have their places."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradscribe
from tests.mutants.faults import FAULTS, Fault

ROOT = Path(gradscribe.__file__).parent


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.path)
def test_the_text_that_a_fault_replaces_stands_there_once(fault: Fault) -> None:
    assert (ROOT / fault.path).read_text().count(fault.before) == 1
