"""Stores to the attributes of objects, and their deletion.

An attribute of an object from outside that is stored to gets a storage from then on; the object
itself is never changed.
"""

from __future__ import annotations

import types
from typing import Any

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds.presence import may_be_missing
from gradscribe.frontend.kinds.raised import as_python
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import aliasing, outside_reach, scope
from gradscribe.frontend.objects.object_attributes import depend_on_absence, own_attribute
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import fields_of_c
from gradscribe.frontend.structures.class_attributes import (
    call_descriptor,
    depend_on_class,
    is_data_descriptor,
    method,
)
from gradscribe.frontend.structures.instances import (
    Object,
    cell_of,
    class_of,
    is_object,
    set_attribute,
)
from gradscribe.frontend.structures.standard_classes import class_in_python
from gradscribe.frontend.syntax.shared_variables import Variables
from gradscribe.frontend.values.values import (
    Cell,
    FrontendValue,
    InstanceRef,
    ObjectRef,
    Static,
    Unbound,
    possibilities,
)
from gradscribe.ir.probing import in_class, probe


@as_python(setattr)
def store(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str, item: FrontendValue
) -> None:
    """`owner.name = item`."""
    if stands_for(owner, types.FunctionType):
        owner = ObjectRef(owner.value, AccessPath(owner.value))
    if not is_object(owner) or name in _MEANING:
        lowering.unsupported(
            node,
            f"the attribute `{name}` of this value cannot be stored",
            "use `reshape`"
            if name == "shape"
            else "keep what changes in an object of your own, or return it",
        )
    cls = class_of(owner)
    kind = in_class(cls, name, None)
    if _stores_in_c(kind):
        outside_reach.note_buffers(lowering, [owner])
    if isinstance(owner, ObjectRef) and fields_of_c.is_field(cls, name):
        lowering.outside.stored_in_c[id(owner.target)] = owner.target
        lowering.outside.show(owner.target, owner.name, owner.path, written=True)
    if isinstance(kind, property):
        _call_property(lowering, node, owner, name, kind.fset, "setter", (item,))
        return
    if is_data_descriptor(kind):
        call_descriptor(lowering, node, owner, name, "__set__", owner, item)
        return
    _refuse_unlike(lowering, node, owner, name)
    own_store = in_class(cls, "__setattr__")
    depend_on_class(lowering, cls, "__setattr__", own_store)
    if _is_frozen(cls):
        lowering.unsupported(
            node,
            f"cannot assign to field `{name}`: `{cls.__name__}` is frozen",
            f"make a new one: `dataclasses.replace(…, {name}=…)`",
            python=AttributeError,
        )
    if isinstance(own_store, types.FunctionType):
        lowering.call(node, Static(own_store), (owner, Static(name), item), {})
        return
    store_plainly(lowering, node, owner, name, item)


def _refuse_unlike(lowering: Lowering, node: Any, owner: Object, name: str) -> None:
    """Refuse to store what a class in Python, which stands for a library's, does not use."""
    cls = class_in_python(owner)
    if cls is None or dependencies.is_library(lowering.frame.function):
        return
    if cell_of(lowering, owner, name) is None:
        lowering.unsupported(
            node,
            f"the attribute `{name}` of a {cls.__name__} made in the function cannot be stored",
            "make a new one, of what it is to have",
        )


_MEANING = frozenset({"__class__", "__defaults__", "__kwdefaults__", "__code__"})
"""Attributes that say what an object, or a function, does."""


def _call_property(
    lowering: Lowering,
    node: Any,
    owner: Object,
    name: str,
    function: Any,
    what: str,
    given: tuple[FrontendValue, ...],
) -> None:
    """Call the setter or deleter of a property."""
    cls = class_of(owner)
    depend_on_class(lowering, cls, name, in_class(cls, name))
    if function is None:
        said = f"property '{name}' of '{cls.__name__}' object has no {what}"
        lowering.raises(node, AttributeError(said), f"the property `{name}` has no {what}")
    lowering.call(node, Static(function), (owner, *given), {})


def is_stored(lowering: Lowering, target: Any, name: str) -> bool:
    """Whether an attribute of an object from outside was stored."""
    return (id(target), name) in lowering.outside.fields


def _is_frozen(cls: type) -> bool:
    parameters = probe(cls, "__dataclass_params__")
    return parameters is not None and bool(parameters.frozen)


def store_plainly(
    lowering: Lowering, node: Any, owner: Object, name: str, item: FrontendValue
) -> None:
    """`object.__setattr__(owner, name, item)`."""
    _refuse_other_slots(lowering, node, class_of(owner), name)
    if class_of(owner) is Variables:
        item = lowering.named(item, name)
    if not isinstance(item, Unbound) and _is_reordered(lowering, owner, name):
        _note_order(lowering, node, owner, name)
    if isinstance(owner, ObjectRef):
        _take_over(lowering, node, owner, name)
    cell = cell_of(lowering, owner, name)
    if cell is None or cell not in lowering.contents:
        if isinstance(owner, InstanceRef):
            aliasing.check_store(lowering, node, owner.storage, memory=False)
        set_attribute(lowering, owner, name, item)
        return
    with aliasing.changing_items(lowering, node, cell):
        set_attribute(lowering, owner, name, item)


