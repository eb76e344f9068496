"""Programs that are compiled in part: what is known of the calls that are recorded instead.

A call of a Python function that cannot be compiled is recorded when the program runs. Its type is
that of what it returned in a run of the whole program, recorded, with the values of a real call:
`Observer` notes what each function of the user's returned there. `Partly` chooses, from the errors
that compiling raises, which calls are recorded.
"""

from __future__ import annotations

import dis
import functools
import sys
import traceback
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_VARARGS,
    CO_VARKEYWORDS,
)
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.frontend.calls.observed import (
    Form,
    OtherForm,
    Steps,
    UnseenForm,
    form_of,
    has_derivative,
    joined,
)
from gradscribe.frontend.calls.recorded_functions import MACHINES, is_same, leaves_of, plain_tree
from gradscribe.frontend.dependencies import is_library_module
from gradscribe.frontend.interface import Call, Lowered, Recording, Site
from gradscribe.frontend.interruptions import NotRecordedError

_GENERATOR = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_TOOLS = frozenset({"gradscribe", "numpy", "gast", "astunparse"})

_INNER = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
"""Frames that belong to the function that they stand in."""

_VALUES = (int, float, complex, str, bytes, type(None), np.generic)
"""Classes of objects of which it does not matter which one it is."""

_MOST_SURPRISES = 4
"""So often a call may return another type than it was compiled for."""


