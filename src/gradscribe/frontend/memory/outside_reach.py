"""What functions from outside can reach that are given to code which cannot be read.

Such a function runs as it is: it reads and writes the variables of its module, of the functions
around it, its defaults and attributes, by itself or through what it calls. Comes in: what a call is
given. Goes out: what they may change, which is refused where the program reads it; of arrays
the program asks when it runs (see `outside_state`).
"""

from __future__ import annotations

import collections
import functools
import gc
import types
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds.trees import parts_of
from gradscribe.frontend.memory import outside, outside_state
from gradscribe.frontend.memory.outside_functions import (
    NOT_CHANGED,
    Held,
    callables_of,
    changes_by_name,
    functions_of,
    held_by,
    is_code,
    may_read,
    only_reads,
    rebound,
    stored_attributes,
)
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    BoundMethod,
    Cell,
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Value
from gradscribe.ir.probing import is_a
from gradscribe.ir.types import Opaque


def note(lowering: Lowering, items: Sequence[FrontendValue | types.FunctionType]) -> None:
    """Note what functions among what a call is given, and all that they lead to, may change.
    Refuse it where the program has read it before."""
    pending = [item for part in items for item in _callables(lowering, part)]
    while pending:
        function = pending.pop()
        if id(function) in lowering.outside.reaching:
            continue
        lowering.outside.reaching[id(function)] = function
        for place, name in rebound(function):
            lowering.outside.rebound.add(place)
            _refuse_read(lowering, place, name)
        for name in stored_attributes(function):
            lowering.outside.renewed.add(name)
            _refuse_named(lowering, name)
        if changes_by_name(function):
            lowering.outside.renews_any = True
            for place in (*lowering.outside.captured, *_values_read(lowering)):
                outside.refuse_changed(lowering, _last_name(place) or function.__name__)
        for found in held_by(function):
            pending += callables_of(found.object)
            _note_one(lowering, function, found)


def _note_one(lowering: Lowering, function: types.FunctionType, at: Held) -> None:
    held, name = at.object, at.name
    if hasattr(type(held), "requires_grad"):
        outside.refuse_changed(lowering, name)
    elif is_a(held, np.ndarray):
        lowering.outside.seen[id(held)] = held
    elif not is_a(held, NOT_CHANGED) and not is_code(held):
        if only_reads(function, name, held):
            return
        lowering.outside.reached[id(held)] = held
        lowering.outside.exposed.add(id(held))
        _refuse_read(lowering, at.path.place, name)
        if id(held) in lowering.outside.opened or id(held) in lowering.outside.found:
            outside.refuse_changed(lowering, name)


def note_objects(lowering: Lowering, roots: Iterable[Any], name: str) -> None:
    """Note what code may change that runs without being given, as methods of these objects, and
    all that they lead to. Refuse it where the program has read or changed that. name: of what runs
    them."""
    pending = list(roots)
    while pending:
        held = pending.pop()
        if id(held) in lowering.outside.noted or is_a(held, (*NOT_CHANGED[:-2], np.dtype)):
            continue
        lowering.outside.noted[id(held)] = held
        functions = list(callables_of(held))
        note(lowering, [Static(function) for function in functions])
        pending += [at.object for function in functions for at in held_by(function)]
        if is_code(held) or is_a(held, types.ModuleType):
            continue
        lowering.outside.exposed.add(id(held))
        lowering.outside.reached[id(held)] = held
        _refuse_used(lowering, held, name)
        if _is_opened(held):
            pending += gc.get_referents(held)


def _is_opened(held: Any) -> bool:
    """Whether what an object holds is looked into: a container, a method, an object of a class of
    the user's. (Of records of `logging` nothing leads to the program.)"""
    if is_a(held, _LOOKED_INTO):
        return True
    return not is_a(held, np.ndarray) and not dependencies.is_library(type(held))


_LOOKED_INTO = (
    *(dict, list, tuple, set, frozenset, collections.deque, types.CellType, functools.partial),
    *(types.MethodType, types.BuiltinMethodType),
)


def _refuse_used(lowering: Lowering, held: Any, name: str) -> None:
    """Refuse it where the program has read, or changed, an object before."""
    found, number = lowering.outside, id(held)
    is_used = number in found.opened or number in found.found
    is_used = is_used or any(owner == number for owner, _ in found.fields)
    is_used = is_used or (number in found.grown and lowering.has_tensors)
    for ref in found.met.get(number, {}).values():
        root, steps = ref.path.place
        is_used = is_used or any(
            other[0] == root and len(other[1]) > len(steps) and other[1][: len(steps)] == steps
            for other in (*found.captured, *_values_read(lowering))
        )
        name = ref.name or name
    if is_used:
        names = (ref.name for ref in found.containers.values() if ref.target is held)
        outside.refuse_changed(lowering, next(names, name))


def _values_read(lowering: Lowering) -> Iterator[Any]:
    """The places of what was read when the function was compiled."""
    for place, kind, _ in lowering.outside.dependencies:
        if kind in ("equality", "length", "keys"):
            yield place


