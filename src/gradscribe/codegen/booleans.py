"""`and`, `or` and `not`, which the IR has as branches: recognized by what the branches yield."""

from __future__ import annotations

from gradscribe.codegen.uses import Uses
from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Scalar
from gradscribe.primitives.control import CONSTANT


def is_and(operation: Operation, uses: Uses) -> bool:
    """`c and a`: otherwise the value is c itself, which is false."""
    (condition,) = operation.operands
    value = operation.regions[1].yields[0]
    return value is condition or (_is_bool(condition) and is_literal(value, False, uses))


def is_or(operation: Operation, uses: Uses) -> bool:
    """`c or a`: where c holds, the value is c itself."""
    (condition,) = operation.operands
    value = operation.regions[0].yields[0]
    return value is condition or (_is_bool(condition) and is_literal(value, True, uses))


def is_not(operation: Operation, uses: Uses) -> bool:
    """`not c`: False where c holds, else True."""
    then, otherwise = (region.yields[0] for region in operation.regions)
    return is_literal(then, False, uses) and is_literal(otherwise, True, uses)


def is_boolean(operation: Operation, uses: Uses) -> bool:
    """Whether a branch with one result is an `and`, `or` or `not`."""
    return any(form(operation, uses) for form in (is_and, is_or, is_not))


def is_literal(value: Value, constant: bool, uses: Uses) -> bool:
    """Whether a value is this constant, and not a variable that the user has set to it."""
    producer = uses.producer.get(value)
    if producer is None or producer.primitive is not CONSTANT or value.name:
        return False
    return producer.attributes["value"] is constant


def _is_bool(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype == "bool" and value.type.weak
