"""Objects as the compiler knows them: of a class, with a storage for each attribute."""

from __future__ import annotations

from types import FunctionType
from typing import TypeAlias, TypeGuard

from gradscribe.frontend.memory import kept_variables, outside_kinds, remembered
from gradscribe.frontend.state.dependencies import depend_on_names, is_library
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    Cell,
    DictRef,
    FrontendValue,
    InstanceRef,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
    Unbound,
)
from gradscribe.ir.probing import in_class, redefined
from gradscribe.primitives.users_code import is_users

Object: TypeAlias = InstanceRef | ObjectRef
OfClass: TypeAlias = Object | TupleOf | ListRef | DictRef | Static
"""What has a class that may have methods of the user's."""
_CONTAINERS = (list, dict, tuple, set)


def class_of(owner: OfClass) -> type:
    """The class of an object."""
    if isinstance(owner, Static):
        return type(owner.value)
    if isinstance(owner, (ListRef, DictRef)):
        return owner.storage.derived or (list if isinstance(owner, ListRef) else dict)
    return type(owner.target) if isinstance(owner, ObjectRef) else owner.cls


def is_object(item: FrontendValue) -> TypeGuard[Object]:
    """Whether this is an object of a user's class (or one from outside). Containers are none, but
    for those that are read, and whose class gives that another meaning."""
    if not isinstance(item, ObjectRef):
        return isinstance(item, InstanceRef)
    cls = type(item.target)
    return not issubclass(cls, _CONTAINERS) or (not item.grown and redefined(cls) is not None)


def has_methods(item: FrontendValue) -> TypeGuard[OfClass]:
    """Whether the class of this may have methods in Python: an object, a namedtuple, or a list or
    dict of a class derived from that; of what is known, whether it has special methods of the
    user's."""
    if isinstance(item, (ListRef, DictRef)):
        return item.storage.derived is not None
    if isinstance(item, Static):
        return special_methods(type(item.value))
    return is_object(item) or (isinstance(item, TupleOf) and item.cls is not tuple)


def is_folded(item: FrontendValue) -> TypeGuard[Static]:
    """Whether this is known, and no method of the user's, or truth of its own, decides what is made
    of it."""
    if not isinstance(item, Static) or outside_kinds.has_own_truth(item.value):
        return False
    return not special_methods(type(item.value))


def special_methods(cls: type) -> bool:
    """Whether the user has written special methods of a class, as a metaclass has, or a class that
    is derived from `str`."""
    if cls in _BUILT_IN or is_library(cls):
        return False
    names = {name for base in cls.__mro__ for name in vars(base) if name.startswith("__")}
    return any(is_users(in_class(cls, name)) for name in names - _MAKING)


_BUILT_IN = frozenset({bool, int, float, complex, str, bytes, type(None), type, FunctionType})
_MAKING = frozenset({"__new__", "__init__", "__prepare__", "__init_subclass__", "__set_name__"})


def cell_of(lowering: Lowering, owner: Object, name: str) -> Cell | None:
    """The storage of an attribute that was stored."""
    if isinstance(owner, InstanceRef):
        return owner.cells.get(name)
    remembered.note(lowering, owner, owner.path.attribute(name))
    return lowering.outside.fields.get((id(owner.target), name))


def set_attribute(lowering: Lowering, owner: Object, name: str, item: FrontendValue) -> None:
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


def new_instance(lowering: Lowering, cls: type, fields: dict[str, FrontendValue]) -> InstanceRef:
    """An object with these attributes."""
    depend_on_names(lowering, cls)
    owner = InstanceRef(cls, Storage(), {})
    lowering.contents[owner.storage] = {}
    for name, item in fields.items():
        set_attribute(lowering, owner, name, item)
    return owner
