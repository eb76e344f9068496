"""What functions from outside can reach that are given to code which cannot be read.

Such a function runs as it is: it reads and writes the variables of its module, of the functions
around it, its defaults and attributes, by itself or through what it calls. Comes in: what a call is
given. Goes out: the arrays among that which the program reads, too. They are compared bytewise
before and after the call: what is changed there is an error at run time. Whatever else such a
function may change is refused where the program reads it.
"""

from __future__ import annotations

import collections
import dis
import functools
import gc
import operator
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory import outside
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state import dependencies, wording
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.source import source_of
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    BoundMethod,
    DictRef,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import BOOL, Opaque, Type
from gradscribe.primitives.control import EFFECT, WRITTEN

_NOT_CHANGED = (*PLAIN_NUMBERS, str, bytes, tuple, frozenset, type(None), types.ModuleType)

Way = tuple[Any, ...]
"""A function, the name of an attribute of it, and what is to be read of that (see `_read`)."""


@dataclass(frozen=True)
class Held:
    """Something that a function finds by itself: where, its name, the object, and the way to it
    from the function (() for what it finds in classes and modules)."""

    path: AccessPath
    name: str
    object: Any
    way: Way


def note(lowering: Lowering, items: Sequence[Any]) -> None:
    """Note what functions among what a call is given, and all that they lead to, may change.
    Refuse it where the program has read it before."""
    pending = [item for part in items for item in _callables(lowering, part)]
    while pending:
        function = pending.pop()
        if id(function) in lowering.outside.reaching:
            continue
        lowering.outside.reaching[id(function)] = function
        for place in _rebound(function):
            lowering.outside.rebound.add(place)
            _refuse_read(lowering, place, place[1][-1][1])
        for name in _stored_attributes(function):
            lowering.outside.renewed.add(name)
            _refuse_attribute(lowering, name)
        for found in _held_by(function):
            pending += _callables_of(found.object)
            _note_one(lowering, function, found)


def _note_one(lowering: Lowering, function: types.FunctionType, at: Held) -> None:
    held, name = at.object, at.name
    if hasattr(type(held), "requires_grad"):
        outside.refuse_changed(lowering, name)
    elif isinstance(held, np.ndarray):
        own = function.__globals__ is lowering.frames[0].function.__globals__
        if not at.way and id(held) in lowering.outside.found:
            outside.refuse_changed(lowering, name)
        if at.way and (own or id(held) in lowering.outside.found):
            found = outside.external(lowering, held, at.path, name)
            for storage in storages(lowering, found):
                lowering.outside.seen.setdefault(storage, at.way)
        lowering.outside.reached[id(held)] = held
    elif not isinstance(held, _NOT_CHANGED) and not _is_code(held):
        if _only_reads(function, name, held):
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
        if id(held) in lowering.outside.noted or isinstance(held, (*_NOT_CHANGED[:-2], np.dtype)):
            continue
        lowering.outside.noted[id(held)] = held
        functions = list(_callables_of(held))
        note(lowering, [Static(function) for function in functions])
        pending += [at.object for function in functions for at in _held_by(function)]
        if _is_code(held) or isinstance(held, types.ModuleType):
            continue
        lowering.outside.exposed.add(id(held))
        lowering.outside.reached[id(held)] = held
        _refuse_used(lowering, held, name)
        if _is_opened(held):
            pending += gc.get_referents(held)


def _is_opened(held: Any) -> bool:
    """Whether what an object holds is looked into: a container, a method, an object of a class of
    the user's. (Of records of `logging` nothing leads to the program.)"""
    if isinstance(held, _LOOKED_INTO):
        return True
    return not isinstance(held, np.ndarray) and not dependencies.is_library(type(held))


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


def note_buffers(lowering: Lowering, items: Sequence[Any]) -> None:
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
        tree = {"x": lowering.contents[storage], "call": call}
        lowering.contents[storage] = lowering.plain(WRITTEN, tree, name=storage.name)


def _bytes(lowering: Lowering, way: Way) -> Value:
    """The bytes of an array where a function finds it: that itself, of which a recorded call reads
    a copy."""
    function, attribute, *steps = way
    array = _call(lowering, getattr, (function, attribute), Opaque())
    for step in steps:
        if step == _CELL:
            array = _call(lowering, getattr, (array, step), Opaque())
        else:
            array = _call(lowering, operator.getitem, (array, step), Opaque())
    return _call(lowering, Method("tobytes"), (array,), Opaque(bytes))


_CELL = "cell_contents"


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


# -- functions, and what they hold ----------------------------------------------------------------


def _callables(lowering: Lowering, item: Any) -> Iterator[Any]:
    below: Any = item.items if isinstance(item, TupleOf) else ()
    if isinstance(item, (ListRef, DictRef)):
        held = lowering.contents[item.storage]
        below = () if isinstance(held, Value) else held
        below = held.values() if isinstance(held, dict) else below
    for part in below:
        yield from _callables(lowering, part)
    if isinstance(item, Static):
        yield from _callables_of(item.value)
    elif isinstance(item, ObjectRef):
        yield from _callables_of(type(item.target))
        for function in _functions_in(item.target):
            yield from _callables_of(function)
    elif isinstance(item, BoundMethod):
        yield from _callables_of(item.function)
    elif isinstance(item, types.FunctionType):  # that makes a generator
        yield from _callables_of(item)


