"""Code of the user's that runs where a program only shows something: logs, warns, prints.

Comes in: what shows (a logger, `warnings.warn`, `print`, `np.errstate`), or what is shown. Goes
out: the objects whose code runs then, and is neither of the standard library nor of an installed
package. Mostly there are none.
"""

from __future__ import annotations

import dis
import io
import logging
import math
import sys
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.probing import codes_in, in_class, is_installed, is_library_module, probe


def users_code(shows: Any) -> tuple[Any, ...]:
    """The objects whose code runs where this shows something: a function, a logger, an adapter."""
    if isinstance(shows, _FUNCTIONS):
        return _PARTS[shows]() if shows in _PARTS else _of_log(logging.getLogger())
    return _of_log(shows)


def shows(callee: Any) -> bool:
    """Whether a function or method tells others what it is given."""
    if probe(callee, "__module__") == "logging":
        return probe(callee, "__name__") in _LOGGING
    return isinstance(callee, _FUNCTIONS) and callee in _PARTS


_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType)

_LOGGING = frozenset(
    {"critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning"}
    | {"handle", "addHandler", "addFilter"}
)


def is_users(function: Any) -> bool:
    """Whether this is a function of Python that the user has written."""
    function = probe(function, "__func__", function)
    if not isinstance(function, types.FunctionType) or is_library_module(function.__module__):
        return False
    return not is_installed(function.__code__.co_filename)


def is_computed_in_c(kind: Any) -> bool:
    """Whether this is an attribute, or an operator, that a class in C computes, of no library, and
    not installed: to read it may change something. So it is with a property of compiled code."""
    if isinstance(kind, property):
        getter: Any = kind.fget
        is_built_in = isinstance(getter, types.BuiltinFunctionType)
        return is_built_in and not isinstance(getter.__self__, types.ModuleType)
    if not isinstance(kind, _COMPUTED) or kind.__name__ in _OF_ALL_CLASSES:
        return False
    module = kind.__objclass__.__module__
    path = str(probe(sys.modules.get(module), "__file__"))
    return not is_library_module(module) and not is_installed(path)


_COMPUTED = (types.GetSetDescriptorType, types.WrapperDescriptorType)
_OF_ALL_CLASSES = frozenset({"__dict__", "__weakref__"})


def has_users_code(part: Any) -> bool:
    """Whether the class of an object, or the object itself, has methods of the user's."""
    if isinstance(part, types.FunctionType | types.MethodType):
        return is_users(part)
    methods = (item for base in type(part).__mro__ for item in vars(base).values())
    own = (probe(part, "__dict__") or {}).values()
    return any(map(is_users, methods)) or any(map(is_users, own))


def changing_text(cls: type, around: Collection[type] = ()) -> list[Any]:
    """What makes a text of the objects of a class, in Python, and may change something. around: the
    classes of what these objects hold, whose methods are called by their names."""
    found = _in_python(cls, ("__str__", "__repr__", "__format__"))
    return [function for function in found if may_change(function, around=around)]


def changing_making(cls: type) -> list[Any]:
    """What makes the objects of a class, in Python, and may change more than the object."""
    found = [*_in_python(cls, _MAKING), *_in_python(type(cls), ("__call__",))]
    return [function for function in found if may_change(function, is_making=True)]


def changing_methods(cls: type, around: Collection[type] = ()) -> list[Any]:
    """What the objects of a class do when they are used, in Python, that may change something.
    around: see `changing_text`."""
    names = dict.fromkeys(name for base in cls.__mro__ for name in vars(base))
    found = _in_python(cls, (name for name in names if name not in _MAKING))
    return [function for function in found if may_change(function, around=around)]


def _in_python(cls: type, names: Iterable[str]) -> list[Any]:
    """The methods of these names that the user has written."""
    found = (in_class(cls, name) for name in names)
    return [probe(method, "__func__", method) for method in found if is_users(method)]


_MAKING = ("__new__", "__init__")


