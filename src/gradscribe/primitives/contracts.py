"""What is known of calls into code that cannot be read.

Such a call (C, Cython, Fortran, ctypes, a function of a library that is not looked into) is taken
to read and to write all arrays that it is given, to keep them, and to return views of them. What
stands in `known_calls`, or in the documentation that f2py writes of a function, is known to do
less. A user's own code is entered by `gs.primitive(f, pure=True)` or `gs.primitive(f, writes=…)`.

Comes in: a callee, and what it is called with. Goes out: a `Contract`.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import functools
import operator
import pathlib
import re
import sys
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.ir.probing import module_of_class, probe
from gradscribe.primitives.contract_kinds import (
    CALLED_BACK,
    COMPUTES,
    LEADS,
    SELECTS,
    TRANSIENT,
    UNKNOWN,
    Contract,
    parameters,
)
from gradscribe.primitives.known_calls import FUNCTIONS, METHODS, UNTOLD, Row
from gradscribe.primitives.users_code import changing_making


def contract_of(
    callee: Any, count: int = 0, keywords: Collection[str] = (), given: Iterable[Any] = ()
) -> Contract:
    """What a call of this function, method or class may do. count: of its positional arguments;
    keywords: of the call; given: what is known of the arguments, of which it may call those that
    are functions."""
    known = _of_callee(callee, count, keywords)
    called = (item for item in given if callable(item) and not isinstance(item, type))
    return known if all(contract_of(function).computes for function in called) else UNKNOWN


def _of_callee(callee: Any, count: int, keywords: Collection[str]) -> Contract:
    declared: Contract | None = probe(callee, "__gradscribe_contract__")
    if declared is not None:
        return declared
    owner = probe(callee, "__self__")
    if isinstance(callee, types.BuiltinMethodType | types.MethodType | types.MethodWrapperType):
        if not isinstance(owner, types.ModuleType):
            cls = owner if isinstance(owner, type) else type(owner)
            return _of_call(_of_method(cls, callee.__name__), callee, count, keywords)
    elif isinstance(callee, types.MethodDescriptorType | types.WrapperDescriptorType):
        return contract_of_method(callee.__objclass__, callee.__name__)
    return _of_call(_of_function(callee), callee, count, keywords)


def contract_of_method(cls: type | None, name: str) -> Contract:
    """What a method of an object of this class may do (None: of an unknown class)."""
    return UNKNOWN if cls is None else _of_method(cls, name).contract


def called_back(callee: Any, contract: Contract) -> Contract:
    """What a call may do that is given functions, methods or iterators of the program, besides what
    is known of it. An object that is made of them keeps them."""
    if not is_calling(callee):
        return contract
    keeps = contract.keeps or (isinstance(callee, type) and not contract.connects)
    return replace(UNKNOWN if contract.writes is None else CALLED_BACK, keeps=keeps)


def is_calling(callee: Any) -> bool:
    """Whether a function may call those that it is given: some make objects of them."""
    return not any(callee is one for one in _MAKING)


_MAKING = (getattr, functools.partial, iter, map, filter, zip, enumerate, reversed)


def is_immutable(cls: type | None) -> bool:
    """Whether objects of a class (None: of any) are not changed by any call."""
    return cls is not None and issubclass(cls, _IMMUTABLE)


_IMMUTABLE = (
    *(str, bytes, int, float, complex, frozenset, range, slice, type(None), re.Pattern, re.Match),
    *(datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction),
    *(pathlib.PurePath, np.generic, np.dtype, enum.Enum, types.ModuleType, type),
)

_NOTHING_KNOWN = Row("", UNKNOWN)

_TRANSIENT = frozenset({("numba.core.registry", "CPUDispatcher")})
_FORTRAN = frozenset({("builtins", "fortran"), ("_fortran", "fortran")})
"""Classes of functions whose arguments live as long as the call: those of Numba, of f2py."""


# -- the table -------------------------------------------------------------------------------------


def _of_function(callee: Any) -> Row:
    if isinstance(callee, type) and issubclass(callee, BaseException):
        if changing_making(callee):
            return _NOTHING_KNOWN
        return Row("", SELECTS if callee.__module__ == "builtins" else LEADS)
    if isinstance(callee, enum.EnumMeta):
        return Row("", COMPUTES)
    if isinstance(callee, operator.attrgetter | operator.itemgetter):
        return Row("", LEADS)
    kind = (module_of_class(type(callee)), type(callee).__qualname__)
    if kind in _FORTRAN:
        return Row("", _documented(callee))
    if kind in _TRANSIENT:
        return Row("", TRANSIENT)
    if isinstance(callee, types.FunctionType) and "." in callee.__qualname__:
        name, _, method = callee.__qualname__.rpartition(".")
        cls = probe(sys.modules.get(callee.__module__), name)
        is_own = isinstance(cls, type) and vars(cls).get(method) is callee
        return _of_method(cls, method) if is_own else _NOTHING_KNOWN
    return _found(_by_name(), str(probe(callee, "__name__") or ""), callee)


def _of_method(cls: type, name: str) -> Row:
    if name == "__call__" and (module_of_class(cls), cls.__qualname__) in _TRANSIENT:
        return Row("", TRANSIENT)
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    if owner is None:
        return _NOTHING_KNOWN
    rows = [r for r in METHODS if not r.names or name in r.names.split()]
    return _found({owner.__name__: tuple(rows)}, owner.__name__, owner)


def _found(rows: Mapping[str, Sequence[Row]], name: str, item: Any) -> Row:
    """The row in whose module, under whose name, stands this very item."""
    for row in rows.get(name, ()):
        module, _, cls = row.place.partition(":")
        if probe(sys.modules.get(module), cls or name) is item:
            return row
    return _NOTHING_KNOWN


@functools.cache
def _by_name() -> Mapping[str, Sequence[Row]]:
    found: dict[str, list[Row]] = {}
    for row in FUNCTIONS:
        for name in row.names.split():
            found.setdefault(name, []).append(row)
    return found


# -- a call ----------------------------------------------------------------------------------------


_IN_PLACE = frozenset({"copy", "inplace", "overwrite"})
"""Options by which a function may write to all that it is given, and return it."""


def _of_call(row: Row, callee: Any, count: int, keywords: Collection[str]) -> Contract:
    """The contract of a call with these arguments: of what is not given, nothing is written."""
    contract = row.contract
    if not row.unless and contract.writes == frozenset() and not keywords and count < 2:
        return contract
    if not frozenset(row.unless.split()).isdisjoint(keywords):
        return UNKNOWN
    if contract.writes is None:
        return contract
    names = parameters(callee)
    given: set[str | int] = {*keywords, *names[:count], *range(count)}
    writes = set(contract.writes)
    if isinstance(callee, np.ufunc):
        writes |= {*range(callee.nin, callee.nin + callee.nout)}
    targets = {name.lower(): name for name in names}
    if not _IN_PLACE.isdisjoint(given):
        return replace(contract, writes=None, connects=True)
    for option in given:
        if isinstance(option, str) and option.startswith("overwrite_"):
            target = targets.get(option.removeprefix("overwrite_"))
            if target is None:  # of several, or under another name
                return replace(contract, writes=None)
            writes.add(target)
    return replace(contract, writes=frozenset(writes) if writes & given else frozenset())


def _documented(callee: Any) -> Contract:
    """What f2py writes of a function. It returns what it has written to: an argument under its own
    name, or `z : rank-1 array('d') with bounds (*) and y storage`; but what stands there beside
    `overwrite_y : input int, optional Default: 0` is copied first. No argument is kept."""
    doc, names = str(probe(callee, "__doc__") or ""), parameters(callee)
    _, _, results = doc.partition("\nReturns\n")
    if not names or "call-back" in doc:
        return TRANSIENT
    found = {*re.findall(r"^(\w+) : .*array", results, re.MULTILINE)}
    found |= {*re.findall(r"and (\w+) storage", results)}
    options = dict(re.findall(r"^overwrite_(\w+) : .*\n +Default: (\d)", doc, re.MULTILINE))
    copied = {name for name, default in options.items() if default == "0"}
    found = (found | {*options}) - copied
    found |= {name for end, name in UNTOLD.items() if str(probe(callee, "__name__")).endswith(end)}
    writes, name = frozenset(found) & {*names}, str(probe(callee, "__name__")).split()[-1]
    modules = ("scipy.linalg._flapack", "scipy.linalg._fblas")
    is_known = any(probe(sys.modules.get(module), name) is callee for module in modules)
    return replace(COMPUTES if is_known else TRANSIENT, writes=writes)
