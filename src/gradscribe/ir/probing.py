"""What any object has under a name of Python's own (`__self__`, `__module__`, `__dict__`, …).

The compiler asks this of objects of the user's, whose classes may say anything: a `__getattr__`
that raises a KeyError, or has an answer for every name. Such a method is not asked.
"""

from __future__ import annotations

import collections
import enum
import inspect
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

_BUILT_IN = (types.GetSetDescriptorType, types.MemberDescriptorType)


def probe(value: Any, name: str, otherwise: Any = None) -> Any:
    """The attribute of an object, without running a `__getattr__` of its class, or that of a
    module; `otherwise` where there is none, or it cannot be read."""
    try:
        for cls in type(value).__mro__:
            if "__getattr__" in cls.__dict__:
                break
        else:
            if not (is_a(value, types.ModuleType) and "__getattr__" in value.__dict__):
                return getattr(value, name, otherwise)
        found = inspect.getattr_static(value, name, otherwise)
        return found.__get__(value, type(value)) if isinstance(found, _BUILT_IN) else found
    except Exception:  # from a property, or from a `__getattribute__`
        return otherwise


def is_a(value: Any, classes: type | tuple[Any, ...] | types.UnionType) -> bool:
    """Whether an object is of one of these classes, whatever its `__class__` says. (A weak proxy
    of what is no longer there raises where it is asked.)"""
    return issubclass(type(value), classes)


def has(value: Any, name: str) -> bool:
    """Whether an object has an attribute, beside those that its `__getattr__` may give."""
    return probe(value, name, _NOTHING) is not _NOTHING


_NOTHING = object()


def in_class(cls: type, name: str, otherwise: Any = None) -> Any:
    """What the objects of a class have of it under a name. (Of its metaclass they have nothing.)"""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), otherwise)


def gives(cls: type, name: str) -> bool:
    """Whether the objects of a class have something of it under a name."""
    return in_class(cls, name, _NOTHING) is not _NOTHING


def is_dataclass(cls: Any) -> bool:
    """Whether a class is a dataclass, without asking a `__getattr__` of its metaclass."""
    return probe(cls, "__dataclass_fields__") is not None


def redefined(cls: type) -> str | None:
    """A method of a built-in container or number that a class derived from it defines anew, such
    that code that takes its objects for lists, tuples, dicts, sets or numbers gives them another
    meaning; of a namedtuple, a field, too. (Operators of tuples are asked of their class.)"""
    built_in = next((k for k in (*_CONTAINERS, *_NUMBERS) if issubclass(cls, k)), None)
    if built_in is None or cls is built_in:
        return None
    means = _OF_TUPLES if built_in is tuple else vars(built_in).keys() - _OF_ALL_OBJECTS
    means = means | _ASKED if built_in in _CONTAINERS else means
    fields = in_class(cls, "_fields", ()) if built_in is tuple else ()
    means = means | _OF_NAMEDTUPLES | {*fields} if fields else means
    for base in cls.__mro__:
        own = vars(base)
        if base in _CONTAINERS_OF_LIBRARY:
            continue
        if "_fields" in own and "__new__" in own:  # what makes it a namedtuple
            means = means - _OF_NAMEDTUPLES - {*own["_fields"]}
        is_known = str(base.__module__).partition(".")[0] in _KNOWN
        if not is_known or (built_in in _CHANGED and base not in built_in.__mro__):
            found = (name for name in own if name in means)
            new = next((n for n in found if own[n] is not vars(built_in).get(n)), None)
            if new is not None:
                return new
    return None


def derived_number(value: Any) -> str | None:
    """The built-in class of numbers that the class of an object is derived from, if it is one of
    the user's own: it may have attributes and operators of its own, and is told from a number by
    `isinstance`. (Members of enumerations are known, but for operators of their own.)"""
    cls = type(value)
    if not issubclass(cls, _NUMBERS) or (issubclass(cls, enum.Enum) and redefined(cls) is None):
        return None
    if cls in _NUMBERS or cls is bool or is_library_module(module_of_class(cls)):
        return None
    return next(kind.__name__ for kind in _NUMBERS if issubclass(cls, kind))


def module_of_class(cls: type) -> str:
    """The name of the module that a class is of; "" of one that tells none, as those of arrays that
    ctypes makes."""
    module = probe(cls, "__module__")
    return module if isinstance(module, str) else ""


def plain_number(value: Any) -> Any:
    """A number of a class that is derived from Python's or NumPy's numbers, members of enumerations
    included, as the number that it is; anything else as it is."""
    cls: Any = type(value)
    if cls in _PLAIN or not issubclass(cls, _NUMBERS_OF_ANY):
        return value
    if issubclass(cls, np.generic):
        return value if module_of_class(cls) == "numpy" else value.dtype.type(value)
    return next(kind for kind in _NUMBERS if issubclass(cls, kind)).__pos__(value)


_NUMBERS = (int, float, complex)
_NUMBERS_OF_ANY = (*_NUMBERS, np.number)
_PLAIN = frozenset({*_NUMBERS, bool})
_KNOWN = (sys.stdlib_module_names - {"__main__"}) | {"numpy", "gradscribe"}
"""Packages whose containers the compiler knows."""

_CONTAINERS_OF_LIBRARY = frozenset(
    {collections.Counter, collections.OrderedDict, collections.defaultdict}
)
"""Those of Python's whose methods, in C or in Python, are known to differ from those of dicts."""

_CHANGED = (list, dict, set, collections.deque)
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
_ASKED = frozenset(
    {"__array__", "__array_function__", "__array_interface__", "__array_struct__"}
    | {"__array_ufunc__", "__bool__", "__getattribute__", "__missing__", "__reversed__"}
)
"""What is asked of a container if its class has it, which the built-in ones have not."""

_OF_TUPLES = frozenset({"__contains__", "__getitem__", "__iter__", "__len__", "count", "index"})
_OF_NAMEDTUPLES = frozenset({"_asdict", "_fields", "_make", "_replace"})
_COMPARED = frozenset({"__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"})
_OF_ALL_OBJECTS = vars(object).keys() - _COMPARED - {"__getattribute__"}

COMPILERS = frozenset({"llvmlite", "numba"})
"""Packages that read the code of their own functions, and compile that of the user's."""


def is_library_module(name: Any) -> bool:
    """Whether a module of this name is part of Python, or of an installed numerical library."""
    top = name.partition(".")[0] if isinstance(name, str) else ""
    return top in _LIBRARIES or (top in sys.stdlib_module_names and top != "__main__")


_LIBRARIES = frozenset({"numpy", "scipy", "cupy", "gradscribe"})


def is_installed(filename: str) -> bool:
    """Whether a file belongs to an installed package."""
    return not _INSTALLED.isdisjoint(filename.split(os.sep))


_INSTALLED = frozenset({"site-packages", "dist-packages"})


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)
