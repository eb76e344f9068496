"""Tables of which other Pythons run a part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(number: int, rows: Iterable[Any]) -> list[Any]:
    """The rows for `pytest.mark.parametrize`; all but one in so many are marked slow."""
    return [
        pytest.param(row, marks=pytest.mark.slow) if index % number else row
        for index, row in enumerate(rows)
    ]
