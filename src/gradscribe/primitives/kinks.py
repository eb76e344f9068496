"""Kinks that a second derivative passes: `off_kinks` stands in its generated code, and notes them.

It gives back its first argument. What becomes of what is noted: `api/kinks.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.primitives.gauge import enter, tangent_of_tangent

_passed = 0


def passed() -> int:
    """How many kinks have been passed so far, on any thread."""
    return _passed


def off_kinks(tangent: Any, distance: Any) -> Any:
    """A tangent of what has a kink where the distance is zero."""
    global _passed
    if not np.all(distance):
        _passed += 1
    return tangent


enter(off_kinks, tangent_of_tangent)  # type: ignore[no-untyped-call]
