"""Iterators of users' classes beside other iterables: `zip`, and `map` of several.

Python takes one item of each, and stops at the first that has none: what the others have given by
then is lost, and which of them are asked once more depends on their order. So that it is the same
here, loops are lowered that ask each for its next item. Comes in: the iterations, in order. Goes
out: one over the list of what was made.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

from gradscribe.frontend.containers import iteration_items, lengths
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds import ranges
from gradscribe.frontend.memory.sequences import made_list
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import (
    Endless,
    ItemsByNext,
    ItemsOf,
    Iteration,
    Range,
)
from gradscribe.frontend.values.values import FrontendValue, Static

_LOOPS: dict[int, Any] = {2: prelude.twos_in_turns, 3: prelude.threes_in_turns}


def rows(lowering: Lowering, node: Any, parts: Sequence[Iteration]) -> Iteration:
    """What `zip` gives of these."""
    return ItemsOf(made(lowering, node, Static(prelude.row), parts))


def made(lowering: Lowering, node: Any, function: FrontendValue, parts: Sequence[Iteration]) -> Any:
    """The list of what a function makes of an item of each."""
    loop = _LOOPS.get(len(parts))
    if loop is None:
        refuse(lowering, node)
    given = [_asked(lowering, node, part) for part in parts]
    return made_list(lowering.inline(node, loop, (function, *given)))


def refuse(lowering: Lowering, node: Any) -> NoReturn:
    lowering.unsupported(
        node,
        "an iterator of a user's class is taken beside others that compute their items, or beside "
        "too many",
        "write the loop, and take each item by `next`",
    )


def _asked(lowering: Lowering, node: Any, part: Iteration) -> FrontendValue:
    """What gives its items in turn."""
    part = iteration_items.forwards(lowering, node, part)
    if isinstance(part, (ItemsByNext, Range, Endless)):
        return part
    if isinstance(part, ItemsOf):
        return part.owner
    if part.computes:
        refuse(lowering, node)
    return lowering.listed(node, part)


@handles(prelude.may_go_on)
def _may_go_on(
    lowering: Lowering, node: Any, /, items: FrontendValue, place: FrontendValue
) -> FrontendValue:
    if isinstance(items, (ItemsByNext, Endless)):
        return Static(True)
    if isinstance(items, Range):
        count = ranges.length(lowering, items)
    else:
        count = lengths.length(lowering, items)
    return lowering.operate(node, operator.lt, place, count)


@handles(prelude.item_in_turn)
def _item_in_turn(
    lowering: Lowering, node: Any, /, items: FrontendValue, place: FrontendValue
) -> FrontendValue:
    if isinstance(items, ItemsByNext):
        return lowering.call(node, Static(prelude.next_or_end), (items.owner,), {})
    if isinstance(items, Endless):
        return items.item(place)
    if isinstance(items, Range):
        change = lowering.operate(node, operator.mul, place, items.step)
        return lowering.operate(node, operator.add, items.start, change)
    return read_item(lowering, node, items, place)
