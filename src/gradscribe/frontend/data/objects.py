"""Objects of the user's classes: their attributes, read and stored, and methods.

An object that the function made (or a dataclass among its arguments) is an `InstanceRef`; each
of its attributes is a storage of its own, so that branches and loops carry those that change.
An object from outside is an `ObjectRef`: its attributes are read at each call. One that is
stored to gets such a storage from then on; the object itself is never changed.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from dataclasses import replace
from typing import Any

from gradscribe.frontend import scope
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
from gradscribe.frontend.interface import Dependency, Path
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import (
    BoundMethod,
    Cell,
    InstanceRef,
    ObjectRef,
    PartialOf,
    Static,
    Super,
    TupleOf,
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
    what = f"`{class_of(owner).__name__}` has no attribute `{name}`"
    return lowering.raises(node, AttributeError(what), what, "store it first")


def get(lowering: Lowering, node: Any, owner: Object, name: str) -> Any:
    """`owner.name`, or None where it has none."""
    if isinstance(owner, ObjectRef):
        lowering.meet(owner)
    cls = class_of(owner)
    kind = inspect.getattr_static(cls, name, _MISSING)
    if isinstance(kind, property):
        return of_class(lowering, node, owner, cls, name)
    own = _own(lowering, node, owner, name)
    if own is not None:
        return own
    if isinstance(owner, ObjectRef) and hasattr(owner.target, "__dict__"):
        steps = (*owner.path.steps, ("attribute", "__dict__"))
        scope.depend(lowering, Path(owner.path.root, steps), name, "without")
    if isinstance(kind, functools.cached_property):
        _depend_on_class(lowering, cls, name, kind)
        item = calls.call(lowering, node, Static(kind.func), (owner,), {})
        set_attribute(lowering, owner, name, item)
        return item
    return of_class(lowering, node, owner, cls, name)


def _is_missing(lowering: Lowering, cls: type, name: str, kind: Any) -> bool:
    """Whether a class has nothing under a name; then it must stay so."""
    if kind is _MISSING and not scope.is_library(cls) and not hasattr(cls, name):
        scope.depend(lowering, Path(cls), name, "absent")
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
    return scope.attribute_of_object(lowering, node, owner, name)


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
    if isinstance(kind, functools.partialmethod):
        return _partial_method(lowering, owner, cls, name, kind)
    inner = getattr(kind, "__gradscribe_function__", None)
    if isinstance(inner, types.FunctionType):
        _depend_on_class(lowering, cls, name, kind)
        return BoundMethod(owner, name, inner)
    if isinstance(kind, functools._lru_cache_wrapper):
        _depend_on_class(lowering, cls, name, kind)
        return BoundMethod(owner, name, kind.__wrapped__)
    getter = inspect.getattr_static(type(kind), "__get__", None)
    if isinstance(getter, types.FunctionType):
        place = _place_in_class(cls, name)
        scope.depend(lowering, place, kind)
        _depend_on_class(lowering, type(kind), "__get__", getter)
        descriptor = ObjectRef(kind, place)
        return calls.call(lowering, node, Static(getter), (descriptor, owner, Static(cls)), {})
    if isinstance(owner, ObjectRef) and not isinstance(cls.__dict__.get(name, kind), type(kind)):
        return None
    return scope.external(lowering, getattr(cls, name), Path(cls, (("attribute", name),)), name)


def _partial_method(
    lowering: Lowering, owner: Any, cls: type, name: str, kind: functools.partialmethod[Any]
) -> PartialOf:
    place = _place_in_class(cls, name)
    scope.depend(lowering, place, kind)
    partial = scope.partial_of(lowering, kind, place, name)
    return replace(partial, arguments=(owner, *partial.arguments))


def _place_in_class(cls: type, name: str) -> Path:
    """Where a class, or a base of it, holds what it has under a name."""
    base = next(base for base in cls.__mro__ if name in base.__dict__)
    return Path(base, (("attribute", "__dict__"), ("item", name)))


def of_static_class(lowering: Lowering, node: Any, cls: type, name: str, kind: Any) -> Any:
    """`cls.name` for a static or class method."""
    path = Path(cls, (("attribute", name),))
    if isinstance(kind, staticmethod):
        return scope.external(lowering, kind.__func__, path, name)
    function = kind.__func__
    scope.depend(lowering, Path(cls, (*path.steps, ("attribute", "__func__"))), function)
    return BoundMethod(Static(cls), name, function)


def _depend_on_class(lowering: Lowering, cls: type, name: str, kind: Any) -> None:
    if not scope.is_library(cls):
        scope.depend(lowering, Path(cls, (("attribute", name),)), kind)


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
        scope.depend(lowering, Path(base, (("attribute", "__dict__"), ("item", name))), kind)
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
        return scope.external(lowering, kind, Path(base, (("attribute", name),)), name)
    return lowering.unsupported(node, f"`super()` has no attribute `{name}`")


def is_property(owner: Any, name: str) -> bool:
    """Whether an attribute is computed by the class."""
    kind = inspect.getattr_static(class_of(owner), name, None) if is_object(owner) else None
    return isinstance(kind, property)


# -- stores --------------------------------------------------------------------------------------


def store(lowering: Lowering, node: Any, owner: Any, name: str, item: Any) -> None:
    """`owner.name = item`."""
    if isinstance(owner, Static) and isinstance(owner.value, types.FunctionType):
        owner = ObjectRef(owner.value, Path(owner.value))
    if not is_object(owner):
        lowering.unsupported(
            node,
            f"the attribute `{name}` of this value cannot be stored",
            "keep what changes in an object of your own, or return it",
        )
    cls = class_of(owner)
    kind = inspect.getattr_static(cls, name, None)
    if isinstance(kind, property):
        if kind.fset is None:
            lowering.unsupported(node, f"the property `{name}` has no setter")
        _depend_on_class(lowering, cls, name, kind)
        calls.call(lowering, node, Static(kind.fset), (owner, item), {})
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


def is_stored(lowering: Lowering, target: Any, name: str) -> bool:
    """Whether an attribute of an object from outside was stored."""
    return (id(target), name) in lowering.fields


def is_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def store_plainly(lowering: Lowering, node: Any, owner: Object, name: str, item: Any) -> None:
    """`object.__setattr__(owner, name, item)`."""
    if isinstance(owner, ObjectRef):
        _take_over(lowering, node, owner, name)
    cell = cell_of(lowering, owner, name)
    if cell is not None and cell in lowering.contents:
        subscripts.check_store(lowering, node, cell, memory=False)
    set_attribute(lowering, owner, name, item)


def _take_over(lowering: Lowering, node: Any, owner: ObjectRef, name: str) -> None:
    """Give an attribute of an object from outside a storage, which holds at first what is there
    at each call."""
    key = (id(owner.target), name)
    if key in lowering.fields:
        return
    lowering.meet(owner, compared=True)
    before = _own(lowering, node, owner, name)
    cell = lowering.fields[key] = Cell(name)
    contents = {name: Unbound("") if before is None else before}
    lowering.entered[cell] = contents
    lowering.contents[cell] = contents


def delete(lowering: Lowering, node: Any, owner: Any, name: str) -> None:
    """`del owner.name`."""
    store(lowering, node, owner, name, Unbound(f"the attribute `{name}` was deleted"))


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
            lowering.unsupported(node, f"`{cls.__name__}()` takes no arguments")
        return owner
    calls.call(lowering, node, Static(initialize), (owner, *arguments), keywords)
    return owner


def dataclass_of_init(function: Any) -> bool:
    """Whether this is the `__init__` that `@dataclass` made (it has no source)."""
    return (
        isinstance(function, types.FunctionType)
        and function.__name__ == "__init__"
        and function.__code__.co_filename == "<string>"
    )


def initialize_dataclass(
    lowering: Lowering, node: Any, function: Any, arguments: tuple[Any, ...], keywords: Any
) -> Any:
    """The `__init__` of a dataclass: store the arguments and defaults of its fields."""
    owner, *given = arguments
    base = _defining_class(class_of(owner), function)
    fields = [f for f in base.__dataclass_fields__.values() if f._field_type is not _CLASS_VARIABLE]
    try:
        bound = inspect.signature(function).bind(owner, *given, **keywords)
    except TypeError as error:
        lowering.unsupported(node, f"`{base.__name__}` cannot be made like this: {error}")
    items = dict(list(bound.arguments.items())[1:])
    later: list[Any] = []
    for field in fields:
        if field.init and field.name in items:
            item = items[field.name]
        elif field.default is not dataclasses.MISSING:
            path = Path(field, (("attribute", "default"),))
            item = calls.default_value(lowering, field.default, path, field.name)
        elif field.default_factory is not dataclasses.MISSING:
            item = calls.call(lowering, node, Static(field.default_factory), (), {})
        else:
            continue
        if field._field_type is _INIT_ONLY:
            later.append(item)
        else:
            store_plainly(lowering, node, owner, field.name, item)
    after = method(lowering, owner, "__post_init__")
    if after is not None:
        calls.call(lowering, node, after, tuple(later), {})
    return Static(None)


_CLASS_VARIABLE = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
_INIT_ONLY = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]


_COMPARED: dict[str, Any] = {
    f"__{op.__name__}__": op
    for op in (operator.eq, operator.lt, operator.le, operator.gt, operator.ge)
}


def is_dataclass_comparison(function: Any) -> bool:
    """Whether this is a comparison that `@dataclass` made (it has no source)."""
    return (
        isinstance(function, types.FunctionType)
        and function.__name__ in _COMPARED
        and inspect.unwrap(function).__code__.co_filename == "<string>"
    )


def compare_dataclasses(lowering: Lowering, node: Any, function: Any, operands: Any) -> Any:
    """A comparison of dataclasses: that of the tuples of their fields."""
    from gradscribe.frontend.operators import operate

    first, second = operands
    cls: Any = class_of(first)
    if not is_object(second) or class_of(second) is not cls:
        return Static(NotImplemented)
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    sides = [TupleOf(tuple(read(lowering, node, side, n) for n in names)) for side in operands]
    return operate(lowering, node, _COMPARED[function.__name__], *sides)


def _defining_class(cls: type, function: Any) -> Any:
    for base in cls.__mro__:
        if base.__dict__.get("__init__") is function:
            return base
    raise AssertionError("a method is called on an object of its class")


def call_builtin_method(
    lowering: Lowering, node: Any, method: BoundMethod, arguments: tuple[Any, ...]
) -> Any:
    """A method that an object has from `object` itself."""
    if method.name == "__init__" and not arguments:
        return Static(None)
    if method.name == "__setattr__" and isinstance(arguments[0], Static):
        store_plainly(lowering, node, method.receiver, arguments[0].value, arguments[1])
        return Static(None)
    return lowering.unsupported(node, f"the method `{method.name}` of this object is not supported")


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
