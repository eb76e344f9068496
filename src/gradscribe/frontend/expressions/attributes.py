"""Attributes of frontend values: of static objects, of `self`, of arrays and numbers."""

from __future__ import annotations

import collections
import enum
import inspect
import itertools
import operator
import types
from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any

import numpy as np

from gradscribe.frontend.calls import application, introspection
from gradscribe.frontend.containers.shapes import shape_of
from gradscribe.frontend.containers.subscripts import cut
from gradscribe.frontend.expressions import exception_attributes
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds import known_sets, number_classes, presence, tensors
from gradscribe.frontend.kinds.raised import as_python
from gradscribe.frontend.memory import outside, read_only_mappings
from gradscribe.frontend.memory.iterators import turn
from gradscribe.frontend.memory.outside_kinds import is_settled
from gradscribe.frontend.objects import object_attributes, object_stores
from gradscribe.frontend.opaque import foreign, unknown, weak_references
from gradscribe.frontend.state import dependencies, wording
from gradscribe.frontend.state.handlers import handler_of
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, instances
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    BoundMethod,
    DictRef,
    FlatRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    OneShot,
    Ref,
    Static,
    Super,
    TupleOf,
    ViewOf,
    is_number,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.probing import gives, in_class, probe
from gradscribe.ir.types import Array, Opaque, Scalar, is_complex
from gradscribe.primitives.contract_kinds import HOLDS
from gradscribe.primitives.contracts import is_immutable
from gradscribe.primitives.registry import DISTRIBUTIONS, METHODS, PRIMITIVES
from gradscribe.primitives.users_code import is_computed_in_c


@as_python(getattr)
def attribute(lowering: Lowering, node: Any, owner: FrontendValue, name: str) -> FrontendValue:
    """`owner.name`."""
    if isinstance(owner, Static) and name != "__dict__":
        outside.refuse_derived_number(lowering, owner.value, "")
        if isinstance(owner.value, enum.Enum) or not is_number(owner):
            return _static_attribute(lowering, node, owner.value, name)
    if name == "__dict__":
        what = "the attribute `__dict__` is not supported: it is another name for all attributes"
        lowering.unsupported(node, what, "use the attributes, or `getattr` and `setattr`")
    if name == "__weakref__":
        weak_references.refuse_asking(lowering, node, name)
    if name == "__class__":
        introspection.refuse_other_class(lowering, node, owner)
        return Static(introspection.known_class(lowering, node, owner))
    if isinstance(owner, ObjectRef) and is_computed_in_c(in_class(type(owner.target), name)):
        return unknown.attribute(lowering, owner, name)
    if instances.is_object(owner):
        return object_attributes.read(lowering, node, owner, name)
    if isinstance(owner, Super):
        return class_attributes.read_super(lowering, node, owner, name)
    if isinstance(owner, TupleOf) and issubclass(owner.cls, tuple):
        found = _namedtuple_attribute(lowering, node, owner, name)
        if found is not None:
            return found
    if isinstance(owner, Ref):
        return _array_attribute(lowering, node, owner, name)
    if is_number(owner):
        return _number_attribute(lowering, node, owner, name)
    if exception_attributes.is_exception(owner):
        return exception_attributes.attribute(lowering, node, owner, name)
    if unknown.is_opaque(owner):
        return unknown.attribute(lowering, owner, name)
    found = class_attributes.of_derived(lowering, owner, name)
    if found is not None:
        return found
    classes = _classes_of(owner)
    introspection.refuse_of_derived(lowering, node, owner, name)
    if classes:
        _refuse_missing(lowering, node, classes, name)
    return BoundMethod(owner, name)


def _classes_of(owner: FrontendValue) -> tuple[type, ...]:
    """What a built-in object may be an object of; none where that is not known."""
    if isinstance(owner, ViewOf):
        return (_VIEWS[owner.kind],)
    if isinstance(owner, TupleOf):
        return (owner.cls,)
    return _CLASSES.get(type(owner), ())


