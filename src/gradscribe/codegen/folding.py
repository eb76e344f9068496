"""Which values are written where they are read, instead of in a statement of their own.

A value that the user did not name and that is read once goes back into the expression that
reads it, if that is in the same block and nothing in between changes what the value is made
of: no store into an array that it reads, no side effect, no variable that gets its next
value. Constants are written wherever they are read, and so are lengths of arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from gradscribe.codegen.booleans import is_boolean
from gradscribe.codegen.changes import ChangeAnalysis
from gradscribe.codegen.definitions import is_definition
from gradscribe.codegen.uses import IN_PLACE, Pattern, Uses
from gradscribe.ir.core import CALL, IF, LOOP, Block, Function, Method, Operation, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import is_integer
from gradscribe.primitives.control import (
    ASSERT,
    ATTEMPT,
    CAUGHT,
    CHECK,
    CONSTANT,
    ENTER,
    EXIT,
    PUSH,
    RAISE,
    STACK,
    STACK_POP,
    UNDEF,
)
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.primitives.raising import is_attempt

_ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul})
_STATEMENTS = IN_PLACE | {
    IF,
    LOOP,
    CALL,
    PUSH,
    RAISE,
    ASSERT,
    CHECK,
    ENTER,
    EXIT,
    STACK,
    UNDEF,
    CONSTANT,
    ATTEMPT,
    CAUGHT,
}
_LENGTHS = frozenset({LENGTH, SIZE})

COLUMNS = 80
"""An expression that would reach further is split at a temporary."""


@dataclass
class Folded:
    """values: written where they are read. conditionals: `if`s that are one expression."""

    values: set[Value] = field(default_factory=set)
    conditionals: set[Operation] = field(default_factory=set)


def fold(
    function: Function,
    uses: Uses,
    patterns: dict[Value, Pattern],
    released: Collection[Value] = (),
    *,
    stepwise: bool = False,
) -> Folded:
    """What is written inside other expressions. released: values that may be, though named.
    stepwise: only what may be written wherever it is read."""
    folding = _Folding(function, uses, patterns, released, stepwise)
    folding.block(function.body)
    _Limit(uses, folding.folded).block(function.body, 1)
    return folding.folded


class _Folding:
    def __init__(
        self,
        function: Function,
        uses: Uses,
        patterns: dict[Value, Pattern],
        released: Collection[Value],
        stepwise: bool,
    ) -> None:
        self.folded = Folded()
        self._values = self.folded.values
        self._uses = uses
        self._released = released
        self._stepwise = stepwise
        self._bound = {v for pattern in patterns.values() for v in pattern.values()}
        self._bound.update(patterns)
        self._changes = ChangeAnalysis(function, uses, patterns)

    def block(self, block: Block) -> None:
        """Fold what can be folded, last operation first, so that the statement that a value
        would become part of is known. `readers[i]`: the index of the operation whose text the
        operation at i is part of; its own where it is a statement."""
        operations = block.operations
        readers = list(range(len(operations) + 1))
        for index in reversed(range(len(operations))):
            operation = operations[index]
            for region in operation.regions:
                self.block(region)
            if not self._stepwise and self._is_conditional_expression(operation):
                self.folded.conditionals.add(operation)
            if self._is_always_written_out(operation):
                self._values.add(operation.result)
            elif self._may_fold(operation):
                reader = self._reader(operation.result, block)
                if reader > index and self._can_move(block, index, reader, readers):
                    self._values.add(operation.result)
                    readers[index] = reader
            if operation in self.folded.conditionals and self._reads_own_variable(operation):
                self.folded.conditionals.remove(operation)

    def _is_always_written_out(self, operation: Operation) -> bool:
        """Constants, lengths of arrays whose variable keeps them; undefined values nowhere."""
        if operation.primitive is CONSTANT:
            return not operation.result.name or operation.location is None
        if operation.primitive is UNDEF:
            return True
        if len(operation.results) != 1 or operation.result.name:
            return False
        if operation.primitive in _LENGTHS:
            (array,) = operation.operands
            return self._changes.is_constant_variable(array) and not self._has_one_reader(array)
        if operation.callee in _ARITHMETIC:
            return is_integer(operation.result.type) and all(map(self._lasts, operation.operands))
        if not _is_transpose(operation) or operation.result in self._changes.kept:
            return False
        return self._lasts(operation.operands[0])

    def _has_one_reader(self, value: Value) -> bool:
        """Whether a value may be written where it is read, and not be in a variable."""
        producer = self._uses.producer.get(value)
        if producer is None or (value.name and value not in self._released):
            return False
        return len(self._uses.of(value)) == 1 and not self._is_always_written_out(producer)

    def _lasts(self, value: Value) -> bool:
        """Whether a value can be read wherever it is visible: a literal, or one whose variable
        keeps it."""
        producer = self._uses.producer.get(value)
        if producer is not None and not value.name:
            return len(producer.results) == 1 and self._is_always_written_out(producer)
        if self._changes.is_constant_variable(value):
            return True
        if value not in self._uses.items or value in self._bound:
            return False
        body = self._uses.home[value][0]
        return not any(value.name in self._changes.of(inner).names for inner in body.operations)

    def _may_fold(self, operation: Operation) -> bool:
        if self._stepwise or len(operation.results) != 1:
            return False
        value = operation.result
        if value in self._changes.kept or value in self._bound:
            return False
        if value.name and value not in self._released:
            return False
        if operation.primitive is IF:
            return operation in self.folded.conditionals
        return operation.primitive not in _STATEMENTS and not is_definition(operation)

    def _reader(self, value: Value, block: Block) -> int:
        """The position in a block of the only reader of a value, -1 if there is none.

        `a and b` is an `if` that reads its condition twice, and its text has it once."""
        sites = self._uses.of(value)
        if not sites or sites[0][0] is not block:
            return -1
        position = sites[0][1]
        if len(sites) == 1:
            return position
        if len(sites) > 2 or position == len(block.operations):
            return -1
        operation = block.operations[position]
        is_and_or = operation in self.folded.conditionals and is_boolean(operation, self._uses)
        return position if is_and_or and sites[1][0] in operation.regions else -1

    def _is_conditional_expression(self, operation: Operation) -> bool:
        """Whether an `if` was one in an expression (also `and`, `or`) and can be one again."""
        if operation.primitive is not IF or len(operation.results) != 1:
            return False
        if is_attempt(operation):
            return False
        statement = operation.location.statement if operation.location else "if "
        in_expression = not statement.startswith(("if ", "elif "))
        nameless = not operation.result.name
        if not in_expression and not (nameless and is_boolean(operation, self._uses)):
            return False
        if self._changes.of(operation).barrier:
            return False
        for region in operation.regions:
            for inner in region.operations:
                if not inner.results or not all(r in self._values for r in inner.results):
                    return False
            producer = self._uses.producer.get(region.yields[0])
            if producer is not None and producer.primitive is UNDEF:
                return False
        return True

    def _reads_own_variable(self, operation: Operation) -> bool:
        """Whether one side of an `if` that is not folded just keeps a variable's value."""
        result = operation.result
        yields = [region.yields[0] for region in operation.regions]
        kept = any(v not in self._values and v.name == result.name for v in yields)
        return kept and result not in self._values

    def _can_move(self, block: Block, index: int, reader: int, readers: list[int]) -> bool:
        """Whether the operation at index may be evaluated in the statement of its reader."""
        around = {reader}
        while readers[reader] != reader:
            reader = readers[reader]
            around.add(reader)
        operation = block.operations[index]
        effect, in_order = operation.primitive.effect, operation.primitive.in_order
        needs_place = effect and operation.primitive is not STACK_POP
        may_write = effect and bool(operation.attributes.get("reached"))
        read = self._changes.read_by(operation)
        for between in range(index + 1, reader):
            if between in around:
                continue
            other = block.operations[between]
            changes = self._changes.of(other)
            if changes.barrier or (in_order and other.primitive.in_order):
                return False
            if may_write and other.operands:  # they are read as they are after the call
                return False
            written = not other.results or not all(r in self._values for r in other.results)
            if written and (needs_place or changes.touches(read)):
                return False
        return True


