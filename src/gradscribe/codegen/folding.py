"""Which values are written where they are read, instead of in a statement of their own.

A value that the user did not name and that is read once goes back into the expression that
reads it, if that is in the same block and nothing in between changes what the value is made
of: no store into an array that it reads, no side effect, no variable that gets its next
value. Constants are written wherever they are read, and so are lengths of arrays.
"""

from __future__ import annotations

from typing import Any

from gradscribe.codegen.changes import ChangeAnalysis
from gradscribe.codegen.uses import IN_PLACE, Pattern, Uses
from gradscribe.ir.core import CALL, IF, LOOP, Block, Function, Method, Operation, Value
from gradscribe.primitives.control import ASSERT, CONSTANT, PUSH, RAISE, STACK, STACK_POP, UNDEF
from gradscribe.primitives.indexing import LENGTH, SIZE

_STATEMENTS = IN_PLACE | {IF, LOOP, CALL, PUSH, RAISE, ASSERT, STACK, UNDEF, CONSTANT}
_LENGTHS = frozenset({LENGTH, SIZE})

COLUMNS = 80
"""An expression that would reach further is split at a temporary."""


def fold(function: Function, uses: Uses, patterns: dict[Value, Pattern]) -> set[Value]:
    """The values that are written into the expressions that read them."""
    folding = _Folding(function, uses, patterns)
    folding.block(function.body)
    _Limit(uses, folding.folded).block(function.body, 1)
    return folding.folded


class _Folding:
    def __init__(self, function: Function, uses: Uses, patterns: dict[Value, Pattern]) -> None:
        self.folded: set[Value] = set()
        self._uses = uses
        self._bound = {v for pattern in patterns.values() for v in pattern.values()}
        self._bound.update(patterns)
        self._changes = ChangeAnalysis(function, uses, patterns)

    def block(self, block: Block) -> None:
        """Fold what can be folded, last operation first, so that the statement that a value
        would become part of is known. `final[i]`: the index of that statement."""
        operations = block.operations
        final = list(range(len(operations) + 1))
        for index in reversed(range(len(operations))):
            operation = operations[index]
            for region in operation.regions:
                self.block(region)
            if self._is_always_written_out(operation):
                self.folded.add(operation.result)
            elif self._may_fold(operation):
                target, position = self._uses.of(operation.result)[0]
                if target is block and self._can_move(block, index, final[position], final):
                    self.folded.add(operation.result)
                    final[index] = final[position]

    def _is_always_written_out(self, operation: Operation) -> bool:
        """Constants, lengths of arrays whose variable keeps them; undefined values nowhere."""
        if operation.primitive is CONSTANT:
            return not operation.result.name
        if operation.primitive is UNDEF:
            return True
        if operation.primitive not in _LENGTHS or operation.result.name:
            return False
        return self._changes.is_constant_variable(operation.operands[0])

    def _may_fold(self, operation: Operation) -> bool:
        if len(operation.results) != 1:
            return False
        value = operation.result
        if value.name or value in self._changes.kept or value in self._bound:
            return False
        if len(self._uses.of(value)) != 1:
            return False
        if operation.primitive is IF:
            return self._is_conditional_expression(operation)
        return operation.primitive not in _STATEMENTS

    def _is_conditional_expression(self, operation: Operation) -> bool:
        """Whether an `if` was one in an expression (also `and`, `or`) and can be one again."""
        statement = operation.location.statement if operation.location else "if"
        if statement.startswith(("if ", "elif ")) or self._changes.of(operation).barrier:
            return False
        for region in operation.regions:
            if not all(r in self.folded for o in region.operations for r in o.results):
                return False
            producer = self._uses.producer.get(region.yields[0])
            if producer is not None and producer.primitive is UNDEF:
                return False
        return True

    def _can_move(self, block: Block, index: int, position: int, final: list[int]) -> bool:
        """Whether the operation at index may be evaluated in the statement at position."""
        operation = block.operations[index]
        effect = operation.primitive.effect
        read = self._changes.read_by(operation)
        for between in range(index + 1, position):
            other = block.operations[between]
            changes = self._changes.of(other)
            if changes.barrier or (effect and other.primitive.effect):
                return False
            if not other.results or not all(r in self.folded for r in other.results):
                if changes.touches(read) or (effect and operation.primitive is not STACK_POP):
                    return False
        return True


class _Limit:
    """Takes parts out of expressions that would make too long a line."""

    def __init__(self, uses: Uses, folded: set[Value]) -> None:
        self._uses = uses
        self._folded = folded
        self._widths: dict[Value, int] = {}

    def block(self, block: Block, depth: int) -> None:
        room = COLUMNS - 4 * depth
        for operation in block.operations:
            for region in operation.regions:
                self.block(region, depth + 1)
            if operation.regions:
                continue
            width = self._width(operation)
            while width > room and self._split(operation):
                width = self._width(operation)
            for result in operation.results:
                self._widths[result] = width

    def _split(self, operation: Operation) -> bool:
        """Give the longest part of an expression a statement of its own."""
        parts = [v for v in operation.operands if v in self._folded and not self._is_short(v)]
        if not parts:
            return False
        self._folded.remove(max(parts, key=self._widths.__getitem__))
        return True

    def _is_short(self, value: Value) -> bool:
        return self._widths.get(value, 0) < 16 or self._uses.producer[value].primitive is CONSTANT

    def _width(self, operation: Operation) -> int:
        if operation.primitive is CONSTANT:
            return len(repr(operation.attributes["value"]))
        operands = sum(
            self._widths.get(v, 3) if v in self._folded else len(v.name) or 3
            for v in operation.operands
        )
        return operands + _own_width(operation.callee) + 2 * len(operation.operands)


def _own_width(callee: Any) -> int:
    name = callee.name if isinstance(callee, Method) else getattr(callee, "__name__", "")
    return 2 if getattr(callee, "__module__", "") == "_operator" else len(name) + 4