_VIEWS = {"keys": KeysView, "values": ValuesView, "items": ItemsView}
_CLASSES = {
    ListRef: (list,),
    Range: (range,),
    DictRef: (dict, collections.OrderedDict),
    OneShot: (types.GeneratorType, type(iter(())), itertools.chain),
}


def method_or_attribute(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str
) -> FrontendValue:
    """`owner.name`, to be called."""
    if unknown.is_opaque(owner) or (name == "size" and tensors.attribute_of(lowering, owner, name)):
        return BoundMethod(owner, name)
    return attribute(lowering, node, owner, name)


def _static_attribute(lowering: Lowering, node: Any, owner: Any, name: str) -> FrontendValue:
    """An attribute of a module, class or function. Those of the user's own are read at each
    call, or guarded: they may change."""
    if isinstance(owner, set) and not gives(frozenset, name) and gives(type(owner), name):
        known_sets.refuse_change(lowering, node, Static(owner))
    computed = class_attributes.of_static(lowering, node, owner, name)
    if computed is not None:
        return computed
    if not hasattr(owner, name):
        if dependencies.is_watched(lowering, owner):
            dependencies.depend(lowering, AccessPath(owner), name, "absent")
        said = getattr(owner, "__name__", repr(owner))
        what = f"`{said}` has no attribute `{name}`"
        lowering.raises(node, AttributeError(what), what, wording.near(name, dir(owner)))
    if object_stores.is_stored(lowering, owner, name):
        return object_attributes.read(lowering, node, ObjectRef(owner, AccessPath(owner)), name)
    if not (isinstance(owner, dependencies.HOLDERS) or dependencies.is_library(owner)):
        found = _of_users_object(lowering, node, owner, name)
        if found is not None:
            return found
    value = getattr(owner, name)
    is_fixed = not isinstance(owner, dependencies.HOLDERS) or dependencies.is_library(owner)
    if isinstance(owner, type) and (not is_fixed or owner in dependencies.LOCAL_CLASSES):
        kind = inspect.getattr_static(owner, name, None)
        if type(kind) in (staticmethod, classmethod):
            return class_attributes.of_static_class(lowering, owner, name, kind)
    path = AccessPath(owner).attribute(name)
    if is_fixed and dependencies.is_watched(lowering, owner):
        if not isinstance(value, (*PLAIN_NUMBERS, str)):
            return outside.of_library(lowering, value, path, name)
        dependencies.depend(lowering, path, value, "equality")
    is_own = callable(value) and type(owner) in DISTRIBUTIONS and name in vars(owner)
    if is_fixed and not is_own:
        is_holder = isinstance(owner, dependencies.HOLDERS)
        if is_holder or _stays(lowering, owner, name, value, path):
            return Static(value)
    return outside.external(lowering, value, path, name)


def _stays(lowering: Lowering, owner: Any, name: str, value: Any, path: AccessPath) -> bool:
    """Whether what a known object has under a name stays what it is; of what is in a slot, or in
    a read-only mapping, that is made a condition of each call."""
    kind = in_class(type(owner), name)
    is_slot = isinstance(kind, types.MemberDescriptorType) and gives(kind.__objclass__, "__slots__")
    if is_slot and not is_immutable(type(owner)):  # the default of a field, say
        dependencies.depend(lowering, path, value)
    return is_settled(value) or read_only_mappings.is_known(lowering, value, path, name)


def _of_users_object(lowering: Lowering, node: Any, owner: Any, name: str) -> FrontendValue | None:
    """What a member of an enumeration, a string of a class of the user's, a decorated function, …
    holds itself, or has of its class; None of what a library's class has."""
    kind, own = in_class(type(owner), name), probe(owner, "__dict__") or {}
    is_of_member = name in ("name", "value") and kind is vars(enum.Enum)[name]
    held = f"_{name}_" if is_of_member else name
    if held in own:
        path = AccessPath(own).item(held)  # the member itself may be an integer
        if not (is_of_member and is_settled(own[held])):
            return outside.external(lowering, own[held], path, name)
        dependencies.depend(lowering, path, own[held])
        return Static(own[held])
    holder = next((base for base in type(owner).__mro__ if name in vars(base)), object)
    is_field_of_c = isinstance(in_class(type(kind), "__set__"), types.WrapperDescriptorType)
    if dependencies.is_library(holder) or (is_field_of_c and not isinstance(kind, property)):
        return None
    return class_attributes.of_class(lowering, node, Static(owner), type(owner), name)


