"""What functions from outside can reach that are given to code which cannot be read.

Such a function runs as it is: it reads and writes the variables of its module, of the functions
around it, its defaults and attributes, by itself or through what it calls. Comes in: what a call is
given. Goes out: the arrays among that which the program reads, too. They are compared bytewise
before and after the call: what is changed there is an error at run time. Whatever else such a
function may change is refused where the program reads it.
"""

from __future__ import annotations

import collections
import functools
import gc
import operator
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds.trees import parts_of
from gradscribe.frontend.memory import outside
from gradscribe.frontend.memory.outside_functions import (
    CELL,
    NOT_CHANGED,
    Held,
    Way,
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
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state import dependencies, wording
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
from gradscribe.ir.core import Method, Value
from gradscribe.ir.probing import is_a
from gradscribe.ir.types import BOOL, Opaque, Type
from gradscribe.primitives.control import EFFECT, WRITTEN


def note(lowering: Lowering, items: Sequence[FrontendValue | types.FunctionType]) -> None:
    """Note what functions among what a call is given, and all that they lead to, may change.
    Refuse it where the program has read it before."""
    pending = [item for part in items for item in _callables(lowering, part)]
    while pending:
        function = pending.pop()
        if id(function) in lowering.outside.reaching:
            continue
        lowering.outside.reaching[id(function)] = function
        for place in rebound(function):
            lowering.outside.rebound.add(place)
            _refuse_read(lowering, place, place[1][-1][1])
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
        own = function.__globals__ is lowering.frames[0].function.__globals__
        if not at.way and id(held) in lowering.outside.found:
            outside.refuse_changed(lowering, name)
        if at.way and (own or id(held) in lowering.outside.found):
            found = outside.external(lowering, held, at.path, name)
            for storage in storages(lowering, found):
                lowering.outside.seen.setdefault(storage, at.way)
        lowering.outside.reached[id(held)] = held
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
        lowering.outside.show(item.target, item.name)
        lowering.outside.written.add(id(item.target))
        memory = outside.memory_of(item.target)
        if any(outside.memory_of(array) is memory for array in lowering.outside.found.values()):
            outside.refuse_changed(lowering, item.name or type(item.target).__name__)
        lowering.outside.reached[id(memory)] = memory


def before(lowering: Lowering, given: Sequence[Storage]) -> dict[Storage, Value]:
    """The bytes of the arrays that functions from outside can reach. given: those that the call is
    given: they would be other arrays than what the functions see."""
    found = {}
    for storage, way in lowering.outside.seen.items():
        if storage in lowering.changes.stored or storage in given:
            outside.refuse_changed(lowering, storage.name)
        found[storage] = _bytes(lowering, way)
    return found


def after(lowering: Lowering, name: str, watched: dict[Storage, Value], call: Value) -> None:
    """Compare them with what they are after the call of the function of this name; they depend on
    what that was given."""
    for storage, held in watched.items():
        found = _bytes(lowering, lowering.outside.seen[storage])
        same = _call(lowering, operator.eq, (found, held), BOOL)
        changed = wording.quoted(storage.name)
        what = f"`{name}` has changed {changed}, which is not followed"
        lowering.check(same, what)
        tree = {"x": lowering.value_in(storage), "call": call}
        lowering.contents[storage] = lowering.plain(WRITTEN, tree, name=storage.name)


def _bytes(lowering: Lowering, way: Way) -> Value:
    """The bytes of an array where a function finds it: that itself, of which a recorded call reads
    a copy."""
    function, attribute, *steps = way
    array = _call(lowering, getattr, (function, attribute), Opaque())
    for step in steps:
        if step == CELL:
            array = _call(lowering, getattr, (array, step), Opaque())
        else:
            array = _call(lowering, operator.getitem, (array, step), Opaque())
    return _call(lowering, Method("tobytes"), (array,), Opaque(bytes))


def _call(lowering: Lowering, callee: Any, arguments: tuple[Any, ...], type_: Type) -> Value:
    tree = {"args": arguments, "keywords": {}, "type": type_}
    return lowering.plain(EFFECT, tree, callee)


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


def refuse_pending(lowering: Lowering) -> None:
    """Refuse a call of code that may call the functions noted, where one of these may read what the
    program has stored outside before: that is stored at the end."""
    found = lowering.outside
    if not found.reaching:
        return
    functions = list(found.reaching.values())
    for storage, before in found.entered.items():
        if lowering.contents.get(storage, before) is before:
            continue
        names, target = {storage.name}, None
        if isinstance(storage, Cell):
            names |= set(map(str, _steps(found.owners[storage])))
        elif storage in found.containers:
            names |= set(map(str, _steps(found.containers[storage].path)))
            target = found.containers[storage].target
        elif storage in found.memory:
            target = found.memory[storage]
        if any(may_read(f, names) or _leads_to(f, target) for f in functions):
            outside.refuse_changed(lowering, storage.name or "item")


def _steps(path: AccessPath) -> Iterator[Any]:
    return (key for _, key in path.steps)


def _leads_to(function: types.FunctionType, target: Any) -> bool:
    """Whether a function may come to an object by what it finds."""
    pending, seen = [at.object for at in held_by(function)] if target is not None else [], set()
    while pending:
        held = pending.pop()
        if held is target:
            return True
        if id(held) not in seen and not is_a(held, (*NOT_CHANGED, np.dtype)):
            seen.add(id(held))
            if _is_opened(held) and not is_code(held):
                pending += gc.get_referents(held)
    return False


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
