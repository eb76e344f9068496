"""Which arrays of a function may share memory, and which are certainly one and the same.

A view and its base, a stored-to array and what it becomes, what a loop carries and what it started
from stand in one class. So do all arrays that something else holds (a list, a tuple, a record), and
the arguments: what comes out of a list may be any array that was put into one.
"""

from __future__ import annotations

from gradscribe.ir.core import IF, LOOP, Block, Function, LoopShape, Operation, Value, walk
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import STOP_GRADIENT
from gradscribe.primitives.indexing import ACCUMULATE, STORE

STORES = frozenset({STORE, ACCUMULATE})


class Roots:
    """The arrays of a function in classes that may share memory."""

    def __init__(self, function: Function) -> None:
        self._of: dict[Value, Value] = {}
        self._origins: dict[Value, list[Operation]] = {}
        self._several: set[Value] = set()
        self._held: Value | None = None
        for parameter in function.body.parameters:
            self._hold(parameter)
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

    def origin(self, value: Value) -> Operation | None:
        """The operation that makes the one array that all of the class are; None where they may be
        several, or parts of one."""
        root = self.root(value)
        origins = self._origins.get(root, [])
        return origins[0] if len(origins) == 1 and root not in self._several else None

    def stored_to(self, operation: Operation) -> set[Value]:
        """The roots of the arrays that an operation, or one within it, stores to."""
        inside = [operation, *(o for region in operation.regions for o in walk(region))]
        return {self.root(o.operands[0]) for o in inside if o.primitive in STORES}

    def _join(self, a: Value, b: Value) -> None:
        if not isinstance(a.type, Array) or not isinstance(b.type, Array):
            return
        first, second = self.root(a), self.root(b)
        if first is second:
            return
        self._of[first] = second
        self._origins.setdefault(second, []).extend(self._origins.pop(first, []))
        if first in self._several:
            self._several.add(second)

    def _hold(self, value: Value) -> None:
        """Take an array for one that something holds."""
        if isinstance(value.type, Array):
            if self._held is None:
                self._held = value
            self._join(value, self._held)
            self._several.add(self.root(value))

    def _block(self, block: Block) -> None:
        for operation in block.operations:
            if operation.primitive is LOOP:
                self._loop(operation)
            elif operation.primitive is IF:
                for region in operation.regions:
                    for result, value in zip(operation.results, region.yields, strict=True):
                        self._join(result, value)
                        self._hold_what_mixes(result, value)
            elif operation.primitive in STORES:
                self._join(operation.results[0], operation.operands[0])
            else:
                self._made(operation)
            for region in operation.regions:
                self._block(region)

    def _made(self, operation: Operation) -> None:
        """What an operation makes, or takes out of something."""
        primitive, arrays = operation.primitive, [*operation.operands, *operation.results]
        if primitive.effect or any(map(_may_hold, arrays)):
            for value in arrays:
                self._hold(value)
            return
        for result in operation.results:
            if isinstance(result.type, Array):
                self._origins.setdefault(self.root(result), []).append(operation)
                if (primitive.view or primitive is STOP_GRADIENT) and operation.operands:
                    self._join(result, operation.operands[0])
                    self._several.add(self.root(result))

    def _loop(self, operation: Operation) -> None:
        shape: LoopShape = operation.attributes["shape"]
        body = operation.regions[0]
        items = body.parameters[: len(shape.iterables)]
        for part, item in zip(shape.iterable_slices(), items, strict=True):
            for value in (item, *operation.operands[part]):
                self._hold(value)
        carried = body.parameters[len(shape.iterables) :]
        initial = operation.operands[shape.iterable_operands :]
        for group in (initial, body.yields[: shape.carried], operation.results[: shape.carried]):
            for parameter, value in zip(carried, group, strict=True):
                self._join(parameter, value)
        if shape.condition:
            for parameter, value in zip(operation.regions[1].parameters, carried, strict=True):
                self._join(parameter, value)
        for value in (*operation.results[shape.carried :], *body.yields[shape.carried :]):
            self._hold(value)

    def _hold_what_mixes(self, result: Value, value: Value) -> None:
        """An array that is none on another way is no array by itself."""
        if not isinstance(result.type, Array):
            self._hold(value)


def _may_hold(value: Value) -> bool:
    """Whether a value may hold arrays: it is neither an array nor a number."""
    return not isinstance(value.type, (Array, Scalar))
