"""Attributes that the class of an object has: properties, methods, descriptors, defaults."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeGuard

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory import outside
from gradscribe.frontend.prelude import attribute_prelude
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import (
    OfClass,
    class_of,
    has_methods,
    is_object,
    new_instance,
)
from gradscribe.frontend.structures.standard_classes import CLASSES
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    BoundMethod,
    DictRef,
    FrontendValue,
    ObjectRef,
    PartialOf,
    Static,
    Super,
    TupleOf,
)
from gradscribe.ir.probing import in_class, probe
from gradscribe.primitives.users_code import is_users

MISSING: Any = object()
"""Stands for what a class does not have."""


def is_property(kind: Any) -> TypeGuard[property]:
    """Whether this is a property, that of an enumeration included, and no object of a class with a
    `__get__` of its own."""
    if type(kind) in _OF_ENUMERATIONS:
        return kind.fget is not None
    return isinstance(kind, property) and in_class(type(kind), "__get__") is property.__get__


_OF_ENUMERATIONS = (types.DynamicClassAttribute, probe(enum, "property"))
"""Classes of properties whose name a member may have, too: `value` is one."""


def is_data_descriptor(kind: Any) -> bool:
    """Whether what a class has under a name decides what an object has there, and what is stored:
    a property, or an object of a class with `__set__` or `__delete__`."""
    if is_property(kind):
        return True
    methods = (in_class(type(kind), n, None) for n in ("__set__", "__delete__"))
    return any(isinstance(method, types.FunctionType) for method in methods)


def of_class(
    lowering: Lowering, node: Any, owner: OfClass, cls: type, name: str
) -> FrontendValue | None:
    """An attribute of the class, as it is seen through an object of it, or None."""
    kind = in_class(cls, name, MISSING)
    if kind is MISSING:
        return None
    if is_property(kind):
        depend_on_class(lowering, cls, name, kind)
        return lowering.call(node, Static(kind.fget), (owner,), {})
    if isinstance(kind, types.FunctionType):
        depend_on_class(lowering, cls, name, kind)
        return BoundMethod(owner, name, kind)
    if type(kind) in (staticmethod, classmethod):
        return of_static_class(lowering, cls, name, kind)
    if isinstance(kind, functools._lru_cache_wrapper):
        depend_on_class(lowering, cls, name, kind)
        return PartialOf(Static(kind), (owner,), {})
    if is_method_of_c(kind):
        return BoundMethod(owner, name)
    if isinstance(kind, types.MemberDescriptorType) and is_object(owner):
        return None
    if type(kind) is functools.partialmethod:
        return _partial_method(lowering, owner, cls, name, kind)
    inner = probe(kind, "__gradscribe_function__")
    if isinstance(inner, types.FunctionType):
        depend_on_class(lowering, cls, name, kind)
        return BoundMethod(owner, name, inner)
    if isinstance(in_class(type(kind), "__get__", None), types.FunctionType):
        return call_descriptor(lowering, node, owner, name, "__get__", owner, Static(cls))
    if isinstance(owner, ObjectRef) and not isinstance(cls.__dict__.get(name, kind), type(kind)):
        return None
    try:
        value = getattr(cls, name)
    except Exception as error:  # of the `__get__` of what is there
        return lowering.raises(node, error)
    base = next((base for base in cls.__mro__ if name in base.__dict__), cls)
    if base in dependencies.LOCAL_CLASSES and isinstance(value, PLAIN_NUMBERS):
        return Static(value)
    return outside.external(lowering, value, AccessPath(cls).attribute(name), name)


def of_static(lowering: Lowering, node: Any, owner: Any, name: str) -> FrontendValue | None:
    """An attribute of something known, as a class or module, which the user's code computes when it
    is read: a property or other descriptor, `__getattr__`. None where there is no such code."""
    of_class = in_class(type(owner), "__getattr__")
    if is_users(of_class) and any(map(_is_computed_by_user, _kinds(Static(owner), name))):
        depend_on_class(lowering, type(owner), "__getattr__", of_class)
        given = (Static(owner), Static(name))
        return lowering.inline(node, attribute_prelude.attribute_or_asked, given)
    return of_static_itself(lowering, node, owner, name)


def of_static_itself(lowering: Lowering, node: Any, owner: Any, name: str) -> FrontendValue | None:
    """The same, where a `__getattr__` is asked for nothing that is there."""
    is_class = isinstance(owner, type)
    kind = in_class(type(owner), name, MISSING)
    if is_property(kind) and is_users(kind.fget):
        depend_on_class(lowering, type(owner), name, kind)
        return lowering.call(node, Static(kind.fget), (Static(owner),), {})
    inner = in_class(owner, name, MISSING) if is_class else MISSING
    found, holder = (kind, type(owner)) if inner is MISSING else (inner, owner)
    read = None if found is MISSING or is_users(found) else in_class(type(found), "__get__")
    if is_users(read):
        place = _place_in_class(holder, name)
        dependencies.depend(lowering, place, found)
        depend_on_class(lowering, type(found), "__get__", read)
        given = (Static(None), Static(owner)) if is_class else (Static(owner), Static(type(owner)))
        return lowering.call(node, Static(read), (ObjectRef(found, place), *given), {})
    own = probe(owner, "__dict__") or {}
    if found is not MISSING or (name in own and not is_class):
        return None
    of_class = in_class(type(owner), "__getattr__")
    if is_users(of_class):
        depend_on_class(lowering, type(owner), "__getattr__", of_class)
        return lowering.call(node, Static(of_class), (Static(owner), Static(name)), {})
    of_module = own.get("__getattr__") if isinstance(owner, types.ModuleType) else None
    if is_users(of_module):
        held = AccessPath(owner).attribute("__dict__")
        dependencies.depend(lowering, held, name, "without")
        dependencies.depend(lowering, held.item("__getattr__"), of_module)
        return lowering.call(node, Static(of_module), (Static(name),), {})
    return None


def call_descriptor(
    lowering: Lowering,
    node: Any,
    owner: OfClass,
    name: str,
    special: str,
    *arguments: FrontendValue,
) -> FrontendValue:
    """Call a method of the descriptor that the class of `owner` has under a name."""
    cls = class_of(owner)
    kind, place = in_class(cls, name), _place_in_class(cls, name)
    function = in_class(type(kind), special, None)
    if not isinstance(function, types.FunctionType):
        error = AttributeError(special)
        return lowering.raises(node, error, f"the descriptor `{name}` has no `{special}`")
    dependencies.depend(lowering, place, kind)
    depend_on_class(lowering, type(kind), special, function)
    descriptor = ObjectRef(kind, place)
    return lowering.call(node, Static(function), (descriptor, *arguments), {})


def _partial_method(
    lowering: Lowering,
    owner: OfClass,
    cls: type,
    name: str,
    kind: functools.partialmethod[Any],
) -> PartialOf:
    place = _place_in_class(cls, name)
    dependencies.depend(lowering, place, kind)
    partial = outside.partial_of(lowering, kind, place, name)
    return replace(partial, arguments=(owner, *partial.arguments))


def _place_in_class(cls: type, name: str) -> AccessPath:
    """Where a class, or a base of it, holds what it has under a name."""
    base = next(base for base in cls.__mro__ if name in base.__dict__)
    return AccessPath(base).attribute("__dict__").item(name)


def of_static_class(lowering: Lowering, cls: type, name: str, kind: Any) -> FrontendValue:
    """`cls.name` for a static or class method."""
    path = AccessPath(cls).attribute(name)
    if isinstance(kind, staticmethod):
        return outside.external(lowering, kind.__func__, path, name)
    function = kind.__func__
    dependencies.depend(lowering, path.attribute("__func__"), function)
    return BoundMethod(Static(cls), name, function)


def depend_on_class(lowering: Lowering, cls: type, name: str, kind: Any) -> None:
    if not dependencies.is_library(cls):
        if name in lowering.outside.renewed:
            outside.refuse_changed(lowering, name)
        is_hidden = type(kind) in _OF_ENUMERATIONS  # the class has a member of that name, or none
        path = _place_in_class(cls, name) if is_hidden else AccessPath(cls).attribute(name)
        dependencies.depend(lowering, path, kind)


def method(lowering: Lowering, owner: FrontendValue, name: str) -> BoundMethod | None:
    """The Python function that the class of an object has under a special name, bound to it."""
    if not has_methods(owner) or (isinstance(owner, DictRef) and lowering.frame.is_of_package):
        return None
    found = of_derived(lowering, owner, name)
    if found is not None:
        return found
    cls = class_of(owner)
    kind = in_class(cls, name, MISSING)
    if not isinstance(kind, types.FunctionType):
        return None
    if isinstance(owner, Static) and not is_users(kind):
        return None
    depend_on_class(lowering, cls, name, kind)
    return BoundMethod(owner, name, kind)


def of_derived(lowering: Lowering, owner: FrontendValue, name: str) -> BoundMethod | None:
    """A method that a class of the library's, derived from dict, has in Python, as that of what
    stands for it: a `Counter` has an `update` of its own. None for all else, and there, where it is
    a dict."""
    if not isinstance(owner, DictRef) or not has_methods(owner) or lowering.frame.is_of_package:
        return None
    cls = class_of(owner)
    kind = in_class(cls, name)
    function = probe(kind, "__func__", kind)
    if not isinstance(function, types.FunctionType) or not dependencies.is_library(function):
        return None
    if isinstance(kind, classmethod):
        return BoundMethod(Static(cls), name, function)
    known = next((CLASSES[base] for base in cls.__mro__ if base in CLASSES), cls)
    method = in_class(known, name)
    if known is cls or not isinstance(method, types.FunctionType):
        return lowering.unsupported(
            None,
            f"`{name}` of a `{cls.__name__}` from outside is not supported",
            "make another one of it in the function, or do it outside and pass the result in",
        )
    held: dict[str, FrontendValue] = {"held": owner}
    return BoundMethod(new_instance(lowering, known, held), name, method)


def is_method_of_c(kind: Any) -> bool:
    """Whether what a class has under a name is a method in C, Cython, …, which is bound when it is
    read of an object."""
    if isinstance(kind, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return True
    binds = in_class(type(kind), "__get__")
    return callable(kind) and isinstance(binds, types.WrapperDescriptorType)


def class_of_super(owner: Super) -> type:
    """In whose bases `super(after, receiver)` looks: of an object, or a class itself."""
    receiver = owner.receiver
    found = receiver.value if isinstance(receiver, Static) else None
    return (
        found if isinstance(found, type) and issubclass(found, owner.after) else class_of(receiver)
    )


def read_super(lowering: Lowering, node: Any, owner: Super, name: str) -> FrontendValue:
    """`super().name`."""
    receiver, cls = owner.receiver, class_of_super(owner)
    mro = cls.__mro__
    for base in mro[mro.index(owner.after) + 1 :]:
        if name not in base.__dict__:
            continue
        kind = base.__dict__[name]
        function = probe(kind, "__func__", kind)
        dependencies.depend(lowering, AccessPath(base).attribute("__dict__").item(name), kind)
        if is_property(kind):
            return lowering.call(node, Static(kind.fget), (receiver,), {})
        if isinstance(kind, classmethod):
            receiver = Static(cls)
        if isinstance(kind, staticmethod):
            return Static(function)
        if isinstance(function, types.FunctionType):
            return BoundMethod(receiver, name, function)
        if base is object or is_method_of_c(kind):
            return BoundMethod(receiver, name, kind)
        if isinstance(receiver, ObjectRef) and isinstance(kind, _FIELDS_OF_C):
            given = (receiver, Static(cls))
            return lowering.call(node, Static(kind.__get__), given, {})
        return outside.external(lowering, kind, AccessPath(base).attribute(name), name)
    what = f"`super()` has no attribute `{name}`"
    return lowering.raises(node, AttributeError(what), what, "define it in a base class")


_FIELDS_OF_C = (types.GetSetDescriptorType, types.MemberDescriptorType)


def may_run_code(owner: FrontendValue, name: str) -> bool:
    """Whether code in Python may run to find an attribute, and raise an AttributeError."""
    if not (is_object(owner) or isinstance(owner, (Static, TupleOf))):
        return False
    if any(map(is_computed_in_python, _kinds(owner, name))):
        return True
    cls, target = class_of(owner), owner.value if isinstance(owner, Static) else None
    module = vars(target).get("__getattr__") if isinstance(target, types.ModuleType) else None
    return any(isinstance(f, types.FunctionType) for f in (in_class(cls, "__getattr__"), module))


def _kinds(owner: OfClass, name: str) -> Iterator[Any]:
    """What the class of something, and, if that is a class, it itself, has under a name."""
    yield in_class(class_of(owner), name)
    if isinstance(owner, Static) and isinstance(owner.value, type):
        yield in_class(owner.value, name)


def _is_computed_by_user(kind: Any) -> bool:
    return is_users(kind.fget if is_property(kind) else in_class(type(kind), "__get__"))


def is_computed_in_python(kind: Any) -> bool:
    """Whether code in Python computes what a class has under a name, where it is read."""
    if is_property(kind) or isinstance(kind, functools.cached_property):
        return True
    return isinstance(in_class(type(kind), "__get__"), types.FunctionType)


def is_computed(owner: FrontendValue, name: str) -> bool:
    """Whether an attribute is computed by the class."""
    kind = in_class(class_of(owner), name, None) if is_object(owner) else None
    return is_data_descriptor(kind)
