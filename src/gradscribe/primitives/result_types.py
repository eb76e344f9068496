"""Whether a value is of the type that the compiler has found for it by a call on trial.

What is compared is what derivatives are made for: dtypes, numbers of axes, and the lengths that are
known. Whether a number is Python's or NumPy's is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.errors import UnknownTypeError
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.types import Array, Scalar, Tuple, Type

Form = tuple[Any, ...]
"""Of an array or number its dtype and the number of its axes; of a tuple the forms of its items."""


def fits(type_: Type, value: Any, lengths: Mapping[Symbol, int]) -> bool:
    """Whether a value is of a type. lengths: those that are known."""
    if isinstance(type_, Tuple):
        if not isinstance(value, tuple) or len(value) != len(type_.items):
            return False
        return all(fits(*pair, lengths) for pair in zip(type_.items, value, strict=True))
    if not isinstance(type_, (Array, Scalar)):
        return True
    dims = type_.dims if isinstance(type_, Array) else ()
    if not _is_of(value, type_.dtype, len(dims)):
        return False
    known = [length_in(dim, lengths) for dim in dims]
    return all(n in (length, None) for length, n in zip(np.shape(value), known, strict=True))


def length_in(length: Affine, lengths: Mapping[Symbol, int]) -> int | None:
    """The value of a length; None where it is not known."""
    if any(symbol not in lengths for symbol, _ in length.terms):
        return None
    return length.constant + sum(lengths[symbol] * factor for symbol, factor in length.terms)


def form_of(type_: Type) -> Form | None:
    """What `check_result` compares with; None of what is no number, array, or tuple of these."""
    if isinstance(type_, Tuple):
        items = tuple(map(form_of, type_.items))
        return None if None in items else items
    if isinstance(type_, (Array, Scalar)):
        return type_.dtype, len(type_.dims) if isinstance(type_, Array) else 0
    return None


def check_result(x: Any, name: str, form: Form) -> None:
    """Raise an error if what a function gave has other dtypes, or another number of axes, than it
    was compiled for. name: of the function."""
    if not _is_like(x, form):
        raise UnknownTypeError(
            f"`{name}` gave {_told(_form_of(x))}, and {_told(form)} for other values of its "
            "arguments, for which this was compiled",
            "call it outside, and pass the result in",
        )


def _is_like(value: Any, form: Form) -> bool:
    if not _is_of_tuple(form):
        return _is_of(value, *form)
    is_tuple = isinstance(value, tuple) and len(value) == len(form)
    return is_tuple and all(map(_is_like, value, form))


def _is_of_tuple(form: Form) -> bool:
    return not form or isinstance(form[0], tuple)


def _is_of(value: Any, dtype: str, axes: int) -> bool:
    return _form_of(value) == (dtype, axes)


def _form_of(value: Any) -> Form:
    if isinstance(value, tuple):
        return tuple(map(_form_of, value))
    if type(value) is int:  # of any size
        return "int64", 0
    array = value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value)
    return array.dtype.name, array.ndim


def _told(form: Form) -> str:
    if _is_of_tuple(form):
        return f"({', '.join(map(_told, form))})"
    dtype, axes = form
    return f"{dtype} of {axes} {'axis' if axes == 1 else 'axes'}" if axes else f"a {dtype}"
