"""Attributes of frontend values: of static objects, of `self`, of arrays and numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gradscribe.frontend import builtins as known
from gradscribe.frontend import calls, scope
from gradscribe.frontend.lowering import Lowering, is_number
from gradscribe.frontend.values import BoundMethod, ObjectRef, Ref, Static, TupleOf
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.indexing import LENGTH
from gradscribe.primitives.registry import METHODS


def attribute(lowering: Lowering, node: Any, owner: Any, name: str) -> Any:
    """`owner.name`."""
    if isinstance(owner, Static) and not is_number(owner):
        if not hasattr(owner.value, name):
            lowering.unsupported(node, f"`{owner.value!r}` has no attribute `{name}`")
        return Static(getattr(owner.value, name))
    if isinstance(owner, ObjectRef):
        found = scope.attribute_of_object(lowering, node, owner, name)
        if isinstance(found, property):
            return calls.call(lowering, node, Static(found.fget), (owner,), {})
        return BoundMethod(owner, name) if callable(found) else found
    if isinstance(owner, TupleOf) and name in _field_names(owner.cls):
        return owner.items[_field_names(owner.cls).index(name)]
    if isinstance(owner, Ref):
        return _array_attribute(lowering, node, owner, name)
    if is_number(owner):
        return _number_attribute(lowering, node, owner, name)
    return BoundMethod(owner, name)


def _field_names(cls: type) -> tuple[str, ...]:
    """The names of the items of a namedtuple or dataclass."""
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return getattr(cls, "_fields", ())


def _array_attribute(lowering: Lowering, node: Any, owner: Ref, name: str) -> Any:
    type_ = lowering.load(owner).type
    assert isinstance(type_, Array)
    if name == "shape":
        return shape_of(lowering, owner)
    if name == "ndim":
        return Static(type_.rank)
    if name == "dtype":
        return Static(np.dtype(type_.dtype))
    if name == "data" or (name == "array" and known.is_tensor(lowering, owner)):
        return calls.cut(lowering, owner)
    if name == "size" and known.is_tensor(lowering, owner):
        return BoundMethod(owner, name)
    if name in ("T", "mT", "size", "real", "imag") and name in METHODS:
        return calls.apply_method(lowering, node, owner, name, (), {})
    return BoundMethod(owner, name)


def shape_of(lowering: Lowering, owner: Any) -> TupleOf:
    """The shape of an array as a tuple: known lengths are static."""
    value = lowering.value(owner)
    dims = value.type.dims if isinstance(value.type, Array) else ()
    return TupleOf(
        tuple(
            Static(dim.known)
            if dim.known is not None
            else lowering.emit(LENGTH, {"x": value, "axis": axis})
            for axis, dim in enumerate(dims)
        )
    )


def _number_attribute(lowering: Lowering, node: Any, owner: Any, name: str) -> Any:
    type_ = owner.type if isinstance(owner, Value) else lowering.value(owner).type
    assert isinstance(type_, Scalar)
    if name == "shape" and not type_.weak:
        return TupleOf(())
    if name == "ndim" and not type_.weak:
        return Static(0)
    if name == "dtype" and not type_.weak:
        return Static(np.dtype(type_.dtype))
    if name == "data":
        return calls.cut(lowering, owner)
    if name in ("T", "real"):
        return owner
    return BoundMethod(owner, name)
