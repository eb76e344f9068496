"""Cotangents by type: zeros, sums, and the projection onto the type of the primal value.

The one place that knows that the cotangent of a value has the value's own shape and dtype:
broadcast axes are summed, the dtype is cast, where a rule's formula gave something else.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.affine import Affine
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
from gradscribe.primitives.control import ADD_ITEMS, CONSTANT, GET, ITEM, TUPLE, UNDEF, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH
from gradscribe.primitives.registry import METHODS, PRIMITIVES
from gradscribe.transforms.absence import telling

if TYPE_CHECKING:
    from gradscribe.transforms.adjoint.scopes import Scope


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


def zero(scope: Scope, value: Value) -> Value:
    """A zero cotangent of a value, made in a scope."""
    type_ = value.type
    if isinstance(type_, Scalar):
        return constant(scope.builder, _zero_of(type_))
    if isinstance(type_, Tuple) and all(isinstance(item, Scalar) for item in type_.items):
        items = tuple(constant(scope.builder, _zero_of(item)) for item in type_.items)
        return scope.builder.call(TUPLE, {"items": items}, name=name_of(value))
    if scope.is_absent(value):
        return scope.builder.call(UNDEF, {"type": type_})
    flags = [
        (scope.primal(flag), outcome)
        for flag, outcome in telling(scope.context.absent, value)
        if scope.outcome(flag) is None
    ]
    if flags:
        like = scope.primal(scope.shaped_like(value))
        return zero_if_there(scope.builder, like, flags, value)
    like = scope.shaped_like(value)
    costly = like in scope.context.undefined or scope.effort(like)
    if isinstance(type_, Array) and type_.module == "numpy" and costly:
        shape = tuple(length.known for length in type_.dims)
        if None not in shape:
            keywords = {} if type_.dtype == "float64" else {"dtype": np.dtype(type_.dtype)}
            return call(scope.builder, np.zeros, name=name_of(value), shape=shape, **keywords)
    arguments: dict[str, Any] = {"x": scope.primal(like)}
    if isinstance(type_, (ListType, Array)) and like in scope.context.undefined:
        arguments["optional"] = True
    return scope.builder.call(ZEROS_LIKE, arguments, name=name_of(value))


def _zero_of(type_: Type) -> Any:
    """Zero as the cotangent of a number (or beside one, in a tuple, of a whole number)."""
    assert isinstance(type_, Scalar)
    if not type_.weak and type_.dtype not in ("float64", "complex128"):
        return np.dtype(type_.dtype).type(0)
    return 0.0 if is_differentiable(type_) else 0


def zero_if_there(
    builder: Builder, like: Value, flags: Sequence[tuple[Value, bool]], value: Value
) -> Value:
    """Zeros like a value, as the derivative of `value`; or nothing where one of the flags has the
    outcome that tells that `value` is undefined. Each flag is defined where those before it do not
    tell that."""
    if not flags:
        return builder.call(ZEROS_LIKE, {"x": like})
    (flag, outcome), *others = flags
    blocks = []
    for side in (True, False):
        with builder.block() as operations:
            if side == outcome:
                given = builder.call(UNDEF, {"type": value.type})
            else:
                given = zero_if_there(builder, like, others, value)
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
    item = builder.call(GET, {"x": x, "index": index}, name=name_of(like))
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
    zero = constant(builder, 0.0)
    is_zero = call(builder, operator.eq, given, zero)
    is_cut = call(builder, operator.and_, is_zero, call(builder, np.isnan, product))
    if isinstance(product.type, Array):
        return call(builder, np.where, is_cut, zero, product)
    result = Value(cotangent_type(product.type), product.name)
    sides = [Block((), (), (side,)) for side in (zero, product)]
    builder.emit_if(is_cut, sides[0], sides[1], [result])
    return result


def project(scope: Scope, cotangent: Value, value: Value, start: int) -> Value:
    """A cotangent as a rule gave it, made one of `value`: its shape, its dtype; its name, if it is
    the first one and was made by the operations of the scope from number `start` on."""
    result = _cast(scope, _fit(scope, cotangent, value), value.type)
    made = scope.builder.operations[start:]
    is_new = any(result in operation.results for operation in made)
    is_first = is_new and scope.cotangent(value) is None
    return scope.builder.rename(result, name_of(value)) if is_first else result


def of_real(builder: Builder, cotangent: Value, value: Value) -> Value:
    """The real part of a complex cotangent, where the value is real: it was joined with a complex
    one."""
    number = (Scalar, Array)
    if not isinstance(cotangent.type, number) or not isinstance(value.type, number):
        return cotangent
    if is_complex(value.type) or not is_complex(cotangent.type):
        return cotangent
    return call(builder, np.real, cotangent)


def of_dtype(scope: Scope, cotangent: Value, value: Value) -> Value:
    """The gradient of an input from its cotangent: real for a real number and complex for a complex
    one, also where that was joined with one of another dtype."""
    given, wanted = cotangent.type, value.type
    if is_complex(wanted) and isinstance(given, Scalar) and not is_complex(given):
        return call(scope.builder, np.dtype(wanted.dtype).type, cotangent, name=name_of(value))
    result = _cast(scope, cotangent, wanted) if isinstance(given, Scalar) else cotangent
    return result if result is cotangent else scope.builder.rename(result, name_of(value))


def _fit(scope: Scope, cotangent: Value, value: Value) -> Value:
    given, wanted = cotangent.type, value.type
    builder = scope.builder
    if isinstance(wanted, Scalar):
        return call(builder, np.sum, cotangent) if isinstance(given, Array) else cotangent
    if not isinstance(wanted, Array):
        return cotangent
    rank = given.rank if isinstance(given, Array) else 0
    if rank > wanted.rank:
        leading = tuple(range(rank - wanted.rank))
        cotangent = call(builder, np.sum, cotangent, axis=leading if leading[1:] else 0)
        given = cotangent.type
    if rank < wanted.rank or not isinstance(given, Array):
        return _broadcast(scope, cotangent, value)
    return _sum_axes(scope, cotangent, given.dims, value, wanted.dims)


def _sum_axes(
    scope: Scope,
    cotangent: Value,
    given: tuple[Affine, ...],
    value: Value,
    wanted: tuple[Affine, ...],
) -> Value:
    """Sum over the axes that were broadcast; where the types do not tell, ask at run time."""
    facts = scope.builder.facts
    pairs = [
        (axis, facts.normalize(g), facts.normalize(w))
        for axis, (g, w) in enumerate(zip(given, wanted, strict=True))
    ]
    broadcast = tuple(axis for axis, g, w in pairs if w.known == 1 and g.known != 1)
    if any(g.known == 1 and w.known != 1 for _, g, w in pairs):
        return _broadcast(scope, cotangent, value)
    if broadcast:
        axis = broadcast if broadcast[1:] else broadcast[0]
        cotangent = call(scope.builder, np.sum, cotangent, axis=axis, keepdims=True)
    for axis, g, w in pairs:
        if axis in broadcast or g == w or w.known is not None or facts.is_many(w):
            continue  # an axis that is not one long was not broadcast
        equal = facts.equal(g, w)
        if equal is False and facts.equal(w, Affine((), 1)):
            cotangent = call(scope.builder, np.sum, cotangent, axis=axis, keepdims=True)
        elif not equal:
            cotangent = _sum_if_one(scope, cotangent, value, axis)
    return cotangent


def _sum_if_one(scope: Scope, cotangent: Value, value: Value, axis: int) -> Value:
    builder = scope.builder
    like = scope.primal(scope.shaped_like(value))
    length = builder.call(LENGTH, {"x": like, "axis": axis})
    condition = call(builder, operator.eq, length, constant(builder, 1))
    with builder.block() as operations:
        summed = call(builder, np.sum, cotangent, axis=axis, keepdims=True)
    assert isinstance(cotangent.type, Array) and isinstance(value.type, Array)
    dims = list(cotangent.type.dims)
    dims[axis] = value.type.dims[axis]
    type_ = Array(cotangent.type.dtype, tuple(dims), value.type.module, value.type.spelling)
    result = Value(type_, name_of(value))
    then, otherwise = Block((), tuple(operations), (summed,)), Block((), (), (cotangent,))
    builder.emit_if(condition, then, otherwise, (result,))
    return result


def _broadcast(scope: Scope, cotangent: Value, value: Value) -> Value:
    """What a rule left to broadcast (a cotangent that is the same for all elements)."""
    assert isinstance(value.type, Array)
    like = scope.primal(scope.shaped_like(value))
    shape = tuple(
        dim.known
        if dim.known is not None
        else scope.builder.call(LENGTH, {"x": like, "axis": axis})
        for axis, dim in enumerate(value.type.dims)
    )
    return call(scope.builder, np.broadcast_to, cotangent, shape=shape)


def _cast(scope: Scope, cotangent: Value, wanted: Type) -> Value:
    """Bring an array or a NumPy scalar to the dtype of the primal; Python's floats stay."""
    given = cotangent.type
    if not isinstance(given, (Scalar, Array)) or not isinstance(wanted, (Scalar, Array)):
        return cotangent
    if is_complex(given) and not is_complex(wanted):
        return _cast(scope, call(scope.builder, np.real, cotangent), wanted)
    if isinstance(wanted, Scalar) and wanted.weak:
        return cotangent
    if given.dtype == wanted.dtype or (isinstance(given, Scalar) and given.weak):
        return cotangent
    return converted(scope.builder, cotangent, np.dtype(wanted.dtype))


def converted(builder: Builder, derivative: Value, dtype: np.dtype[Any]) -> Value:
    """A cotangent or tangent as one of this dtype."""
    if isinstance(derivative.type, Scalar):  # it may be Python's float, which has no `astype`
        return call(builder, dtype.type, derivative)
    arguments = {"x": derivative, "dtype": dtype}
    return builder.call(METHODS["astype"], arguments, callee=Method("astype"))
