"""Which arrays of a function of loops are one and the same: what is stored to, and what it becomes.

Unlike `roots.py`, which tells what may share memory, this tells what certainly does: all values of
a web are one array, if it has one origin and no view.
"""

from __future__ import annotations

from gradscribe.ir.core import IF, LOOP, Block, Function, LoopShape, Operation, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.indexing import GETITEM
from gradscribe.transforms.kernels.roots import STORES


class Webs:
    """The arrays of a function in classes that may share memory, and which of these are one."""

    def __init__(self, function: Function) -> None:
        self._of: dict[Value, Value] = {}
        self._origins: dict[Value, list[Operation | None]] = {}
        self._shared: set[Value] = set()
        for value in function.body.parameters:
            self._origins[value] = [None]
        self._block(function.body)

    def root(self, value: Value) -> Value:
        """What stands for the class of an array."""
        path = []
        while value in self._of:
            path.append(value)
            value = self._of[value]
        for passed in path:
            self._of[passed] = value
        return value

    def origin(self, value: Value) -> Operation | None:
        """The operation that makes the one array that all values of the class are; None where they
        may be several."""
        root = self.root(value)
        origins = self._origins.get(root, [])
        return origins[0] if len(origins) == 1 and root not in self._shared else None

    def is_one(self, value: Value) -> bool:
        """Whether all values of the class are the same array."""
        root = self.root(value)
        return len(self._origins.get(root, [])) == 1 and root not in self._shared

    def _join(self, a: Value, b: Value) -> None:
        if not isinstance(a.type, Array) or not isinstance(b.type, Array):
            return
        first, second = self.root(a), self.root(b)
        if first is second:
            return
        self._of[first] = second
        self._origins.setdefault(second, []).extend(self._origins.pop(first, []))
        if first in self._shared:
            self._shared.add(second)

    def _block(self, block: Block) -> None:
        for operation in block.operations:
            if operation.primitive is LOOP:
                self._loop(operation)
            for region in operation.regions:
                self._block(region)
            if operation.primitive in STORES:
                self._join(operation.results[0], operation.operands[0])
            elif operation.primitive is IF:
                for region in operation.regions:
                    for result, value in zip(operation.results, region.yields, strict=True):
                        self._join(result, value)
            elif operation.primitive is not LOOP:
                self._made(operation)

    def _made(self, operation: Operation) -> None:
        """What is new, or may be a view of, or hold, what it is computed of."""
        arrays = [result for result in operation.results if isinstance(result.type, Array)]
        for result in arrays:
            self._origins.setdefault(self.root(result), []).append(operation)
        primitive = operation.primitive
        holds = primitive.view or primitive.signature is None or primitive.effect
        if primitive is GETITEM and not arrays:
            return  # a number
        if not holds and arrays:
            return
        for operand in operation.operands:
            for result in arrays:
                self._join(result, operand)
            if holds and isinstance(operand.type, Array):
                self._shared.add(self.root(operand))

    def _loop(self, operation: Operation) -> None:
        shape: LoopShape = operation.attributes["shape"]
        body = operation.regions[0]
        items = body.parameters[: len(shape.iterables)]
        for part, item in zip(shape.iterable_slices(), items, strict=True):
            self._origins.setdefault(self.root(item), []).append(operation)
            for operand in operation.operands[part]:
                self._join(item, operand)
                if isinstance(operand.type, Array):
                    self._shared.add(self.root(operand))
        carried = body.parameters[len(shape.iterables) :]
        initial = operation.operands[shape.iterable_operands :]
        for group in (initial, body.yields[: shape.carried], operation.results[: shape.carried]):
            for parameter, value in zip(carried, group, strict=True):
                self._join(parameter, value)
        if shape.condition:
            for parameter, value in zip(operation.regions[1].parameters, carried, strict=True):
                self._join(parameter, value)
        for value in (*operation.results[shape.carried :], *body.yields[shape.carried :]):
            if isinstance(value.type, Array):
                self._shared.add(self.root(value))
