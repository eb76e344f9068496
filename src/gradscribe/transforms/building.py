"""Operations that transforms write: views and stores along a path, copies, derived locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    Location,
    Operation,
    Primitive,
    Value,
)
from gradscribe.ir.types import INT, Array, Scalar
from gradscribe.primitives.indexing import LENGTH, STORE
from gradscribe.primitives.registry import PRIMITIVES


def view_at(builder: Builder, x: Value, path: tuple[Any, ...], name: str = "") -> Value:
    """The view of an array (or the number) that a path of values leads to."""
    for primitive, arguments in path:
        first = next(iter(primitive.signature.parameters))
        x = builder.call(primitive, {first: x, **arguments})
    return builder.rename(x, name) if path and name else x


def store_at(
    builder: Builder,
    primitive: Primitive,
    x: Value,
    value: Value,
    path: tuple[Any, ...],
    name: str = "",
) -> Value:
    """A store, or an accumulation, in a derived array. Of that it is not known that a reshape of
    it is a view, so that it is reshaped, stored to, and shaped back."""
    position = next((n for n, (step, _) in enumerate(path) if step in _reshapes()), None)
    if position is None:
        return builder.call(primitive, {"x": x, "value": value, "path": path}, name=name)
    before, after = path[:position], path[position + 1 :]
    inner = view_at(builder, x, before)
    changed = view_at(builder, inner, (path[position],))
    changed = store_at(builder, primitive, changed, value, after, name)
    assert isinstance(inner.type, Array)
    shape = tuple(
        builder.call(LENGTH, {"x": inner, "axis": axis}) if length.known is None else length.known
        for axis, length in enumerate(inner.type.dims)
    )
    order = path[position][1].get("order", "C")
    arguments = {"x": changed, "shape": shape, "order": order}
    back = builder.call(PRIMITIVES[np.reshape], arguments, name=name, callee=np.reshape)
    if not before:
        return back
    return builder.call(STORE, {"x": x, "value": back, "path": before}, name=name)


def _reshapes() -> tuple[Primitive, ...]:
    """Views of which it depends on the layout whether they are copies."""
    return PRIMITIVES[np.reshape], PRIMITIVES[np.ravel], PRIMITIVES[np.ascontiguousarray]


def reshapes(path: tuple[Any, ...]) -> bool:
    """Whether a path leads through a reshape."""
    return any(step in _reshapes() for step, _ in path)


def copied(operation: Operation, operands: Sequence[Value], builder: Builder) -> Value:
    """Emit an operation again on other operands, as a derived one; its result."""
    location = derived(operation.location)
    result = operation.result
    if all(a.type is b.type for a, b in zip(operands, operation.operands, strict=True)):
        value = Value(result.type, result.name)
        builder.append(
            replace(operation, operands=tuple(operands), results=(value,), location=location)
        )
        return value
    return builder.emit(
        operation.primitive,
        operands,
        operation.attributes,
        name=result.name,
        callee=operation.callee,
        location=location,
    )


@lru_cache
def derived(location: Location | None) -> Location:
    """The location for adjoint operations of an operation of the primal."""
    if location is None:
        return Location("", 0, 0, 0, "", role="adjoint")
    return location if location.role == "adjoint" else replace(location, role="adjoint")


def index_type() -> Scalar:
    """The type of an index that counts from zero."""
    return replace(INT, value=Affine.of(Symbol("i", 0)))
