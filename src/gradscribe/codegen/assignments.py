"""Assignments as syntax trees: in place where that means the same, several at once in order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradscribe.codegen.rewriting import name, names_in, same, without_minus
from gradscribe.ir.core import Location, Operation
from gradscribe.ir.types import Array, Scalar, Type

_COMMUTATIVE = (ast.Add, ast.Mult)


def assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value)


def assign_name(target: str, value: ast.expr, numbers: bool, derived: bool) -> ast.stmt:
    """`target = value`; for numbers, `target += other` where value is `target + other`.

    derived: the statement is not the user's, so that operands may change places.
    """
    if numbers:
        change = change_of(name(target), value, derived)
        if change is not None:
            return changed(name(target), *change)
    return assign(name(target), value)


def computes_with_numbers(operation: Operation | None) -> bool:
    """Whether no operand can be changed in place. The sum of arrays without axes is a number, too,
    but their `+=` changes the array."""
    return operation is not None and all(
        isinstance(value.type, Scalar) for value in (*operation.operands, *operation.results)
    )


def change_of(
    read: ast.expr, value: ast.expr, derived: bool
) -> tuple[ast.operator, ast.expr] | None:
    """(op, other) where value is `read op other`, else None: never of `@`, which NumPy does in
    place for matrices alone."""
    if not isinstance(value, ast.BinOp) or isinstance(value.op, ast.MatMult):
        return None
    if same(value.left, read):
        return value.op, value.right
    if derived and isinstance(value.op, _COMMUTATIVE) and same(value.right, read):
        return value.op, value.left
    return None


def changed(target: ast.expr, operator: ast.operator, value: ast.expr) -> ast.AugAssign:
    """`target op= value`."""
    assert isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
    return ast.AugAssign(target, operator, value)


def accumulated(target: ast.expr, value: ast.expr) -> ast.stmt:
    """`target += value`, or `-=` where value has a leading minus."""
    positive = without_minus(value)
    if positive is not None:
        return changed(target, ast.Sub(), positive)
    return changed(target, ast.Add(), value)


def casts_in_place(value: Type, array: Type) -> bool:
    """Whether NumPy lets an in-place operation of this result type write to the array."""
    if not isinstance(value, (Scalar, Array)) or not isinstance(array, Array):
        return False
    return bool(np.can_cast(value.dtype, array.dtype, "same_kind"))


@dataclass(frozen=True)
class Move:
    """An assignment to a variable, one of several that happen at once.

    numbers: whether the value is computed with numbers alone.
    """

    target: str
    value: ast.expr
    numbers: bool
    location: Location | None

    @property
    def is_needed(self) -> bool:
        return not (isinstance(self.value, ast.Name) and self.value.id == self.target)


def in_order(moves: Sequence[Move]) -> list[list[Move]]:
    """The moves in an order in which none changes what a later one reads; moves that read
    each other's targets stand together (`u, v = v, u`)."""
    pending = list(moves)
    ordered: list[list[Move]] = []
    while pending:
        for move in pending:
            others = [m for m in pending if m is not move]
            if not any(move.target in names_in(other.value) for other in others):
                pending.remove(move)
                ordered.append([move])
                break
        else:
            ordered.append(pending)
            break
    return ordered
