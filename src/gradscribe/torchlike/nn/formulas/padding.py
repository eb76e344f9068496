"""Arrays with a margin, over arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def framed(x: Any, before: Any, after: Any, value: Any) -> Any:
    """x with so many elements of this value before and after it along each of the last axes; where
    a number is negative, so many elements fewer."""
    free = x.ndim - len(before)
    kept: tuple[Any, ...] = (Ellipsis,)
    place: tuple[Any, ...] = (Ellipsis,)
    shape = x.shape[:free]
    for axis in range(len(before)):
        left, right, length = before[axis], after[axis], x.shape[free + axis]
        first, last = max(left, 0), length + max(left, 0) + min(left, 0) + min(right, 0)
        kept = (*kept, slice(max(-left, 0), length - max(-right, 0)))
        place = (*place, slice(first, last))
        shape = (*shape, length + left + right)
    out = np.full(shape, value, x.dtype)
    out[place] = x[kept]
    return out
