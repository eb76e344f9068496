"""Names: locals, enclosing functions, captured variables, globals and built-ins.

What is found outside the function is either resolved now, and then a `Dependency` of the
specialization (functions, modules, flags), or an implicit input, read anew at each call
(arrays, numbers, and the attributes of objects that hold them).
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import functools
import inspect
import itertools
import operator
import sys
import types
from abc import ABC
from collections.abc import Callable
from typing import Any, NoReturn
from weakref import WeakSet

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.calls.definitions import NotYetKnownError
from gradscribe.frontend.control.carried_fixed_point import LateReadError
from gradscribe.frontend.data import instances
from gradscribe.frontend.frame import Frame
from gradscribe.frontend.interface import (
    Argument,
    Capture,
    Dependency,
    DependencyKind,
    Path,
    RunTimeObject,
)
from gradscribe.frontend.lowering import PLAIN_NUMBERS, Lowering
from gradscribe.frontend.values import (
    ALL,
    BoundMethod,
    DictRef,
    ListRef,
    ObjectRef,
    PartialOf,
    Static,
    Storage,
    TupleOf,
    Unbound,
    ViewOf,
)
from gradscribe.ir.core import Parameter, Value
from gradscribe.ir.trees import Constant, Leaf, Node, Tree, flatten
from gradscribe.ir.types import Opaque
from gradscribe.primitives import optional
from gradscribe.primitives.registry import DISTRIBUTIONS

_RESOLVED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    np.ufunc,
    type(np.sum),
    type,
)
HOLDERS = (type, types.ModuleType, types.FunctionType)
"""Static objects of these classes have attributes that may change."""

_GENERATORS = {
    ("numpy.random._generator", "Generator"),
    ("numpy.random.mtrand", "RandomState"),
    ("random", "Random"),
}


class RandomGenerator(ABC):  # noqa: B024  (its subclasses are found by the hook)
    """A random generator of NumPy or of Python, which is a run-time value. This knows the classes
    by their names: importing `numpy.random` takes a while."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return any((c.__module__, c.__qualname__) in _GENERATORS for c in other.__mro__)


_CALLABLES = (
    functools._lru_cache_wrapper,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
)
_LIBRARIES = frozenset({"numpy", "scipy", "cupy", "gradscribe"})
_BY_VALUE = (bool, str, bytes, slice, range, enum.Enum, np.dtype)


LOCAL_CLASSES: WeakSet[type] = WeakSet()
"""Classes that compiled functions define, and that nobody else has."""

STANDS_FOR: dict[type, Callable[[Any], Any]] = {}
"""Classes of the layers above whose objects stand for one that the frontend knows."""


def lookup(lowering: Lowering, node: Any, name: str) -> Any:
    """The frontend value of a name that is read."""
    frame: Frame | None = lowering.frame
    while frame is not None:
        if name in frame.names:
            found = frame.names[name]
            if isinstance(found, Unbound):
                if found.loop is not None:
                    read_late(lowering, found)
                refuse_unbound(lowering, node, name, found)
            return opened(lowering, found) if isinstance(found, ViewOf) else found
        if name in frame.source.local_names:
            raise_unbound(lowering, node, name)
        if frame.outer is None:
            break
        frame = frame.outer
    assert frame is not None
    return _outside(lowering, node, frame.function, name)


def raise_unbound(lowering: Lowering, node: Any, name: str) -> NoReturn:
    """Say that Python raises here, where a variable is read that has no value yet."""
    what = f"`{name}` is read before it has a value"
    advice = "assign it first (before the loop, if a loop assigns it)"
    lowering.raises(node, unbound_local(name), what, advice)


def refuse_unbound(lowering: Lowering, node: Any, name: str, found: Unbound) -> None:
    """Refuse to read a name that has no value, or say what Python raises there."""
    advice = "give the name a value on every path"
    if found.raises:
        lowering.raises(node, unbound_local(name), found.reason, advice)
    lowering.unsupported(node, found.reason, advice)


def unbound_local(name: str) -> UnboundLocalError:
    """What Python raises where a local variable is read that has no value."""
    return UnboundLocalError(
        f"cannot access local variable '{name}' where it is not associated with a value"
    )


def read_late(lowering: Lowering, name: Unbound) -> None:
    """A trip of a loop reads what it binds only later: the loop is lowered again, unless it is
    only tried to see what the name is bound to."""
    carried, entry = name.loop
    if entry.mode == "probe":
        raise NotYetKnownError(None, lowering.builder.location)
    raise LateReadError(carried, entry)


