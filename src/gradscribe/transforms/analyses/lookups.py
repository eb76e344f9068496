"""Look-ups of keys in lists whose answers are known before they are made.

Whether a key is in a list is known where a branch has asked that. Where it is, is known of the keys
that a loop gets from a list that has none twice: the loop counts them.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Function, Operand, Operation, Value, walk
from gradscribe.ir.flow import Iterated
from gradscribe.primitives.members import Members, is_lookup
from gradscribe.transforms.building import index_type


@dataclass(frozen=True)
class Lookups:
    """answers: for the result of a look-up, what it is known to be: a bool, or a value of `places`.
    places: for items of loops, their place in the list; the loop is yet to count them."""

    answers: dict[Value, bool | Value] = field(default_factory=dict)
    places: dict[Value, Value] = field(default_factory=dict)


def lookups_of(function: Function) -> Lookups:
    """The look-ups of a function whose answers are known."""
    found = Lookups()
    if not any(is_lookup(operation) for operation in walk(function.body)):
        return found
    members = Members(function)
    placed: list[tuple[Operation, Value]] = []
    for operation in members.operations():
        if not is_lookup(operation):
            continue
        keys, key = operation.operands[0], members.key_of(operation)
        if operation.callee is operator.contains:
            answer = members.has(keys, key)
            if answer is not None:
                found.answers[operation.result] = answer
        elif members.is_among(keys, key):
            placed.append((operation, key))
    for operation, key in placed:
        place = _place(members, found.places, key)
        if place is not None and members.are_distinct(operation.operands[0]):
            found.answers[operation.result] = place
    return found


def _place(members: Members, places: dict[Value, Value], key: Value) -> Value | None:
    """Where in its list a key stands that was got from there."""
    made = members.definitions.get(key)
    if made is None:
        return places.setdefault(key, Value(index_type()))
    index = made.attributes["index"]
    if not isinstance(index, Operand):
        return None
    place = made.operands[index.index]
    return place if _counts_up(members.iterated.get(place)) else None


def _counts_up(iterated: Iterated | None) -> bool:
    """Whether this is a range that has no negative numbers."""
    if iterated is None or iterated.kind != "range":
        return False
    start, _, step = (getattr(operand.type, "value", None) for operand in iterated.operands)
    return (start, step) == (Affine.of(0), Affine.of(1))