class Partly:
    """The calls of one kind of a program: which of its calls are recorded.

    seen: what calls returned in recorded runs. recorded: the codes of the functions whose calls are
    recorded, and why. whole: for what is done with the program (by a key of the caller's), why it
    is recorded as a whole.
    ran: the user's functions that ran, compiled or not. keeping: the calls that may have kept
    something of what they were given.
    surprises: how often one returned something else. is_observed: whether the latest run was.
    """

    def __init__(self) -> None:
        self.seen: dict[Site, set[Form]] = {}
        self.codes: dict[int, CodeType] = {}
        self.recorded: dict[int, str] = {}
        self.whole: dict[Hashable, str] = {}
        self._refused: set[Site] = set()
        self._surprising: set[Site] = set()
        self.keeping: set[Site] = set()
        self._unrecordable: set[int] = set()
        self._doubtful: set[Site] = set()
        self.ran: set[CodeType] = set()
        self.surprises = 0
        self.is_observed = False

    def recording(self) -> Recording:
        """What a lowering is told."""
        return Recording(self.form, self._known, self.keeping)

    def form(self, site: Site) -> Form | None:
        """What a call returns, if it is recorded."""
        if site.code not in self.recorded or site in self._refused:
            return None
        return self._known(site) or self._unseen(site)

    def _unseen(self, site: Site) -> Form | None:
        """What stands for a call that no run has come to, or that was not noted: nothing, where the
        program must not run twice."""
        is_new = site not in self.seen or site in self._doubtful
        return UnseenForm() if is_new and self.is_quiet else None

    def records(self, error: GradscribeError) -> bool:
        """Whether the calls of one more function are recorded from now on, or one call fewer, so
        that this error may not come again: of the functions that it came about by, the innermost
        that is called in the user's own code, or, within a library, has a result without
        derivative."""
        for call in error.calls if self.seen else ():
            assert isinstance(call, Call)
            site = call.site
            if site.code in self.recorded:
                self._refused.add(site)
                continue
            form = self._known(site) or self._unseen(site)
            if form is None or (call.is_remembered and isinstance(form, UnseenForm)):
                continue
            has_limits = call.from_library or site.code in self._unrecordable
            if has_limits and has_derivative(form):
                continue
            self.recorded[site.code] = error.what
            return True
        return False

    def failed(self, error: BaseException) -> None:
        """Note that the functions which an error has left cannot run recorded."""
        frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
        codes = {id(code): code for code in map(code_of, frames)}
        self.codes.update(codes)
        self._unrecordable.update(codes)

    def learn(self, site: Site, form: Form | None) -> None:
        """Note that a recorded call returned this (None: that it changed what it was given). What
        those around it return has to be seen anew."""
        self.surprises += not isinstance(form, UnseenForm)
        if form is None or site in self._surprising or self.surprises > _MOST_SURPRISES:
            self._refused.add(site)
        elif isinstance(form, UnseenForm):
            self._surprising.add(site)
        else:
            self.seen.setdefault(site, set()).add(form)
            self._doubtful = set(self.seen) - {site}

    def report(self, name: str, key: Hashable, recording: Recording | None) -> str:
        """What is recorded of the function of this name, and why."""
        if key in self.whole:
            return f"`{name}` is recorded as a whole: {self.whole[key]}"
        made = {call.site: call for call in (recording.made if recording else ())}
        if not made:
            return compiled_as_a_whole(name)
        lines = [f"`{name}` is compiled, but for calls that are recorded:"]
        for site, call in made.items():
            place = f'File "{site.filename}", line {site.line}'
            reason = self.recorded.get(site.code, "it is a library's, and given constants")
            lines.append(f"  {place}: `{call.function.__name__}`, for {reason}")
        return "\n".join(lines)

    def _known(self, site: Site) -> Form | None:
        """What a call returned, if that was one thing."""
        return joined(self.seen[site]) if site in self.seen.keys() - self._doubtful else None

    @contextmanager
    def observing(self) -> Iterator[None]:
        """Note what the functions return that run in the block."""
        self.is_observed = sys.getprofile() is None  # not taken away from whom that is for
        if not self.is_observed:
            yield
            return
        before = {site: set(forms) for site, forms in self.seen.items()}
        sys.setprofile(_Observer(self))
        try:
            yield
        except BaseException:
            self.seen = before  # what was left by the exception has returned nothing
            raise
        finally:
            sys.setprofile(None)

    def note(self, frame: FrameType, site: Site, form: Form) -> None:
        """Note what a call returned."""
        self.codes[site.code] = code_of(frame)
        self._doubtful.discard(site)
        self.seen.setdefault(site, set()).add(form)
        if not _is_library(frame):
            self.ran.add(code_of(frame))

    def refuse_outer_changes(self, name: str, lowered: Lowered, own: int) -> None:
        """Refuse a function that changes outside what its recorded calls may read, or reads what
        they may change: what is compiled reads all that first, and changes it last. own: how many
        arguments it has."""
        changes = any(change.argument >= own for change in lowered.changes)
        what = ""
        if changes or lowered.attributes or lowered.containers:
            what = f"`{name}` changes what it finds outside, beside calls that are recorded"
        stored = frozenset[str]().union(*map(_stored_names, self.ran))
        paths = [capture.path for capture in lowered.captures]
        paths += [dependency.path for dependency in lowered.dependencies]
        for step in (step for path in paths for _, step in path.steps):
            if isinstance(step, str) and step in stored:
                what = f"`{step}`, which `{name}` reads, may be changed by a call that is recorded"
        if what:
            raise NotRecordedError(what)

    @property
    def is_quiet(self) -> bool:
        """Whether no function that ran seems to have changed anything that others see."""
        return all(map(_is_quiet, self.ran))


def compiled_as_a_whole(name: str) -> str:
    """The report of a function with no recorded calls."""
    return f"`{name}` is compiled as a whole"


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


