"""Tangents of stores: they are linear in the array and the stored value together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradscribe.ir.core import Operation, Value, map_operands
from gradscribe.transforms.building import store_at
from gradscribe.transforms.derivatives.cotangents import constant

if TYPE_CHECKING:
    from gradscribe.transforms.tangent import Tangent


def tangent_of_store(tangent: Tangent, operation: Operation) -> Value:
    x, value = operation.operands[:2]
    d_value = tangent.of(value) or constant(tangent.builder, 0.0)
    return _stored(tangent, operation, tangent.required(x), d_value)


def tangent_of_accumulation(tangent: Tangent, operation: Operation) -> Value | None:
    x, value = operation.operands[:2]
    d_value = tangent.of(value)
    if d_value is None:
        return tangent.of(x)
    return _stored(tangent, operation, tangent.required(x), d_value)


def _stored(tangent: Tangent, operation: Operation, d_x: Value, d_value: Value) -> Value:
    operands = operation.operands
    path = map_operands(operation.attributes["path"], lambda operand: operands[operand.index])
    return store_at(tangent.builder, operation.primitive, d_x, d_value, path)
