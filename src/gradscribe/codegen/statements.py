"""Blocks of operations as lists of statements.

The order is that of the IR. What has a variable is assigned to it; stores become subscript
assignments; the merged values of branches and the carried values of loops need a move only
where they could not share a variable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gradscribe.codegen.assignments import (
    Move,
    accumulated,
    assign,
    assign_name,
    augmented,
    casts_in_place,
    in_order,
)
from gradscribe.codegen.expressions import Expressions
from gradscribe.codegen.loops import ForHead, target
from gradscribe.codegen.plan import Plan
from gradscribe.codegen.rewriting import call_method, name, negation
from gradscribe.codegen.uses import carried
from gradscribe.ir.core import CALL, IF, LOOP, Block, Location, Operation, Primitive, Value
from gradscribe.primitives import control, indexing

_LEAVING = (ast.Break, ast.Raise, ast.Return, ast.Continue)


class Statements:
    """Writes the statements of one function.

    comments: for the first statement of each run that comes from one statement of the primal.
    blank_before: where the adjoint begins.
    """

    def __init__(self, plan: Plan, write: Expressions) -> None:
        self.comments: dict[ast.stmt, str] = {}
        self.blank_before: set[ast.stmt] = set()
        self._plan = plan
        self._write = write
        self._statements: list[ast.stmt] = []
        self._depth = 0
        self._commented: Location | None = None

    # blocks

    @contextmanager
    def nested(self) -> Iterator[list[ast.stmt]]:
        """Collect the statements that are added meanwhile in a list of their own."""
        outer, self._statements = self._statements, []
        self._depth += 1
        try:
            yield self._statements
        finally:
            self._statements = outer
            self._depth -= 1

    def add(self, statement: ast.stmt, location: Location | None = None) -> None:
        self._statements.append(statement)
        derived = location is not None and location.role != "primal"
        if derived and self._depth == 1 and not self.blank_before:
            self.blank_before.add(statement)
        if isinstance(statement, (ast.For, ast.While, ast.If)) or location is None:
            return
        if derived and not _same_statement(location, self._commented):
            self.comments[statement] = location.statement
        self._commented = location if derived else None

    def block(self, block: Block, exit_flag: Value | None = None) -> None:
        """The statements of a block; those of its yields are the caller's business.

        exit_flag: the result of the last statement whose being false means `break`.
        """
        for operation in block.operations:
            if self._plan.is_statement(operation):
                if operation.primitive is IF:
                    self._if(operation, exit_flag)
                else:
                    _STATEMENTS.get(operation.primitive, Statements._assign)(self, operation)

    def moves(self, moves: Iterable[Move]) -> None:
        """Assignments that happen at once."""
        for group in in_order([move for move in moves if move.is_needed]):
            if len(group) == 1:
                (move,) = group
                derived = _is_derived(move.location)
                self.add(assign_name(move.target, move.value, move.type, derived), move.location)
            else:
                targets = ast.Tuple([name(move.target) for move in group], ast.Store())
                values = ast.Tuple([move.value for move in group], ast.Load())
                self.add(assign(targets, values), group[0].location)

    def _move(self, result: Value, value: Value, operation: Operation) -> list[Move]:
        """The move that gives a merged or carried value its next value, if it is one."""
        if self._plan.is_undefined(value):
            if result not in self._plan.recorded:
                return []
            expression: ast.expr = ast.Constant(None)
        else:
            expression = self._write.value(value)
        producer = self._plan.uses.producer.get(value)
        made_here = producer is not None and value in self._plan.folded
        location = producer.location if producer is not None and made_here else operation.location
        return [Move(self._plan.names.of[result], expression, result.type, location)]

    # operations with one result

    def _assign(self, operation: Operation) -> None:
        (result,) = operation.results
        if not self._plan.is_used(result):
            if operation.primitive.effect:
                self.add(ast.Expr(self._write.operation(operation)), operation.location)
            return
        expression = self._write.operation(operation)
        bound = target(self._plan, result)
        if isinstance(bound, ast.Name):
            derived = _is_derived(operation.location)
            statement = assign_name(bound.id, expression, result.type, derived)
        else:
            statement = assign(bound, expression)
        self.add(statement, operation.location)

    def _call(self, operation: Operation) -> None:
        expression = self._write.operation(operation)
        targets = [target(self._plan, result) for result in operation.results]
        if not targets:
            statement: ast.stmt = ast.Expr(expression)
        elif len(targets) == 1:
            statement = assign(targets[0], expression)
        else:
            statement = assign(ast.Tuple(targets, ast.Store()), expression)
        self.add(statement, operation.location)

    def _undef(self, operation: Operation) -> None:
        """Nothing is written for a value that is never read."""

    # stores

    def _store(self, operation: Operation) -> None:
        array, value = operation.operands[0], self._stored(operation)
        view = self._write.view(
            operation, self._write.value(array), operation.attributes["path"]
        )
        place = view if isinstance(view, ast.Name) else _subscripted(view)
        derived = _is_derived(operation.location)
        in_place = augmented(view, value, derived)
        if in_place is not None and self._casts(operation):
            assert isinstance(in_place, ast.AugAssign) and isinstance(in_place.op, ast.operator)
            in_place.target = place  # type: ignore[assignment]
            self.add(in_place, operation.location)
        else:
            self.add(assign(_subscripted(view), value), operation.location)

    def _casts(self, operation: Operation) -> bool:
        array, value = operation.operands[0].type, operation.operands[1].type
        return casts_in_place(value, array)

    def _accumulate(self, operation: Operation) -> None:
        view = self._write.view(
            operation, self._write.value(operation.operands[0]), operation.attributes["path"]
        )
        place = view if isinstance(view, ast.Name) else _subscripted(view)
        self.add(accumulated(place, self._stored(operation)), operation.location)

    def _stored(self, operation: Operation) -> ast.expr:
        return self._write.argument(operation, operation.attributes["value"])

    # lists and records

    def _append(self, operation: Operation) -> None:
        owner = self._write.value(operation.operands[0])
        value = self._stored(operation)
        self.add(ast.Expr(call_method(owner, "append", value)), operation.location)

    def _set(self, operation: Operation) -> None:
        owner = self._write.value(operation.operands[0])
        index = self._write.argument(operation, operation.attributes["index"])
        place = ast.Subscript(owner, index, ast.Store())
        self.add(assign(place, self._stored(operation)), operation.location)

    def _pop(self, operation: Operation) -> None:
        """`xs.pop()`; right after `x = xs[-1]` these are one statement."""
        owner = self._write.value(operation.operands[0])
        pop = call_method(owner, "pop")
        last = self._statements[-1] if self._statements else None
        if isinstance(last, ast.Assign) and _is_last_item(last.value, owner):
            last.value = pop
        else:
            self.add(ast.Expr(pop), operation.location)

    # effects

    def _raise(self, operation: Operation) -> None:
        exception, cause = operation.attributes["exception"], operation.attributes["cause"]
        self.add(
            ast.Raise(
                self._write.argument(operation, exception),
                None if cause is None else self._write.argument(operation, cause),
            ),
            operation.location,
        )

    def _assert(self, operation: Operation) -> None:
        condition, message = operation.attributes["condition"], operation.attributes["message"]
        text = None if message is None else self._write.argument(operation, message)
        self.add(ast.Assert(self._write.argument(operation, condition), text), operation.location)

    # branches

    def _if(self, operation: Operation, exit_flag: Value | None = None) -> None:
        test = self._write.value(operation.operands[0])
        then, otherwise = (self._branch(operation, n, exit_flag) for n in (0, 1))
        if not then and not otherwise:
            return
        if not then or (otherwise and _leaves(otherwise) and not _leaves(then)):
            test, then, otherwise = negation(test), otherwise, then
        if _leaves(then):
            self.add(ast.If(test, then, []), operation.location)
            self._statements += otherwise
        else:
            self.add(ast.If(test, then, otherwise), operation.location)

    def _branch(
        self, operation: Operation, number: int, exit_flag: Value | None
    ) -> list[ast.stmt]:
        block = operation.regions[number]
        flag = None
        moves = []
        for result, value in zip(operation.results, block.yields, strict=True):
            if result is exit_flag:
                flag = value
            elif self._plan.is_used(result):
                moves.append((result, value))
        with self.nested() as statements:
            inner = self._exit_flag(block, flag, [v for _, v in moves])
            self.block(block, inner)
            if not (statements and _leaves(statements)):
                self.moves(m for r, v in moves for m in self._move(r, v, operation))
                if flag is not None and inner is None:
                    self._exit(flag, operation)
        return statements

    # loops

    def _loop(self, loop: Operation) -> None:
        phis = [phi for phi in carried(loop) if phi[1] in self._plan.carried]
        self.moves(m for i, p, _, _ in phis for m in self._move(p, i, loop))
        conditions = loop.regions[1:]
        test = self._plain_test(loop)
        with self.nested() as body:
            if test is None:
                for region in conditions:
                    self.block(region)
                    self._leave_unless(self._write.value(region.yields[0]), loop)
            self._body(loop, phis)
        if not body:
            body.append(ast.Pass())
        if loop.attributes["shape"].iterables:
            bound, iterable = ForHead(self._plan, self._write, loop).make()
            self.add(ast.For(bound, iterable, body, []), loop.location)
        else:
            self.add(ast.While(test or ast.Constant(True), body, []), loop.location)

    def _plain_test(self, loop: Operation) -> ast.expr | None:
        """The condition of a `while`, if it is one expression."""
        if loop.attributes["shape"].iterables or len(loop.regions) < 2:
            return None
        condition = loop.regions[1]
        if any(self._plan.is_statement(operation) for operation in condition.operations):
            return None
        return self._write.value(condition.yields[0])

    def _body(self, loop: Operation, phis: list[tuple[Value, Value, Value, Value]]) -> None:
        shape, body = loop.attributes["shape"], loop.regions[0]
        flag = body.yields[shape.carried] if shape.exits else None
        moves = [move for _, p, v, _ in phis for move in self._move(p, v, loop)]
        moves = [move for move in moves if move.is_needed]
        inner = None if moves else self._exit_flag(body, flag, [])
        self.block(body, inner)
        if flag is None or inner is not None:
            self.moves(moves)
            return
        self._commit_flag(flag, moves, loop)
        self.moves(moves)
        self._exit(flag, loop)
