"""Functions of Python that compiled code calls, as they were written: what they find by themselves.

Comes in: an object that unread code is given, or a function. Goes out: the functions of the user's
that run where it is used; the variables, defaults, attributes and closures that such a function
reads; the names that it assigns.
"""

from __future__ import annotations

import collections
import dis
import functools
import gc
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory.outside_kinds import is_transformed
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.syntax.source import source_of
from gradscribe.frontend.values.values import PLAIN_NUMBERS
from gradscribe.ir.probing import COMPILERS, codes_in, has, is_a, module_of_class, probe
from gradscribe.primitives.users_code import may_change

NOT_CHANGED = (*PLAIN_NUMBERS, str, bytes, tuple, frozenset, type(None), types.ModuleType)

CELL = "cell_contents"


@dataclass(frozen=True)
class Held:
    """Something that a function finds by itself: where, its name, the object."""

    path: AccessPath
    name: str
    object: Any


def callables_of(held: Any) -> Iterator[types.FunctionType]:
    """The functions of Python that run where an object is used; none of libraries."""
    pending, seen = [held], set[int]()
    while pending:
        held = pending.pop()
        if id(held) in seen or _is_of_compiler(held):  # a class may hold objects of its own
            continue
        seen.add(id(held))
        if is_a(held, types.FunctionType):
            if not dependencies.is_library(held):
                yield held
        elif is_a(held, types.MethodType):
            pending.append(held.__func__)
            if dependencies.is_library(type(held.__self__)):
                pending += functions_of(held.__self__)
        elif is_a(held, functools.partial):
            pending.append(held.func)
        elif is_a(held, type):
            if not dependencies.is_library(held):
                pending += [probe(m, "__func__", m) for m in vars(held).values()][::-1]
        elif probe(held, "__gradscribe_function__") is not None:
            pending.append(held.__gradscribe_function__)
        elif _is_plain_object(held):
            pending.append(type(held))


def leads_to_python(target: Any) -> bool:
    """Whether what is called may run a function of the user's."""
    return callable(target) and any(True for _ in functions_of(target))


def functions_of(target: Any) -> Iterator[types.FunctionType]:
    """The functions of the user's that run where an object is used, by its class or because it
    holds them: those that a function of ctypes or an operator of SciPy's calls back, for
    instance."""
    for held in _code_of(target):
        yield from callables_of(held)


def all_functions_of(target: Any) -> list[types.FunctionType]:
    """The functions of the user's that run where an object is used, and all that they lead to."""
    pending, found = list(functions_of(target)), dict[int, types.FunctionType]()
    while pending:
        function = pending.pop()
        if id(function) not in found:
            found[id(function)] = function
            pending += [f for at in held_by(function) for f in callables_of(at.object)]
    return list(found.values())


def may_change_outside(target: Any) -> bool:
    """Whether what is called may change something that it finds by itself."""
    functions = list(functions_of(target))
    holds = not is_a(target, types.FunctionType) or any(
        any(rebound(function)) or any(_is_state(at.object) for at in held_by(function))
        for function in all_functions_of(target)
    )
    return holds and any(may_change(f) or _works_in_place(f.__code__) for f in functions)


def _works_in_place(code: types.CodeType) -> bool:
    """Whether there is a `+=`, or the like, of any object."""
    instructions = (i for part in codes_in(code) for i in dis.get_instructions(part))
    return any(
        i.opname.startswith("INPLACE_") or (i.opname == "BINARY_OP" and i.argrepr.endswith("="))
        for i in instructions
    )


def _is_state(held: Any) -> bool:
    return not is_a(held, NOT_CHANGED) and not is_code(held) and not is_transformed(held)


def calls_methods(target: Any) -> bool:
    """Whether an object holds methods in C of other objects, which may be called where it is
    used."""
    bound = (held for held in _code_of(target) if is_a(held, types.BuiltinMethodType))
    return any(not is_a(method.__self__, types.ModuleType) for method in bound)


def _code_of(target: Any) -> Iterator[Any]:
    """An object, and the code that it holds."""
    yield target
    if is_a(target, types.BuiltinMethodType):
        target = target.__self__
        if is_a(target, _HOLDING):
            return
    is_looked_into = callable(target) or dependencies.is_library(type(target))
    pending, seen = [target] if is_looked_into else [], set[int]()
    while pending:
        held = pending.pop()
        if id(held) in seen or _is_apart(held):
            continue
        seen.add(id(held))
        if is_a(held, types.FunctionType):
            yield held
        elif held is target or is_a(held, _LEADING) or not has(held, "__dict__"):
            pending += gc.get_referents(held) if gc.is_tracked(held) else _shown_by(held)
            if is_a(held, types.BuiltinMethodType):
                yield held
        else:
            yield held


def _shown_by(held: Any) -> Iterator[Any]:
    """What an object in C shows that the garbage collector does not look into, such as the time
    zone of a `datetime`; but not others of its kind, such as the `imag` of a `Decimal`, which has
    one of its own."""
    if not is_a(held, (*NOT_CHANGED, *_HOLDING)) and not callable(held):
        for base in type(held).__mro__:
            members = (n for n, item in vars(base).items() if is_a(item, _DESCRIPTORS))
            shown = (probe(held, name) for name in members)
            yield from (item for item in shown if type(item) is not type(held))