def _is_reordered(lowering: Lowering, owner: Object, name: str) -> bool:
    """Whether an attribute gets another place among those of an object than where it is stored on
    other paths, or was before it was deleted."""
    cls = class_of(owner)
    if not cls.__dictoffset__ or cls is Variables or class_in_python(owner) is not None:
        return False
    held, cells = _attributes(lowering, owner)
    names = list(held | cells)
    later = names[names.index(name) + 1 :] if name in names else ()
    if not any(_is_present(lowering, other, held, cells) for other in later):
        return False
    if not _is_present(lowering, name, held, cells):
        return True
    cell = cells.get(name)
    return cell in lowering.contents and _may_lack(lowering, lowering.items_in(cell)[name])


def _may_lack(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether there is no such attribute on some paths."""
    return any(
        isinstance(one, Unbound) or may_be_missing(lowering, one) for one in possibilities(item)
    )


def _attributes(lowering: Lowering, owner: Object) -> tuple[dict[str, Any], dict[str, Cell]]:
    """What an object from outside holds, and the storages of what was stored; in the order of what
    the object is left with."""
    if isinstance(owner, InstanceRef):
        return {}, owner.cells
    fields = lowering.outside.fields
    cells = {name: cell for (target, name), cell in fields.items() if target == id(owner.target)}
    return dict(probe(owner.target, "__dict__", {})), cells


def _is_present(
    lowering: Lowering, name: str, held: dict[str, Any], cells: dict[str, Cell]
) -> bool:
    cell = cells.get(name)
    if cell is None or cell not in lowering.contents:
        return name in held
    return not isinstance(lowering.items_in(cell)[name], Unbound)


def _note_order(lowering: Lowering, node: Any, owner: Object, name: str) -> None:
    """Refuse it of an object that others see; another is not returned, stored or given away."""
    if isinstance(owner, InstanceRef):
        is_seen = owner.storage in lowering.outside.entered or owner.storage in lowering.kept.lists
        lowering.changes.reordered.add(owner.storage)
        if not is_seen:
            return
    lowering.unsupported(
        node,
        f"the attribute `{name}` gets another place among those of the object on some paths",
        "store the attributes in one order, and another value instead of deleting one",
    )


def _refuse_other_slots(lowering: Lowering, node: Any, cls: type, name: str) -> None:
    """Objects of a class with `__slots__` have no other attributes."""
    kind = in_class(cls, name, None)
    if cls.__dictoffset__ or isinstance(kind, types.MemberDescriptorType):
        return
    what = f"'{cls.__name__}' object has no attribute '{name}'"
    lowering.raises(node, AttributeError(what), what)


def _take_over(lowering: Lowering, node: Any, owner: ObjectRef, name: str) -> None:
    """Give an attribute of an object from outside a storage, which holds at first what is there
    at each call."""
    key = (id(owner.target), name)
    if key in lowering.outside.fields:
        return
    lowering.outside.meet(owner, compared=True)
    before = own_attribute(lowering, node, owner, name)
    if before is None:
        depend_on_absence(lowering, owner, name)
    cell = lowering.outside.fields[key] = Cell(name)
    lowering.outside.owners[cell] = owner.path
    contents = {name: Unbound("") if before is None else before}
    lowering.outside.entered[cell] = contents
    lowering.contents[cell] = contents


def delete(lowering: Lowering, node: Any, owner: FrontendValue, name: str) -> None:
    """`del owner.name`."""
    if not is_object(owner):
        lowering.unsupported(
            node,
            f"the attribute `{name}` of this value cannot be deleted",
            "keep what changes in an object of your own",
        )
    cls = class_of(owner)
    kind = in_class(cls, name, None)
    own_delete = method(lowering, owner, "__delattr__")
    if own_delete is not None:
        lowering.call(node, own_delete, (Static(name),), {})
    elif isinstance(kind, property):
        _call_property(lowering, node, owner, name, kind.fdel, "deleter", ())
    elif is_data_descriptor(kind):
        call_descriptor(lowering, node, owner, name, "__delete__", owner)
    elif own_attribute(lowering, node, owner, name) is None:
        if cls is Variables:
            scope.raise_unbound(lowering, node, name)
        what = f"`{cls.__name__}` has no attribute `{name}`"
        lowering.raises(node, AttributeError(name), what)
    else:
        store_plainly(lowering, node, owner, name, Unbound(""))


def _stores_in_c(kind: Any) -> bool:
    """Whether this attribute of a class is stored by code in C, as those of ctypes are: wherever
    that points to. A slot of an object holds what is stored to it."""
    is_slot = isinstance(kind, (property, types.MemberDescriptorType))
    return not is_slot and isinstance(in_class(type(kind), "__set__"), types.WrapperDescriptorType)
