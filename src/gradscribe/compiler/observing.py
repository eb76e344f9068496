"""What the calls of a run return, as a profile function sees it.

Comes in: a run of the user's function, recorded or as it is. Goes out: for each call in code of the
user's, or of a library's, where it stands (`Site`), what it returned (`Form`), and whether it may
have kept what it was given. What a call returns that could not be recorded by itself, for it
changed an argument, or reads more than those, is an `OtherForm`.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_VARARGS,
    CO_VARKEYWORDS,
)
from types import CodeType, FrameType
from typing import Any, Protocol
from weakref import ref

import numpy as np

from gradscribe.frontend.state.dependencies import is_tool_module
from gradscribe.ir.probing import is_a, is_library_module, module_of_class
from gradscribe.primitives.argument_trees import content, is_same, leaves_of
from gradscribe.primitives.observed import Form, OtherForm, Steps, form_of
from gradscribe.primitives.recorded_functions import Machine, Site

_GENERATOR = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_INNER = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
"""Frames that belong to the function that they stand in."""

_VALUES = (int, float, complex, str, bytes, type(None), np.generic)
"""Classes of objects of which it does not matter which one it is."""


class Notes(Protocol):
    """What is told of each call. ran: the codes of the user's functions that ran. untold: those of
    functions, by their ids, that were called where it is not known. machine: tells what a call of a
    recorded run has returned."""

    ran: set[CodeType]
    untold: dict[int, CodeType]
    machine: Machine

    @property
    def is_quiet(self) -> bool:
        """Whether no function that ran seems to have changed anything that others see."""

    def note(self, code: CodeType, site: Site, form: Form, *, keeps: bool) -> None:
        """A call has returned. code: of the function."""


@dataclass(frozen=True)
class _Begun:
    """A call that runs: its arguments, each with what it held before, where in its parameters the
    objects stand that it was given, these objects, and where in the run it began. counts: how often
    each of them was referred to then."""

    arguments: list[tuple[Any, Any]]
    places: dict[int, Steps]
    objects: list[Any]
    start: Any
    counts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Returned:
    """An array or list that a call has returned, if there still is any, and what it held then."""

    item: Callable[[], Any]
    before: Any
    code: CodeType
    site: Site


class Observer:
    """Notes what is returned to functions of the user's, and of libraries."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._machine = notes.machine
        self._begun: dict[FrameType, _Begun] = {}
        self._returned: dict[tuple[int, Site], _Returned] = {}

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        if event not in ("call", "return"):
            return
        code, caller = code_of(frame), _caller(frame)
        if not _is_tool(frame) and not _is_library(frame):
            self._notes.ran.add(code)
        if not _has_result(code) or caller is None or _is_tool(caller) or _is_own(frame):
            self._notes.untold[id(code)] = code
            return
        columns = _columns(caller)
        if columns is None and code_of(caller) is not caller.f_code:
            self._notes.untold[id(code)] = code
        if event == "call":
            begun = self._begun[frame] = self._begin(frame, code)
            begun.counts.extend(_references(begun))
            return
        site = Site(id(code), caller.f_code.co_filename, caller.f_lineno, columns)
        found = self._begun.pop(frame, None)
        if value is None and frame.f_code.co_code[frame.f_lasti] not in _RETURNING:
            return  # it has raised: a profile function is told of that as of a return
        keeps = found is None or _may_keep(found, code, value)
        form = self._form(found, value, caller)
        self._notes.note(code, site, form, keeps=keeps)
        for item in _memories(value):
            if found is not None and id(item) in found.places:
                continue
            known = self._returned.get((id(item), site))
            if known is None or known.item() is not item:
                is_kept = _is(item, list) or (type(item) is np.ndarray and item.base is not None)
                item_of = (lambda item=item: item) if is_kept else ref(item)
                returned = _Returned(item_of, content(self._machine.plain, item), code, site)
                self._returned[id(item), site] = returned

    def finish(self) -> None:
        """Note, at the end of the run, which calls have returned what was changed after that."""
        for one in self._returned.values():
            item = one.item()
            if item is not None and not is_same(content(self._machine.plain, item), one.before):
                form = OtherForm("what is changed later")
                self._notes.note(one.code, one.site, form, keeps=False)

    def _begin(self, frame: FrameType, code: CodeType) -> _Begun:
        given = {name: frame.f_locals.get(name) for name in _parameters(code)}
        contents = [(item, content(self._machine.plain, item)) for item in given.values()]
        start = self._machine.start_of(list(given.values()))
        return _Begun(contents, self._identities(given), list(_objects(given.values())), start)

    def _form(self, begun: _Begun | None, value: Any, caller: FrameType) -> Form:
        """The form of a result, if a call like this can be recorded by itself."""
        if begun is None:
            return OtherForm("unknown call")
        if not all(
            is_same(content(self._machine.plain, item), before) for item, before in begun.arguments
        ):
            return OtherForm("changed argument")
        is_known = self._machine.is_function_of(value, begun.start)
        if is_known is False or (is_known is None and not self._notes.is_quiet):
            return OtherForm("function of more than its arguments")
        is_known = _is_library(caller)
        return form_of(value, self._machine.plain, known=is_known, arguments=begun.places)

    def _identities(self, given: dict[str, Any]) -> dict[int, Steps]:
        """Where the objects stand that a call is given, numbers and the like apart."""
        leaves = leaves_of(given, lambda item: type(item) not in (tuple, list, dict))
        found = {
            id(item): steps
            for steps, item in leaves
            if not _is(item, _VALUES) or self._machine.plain(item) is not item
        }
        return found | {id(v): (k,) for k, v in given.items() if _is(v, (list, dict))}


