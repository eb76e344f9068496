"""What is known of calls into code that cannot be read: the one table.

Such a call (C, Cython, Fortran, ctypes, a function of a library that is not looked into) is taken
to read and to write all arrays that it is given, to keep them, and to return views of them. What
stands here is known to do less, by the documentation of the function; `tests/border` runs entries
and looks at the memory. A user's own code is entered by `gs.primitive(f, pure=True)` or
`gs.primitive(f, writes=…)`.

Comes in: a callee, and the keywords that it is called with. Goes out: a `Contract`.
"""

from __future__ import annotations

import builtins
import copy
import datetime
import decimal
import enum
import fractions
import functools
import inspect
import io
import json
import logging
import math
import operator
import os
import pathlib
import pickle
import random
import re
import struct
import sys
import time
import types
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradscribe.ir.probing import probe

CODE, FILES, RAISED = "code", "files", "raised"
DOMAINS = (CODE, FILES, RAISED)
"""What is not seen in a program's values: what unread code remembers from one call to the next;
files and streams, the console among them; the exception that is being handled."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a call may do to what it is given.

    writes: the arguments whose arrays it may write to, by name or position (None: all). keeps:
    whether it may keep what it is given, and write to that when it, or another function, is called
    later. connects: whether objects that it is given may come to hold what else it is given, and
    its result may lead to them. reads, changes: the hidden states that its result may depend on,
    and that may come to depend on what it is given.
    """

    writes: frozenset[str | int] | None = frozenset()
    keeps: bool = False
    connects: bool = False
    reads: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()

    @property
    def only_reads(self) -> bool:
        """Whether it writes to no array that it is given."""
        return self.writes == frozenset()

    @property
    def is_pure(self) -> bool:
        """Whether it leaves no trace in, or of, what it is given."""
        return self.only_reads and not self.keeps

    def named(self) -> frozenset[str]:
        """The names of the arguments that it writes to."""
        return frozenset(name for name in self.writes or () if isinstance(name, str))

    def written(
        self, callee: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """Those of the arguments of a call that it may write to."""
        if self.writes is None:
            return [*arguments, *keywords.values()]
        names: list[str | int] = [*parameters(callee), *range(len(arguments))]
        by_position = [
            item
            for position, item in enumerate(arguments)
            if position in self.writes or names[position] in self.writes
        ]
        return by_position + [item for name, item in keywords.items() if name in self.writes]


def parameters(callee: Any) -> list[str]:
    """The names of the parameters of a callable; none where they cannot be read."""
    try:
        return list(inspect.signature(callee).parameters)
    except (TypeError, ValueError):  # compiled code may have none
        return []


_HIDDEN = frozenset({CODE})
UNKNOWN = Contract(None, True, True, _HIDDEN, _HIDDEN | {RAISED})
PURE = Contract()
LEADS = Contract(connects=True)
HOLDS = Contract(keeps=True, connects=True)
TRANSIENT = Contract(writes=None, reads=_HIDDEN, changes=_HIDDEN | {RAISED})
STREAM = Contract(connects=True, reads=frozenset({FILES}), changes=frozenset({FILES}))

CALLED_BACK = Contract(frozenset({"what functions lead to"}), False, True, _HIDDEN, UNKNOWN.changes)
"""Of functions that only compute, where they are given functions of the program: these may do
anything to what they lead to."""


def called_back(callee: Any, contract: Contract) -> Contract:
    """What a call may do that is given functions, methods or iterators of the program, besides what
    is known of it. An object that is made of them keeps them."""
    if _is_any(callee, _MAKING):
        return contract
    keeps = contract.keeps or (isinstance(callee, type) and not _is_any(callee, _LEADING))
    return replace(UNKNOWN if contract.writes is None else CALLED_BACK, keeps=keeps)


_MAKING = (getattr, functools.partial, iter, map, filter, zip, enumerate, reversed)
"""What makes objects of functions, and calls none."""


_WRITING: dict[Any, Contract] = {struct.pack_into: Contract(frozenset({1, "buffer"}))}
"""Functions of which it is known what they write to."""

_MODULES: tuple[types.ModuleType, ...] = (
    *(datetime, decimal, fractions, math, os.path, re, time, np.testing),
)
"""Modules of which no function writes to an array that it is given."""

_STREAMS: tuple[types.ModuleType, ...] = (copy, json, logging, os, pickle, sys, warnings)
"""Modules of which no function writes to an array that it is given, but to files, or to what an
object holds."""

_WRITERS = frozenset(
    {"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle"}
    | {
        "nditer",
        "nested_iters",
        "frompyfunc",
        "apply_along_axis",
        "apply_over_axes",
        "readinto",
        "readinto1",
    }
    | {"piecewise", "vectorize", "fromfunction", "ndarray", "frombuffer", "memmap", "as_strided"}
)
"""Functions of NumPy that write to what they are given, call functions, or return views."""

_FUNCTIONS: tuple[Any, ...] = (
    *(builtins.isinstance, builtins.issubclass, builtins.len, builtins.str),
    *(repr, ascii, format, int, float, bool, complex, bytes, chr, ord, hex, oct, bin, abs, round),
    *(divmod, pow, hash, id, type, range, slice, callable, hasattr),
    *(sum, all, any, object),
    *(np.array2string, np.array_repr, np.array_str, np.may_share_memory, np.shares_memory),
)
_LEADING: tuple[Any, ...] = (
    *(tuple, frozenset, list, set, dict, zip, enumerate, reversed, getattr, iter, next),
    *(min, max, sorted, map, filter, functools.partial),
)
_SHOWING: tuple[Any, ...] = (
    *(print, open, input),
    *(np.save, np.savez, np.savez_compressed, np.savetxt, np.load, np.loadtxt),
)

_CLASSES: tuple[type, ...] = (
    *(str, bytes, int, float, complex, bool, tuple, frozenset, range, slice, type(None)),
    *(re.Pattern, re.Match, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal),
    *(fractions.Fraction, pathlib.PurePath),
    *(
        np.generic,
        np.dtype,
        np.random.Generator,
        np.random.RandomState,
        random.Random,
        BaseException,
    ),
    *(warnings.catch_warnings, enum.Enum),
)
"""Classes of which no method writes to an array that it is given."""

_STREAM_CLASSES: tuple[type, ...] = (
    *(io.IOBase, logging.Logger, logging.Handler, logging.LoggerAdapter, pathlib.Path),
)
"""Classes whose methods do the like to files."""

_CONTAINERS: tuple[type, ...] = (list, dict, set)
"""Classes whose methods keep what they are given, and do not write to it."""

_IN_PLACE = frozenset(
    getattr(operator, name)
    for name in dir(operator)
    if callable(getattr(operator, name)) and name.startswith("i") and name[1:] in dir(operator)
) | {operator.setitem, operator.delitem}

_TRANSIENT: frozenset[tuple[str, str]] = frozenset(
    {("builtins", "fortran"), ("_fortran", "fortran"), ("numba.core.registry", "CPUDispatcher")}
)
"""Classes of functions whose arguments live as long as the call: those of f2py, of Numba."""


def is_immutable(cls: type | None) -> bool:
    """Whether objects of a class (None: of any) are not changed by any call."""
    return cls is not None and issubclass(cls, _IMMUTABLE)


_IMMUTABLE = (
    *(str, bytes, int, float, complex, frozenset, range, slice, type(None), re.Pattern, re.Match),
    *(datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction),
    *(pathlib.PurePath, np.generic, np.dtype, enum.Enum, types.ModuleType, type),
)


def contract_of(callee: Any, count: int = 0, keywords: Collection[str] = ()) -> Contract:
    """What a call of this function, method or class may do. count: of its positional arguments;
    keywords: of the call."""
    declared: Contract | None = probe(callee, "__gradscribe_contract__")
    if declared is not None:
        return declared
    if isinstance(callee, operator.methodcaller | operator.attrgetter | operator.itemgetter):
        return LEADS
    owner = probe(callee, "__self__")
    if isinstance(callee, types.BuiltinMethodType | types.MethodType | types.MethodWrapperType):
        if not isinstance(owner, types.ModuleType):
            cls = owner if isinstance(owner, type) else type(owner)
            return contract_of_method(cls, callee.__name__)
    elif isinstance(callee, types.MethodDescriptorType | types.WrapperDescriptorType):
        return contract_of_method(callee.__objclass__, callee.__name__)
    if _is_any(callee, _FUNCTIONS) or isinstance(callee, enum.EnumMeta):
        return PURE
    if _is_any(callee, _LEADING):
        return LEADS
    if _is_any(callee, _SHOWING):
        return STREAM
    if isinstance(callee, type) and issubclass(callee, (*_CLASSES, *_STREAM_CLASSES)):
        return PURE
    if isinstance(callee, type) and issubclass(callee, _CONTAINERS):
        return LEADS
    if isinstance(callee, np.ufunc):
        return UNKNOWN if "out" in keywords or count > callee.nin else PURE
    return _of_library(callee, keywords)


def contract_of_method(cls: type | None, name: str) -> Contract:
    """What a method of an object of this class may do (None: of an unknown class)."""
    if cls is None or name in _WRITERS:
        return UNKNOWN
    if issubclass(cls, _STREAM_CLASSES):
        return STREAM
    if issubclass(cls, _CLASSES):
        return PURE
    return HOLDS if issubclass(cls, _CONTAINERS) else UNKNOWN


def _of_library(callee: Any, keywords: Collection[str]) -> Contract:
    kind = type(callee)
    if (kind.__module__, kind.__qualname__) in _TRANSIENT:
        return TRANSIENT
    try:
        if callee in _IN_PLACE:
            return UNKNOWN
        if callee in _KNOWN:
            return PURE
        if callee in _KNOWN_STREAMS:
            return STREAM
        if callee in _WRITING:
            return _WRITING[callee]
    except TypeError:  # it has no hash
        return UNKNOWN
    module = str(probe(callee, "__module__") or "")
    name = str(probe(callee, "__name__") or "")
    if module.partition(".")[0] == "numpy" and name not in _WRITERS and "out" not in keywords:
        return PURE
    return UNKNOWN


def _is_any(item: Any, those: Iterable[Any]) -> bool:
    return any(item is one for one in those)


def _functions(modules: Iterable[types.ModuleType]) -> Iterable[Any]:
    for module in modules:
        for name in dir(module):
            item = probe(module, name)
            if isinstance(item, types.FunctionType | types.BuiltinFunctionType | type):
                yield item


def _methods(classes: Iterable[type]) -> Iterable[Any]:
    for cls in classes:
        yield from (item for item in vars(cls).values() if isinstance(item, types.FunctionType))


_KNOWN_STREAMS = frozenset((*_functions(_STREAMS), *_methods(_STREAM_CLASSES)))
_KNOWN = frozenset((*_functions(_MODULES), *_methods(_CLASSES))) | (
    frozenset(_functions((operator,))) - _IN_PLACE
)
