"""What a call of code that cannot be read may do: the kinds of contracts that are known."""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gradscribe.ir.probing import probe

CODE, FILES, RAISED, MACHINE = "code", "files", "raised", "machine"
DOMAINS = (CODE, FILES, RAISED, MACHINE)
"""What is not seen in a program's values: what unread code remembers from one call to the next;
files and streams, the console among them; the exception that is being handled; settings, clocks
and generators of random numbers, of which nothing depends on what is differentiated."""


class Refused(NamedTuple):
    """What is refused, and what is advised instead."""

    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class Contract:
    """What a call may do to what it is given.

    writes: the arguments whose arrays it may write to, by name or position (None: all). keeps:
    whether it may keep what it is given, and write to that when it, or another function, is called
    later. connects: whether objects that it is given may come to hold what else it is given, and
    its result may lead to them, or share their memory. reads, changes: the hidden states that its
    result may depend on, and that may come to depend on what it is given. computes: whether it
    gives the same for the same arguments, and does nothing else.
    """

    writes: frozenset[str | int] | None = frozenset()
    keeps: bool = False
    connects: bool = False
    reads: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    computes: bool = False

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
    """The names of the parameters of a callable, of f2py's by their documentation; none where they
    cannot be read."""
    return list((_fixed_parameters if _is_fixed(callee) else _read_parameters)(callee))


def _is_fixed(callee: Any) -> bool:
    """Whether this is a function of a library's, in C or of NumPy's, which stays as it is."""
    is_of_module = isinstance(probe(callee, "__self__"), types.ModuleType)
    return type(callee) in _NUMPYS or (type(callee) is types.BuiltinFunctionType and is_of_module)


_NUMPYS = (np.ufunc, type(np.sum))
"""The classes of NumPy's functions."""


@functools.lru_cache(maxsize=1024)
def _fixed_parameters(callee: Any) -> list[str]:
    return _read_parameters(callee)


def _read_parameters(callee: Any) -> list[str]:
    try:
        found = dict(inspect.signature(callee).parameters)
    except (TypeError, ValueError):  # compiled code may have none
        found = {}
    if not all(parameter.kind in _VARIADIC for parameter in found.values()):
        return list(found)
    doc = str(probe(callee, "__doc__") or "")
    called = re.match(r"(?:[\w,]+ = )?\w+\(([\w,\[\]]*)\)\n", doc)
    return [name.strip("[]") for name in called.group(1).split(",")] if called else list(found)


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""Of what says of its parameters no more than that there are some, nothing is known."""


_CODE, _FILES, _MACHINE = frozenset({CODE}), frozenset({FILES}), frozenset({MACHINE})
_ALL = _CODE | _FILES | {RAISED}

UNKNOWN = Contract(None, True, True, _CODE, _CODE | {RAISED})
TRANSIENT = Contract(None, reads=_CODE, changes=_CODE | {RAISED})
"""What may write to all that it is given; the latter does not keep it."""

SHOWN = replace(UNKNOWN, writes=frozenset(), connects=False, reads=_CODE | _FILES, changes=_ALL)
"""What is shown to code of the user's: that may keep it (and is stopped where it changes it)."""

CALLED_BACK = replace(UNKNOWN, writes=frozenset({"what functions lead to"}), keeps=False)
"""Of functions that only compute, where they are given functions of the program: these may do
anything to what they lead to."""

COMPUTES = Contract(computes=True)
SELECTS = Contract(connects=True, computes=True)
"""The result is new; it may be, or share memory with, (a part of) what was given."""

PURE = Contract()
LEADS = Contract(connects=True)
"""Likewise, where the result is not made when a program is compiled."""

ASKS = Contract(reads=_MACHINE)
DRAWS = Contract(frozenset({"out"}), reads=_MACHINE)
CHECKS = Contract(changes=frozenset({RAISED}))
STREAM = Contract(connects=True, reads=_FILES, changes=_FILES)
HOLDS = Contract(keeps=True, connects=True)
PICKS = replace(ASKS, connects=True)
BAR = replace(STREAM, keeps=True)
"""What reads settings, draws numbers, raises; reads and writes files; keeps its arguments; draws
one of them; keeps them, and writes to files."""

VIEWS = Contract(keeps=True, connects=True, computes=True)
"""The result shares the memory of an object that may be changed."""

OUT = Contract(frozenset({"out"}), connects=True, computes=True)
OUTPUT = Contract(frozenset({"output", "distances", "indices"}), connects=True, computes=True)
UFUNC = Contract(frozenset({"out"}), computes=True)
FIRST = Contract(frozenset({0, "a", "arr", "dst"}))
BUFFER = Contract(frozenset({1, "buffer"}), connects=True)
OWN_BUFFER = Contract(frozenset({0, 1, "buffer"}), connects=True)
FILLS = replace(DRAWS, writes=frozenset({2, 3, 4, "out"}))
"""What writes to this argument alone: `out` (of a ufunc: also by position), `output`, the first
one, a buffer. Of methods the positions count with the object, and without it."""
