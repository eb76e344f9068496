"""Reading and storing by basic indices (integers, slices, None, Ellipsis).

An index is a tuple whose items are None, Ellipsis, an integer or a `SliceOf`; integers and
the parts of slices are static or operands. A *path* is a tuple of view steps
`(primitive, arguments without the array)` that leads from an array to a view of it; stores
go through paths, so that `v = a[1:]; v[0] = x` is one new value of `a`.
"""

from __future__ import annotations

from inspect import Parameter as SignatureParameter
from inspect import Signature
from typing import Any

import numpy as np

from gradscribe.ir.core import Primitive, SliceOf
from gradscribe.ir.lengths import Affine, Facts, Symbol
from gradscribe.ir.types import INT, Array, Scalar, Type
from gradscribe.primitives.registry import LINEAR, register
from gradscribe.primitives.typing import ONE, TypeRuleError, length_of


def getitem_type(facts: Facts, callee: Any, x: Type, index: tuple[Any, ...]) -> Type:
    """The view that a basic index takes; a NumPy scalar where no axis is left."""
    if not isinstance(x, Array):
        raise TypeRuleError(f"cannot index {x!r}")
    dims = list(x.dims)
    result: list[Affine] = []
    used = sum(item is not None and item is not Ellipsis for item in index)
    if used > len(dims):
        raise TypeRuleError(f"too many indices: the array has {len(dims)} axes, {used} were given")
    if Ellipsis not in index:
        index = (*index, Ellipsis)
    for item in index:
        if item is Ellipsis:
            rest = len(dims) - used
            result += dims[:rest]
            del dims[:rest]
        elif item is None:
            result.append(ONE)
        else:
            used -= 1
            length = dims.pop(0)
            if isinstance(item, SliceOf):
                result.append(_slice_length(facts, length, item))
    full = len(index) - 1 == sum(isinstance(i, (int, np.integer, Scalar)) for i in index)
    if not result and full and len(index) - 1 == x.rank:
        return Scalar(x.dtype, weak=False)
    return Array(x.dtype, tuple(result), x.module, x.spelling)


def _slice_length(facts: Facts, length: Affine, item: SliceOf) -> Affine:
    start, stop = (None if p is None else length_of(p) for p in (item.start, item.stop))
    step = 1 if item.step is None else length_of(item.step).known
    if not step:
        return Affine.of(Symbol("length"))
    return facts.slice_length(length, start, stop, step)


def path_type(facts: Facts, x: Type, path: tuple[Any, ...]) -> Type:
    """The type of the view of `x` that a path leads to."""
    for primitive, arguments in path:
        first = next(iter(primitive.signature.parameters))
        x = primitive.type_rule(facts, primitive.callee, **{first: x}, **arguments)
    return x


def _store_type(facts: Facts, callee: Any, x: Type, value: Type, path: tuple[Any, ...]) -> Type:
    target = path_type(facts, x, path)
    if isinstance(value, Array) and not isinstance(target, Array):
        raise TypeRuleError(f"cannot store {value!r} in one element of {x!r}")
    if isinstance(value, Array) and isinstance(target, Array):
        facts.broadcast([target.dims, value.dims[-target.rank :] if target.rank else ()])
    return x


def _signature(*names: str) -> Signature:
    kind = SignatureParameter.POSITIONAL_OR_KEYWORD
    return Signature([SignatureParameter(name, kind) for name in names])


GETITEM = Primitive(
    "getitem", getitem_type, _signature("x", "index"), tangent=LINEAR, view=True, cheap=True
)
"""x[index]. Its adjoint accumulates into the cotangent of x."""

STORE = Primitive("store", _store_type, _signature("x", "value", "path"))
"""`x` with `value` (broadcast, cast to x's dtype) stored at the view that `path` leads to."""

ACCUMULATE = Primitive("accumulate", _store_type, _signature("x", "value", "path"))
"""`x` with `value` added at the view that `path` leads to (`x[i] += value`, as a value)."""


def _length_type(facts: Facts, callee: Any, x: Type, axis: int) -> Type:
    if not isinstance(x, Array):
        raise TypeRuleError(f"{x!r} has no axis {axis}")
    return Scalar("int64", True, x.dims[axis])


def _size_type(facts: Facts, callee: Any, x: Type) -> Type:
    if isinstance(x, Array) and x.rank == 1:
        return Scalar("int64", True, x.dims[0])
    return INT


LENGTH = Primitive("length", _length_type, _signature("x", "axis"), cheap=True)
"""x.shape[axis]."""

SIZE = Primitive("size", _size_type, _signature("x"), cheap=True)
"""x.size."""

register(SIZE, (np.size,), ("size",))