def _outside(lowering: Lowering, node: Any, function: types.FunctionType, name: str) -> Any:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    if name in cells:
        try:
            value = cells[name].cell_contents
        except ValueError:
            lowering.unsupported(node, f"`{name}` has no value yet", "call the function later")
        return external(lowering, value, Path(cells[name], (("attribute", "cell_contents"),)), name)
    if name in function.__globals__:
        value = function.__globals__[name]
        return external(lowering, value, Path(function.__globals__, (("item", name),)), name)
    if hasattr(builtins, name):
        depend(lowering, Path(function.__globals__), name, "without")
        return Static(getattr(builtins, name))
    return lowering.unsupported(node, f"the name `{name}` is not defined", "define it")


def external(lowering: Lowering, value: Any, path: Path, name: str) -> Any:
    """The frontend value of an object found at a path outside the function."""
    if type(value) in STANDS_FOR:
        value = STANDS_FOR[type(value)](value)
    if isinstance(value, (*_RESOLVED, enum.Enum)) or _is_transformed(value):
        depend(lowering, path, value)
        return Static(value)
    if value is None or isinstance(value, (str, bytes, bool, np.dtype)) or value is Ellipsis:
        depend(lowering, path, value, "equality")
        return Static(value)
    if isinstance(value, (set, frozenset)) and not lowering.as_objects and _is_constant(value):
        depend(lowering, path, type(value)(value), "equality")
        return Static(frozenset(value))
    if lowering.as_objects and isinstance(value, (list, dict, set, collections.deque)):
        lowering.grown.add(id(value))
        if id(value) in lowering.opened:
            _refuse_changed(lowering, name)
        return ObjectRef(value, path, name, grown=True)
    if _is_input(value):
        return captured_variable(lowering, value, path, name)
    if isinstance(value, _CALLABLES) or (callable(value) and not hasattr(value, "__dict__")):
        depend(lowering, path, value)
        return Static(value)
    if _is_of_scipy(value) or _is_of_scipy(getattr(value, "__self__", None)):
        depend(lowering, path, value)
        optional.enter_imported()
        return Static(DISTRIBUTIONS.get(type(value), value))
    if isinstance(value, types.MethodType):
        depend(lowering, _below(path, "attribute", "__func__"), value.__func__)
        receiver = external(lowering, value.__self__, _below(path, "attribute", "__self__"), name)
        return BoundMethod(receiver, value.__name__, value.__func__)
    depend(lowering, path, type(value), "class")
    if isinstance(value, functools.partial):
        return partial_of(lowering, value, path, name)
    found = ObjectRef(value, path, name=name)
    return opened(lowering, found) if hasattr(type(value), "_fields") else found


def _is_of_scipy(value: Any) -> bool:
    """Whether this is an object of SciPy's that is called: a distribution, a transform."""
    modules = (getattr(value, "__module__", None) or "", type(value).__module__)
    return callable(value) and any(module.partition(".")[0] == "scipy" for module in modules)


def _is_constant(value: Any) -> bool:
    """Whether this is a plain constant, or a set or tuple of those."""
    if isinstance(value, (set, frozenset, tuple)):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (*_BY_VALUE, int, float, complex))


def partial_of(
    lowering: Lowering,
    value: functools.partial[Any] | functools.partialmethod[Any],
    path: Path,
    name: str,
) -> PartialOf:
    """A partial from outside: the arrays and numbers that it holds are inputs."""
    given, named = (_below(path, "attribute", step) for step in ("args", "keywords"))
    depend(lowering, given, len(value.args), "length")
    depend(lowering, named, tuple(value.keywords), "keys")
    function = external(lowering, value.func, _below(path, "attribute", "func"), name)
    arguments = tuple(
        external(lowering, item, _below(given, "item", number), f"{name}_{number}")
        for number, item in enumerate(value.args)
    )
    keywords = {
        key: external(lowering, item, _below(named, "item", key), f"{name}_{key}")
        for key, item in value.keywords.items()
    }
    return PartialOf(function, arguments, keywords)


def opened(lowering: Lowering, item: Any) -> Any:
    """A list, tuple or dict from outside as one of known structure, and a view of a dict as it is
    now; other values as they are."""
    if isinstance(item, ViewOf):
        return view_of(lowering, item.owner, item.kind)
    if not isinstance(item, ObjectRef) or item.grown:
        return item
    if not isinstance(item.target, (list, tuple, dict)):
        return item
    target, path = item.target, item.path
    if id(target) in lowering.opened:
        return lowering.opened[id(target)]
    if id(target) in lowering.grown:
        _refuse_changed(lowering, item.name)
    is_dict = isinstance(target, dict)
    keys = tuple(target) if isinstance(target, dict) else tuple(range(len(target)))
    depend(lowering, path, keys if is_dict else len(keys), "keys" if is_dict else "length")
    items = [
        external(lowering, target[key], _below(path, "item", key), _name_of_item(item, key))
        for key in keys
    ]
    found: Any
    if isinstance(target, tuple):
        found = TupleOf(tuple(items), type(target))
    else:
        storage = Storage(item.name)
        contents = dict(zip(keys, items, strict=True)) if is_dict else tuple(items)
        lowering.entered[storage] = lowering.contents[storage] = contents
        found = DictRef(storage) if is_dict else ListRef(storage)
    lowering.opened[id(target)] = found
    return found