def _is(value: Any, classes: Any) -> bool:
    """Whether a value is of one of these classes, or stands for one that is. Objects of the program
    are not asked what they are: that may be a call of its code."""
    if is_a(value, classes):
        return True
    return is_library_module(module_of_class(type(value))) and isinstance(value, classes)


def _objects(items: Iterable[Any]) -> Iterator[Any]:
    """The objects among arguments, and in these, that may be kept, and change."""
    for item in items:
        if type(item) is not tuple and not _is(item, _VALUES):
            yield item
        if type(item) in (tuple, list, dict):
            yield from _objects(item.values() if type(item) is dict else item)


def _memories(value: Any) -> Iterator[Any]:
    """The arrays and lists of a result."""
    if _is(value, (np.ndarray, list)):
        yield value
    if type(value) in (tuple, list, dict):
        for item in value.values() if type(value) is dict else value:
            yield from _memories(item)


def _references(begun: _Begun) -> Iterator[int]:
    return map(sys.getrefcount, begun.objects)


def _may_keep(begun: _Begun, code: CodeType, value: Any) -> bool:
    """Whether a call that returns this value may have kept, for others, what it was given."""
    if not set(code.co_cellvars).isdisjoint(_parameters(code)):
        return True
    counts = zip(_references(begun), begun.counts, begun.objects, strict=True)
    return any(now - (item is value) > before for now, before, item in counts)


def _columns(frame: FrameType) -> tuple[int, int] | None:
    """Where the call that a frame waits for begins and ends in its line."""
    if sys.version_info < (3, 11):
        return None
    first, last, start, end = _positions(frame.f_code)[frame.f_lasti // 2]
    return (start, end) if first == last and start is not None and end is not None else None


@functools.lru_cache(maxsize=1024)
def _positions(code: CodeType) -> list[Any]:
    return list(getattr(code, "co_positions", tuple)())  # from Python 3.11 on


def _parameters(code: CodeType) -> tuple[str, ...]:
    flags = (code.co_flags & CO_VARARGS, code.co_flags & CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + sum(map(bool, flags))
    return code.co_varnames[:count]


@functools.lru_cache(maxsize=4096)
def _has_result(code: CodeType) -> bool:
    """Whether what a frame returns is what its caller gets: not of a generator."""
    return not code.co_flags & _GENERATOR and code.co_name not in _INNER


_RETURNING = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap}
"""The instructions at which a frame ends that returns something."""

HANDING_ON: set[CodeType] = set()
"""The code of functions that call one of the user's as if it had been called itself."""


def _caller(frame: FrameType) -> FrameType | None:
    caller = frame.f_back
    while caller is not None and caller.f_code in HANDING_ON:
        caller = caller.f_back
    return caller


ORIGINALS: dict[int, tuple[CodeType, CodeType]] = {}
"""Code that a recorded run has made of a function's, by its id, and that of the function."""


def code_of(frame: FrameType) -> CodeType:
    """The code of the user's function that runs in a frame."""
    known = ORIGINALS.get(id(frame.f_code))
    return frame.f_code if known is None else known[1]


def _is_own(frame: FrameType) -> bool:
    """Whether a frame runs code of this package, which the program has not called itself."""
    return str(frame.f_globals.get("__name__")).startswith("gradscribe.recording.")


def _is_library(frame: FrameType) -> bool:
    """Whether a frame runs code of Python or of an installed numerical library."""
    return is_library_module(frame.f_globals.get("__name__"))


def _is_tool(frame: FrameType) -> bool:
    """Whether what a frame calls is none of the program's."""
    return is_tool_module(frame.f_globals.get("__name__"))
