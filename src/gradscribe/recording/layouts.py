"""How the arrays of a recorded run lie in memory: as NumPy's would, for it decides what is a view.

Where NumPy copies, or stores in place, code of a derivative may give the same values in another
order of memory; they are laid out anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.ir.overlaps import empty_like
from gradscribe.recording.levels import Traced, plain


def laid_like(value: Any, like: Any) -> Any:
    """A value of the run, in the layout of an array of its shape."""
    array = plain(value)
    if not isinstance(array, np.ndarray) or not array.ndim or _is_laid_like(array, like):
        return value
    is_exact = array.dtype == like.dtype and array.size
    made: Any = (
        empty_like(like) if is_exact else np.empty_like(like, dtype=array.dtype, subok=False)
    )
    made[...] = array
    return _holding(value, made)


def standing_for(given: Any, value: Any) -> Any:
    """A value of the run, of what NumPy has given in its place."""
    if isinstance(given, np.ndarray) and (not given.flags.owndata or type(given) is not np.ndarray):
        return laid_like(_holding(value, np.array(given, order="K")), given)
    return _holding(value, given)


def is_value_of(given: Any, value: Any) -> bool:
    """Whether the result of a call of NumPy's is what was computed for it."""
    own = np.asarray(value)
    return np.shape(given) == own.shape and np.asarray(given).dtype in (own.dtype, own.real.dtype)


def agrees(given: Any, value: Any) -> bool:
    """Whether two results are the same but for rounding."""
    given, value = np.asarray(given), np.asarray(value)
    if given.dtype.kind not in "fc":
        return bool(np.array_equal(given, value))
    rtol = float(np.sqrt(np.finfo(given.dtype).eps))
    finite = np.abs(given[np.isfinite(given)])
    scale = float(finite.max()) if finite.size else 0.0
    return np.allclose(given, value, rtol=rtol, atol=rtol * scale, equal_nan=True)


def in_order(value: Any, order: Any, like: Any) -> Any:
    """A new value of the run, in the order that NumPy gives a copy of an array. order: as in
    `like.copy(order=…)`."""
    array = plain(value)
    if not isinstance(array, np.ndarray) or array.ndim < 2:
        return value
    return laid_like(value, np.empty_like(like, order=order or "K"))


def lies_in(order: str | None, array: Any) -> bool:
    """Whether an array lies in the order of memory that a conversion asks for."""
    flag = _FLAGS.get((order or "K").upper())
    return flag is None or bool(getattr(array.flags, flag))


_FLAGS = {"C": "c_contiguous", "F": "f_contiguous"}


def _is_laid_like(array: Any, like: Any) -> bool:
    if array.itemsize == like.itemsize:
        return bool(array.strides == like.strides)
    flags = ("c_contiguous", "f_contiguous")
    return all(getattr(array.flags, flag) == getattr(like.flags, flag) for flag in flags)


def _holding(value: Any, array: Any) -> Any:
    """The same value, of this array."""
    if type(value) is Traced:
        return Traced(_holding(value.value, array), value.level, value.place)
    return array


def piece(part: Any, own: Any) -> tuple[slice, ...]:
    """The index of a piece of an array, which NumPy has found by what is in it."""
    ahead = part.__array_interface__["data"][0] - own.__array_interface__["data"][0]
    starts = [0] * own.ndim
    if part.size:
        backward = [step < 0 for step in own.strides]
        ahead += sum((n - 1) * -s for n, s in zip(own.shape, own.strides, strict=True) if s < 0)
        for axis in sorted(range(own.ndim), key=lambda axis: -abs(own.strides[axis])):
            steps, ahead = divmod(ahead, abs(own.strides[axis]) or 1)
            starts[axis] = own.shape[axis] - 1 - steps if backward[axis] else steps
    return tuple(slice(a, a + n) for a, n in zip(starts, part.shape, strict=True))
