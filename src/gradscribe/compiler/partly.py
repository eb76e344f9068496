"""Programs that are compiled in part: what is known of the calls that are recorded instead.

A call of a Python function that cannot be compiled is recorded when the program runs. Its type is
that of what it returned in a run of the whole program, recorded, with the values of a real call:
`observing` tells what each function of the user's returned there. `Partly` chooses, from the errors
that compiling raises, which calls are recorded.
"""

from __future__ import annotations

import dis
import functools
import sys
import traceback
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType

from gradscribe.compiler.observing import Observer, code_of
from gradscribe.errors import GradscribeError
from gradscribe.frontend.interface import Call, Lowered, Recording
from gradscribe.primitives.observed import Form, UnseenForm, has_derivative, joined
from gradscribe.primitives.recorded_functions import Machine, NotRecordedError, Site

_MOST_SURPRISES = 4
"""So often a call may return another type than it was compiled for."""


class Partly:
    """The calls of one kind of a program: which of its calls are recorded.

    machine: runs them. seen: what calls returned in recorded runs. recorded: the codes of the
    functions whose calls are recorded, and why. whole: for what is done with the program (by a key
    of the caller's), why it is recorded as a whole.
    untold: the codes of functions that were called where no run tells, as by a loop.
    ran: the user's functions that ran, compiled or not. keeping: the calls that may have kept
    something of what they were given.
    surprises: how often one returned something else. is_observed: whether the latest run was.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.seen: dict[Site, set[Form]] = {}
        self.codes: dict[int, CodeType] = {}
        self.untold: dict[int, CodeType] = {}
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
        return Recording(self.machine, self.form, self._known, self.keeping)

    def form(self, site: Site) -> Form | None:
        """What a call returns, if it is recorded."""
        if site.code not in self.recorded or site in self._refused:
            return None
        return self._known(site) or self._unseen(site)

    def _unseen(self, site: Site) -> Form | None:
        """What stands for a call that no run has come to: nothing, where one may have, or where the
        program must not run twice."""
        is_new = (site not in self.seen and site.code not in self.untold) or site in self._doubtful
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
            form = self._known(site) or (self._unseen(site) if call.is_noted else None)
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
        observer = Observer(self)
        sys.setprofile(observer)
        try:
            yield
        except BaseException:
            self.seen = before  # what was left by the exception has returned nothing
            raise
        finally:
            sys.setprofile(None)
        observer.finish()

    def note(self, code: CodeType, site: Site, form: Form, *, keeps: bool) -> None:
        """Note what a call returned; see `observing.Notes`."""
        self.codes[site.code] = code
        self._doubtful.discard(site)
        self.seen.setdefault(site, set()).add(form)
        if keeps:
            self.keeping.add(site)

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
        if any(isinstance(path.root, CellType) for path in paths) and any(
            map(_stores_around, self.ran)
        ):
            what = f"a variable around `{name}` may be changed by a call that is recorded"
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
def _stores_around(code: CodeType) -> bool:
    """Whether a function stores to a variable of a function around it."""
    return any(
        i.opname in ("STORE_DEREF", "DELETE_DEREF") and i.argval in code.co_freevars
        for i in dis.get_instructions(code)
    )


@functools.lru_cache(maxsize=4096)
def _stored_names(code: CodeType) -> frozenset[str]:
    stores = (i for i in dis.get_instructions(code) if i.opname in _NAMED_STORES)
    return frozenset(str(i.argval) for i in stores)


@functools.lru_cache(maxsize=4096)
def _is_quiet(code: CodeType) -> bool:
    if not _CHANGES.isdisjoint(code.co_names):
        return False
    return all(i.opname not in _STORES for i in dis.get_instructions(code))