def may_change(function: Any, *, is_making: bool = False, around: Collection[type] = ()) -> bool:
    """Whether a function of the user's may change something: it stores to more than its variables,
    or calls what may. is_making: it may store to its first argument. around: the classes whose
    methods it may call by their names."""
    for found, own in _called(function, is_making, around):
        if _stores(found.__code__, found.__code__.co_varnames[:1] if own else ()):
            return True
        named = (held for _, held in _named(found))
        if any(isinstance(n, types.BuiltinMethodType) and not _is_of_module(n) for n in named):
            return True
    return False


def making_a_class(bases: Iterable[type], options: Mapping[str, Any], items: Any) -> Any:
    """The name of a method of the user's that runs where a class is made, and reads or changes what
    is outside of the class; None if there is none. items: what the class is to hold."""
    kinds = [*map(type, bases), options.get("metaclass", type)]
    found = [("__init_subclass__", method) for method in _of_all(bases, ("__init_subclass__",))]
    found += [("__set_name__", method) for method in _of_all(map(type, items), ("__set_name__",))]
    found += [(m.__name__, m) for m in _of_all(kinds, _OF_METACLASSES)]
    return next((name for name, method in found if not _is_self_contained(method)), None)


def _of_all(classes: Iterable[Any], names: Iterable[str]) -> Iterator[Any]:
    for cls in filter(lambda item: isinstance(item, type), classes):
        yield from _in_python(cls, names)


_OF_METACLASSES = ("__prepare__", "__new__", "__init__")


def _is_self_contained(function: Any) -> bool:
    """Whether a method gives the same for the same arguments, and changes its first at most."""
    parts = [found for found, _ in _called(function, True)]
    held = (item for part in parts for name, item in _named(part) if name != "__class__")
    defaults = [[*(p.__defaults__ or ()), *(p.__kwdefaults__ or {}).values()] for p in parts]
    plain = all(isinstance(one, _PLAIN) for given in defaults for one in given)
    return plain and not may_change(function, is_making=True) and all(map(_is_fixed, held))


_PLAIN = (str, bytes, int, float, complex, types.NoneType)


def _is_fixed(item: Any) -> bool:
    """Whether a variable holds code, of which it is known that it holds nothing that changes."""
    if isinstance(item, types.FunctionType):
        return True
    name = probe(item, "__name__" if isinstance(item, types.ModuleType) else "__module__")
    return isinstance(item, types.ModuleType | type) and is_library_module(name)


def _called(
    function: Any, is_making: bool, around: Collection[type] = ()
) -> Iterator[tuple[Any, bool]]:
    """A function, and those of the user's that it names; with whether each is to store to its first
    argument. around: see `may_change`."""
    pending, seen = [(function, is_making)], set[Any]()
    while pending:
        found, own = pending.pop()
        if found in seen:
            continue
        seen.add(found)
        yield found, own
        for _, called in _named(found):
            if isinstance(called, type):
                pending += [(f, True) for f in _in_python(called, _MAKING)]
            elif is_users(called):
                pending.append((probe(called, "__func__", called), False))
        names = {name for code in codes_in(found.__code__) for name in code.co_names}
        pending += [(f, False) for cls in around for f in _in_python(cls, names)]


def _is_of_module(function: Any) -> bool:
    return isinstance(function.__self__, types.ModuleType | type)


