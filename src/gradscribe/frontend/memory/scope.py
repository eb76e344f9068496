"""Names: locals, enclosing functions, captured variables, globals and built-ins.

Locals are looked up in the frames, as Python does it; the others are `outside`.
"""

from __future__ import annotations

import builtins
import types
from typing import Any, NoReturn

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory.outside import external, of_library, opened
from gradscribe.frontend.state.carried_entry import Entry
from gradscribe.frontend.state.definitions import NotYetKnownError
from gradscribe.frontend.state.dependencies import depend, is_library
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.interruptions import LateReadError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    Static,
    Storage,
    Unbound,
    ViewOf,
)


def lookup(lowering: Lowering, node: Any, name: str) -> FrontendValue:
    """The frontend value of a name that is read."""
    frame: Frame | None = lowering.frame
    while frame is not None:
        if name in frame.names:
            found = frame.names[name]
            if isinstance(found, Unbound):
                if found.loop is not None and not _is_tried(lowering, found.loop[1]):
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
    lowering.raises(node, _unbound_local(name), what, advice)


def refuse_unbound(lowering: Lowering, node: Any, name: str, found: Unbound) -> None:
    """Refuse to read a name that has no value, or say what Python raises there."""
    advice = "give the name a value on every path"
    if found.raises:
        lowering.raises(node, _unbound_local(name), found.reason, advice)
    lowering.unsupported(node, found.reason, advice)


def _unbound_local(name: str) -> UnboundLocalError:
    """What Python raises where a local variable is read that has no value."""
    return UnboundLocalError(
        f"cannot access local variable '{name}' where it is not associated with a value"
    )


def read_late(lowering: Lowering, name: Unbound) -> NoReturn:
    """An iteration of a loop reads what it binds only later: the loop is lowered again, unless it
    is only tried to see what the name is bound to."""
    carried, entry = name.loop
    if entry.mode == "probe":
        raise NotYetKnownError(None, lowering.builder.location)
    raise LateReadError(carried, entry)


def _is_tried(lowering: Lowering, entry: Entry) -> bool:
    """Whether a `try` handles what Python raises where an iteration reads a name that has no value
    yet, and the loop is only tried to see what the name is bound to."""
    classes = (cls for _, caught in lowering.exceptions.attempts for cls in caught)
    entry.is_tried |= any(issubclass(UnboundLocalError, cls) for cls in classes)
    return entry.is_tried and entry.mode == "probe"


def _is_constant_of_package(function: types.FunctionType, value: Any) -> bool:
    """Whether this is a constant beside a function of our own: a number, or a dict of numbers. No
    user changes it, so it is no input."""
    if not (function.__module__ or "").startswith("gradscribe."):
        return False
    if isinstance(value, dict):
        return all(isinstance(key, str) and type(n) in _NUMBERS for key, n in value.items())
    return type(value) in _NUMBERS


_NUMBERS = (int, float, complex)


def _constant(lowering: Lowering, value: Any) -> Static | DictRef:
    if not isinstance(value, dict):
        return Static(value)
    storage = Storage()
    lowering.contents[storage] = {key: Static(number) for key, number in value.items()}
    return DictRef(storage)


def _outside(
    lowering: Lowering, node: Any, function: types.FunctionType, name: str
) -> FrontendValue:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    if name in cells:
        try:
            value = cells[name].cell_contents
        except ValueError:
            what = f"`{name}` has no value yet"
            lowering.raises(node, NameError(what), what, "call the function later")
        return external(lowering, value, AccessPath(cells[name]).attribute("cell_contents"), name)
    if name in function.__globals__:
        value = function.__globals__[name]
        if _is_constant_of_package(function, value):
            return _constant(lowering, value)
        return external(lowering, value, AccessPath(function.__globals__).item(name), name)
    depend(lowering, AccessPath(function.__globals__), name, "without")
    if hasattr(builtins, name):
        value = getattr(builtins, name)
        if is_library(function) or _is_lasting(value):
            return Static(value)
        return of_library(lowering, value, AccessPath(builtins).attribute(name), name)
    depend(lowering, AccessPath(builtins), name, "absent")
    error = NameError(f"name '{name}' is not defined")
    return lowering.raises(node, error, f"the name `{name}` is not defined", "define it")


def _is_lasting(value: Any) -> bool:
    """Whether this is a built-in function or class that nobody is taken to replace: one that does
    not speak to anybody outside."""
    if not isinstance(value, (types.BuiltinFunctionType, type)) or value in (print, input):
        return False
    return value.__module__ == "builtins"
