"""When one value may stand for another: equal types, whatever is known of integer values."""

from __future__ import annotations

from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, Tuple, Type


def same_type(facts: Facts, a: Type, b: Type) -> bool:
    """Whether two types are equal under the known equalities of lengths; what is known of the
    values of integers does not count."""
    if a is b or a == b:
        return True
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype and a.weak == b.weak
    if isinstance(a, Array) and isinstance(b, Array):
        kind_a = (a.dtype, a.module, a.spelling)
        return kind_a == (b.dtype, b.module, b.spelling) and same_dims(facts, a, b)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return all(same_type(facts, x, y) for x, y in zip(a.items, b.items, strict=True))
    return False


def same_dims(facts: Facts, a: Array, b: Array) -> bool:
    """Whether two arrays have the same shape."""
    return a.rank == b.rank and all(
        x == y or facts.normalize(x) == facts.normalize(y)
        for x, y in zip(a.dims, b.dims, strict=True)
    )
