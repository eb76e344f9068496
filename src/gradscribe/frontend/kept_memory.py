"""Arrays that code which cannot be read may have kept: what later calls of such code may do.

A call that keeps an array may be met by another one, which reads or writes that array without
being given it. In the IR an array is a value, and a store may make a new one: what the other call
reads is then not what plain Python would show it. Such calls are refused here.
"""

from __future__ import annotations

from typing import Any

from gradscribe.frontend import wording
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.lowering_state import KeepingCall
from gradscribe.frontend.values import Storage


def enter_call(lowering: Lowering, node: Any, name: str, given: frozenset[Storage]) -> None:
    """Note a call of code that may keep what it is given; refuse it where another such call kept
    what the program has stored to since."""
    kept = lowering.kept
    call = KeepingCall(node, name, given, frozenset(kept.arrays))
    for storage in kept.stored - given:
        _refuse_kept(lowering, call, storage)
    kept.calls.append(call)


def check_iteration(lowering: Lowering, before: int) -> None:
    """Refuse a loop in which such a call may meet what another one kept in the iteration before.

    before: how many such calls there were before the body of the loop.
    """
    calls = lowering.kept.calls[before:]
    kept = frozenset[Storage]().union(*(call.given for call in calls))
    for call in calls:
        for storage in kept - call.given:
            if storage in lowering.kept.stored or storage not in call.known:
                _refuse_kept(lowering, call, storage)


def _refuse_kept(lowering: Lowering, call: KeepingCall, storage: Storage) -> None:
    lowering.unsupported(
        call.node,
        f"`{call.name}`, whose code cannot be read, may use {wording.quoted(storage.name)}, which "
        "another call may have kept, and which has changed since",
        f"declare what these functions do, if they do not: `gs.primitive({call.name}, pure=True)`",
    )
