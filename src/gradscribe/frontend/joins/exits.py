"""The exits of a block (`return`, `break`, `continue`): flags in the frame that they clear."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast

from gradscribe.frontend.joins.branches import branch
from gradscribe.frontend.state.frame import EXITS, RAISED, RETURN_VALUE
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static
from gradscribe.ir.core import Value


def ended(lowering: Lowering) -> bool:
    """Whether control cannot come here."""
    names = lowering.frame.names
    if RAISED in names:
        return True
    flags = map(names.get, EXITS)
    return any(isinstance(flag, Static) and not flag.value for flag in flags)


def pending_exits(lowering: Lowering) -> list[str]:
    """The exits that may or may not have been taken."""
    names = lowering.frame.names
    return [e for e in EXITS if isinstance(names.get(e), Value)]


def guarded(lowering: Lowering, pending: list[str], rest: Callable[[], None]) -> None:
    """Lower `rest` under the condition that none of the pending exits was taken."""
    names = lowering.frame.names
    flag = names[pending[0]]
    for other in pending[1:]:
        flag = lowering.operate(None, operator.and_, flag, names[other])

    def go_on() -> None:
        for exit_ in pending:
            lowering.frame.names[exit_] = Static(True)
        rest()

    def skip() -> None:
        if len(pending) == 1:
            lowering.frame.names[pending[0]] = Static(False)

    branch(lowering, lowering.value(flag), go_on, skip)


@contextlib.contextmanager
def set_aside(lowering: Lowering) -> Iterator[None]:
    """What is lowered meanwhile is done however the statements before were left."""
    names = lowering.frame.names
    left = {name: names.pop(name) for name in (*EXITS, RETURN_VALUE) if name in names}
    names.update({name: Static(True) for name in left if name in EXITS})
    yield
    lowering.frame.names.update(left)


def always_leaves(nodes: Sequence[Any]) -> bool:
    """Whether a block always ends in return, break or continue. (None that ends in a `with` does:
    its manager may end an exception.)"""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, gast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, gast.Match):
        wildcard = getattr(last.cases[-1].pattern, "pattern", last) is None
        return wildcard and all(always_leaves(case.body) for case in last.cases)
    return isinstance(last, (gast.Return, gast.Break, gast.Continue))