def _namedtuple_attribute(
    lowering: Lowering, node: Any, owner: TupleOf, name: str
) -> FrontendValue | None:
    """A field of a namedtuple, or what its class has; None where that is a method of tuples."""
    is_of_c = hasattr(owner.cls, "n_sequence_fields")  # `os.stat_result` and its kind
    fields: tuple[str, ...] = getattr(owner.cls, "__match_args__" if is_of_c else "_fields", ())
    if name in fields:
        return owner.items[fields.index(name)]
    if name in vars(tuple) or handler_of(Method(name)) is not None or name == "_make":
        return None
    if is_of_c and not callable(getattr(owner.cls, name, None)):
        what = f"the attribute `{name}`, which is no item of a `{owner.cls.__name__}`"
        lowering.unsupported(node, what, "read it before the call, and pass it in")
    return class_attributes.of_class(lowering, node, owner, owner.cls, name)


def _array_attribute(lowering: Lowering, node: Any, owner: Ref, name: str) -> FrontendValue:
    type_ = lowering.load(owner).type
    assert isinstance(type_, Array)
    if name == "shape":
        return shape_of(lowering, owner)
    if name == "ndim":
        return Static(type_.rank)
    if name in _OF_DTYPES and number_classes.are_several(lowering, lowering.load(owner)):
        number_classes.refuse_dtype(lowering, node)
    if name == "dtype":
        return Static(tensors.dtype_of(lowering, owner, type_.dtype))
    if name == "itemsize":
        return Static(np.dtype(type_.dtype).itemsize)
    if tensors.is_tensor(lowering, owner):
        found = _tensor_attribute(lowering, node, owner, name)
        if found is not None:
            return found
    if name == "data":
        return unknown.call(lowering, node, memoryview, (owner,), {})
    if name == "flat":
        return _flat(lowering, node, owner)
    if name in ("T", "mT", "size", "real", "imag") and name in METHODS:
        return application.apply_method(lowering, node, owner, name, (), {})
    if name == "nbytes":
        size = application.apply_method(lowering, node, owner, "size", (), {})
        itemsize = Static(np.dtype(type_.dtype).itemsize)
        return lowering.call(node, Static(operator.mul), (size, itemsize), {})
    if name in _ADDRESSES:
        made = Opaque(_ADDRESSES[name])
        return foreign.call(lowering, node, getattr, ((owner, Static(name)), {}), made, HOLDS)
    if name not in METHODS and gives(np.ndarray, name):
        if not callable(getattr(np.ndarray, name)):
            what = f"the attribute `{name}` of an array is not supported"
            lowering.unsupported(node, what, "use its shape, dtype or elements")
    elif name not in METHODS:
        what = f"an array has no attribute `{name}`"
        lowering.raises(node, AttributeError(what), what, wording.near(name, dir(np.ndarray)))
    return BoundMethod(owner, name)


_OF_DTYPES = frozenset({"dtype", "itemsize", "nbytes"})

_ADDRESSES: dict[str, type] = {"ctypes": type(np.zeros(1).ctypes), "__array_interface__": dict}
"""Attributes that tell where an array's memory is, and of what class they are: whoever knows that
may write to it."""


def _flat(lowering: Lowering, node: Any, owner: Ref) -> FrontendValue:
    """`owner.flat`, which is a view of it also where its memory is not one piece."""
    found = application.apply_method(lowering, node, owner, "ravel", (), {})
    if not isinstance(found, Ref):
        return found
    if found.storage is owner.storage:
        return FlatRef(found.storage, found.path, turn(lowering))
    step = (METHODS["ravel"], {"order": "C"}, Method("ravel"))
    return FlatRef(owner.storage, (*owner.path, step), turn(lowering), owner)


