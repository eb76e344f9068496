"""Tangents of values that are put where a wider type holds numbers with tangents.

In `[(x, 2), (x, y)]` both items are pairs of floats. What stands for the integer in a tangent
is the integer itself as long as nothing else may stand there, but zero in this list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.ir.types import Array, Mapping, Scalar, Tuple, Type, is_differentiable
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.primitives.control import GET, ITEM, TUPLE, ZEROS_LIKE
from gradscribe.primitives.lists import OPERATIONS, SET_SECTION
from gradscribe.transforms.derivatives.cotangents import constant

if TYPE_CHECKING:
    from gradscribe.transforms.tangent import Tangent


def widened(writer: Tangent, value: Value, tangent: Value, wanted: Type) -> Value:
    """The tangent of a value, as that of a value of the type `wanted`, which holds it."""
    if not _lacks_tangents(value.type, wanted):
        return tangent
    if isinstance(value.type, Scalar):
        return constant(writer.builder, 0.0)
    if isinstance(value.type, Tuple) and isinstance(wanted, Tuple):
        items = []
        for position, type_ in enumerate(wanted.items):
            item, d_item = (
                writer.builder.call(ITEM, {"x": whole, "position": position})
                for whole in (value, tangent)
            )
            items.append(widened(writer, item, d_item, type_))
        return writer.builder.call(TUPLE, {"items": tuple(items)})
    if not is_differentiable(value.type):
        return writer.builder.call(ZEROS_LIKE, {"x": value})
    raise UnsupportedError(
        "a list with integers is put where numbers with derivatives may be",
        "make the integers floats",
        writer.builder.location,
    )


def put_into_lists(operation: Operation) -> Iterator[tuple[int, Type]]:
    """The operands of an operation that become a list, or items of one, in its result, by their
    numbers, and the types that they have there."""
    type_ = operation.results[0].type
    if operation.primitive not in _MAKING_LISTS or not isinstance(type_, SequenceType):
        return
    for name, value in operation.attributes.items():
        is_item = name == "items" or (name == "value" and operation.primitive is not SET_SECTION)
        if is_item or name in ("x", "y", "value"):
            for number in _operands_in(value):
                yield number, type_.item if is_item else type_


_MAKING_LISTS = OPERATIONS - {GET}


def _lacks_tangents(given: Type, wanted: Type) -> bool:
    """Whether a type has integers where the wider one has numbers with tangents."""
    if not is_differentiable(wanted):
        return False
    if isinstance(given, Tuple) and isinstance(wanted, Tuple):
        return any(map(_lacks_tangents, given.items, wanted.items))
    for kind in (SequenceType, Mapping):
        if isinstance(given, kind) and isinstance(wanted, kind):
            return _lacks_tangents(given.item, wanted.item)
    return isinstance(given, (Scalar, Array)) and not is_differentiable(given)


def _operands_in(attributes: Any) -> list[int]:
    """The numbers of the operands in a tree of attributes."""
    found: list[int] = []
    map_operands(attributes, lambda operand: found.append(operand.index))
    return found
