"""Whether two arrays share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

_MAX_WORK: Any = 10_000
"""How hard `np.shares_memory` may try (its stub knows only the two special values)."""


def share_memory(a: Any, b: Any) -> bool:
    """Whether two arrays may have an element in common; of other values, whether they are one."""
    if a is b:
        return True
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return False
    try:
        return np.shares_memory(a, b, max_work=_MAX_WORK)
    except RuntimeError:  # NumPy's TooHardError: who cannot tell must refuse
        return True
