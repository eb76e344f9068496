"""Which arrays of a function may share memory: a view and its base, a stored-to array and what it
becomes, what a loop carries and what it started from."""

from __future__ import annotations

from gradscribe.ir.core import IF, LOOP, Block, Function, LoopShape, Operation, Value, walk
from gradscribe.ir.types import Array
from gradscribe.primitives.control import STOP_GRADIENT
from gradscribe.primitives.indexing import ACCUMULATE, STORE

STORES = frozenset({STORE, ACCUMULATE})


class Roots:
    """The arrays of a function in classes that may share memory."""

    def __init__(self, function: Function) -> None:
        self._of: dict[Value, Value] = {}
        self._block(function.body)

    def root(self, value: Value) -> Value:
        """What stands for all arrays that a value may share memory with."""
        path = []
        while value in self._of:
            path.append(value)
            value = self._of[value]
        for passed in path:
            self._of[passed] = value
        return value

    def stored_to(self, operation: Operation) -> set[Value]:
        """The roots of the arrays that an operation, or one within it, stores to."""
        inside = [operation, *(o for region in operation.regions for o in walk(region))]
        return {self.root(o.operands[0]) for o in inside if o.primitive in STORES}

    def _join(self, a: Value, b: Value) -> None:
        if isinstance(a.type, Array) and isinstance(b.type, Array):
            first, second = self.root(a), self.root(b)
            if first is not second:
                self._of[first] = second

    def _block(self, block: Block) -> None:
        for operation in block.operations:
            if operation.primitive is LOOP:
                self._loop(operation)
            elif operation.primitive is IF:
                for region in operation.regions:
                    for result, value in zip(operation.results, region.yields, strict=True):
                        self._join(result, value)
            elif operation.primitive in STORES or operation.primitive.view:
                for result in operation.results:
                    self._join(result, operation.operands[0])
            elif operation.primitive is STOP_GRADIENT:
                self._join(operation.results[0], operation.operands[0])
            for region in operation.regions:
                self._block(region)

    def _loop(self, operation: Operation) -> None:
        shape: LoopShape = operation.attributes["shape"]
        body = operation.regions[0]
        carried = body.parameters[len(shape.iterables) :]
        initial = operation.operands[shape.iterable_operands :]
        for group in (initial, body.yields[: shape.carried], operation.results[: shape.carried]):
            for parameter, value in zip(carried, group, strict=True):
                self._join(parameter, value)
        if shape.condition:
            for parameter, value in zip(operation.regions[1].parameters, carried, strict=True):
                self._join(parameter, value)
