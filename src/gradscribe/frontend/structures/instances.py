"""Objects as the compiler knows them: of a class, with a storage for each attribute."""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.memory import kept_variables, remembered
from gradscribe.frontend.state.dependencies import depend_on_names
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Cell,
    InstanceRef,
    ObjectRef,
    Storage,
    TupleOf,
    Unbound,
)

Object = InstanceRef | ObjectRef
_CONTAINERS = (list, dict, tuple, set)


def class_of(owner: Object | TupleOf) -> type:
    """The class of an object."""
    return type(owner.target) if isinstance(owner, ObjectRef) else owner.cls


def is_object(item: Any) -> bool:
    """Whether this is an object of a user's class (or one from outside)."""
    return isinstance(item, InstanceRef) or (
        isinstance(item, ObjectRef) and not isinstance(item.target, _CONTAINERS)
    )


def has_methods(item: Any) -> bool:
    """Whether the class of this may have methods of the user's: an object, or a namedtuple."""
    return is_object(item) or (isinstance(item, TupleOf) and item.cls is not tuple)


def cell_of(lowering: Lowering, owner: Object, name: str) -> Cell | None:
    """The storage of an attribute that was stored."""
    if isinstance(owner, InstanceRef):
        return owner.cells.get(name)
    remembered.note(lowering, owner, owner.path.attribute(name))
    return lowering.outside.fields.get((id(owner.target), name))


def set_attribute(lowering: Lowering, owner: Object, name: str, item: Any) -> None:
    cell = cell_of(lowering, owner, name)
    if cell is None:
        cell = Cell(name)
        if isinstance(owner, InstanceRef):
            owner.cells[name] = cell
            lowering.added[cell] = (owner.storage, {name: Unbound("")})
        else:
            lowering.outside.fields[id(owner.target), name] = cell
            lowering.outside.entered[cell] = {name: Unbound("")}
    lowering.contents[cell] = {name: item}
    kept_variables.bind(lowering, name, item, owner)


def new_instance(lowering: Lowering, cls: type, fields: dict[str, Any]) -> InstanceRef:
    """An object with these attributes."""
    depend_on_names(lowering, cls)
    owner = InstanceRef(cls, Storage(), {})
    lowering.contents[owner.storage] = {}
    for name, item in fields.items():
        set_attribute(lowering, owner, name, item)
    return owner
