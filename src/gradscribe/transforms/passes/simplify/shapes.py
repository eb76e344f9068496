"""Shapes: lengths and zeros that are taken from where they cost nothing, views that cancel.

What is asked of a value's shape alone is asked of an argument of that shape instead, so that
nothing is computed, or kept, for its shape.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.ir.core import Operand, Operation, Value
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import CONSTANT, COPY, ZEROS_LIKE
from gradscribe.primitives.indexing import ACCUMULATE, LENGTH, SIZE, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.passes.simplify.table import derived, exact

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter


@exact(STORE, ACCUMULATE, COPY)
def remember_root(rewriter: Rewriter, operation: Operation) -> None:
    """A store keeps the shape of the array that it stores to."""
    x, result = operation.operands[0], operation.results[0]
    rewriter.roots[result] = rewriter.roots.get(x, x)


@exact(LENGTH)
def length_of_argument(rewriter: Rewriter, operation: Operation) -> Value | None:
    (x,) = operation.operands
    if x in rewriter.parameters or not isinstance(x.type, Array):
        return None
    found = rewriter.axes.get(x.type.dims[operation.attributes["axis"]])
    if found is None or not _is_readable(rewriter, found[0], operation):
        return None
    argument, axis = found
    result = operation.result
    return rewriter.emit(
        LENGTH, {"x": argument, "axis": axis}, operation, type_=result.type, name=result.name
    )


@exact(SIZE)
def size_of_argument(rewriter: Rewriter, operation: Operation) -> Value | None:
    (x,) = operation.operands
    if x in rewriter.parameters or not isinstance(x.type, Array):
        return None
    argument = rewriter.arrays.get(x.type)
    if argument is None or not _is_readable(rewriter, argument, operation):
        return None
    return rewriter.again(operation, argument)


def _is_readable(rewriter: Rewriter, argument: Value, operation: Operation) -> bool:
    """Whether an operation may read a parameter: the primal is computed without the seeds."""
    location = operation.location
    return argument not in rewriter.seeds or (location is not None and location.role != "primal")


@exact(ZEROS_LIKE)
def zeros_like_argument(rewriter: Rewriter, operation: Operation) -> Value | None:
    (x,) = operation.operands
    if isinstance(x.type, Scalar):
        return rewriter.emit(
            CONSTANT, {"value": zero(x.type)}, operation, name=operation.result.name
        )
    if x in rewriter.parameters:
        return None
    argument = rewriter.arrays.get(x.type)
    if argument is not None and _is_readable(rewriter, argument, operation):
        return rewriter.again(operation, argument)
    return _made_again(rewriter, operation, rewriter.roots.get(x, x))


def zero(type_: Scalar) -> Any:
    """The zero of a scalar type: Python's own, or NumPy's."""
    strong = np.dtype(type_.dtype).type(0)
    return strong.item() if type_.weak else strong


def _made_again(rewriter: Rewriter, operation: Operation, root: Value) -> Value | None:
    """Zeros of an array that the program made as zeros, made in the same way."""
    made = rewriter.made_by(root, np.zeros, np.zeros_like, ZEROS_LIKE)
    if made is None or root not in rewriter.visible:
        return None
    result = Value(operation.result.type, operation.result.name)
    again = Operation(
        made.primitive,
        made.operands,
        (result,),
        made.attributes,
        (),
        operation.location,
        made.callee,
    )
    rewriter.append(again)
    return result


@derived(COPY, np.copy, np.asarray, np.ascontiguousarray, np.asfortranarray)
def drop_copy(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Arrays are values here; bufferize makes the copies that memory needs."""
    x = operation.operands[0]
    return x if rewriter.same_type(x, operation.result) else None


@derived(np.broadcast_to)
def broadcast_nothing(rewriter: Rewriter, operation: Operation) -> Value | None:
    """To the shape that x has: x. Of a number, to the shape of an argument: full_like."""
    x, result = operation.operands[0], operation.result
    if rewriter.same_type(x, result):
        return x
    like = _array_of_shape(rewriter, operation)
    if isinstance(x.type, Scalar) and like is not None:
        return rewriter.replacement(operation, np.full_like, like, x)
    return None


def _array_of_shape(rewriter: Rewriter, broadcast: Operation) -> Value | None:
    """An array at hand of the type that a broadcast makes."""
    argument = rewriter.arrays.get(broadcast.result.type)
    if argument is not None:
        return argument
    for value in broadcast.operands[1:]:
        length = rewriter.made_by(value, LENGTH)
        if length is not None and rewriter.same_type(length.operands[0], broadcast.result):
            return length.operands[0]
    return None


@derived(np.reshape, np.ravel, "flatten", np.squeeze, np.expand_dims)
def join_reshapes(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A reshape of a reshape is one, or none, where both read the elements in C order."""
    source = operation.operands[0]
    if not _keeps_order(operation):
        return None
    while (inner := _reshape(rewriter, source)) is not None:
        source = inner.operands[0]
    if rewriter.same_type(source, operation.result):
        return source
    direct = operation.primitive in (PRIMITIVES.get(np.reshape), PRIMITIVES.get(np.ravel))
    if direct and source is not operation.operands[0] and isinstance(source.type, Array):
        return rewriter.again(operation, source, *operation.operands[1:])
    return None


def _reshape(rewriter: Rewriter, value: Value) -> Operation | None:
    made = rewriter.made_by(value, np.reshape, np.ravel, np.squeeze, np.expand_dims)
    return made if made is not None and _keeps_order(made) else None


def _keeps_order(operation: Operation) -> bool:
    array = next(iter(operation.attributes.values()))
    return operation.attributes.get("order", "C") == "C" and bool(array == Operand(0))


@derived(np.transpose)
def transpose_back(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The transpose of a transpose, where axes come back to their places."""
    inner = rewriter.made_by(operation.operands[0], np.transpose)
    if inner is None:
        return None
    first, second = _axes(inner), _axes(operation)
    if [first[axis] for axis in second] == list(range(len(first))):
        return inner.operands[0]
    return None


@derived(np.transpose)
def transpose_product(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Of the transpose of x.T @ y make y.T @ x."""
    product = rewriter.made_by(operation.operands[0], operator.matmul)
    if product is None or not rewriter.used_once(product.result) or not _swaps(operation):
        return None
    left = rewriter.made_by(product.operands[0], np.transpose)
    if left is None or not _swaps(left) or left.callee != operation.callee:
        return None
    right = product.operands[1]
    if not isinstance(right.type, Array) or right.type.rank != 2:
        return None
    turned = rewriter.again(
        replace(left, results=(Value(_turned(right.type)),), location=operation.location), right
    )
    if turned is None:
        return None
    return rewriter.replacement(operation, operator.matmul, turned, left.operands[0])


def _swaps(transpose: Operation) -> bool:
    """Whether this is the transpose of a matrix."""
    return _axes(transpose) == [1, 0]


def _turned(type_: Array) -> Array:
    return replace(type_, dims=type_.dims[::-1])


def _axes(transpose: Operation) -> list[int]:
    type_ = transpose.result.type
    assert isinstance(type_, Array)
    axes = transpose.attributes.get("axes")
    return list(range(type_.rank))[::-1] if axes is None else [a % type_.rank for a in axes]


@derived("astype")
def cast_nothing(rewriter: Rewriter, operation: Operation) -> Value | None:
    """To the dtype that x has: x."""
    x = operation.operands[0]
    return x if rewriter.same_type(x, operation.result) else None
