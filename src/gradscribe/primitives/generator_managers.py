"""What `contextlib.contextmanager` makes: code of Python that runs where a manager is entered and
left, not where it is made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradscribe.ir.probing import probe


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


OF_GENERATOR = type(_nothing())
"""The class of such managers."""


def is_maker(callee: Any) -> bool:
    """Whether this makes such managers: their class, or a function that is made by
    `contextlib.contextmanager`."""
    return callee is OF_GENERATOR or is_decorated(callee)


def is_decorated(callee: Any) -> bool:
    """Whether `contextlib.contextmanager` made this function."""
    return probe(callee, "__code__") is probe(_nothing, "__code__")
