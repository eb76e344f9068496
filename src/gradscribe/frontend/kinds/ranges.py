"""Parts of ranges: `range(n)[1:]` is a range again."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import FrontendValue, Static


def length(lowering: Lowering, owner: Range) -> FrontendValue:
    """`len(owner)`."""
    if owner.known is not None:
        return Static(len(owner.known))
    first, end, step = owner.parts
    if step == Static(1):
        difference = lowering.operate(None, operator.sub, end, first)
    else:
        reached = lowering.operate(None, operator.sub, first, end)
        steps = lowering.operate(None, operator.floordiv, reached, step)
        difference = lowering.operate(None, operator.neg, steps)
    found: FrontendValue = lowering.call(None, Static(max), (difference, Static(0)), {})
    return found


def backwards(lowering: Lowering, owner: Range) -> Range:
    """The range of the same numbers from the last to the first."""
    first, end, step = owner.parts
    if step == Static(1):
        last = lowering.operate(None, operator.sub, end, step)
    else:
        rest = lowering.operate(None, operator.sub, length(lowering, owner), Static(1))
        steps = lowering.operate(None, operator.mul, rest, step)
        last = lowering.operate(None, operator.add, first, steps)
    before = lowering.operate(None, operator.sub, first, step)
    return Range(last, before, lowering.operate(None, operator.neg, step))


def section(lowering: Lowering, node: Any, owner: Range, index: FrontendValue) -> Range | Static:
    """`owner[index]` of a range, for a slice of known numbers. A range that ends before it starts
    is empty, so that a start needs no bound from above, and an end counted from behind none."""
    numbers = None if owner.reversed else owner.known
    if numbers is not None and isinstance(index, Static):
        try:
            return Static(numbers[index.value])
        except (IndexError, TypeError, ValueError) as error:
            lowering.raises(node, error)
    parts = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
    if len(parts) == 3 and all(part is None or isinstance(part, Static) for part in parts):
        start, stop, step = (part and part.value for part in parts)
        try:
            range(0)[start:stop:step]
        except (TypeError, ValueError) as error:
            lowering.raises(node, error)
        if (start, stop, step) == (None, None, -1):
            return replace(owner, reversed=not owner.reversed)
        counts_up = owner.step == Static(1) and not owner.reversed
        if counts_up and (start or 0) >= 0 and (step or 1) > 0:
            return _counted(lowering, node, owner, start or 0, stop, step or 1)
    return lowering.unsupported(
        node,
        "this part of a range is not supported",
        "give the range its own start, stop and step",
    )


def _counted(
    lowering: Lowering, node: Any, owner: Range, start: int, stop: int | None, step: int
) -> Range:
    first, end = owner.start, owner.stop
    if stop is not None:
        base = end if stop < 0 else first
        last = lowering.operate(node, operator.add, base, Static(stop))
        end = last if stop < 0 else lowering.call(node, Static(min), (last, end), {})
    if start:
        first = lowering.operate(node, operator.add, first, Static(start))
    return Range(first, end, Static(step))