_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _is_apart(held: Any) -> bool:
    """Whether what an object holds has nothing to do with what it runs: the variables of a module,
    what a compiler has made its code of."""
    if is_a(held, (type, types.ModuleType)):
        return True
    if is_a(held, dict) and "__builtins__" in held:
        return True
    return _is_of_compiler(held)


def _is_of_compiler(held: Any) -> bool:
    """Whether it is a compiler's own, or what that has made of a function of the user's."""
    is_code = is_a(held, (type, types.FunctionType))
    module = held.__module__ if is_code else module_of_class(type(held))
    return str(module).partition(".")[0] in COMPILERS


_HOLDING = (
    dict,
    list,
    tuple,
    set,
    frozenset,
    collections.deque,
    str,
    bytes,
    np.ndarray,
    np.generic,
)
"""Objects whose methods call nothing that they hold."""

_LEADING = (dict, list, tuple, types.MethodType, functools.partial)


def _is_plain_object(held: Any) -> bool:
    return not is_a(held, (*NOT_CHANGED, np.ndarray)) and has(held, "__dict__")


def is_code(held: Any) -> bool:
    """Whether this is a function, class or the like."""
    return is_a(held, (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc)) or (
        callable(held) and not has(held, "__dict__")
    )


def held_by(function: types.FunctionType) -> Iterator[Held]:
    """What a function finds by itself: the variables that it names, its defaults, attributes."""
    own, code = function.__globals__, function.__code__
    names = names_in(code)
    for name in names & own.keys():
        path = AccessPath(own).item(name)
        yield Held(path, name, own[name])
        yield from _members(path, own[name], names)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield Held(AccessPath(cell).attribute(CELL), name, probe(cell, CELL, None))
    defaults: list[tuple[str, Any, Any]] = [
        ("__defaults__", key, held) for key, held in enumerate(function.__defaults__ or ())
    ]
    defaults += [("__kwdefaults__", *item) for item in (function.__kwdefaults__ or {}).items()]
    for where, key, held in defaults:
        yield Held(AccessPath(function).attribute(where).item(key), function.__name__, held)
    for name, item in vars(function).items():
        yield Held(AccessPath(function).attribute(name), name, item)


def _members(path: AccessPath, owner: Any, names: set[str]) -> Iterator[Held]:
    """What a function may find in a class, or in a module of the user's, by these names."""
    if isinstance(owner, (type, types.ModuleType)) and not dependencies.is_library(owner):
        for name in names & vars(owner).keys():
            yield Held(path.attribute(name), name, vars(owner)[name])


def names_in(code: types.CodeType) -> set[str]:
    """The names of variables and attributes in the code of a function, and of those in it."""
    return {name for part in codes_in(code) for name in part.co_names}


def changes_by_name(function: types.FunctionType) -> bool:
    """Whether a function may change variables or attributes by names that it makes when it runs."""
    return not _CHANGING.isdisjoint(names_in(function.__code__))


def may_read(function: types.FunctionType, names: set[str]) -> bool:
    """Whether a function may read what is found by one of these names."""
    found = names_in(function.__code__).union(*(c.co_freevars for c in codes_in(function.__code__)))
    return not found.isdisjoint(names | ANY_NAME)


_CHANGING = frozenset(
    {"setattr", "delattr", "__setattr__", "__delattr__", "__dict__", "vars", "globals"}
    | {"exec", "eval", "get_referents", "get_objects"}
)
_READING = frozenset(
    {"getattr", "attrgetter", "__getattribute__", "__getstate__", "__reduce__"}
    | {"astuple", "asdict", "deepcopy", "dump", "dumps"}
)
ANY_NAME = _CHANGING | _READING
"""Names by which a function may find attributes of names that it makes when it runs."""


def rebound(function: types.FunctionType) -> Iterator[tuple[Any, str]]:
    """The places, and the names, of the variables from outside that a function assigns."""
    own = function.__globals__
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    for code in codes_in(function.__code__):
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                yield AccessPath(own).item(name).place, name
            elif instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and name in cells:
                yield AccessPath(cells[name]).attribute(CELL).place, name


def stored_attributes(function: types.FunctionType) -> Iterator[str]:
    """The names of the attributes that a function stores, of objects that are not looked for; what
    it assigns in its module is an attribute of that to others."""
    for code in codes_in(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in _STORING_BY_NAME:
                yield instruction.argval


_STORING_BY_NAME = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")


def only_reads(function: types.FunctionType, name: str, held: Any) -> bool:
    """Whether a function does no more with a container of plain values than to read items."""
    items = held.values() if is_a(held, dict) else held
    if not is_a(held, (list, dict, set)):
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
    mentions = [
        node
        for node in gast.walk(tree)
        if (isinstance(node, gast.Name) and node.id == name)
        or (isinstance(node, gast.Attribute) and node.attr == name)
    ]
    return bool(mentions) and all(id(mention) in read for mention in mentions)
