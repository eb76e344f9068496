"""Reading attributes of objects of the user's classes.

An object that the function made (or a dataclass among its arguments) is an `InstanceRef`; each
of its attributes is a storage of its own, so that branches and loops carry those that change.
An object from outside is an `ObjectRef`: its attributes are read at each call, up to the first
store to one (see `object_stores`).
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds.presence import catches, may_be_missing
from gradscribe.frontend.kinds.static_values import object_of
from gradscribe.frontend.memory import outside, scope
from gradscribe.frontend.prelude import attribute_prelude
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import fields_of_c
from gradscribe.frontend.structures.class_attributes import (
    MISSING,
    depend_on_class,
    is_computed_in_python,
    is_data_descriptor,
    method,
    of_class,
    of_static_itself,
)
from gradscribe.frontend.structures.instances import Object, cell_of, class_of
from gradscribe.frontend.structures.standard_classes import class_in_python, example_of
from gradscribe.frontend.syntax.shared_variables import Variables
from gradscribe.frontend.values.values import FrontendValue, InstanceRef, ObjectRef, Static, Unbound
from gradscribe.ir.probing import has, in_class, probe


def read(lowering: Lowering, node: Any, owner: Object, name: str) -> FrontendValue:
    """`owner.name`: a property, an attribute of the object itself, a method or an attribute of
    its class."""
    fallback = method(lowering, owner, "__getattr__")
    if fallback is not None and is_computed_in_python(in_class(class_of(owner), name)):
        given = (owner, Static(name))
        return lowering.inline(node, attribute_prelude.attribute_or_asked, given)
    found = get(lowering, node, owner, name)
    if found is not None:
        return found
    if fallback is not None:
        return lowering.call(node, fallback, (Static(name),), {})
    if class_of(owner) is Variables:
        return scope.raise_unbound(lowering, node, name)
    if isinstance(owner, ObjectRef) and _finds_attributes(owner.target) and has(owner.target, name):
        return outside.attribute_of_object(lowering, owner, name)
    cls = class_in_python(owner) or class_of(owner)
    what = f"`{cls.__name__}` has no attribute `{name}`"
    return lowering.raises(node, AttributeError(what), what, "store it first")


@handles(attribute_prelude.attribute_itself)
def _attribute_itself(
    lowering: Lowering, node: Any, owner: Object | Static, name: FrontendValue, /
) -> FrontendValue:
    known_name = object_of(lowering, node, name)
    if isinstance(owner, Static):
        found = of_static_itself(lowering, node, owner.value, known_name)
    else:
        found = get(lowering, node, owner, known_name)
    if found is None:
        return lowering.raises(node, AttributeError(known_name))
    return found


def get(lowering: Lowering, node: Any, owner: Object, name: str) -> FrontendValue | None:
    """`owner.name`, or None where it has none."""
    if isinstance(owner, ObjectRef):
        lowering.outside.meet(owner)
    example = example_of(owner)
    if example is not None and not dependencies.is_library(lowering.frame.function):
        if not has(example, name):
            return None
        _refuse_unlike(lowering, node, owner, name, type(example))
    cls = class_of(owner)
    reads = in_class(cls, "__getattribute__")
    if isinstance(reads, types.FunctionType):
        what = f"`{cls.__name__}` has a `__getattribute__` of its own"
        lowering.unsupported(node, what, "define `__getattr__`, or a property")
    kind = in_class(cls, name, MISSING)
    if is_data_descriptor(kind):
        return of_class(lowering, node, owner, cls, name)
    own = own_attribute(lowering, node, owner, name)
    if own is not None:
        is_known = kind is MISSING and not has(cls, "__getattr__")
        if not is_known or catches(lowering, AttributeError):
            refuse_uncertain(lowering, node, name, own)
        return own
    if isinstance(owner, ObjectRef) and cell_of(lowering, owner, name) is None:
        depend_on_absence(lowering, owner, name)
    if type(kind) is functools.cached_property:
        depend_on_class(lowering, cls, name, kind)
        dependencies.depend(lowering, AccessPath(kind).attribute("func"), kind.func)
        item = lowering.call(node, Static(kind.func), (owner,), {})
        lowering.call(node, Static(object.__setattr__), (owner, Static(name), item), {})
        return item
    found = of_class(lowering, node, owner, cls, name)
    if found is None and isinstance(owner, InstanceRef):
        _refuse_beside(lowering, node, owner, name)
    return found


def _refuse_unlike(lowering: Lowering, node: Any, owner: Object, name: str, cls: type) -> None:
    """Refuse to read what an object has, and not the one in Python that stands for it."""
    is_there = in_class(class_of(owner), name, MISSING) is not MISSING
    if not is_there and own_attribute(lowering, node, owner, name) is None:
        lowering.unsupported(
            node,
            f"`{name}` of a {cls.__name__} made in the function is not supported",
            "make it outside of the function, or use a list or dict",
        )


def _refuse_beside(lowering: Lowering, node: Any, owner: InstanceRef, name: str) -> None:
    """Refuse to read what an argument holds besides the fields of its class."""
    if name in lowering.outside.beside.get(owner.storage, ()):
        lowering.unsupported(
            node,
            f"`{name}` is no field of `{owner.cls.__name__}`: of an argument, its fields are known",
            "make it a field, or a property",
        )


def refuse_uncertain(lowering: Lowering, node: Any, name: str, item: FrontendValue | None) -> None:
    """Refuse to read what was stored on some paths only, where Python finds something else on the
    others."""
    if item is not None and may_be_missing(lowering, item):
        what = f"whether the attribute `{name}` was stored is not known when this is compiled"
        lowering.unsupported(node, what, "store it on every path")


def depend_on_absence(lowering: Lowering, owner: ObjectRef, name: str) -> None:
    """An object from outside does not hold this attribute itself, and must not at each call."""
    if probe(owner.target, "__dict__") is not None:
        dependencies.depend(lowering, owner.path.attribute("__dict__"), name, "without")
    elif isinstance(inspect.getattr_static(owner.target, name, None), types.MemberDescriptorType):
        dependencies.depend(lowering, owner.path, name, "absent")


def own_attribute(lowering: Lowering, node: Any, owner: Object, name: str) -> FrontendValue | None:
    """What the object itself holds under a name, or None."""
    cell = cell_of(lowering, owner, name)
    is_kept_in_c = False
    if isinstance(owner, ObjectRef) and fields_of_c.is_field(type(owner.target), name):
        place = lowering.builder.location
        lowering.outside.read_in_c.setdefault(id(owner.target), (owner.target, place))
        lowering.outside.show(owner.target, owner.name, owner.path)
        is_kept_in_c = True
    if cell is not None and cell in lowering.contents:
        if is_kept_in_c:
            fields_of_c.refuse_read(lowering, node, name)
        item = resolved(lowering, lowering.items_in(cell)[name])
        if not isinstance(item, Unbound):
            return item
        if item.loop is not None:
            scope.read_late(lowering, item)
        if item.reason and not item.raises:
            lowering.unsupported(node, item.reason, "store it on every path")
        return None
    if isinstance(owner, InstanceRef):
        return None
    if not callable(in_class(type(owner.target), name, None)):
        outside.refuse_exposed(lowering, owner)
    own = probe(owner.target, "__dict__", ())
    if name not in own and not fields_of_c.holds(owner.target, name):
        return None
    return outside.attribute_of_object(lowering, owner, name)


def _finds_attributes(target: Any) -> bool:
    """Whether the class of an object finds its attributes itself, in C: a `struct` of cffi."""
    own = in_class(type(target), "__getattribute__")
    return isinstance(own, types.WrapperDescriptorType) and own is not object.__getattribute__
