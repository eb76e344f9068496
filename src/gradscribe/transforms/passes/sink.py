"""Sink: what only one branch needs is computed in that branch.

Assumes a simplified function in value semantics in which the primal's results are not asked for
where it is joined with its adjoint. Guarantees the same results: operations without effects move
into the one branch of a later `if` that reads their results (not out of a `with`, not into a
`try`). So an `if` of the primal becomes part of its mirror, and what a path of the program needs
stands on that path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradscribe.ir.core import IF, Block, Function, Operation, Value
from gradscribe.primitives.control import CONSTANT, ENTER, EXIT, ITEM, REREAD, UNDEF
from gradscribe.primitives.raising import is_attempt
from gradscribe.transforms.passes.simplify.dce import calls_effect

_CONTEXTS = frozenset({ENTER, EXIT})
_STAYING = frozenset({CONSTANT, UNDEF, ITEM, REREAD})


def sink(function: Function) -> Function:
    """The function with such operations moved; itself, where there are none."""
    body = _Sinking().block(function.body)
    return function if body is function.body else replace(function, body=body)


class _Sinking:
    """The reads of operations are looked up again and again: they are kept."""

    def __init__(self) -> None:
        self._reads: dict[Block | Operation, frozenset[Value]] = {}

    def block(self, block: Block) -> Block:
        """The block with operations moved into the regions of others, as deep as they go."""
        operations: list[Operation] = []
        for operation in reversed(block.operations):
            target = None if _stays(operation) else self._target(operation, operations, block)
            if target is None:
                operations.insert(0, operation)
            else:
                place, side = target
                operations[place] = _with_first(operations[place], side, operation)
        operations = [self._inside(operation) for operation in operations]
        if len(operations) == len(block.operations) and all(
            new is old for new, old in zip(operations, block.operations, strict=True)
        ):
            return block
        return replace(block, operations=tuple(operations))

    def _inside(self, operation: Operation) -> Operation:
        regions = tuple(map(self.block, operation.regions))
        if all(new is old for new, old in zip(regions, operation.regions, strict=True)):
            return operation
        return replace(operation, regions=regions)

    def _target(
        self, operation: Operation, following: list[Operation], block: Block
    ) -> tuple[int, int] | None:
        """The `if` among the following operations, and its side, that alone reads the results."""
        results = operation.results
        if not results or not set(results).isdisjoint(block.yields):
            return None
        found: tuple[int, int] | None = None
        for place, other in enumerate(following):
            if found is None and other.primitive in _CONTEXTS:
                return None
            if self.reads(other).isdisjoint(results):
                continue
            if found is not None or other.primitive is not IF or is_attempt(other):
                return None
            sides = [n for n, r in enumerate(other.regions) if self._read_in(r, results)]
            if len(sides) != 1 or other.operands[0] in results:
                return None
            found = place, sides[0]
        return found

    def _read_in(self, region: Block, values: Iterable[Value]) -> bool:
        return not self.reads(region).isdisjoint(values)

    def reads(self, part: Block | Operation) -> frozenset[Value]:
        """What an operation or block reads, its own results included."""
        found = self._reads.get(part)
        if found is None:
            inner = part.operations if isinstance(part, Block) else part.regions
            own = part.yields if isinstance(part, Block) else part.operands
            found = self._reads[part] = frozenset(own).union(*map(self.reads, inner))
        return found


def _stays(operation: Operation) -> bool:
    """Whether an operation must run where it stands, or costs nothing there."""
    return operation.primitive in _STAYING or has_effect(operation) or is_ordered(operation)


def is_ordered(operation: Operation) -> bool:
    """Whether it matters how often, and in which order, an operation runs: one in it may read what
    changes."""
    below = (o for region in operation.regions for o in region.operations)
    return operation.primitive.ordered or any(map(is_ordered, below))


def has_effect(operation: Operation) -> bool:
    """Whether an operation does more than give results, or handles what does not give any."""
    if operation.primitive.effect or calls_effect(operation) or is_attempt(operation):
        return True
    return any(map(has_effect, (o for region in operation.regions for o in region.operations)))


def _with_first(operation: Operation, side: int, first: Operation) -> Operation:
    """The operation with another one at the beginning of one of its regions."""
    regions = list(operation.regions)
    region = regions[side]
    regions[side] = replace(region, operations=(first, *region.operations))
    return replace(operation, regions=tuple(regions))
