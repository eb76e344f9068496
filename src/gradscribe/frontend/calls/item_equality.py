"""Whether containers take two items for the same, as `in`, `index` and the comparison of lists ask:
one object is, whatever it says of itself."""

from __future__ import annotations

import operator
from typing import Any

from gradscribe.frontend.joins.branches import as_flag
from gradscribe.frontend.memory import sequences
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances, protocols
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    TupleOf,
)
from gradscribe.ir.probing import in_class
from gradscribe.primitives.users_code import is_users


@handles(prelude.is_equal)
def is_equal(
    lowering: Lowering, node: Any, /, item: FrontendValue, other: FrontendValue
) -> FrontendValue:
    """Whether Python takes two items of containers for the same: one object is, whatever it says
    of itself (NaN is not equal to itself); else what the comparison gives must be a truth value."""
    if _is_one(lowering, node, item, other):
        return Static(True)
    part = lowering.operate(node, operator.eq, item, other)
    return as_flag(lowering, lowering.value(part)) if isinstance(part, Ref) else part


def compares_itself(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether a method of the user's compares this: Python does not go on when it has found what it
    looks for."""
    below = sequences.known_items(lowering, item) if isinstance(item, (TupleOf, ListRef)) else None
    own = instances.has_methods(item) and in_class(instances.class_of(item), "__eq__")
    return is_users(own) or any(compares_itself(lowering, one) for one in below or ())


def _is_one(lowering: Lowering, node: Any, item: FrontendValue, other: FrontendValue) -> bool:
    """Whether two items are one object, as far as that is known."""
    if isinstance(item, Static) and isinstance(other, Static):
        return item.value is other.value
    if instances.is_object(item) or instances.is_object(other):
        return protocols.is_same(lowering, node, item, other)
    return item is other or is_one_whole(item, other)


def is_one_whole(left: Any, right: Any) -> bool:
    """Whether two names lead to the whole of one array, list or dict."""
    references = (Ref, ListRef, DictRef)
    are_whole = not getattr(left, "path", ()) and not getattr(right, "path", ())
    are_references = isinstance(left, references) and isinstance(right, references)
    return are_references and are_whole and left.storage is right.storage
