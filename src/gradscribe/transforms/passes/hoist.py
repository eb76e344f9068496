"""Hoist: what every iteration of a loop computes alike is computed once, before the loop.

Assumes a simplified function in value semantics. Guarantees the same results: an operation moves in
front of the loop whose body it stands in, if its operands are made outside, it has no effect, and
it cannot raise where the loop might make no iteration. Only what costs more than to compute it
again is worth a name (see `costs`), with the operations it is made of; so it is not recorded in
every iteration, and its derivative is taken once. Arrays that the loop stores to, or that are left
outside, stay: each iteration needs a new one.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gradscribe.ir.core import CALL, LOOP, Block, Function, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import CONSTANT, ENTER, EXIT, LENT, LENT_ITSELF, REREAD
from gradscribe.primitives.raising import is_strict, may_raise
from gradscribe.transforms.analyses.costs import effort_of
from gradscribe.transforms.analyses.def_use import DefUse
from gradscribe.transforms.analyses.left import left_values
from gradscribe.transforms.passes.sink import has_effect, is_ordered

_ERRORS = (ValueError, LookupError, TypeError, ZeroDivisionError, OverflowError)
"""What stops a program whose floating-point errors are warnings."""


def hoist(function: Function) -> Function:
    """The function with such operations moved; itself, where there are none."""
    body = _Hoisting(function).block(function.body)
    return function if body is function.body else replace(function, body=body)


class _Hoisting:
    def __init__(self, function: Function) -> None:
        self._facts = function.facts
        self._structure = DefUse(function)
        self._left = left_values(function)
        self._managers: list[Operation] = []

    def block(self, block: Block) -> Block:
        """The block with operations moved in front of its loops, and of those in these. Where the
        program may be told of invalid values, it is told of those in each iteration."""
        operations: list[Operation] = []
        around = len(self._managers)
        for operation in block.operations:
            if operation.primitive is ENTER:
                self._managers.append(operation)
            elif operation.primitive is EXIT and len(self._managers) > around:
                self._managers.pop()
            inside = tuple(map(self.block, operation.regions))
            if any(new is not old for new, old in zip(inside, operation.regions, strict=True)):
                operation = replace(operation, regions=inside)
            moved: list[Operation] = []
            if operation.primitive is LOOP and not any(map(is_strict, self._managers)):
                moved, operation = self._divided(operation)
            operations += (*moved, operation)
        del self._managers[around:]
        same = len(operations) == len(block.operations) and all(
            new is old for new, old in zip(operations, block.operations, strict=True)
        )
        return block if same else replace(block, operations=tuple(operations))

    def _divided(self, loop: Operation) -> tuple[list[Operation], Operation]:
        """The operations of the body that go in front of a loop, and the loop without them."""
        body, *test = loop.regions
        if any(o.primitive in (ENTER, EXIT) for o in body.operations):
            return [], loop
        alike = self._alike(loop, body)
        made = {o.result: o for o in alike}
        wanted: dict[Operation, None] = {}

        def want(operation: Operation) -> None:
            for operand in operation.operands:
                if operand in made:
                    want(made[operand])
            wanted[operation] = None

        for operation in alike:
            if effort_of(operation) == math.inf:
                want(operation)
        if not wanted:
            return [], loop
        rest = tuple(o for o in body.operations if o not in wanted)
        return list(wanted), replace(loop, regions=(replace(body, operations=rest), *test))

    def _alike(self, loop: Operation, body: Block) -> list[Operation]:
        """The operations of a body that give the same in every iteration and may run before it."""
        here = {result for o in body.operations for result in o.results} | set(body.parameters)
        starts, found = self._makes_an_iteration(loop), []
        for operation in body.operations:
            if not here.isdisjoint(operation.operands) or not self._may_move(operation):
                starts = starts and not has_effect(operation)
                continue
            if starts or not may_raise(operation, _ERRORS):
                found.append(operation)
                here.remove(operation.result)
        return found

    def _may_move(self, operation: Operation) -> bool:
        if (
            operation.primitive in (CALL, LENT, LENT_ITSELF, REREAD)
            or operation.regions
            or has_effect(operation)
            or is_ordered(operation)
        ):
            return False
        result = operation.result
        return isinstance(result.type, Scalar) or (
            isinstance(result.type, Array)
            and result not in self._left
            and not self._structure.is_stored(result)
        )

    def _makes_an_iteration(self, loop: Operation) -> bool:
        """Whether it is known that the body of a loop runs."""
        parts = Loop(loop)
        shape = parts.shape
        if not shape.iterables or shape.condition:
            return False
        for kind, operands, _ in parts.iterated:
            if kind == "range":
                known = all_known([self._constant(operand) for operand in operands])
                if known is None or not range(*known):
                    return False
            elif kind != "array" or not self._has_rows(operands[0]):
                return False
        return True

    def _constant(self, value: Value) -> int | None:
        made = self._structure.definition.get(value)
        found = made.attributes["value"] if made and made.primitive is CONSTANT else None
        return found if isinstance(found, int) else None

    def _has_rows(self, array: Value) -> bool:
        assert isinstance(array.type, Array)
        return self._facts.is_nonnegative(array.type.dims[0] - 1)
