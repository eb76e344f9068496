"""Whether code of which nothing is known may run where functions of Python are called.

Such a function runs as it was written: it may call C by a name, by an attribute of what it finds,
or look at the memory that an object in C shows. Comes in: functions, and objects. Their code is not
run: what they may find are the variables, items and attributes of the names in it.
"""

from __future__ import annotations

import collections
import dis
import functools
import gc
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradscribe.frontend.memory.outside_functions import ANY_NAME, held_by, names_in
from gradscribe.frontend.state.dependencies import is_library
from gradscribe.frontend.values.values import PLAIN_NUMBERS
from gradscribe.ir.probing import codes_in, in_class, is_a, module_of_class, probe
from gradscribe.primitives.contract_kinds import CODE
from gradscribe.primitives.contracts import contract_of, is_immutable


def runs_unread(roots: Iterable[Any], names: Iterable[str] = ()) -> bool:
    """Whether such code may run where these are called or used, by what they lead to. names: of
    attributes that are looked for, besides those in the code of these."""
    pending, named = list(roots), {*names}
    owners, seen = list[Owner](), dict[int, Any]()
    while pending:
        for held in pending:
            seen[id(held)] = held
            if is_unread(held):
                return True
        found = list[Any]()
        for held in pending:
            if is_a(held, types.FunctionType):
                named |= names_in(held.__code__)
                owners += ((module, False) for module in _imported(held.__code__))
                found += () if is_library(held) else (at.object for at in held_by(held))
            elif is_a(held, (types.ModuleType, type)) or not is_immutable(type(held)):
                owners += _owners(held)
            if is_a(held, _LOOKED_INTO):
                found += (part for part in _parts(held) if part is not type(held))
        found += (part for owner in owners for part in _attributes(*owner, named))
        pending = [part for part in found if id(part) not in seen]
    return not named.isdisjoint(_PROGRAMS)


Owner = tuple[Any, bool]
"""An object whose attributes may be found; whether it is the class of one that was made before."""

_PROGRAMS = frozenset({"eval", "exec", "__import__", "import_module"})
"""What runs code, or finds modules, by texts."""

_LOOKED_INTO = (
    *(dict, list, tuple, set, frozenset, collections.deque, types.MappingProxyType),
    *(types.MethodType, functools.partial, functools.cached_property, functools._lru_cache_wrapper),
    *(staticmethod, classmethod, property),
)
"""What is used with all that it holds."""


def _parts(held: Any) -> list[Any]:
    is_cache = is_a(held, functools._lru_cache_wrapper)
    parts = [held.__wrapped__] if is_cache else gc.get_referents(held)
    return [part for part in parts if type(part) not in _MANY]


_MANY = frozenset({*PLAIN_NUMBERS, str, bytes})
"""What there may be much of in a container, and holds nothing."""


def is_unread(held: Any) -> bool:
    """Whether an object is, or shows the memory of, code in C of which nothing is known. What is of
    NumPy and SciPy has no memory of the program's by itself."""
    cls = held if is_a(held, type) else type(held)
    if is_callback_of_c(cls):
        return True
    if is_immutable(cls) or is_a(held, (*_LOOKED_INTO, np.ndarray)):
        return False
    is_python = is_a(held, types.FunctionType) or _is_in_python(cls)
    is_users = is_python and not is_library(held if callable(held) else cls)
    if is_users or _is_numerical(_module_of(held)):
        return is_a(held, np.ufunc) and _calls_any(held)
    return _calls_any(held) if callable(held) else not is_python or _computes_attributes(cls)


def is_function_of_c(cls: type) -> bool:
    """Whether the objects of a class may be such code, which is called."""
    if is_callback_of_c(cls):
        return True
    is_known = is_immutable(cls) or _is_in_python(cls) or _is_numerical(cls.__module__)
    return not is_known and in_class(cls, "__call__") is not None


def is_callback_of_c(cls: type) -> bool:
    """Whether this is SciPy's class of functions in C with data of theirs."""
    return cls.__name__ == "LowLevelCallable" and module_of_class(cls).startswith("scipy.")


def _calls_any(function: Any) -> bool:
    known = contract_of(function)
    return known.keeps and CODE in known.reads


def _module_of(held: Any) -> Any:
    if is_a(held, (type, types.FunctionType)):
        return held.__module__
    owner = probe(held, "__self__")
    return probe(held, "__module__") or module_of_class(type(held if owner is None else owner))


def _is_numerical(module: Any) -> bool:
    return str(module).partition(".")[0] in ("numpy", "scipy")


def _computes_attributes(cls: type) -> bool:
    return in_class(cls, "__getattr__") is not None


def _is_in_python(cls: type) -> bool:
    """Whether a class, and all that it is derived from, are written in Python, or hold nothing but
    objects."""
    return all(
        base is object
        or is_immutable(base)
        or issubclass(base, (*_LOOKED_INTO, BaseException))
        or base.__module__ == "__main__"
        or str(probe(sys.modules.get(base.__module__), "__file__")).endswith(".py")
        for base in cls.__mro__
    )


def _imported(code: types.CodeType) -> Iterator[types.ModuleType]:
    """The modules that a function imports when it is called."""
    for part in codes_in(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname == "IMPORT_NAME" and instruction.argval in sys.modules:
                yield sys.modules[instruction.argval]


def _owners(held: Any) -> Iterator[Owner]:
    """What is looked into where an object is asked for an attribute: itself, its classes."""
    is_class = is_a(held, type)
    if not is_class:
        yield held, False
    for base in held.__mro__ if is_class else type(held).__mro__:
        if not is_library(base):
            yield base, not is_class


def _attributes(owner: Any, is_made: bool, names: set[str]) -> Iterator[Any]:
    """The attributes of these names. Python calls the special methods of a class by itself; those
    in Python of a library's class look for any name."""
    own: Any = probe(owner, "__dict__") or {}
    if is_a(owner, type):
        special = {name for name in own if name.startswith("__")}
        names = names | special - (_MAKING if is_made else _OF_ANY)
    elif not is_a(owner, types.ModuleType):
        cls = type(owner)
        slots = (n for n in names if is_a(in_class(cls, n), types.MemberDescriptorType))
        yield from (probe(owner, name) for name in slots)
        methods = (in_class(cls, name) for name in (*names, "__call__"))
        is_any = is_library(cls) and any(is_a(one, types.FunctionType) for one in methods)
        names = {*own} if is_any or not names.isdisjoint(ANY_NAME) else names
    yield from (own[name] for name in names & own.keys())


_OF_ANY = frozenset({"__dict__", "__weakref__"})
_MAKING = _OF_ANY | {"__new__", "__init__", "__init_subclass__", "__post_init__"}
