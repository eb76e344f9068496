"""Liveness: which values may still be read after each operation of a structured function.

`live_after` is loop-aware: inside a loop, what is defined outside it and read anywhere in it
is live throughout, because the next iteration reads it again; what a loop iterates over is live
while the loop runs. A value that a block yields is live until the block's end. The parameters
of a loop's condition region are live throughout that region, for they are the values that the
body takes next. A value yielded by a region is otherwise dead outside: there it is the result
of the operation.
"""

from __future__ import annotations

from collections.abc import Set

from gradscribe.ir.core import LOOP, Block, Function, Operation, Value
from gradscribe.ir.flow import Loop


class Liveness:
    """The result of `liveness`: a table of sets, one for each operation of the function."""

    def __init__(self, function: Function) -> None:
        self._reads: dict[Operation, frozenset[Value]] = {}
        self._after: dict[Operation, frozenset[Value]] = {}
        self._before: dict[Block, frozenset[Value]] = {}
        _collect_reads(function.body, self._reads)
        self._walk(function.body, frozenset())

    def live_after(self, operation: Operation) -> frozenset[Value]:
        """The values that may be read once the operation is done. Its own results are among
        them where they are used."""
        return self._after[operation]

    def live_into(self, block: Block) -> frozenset[Value]:
        """The values that are live where the block begins (its parameters, where used)."""
        return self._before[block]

    def reads(self, operation: Operation) -> frozenset[Value]:
        """What the operation reads: its operands, and what its regions read from outside."""
        return self._reads[operation]

    def _walk(self, block: Block, live_out: Set[Value]) -> None:
        live = {*live_out, *block.yields}
        for operation in reversed(block.operations):
            after = self._after[operation] = frozenset(live)
            live.difference_update(operation.results)
            if operation.regions:
                self._walk_regions(operation, after)
            live |= self._reads[operation]
        self._before[block] = frozenset(live)

    def _walk_regions(self, operation: Operation, after: frozenset[Value]) -> None:
        outside = after.difference(operation.results)
        if operation.primitive is not LOOP:
            for region in operation.regions:
                self._walk(region, outside)
            return
        throughout = outside | _read_each_iteration(operation, self._reads)
        body, *condition = operation.regions
        self._walk(body, throughout)
        for region in condition:
            self._walk(region, throughout.union(region.parameters))


def liveness(function: Function) -> Liveness:
    """Which values are live after each operation; two walks, one down and one backward."""
    return Liveness(function)


def _read_each_iteration(loop: Operation, reads: dict[Operation, frozenset[Value]]) -> set[Value]:
    """The values from outside that each iteration of the loop may read."""
    values = set().union(*(_block_reads(region, reads) for region in loop.regions))
    for kind, operands, _ in Loop(loop).iterated:
        if kind != "range":
            values.update(operands)
    return values


def _collect_reads(block: Block, reads: dict[Operation, frozenset[Value]]) -> None:
    for operation in block.operations:
        values = set(operation.operands)
        for region in operation.regions:
            _collect_reads(region, reads)
            values |= _block_reads(region, reads)
        reads[operation] = frozenset(values)


def _block_reads(block: Block, reads: dict[Operation, frozenset[Value]]) -> set[Value]:
    """What a block reads and does not define itself."""
    values = set(block.yields)
    for operation in block.operations:
        values |= reads[operation]
    for operation in block.operations:
        values.difference_update(operation.results)
    return values.difference(block.parameters)
