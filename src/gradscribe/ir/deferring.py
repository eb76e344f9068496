"""Which operand NumPy asks, in `number * item` and `array * item`: often not the item.

NumPy's operators take what is like an array for an array, and combine an array with anything else
element by element; a reflected operator of the right operand (`__rmul__`) is asked only where its
class says so by `__array_ufunc__ = None` or `__array_priority__`, or where a single number meets
what is not like an array. Python's numbers ask the right operand always.
"""

from __future__ import annotations

from typing import Any

from gradscribe.ir.probing import in_class

_LIKE_ARRAYS = ("__array__", "__array_interface__", "__array_struct__", "__buffer__", "__getattr__")
"""What NumPy asks objects for, to make arrays of them; a `__getattr__` may give any of it."""

_UNSAID = object()


def asks_right_operand(cls: type, *, of_array: bool) -> bool:
    """Whether an operator of an array, or of a number of NumPy's, asks the reflected operator of an
    object of this class on its right, once and with itself."""
    ufunc = in_class(cls, "__array_ufunc__", _UNSAID)
    if ufunc is not _UNSAID:
        return ufunc is None
    priority: Any = in_class(cls, "__array_priority__", None)
    if of_array:
        return isinstance(priority, (int, float)) and priority > 0.0
    return isinstance(priority, (int, float)) or not _is_like_array(cls)


def _is_like_array(cls: type) -> bool:
    is_sequence = all(in_class(cls, name) is not None for name in ("__len__", "__getitem__"))
    return is_sequence or any(in_class(cls, name) is not None for name in _LIKE_ARRAYS)
