"""Blocks of operations as lists of statements: branches, loops, and the ways out of loops.

The order is that of the IR. The merged values of branches and the carried values of loops
need a move only where they could not share a variable. A loop's flag `again` becomes a
`break` where it is decided, and what runs only if there was none, the `else` of the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradscribe.codegen.assignments import Move, assign
from gradscribe.codegen.booleans import is_literal
from gradscribe.codegen.heads import ForHead, target
from gradscribe.codegen.listing import Listing, derived_only, is_derived
from gradscribe.codegen.rewriting import fresh, name, names_in, negation
from gradscribe.codegen.simple import write_simple
from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import IF, LOOP, Block, Operation, Value, walk
from gradscribe.ir.flow import Carried, Loop
from gradscribe.primitives.control import CAUGHT, ENTER, EXIT, attempted
from gradscribe.primitives.raising import GivenUpError, is_attempt, may_refuse, taken_down

_REPEATED_MOVES = 2
"""So many moves at the end of an iteration may stand before a `break`, too."""

_LEAVING = (ast.Break, ast.Raise, ast.Return, ast.Continue)


@dataclass(frozen=True)
class Leave:
    """The loop is to be left where `flag` is false. moves: what ends each iteration, and so comes
    before. marks: what comes before the `break` alone."""

    flag: Value
    moves: tuple[Move, ...] = ()
    marks: tuple[Move, ...] = ()


@dataclass(frozen=True)
class Exit:
    """How a loop with an exit is written.

    leave: where the `break` stands; None: after the iteration, where the flag is tested. marks: the
    carried values that only tell whether there was a `break`. They need no variable if `orelse`,
    what runs if there was none, is written as the loop's `else`, or if the loop around is left
    as well (passes_on); otherwise they are assigned before the `break`, and in the `else`
    (ended).
    """

    leave: Leave | None
    marks: tuple[Value, ...] = ()
    orelse: Operation | None = None
    passes_on: bool = False
    ended: tuple[Move, ...] = ()


class Statements(Listing):
    """Writes the statements of one function."""

    def block(self, block: Block, leave: Leave | None = None) -> None:
        """The statements of a block; those of its yields are the caller's business.

        leave: of the loop around, where the last statement decides that.
        """
        self._sequence(self.plan.statements(block), leave)

    def _sequence(self, operations: Sequence[Operation], leave: Leave | None = None) -> None:
        index = 0
        while index < len(operations):
            operation, *following = operations[index : index + 2]
            at_end = None if following else leave
            if operation.primitive is ENTER:
                index += self._with(operation, operations[index + 1 :])
            elif operation.primitive is LOOP:
                decides = leave is not None and any(leave.flag in o.results for o in following)
                mergeable = following[0] if following and not decides else None
                index += self._loop(operation, mergeable, at_end)
            elif operation.primitive is IF and operation not in self.plan.conditionals:
                self._if(operation, at_end)
            else:
                write_simple(self, operation)
            index += 1

    def _with(self, enter: Operation, following: Sequence[Operation]) -> int:
        """A `with` block; how many of the following operations were written with it."""
        outer = self.catching
        self.catching = [*outer, *taken_down(enter)]
        with self.nested() as body:
            length = self._within(following)
        self.catching = outer
        if enter.callee is attempted:
            return length + self._finally(enter, body, following[length:])
        manager = self.write.operation(enter)
        used = self.plan.is_used(enter.result)
        bound = target(self.plan, enter.result) if used else None
        self.add(ast.With([ast.withitem(manager, bound)], body or [ast.Pass()]), enter.location)
        return length

    def _within(self, following: Sequence[Operation]) -> int:
        """Write what stands in a block that was entered; how many operations that is, with the
        one that ends it."""
        depth = 1
        for length, operation in enumerate(following):
            depth += (operation.primitive is ENTER) - (operation.primitive is EXIT)
            if not depth:
                self._sequence(following[:length])
                return length + 1
        self._sequence(following)
        return len(following)

    def _finally(self, enter: Operation, body: list[ast.stmt], rest: Sequence[Operation]) -> int:
        """A `try` with `finally`, whose body is written; how many operations follow with it."""
        with self.nested() as final:
            length = self._within(rest[1:])
        if final:
            self.add(ast.Try(body or [ast.Pass()], [], [], final), enter.location)
        else:
            self.statements += body
        return length + 1

    def _try(self, operation: Operation, leave: Leave | None) -> None:
        """A `try` with one `except`: a branch whose condition is an attempt. Refusals pass it."""
        attempt = self.plan.uses.producer[operation.operands[0]]
        outer, catches = self.catching, attempt.attributes["catches"]
        self.catching = [*outer, *catches]
        body = self._branch(operation, 0, leave)
        self.catching = outer
        handler = self._branch(operation, 1, leave)
        handling = operation.regions[1].operations
        caught = next(o.result for o in handling if o.primitive is CAUGHT)
        bound = self.plan.names.of[caught] if self.plan.is_used(caught) else None
        clause = ast.ExceptHandler(self._classes(catches), bound, handler or [ast.Pass()])
        passing = [UnsupportedError, *([GivenUpError] if BaseException in catches else [])]
        clauses = [clause]
        if any(map(may_refuse, walk(operation.regions[0]))):
            clauses.insert(0, ast.ExceptHandler(self._classes(passing), None, [ast.Raise()]))
        self.add(ast.Try(body or [ast.Pass()], clauses, [], []), operation.location)

    def _classes(self, caught: Sequence[type[BaseException]]) -> ast.expr:
        """The classes that an `except` names."""
        classes = [self.write.scope.reference(cls) for cls in caught]
        return classes[0] if len(classes) == 1 else ast.Tuple(classes, ast.Load())

    # branches

    def _if(self, operation: Operation, leave: Leave | None = None) -> None:
        if is_attempt(operation):
            self._try(operation, leave)
            return
        test = self.write.value(operation.operands[0])
        then, otherwise = (self._branch(operation, side, leave) for side in (0, 1))
        if not then and not otherwise:
            return
        if not then or (_leaves(otherwise) and not _leaves(then)):
            test, then, otherwise = negation(test), otherwise, then
        if _leaves(then):
            self.add(ast.If(test, then, []), operation.location)
            self.statements += otherwise
        else:
            self.add(ast.If(test, then, otherwise), operation.location)

    def _branch(
        self, operation: Operation, side: int, leave: Leave | None = None
    ) -> list[ast.stmt]:
        block = operation.regions[side]
        flag = None
        moves: list[Move] = []
        for result, value in zip(operation.results, block.yields, strict=True):
            if leave is not None and result is leave.flag:
                flag = value
            elif self.plan.is_used(result):
                moves += self.move(result, value, operation)
        with self.nested(derived_only(operation.location)) as statements:
            inner = None
            if leave is not None and flag is not None and self._decides(block, flag, moves, 1):
                inner = replace(leave, flag=flag)
            self.block(block, inner)
            if not _leaves(statements):
                self.add_moves(self._after_literals(moves))
                if leave is not None and flag is not None and inner is None:
                    self._leave_unless(self.write.value(flag), operation, leave.moves + leave.marks)
        return statements

    def _after_literals(self, moves: list[Move]) -> list[Move]:
        """The moves of a branch, less those of literals that can stand at its beginning: what a
        derivative is where the branch does not matter to it."""
        literals = [
            move
            for move in moves
            if is_derived(move.location) and isinstance(move.value, ast.Constant)
        ]
        if not literals:
            return moves
        read = [*self.statements, *(move.value for move in moves)]
        mentioned = {name for node in read for name in names_in(node)}
        first = [move for move in literals if move.target not in mentioned]
        self.statements[:0] = [assign(name(move.target), move.value) for move in first]
        return [move for move in moves if move not in first]

    # leaving loops

    def _decides(self, block: Block, flag: Value, moves: list[Move], readers: int) -> bool:
        """Whether the last statement of a block makes the flag, and nothing is to be done
        after it, so that the `break` can stand in that statement."""
        last = self.plan.statements(block)[-1:]
        if flag not in [result for operation in last for result in operation.results]:
            return False
        (operation,) = last
        if operation.primitive is LOOP:
            marks = [mark for mark in self._marks(operation) if self.plan.is_used(mark)]
            if marks != [flag] or self._ends_by_test(operation):
                return False
        elif operation.primitive is not IF or operation in self.plan.conditionals:
            return False
        return len(self.plan.uses.of(flag)) == readers and not any(m.is_needed for m in moves)

    def _marks(self, loop: Operation) -> list[Value]:
        """The results of a loop that are true unless it was left by its exit."""
        parts = Loop(loop)
        return [
            phi.result
            for phi in parts.carried
            if phi.following in parts.exits
            and is_literal(phi.initial, True, self.plan.uses)
            and not self.plan.is_used(phi.parameter)
        ]

    def _leave_unless(
        self, again: ast.expr, operation: Operation, moves: tuple[Move, ...] = ()
    ) -> None:
        """`if not again: break`."""
        if isinstance(again, ast.Constant):
            if not again.value:
                self.add_moves(moves)
                self.add(ast.Break())
            return
        with self.nested() as statements:
            self.add_moves(moves)
            self.add(ast.Break())
        self.add(ast.If(negation(again), statements, []), operation.location)

    def _exit(self, loop: Operation, following: Operation | None, around: Leave | None) -> Exit:
        """The way in which a loop's exit is written. around: of the loop around this one."""
        parts = Loop(loop)
        body, (again,) = parts.body, parts.exits
        marks = self._marks(loop)
        moves = tuple(
            move
            for phi in parts.carried
            if phi.parameter in self.plan.carried and phi.result not in marks
            for move in self.move(phi.parameter, phi.following, loop)
            if move.is_needed
        )
        repeated = len(moves) <= _REPEATED_MOVES
        decides = repeated and self._decides(body, again, [], 1 + len(marks))
        leave = Leave(again, moves) if decides else None
        used = [mark for mark in marks if self.plan.is_used(mark)]
        if not used:
            return Exit(leave, tuple(marks))
        if around is not None and around.flag in used:
            return Exit(leave, tuple(marks), passes_on=True)
        has_else = following is not None and len(used) == 1 and self._is_else(following, used[0])
        if has_else and not self._ends_by_test(loop):
            return Exit(leave, tuple(marks), orelse=following)
        if leave is None or self._ends_by_test(loop):
            return Exit(None)
        left, ended = (
            tuple(
                Move(self.plan.names.of[mark], ast.Constant(value), False, loop.location)
                for mark in used
            )
            for value in (False, True)
        )
        return Exit(Leave(again, moves, left), tuple(marks), ended=ended)

    def _ends_by_test(self, loop: Operation) -> bool:
        """Whether the loop's condition is tested in its body, by a `break` of its own."""
        return len(loop.regions) > 1 and self._plain_test(loop) is None

    def _is_else(self, operation: Operation, mark: Value) -> bool:
        """Whether a statement only says what to do if a loop was not left by its exit."""
        if operation.primitive is not IF or operation.operands[0] is not mark:
            return False
        if len(self.plan.uses.of(mark)) > 1:
            return False
        other = operation.regions[1]
        moves = [
            move
            for result, value in zip(operation.results, other.yields, strict=True)
            if self.plan.is_used(result)
            for move in self.move(result, value, operation)
        ]
        return not self.plan.statements(other) and not any(move.is_needed for move in moves)

    # loops

    def _loop(self, loop: Operation, following: Operation | None, around: Leave | None) -> int:
        """Write a loop; how many of the following operations were written with it."""
        exit = Exit(None)
        if loop.attributes["shape"].exits:
            exit = self._exit(loop, following, around)
        phis = [
            phi
            for phi in Loop(loop).carried
            if phi.parameter in self.plan.carried and phi.result not in exit.marks
        ]
        self.add_moves(m for phi in phis for m in self.move(phi.parameter, phi.initial, loop))
        test = self._plain_test(loop)
        with self.nested(derived_only(loop.location)) as body:
            if test is None:
                for region in loop.regions[1:]:
                    self.block(region)
                    self._leave_unless(self.write.value(region.yields[0]), loop)
            self._body(loop, phis, exit.leave)
        with self.nested(derived_only(loop.location)) as orelse:
            self.add_moves(exit.ended)
            if exit.passes_on and around is not None:
                self.add_moves(around.moves)
                self.add(ast.Continue())
            elif exit.orelse is not None:
                self.statements += self._branch(exit.orelse, 0)
        self._add_loop(loop, test, body or [ast.Pass()], orelse)
        if exit.passes_on and around is not None:
            self.add_moves(around.moves + around.marks)
            self.add(ast.Break())
        return 0 if exit.orelse is None else 1

    def _add_loop(
        self,
        loop: Operation,
        test: ast.expr | None,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
    ) -> None:
        if loop.attributes["shape"].iterables:
            bound, iterable = ForHead(self.plan, self.write, loop).make()
            self.add(ast.For(bound, iterable, body, orelse), loop.location)
        else:
            self.add(ast.While(test or ast.Constant(True), body, orelse), loop.location)

    def _plain_test(self, loop: Operation) -> ast.expr | None:
        """The condition of a `while`, if it is one expression."""
        if loop.attributes["shape"].iterables or len(loop.regions) < 2:
            return None
        condition = loop.regions[1]
        if self.plan.statements(condition):
            return None
        return self.write.value(condition.yields[0])

    def _body(
        self,
        loop: Operation,
        phis: list[Carried],
        leave: Leave | None,
    ) -> None:
        parts = Loop(loop)
        moves = [m for phi in phis for m in self.move(phi.parameter, phi.following, loop)]
        moves = [move for move in moves if move.is_needed]
        if leave is not None or not parts.exits:
            self.block(parts.body, leave)
            if not _leaves(self.statements):
                self.add_moves(moves)
            return
        self.block(parts.body)
        again = self.write.value(parts.exits[0])
        if not names_in(again).isdisjoint(move.target for move in moves):
            kept = name(fresh("again", self.plan.names.taken))
            self.add(assign(kept, again), loop.location)
            again = kept
        self.add_moves(moves)
        self._leave_unless(again, loop)


def _leaves(statements: list[ast.stmt]) -> bool:
    return bool(statements) and isinstance(statements[-1], _LEAVING)
