"""Objects of the user's classes: their attributes, read and stored, and methods.

An object that the function made (or a dataclass among its arguments) is an `InstanceRef`; each
of its attributes is a storage of its own, so that branches and loops carry those that change.
An object from outside is an `ObjectRef`: its attributes are read at each call. One that is
stored to gets such a storage from then on; the object itself is never changed.
"""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import replace
from typing import Any

from gradscribe.frontend import dependencies, outside, scope
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.data import subscripts
from gradscribe.frontend.data.instances import (
    Object,
    cell_of,
    class_of,
    has_methods,
    is_object,
    new_instance,
    set_attribute,
)
from gradscribe.frontend.data.presence import may_be_missing
from gradscribe.frontend.interface import Dependency, Path
from gradscribe.frontend.lowering import PLAIN_NUMBERS, Lowering
from gradscribe.frontend.shared_variables import Variables
from gradscribe.frontend.values import (
    BoundMethod,
    Cell,
    InstanceRef,
    ObjectRef,
    PartialOf,
    Static,
    Super,
    Unbound,
)

_MISSING: Any = object()


# -- attributes ----------------------------------------------------------------------------------


def read(lowering: Lowering, node: Any, owner: Object, name: str) -> Any:
    """`owner.name`: a property, an attribute of the object itself, a method or an attribute of
    its class."""
    found = get(lowering, node, owner, name)
    if found is not None:
        return found
    fallback = method(lowering, owner, "__getattr__")
    if fallback is not None:
        return calls.call(lowering, node, fallback, (Static(name),), {})
    if class_of(owner) is Variables:
        return scope.raise_unbound(lowering, node, name)
    what = f"`{class_of(owner).__name__}` has no attribute `{name}`"
    return lowering.raises(node, AttributeError(what), what, "store it first")


def get(lowering: Lowering, node: Any, owner: Object, name: str) -> Any:
    """`owner.name`, or None where it has none."""
    if isinstance(owner, ObjectRef):
        lowering.meet(owner)
    cls = class_of(owner)
    reads = inspect.getattr_static(cls, "__getattribute__")
    if isinstance(reads, types.FunctionType):
        what = f"`{cls.__name__}` has a `__getattribute__` of its own"
        lowering.unsupported(node, what, "define `__getattr__`, or a property")
    kind = inspect.getattr_static(cls, name, _MISSING)
    if is_data_descriptor(kind):
        return of_class(lowering, node, owner, cls, name)
    own = _own(lowering, node, owner, name)
    if own is not None:
        if kind is not _MISSING or hasattr(cls, "__getattr__"):
            refuse_uncertain(lowering, node, name, own)
        return own
    if isinstance(owner, ObjectRef) and cell_of(lowering, owner, name) is None:
        _depend_on_absence(lowering, owner, name)
    if isinstance(kind, functools.cached_property):
        _depend_on_class(lowering, cls, name, kind)
        item = calls.call(lowering, node, Static(kind.func), (owner,), {})
        set_attribute(lowering, owner, name, item)
        lowering.builder.begin_statement()  # the object holds the value under the name it has
        return item
    return of_class(lowering, node, owner, cls, name)


def refuse_uncertain(lowering: Lowering, node: Any, name: str, item: Any) -> None:
    """Refuse to read what was stored on some paths only, where Python finds something else on the
    others."""
    if may_be_missing(lowering, item):
        what = f"whether the attribute `{name}` was stored is not known when this is compiled"
        lowering.unsupported(node, what, "store it on every path")


def is_data_descriptor(kind: Any) -> bool:
    """Whether what a class has under a name decides what an object has there, and what is stored:
    a property, or an object of a class with `__set__` or `__delete__`."""
    if isinstance(kind, property):
        return True
    methods = (inspect.getattr_static(type(kind), n, None) for n in ("__set__", "__delete__"))
    return any(isinstance(method, types.FunctionType) for method in methods)


def _depend_on_absence(lowering: Lowering, owner: ObjectRef, name: str) -> None:
    """An object from outside does not hold this attribute itself, and must not at each call."""
    if hasattr(owner.target, "__dict__"):
        dependencies.depend(lowering, owner.path.attribute("__dict__"), name, "without")
    elif isinstance(inspect.getattr_static(owner.target, name, None), types.MemberDescriptorType):
        dependencies.depend(lowering, owner.path, name, "absent")


def _is_missing(lowering: Lowering, cls: type, name: str, kind: Any) -> bool:
    """Whether a class has nothing under a name; then it must stay so."""
    if kind is _MISSING and not dependencies.is_library(cls) and not hasattr(cls, name):
        dependencies.depend(lowering, Path(cls), name, "absent")
    return kind is _MISSING