def _tensor_attribute(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str
) -> FrontendValue | None:
    """An attribute of what is, or may be, a Tensor; None, if Tensors have none of that name.
    `x.size` is the shape only where it is called: as a number it is what programs over arrays mean
    by it."""
    found = tensors.attribute_of(lowering, owner, name)
    if name == "size" and found is not None:
        if is_number(owner):
            return Static(1)
        return application.apply_method(lowering, node, owner, name, (), {})
    if name == "array":
        return tensors.class_of(lowering).as_array(lowering, node, owner)
    if isinstance(found, property):
        return lowering.call(node, Static(found.fget), (owner,), {})
    return None if found is None else BoundMethod(owner, name)


def _number_attribute(
    lowering: Lowering, node: Any, owner: FrontendValue, name: str
) -> FrontendValue:
    type_ = owner.type if isinstance(owner, Value) else lowering.value(owner).type
    assert isinstance(type_, Scalar)
    cls = type(np.zeros((), type_.dtype).item())
    if isinstance(owner, Value):
        classes = number_classes.possible(lowering, owner)
        is_caught = presence.catches(lowering, AttributeError)
        if len({gives(each, name) for each in classes}) > 1 and is_caught:
            number_classes.refuse_several(lowering, node, classes)
        if name in _OF_DTYPES and len(classes) > 1:
            number_classes.refuse_dtype(lowering, node)
    if type_.weak and not gives(cls, name) and lowering.frame.called_at is None:
        lowering.raises(node, AttributeError(f"'{cls.__name__}' object has no attribute '{name}'"))
    if name == "shape" and not type_.weak:
        return TupleOf(())
    if name == "ndim" and not type_.weak:
        return Static(0)
    is_numpys = not (type_.weak or tensors.may_be_without_axes(lowering, owner))
    if is_numpys and name in _OF_NO_VIEW:
        return _OF_NO_VIEW[name]
    if name in ("itemsize", "nbytes") and not type_.weak:
        return Static(np.dtype(type_.dtype).itemsize)
    if name == "dtype" and not type_.weak:
        return Static(tensors.dtype_of(lowering, owner, type_.dtype))
    if name == "data" and tensors.attribute_of(lowering, owner, name) is not None:
        return cut(lowering, owner)
    if name == "real" and type_.weak and type_.dtype == "bool":
        return lowering.apply_primitive(node, PRIMITIVES[int], int, (owner,), {})
    if name == "T" or (name == "real" and not is_complex(type_)):
        return owner
    if name in ("real", "imag"):
        return application.apply_method(lowering, node, owner, name, (), {})
    cls = np.dtype(type_.dtype).type
    cls = type(cls(0).item()) if type_.weak else cls
    _refuse_missing(lowering, node, (cls,), name)
    is_tensors = tensors.attribute_of(lowering, owner, name) is not None
    if gives(cls, name) and not (is_tensors or callable(getattr(cls, name))):
        what = f"the attribute `{name}` of a number is not supported"
        lowering.unsupported(node, what, "use the number itself, or its dtype")
    found = _tensor_attribute(lowering, node, owner, name)
    return BoundMethod(owner, name) if found is None else found


_OF_NO_VIEW: dict[str, FrontendValue] = {"base": Static(None), "strides": TupleOf(())}
"""Attributes of NumPy's numbers that tell how arrays lie in memory."""


def _refuse_missing(lowering: Lowering, node: Any, classes: tuple[type, ...], name: str) -> None:
    """Say that neither values of these classes nor Tensors, if there may be any, have such an
    attribute."""
    may_be_tensor = lowering.has_tensors or lowering.frame.called_at is not None
    around = lowering.package.tensors
    kinds = classes if around is None or not may_be_tensor else (*classes, around.cls)
    if not any(gives(each, name) for each in kinds):
        what = f"`{classes[0].__name__}` has no attribute `{name}`"
        lowering.raises(node, AttributeError(what), what, wording.near(name, dir(classes[0])))