def _callables_of(held: Any) -> Iterator[Any]:
    """The functions of Python that run where an object is used; none of libraries."""
    pending, seen = [held], set[int]()
    while pending:
        held = pending.pop()
        if id(held) in seen:  # a class may hold objects of its own
            continue
        seen.add(id(held))
        if isinstance(held, types.FunctionType):
            if not dependencies.is_library(held):
                yield held
        elif isinstance(held, types.MethodType):
            pending.append(held.__func__)
            if dependencies.is_library(type(held.__self__)):
                pending += _functions_in(held.__self__)
        elif isinstance(held, functools.partial):
            pending.append(held.func)
        elif isinstance(held, type):
            if not dependencies.is_library(held):
                pending += [probe(m, "__func__", m) for m in vars(held).values()][::-1]
        elif probe(held, "__gradscribe_function__") is not None:
            pending.append(held.__gradscribe_function__)
        elif _is_plain_object(held):
            pending.append(type(held))


def _functions_in(target: Any) -> Iterator[types.FunctionType]:
    """The functions of Python that an object of compiled code, or of a library, holds: those that
    a function of ctypes or an operator of SciPy's calls back, for instance."""
    is_looked_into = callable(target) or dependencies.is_library(type(target))
    pending, seen = [target] if is_looked_into else [], set[int]()
    while pending:
        held = pending.pop()
        if id(held) in seen or isinstance(held, (type, types.ModuleType)):
            continue
        seen.add(id(held))
        if isinstance(held, types.FunctionType):
            yield held
        elif held is target or isinstance(held, _CONTAINERS) or not hasattr(held, "__dict__"):
            pending += gc.get_referents(held)


_CONTAINERS = (dict, list, tuple)


def _is_plain_object(held: Any) -> bool:
    return not isinstance(held, (*_NOT_CHANGED, np.ndarray)) and hasattr(held, "__dict__")


def _is_code(held: Any) -> bool:
    """Whether this is a function, class or the like."""
    return isinstance(held, (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc)) or (
        callable(held) and not hasattr(held, "__dict__")
    )


def _held_by(function: types.FunctionType) -> Iterator[Held]:
    """What a function finds by itself: the variables that it names, its defaults, attributes."""
    own, code = function.__globals__, function.__code__
    names = _names(code)
    for name in names & own.keys():
        path = AccessPath(own).item(name)
        yield Held(path, name, own[name], (function, "__globals__", name))
        yield from _members(path, own[name], names)
    for number, cell in enumerate(function.__closure__ or ()):
        path, name = AccessPath(cell).attribute(_CELL), code.co_freevars[number]
        held = probe(cell, _CELL, None)
        yield Held(path, name, held, (function, "__closure__", number, _CELL))
    defaults: list[tuple[str, Any, Any]] = [
        ("__defaults__", key, held) for key, held in enumerate(function.__defaults__ or ())
    ]
    defaults += [("__kwdefaults__", *item) for item in (function.__kwdefaults__ or {}).items()]
    for where, key, held in defaults:
        path = AccessPath(function).attribute(where).item(key)
        yield Held(path, function.__name__, held, (function, where, key))
    for name, item in vars(function).items():
        yield Held(AccessPath(function).attribute(name), name, item, (function, name))


def _members(path: AccessPath, owner: Any, names: set[str]) -> Iterator[Held]:
    """What a function may find in a class, or in a module of the user's, by these names."""
    if isinstance(owner, (type, types.ModuleType)) and not dependencies.is_library(owner):
        for name in names & vars(owner).keys():
            yield Held(path.attribute(name), name, vars(owner)[name], ())


def _names(code: types.CodeType) -> set[str]:
    nested = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return {*code.co_names}.union(*map(_names, nested))


def _rebound(function: types.FunctionType) -> Iterator[Any]:
    """The places of the variables from outside that a function assigns."""
    own = function.__globals__
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        pending += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                yield AccessPath(own).item(name).place
            elif instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and name in cells:
                yield AccessPath(cells[name]).attribute("cell_contents").place


def _stored_attributes(function: types.FunctionType) -> Iterator[str]:
    """The names of the attributes that a function stores, of objects that are not looked for; what
    it assigns in its module is an attribute of that to others."""
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        pending += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for instruction in dis.get_instructions(code):
            if instruction.opname in _STORING_BY_NAME:
                yield instruction.argval


_STORING_BY_NAME = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")


def _refuse_attribute(lowering: Lowering, name: str) -> None:
    """Refuse it where the program has read, or stored, an attribute of this name outside."""
    step = ("attribute", name)
    places = [*lowering.outside.captured, *_values_read(lowering)]
    if any(place[1][-1:] == (step,) for place in places):
        outside.refuse_changed(lowering, name)
    if any(stored == name for _, stored in lowering.outside.fields):
        outside.refuse_changed(lowering, name)


def _only_reads(function: types.FunctionType, name: str, held: Any) -> bool:
    """Whether a function does no more with a container of plain values than to read items."""
    items = held.values() if isinstance(held, dict) else held
    if not isinstance(held, (list, dict, set)):
        return False
    if not all(isinstance(item, (*PLAIN_NUMBERS, str)) for item in items):
        return False
    try:
        tree = source_of(function.__code__).node
    except GradscribeError:
        return False
    read = {
        id(node.value)
        for node in gast.walk(tree)
        if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load)
    }
    mentions = [n for n in gast.walk(tree) if isinstance(n, gast.Name) and n.id == name]
    return all(id(mention) in read for mention in mentions)