def _own(lowering: Lowering, node: Any, owner: Object, name: str) -> Any:
    """What the object itself holds under a name, or None."""
    cell = cell_of(lowering, owner, name)
    if cell is not None and cell in lowering.contents:
        item = lowering.contents[cell][name]
        if not isinstance(item, Unbound):
            return item
        if item.loop is not None:
            scope.read_late(lowering, item)
        if item.reason:
            lowering.unsupported(node, item.reason, "store it on every path")
        return None
    if isinstance(owner, InstanceRef):
        return None
    if name not in getattr(owner.target, "__dict__", ()) and not _is_slot(owner.target, name):
        return None
    return outside.attribute_of_object(lowering, node, owner, name)


def _is_slot(target: Any, name: str) -> bool:
    kind = inspect.getattr_static(type(target), name, None)
    is_member = isinstance(kind, (types.MemberDescriptorType, types.GetSetDescriptorType))
    return is_member and hasattr(target, name)


def of_class(lowering: Lowering, node: Any, owner: Any, cls: type, name: str) -> Any:
    """An attribute of the class, as it is seen through an object of it, or None."""
    kind = inspect.getattr_static(cls, name, _MISSING)
    if _is_missing(lowering, cls, name, kind):
        return None
    if isinstance(kind, property):
        _depend_on_class(lowering, cls, name, kind)
        return calls.call(lowering, node, Static(kind.fget), (owner,), {})
    if isinstance(kind, types.FunctionType):
        _depend_on_class(lowering, cls, name, kind)
        return BoundMethod(owner, name, kind)
    if isinstance(kind, (staticmethod, classmethod)):
        return of_static_class(lowering, node, cls, name, kind)
    if isinstance(kind, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return BoundMethod(owner, name)
    if isinstance(kind, types.MemberDescriptorType) and is_object(owner):
        return None
    if isinstance(kind, functools.partialmethod):
        return _partial_method(lowering, owner, cls, name, kind)
    inner = getattr(kind, "__gradscribe_function__", None)
    if isinstance(inner, types.FunctionType):
        _depend_on_class(lowering, cls, name, kind)
        return BoundMethod(owner, name, inner)
    if isinstance(kind, functools._lru_cache_wrapper):
        _depend_on_class(lowering, cls, name, kind)
        return PartialOf(Static(kind), (owner,), {})
    if isinstance(inspect.getattr_static(type(kind), "__get__", None), types.FunctionType):
        return _call_descriptor(lowering, node, owner, name, "__get__", owner, Static(cls))
    if isinstance(owner, ObjectRef) and not isinstance(cls.__dict__.get(name, kind), type(kind)):
        return None
    value = getattr(cls, name)
    base = next((base for base in cls.__mro__ if name in base.__dict__), cls)
    if base in dependencies.LOCAL_CLASSES and isinstance(value, PLAIN_NUMBERS):
        return Static(value)
    return outside.external(lowering, value, Path(cls).attribute(name), name)


def _call_descriptor(
    lowering: Lowering, node: Any, owner: Any, name: str, special: str, *arguments: Any
) -> Any:
    """Call a method of the descriptor that the class of `owner` has under a name."""
    cls = class_of(owner)
    kind, place = inspect.getattr_static(cls, name), _place_in_class(cls, name)
    function = inspect.getattr_static(type(kind), special, None)
    if not isinstance(function, types.FunctionType):
        error = AttributeError(special)
        return lowering.raises(node, error, f"the descriptor `{name}` has no `{special}`")
    dependencies.depend(lowering, place, kind)
    _depend_on_class(lowering, type(kind), special, function)
    descriptor = ObjectRef(kind, place)
    return calls.call(lowering, node, Static(function), (descriptor, *arguments), {})


def _partial_method(
    lowering: Lowering, owner: Any, cls: type, name: str, kind: functools.partialmethod[Any]
) -> PartialOf:
    place = _place_in_class(cls, name)
    dependencies.depend(lowering, place, kind)
    partial = outside.partial_of(lowering, kind, place, name)
    return replace(partial, arguments=(owner, *partial.arguments))


def _place_in_class(cls: type, name: str) -> Path:
    """Where a class, or a base of it, holds what it has under a name."""
    base = next(base for base in cls.__mro__ if name in base.__dict__)
    return Path(base).attribute("__dict__").item(name)


def of_static_class(lowering: Lowering, node: Any, cls: type, name: str, kind: Any) -> Any:
    """`cls.name` for a static or class method."""
    path = Path(cls).attribute(name)
    if isinstance(kind, staticmethod):
        return outside.external(lowering, kind.__func__, path, name)
    function = kind.__func__
    dependencies.depend(lowering, path.attribute("__func__"), function)
    return BoundMethod(Static(cls), name, function)


def _depend_on_class(lowering: Lowering, cls: type, name: str, kind: Any) -> None:
    if not dependencies.is_library(cls):
        dependencies.depend(lowering, Path(cls).attribute(name), kind)


def method(lowering: Lowering, owner: Any, name: str) -> BoundMethod | None:
    """The Python function that the class of an object has under a special name, bound to it."""
    if not has_methods(owner):
        return None
    cls = class_of(owner)
    kind = inspect.getattr_static(cls, name, _MISSING)
    if _is_missing(lowering, cls, name, kind) or not isinstance(kind, types.FunctionType):
        return None
    _depend_on_class(lowering, cls, name, kind)
    return BoundMethod(owner, name, kind)


def read_super(lowering: Lowering, node: Any, owner: Super, name: str) -> Any:
    """`super().name`."""
    receiver = owner.receiver
    cls = receiver.value if isinstance(receiver, Static) else class_of(receiver)
    mro = cls.__mro__
    for base in mro[mro.index(owner.after) + 1 :]:
        if name not in base.__dict__:
            continue
        kind = base.__dict__[name]
        function = getattr(kind, "__func__", kind)
        dependencies.depend(lowering, Path(base).attribute("__dict__").item(name), kind)
        if isinstance(kind, property):
            return calls.call(lowering, node, Static(kind.fget), (receiver,), {})
        if isinstance(kind, classmethod) and not isinstance(receiver, Static):
            receiver = Static(cls)
        if isinstance(kind, staticmethod):
            return Static(function)
        if isinstance(function, types.FunctionType):
            return BoundMethod(receiver, name, function)
        if base is object:
            return BoundMethod(receiver, name, kind)
        return outside.external(lowering, kind, Path(base).attribute(name), name)
    return lowering.unsupported(
        node, f"`super()` has no attribute `{name}`", "define it in a base class"
    )


def is_computed(owner: Any, name: str) -> bool:
    """Whether an attribute is computed by the class."""
    kind = inspect.getattr_static(class_of(owner), name, None) if is_object(owner) else None
    return is_data_descriptor(kind)


# -- stores --------------------------------------------------------------------------------------


def store(lowering: Lowering, node: Any, owner: Any, name: str, item: Any) -> None:
    """`owner.name = item`."""
    if isinstance(owner, Static) and isinstance(owner.value, types.FunctionType):
        owner = ObjectRef(owner.value, Path(owner.value))
    if not is_object(owner):
        lowering.unsupported(
            node,
            f"the attribute `{name}` of this value cannot be stored",
            "use `reshape`"
            if name == "shape"
            else "keep what changes in an object of your own, or return it",
        )
    cls = class_of(owner)
    kind = inspect.getattr_static(cls, name, None)
    if isinstance(kind, property):
        _call_property(lowering, node, owner, name, kind.fset, "setter", (item,))
        return
    if is_data_descriptor(kind):
        _call_descriptor(lowering, node, owner, name, "__set__", owner, item)
        return
    own_store = inspect.getattr_static(cls, "__setattr__")
    _depend_on_class(lowering, cls, "__setattr__", own_store)
    if is_frozen(cls):
        lowering.unsupported(
            node,
            f"cannot assign to field `{name}`: `{cls.__name__}` is frozen",
            f"make a new one: `dataclasses.replace(…, {name}=…)`",
        )
    if isinstance(own_store, types.FunctionType):
        calls.call(lowering, node, Static(own_store), (owner, Static(name), item), {})
        return
    store_plainly(lowering, node, owner, name, item)


def _call_property(
    lowering: Lowering, node: Any, owner: Any, name: str, function: Any, what: str, given: Any
) -> None:
    """Call the setter or deleter of a property."""
    cls = class_of(owner)
    _depend_on_class(lowering, cls, name, inspect.getattr_static(cls, name))
    if function is None:
        said = f"property '{name}' of '{cls.__name__}' object has no {what}"
        lowering.raises(node, AttributeError(said), f"the property `{name}` has no {what}")
    calls.call(lowering, node, Static(function), (owner, *given), {})


def is_stored(lowering: Lowering, target: Any, name: str) -> bool:
    """Whether an attribute of an object from outside was stored."""
    return (id(target), name) in lowering.fields


def is_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def store_plainly(lowering: Lowering, node: Any, owner: Object, name: str, item: Any) -> None:
    """`object.__setattr__(owner, name, item)`."""
    _refuse_other_slots(lowering, node, class_of(owner), name)
    if class_of(owner) is Variables:
        item = lowering.named(item, name)
    if isinstance(owner, ObjectRef):
        _take_over(lowering, node, owner, name)
    cell = cell_of(lowering, owner, name)
    if cell is not None and cell in lowering.contents:
        subscripts.check_store(lowering, node, cell, memory=False)
    set_attribute(lowering, owner, name, item)


def _refuse_other_slots(lowering: Lowering, node: Any, cls: type, name: str) -> None:
    """Objects of a class with `__slots__` have no other attributes."""
    kind = inspect.getattr_static(cls, name, None)
    if cls.__dictoffset__ or isinstance(kind, types.MemberDescriptorType):
        return
    what = f"'{cls.__name__}' object has no attribute '{name}'"
    lowering.raises(node, AttributeError(what), what)


def _take_over(lowering: Lowering, node: Any, owner: ObjectRef, name: str) -> None:
    """Give an attribute of an object from outside a storage, which holds at first what is there
    at each call."""
    key = (id(owner.target), name)
    if key in lowering.fields:
        return
    lowering.meet(owner, compared=True)
    before = _own(lowering, node, owner, name)
    if before is None:
        _depend_on_absence(lowering, owner, name)
    cell = lowering.fields[key] = Cell(name)
    lowering.owners[cell] = owner.path
    contents = {name: Unbound("") if before is None else before}
    lowering.entered[cell] = contents
    lowering.contents[cell] = contents


def delete(lowering: Lowering, node: Any, owner: Any, name: str) -> None:
    """`del owner.name`."""
    if not is_object(owner):
        lowering.unsupported(
            node,
            f"the attribute `{name}` of this value cannot be deleted",
            "keep what changes in an object of your own",
        )
    cls = class_of(owner)
    kind = inspect.getattr_static(cls, name, None)
    own_delete = method(lowering, owner, "__delattr__")
    if own_delete is not None:
        calls.call(lowering, node, own_delete, (Static(name),), {})
    elif isinstance(kind, property):
        _call_property(lowering, node, owner, name, kind.fdel, "deleter", ())
    elif is_data_descriptor(kind):
        _call_descriptor(lowering, node, owner, name, "__delete__", owner)
    elif _own(lowering, node, owner, name) is None:
        what = f"`{cls.__name__}` has no attribute `{name}`"
        lowering.raises(node, AttributeError(name), what)
    else:
        store_plainly(lowering, node, owner, name, Unbound(""))


# -- making objects ------------------------------------------------------------------------------


def can_instantiate(cls: Any) -> bool:
    """Whether objects of a class are nothing but their attributes."""
    if cls is types.SimpleNamespace:
        return True
    if not isinstance(cls, type) or type(cls).__call__ is not type.__call__:
        return False
    is_heap_type, new = bool(cls.__flags__ & (1 << 9)), getattr(cls, "__new__", None)
    return is_heap_type and new is object.__new__ and cls.__module__ != "builtins"


def instantiate(
    lowering: Lowering, node: Any, cls: type, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """`cls(*arguments, **keywords)`."""
    if inspect.isabstract(cls):
        lowering.unsupported(node, f"`{cls.__name__}` is abstract", "make one of a subclass")
    owner = new_instance(lowering, cls, {})
    if cls is types.SimpleNamespace:
        for name, item in keywords.items():
            set_attribute(lowering, owner, name, item)
        return owner
    initialize = inspect.getattr_static(cls, "__init__")
    _depend_on_class(lowering, cls, "__init__", initialize)
    if initialize is object.__init__:
        if arguments or keywords:
            lowering.unsupported(
                node,
                f"`{cls.__name__}()` takes no arguments",
                "leave the arguments out, or give the class an `__init__`",
            )
        return owner
    calls.call(lowering, node, Static(initialize), (owner, *arguments), keywords)
    return owner


def call_builtin_method(
    lowering: Lowering, node: Any, method: BoundMethod, arguments: tuple[Any, ...]
) -> Any:
    """A method that an object has from `object` itself."""
    if method.name == "__init__" and not arguments:
        return Static(None)
    if method.name == "__setattr__" and isinstance(arguments[0], Static):
        store_plainly(lowering, node, method.receiver, arguments[0].value, arguments[1])
        return Static(None)
    return lowering.unsupported(
        node,
        f"the method `{method.name}` of this object is not supported",
        "define it in the class",
    )


def identities(lowering: Lowering) -> None:
    """Make it a condition of each call that objects of which it matters are, or are not, one."""
    for target in lowering.compared:
        first, *others = lowering.met[target].values()
        pairs = [("same", other) for other in others]
        for number, places in lowering.met.items():
            other = next(iter(places.values()))
            if number != target and type(other.target) is type(first.target):
                pairs.append(("other", other))
        for kind, other in pairs:
            key = (kind, first.path.place, other.path.place)
            lowering.dependencies[key] = Dependency(other.path, first.path, kind)  # type: ignore[arg-type]
