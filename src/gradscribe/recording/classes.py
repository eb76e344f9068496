"""Classes of users in a recorded run: what Python calls of them by itself (operators, properties,
iteration, `with`) is followed as functions are.

Comes in: each object that a followed function uses (`watching`). While functions run recorded, the
special methods and properties of its class hand on to what the run has in place of them. They do
what they did: elsewhere they call the methods themselves. The last run that ends puts those back.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gradscribe.ir.probing import COMPILERS, probe
from gradscribe.recording.arrays import RecordedArray, RecordedNumber, is_recorded

CalleeOf = Callable[[Any], Any]

OWN = COMPILERS | frozenset({"gradscribe", "tqdm", *sys.stdlib_module_names} - {"__main__"})
"""Packages whose functions are not followed."""

_PLAIN = frozenset(
    id(cls)
    for cls in {
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        list,
        tuple,
        dict,
        set,
        frozenset,
        slice,
        range,
    }
    | {type(None), FunctionType, ModuleType, type(print), type(iter([])), type(np.sum), np.ufunc}
    | {np.ndarray, np.float64, np.bool_, np.int64, RecordedArray, RecordedNumber}
)
"""Classes of which nothing is to be followed, met often. (Classes may have no hash.)"""

_HEAP = 1 << 9
_CONVERTED: dict[str, type] = {"__float__": float, "__complex__": complex, "__int__": int}
"""Methods of which code in C takes a plain number."""

_KEPT = frozenset({"__del__", "__class_getitem__", "__init_subclass__", "__getattribute__"})

_lock = threading.RLock()
_runs = 0
_changed: dict[int, tuple[type, dict[str, Any]]] = {}  # what the attributes of each class were
_followed: WeakKeyDictionary[Any, tuple[Any, CalleeOf]] = WeakKeyDictionary()


def open_run() -> None:
    """While a run is open, classes stay as they have become."""
    global _runs
    with _lock:
        _runs += 1


def close_run() -> None:
    """After the last one, they are as they were."""
    global _runs
    with _lock:
        _runs -= 1
        while not _runs and _changed:
            _, (cls, attributes) = _changed.popitem()
            for name, value in attributes.items():
                type.__setattr__(cls, name, value)


@functools.cache
def watching(callee_of: CalleeOf) -> Callable[[Any], Any]:
    """The identity, which has the class of what it is given followed."""

    def watch(value: Any) -> Any:
        kind = type(value)
        if id(kind) not in _PLAIN:
            if id(kind) not in _changed:
                _follow(kind, callee_of)
            if issubclass(kind, type) and id(value) not in _changed:
                _follow(value, callee_of)
        return value

    return watch


def _follow(cls: type, callee_of: CalleeOf) -> None:
    with _lock:
        if not _runs:
            return
        for each in (*inspect.getmro(type(cls)), *inspect.getmro(cls)):
            if id(each) not in _changed:
                _changed[id(each)] = each, {}
                if each.__flags__ & _HEAP and (_module(each) not in OWN or _is_compiled(each)):
                    _change(each, callee_of)


def _is_compiled(cls: type) -> bool:
    """Whether a compiler has made it of a class of the user's: its attributes are read and stored
    by compiled functions."""
    found = (value.fget for value in vars(cls).values() if type(value) is property)
    return _module(cls) in COMPILERS and any(type(get) is not FunctionType for get in found)


def _change(cls: type, callee_of: CalleeOf) -> None:
    for name, value in list(vars(cls).items()):
        if not callable(value):  # it may be a descriptor
            watching(callee_of)(value)
        changed = _handing_on(name, value, callee_of)
        if changed is not None:
            try:
                type.__setattr__(cls, name, changed)
            except TypeError:  # of a class that cannot be changed
                return
            except AttributeError:  # `__dict__` is always a class's own
                continue
            _changed[id(cls)][1][name] = value


def _module(cls: type) -> str:
    return str(probe(cls, "__module__")).partition(".")[0]


def _handing_on(name: str, value: Any, callee_of: CalleeOf) -> Any:
    """What an attribute of a class is in a run; None for one that stays."""
    if type(value) is property:
        get, put, delete = (_forward(f, callee_of) for f in (value.fget, value.fset, value.fdel))
        return property(get, put, delete, value.__doc__)
    if type(value) is functools.cached_property:
        made: Any = functools.cached_property(_forward(value.func, callee_of))
        made.attrname = value.attrname
        return made
    if not (name.startswith("__") and name.endswith("__")) or name in _KEPT:
        return None
    if type(value) is staticmethod:
        return staticmethod(_forward(value.__func__, callee_of))
    return _forward(value, callee_of, name) if type(value) is FunctionType else None


def _forward(function: Any, callee_of: CalleeOf, name: str = "") -> Any:
    """A function that calls what a run has in place of another one."""
    if function is None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        return callee_of(function)(*args, **kwargs)

    kind = _CONVERTED.get(name)

    def convert(self: Any) -> Any:
        found = call(self)
        return kind(found) if kind is not None and is_recorded(found) else found

    forward = functools.wraps(function)(call if kind is None else convert)
    _followed[forward] = function, callee_of
    return forward


def original(function: Any) -> Any:
    """The function that one hands on to; itself for any other."""
    found = _followed.get(function)
    return function if found is None else found[0]


def called(value: Any, name: str, **given: Any) -> Any:
    """What a special method of an object that is followed gives, as it is in the run; the object
    where it has none."""
    if id(type(value)) not in _PLAIN:
        for each in type(value).__mro__:
            if name in vars(each):
                method = vars(each)[name]
                found = _followed.get(method) if type(method) is FunctionType else None
                return value if found is None else found[1](found[0])(value, **given)
    return value


def as_number(value: Any, *, is_complex: bool) -> Any:
    """What NumPy takes for a number where it is given an object of a class that says so."""
    kind = type(value)
    if id(kind) in _PLAIN:
        return value
    is_float = issubclass(kind, float)
    if is_complex and (is_float or hasattr(kind, "__complex__")):
        return called(value, "__complex__")
    found = called(value, "__float__")
    return float(value) if found is value and is_float else found


def as_float(value: Any) -> Any:
    """The same of a function in C that takes a float, which has its number itself."""
    return value if issubclass(type(value), float) else called(value, "__float__")
