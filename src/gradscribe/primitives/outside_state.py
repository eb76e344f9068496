"""Whether what a function has found outside is still what it was.

Code that cannot be read may run functions that were handed to it long before: what those change is
known only when the program runs. So the program asks after such a call, and goes no further where
something has changed.
"""

from __future__ import annotations

from typing import Protocol

from gradscribe.primitives.contract_kinds import ASKS


class State(Protocol):
    """What a call of the compiled function has found outside."""

    def is_unchanged(self, settled: int | None, tainted: bool) -> bool:
        """Whether it would find the same now. settled: so many of the captures have been read
        (None: all); arrays among the others may hold something else. tainted: whether numbers have
        to be the same objects: equal ones may be what is differentiated."""


class _IsUnchanged:
    """`state.is_unchanged(settled, tainted)`, as emitted code calls it."""

    __gradscribe_contract__ = ASKS
    __module__ = "outside"
    __name__ = "is_unchanged"

    def __call__(self, state: State, settled: int | None, tainted: bool) -> bool:
        return state.is_unchanged(settled, tainted)


IS_UNCHANGED = _IsUnchanged()
