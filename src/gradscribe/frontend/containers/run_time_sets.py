"""Sets of the running program: of which type their items are, and the items in Python's order.

Only integers, and tuples of those, have a type here: what is entered in a set as a number that has
a derivative would lose it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from gradscribe.frontend.interface import RunTimeKeyError, SourcePlace
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, InstanceRef, ListRef, Static, TupleOf
from gradscribe.ir.core import Location, Method, Operand, Value
from gradscribe.ir.known import all_known
from gradscribe.ir.types import (
    INT,
    JoinError,
    Opaque,
    Tuple,
    Type,
    is_integer,
    join,
)
from gradscribe.ir.types import Sequence as ListType

_COMBINING = ("union", "intersection", "difference", "symmetric_difference", "copy")
_CHANGING = frozenset({"add", "clear", "discard", "pop", "remove", "update"}) | {
    f"{name}_update" for name in ("intersection", "difference", "symmetric_difference")
}
_OPERATORS = (operator.or_, operator.and_, operator.sub, operator.xor)
_GIVING_SETS = (*map(Method, _COMBINING), *_OPERATORS)


def is_set(item: Any) -> TypeGuard[Value]:
    """Whether this is a set of the running program."""
    return isinstance(item, Value) and item.type == Opaque(set)


def method(
    lowering: Lowering, node: Any, owner: Value, name: str, arguments: tuple[FrontendValue, ...]
) -> FrontendValue | None:
    """`owner.name(*arguments)`, where that gives a set or an item; else None. What it enters is
    noted."""
    check_items(lowering, owner, arguments)
    if owner in lowering.loops.sets and name in _CHANGING:
        what = "this may change the size of the set that a loop runs over"
        lowering.unsupported(node, what, "loop over a copy: `for item in list(s):`")
    if name in ("add", "update"):
        _note(lowering, node, owner, name, arguments)
    type_: Type | None = Opaque(set) if name in _COMBINING else None
    if name == "pop":
        type_ = lowering.sets.listed[owner] = _item_type(lowering, owner)
    if type_ is None:
        return None
    return unknown.emit(lowering, Method(name), (owner, *arguments), {}, type_)


def check_items(lowering: Lowering, owner: Value, items: tuple[FrontendValue, ...]) -> None:
    """Have the function lowered once more, with a set of objects, where one is given an object."""
    if not any(isinstance(item, InstanceRef) for item in items):
        return
    made = lowering.builder.definition(owner)
    error = RunTimeKeyError(
        "a set of the running program is given an object",
        "keep the objects in a list",
        lowering.builder.location,
    )
    if made is not None and made.callee is set and made.location is not None:
        error.place = place_of(made.location)
    raise error


def place_of(location: Location) -> SourcePlace:
    """The place of a statement."""
    return location.filename, location.line, location.column


def _note(
    lowering: Lowering, node: Any, owner: Value, name: str, arguments: tuple[FrontendValue, ...]
) -> None:
    types = [_type_of(lowering, item) for item in arguments]
    enter(lowering, node, owner, types if name == "add" else [_item_of(type_) for type_ in types])


def enter(lowering: Lowering, node: Any, owner: Value, types: Sequence[Type | None]) -> None:
    """Note the types of what is entered in a set (None: anything). What has been taken from it must
    be of that type, too. A set that is one of several may be any."""
    entered = lowering.sets.items.setdefault(owner if _is_made_here(lowering, owner) else None, [])
    entered += types
    if any(_item_type(lowering, one) != type_ for one, type_ in lowering.sets.listed.items()):
        lowering.unsupported(
            node,
            "a set gets items of another type than those that were taken from it",
            "use a list, or a set for each type",
        )


def _is_made_here(lowering: Lowering, owner: Value) -> bool:
    made = lowering.builder.definition(owner)
    return made is not None and (made.callee is set or made.callee in _GIVING_SETS)


def combined(
    lowering: Lowering, callee: Any, operands: tuple[FrontendValue, ...]
) -> FrontendValue | None:
    """`s | t` and the like; None for what does not give a set."""
    if callee not in _OPERATORS or not all(map(is_set, operands)):
        return None
    return unknown.emit(lowering, callee, operands, {}, Opaque(set))


def listed(lowering: Lowering, owner: Value) -> FrontendValue | None:
    """The items of a set in its order; None where their type is not known."""
    type_ = _item_type(lowering, owner)
    if type_ is None:
        return None
    lowering.sets.listed[owner] = type_
    return unknown.emit(lowering, list, (owner,), {}, ListType(type_))


def _item_type(lowering: Lowering, owner: Value) -> Type | None:
    """What all that is ever entered in a set is, as far as is known so far."""
    made = lowering.builder.definition(owner)
    if made is None or not _is_made_here(lowering, owner):
        return None
    types = [
        _item_type(lowering, made.operands[given.index])
        if isinstance(given, Operand) and is_set(made.operands[given.index])
        else _item_of(_type_in(made.operands, given))
        for given in made.attributes["args"]
    ]
    types += [*lowering.sets.items.get(owner, ()), *lowering.sets.items.get(None, ())]
    joined = types[0] if types else None
    for type_ in types[1:]:
        joined = _joined(joined, type_)
    return joined


def _type_of(lowering: Lowering, item: FrontendValue) -> Type | None:
    if isinstance(item, Static):
        return INT if type(item.value) is int else None
    if isinstance(item, TupleOf):
        return _of_parts([_type_of(lowering, below) for below in item.items])
    items = known_items(lowering, item)
    if items is not None:
        return _of_list([_type_of(lowering, i) for i in items])
    return _plain(lowering.value(item).type) if isinstance(item, (Value, ListRef)) else None


def _type_in(operands: tuple[Value, ...], given: Any) -> Type | None:
    """The type of an argument of the call that has made a set."""
    if isinstance(given, Operand):
        return _plain(operands[given.index].type)
    if isinstance(given, list):
        return _of_list([_type_in(operands, below) for below in given])
    if isinstance(given, tuple):
        return _of_parts([_type_in(operands, below) for below in given])
    return INT if type(given) is int else None


def _plain(type_: Type) -> Type | None:
    """The type, of integers, without what is known of their values."""
    if isinstance(type_, ListType):
        item = _plain(type_.item)
        return None if item is None else ListType(item)
    if isinstance(type_, Tuple):
        return _of_parts([_plain(part) for part in type_.items])
    return replace(type_, value=None) if is_integer(type_) else None


def _of_parts(parts: list[Type | None]) -> Type | None:
    known = all_known(parts)
    return None if known is None else Tuple(tuple(known))


def _of_list(items: list[Type | None]) -> Type | None:
    joined = items[0] if items else None
    for item in items[1:]:
        joined = _joined(joined, item)
    return None if joined is None else ListType(joined)


def _item_of(type_: Type | None) -> Type | None:
    return type_.item if isinstance(type_, ListType) else None


def _joined(a: Type | None, b: Type | None) -> Type | None:
    if a is None or b is None:
        return None
    try:
        return join(a, b)
    except JoinError:
        return None