class _Observer:
    """Notes what is returned to functions of the user's, and of libraries."""

    def __init__(self, partly: Partly) -> None:
        self._partly = partly
        self._machine = MACHINES[0]
        self._begun: dict[FrameType, _Begun] = {}

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        code, caller = code_of(frame), frame.f_back
        if event not in ("call", "return") or not _has_result(code):
            return
        if caller is None or _is_tool(caller) or _is_own(frame):
            return
        if event == "call":
            begun = self._begun[frame] = self._begin(frame, code)
            begun.counts.extend(_references(begun))
            return
        site = Site(id(code), caller.f_code.co_filename, caller.f_lineno, _columns(caller))
        found = self._begun.pop(frame, None)
        if found is None or _may_keep(found, code, value):
            self._partly.keeping.add(site)
        self._partly.note(frame, site, self._form(found, value, caller))

    def _begin(self, frame: FrameType, code: CodeType) -> _Begun:
        given = {name: frame.f_locals.get(name) for name in _parameters(code)}
        contents = [(item, self._content(item)) for item in given.values()]
        start = self._machine.start_of(list(given.values()))
        return _Begun(contents, self._identities(given), list(_objects(given.values())), start)

    def _form(self, begun: _Begun | None, value: Any, caller: FrameType) -> Form:
        """The form of a result, if a call like this can be recorded by itself."""
        if begun is None:
            return OtherForm("unknown call")
        if not all(is_same(self._content(item), before) for item, before in begun.arguments):
            return OtherForm("changed argument")
        is_known = self._machine.is_function_of(value, begun.start)
        if is_known is False or (is_known is None and not self._partly.is_quiet):
            return OtherForm("function of more than its arguments")
        is_known = _is_library(caller)
        return form_of(value, self._machine.plain, known=is_known, arguments=begun.places)

    def _identities(self, given: dict[str, Any]) -> dict[int, Steps]:
        """Where the objects stand that a call is given, numbers and the like apart."""
        leaves = leaves_of(given, lambda item: type(item) not in (tuple, list, dict))
        found = {
            id(item): steps
            for steps, item in leaves
            if not isinstance(item, _VALUES) or self._machine.plain(item) is not item
        }
        return found | {id(v): (k,) for k, v in given.items() if isinstance(v, (list, dict))}

    def _content(self, item: Any) -> Any:
        """What an argument holds now; a recorded array gets another value with each store."""
        found = plain_tree(item, self._machine.plain)
        if type(found) in (list, dict):
            return tuple(found.items()) if type(found) is dict else tuple(found)
        return found.copy() if type(item) is np.ndarray else found


def _objects(items: Iterable[Any]) -> Iterator[Any]:
    """The objects among arguments, and in these, that may be kept, and change."""
    for item in items:
        if type(item) is not tuple and not isinstance(item, _VALUES):
            yield item
        if type(item) in (tuple, list, dict):
            yield from _objects(item.values() if type(item) is dict else item)


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
    """Whether what a frame calls is none of the program's: in code of this package, of what it is
    made of, or of Python."""
    top = str(frame.f_globals.get("__name__")).partition(".")[0]
    return top in _TOOLS or (top in sys.stdlib_module_names and top != "__main__")


_NAMED_STORES = frozenset(
    {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_DEREF", "DELETE_DEREF"}
)
_STORES = _NAMED_STORES | {"STORE_SUBSCR", "DELETE_SUBSCR", "IMPORT_NAME"}
_CHANGES = frozenset(
    {"print", "input", "open", "write", "next", "send", "setattr", "append", "extend", "insert"}
    | {"add", "update", "pop", "popitem", "remove", "clear", "setdefault", "sort", "reverse"}
    | {"put", "random", "normal", "uniform", "integers", "warn", "info", "debug", "warning", "log"}
)
"""Names by which something is changed, or told, outside of the function that says them."""


@functools.lru_cache(maxsize=4096)
def _stored_names(code: CodeType) -> frozenset[str]:
    stores = (i for i in dis.get_instructions(code) if i.opname in _NAMED_STORES)
    return frozenset(str(i.argval) for i in stores)


@functools.lru_cache(maxsize=4096)
def _is_quiet(code: CodeType) -> bool:
    if not _CHANGES.isdisjoint(code.co_names):
        return False
    return all(i.opname not in _STORES for i in dis.get_instructions(code))