class _Limit:
    """Takes parts out of expressions that would make too long a line."""

    def __init__(self, uses: Uses, folded: Folded) -> None:
        self._uses = uses
        self._conditionals = folded.conditionals
        self._folded = folded.values
        self._widths: dict[Value, int] = {}

    def block(self, block: Block, depth: int) -> None:
        room = COLUMNS - 4 * depth
        for operation in block.operations:
            if operation in self._conditionals:
                width = self._conditional_width(operation)
                if width <= room:
                    self._widths[operation.result] = width
                    continue
                self._conditionals.remove(operation)
                self._folded.discard(operation.result)
            for region in operation.regions:
                self.block(region, depth + 1)
            if operation.regions:
                continue
            width = self._width(operation)
            while width > room and self._split(operation):
                width = self._width(operation)
            for result in operation.results:
                self._widths[result] = width

    def _conditional_width(self, operation: Operation) -> int:
        """The width of an `if` as an expression; nothing in it can be taken out."""
        for region in operation.regions:
            for inner in region.operations:
                conditional = inner in self._conditionals
                width = self._conditional_width(inner) if conditional else self._width(inner)
                self._widths[inner.result] = width
        yields = [region.yields[0] for region in operation.regions]
        return 10 + sum(map(self._printed, (*operation.operands, *yields)))

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
        operands = sum(map(self._printed, operation.operands))
        return operands + _own_width(operation.callee, len(operation.operands))

    def _printed(self, value: Value) -> int:
        return self._widths.get(value, 3) if value in self._folded else len(value.name) or 3


def _is_transpose(operation: Operation) -> bool:
    """Whether an operation is written `x.T`."""
    callee = operation.callee
    return isinstance(callee, Method) and callee.name == "T"


def _own_width(callee: Any, operands: int) -> int:
    """About what an operation adds to the width of its operands."""
    if callee is None or isinstance(callee, Method):
        return 2 * operands + (0 if callee is None else len(callee.name))
    if probe(callee, "__module__", "") == "_operator":
        return 3 * (operands - 1) + 1
    return len(probe(callee, "__name__", "")) + 3 + 2 * operands
