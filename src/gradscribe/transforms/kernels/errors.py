"""What is no loop over elements."""

from __future__ import annotations

from gradscribe.ir.core import Location


class NotLoopsError(Exception):
    """An operation on arrays that is no loop over elements, and the statement it is part of."""

    def __init__(self, what: str, location: Location | None) -> None:
        super().__init__(what)
        self.what = what
        self.location = location
