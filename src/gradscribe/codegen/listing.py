"""A growing list of statements, with the comments that tell where each comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gradscribe.codegen.assignments import (
    Move,
    assign,
    assign_name,
    computes_with_numbers,
    in_order,
)
from gradscribe.codegen.expressions import Expressions
from gradscribe.codegen.plan import Plan
from gradscribe.codegen.rewriting import name
from gradscribe.ir.core import Location, Operation, Value
from gradscribe.primitives.control import CONSTANT


class Listing:
    """The statements of one function, or of a block in it, as they are written.

    comments: for the first statement of each run in a block that comes from one statement of the
        primal. What comes from the head of the `if` or loop around needs none.
    locations: where each statement comes from, as far as it comes from one of the primal.
    blank_before: where the adjoint begins. catching: what the `try` blocks around handle, and
        what others take down.
    """

    def __init__(self, plan: Plan, write: Expressions) -> None:
        self.plan = plan
        self.write = write
        self.statements: list[ast.stmt] = []
        self.catching: list[type[BaseException]] = []
        self.comments: dict[ast.stmt, str] = {}
        self.locations: dict[ast.stmt, Location] = {}
        self.blank_before: set[ast.stmt] = set()
        self._depth = 0
        self._has_primal = False
        self._run: Location | None = None
        self._first: ast.stmt | None = None

    @contextmanager
    def nested(self, head: Location | None = None) -> Iterator[list[ast.stmt]]:
        """Collect the statements that are added meanwhile in a list of their own: the block
        below a head that comes from this place."""
        outer, self.statements = self.statements, []
        before, self._run = self._run, head
        self._depth += 1
        try:
            yield self.statements
        finally:
            self.statements = outer
            self._run = before
            self._depth -= 1

    def add(self, statement: ast.stmt, location: Location | None = None) -> None:
        self.statements.append(statement)
        if location is not None:
            self.locations[statement] = location
        derived = is_derived(location)
        if self._depth == 1 and not self.blank_before:
            self._has_primal |= location is not None and not derived
            if location is not None and location.role == "adjoint" and self._has_primal:
                self.blank_before.add(statement)
        if location is not None and not isinstance(statement, ast.With):
            self._comment(statement, location)

    def _comment(self, statement: ast.stmt, location: Location) -> None:
        """Comment a statement that begins a run. A tangent that stands next to its primal
        statement needs no comment."""
        run, self._run = self._run, location
        if statement in self.blank_before:
            run = None
        if run is not None and (run.line, run.statement) == (location.line, location.statement):
            roles = (run.role, location.role)
            if roles == ("tangent", "primal"):
                self.comments.pop(self._first, None)  # type: ignore[arg-type]
            if roles != ("primal", "adjoint"):
                return
        self._first = statement
        if is_derived(location):
            self.comments[statement] = location.statement

    def add_moves(self, moves: Iterable[Move]) -> None:
        """Assignments that happen at once."""
        for group in in_order([move for move in moves if move.is_needed]):
            first = group[0]
            if len(group) == 1:
                derived = is_derived(first.location)
                statement = assign_name(first.target, first.value, first.numbers, derived)
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
        is_folded = value in self.plan.folded
        if is_folded and producer is not None and producer.primitive is not CONSTANT:
            location = producer.location or location
        numbers = computes_with_numbers(producer)
        return [Move(self.plan.names.of[result], expression, numbers, location)]


def derived_only(location: Location | None) -> Location | None:
    """The location, if it is that of a statement of the adjoint or tangent."""
    return location if is_derived(location) else None


def is_derived(location: Location | None) -> bool:
    """Whether a statement belongs to the adjoint or tangent."""
    return location is not None and location.role != "primal"