def view_of(lowering: Lowering, owner: DictRef, kind: str) -> ViewOf:
    """`owner.keys()`, `owner.values()` or `owner.items()`."""
    contents = lowering.contents[owner.storage]
    items: Any = tuple(map(Static, contents)) if kind == "keys" else tuple(contents.values())
    if kind == "items":
        items = tuple(TupleOf((Static(key), item)) for key, item in contents.items())
    return ViewOf(items, owner=owner, kind=kind)


def _name_of_item(owner: ObjectRef, key: Any) -> str:
    """What an item of a container from outside is called."""
    name = f"{owner.name or 'item'}_{key}"
    return name if name.isidentifier() else owner.name or "item"


def is_library(owner: Any) -> bool:
    """Whether a module, class or function is part of Python, of an installed numerical library or
    of the function that is compiled: its attributes do not change."""
    if isinstance(owner, type) and owner in LOCAL_CLASSES:
        return all(map(is_library, owner.__mro__[1:]))
    name = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__
    top = (name or "").partition(".")[0]
    return top in _LIBRARIES or (top in sys.stdlib_module_names and top != "__main__")


def attribute_of_object(lowering: Lowering, node: Any, owner: ObjectRef, name: str) -> Any:
    """What an object itself holds under a name: an implicit input or a static object."""
    path = Path(owner.path.root, (*owner.path.steps, ("attribute", name)))
    return external(lowering, getattr(owner.target, name), path, _name_along(lowering, path))


def _name_along(lowering: Lowering, path: Path) -> str:
    """What a value is called that is found along this path: by the steps that can be part of a
    name (keys may be any strings); "" where none can."""
    steps = [str(step) for _, step in path.steps if step != "cell_contents"]
    if isinstance(path.root, int):
        steps.insert(0, lowering.parameters[path.root])
    while steps and not steps[0].isidentifier():
        del steps[0]
    return "_".join(step for step in steps if f"_{step}".isidentifier())


def item_of_object(lowering: Lowering, node: Any, owner: ObjectRef, key: Any) -> Any:
    """`owner[key]` of a container that is read at each call (`CONFIG["rate"]`)."""
    try:
        value = owner.target[key]
    except (TypeError, LookupError) as error:
        what = f"this item cannot be read: {error}"
        lowering.raises(node, error, what, "pass it as an argument")
    if not isinstance(key, (str, bytes, *PLAIN_NUMBERS)):
        lowering.unsupported(
            node, "only numbers and strings are supported as keys here", "pass the item instead"
        )
    path = _below(owner.path, "item", key)
    return external(lowering, value, path, _name_of_item(owner, key))


def _is_input(value: Any) -> bool:
    """Whether a value is made of numbers and arrays, and at least one of them."""
    if dataclasses.is_dataclass(value):
        return False
    _, leaves = flatten(value, dataclasses.is_dataclass)
    classes = (*PLAIN_NUMBERS, np.ndarray, RandomGenerator)
    return bool(leaves) and all(
        isinstance(leaf, classes) or hasattr(type(leaf), "requires_grad") for leaf in leaves
    )


def captured_variable(lowering: Lowering, value: Any, path: Path, name: str) -> Any:
    """The implicit input for a variable from outside."""
    key = path.place
    if key not in lowering.captured:
        if lowering.enclosed is not None:
            return lowering.enclosed.take(key, value, path, name)
        if lowering.capture is None:
            return Static(value)
        taken = {capture.name for capture, _ in lowering.captures}
        taken.update(lowering.parameters)
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        name = next(n for n in itertools.chain([name], numbered) if n not in taken)
        argument = lowering.capture(name, value)
        known = set(lowering.contents)
        parameter, found = bind(lowering, argument)
        new = [storage for storage in lowering.contents if storage not in known]
        lowering.entered.update({storage: lowering.contents[storage] for storage in new})
        lowering.captures.append((Capture(argument.name, path), parameter))
        lowering.captured[key] = found
    found = lowering.captured[key]
    is_object = isinstance(found, Value) and isinstance(found.type, Opaque)
    if is_object is not isinstance(value, (RunTimeObject, RandomGenerator)):
        _refuse_changed(lowering, name)
    return found


