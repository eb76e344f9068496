"""What a specialization takes for granted of the objects outside the function."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

from gradscribe.frontend.interface import AccessPath, Dependency, DependencyKind
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import ObjectRef
from gradscribe.ir.core import Callee, Function, Value, callees, walk
from gradscribe.ir.probing import is_a, is_library_module, probe
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES

HOLDERS = (type, types.ModuleType, types.FunctionType)
"""Static objects of these classes have attributes that may change."""

LOCAL_CLASSES: WeakSet[type] = WeakSet()
"""Classes that compiled functions define, and that nobody else has."""


def is_library(owner: Any) -> bool:
    """Whether a module, class or function is part of Python, of an installed numerical library or
    of the function that is compiled: its attributes do not change."""
    if isinstance(owner, type) and owner in LOCAL_CLASSES:
        return all(map(is_library, owner.__mro__[1:]))
    is_module = isinstance(owner, types.ModuleType)
    name = probe(owner, "__name__" if is_module else "__module__")
    return is_library_module(name)


def is_watched(lowering: Lowering, owner: Any) -> bool:
    """Whether each call is to find in a module, class or function what is there now: in one of the
    user's, and in a module of Python's in which the user's own code looks something up."""
    if not isinstance(owner, HOLDERS) or not is_library(owner):
        return isinstance(owner, HOLDERS)
    is_module = isinstance(owner, types.ModuleType)
    is_watched = is_module and owner.__name__.partition(".")[0] not in _STEADY
    return is_watched and not is_library(lowering.frame.function)


_STEADY = frozenset({"numpy", "scipy", "math"})
"""Packages whose functions, and constants, stay what they are."""


def is_tool_module(name: Any) -> bool:
    """Whether a module of this name is part of Python, or of what this package is made of: of the
    calls that stand there nothing is noted when a program runs."""
    top = str(name).partition(".")[0]
    return top in _TOOLS or (top in sys.stdlib_module_names and top != "__main__")


_TOOLS = frozenset({"gradscribe", "numpy", "gast", "astunparse"})


def depend(
    lowering: Lowering, path: AccessPath, value: Any, kind: DependencyKind = "identity"
) -> None:
    """Note that the path must lead to this value (of this class, …) in each call."""
    if kind == "identity" and _is_made_when_read(value):
        kind = "equality"
    names = value if kind in ("present", "absent", "without") else None
    lowering.outside.dependencies[path.place, kind, names] = Dependency(path, value, kind)


def depend_on_names(lowering: Lowering, cls: type) -> None:
    """Make it a condition of each call that a class, its bases and its metaclass have the names
    that they have now: what an object does depends also on what its class has not."""
    metaclass: type = type(cls)
    for base in (*cls.__mro__, *metaclass.__mro__):
        if not is_library(base):
            path = AccessPath(base).attribute("__dict__")
            depend(lowering, path, tuple(base.__dict__), "names")


def _is_made_when_read(value: Any) -> bool:
    """Whether Python makes another object, equal to this one, each time that it is read: a method
    in C, bound to its receiver. (A mock of one says that it is of that class: it is not. One that
    is told its class, too, is of a derived class.)"""
    is_bound = issubclass(type(value), (types.BuiltinMethodType, types.MethodWrapperType))
    return is_bound and not isinstance(value.__self__, types.ModuleType)


def identities(lowering: Lowering) -> None:
    """Make it a condition of each call that objects of which it matters are, or are not, one."""
    for target in lowering.outside.compared:
        first, *others = lowering.outside.met[target].values()
        pairs: list[tuple[DependencyKind, ObjectRef]] = [("same", other) for other in others]
        for number, places in lowering.outside.met.items():
            other = next(iter(places.values()))
            if number != target and type(other.target) is type(first.target):
                pairs.append(("other", other))
        for kind, other in pairs:
            key = (kind, first.path.place, other.path.place)
            lowering.outside.dependencies[key] = Dependency(other.path, first.path, kind)


WRAPPERS: dict[type, tuple[str, tuple[str, ...]]] = {}
"""Classes of the layers above whose objects are a function with settings: under which attribute
each has the function, and under which the settings."""


def resolve(lowering: Lowering, path: AccessPath, value: Any) -> None:
    """Make it a condition of each call that the path leads to this callable: to the very object,
    or, where that is a closure, to one that was made by the same `def`."""
    if not _is_closure(value):
        depend(lowering, path, value)
        if isinstance(value, type):
            depend_on_names(lowering, value)
        return
    _, paths = lowering.outside.closures.setdefault(id(value), (value, {}))
    paths[path.place] = path
    if type(value) not in WRAPPERS:
        depend(lowering, path, value, "function")
        return
    function, settings = WRAPPERS[type(value)]
    depend(lowering, path, type(value), "class")
    for name in settings:
        depend(lowering, path.attribute(name), getattr(value, name), "equality")
    resolve(lowering, path.attribute(function), getattr(value, function))


def _is_closure(value: Any) -> bool:
    """Whether nothing but its code, cells and defaults tells a function from others; or it wraps
    such a function."""
    if type(value) in WRAPPERS:
        function, _ = WRAPPERS[type(value)]
        return _is_closure(getattr(value, function))
    if not isinstance(value, types.FunctionType) or value.__dict__ or is_library(value):
        return False
    return value not in PRIMITIVES and value not in COMPOSITIONS


def identify(lowering: Lowering, value: Any) -> None:
    """Make it a condition of each call, if this is a closure from outside, that it is the very
    one: the compiled function does more with it than to call it."""
    if id(value) in lowering.outside.closures:
        for path in lowering.outside.closures[id(value)][1].values():
            depend(lowering, path, value)


_ENDS = (type, types.ModuleType, types.FunctionType, types.CodeType, Callee, Value)


def _mentioned(lowered: Function, closures: frozenset[int]) -> Iterator[Any]:
    """The closures that the operations refer to (by way of other objects, maybe)."""
    functions = (lowered, *(callee.function for callee in callees(lowered)))
    operations = (operation for function in functions for operation in walk(function.body))
    pending: list[Any] = []
    for operation in operations:
        pending += (operation.primitive, operation.callee, operation.attributes)
    seen: set[int] = set()
    while pending:
        item = pending.pop()
        if id(item) in closures:
            yield item
        if id(item) not in seen and gc.is_tracked(item) and not is_a(item, _ENDS):
            seen.add(id(item))
            pending += gc.get_referents(item)


def tell_closures_apart(lowering: Lowering, lowered: Function) -> None:
    """Make it a condition of each call that closures are the same, or different ones, where these
    were; and that those are the very ones which the operations mention."""
    by_code: dict[Any, list[AccessPath]] = {}
    closures = lowering.outside.closures
    for value in _mentioned(lowered, frozenset(closures)) if closures else ():
        identify(lowering, value)
    for function, paths in closures.values():
        first, *others = paths.values()
        for other in others:
            lowering.outside.dependencies["same", other.place, first.place] = Dependency(
                other, first, "same"
            )
        by_code.setdefault(probe(function, "__code__", type(function)), []).append(first)
    for first, *others in by_code.values():
        if others:
            found = Dependency(first, tuple(others), "distinct")
            lowering.outside.dependencies["distinct", first.place] = found
