"""What is known of the equality of two values before the program runs."""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ListRef, Static, TupleOf
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Value
from gradscribe.ir.types import Scalar


def equal_in_every_call(lowering: Lowering, a: Any, b: Any) -> bool | None:
    """Whether two lengths or integers of the arguments are equal in all calls that the guards
    admit; None where that is not known."""
    values = [_integer(a), _integer(b)]
    if values[0] is None or values[1] is None:
        return None
    facts, difference = lowering.builder.facts, values[0] - values[1]
    if not all(facts.is_argument(symbol) for symbol, _ in difference.terms):
        return None
    known = facts.normalize(difference).known
    return None if known is None else known == 0


def _integer(item: FrontendValue) -> Affine | None:
    if isinstance(item, Static):
        return Affine.of(item.value) if type(item.value) is int else None
    type_ = item.type if isinstance(item, Value) else None
    return type_.value if isinstance(type_, Scalar) else None


def never_equal(a: Any, b: Any) -> bool:
    """Whether one is a list and the other a tuple, or a constant."""
    constants = (bool, int, float, str, type(None))
    kinds = {
        type(item.value) if isinstance(item, Static) else type(item)
        for item in (a, b)
        if not isinstance(item, Static) or isinstance(item.value, constants)
    }
    return len(kinds) == 2 and kinds <= {ListRef, TupleOf, *constants}