def _named(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The global variables that a function names, and those that it has captured."""
    for code in codes_in(function.__code__):
        for name in code.co_names:
            if name in function.__globals__:
                yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, probe(cell, "cell_contents")


def _stores(code: types.CodeType, own: Sequence[str]) -> bool:
    """Whether code stores to anything but its variables, and objects of these names, or calls
    methods of which that is not known."""
    before: Any = None
    for instruction in dis.get_instructions(code):
        kind, name = instruction.opname, instruction.argval
        if kind == "STORE_ATTR":
            owner = before.argval[-1] if isinstance(before.argval, tuple) else before.argval
            if owner not in own:
                return True
        is_unknown = _is_method(instruction) and name not in _READING
        is_around = kind in ("STORE_DEREF", "DELETE_DEREF") and name in code.co_freevars
        if is_unknown or is_around or name in _CHANGING or kind.startswith(_STORING):
            return True
        before = instruction
    nested = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(_stores(c, own) for c in nested)


def _is_method(instruction: dis.Instruction) -> bool:
    """Whether this looks up a method that is called."""
    is_called = "NULL|self" in instruction.argrepr and instruction.opname == "LOAD_ATTR"
    return is_called or instruction.opname == "LOAD_METHOD"


_STORING = ("STORE_GLOBAL", "STORE_SUBSCR", "STORE_SLICE", "DELETE_ATTR", "DELETE_SUBSCR")
_CHANGING = frozenset({"next", "setattr", "delattr", "exec", "eval", "globals", "vars"})
_READING = frozenset(
    {name for cls in (str, bytes, int, float, complex, tuple, frozenset) for name in dir(cls)}
    | {name for module in (math, np) for name in dir(module)}
    | {"copy", "get", "group", "groups", "isoformat", "item", "items", "keys", "tolist", "values"}
) - {
    *("add", "append", "byteswap", "clear", "copyto", "delete", "discard", "extend", "fill"),
    *("fill_diagonal", "insert", "partition", "place", "pop", "popitem", "put", "putmask"),
    *("put_along_axis", "remove", "resize", "reverse", "setdefault", "setfield", "setflags"),
    *("seterr", "seterrcall", "set_printoptions", "sort", "update", "__setattr__"),
}
"""Methods, and functions of modules, that change nothing."""


def _of_log(logger: Any) -> tuple[Any, ...]:
    parts: list[Any] = [logging.getLogRecordFactory()]
    while isinstance(logger, logging.LoggerAdapter):
        parts.append(logger)
        logger = logger.logger
    if isinstance(logger, logging.Logger):
        parts += _parts(logger)
    return tuple(filter(has_users_code, parts))


def _parts(logger: logging.Logger | None) -> Iterator[Any]:
    """What a record of this logger goes through."""
    if logger is not None:
        yield from (logger, *logger.filters)
    while logger is not None:
        for handler in logger.handlers:
            yield from (handler, *handler.filters, handler.formatter, probe(handler, "stream"))
        logger = logger.parent if logger.propagate else None


def _of_warnings() -> tuple[Any, ...]:
    return (*_of_shown_warnings(), *_of_stream("stderr"))


def _of_shown_warnings() -> tuple[Any, ...]:
    shown: Any = warnings.showwarning
    if shown is _SHOWING[0] and warnings.formatwarning is _SHOWING[1]:
        return ()
    if probe(shown, "__module__") == "logging":  # by `captureWarnings`
        return _of_log(logging.getLogger("py.warnings"))
    return tuple(part for part in (shown, warnings.formatwarning) if has_users_code(part))


_SHOWING = [probe(warnings, f"_{name}_orig") for name in ("showwarning", "formatwarning")]
"""The functions that show warnings where nobody has put others in their place."""


def _of_stream(name: str) -> tuple[Any, ...]:
    stream = getattr(sys, name)
    is_known = type(stream) is io.TextIOWrapper
    return () if is_known or not has_users_code(stream) else (stream,)


def of_operations() -> tuple[Any, ...]:
    """The objects whose code may run in any operation of NumPy."""
    called: Any = np.geterrcall()
    is_called = called is not None and not _CALLS.isdisjoint(np.geterr().values())
    return (*((called,) if is_called else ()), *_of_shown_warnings())


_CALLS = frozenset({"call", "log"})

_PARTS: dict[Any, Callable[[], tuple[Any, ...]]] = {
    print: lambda: _of_stream("stdout"),
    warnings.warn: _of_warnings,
    warnings.warn_explicit: _of_warnings,
    np.geterrcall: of_operations,
}