def _refuse_changed(lowering: Lowering, name: str) -> NoReturn:
    """Refuse a container from outside whose items are read, and to which others are added."""
    raise UnsupportedError(
        f"`{name}` from outside is both read and changed",
        "pass it as an argument",
        lowering.builder.location,
    )


def captured_object(lowering: Lowering, item: ObjectRef) -> Any:
    """The run-time value of an object, as an implicit input that is known by its class only."""
    depend(lowering, item.path, type(item.target), "class")
    name = _name_along(lowering, item.path) or type(item.target).__name__.lower()
    if isinstance(item.path.root, int) and not item.path.steps:
        name += "_"
    found = captured_variable(lowering, RunTimeObject(item.target), item.path, name)
    return found.value.target if isinstance(found, Static) else found


def depend(lowering: Lowering, path: Path, value: Any, kind: DependencyKind = "identity") -> None:
    """Note that the path must lead to this value (of this class, …) in each call."""
    names = value if kind in ("present", "absent", "without") else None
    lowering.dependencies[path.place, kind, names] = Dependency(path, value, kind)


def bind(
    lowering: Lowering, argument: Argument, names: Any = None, position: int = -1
) -> tuple[Parameter, Any]:
    """The IR parameter for an argument, and the frontend value that it is inside.

    names: the names that the function's own unpacking gives to the leaves, as a nested tuple.
    """
    leaves: list[Value] = []
    types_ = iter(argument.types)

    def build(tree: Tree, name: str, given: Any, path: Path) -> Any:
        if isinstance(tree, Constant):
            return _constant(lowering, tree.value, path, name)
        if isinstance(tree, Leaf):
            value = lowering.builder.named(next(types_), given if isinstance(given, str) else name)
            if len(leaves) in argument.contiguous:
                lowering.contiguous.add(value)
            leaves.append(value)
            found = lowering.wrap(value)
            if isinstance(found, ListRef):
                found.storage.levels = ALL  # which is checked at each call, where it matters
            return found
        return _structure(lowering, tree, name, given, path, build)

    found = build(argument.tree, argument.name, names, Path(position))
    return Parameter(argument.name, argument.tree, tuple(leaves)), found


def _constant(lowering: Lowering, value: Any, path: Path, name: str) -> Any:
    """The frontend value of an argument that is no run-time value: static if the key of the
    specialization holds the value itself, otherwise an object whose attributes are read."""
    if isinstance(value, types.MethodType):
        receiver = ObjectRef(value.__self__, _below(path, "attribute", "__self__"))
        return BoundMethod(receiver, value.__func__.__name__, value.__func__)
    if isinstance(value, functools.partial):
        return partial_of(lowering, value, path, name)
    by_value = (*_RESOLVED, *_CALLABLES, *_BY_VALUE)
    if value is None or value is Ellipsis or isinstance(value, by_value):
        return Static(value)
    return Static(value) if _is_transformed(value) else ObjectRef(value, path)


def _is_transformed(value: Any) -> bool:
    """Whether this is a function that gradscribe has wrapped: decorated, or a gradient."""
    return any(inspect.getattr_static(value, mark, None) is not None for mark in _MARKS)


_MARKS = ("__gradscribe_function__", "__gradscribe_primitive__", "__gradscribe_transform__")
"""Attributes of what gradscribe has wrapped (objects may have a `__getattr__` for any name)."""


def _below(path: Path, kind: Any, step: Any) -> Path:
    return Path(path.root, (*path.steps, (kind, step)))


def _structure(
    lowering: Lowering, tree: Node, name: str, given: Any, path: Path, build: Any
) -> Any:
    kind = "attribute" if tree.keys is not None and tree.cls is not dict else "item"
    keys = tree.keys if tree.keys is not None else range(len(tree.children))
    matched = given if isinstance(given, tuple) and len(given) == len(tree.children) else None
    items = [
        build(
            child,
            f"{name}_{key}" if str(key).isidentifier() or isinstance(key, int) else name,
            below,
            _below(path, kind, key),
        )
        for child, key, below in zip(
            tree.children, keys, matched or [None] * len(tree.children), strict=True
        )
    ]
    if tree.cls is list:
        storage = Storage(name, levels=ALL)
        lowering.contents[storage] = tuple(items)
        return ListRef(storage)
    if tree.cls is dict:
        storage = Storage(name)
        lowering.contents[storage] = dict(zip(tree.keys or (), items, strict=True))
        return DictRef(storage)
    if not issubclass(tree.cls, tuple):
        fields = dict(zip(tree.keys or (), items, strict=True))
        return instances.new_instance(lowering, tree.cls, fields)
    return TupleOf(tuple(items), tree.cls)
