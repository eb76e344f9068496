"""Calls that only show what they are given: logs, warnings, `print`, the making of texts.

They do nothing that a program could read, unless code of the user's runs in them: handlers, filters
and formatters of `logging`, `warnings.showwarning`, a `__str__` that counts its calls. Where that
is so, what this code may change is refused to be read, and what is shown to it may be kept. Which
code that is, is a condition of each call.
"""

from __future__ import annotations

import collections
import logging
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory import outside_reach
from gradscribe.frontend.memory.outside_functions import calls_methods, functions_of
from gradscribe.frontend.opaque import lent_kinds
from gradscribe.frontend.state.dependencies import depend, is_library
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    InstanceRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
    opaque_type,
)
from gradscribe.ir.core import Method
from gradscribe.ir.probing import in_class, is_a, probe
from gradscribe.primitives import log_calls
from gradscribe.primitives.contract_kinds import SHOWN, UNKNOWN, Contract
from gradscribe.primitives.users_code import (
    changing_making,
    changing_methods,
    changing_text,
    may_change,
    shows,
    users_code,
)

TEXTS = frozenset({str, repr, ascii, format})
"""Functions that show a value; nobody expects a derivative of what they give."""

ASKING = frozenset({isinstance, issubclass, type, operator.is_, operator.is_not})


class Call(NamedTuple):
    """A call as it is made: the function, its arguments, and its contract, if code of the user's
    runs in it. is_noted: whether such code was found, and may change something."""

    callee: Any
    arguments: tuple[FrontendValue, ...]
    contract: Contract | None = None
    is_noted: bool = False


def seen(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> Call:
    """How a call is made that others may see: of what is shown to them it is checked that they
    change nothing of that (see `log_calls`)."""
    given = (*arguments, *keywords.values())
    if isinstance(callee, type) and issubclass(callee, BaseException | type):
        is_known = not _note(lowering, changing_making(callee), callee.__name__)
        return Call(callee, arguments, None if is_known else UNKNOWN)
    receiver = arguments[0] if arguments and isinstance(callee, Method) else None
    function, shower = callee, probe(callee, "__self__")
    if isinstance(receiver, ObjectRef):
        function, shower = in_class(type(receiver.target), callee.name), receiver.target
    is_shown = shows(probe(function, "__func__", function))
    is_noted = False
    if callee in TEXTS or callee is operator.mod or isinstance(callee, Method):
        is_noted = note_texts(lowering, given)
    if is_shown and is_seen(lowering, function, given, receiver, shower):
        return Call(log_calls.shown_to_users, (Static(function), *arguments), SHOWN, True)
    if not all(isinstance(item, Static) for item in given):
        target = receiver.target if isinstance(receiver, ObjectRef) else None
        if log_calls.goes_through_others(function, target):
            return Call(log_calls.only_shown, (Static(function), *arguments), is_noted=is_noted)
    if function not in ASKING:
        is_own = isinstance(receiver, ObjectRef) and not is_library(type(receiver.target))
        name = probe(function, "__name__", "")
        is_noted |= _note_methods(lowering, given[1:] if is_own else given, name, changing_methods)
    return Call(callee, arguments, is_noted=is_noted)


def _note_methods(
    lowering: Lowering, given: Sequence[FrontendValue], name: str, changing: _Changing
) -> bool:
    """Note what objects from outside may change that code in C is given: it may call their methods,
    or those of what they hold, such as a file. changing: gives the methods of a class that may
    change something. Whether there is any."""
    objects = list(_objects(lowering, given))
    around = {cls for cls, _ in objects}
    is_noted = False
    for cls, target in objects:
        if target is not None and is_library(cls):
            own = [Static(f) for f in functions_of(target) if may_change(f)]
            outside_reach.note(lowering, own)
            is_noted |= bool(own) or calls_methods(target)
        elif found := changing(cls, around):
            outside_reach.note_objects(lowering, found if target is None else [target], name)
            is_noted = True
    return is_noted


_Changing = Callable[[type, Collection[type]], list[Any]]


def is_seen(
    lowering: Lowering,
    function: Any,
    given: Sequence[FrontendValue],
    receiver: FrontendValue | None = None,
    shower: Any = None,
) -> bool:
    """Whether code of the user's runs in this call, of which it is noted then what it may change.
    given: to the call. receiver, shower: the logger, as a value of the frontend and as it is."""
    note_texts(lowering, given)
    if not isinstance(shower, logging.Logger | logging.LoggerAdapter):
        shower = function
    path = receiver.path if isinstance(receiver, ObjectRef) else AccessPath(shower)
    found = users_code(shower)
    depend(lowering, path, found, "shows")
    name = probe(function, "__name__")
    if name in ("addHandler", "addFilter"):
        found = (*found, *(item.target for item in given if isinstance(item, ObjectRef)))
    categories = (item.value for item in given if isinstance(item, Static))
    for category in categories:
        if isinstance(category, type) and issubclass(category, Warning):
            found = (*found, *changing_making(category), *changing_text(category))
    return _note(lowering, found, name)


def _note(lowering: Lowering, found: Sequence[Any], name: str) -> bool:
    outside_reach.note_objects(lowering, found, name)
    return bool(found)


def note_operations(lowering: Lowering) -> None:
    """Note what the user's code may change that NumPy calls where an operation meets an invalid
    value."""
    outside_reach.note_objects(lowering, users_code(np.geterrcall), "np.seterrcall")


def watch_operations(lowering: Lowering) -> None:
    """Make it a condition of each call that it is this code, where there is some."""
    found = users_code(np.geterrcall)
    if found:
        depend(lowering, AccessPath(np.geterrcall), found, "shows")


def note_texts(lowering: Lowering, given: Sequence[FrontendValue]) -> bool:
    """Note what may be changed where a text is made of these values. Whether anything may."""
    return _note_methods(lowering, given, "__str__", changing_text)


def _objects(lowering: Lowering, items: Iterable[FrontendValue]) -> Iterator[tuple[type, Any]]:
    """The classes of the objects in these values, and those objects that are known: the ones from
    outside."""
    pending, seen = list(items), set[Storage]()
    while pending:
        item = pending.pop()
        if isinstance(item, TupleOf):
            pending += item.items
        elif lent_kinds.is_container(item):
            if item.storage not in seen:
                seen.add(item.storage)
                pending += lent_kinds.KINDS[type(item)].parts_of(lowering, item).values()
                yield from [(item.cls, None)] if isinstance(item, InstanceRef) else ()
        elif isinstance(item, ObjectRef):
            yield from _within(item.target)
        elif (type_ := opaque_type(item)) and type_.cls:
            yield type_.cls, None


def _within(target: Any) -> Iterator[tuple[type, Any]]:
    """The same of an object from outside, and of what it holds, if it is a container, or of a class
    of the user's."""
    pending, seen = [target], set[int]()
    while pending:
        target = pending.pop()
        if id(target) in seen or is_a(target, (str, bytes, int, float, complex)):
            continue
        seen.add(id(target))
        if is_a(target, (list, tuple, set, frozenset, collections.deque)):
            pending += target
        elif is_a(target, dict):
            pending += (*target, *target.values())
        if type(target) not in _CONTAINERS:
            yield type(target), target
            pending += (
                (probe(target, "__dict__") or {}).values() if not is_library(type(target)) else ()
            )


_CONTAINERS = (list, tuple, set, frozenset, collections.deque, dict)
