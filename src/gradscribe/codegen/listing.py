"""A growing list of statements, with the comments that tell where each comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gradscribe.codegen.assignments import Move, assign, assign_name, in_order
from gradscribe.codegen.expressions import Expressions
from gradscribe.codegen.plan import Plan
from gradscribe.codegen.rewriting import name
from gradscribe.ir.core import Location, Operation, Value


class Listing:
    """The statements of one function, or of a block in it, as they are written.

    comments: for the first statement of each run that comes from one statement of the primal.
    blank_before: where the adjoint begins.
    """

    def __init__(self, plan: Plan, write: Expressions) -> None:
        self.plan = plan
        self.write = write
        self.statements: list[ast.stmt] = []
        self.comments: dict[ast.stmt, str] = {}
        self.blank_before: set[ast.stmt] = set()
        self._depth = 0
        self._has_primal = False
        self._commented: Location | None = None

    @contextmanager
    def nested(self) -> Iterator[list[ast.stmt]]:
        """Collect the statements that are added meanwhile in a list of their own."""
        outer, self.statements = self.statements, []
        self._depth += 1
        try:
            yield self.statements
        finally:
            self.statements = outer
            self._depth -= 1

    def add(self, statement: ast.stmt, location: Location | None = None) -> None:
        self.statements.append(statement)
        derived = is_derived(location)
        if self._depth == 1 and not self.blank_before:
            self._has_primal |= location is not None and not derived
            if derived and self._has_primal:
                self.blank_before.add(statement)
        if isinstance(statement, (ast.For, ast.While, ast.If)) or location is None:
            return
        is_header = location.statement.endswith(":")
        if derived and not is_header and not _same_statement(location, self._commented):
            self.comments[statement] = location.statement
        self._commented = location if derived else None

    def add_moves(self, moves: Iterable[Move]) -> None:
        """Assignments that happen at once."""
        for group in in_order([move for move in moves if move.is_needed]):
            first = group[0]
            if len(group) == 1:
                derived = is_derived(first.location)
                statement = assign_name(first.target, first.value, first.type, derived)
            else:
                targets = ast.Tuple([name(move.target) for move in group], ast.Store())
                values = ast.Tuple([move.value for move in group], ast.Load())
                statement = assign(targets, values)
            self.add(statement, first.location)

    def move(self, result: Value, value: Value, operation: Operation) -> list[Move]:
        """The move that gives a merged or carried value its next value, if it is one."""
        location = operation.location
        if self.plan.is_undefined(value):
            if result not in self.plan.recorded:
                return []
            expression: ast.expr = ast.Constant(None)
        else:
            expression = self.write.value(value)
        producer = self.plan.uses.producer.get(value)
        if producer is not None and value in self.plan.folded:
            location = producer.location or location
        return [Move(self.plan.names.of[result], expression, result.type, location)]


def is_derived(location: Location | None) -> bool:
    """Whether a statement belongs to the adjoint or tangent."""
    return location is not None and location.role != "primal"


def _same_statement(a: Location, b: Location | None) -> bool:
    return b is not None and (a.line, a.statement) == (b.line, b.statement)