def note_buffers(lowering: Lowering, items: Sequence[FrontendValue]) -> None:
    """Note what memory a call may write to by way of objects from outside, such as a memoryview.
    Refuse it where the program has read an array that shows that memory."""
    if any(isinstance(item, Value) and isinstance(item.type, Opaque) for item in items):
        lowering.outside.written.update(lowering.outside.shown)
    for item in items:
        if not isinstance(item, ObjectRef) or isinstance(item.target, np.ndarray):
            continue
        lowering.outside.show(item.target, item.name, item.path, written=True)
        memory = outside.memory_of(item.target)
        if any(outside.memory_of(array) is memory for array in lowering.outside.found.values()):
            outside.refuse_changed(lowering, item.name or type(item.target).__name__)
        lowering.outside.reached[id(memory)] = memory


def refuse_given(lowering: Lowering, given: Collection[Storage]) -> None:
    """Refuse a call that may run the functions noted, where these find an array that the program
    stores to, or gives to the call: they would find another one than that. given: the arrays that
    the call is given."""
    for storage, held in lowering.outside.memory.items():
        is_other = storage in lowering.changes.stored or storage in given
        if is_other and id(held) in lowering.outside.seen:
            outside.refuse_changed(lowering, storage.name)


def _refuse_read(lowering: Lowering, place: Any, name: str) -> None:
    """Refuse what the program has read of an object at this place, or below it."""
    root, steps = place
    known = [*lowering.outside.captured, *(p for p, *_ in lowering.outside.dependencies)]
    for other in known:
        if isinstance(other, tuple) and other[0] == root and other[1][: len(steps)] == steps:
            if other[1] == steps and (place, "class", None) in lowering.outside.dependencies:
                continue  # which object it is does not change
            outside.refuse_changed(lowering, name)


def _refuse_named(lowering: Lowering, name: str) -> None:
    """Refuse it where the program has read, or stored, something of this name outside."""
    found = lowering.outside
    places = [*found.captured, *_values_read(lowering)]
    places += [d.path.place for d in found.dependencies.values() if isinstance(d.path.root, type)]
    if any(_last_name(place) == name for place in places):
        outside.refuse_changed(lowering, name)
    if any(stored == name for _, stored in lowering.outside.fields):
        outside.refuse_changed(lowering, name)


def _last_name(place: Any) -> str:
    return next((str(key) for _, key in place[1][-1:]), "")


def refuse_pending(
    lowering: Lowering, functions: Collection[types.FunctionType] | None = None
) -> None:
    """Refuse a call of code that may call these functions, or those noted, where one of these may
    read what the program has stored outside before: that is stored at the end."""
    found = lowering.outside
    functions = list(found.reaching.values()) if functions is None else functions
    if not functions:
        return
    for storage, before in found.entered.items():
        if outside_state.is_as_found(lowering, storage, before):
            continue
        names, targets = {storage.name}, list[Any]()
        if storage in found.containers:
            names |= set(map(str, _steps(found.containers[storage].path)))
            targets = [found.containers[storage].target]
        elif storage in found.memory:
            targets = [found.memory[storage]]
        elif not isinstance(storage, Cell):  # an item of something
            targets = [held for held in found.found.values() if is_a(held, _LOOKED_INTO)]
        if any(may_read(f, names) or _leads_to(f, targets) for f in functions):
            outside.refuse_changed(lowering, storage.name or "item")


def _steps(path: AccessPath) -> Iterator[Any]:
    return (key for _, key in path.steps)


def _leads_to(function: types.FunctionType, targets: Collection[Any]) -> bool:
    """Whether a function may come to one of these objects, or to memory of theirs, by what it
    finds."""
    if not targets:
        return False
    wanted = list(_led_to(targets))
    numbers = set(map(id, wanted))
    arrays = [held for held in wanted if is_a(held, np.ndarray)]
    return any(
        id(held) in numbers
        or (is_a(held, np.ndarray) and any(np.may_share_memory(held, one) for one in arrays))
        for held in _led_to([at.object for at in held_by(function)])
    )


def _led_to(roots: Iterable[Any]) -> Iterator[Any]:
    """What can be changed of objects, and of all that these hold."""
    pending, seen = list(roots), set[int]()
    while pending:
        held = pending.pop()
        if id(held) in seen or is_a(held, np.dtype):
            continue
        seen.add(id(held))
        if not is_a(held, NOT_CHANGED):
            yield held
        if _is_opened(held) and not is_code(held):
            pending += gc.get_referents(held)


def _callables(
    lowering: Lowering, item: FrontendValue | types.FunctionType
) -> Iterator[types.FunctionType]:
    is_container = isinstance(item, (TupleOf, ListRef, DictRef))
    parts = parts_of(item, lowering.contents) if is_container else None
    for part in () if parts is None else parts.items:
        yield from _callables(lowering, part)
    if isinstance(item, Static):
        yield from functions_of(item.value)
    elif isinstance(item, ObjectRef):
        yield from functions_of(item.target)
    elif isinstance(item, BoundMethod):
        yield from callables_of(item.function)
    elif isinstance(item, types.FunctionType):  # that makes a generator
        yield from callables_of(item)
