"""Cotangents in a scope: zeros, and the projection onto the type of the primal value.

The one place that knows that the cotangent of a value has the value's own shape and dtype:
broadcast axes are summed, the dtype is cast, where a rule's formula gave something else.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Block, Value
from gradscribe.ir.types import (
    Array,
    Scalar,
    Tuple,
    Type,
    is_complex,
)
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import TUPLE, UNDEF, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH
from gradscribe.transforms.derivatives.cotangents import (
    call,
    constant,
    converted,
    if_there,
    name_of,
    zero_of,
)

if TYPE_CHECKING:
    from gradscribe.transforms.adjoint.scopes import Scope


def zero(scope: Scope, value: Value) -> Value:
    """A zero cotangent of a value, made in a scope."""
    type_ = value.type
    if isinstance(type_, Scalar):
        return constant(scope.builder, zero_of(type_))
    if isinstance(type_, Tuple) and all(isinstance(item, Scalar) for item in type_.items):
        items = tuple(constant(scope.builder, zero_of(item)) for item in type_.items)
        return scope.builder.call(TUPLE, {"items": items}, name=name_of(value))
    if scope.is_absent(value):
        return scope.builder.call(UNDEF, {"type": type_})
    if flags := scope.flags_of(value):
        like = scope.primal(scope.shaped_like(value))
        zeros = partial(scope.builder.call, ZEROS_LIKE, {"x": like})
        return if_there(scope.builder, flags, value, zeros)
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


def project(scope: Scope, cotangent: Value, value: Value, start: int) -> Value:
    """A cotangent as a rule gave it, made one of `value`: its shape, its dtype; its name, if it is
    the first one and was made by the operations of the scope from number `start` on."""
    result = _cast(scope, _fit(scope, cotangent, value), value.type)
    made = scope.builder.operations[start:]
    is_new = any(result in operation.results for operation in made)
    is_first = is_new and scope.cotangent(value) is None
    return scope.builder.rename(result, name_of(value)) if is_first else result


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
