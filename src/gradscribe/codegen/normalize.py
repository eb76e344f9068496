"""The last rewriting before text: records become lists, shapes become `x.shape`.

In: a bufferized function. Out: one without collecting loops, in which each record is a stack
that is made before the loop and pushed to in it, as soon as the value is there (later the
variable may hold the next value); in which a tuple of all the lengths of an array, given as
an argument, is a `ShapeOf` that array; and elements are read where that spares a temporary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gradscribe.codegen.pushes import sink_pushes
from gradscribe.codegen.rereading import reread
from gradscribe.codegen.written import as_lent
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Method,
    Operand,
    Operation,
    SliceOf,
    Value,
    map_operands,
    walk,
)
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Array, Collected, Opaque
from gradscribe.primitives.control import EFFECT, PUSH, STACK
from gradscribe.primitives.indexing import ACCUMULATE, LENGTH, STORE

REVERSE = Method("reverse")


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """Inside attributes: the shape of an operand."""

    operand: Operand


def normalize(function: Function) -> Function:
    """The function in the form that statements are made from."""
    function = as_lent(function)
    return replace(function, body=_Normalizer(function).block(function.body))


class _Normalizer:
    def __init__(self, function: Function) -> None:
        self._lengths: dict[Value, tuple[Value, int]] = {}
        self._reads: Counter[Value] = Counter(function.body.yields)
        stored = set()
        for operation in walk(function.body):
            self._reads.update(operation.operands)
            for region in operation.regions:
                self._reads.update(region.yields)
            if operation.primitive in (STORE, ACCUMULATE):
                stored.add(operation.operands[0])
            elif operation.primitive is LENGTH:
                axis = operation.attributes["axis"]
                self._lengths[operation.result] = (operation.operands[0], axis)
        self._lengths = {v: of for v, of in self._lengths.items() if of[0] not in stored}

    def block(self, block: Block) -> Block:
        operations: list[Operation] = []
        for operation in block.operations:
            if operation.primitive is LOOP:
                operations += self._loop(operation)
            elif operation.primitive is IF:
                regions = tuple(map(self.block, operation.regions))
                operations.append(replace(operation, regions=regions))
            else:
                operations.append(self._with_shapes(operation))
        operations = sink_pushes(operations, self._reads)
        return Block(block.parameters, tuple(reread(operations, self._reads)), block.yields)

    def _loop(self, operation: Operation) -> Iterator[Operation]:
        operation = replace(operation, regions=tuple(map(self.block, operation.regions)))
        loop = Loop(operation)
        if not loop.collected:
            yield operation
            return
        body, shape = loop.body, loop.shape
        pairs = [(record, value) for value, record in loop.records if self._reads[record]]
        for record, _ in pairs:
            assert isinstance(record.type, Collected)
            attributes = {"item": record.type.item}
            yield Operation(STACK, (), (record,), attributes, (), operation.location)
        body = Block(
            body.parameters,
            tuple(sink_pushes(_with_pushes(body, pairs, operation), self._reads)),
            (*loop.following, *loop.exits),
        )
        yield Operation(
            LOOP,
            operation.operands,
            loop.results,
            {"shape": replace(shape, collects=0)},
            (body, *operation.regions[1:]),
            operation.location,
        )
        if shape.reversed:
            for record, _ in pairs:
                yield _in_iteration_order(record, operation)

    def _with_shapes(self, operation: Operation) -> Operation:
        values = operation.operands
        if operation.primitive is CALL or not any(value in self._lengths for value in values):
            return operation
        attributes = map_operands(dict(operation.attributes), lambda o: values[o.index])
        operands: list[Value] = []
        attributes = self._numbered(attributes, operands)
        return replace(operation, operands=tuple(operands), attributes=attributes)

    def _numbered(self, tree: Any, operands: list[Value]) -> Any:
        """The tree with values as operands again, and arguments `shape` as `ShapeOf`."""
        if isinstance(tree, Value):
            operands.append(tree)
            return Operand(len(operands) - 1)
        if isinstance(tree, SliceOf):
            parts = (tree.start, tree.stop, tree.step)
            return SliceOf(*(self._numbered(part, operands) for part in parts))
        if isinstance(tree, (tuple, list)):
            return type(tree)(self._numbered(item, operands) for item in tree)
        if isinstance(tree, dict):
            return {key: self._argument(key, item, operands) for key, item in tree.items()}
        return tree

    def _argument(self, key: str, tree: Any, operands: list[Value]) -> Any:
        array = self._array_of_shape(tree) if key == "shape" else None
        if array is None:
            return self._numbered(tree, operands)
        return ShapeOf(self._numbered(array, operands))

    def _array_of_shape(self, items: Any) -> Value | None:
        """The array all of whose lengths these items are, in order."""
        if not isinstance(items, (tuple, list)):
            return None
        found = [self._lengths.get(i) if isinstance(i, Value) else None for i in items]
        if not found or found[0] is None:
            return None
        array = found[0][0]
        assert isinstance(array.type, Array)
        return array if found == [(array, axis) for axis in range(array.type.rank)] else None


def _with_pushes(body: Block, pairs: list[tuple[Value, Value]], loop: Operation) -> list[Operation]:
    """The body's operations, with a push of each value right after it is made."""
    position = {r: n + 1 for n, o in enumerate(body.operations) for r in o.results}
    pushes: dict[int, list[Operation]] = {}
    for record, value in pairs:
        attributes = {"stack": Operand(0), "value": Operand(1)}
        push = Operation(PUSH, (record, value), (Value(Opaque()),), attributes, (), loop.location)
        pushes.setdefault(position.get(value, 0), []).append(push)
    operations = list(pushes.get(0, ()))
    for number, operation in enumerate(body.operations, 1):
        operations.append(operation)
        operations += pushes.get(number, ())
    return operations


def _in_iteration_order(record: Value, loop: Operation) -> Operation:
    """A reversed loop has pushed its last element first: turn the list around."""
    attributes = {"args": (Operand(0),), "keywords": {}}
    return Operation(EFFECT, (record,), (Value(Opaque()),), attributes, (), loop.location, REVERSE)
