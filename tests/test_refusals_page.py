"""The page of all refusals is that of the source."""

from __future__ import annotations

import pytest

from tests.refusals import PAGE, page


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.refusals`"
