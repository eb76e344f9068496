"""What code that cannot be read may have changed outside, though it was not given it.

A database, a signal, a library in C may call functions that were handed to them long before, or
hold pointers; nothing tells what those change. So the running program asks, after such a call,
whether it would still find what it has found outside:

    db.execute("select update()")
    if not is_unchanged(outside, 1):
        raise UnsupportedError(…)

What the program itself stores outside is stored at the end: such a call, which may look for it, is
refused after that.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from gradscribe.frontend.interface import (
    STATE,
    AccessPath,
    Dependency,
    RunTimeKeyError,
    RunTimeObject,
)
from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import outside
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.dependencies import is_library
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Held, Storage
from gradscribe.ir.core import Value
from gradscribe.ir.flow import sources
from gradscribe.ir.types import BOOL, Array, Sequence
from gradscribe.primitives.control import EFFECT, WRITTEN
from gradscribe.primitives.outside_state import IS_UNCHANGED


def after_call(lowering: Lowering, who: str, call: Value, given: Iterable[FrontendValue]) -> None:
    """After a call that may have changed anything outside. who: has run. given: what it, or what it
    calls, was given: what is read of arrays from now on depends on it."""
    found = lowering.outside
    if any(may_vary(lowering, item) for item in given):
        found.tainted = call
    if found.tainted is not None:
        found.tainted = call
        link(lowering, found.entered)
    ask_again(lowering, who)


def ask_again(lowering: Lowering, who: str) -> None:
    """Let the program ask whether what it has found outside is what it was."""
    found = lowering.outside
    found.hidden += 1
    if STATE not in lowering.keyed or not (lowering.capture or lowering.nesting.enclosed):
        return
    in_order = not (lowering.loops.iterations or lowering.has_tensors or lowering.nesting.enclosed)
    settled = len(found.captures) if in_order else None
    state = lowering.captured_variable(RunTimeObject(IS_UNCHANGED), AccessPath(STATE), "outside")
    tree = {"args": (state, settled, found.tainted is not None), "keywords": {}, "type": BOOL}
    same = lowering.plain(EFFECT, tree, IS_UNCHANGED)
    what = f"{who} has changed what is read outside, which is not followed"
    lowering.check(same, what, "read it after the call, in another function, or pass it in")


def link(lowering: Lowering, storages: Iterable[Storage]) -> None:
    """Let what is in memory from outside depend on the latest call that may have stored there what
    is differentiated, if there was any."""
    call, contents = lowering.outside.tainted, lowering.contents
    if call is None or lowering.nesting.enclosed:  # what its arguments depend on is not known there
        return
    for storage in list(storages):
        held = contents.get(storage)
        if not isinstance(held, Value) or not isinstance(held.type, (Array, Sequence)):
            continue
        if not lowering.builder.is_made(call):
            outside.refuse_changed(lowering, storage.name)
        tree = {"x": held, "call": call}
        contents[storage] = made = lowering.plain(WRITTEN, tree, name=storage.name)
        lowering.outside.linked.add(made)


def ask(lowering: Lowering) -> None:
    """At the end: let the function be lowered once more, with such checks, where it needs some."""
    if lowering.outside.hidden and STATE not in lowering.keyed and _reads(lowering):
        error = RunTimeKeyError("", "")  # nobody sees it
        error.place = STATE
        raise error


def _reads(lowering: Lowering) -> bool:
    """Whether the program reads anything outside that may be another one later."""
    found = lowering.outside
    return bool(found.found) or any(map(_may_change, found.dependencies.values()))


def _may_change(known: Dependency) -> bool:
    is_function = isinstance(known.value, types.FunctionType) and not is_library(known.value)
    is_builtin = known.kind == "without" and not known.path.steps  # which has its name
    return is_function or (known.kind in _READING and not is_builtin)


_READING = frozenset({"equality", "length", "keys", "present", "absent", "without"})


def refuse_pending(lowering: Lowering, node: Any, name: str, given: Collection[Storage]) -> None:
    """Refuse a call that may look for what the program has stored outside before. given: what it is
    given, or may have kept: of that it has what the program holds."""
    for storage in _pending(lowering):
        if storage not in given:
            lowering.unsupported(
                node,
                f"`{name}`, whose code cannot be read, may look for {_said(storage)} from outside, "
                "to which this function stores only when it returns",
                "store to it after the call, or declare what the call does: `gs.primitive(…)`",
            )


def is_as_found(lowering: Lowering, storage: Storage, before: Held) -> bool:
    """Whether memory from outside holds what it held before, on all paths: by `link`, too."""
    found, seen = lowering.outside, set[Value]()
    changed = lowering.changes.stored | lowering.changes.roots
    pending = [lowering.contents.get(storage, before)]
    while pending:
        contents = pending.pop()
        if contents is before:
            continue
        if not isinstance(contents, Value) or storage in changed:
            return False
        if contents in seen:
            continue
        seen.add(contents)
        made = lowering.builder.definition(contents)
        if made is not None and contents in found.linked:
            pending.append(made.operands[0])
        elif made is not None and made.regions:
            pending += sources(made, contents)
        elif made is not None or not found.linked:  # else what a loop carries
            return False
    return True


def _said(storage: Storage) -> str:
    return wording.quoted(storage.name, "an item")


def _pending(lowering: Lowering) -> Iterator[Storage]:
    for storage, before in lowering.outside.entered.items():
        if not is_as_found(lowering, storage, before):
            yield storage
