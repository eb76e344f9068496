"""Which values may depend on what is differentiated, as far as that is known while lowering."""

from __future__ import annotations

import collections

from gradscribe.frontend.state import flow
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import DictRef, FrontendValue, ListRef, Ref, TupleOf
from gradscribe.ir.core import Value
from gradscribe.ir.flow import flows
from gradscribe.ir.types import is_differentiable
from gradscribe.primitives.control import STOP_GRADIENT


def may_vary(lowering: Lowering, item: FrontendValue, surely: bool = False) -> bool:
    """Whether a value may depend on what is differentiated: floating, not detached, and not
    computed of integers and constants alone.

    surely: of what a loop carries that is being lowered, whether it does before the first
    iteration. Where that is not so, it is known only once all is lowered (`analyses.opacity`).
    """
    if isinstance(item, TupleOf):
        return any(may_vary(lowering, below, surely) for below in item.items)
    if isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        if isinstance(contents, Value):
            return _value_may_vary(lowering, contents, surely)
        below = contents.values() if isinstance(contents, dict) else contents
        return any(may_vary(lowering, part, surely) for part in below)
    if not isinstance(item, (Ref, Value)):
        return False
    return _value_may_vary(lowering, lowering.value(item), surely)


def _value_may_vary(lowering: Lowering, value: Value, surely: bool) -> bool:
    pending, seen = [value], set[Value]()
    handed = collections.defaultdict[Value, list[Value]](list)
    while pending:
        value = pending.pop()
        if value in seen or value in lowering.outside.constants:
            continue
        if not is_differentiable(value.type):
            continue
        seen.add(value)
        definition = lowering.builder.definition(value)
        if definition is not None and not definition.regions:
            if definition.primitive is not STOP_GRADIENT:
                pending += definition.operands
            continue
        if definition is not None:
            for source, target in flows(definition):
                handed[target].append(source)
        before = handed[value] if definition is None else []
        if not before and (surely or definition is not None):
            before = list(flow.flowing(lowering, value))
        if not before:
            return True
        pending += before
    return False
