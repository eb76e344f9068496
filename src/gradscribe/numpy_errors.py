"""What NumPy does about floating-point errors here: the context variable that it keeps that in.

Entering `np.errstate`, and asking `np.geterr`, take longer than many an operation.
"""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np


def _silence() -> tuple[ContextVar[Any], Any]:
    """The variable, and its value where nothing is to be done."""
    before = copy_context()
    with np.errstate(all="ignore"):
        within = copy_context()
    (changed,) = (var for var, value in within.items() if before.get(var) is not value)
    return changed, within[changed]


HANDLING, IGNORED = _silence()
"""What is set for a while, and what to, where errors are kept silent."""

_USUAL = HANDLING.get(None)


def is_usual() -> bool:
    """Whether nobody has said what to do about errors here."""
    return HANDLING.get(None) is _USUAL
