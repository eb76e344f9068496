"""Code that a recorded run does not follow: what it is given in place of arrays that record.

It gets arrays of one memory with those of the program, where that may be of use to it, and none in
which something is differentiated.
"""

from __future__ import annotations

import operator
import pickle
import types
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError, NoDerivativeError
from gradscribe.ir.probing import module_of_class, probe
from gradscribe.recording import builtin_types, exits, foreign, operations, texts, unread
from gradscribe.recording.arrays import RecordedArray, holds_active, is_active
from gradscribe.recording.levels import refused

Callee = Any


def of_memory_alone(function: Callee) -> Callee:
    """A function in C that goes through the memory of arrays: what is differentiated it never gets
    (older NumPy crashes where such an array refuses to be read)."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if holds_active((args, kwargs)):
            raise refused(operations.without_rule(function))
        return with_shared(function)(*args, **kwargs)

    return call


ITERATING = (np.nditer, np.nested_iters)
TAKING_BUFFERS = (np.frombuffer, np.from_dlpack, np.ndarray, pickle.PickleBuffer)


def is_of_c(function: Callee) -> bool:
    """Whether it is a function in C, other than built-in ones (which may look at their caller)."""
    if type(function) in (types.MethodDescriptorType, types.WrapperDescriptorType):
        return True
    module = probe(function, "__module__")
    return type(function) is BuiltinFunctionType and module not in (None, "builtins")


def refusing(function: Callee) -> Callee:
    """A function in C: what it raises of values that record, the program may not handle."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return texts.call(function, args, kwargs)
        except (AttributeError, TypeError, ValueError) as error:
            if isinstance(error, GradscribeError) or not exits.is_of_recorded(error):
                raise
            raise refused(exits.of_recorded(error)) from None

    return call


_INNOCENT = frozenset(
    {"builtins", "numpy", "gradscribe", "itertools", "functools", "_functools", "operator"}
    | {"_operator", "collections", "_collections", "copy", "typing", "dataclasses", "heapq"}
    | {"_heapq", "bisect", "_bisect", "abc", "_abc", "weakref", "_weakref", "enum", "types"}
)
"""Modules of functions that hand on what they are given, and have no use for its memory."""


def is_innocent(function: Callee) -> bool:
    """Whether a callee that is not followed has no use for the memory of arrays."""
    if module_of_class(type(function)) == "builtins" and type(function) not in _KINDS:
        return False  # of code that has not said which module it is in, as Fortran's
    owner = probe(function, "__self__")
    if any(kind in (memoryview, bytes, bytearray) for kind in _kinds_of(function, owner)):
        return False
    if isinstance(function, type):
        return all(map(_is_of_innocent, _constructors(function)))
    return _is_of_innocent(function)


def _is_of_innocent(function: Callee) -> bool:
    module = builtin_types.module_of(function)
    return module.partition(".")[0] in _INNOCENT and not module.startswith("numpy.random")


def _constructors(cls: type) -> Iterator[type]:
    """The classes in C whose methods make and fill an object."""
    for name in ("__new__", "__init__"):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if type(vars(owner)[name]) in (BuiltinFunctionType, types.WrapperDescriptorType):
            yield owner


_KINDS = frozenset(
    {type, FunctionType, MethodType, BuiltinFunctionType, types.MethodDescriptorType}
    | {types.ClassMethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType}
)
"""The classes of Python's own callables."""


def _kinds_of(function: Callee, owner: Any) -> tuple[Any, ...]:
    """The class of whose memory a callee may make use: itself, or that which it is a method of."""
    return function if isinstance(function, type) else probe(function, "__objclass__"), type(owner)


def with_shared(function: Callee) -> Callee:
    """Code that is not followed, with arrays for those that record no derivative: what it does to
    their memory is seen. What it returns of these is what it was given."""

    def call(*args: Any, **kwargs: Any) -> Any:
        foreign.note_given((args, kwargs))
        shared = _Shared()
        given = (
            [shared.array(value) for value in args],
            {name: shared.array(value) for name, value in kwargs.items()},
        )
        try:
            return shared.own(unread.call(function, *given))
        except Exception as error:
            if isinstance(error, GradscribeError) or not holds_active(given):
                raise
            name = probe(function, "__name__", type(function).__name__)
            said = exits.told_as_numpy(error)
            raise refused(
                NoDerivativeError(
                    f"`{name}` is given what is differentiated, and does not record ({said})",
                    "use functions of NumPy on it, or make the call a `gs.primitive`",
                )
            ) from None
        finally:
            shared.put_back()

    return call


class _Shared:
    """What code that is not followed is given: an array for each that records no derivative, the
    same wherever that stands, also in place of an item of a list as long as the code runs."""

    def __init__(self) -> None:
        self._arrays: dict[int, Any] = {}
        self._own: dict[int, Any] = {}
        self._lists: list[list[Any]] = []

    def array(self, value: Any) -> Any:
        """What is given in the place of a value."""
        if type(value) is list:
            items = [self.array(item) for item in value]
            if any(map(operator.is_not, items, value)):
                value[:] = items
                self._lists.append(value)
            return value
        if type(value) is tuple:
            return _as(value, [self.array(item) for item in value])
        if type(value) is not RecordedArray or is_active(value):
            return value
        if id(value) not in self._arrays:
            if value._memory.overlaps:
                value._memory.check_overlap()
            array = self._arrays[id(value)] = np.asarray(value)
            self._own[id(array)] = value
        return self._arrays[id(value)]

    def own(self, found: Any) -> Any:
        """A result, in which what was given is the program's own again."""
        if type(found) is tuple:
            return _as(found, [self._own.get(id(item), item) for item in found])
        return self._own.get(id(found), found)

    def put_back(self) -> None:
        """Let the lists that were given hold the program's own arrays again."""
        for items in self._lists:
            items[:] = [self._own.get(id(item), item) for item in items]


def _as(found: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    """The tuple of these items: the very one where they are its own."""
    return tuple(items) if any(map(operator.is_not, items, found)) else found
