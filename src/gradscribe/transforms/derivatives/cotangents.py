"""Cotangents and tangents by type: zeros, sums, names, and operations on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Method, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import (
    Array,
    Collected,
    Scalar,
    Tuple,
    Type,
    cotangent_type,
    is_complex,
    is_differentiable,
    join,
)
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import ADD_ITEMS, CONSTANT, GET, ITEM, TUPLE, UNDEF
from gradscribe.primitives.registry import METHODS, PRIMITIVES


def call(builder: Builder, callee: Any, *operands: Value, name: str = "", **static: Any) -> Value:
    """Emit a call of a known function on these values, then static arguments by keyword."""
    primitive = PRIMITIVES[callee]
    return builder.call(
        primitive, primitive.arguments(*operands, **static), name=name, callee=callee
    )


def constant(builder: Builder, value: Any) -> Value:
    return builder.call(CONSTANT, {"value": value})


def any_of(builder: Builder, flags: Sequence[Value | None]) -> Value | None:
    """Whether one of these holds; None (for what certainly does) where one is that."""
    total, *others = flags
    for flag in others:
        total = total and flag and call(builder, operator.or_, total, flag)
    return total


def name_of(value: Value) -> str:
    """The name of a value's cotangent."""
    return f"d_{value.name}" if value.name else ""


def zero_of(type_: Type) -> Any:
    """Zero as the cotangent of a number (or beside one, in a tuple, of a whole number)."""
    assert isinstance(type_, Scalar)
    if not type_.weak and type_.dtype not in ("float64", "complex128"):
        return np.dtype(type_.dtype).type(0)
    if is_differentiable(type_):
        return 0.0
    return False if type_.dtype == "bool" else 0


def if_there(
    builder: Builder,
    flags: Sequence[tuple[Value, bool]],
    value: Value,
    make: Callable[[], Value],
) -> Value:
    """What `make` writes, a derivative of `value`; or nothing where one of the flags has the
    outcome that tells that `value` is undefined. Each flag is defined where those before it do not
    tell that."""
    if not flags:
        return make()
    (flag, outcome), *others = flags
    blocks = []
    for side in (True, False):
        with builder.block() as operations:
            if side == outcome:
                given = builder.call(UNDEF, {"type": value.type})
            else:
                given = if_there(builder, others, value, make)
        blocks.append(Block((), tuple(operations), (given,)))
    result = Value(cotangent_type(value.type), name_of(value))
    builder.emit_if(flag, blocks[0], blocks[1], (result,))
    return result


def add(builder: Builder, a: Value, b: Value, value: Value) -> Value:
    """The sum of two cotangents of one value."""
    if isinstance(a.type, (Scalar, Array)):
        total = call(builder, operator.add, a, b, name=name_of(value))
        is_unboxed = isinstance(value.type, Array) and isinstance(total.type, Scalar)
        return _boxed(builder, total) if is_unboxed else total
    if isinstance(a.type, Tuple) and isinstance(b.type, Tuple):
        items = tuple(_item_sum(builder, a, b, i) for i in range(len(a.type.items)))
        return builder.call(TUPLE, {"items": items}, name=name_of(value))
    return builder.call(ADD_ITEMS, {"x": a, "y": b}, name=name_of(value))


def item_of(builder: Builder, x: Value, index: Any, like: Value) -> Value:
    """An item of a list of cotangents, or of tangents; like: the item that it is one of, and has
    the lengths of."""
    item = builder.call(GET, {"x": x, "index": index})
    same_lengths(builder.facts, item, like)
    return item


def same_lengths(facts: Facts, value: Value, like: Value) -> None:
    """Record that a value has the lengths of another one."""
    if isinstance(value.type, Array) and isinstance(like.type, Array):
        for own, other in zip(value.type.dims, like.type.dims, strict=True):
            facts.assume_equal(own, other)


def _boxed(builder: Builder, number: Value) -> Value:
    """The sum of arrays without axes, which NumPy gives as a scalar, as such an array."""
    return call(builder, np.asarray, number, name=number.name)


def _item_sum(builder: Builder, a: Value, b: Value, position: int) -> Value:
    """The sum of these items of two cotangents of one tuple."""
    x, y = (builder.call(ITEM, {"x": each, "position": position}) for each in (a, b))
    return add(builder, x, y, Value(x.type)) if is_differentiable(x.type) else x


def carried_type(type_: Type) -> Type:
    """The type of a cotangent that a loop carries: wide enough for all that reaches it."""
    if isinstance(type_, Scalar):
        return Scalar(type_.dtype, weak=False)
    if isinstance(type_, ListType):
        return ListType(carried_type(type_.item), type_.length, type_.optional)
    if isinstance(type_, Collected):
        return Collected(carried_type(type_.item))
    if isinstance(type_, Tuple):
        return Tuple(tuple(map(carried_type, type_.items)))
    return cotangent_type(type_)


def joined_type(value: Value, cotangents: Sequence[Value]) -> Type:
    """The type of a cotangent that comes from either side of a branch."""
    if isinstance(value.type, Array):
        return cotangent_type(value.type)
    type_ = cotangents[0].type
    for other in cotangents[1:]:
        type_ = join(type_, other.type)
    return cotangent_type(type_)


def zero_where_cut(builder: Builder, given: Value, product: Value) -> Value:
    """The product of a cotangent, or tangent, with a partial derivative: zero where what was given
    is zero, also where the partial derivative is infinite.

    Only there is it replaced: elsewhere a zero has derivatives by what was given."""
    if isinstance(product.type, Scalar) and product.type.weak:
        return product  # a division of Python's numbers raises an exception at the pole
    product = _by_numpy(builder, product)
    zero = constant(builder, 0.0)
    is_zero = call(builder, operator.eq, given, zero)
    is_cut = call(builder, operator.and_, is_zero, call(builder, np.isnan, product))
    if isinstance(product.type, Array):
        return call(builder, np.where, is_cut, zero, product)
    result = Value(cotangent_type(product.type), product.name)
    sides = [Block((), (), (side,)) for side in (zero, product)]
    builder.emit_if(is_cut, sides[0], sides[1], [result])
    return result


def _by_numpy(builder: Builder, quotient: Value) -> Value:
    """A quotient of numbers by one of Python's, as NumPy's: the cotangent may be a zero of Python's
    at run time, for which Python raises an exception at the pole."""
    made = builder.definition(quotient)
    if made is None or made.callee is not operator.truediv:
        return quotient
    types = [operand.type for operand in made.operands]
    if not all(isinstance(t, Scalar) for t in types) or not getattr(types[-1], "weak", False):
        return quotient
    return call(builder, np.divide, *made.operands, name=quotient.name)


def of_real(builder: Builder, cotangent: Value, value: Value) -> Value:
    """The real part of a complex cotangent, where the value is real: it was joined with a complex
    one."""
    number = (Scalar, Array)
    if not isinstance(cotangent.type, number) or not isinstance(value.type, number):
        return cotangent
    if is_complex(value.type) or not is_complex(cotangent.type):
        return cotangent
    return call(builder, np.real, cotangent)


def converted(builder: Builder, derivative: Value, dtype: np.dtype[Any]) -> Value:
    """A cotangent or tangent as one of this dtype."""
    if isinstance(derivative.type, Scalar):  # it may be Python's float, which has no `astype`
        return call(builder, dtype.type, derivative)
    arguments = {"x": derivative, "dtype": dtype}
    return builder.call(METHODS["astype"], arguments, callee=Method("astype"))
