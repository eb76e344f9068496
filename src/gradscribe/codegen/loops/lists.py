"""Lists in native code: all items of one have one type, which is that of the first.

A list of Python's may hold an integer beside a float. A native one would make a float of the one,
or an integer of the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.ir.core import IF, LoopShape, Operand, Operation, Value
from gradscribe.ir.types import Array, Collected, Never, Scalar, Sequence, Tuple, Type, Undefined
from gradscribe.primitives.control import APPEND, GET, LIST, SET
from gradscribe.primitives.lists import OPERATIONS, SET_SECTION

OF_LISTS = OPERATIONS | {LIST, APPEND, SET}


def put_together(operation: Operation) -> Iterator[tuple[Value, bool]]:
    """What the list that an operation gives is made of; with each, whether that is a list whose
    items it has, or an item."""
    for name in ("x", "y", "value", "items"):
        given = operation.attributes.get(name)
        is_list = name in ("x", "y") or operation.primitive is SET_SECTION
        for each in given if isinstance(given, tuple) else (given,):
            if isinstance(each, Operand):
                yield operation.operands[each.index], is_list


def is_of_one_type(operation: Operation) -> bool:
    """Whether what an operation on lists puts together is of one type."""
    result = operation.results[0].type
    if operation.primitive is GET or not isinstance(result, Sequence):
        return True
    for value, is_list in put_together(operation):
        type_ = value.type
        item = type_.item if is_list and isinstance(type_, Sequence) else type_
        if not _are_same(item, result.item):
            return False
    return True


def is_joined_of_one_type(operation: Operation) -> bool:
    """Whether each list that a branch or a loop gives is of one type on all ways."""
    pairs: list[tuple[Value, Value]] = []
    if operation.primitive is IF:
        for region in operation.regions:
            pairs += zip(operation.results, region.yields, strict=True)
    else:
        shape: LoopShape = operation.attributes["shape"]
        body = operation.regions[0]
        carried = body.parameters[len(shape.iterables) :]
        pairs += zip(carried, operation.operands[shape.iterable_operands :], strict=True)
        pairs += zip(carried, body.yields[: shape.carried], strict=True)
    held = (pair for pair in pairs if isinstance(pair[0].type, (Sequence, Tuple)))
    return all(_are_same(a.type, b.type) for a, b in held)


def _are_same(a: Type, b: Type) -> bool:
    """Whether native code has the same type for these."""
    if isinstance(a, (Never, Undefined)) or isinstance(b, (Never, Undefined)):
        return True
    if type(a) is not type(b):
        return False
    match a, b:
        case (Scalar(), Scalar()):
            return a.dtype == b.dtype
        case (Array(), Array()):
            return a.dtype == b.dtype and a.rank == b.rank
        case (Sequence(), Sequence()):
            return _are_same(a.item, b.item)
        case (Collected(), Collected()):
            return _are_same(a.item, b.item)
        case (Tuple(), Tuple()):
            same = map(_are_same, a.items, b.items)
            return len(a.items) == len(b.items) and all(same)
    return True
