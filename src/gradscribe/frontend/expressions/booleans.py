"""`and` and `or`: the operands in turn, up to the one that decides.

Comes in: the expression, for its value, or as a test, of which the truth alone counts. Each operand
is asked for its truth as often as CPython asks it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from gradscribe.frontend.joins.splitting import choose, for_each_kind, note_decider
from gradscribe.frontend.memory import at_once
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Scalar


def boolean(lowering: Lowering, node: Any) -> FrontendValue:
    """`a and b`, `a or b`: the value of the operand that decided."""
    return _deciding(lowering, node, [])


def _deciding(lowering: Lowering, node: Any, operands: list[_Operand]) -> FrontendValue:
    """The same. What has decided in here, in `(a or b) and c`, is not asked for its truth again.
    operands: those of the whole expression so far."""

    def evaluate(part: Any) -> FrontendValue:
        if isinstance(part, gast.BoolOp):
            return _deciding(lowering, part, operands)
        item = lowering.expression(part)
        operands.insert(0, _Operand(item))
        return item

    def truth(item: FrontendValue) -> bool | Value:
        operand = next((one for one in operands if one.item is item), None)
        if operand is not None and lowering.builder.is_open(operand.block):
            return operand.truth
        trial = lowering.trial()
        known = lowering.truth(item)
        changes = at_once.changes_something(lowering, trial)
        if operand is not None:
            operand.truth, operand.block = known, lowering.builder.operations
            operand.changes = changes
        elif changes and any(one.changes for one in operands):
            what = "an object may be asked for its truth twice here, which changes something"
            lowering.unsupported(node, what, "write this as `if` statements")
        return known

    return _until_decided(lowering, node, evaluate, truth)


@dataclass(eq=False, slots=True)
class _Operand:
    """An operand of `and` and `or`; if it was asked for its truth, that, where it was asked, and
    whether that has changed something."""

    item: FrontendValue
    truth: bool | Value = True
    block: list[Operation] = field(default_factory=list)
    changes: bool = False


def condition(lowering: Lowering, node: Any) -> FrontendValue:
    """The value of an expression of which the truth alone counts, as in a test: of `a and b` and
    `a or b`, whether they hold, so that a list and a comparison may stand side by side."""
    if not isinstance(node, gast.BoolOp):
        return lowering.expression(node)

    def flag(part: Any) -> FrontendValue:
        known = lowering.truth(condition(lowering, part))
        if isinstance(known, bool):
            return Static(known)
        if isinstance(known.type, Scalar) and known.type.dtype != "bool":
            return lowering.operate(part, operator.ne, known, Static(0))
        return known

    return _until_decided(lowering, node, flag, lowering.truth)


def _until_decided(
    lowering: Lowering,
    node: Any,
    evaluate: Callable[[Any], FrontendValue],
    truth: Callable[[FrontendValue], bool | Value],
) -> FrontendValue:
    """The operands of `and` or `or` in turn, up to the one that decides: that one."""
    is_and = isinstance(node.op, gast.And)

    def rest(position: int) -> FrontendValue:
        item = evaluate(node.values[position])
        if position == len(node.values) - 1:
            return item
        return for_each_kind(lowering, node, (item,), functools.partial(decided, position))

    def decided(position: int, item: FrontendValue) -> FrontendValue:
        known = truth(item)
        if isinstance(known, Value):  # also that of an operand that has decided before
            known = lowering.assumed.get(lowering.numbering.of(known), known)
        if isinstance(known, bool):
            return rest(position + 1) if known is is_and else item
        sides = functools.partial(rest, position + 1), lambda: item
        result = choose(lowering, node, known, *(sides if is_and else sides[::-1]))
        note_decider(lowering, result, known, not is_and)
        return result

    return rest(0)
