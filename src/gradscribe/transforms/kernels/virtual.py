"""Which arrays need no memory: their elements are computed where they are used."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from gradscribe.ir.core import Block, Function, Operation, Primitive, Value, walk
from gradscribe.ir.types import Array
from gradscribe.primitives.control import STOP_GRADIENT
from gradscribe.primitives.indexing import GETITEM
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.kernels.roots import Roots

CHEAP = frozenset(
    PRIMITIVES[callee]
    for callee in (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos),
        *(abs, np.square, np.sqrt, np.maximum, np.minimum, np.sign),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    )
)
"""Operations on elements that native loops do as fast as NumPy does: the functions of mathematics
are not among them."""

WHERE, TRANSPOSE, SWAPAXES = (PRIMITIVES[f] for f in (np.where, np.transpose, np.swapaxes))
ELEMENTWISE = CHEAP | {WHERE}
VIEWS = frozenset({GETITEM, TRANSPOSE, SWAPAXES, STOP_GRADIENT})


def is_of_elements(primitive: Primitive) -> bool:
    """Whether the elements of the result are computed of those of the operands."""
    return primitive in ELEMENTWISE or primitive in VIEWS


class Virtual:
    """The operations whose results are not stored."""

    def __init__(self, function: Function, roots: Roots) -> None:
        self._roots = roots
        self._uses = _uses(function)
        self.made: dict[Value, Operation] = {}
        self._reads: dict[Value, frozenset[Value]] = {}
        self._block(function.body)

    def _block(self, block: Block) -> None:
        places = _places(block)
        for number, operation in enumerate(block.operations):
            for region in operation.regions:
                self._block(region)
            if len(operation.results) == 1 and self._is_virtual(operation, number, block, places):
                self.made[operation.results[0]] = operation

    def _is_virtual(
        self,
        operation: Operation,
        number: int,
        block: Block,
        places: dict[Value, list[int]],
    ) -> bool:
        result = operation.results[0]
        if not isinstance(result.type, Array) or not is_of_elements(operation.primitive):
            return False
        self._reads[result] = self._read_by(operation)
        used = places.get(result, [])
        if len(used) != self._uses[result] or not used:
            return False  # in a region, or given on by the block
        if operation.primitive not in VIEWS and len(used) > 1:
            return False
        between = block.operations[number + 1 : max(used)]
        stored = (root for o in between for root in self._roots.stored_to(o))
        return self._reads[result].isdisjoint(stored)

    def _read_by(self, operation: Operation) -> frozenset[Value]:
        """The roots of the arrays that the elements are read from."""
        found: set[Value] = set()
        for operand in operation.operands:
            if isinstance(operand.type, Array):
                found |= (
                    self._reads[operand] if operand in self.made else {self._roots.root(operand)}
                )
        return frozenset(found)


def _uses(function: Function) -> Counter[Value]:
    """How often each value is used."""
    blocks = [function.body, *(r for o in walk(function.body) for r in o.regions)]
    return Counter(v for block in blocks for v in _used_in(block))


def _used_in(block: Block) -> Iterable[Value]:
    for operation in block.operations:
        yield from dict.fromkeys(operation.operands)
    yield from block.yields


def _places(block: Block) -> dict[Value, list[int]]:
    """Which operations of a block use each value."""
    found: defaultdict[Value, list[int]] = defaultdict(list)
    for number, operation in enumerate(block.operations):
        if not operation.regions:
            for operand in dict.fromkeys(operation.operands):
                found[operand].append(number)
    return found
