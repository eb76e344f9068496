"""Which arrays need no memory: their elements are computed where they are used."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from gradscribe.ir.core import Block, Function, Operation, Value, walk
from gradscribe.ir.types import Array
from gradscribe.primitives.control import STOP_GRADIENT
from gradscribe.primitives.indexing import GETITEM
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.kernels.indices import is_known_part
from gradscribe.transforms.kernels.roots import Roots

_OF_TRUTHS = frozenset(
    PRIMITIVES[callee]
    for callee in (operator.add, operator.sub, operator.mul, operator.neg, operator.pow, abs)
)
"""Arithmetic that means logic, or nothing, for truth values."""

_TRUTHS = frozenset(
    PRIMITIVES[callee]
    for callee in (
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
        *(operator.and_, operator.or_, operator.xor, operator.invert),
        *(np.logical_and, np.logical_or, np.logical_not, np.isnan, np.isfinite, np.isinf),
    )
)
"""What gives a truth value for each element (`and_` and its kind: also an integer)."""

WHERE, TRANSPOSE, SWAPAXES, MOVEAXIS = (
    PRIMITIVES[f] for f in (np.where, np.transpose, np.swapaxes, np.moveaxis)
)
POWER = PRIMITIVES[operator.pow]
VIEWS = frozenset({GETITEM, TRANSPOSE, SWAPAXES, MOVEAXIS, STOP_GRADIENT})


def is_elementwise(operation: Operation) -> bool:
    """Whether each element of the result, an array, is computed of one of each operand."""
    primitive, result = operation.primitive, operation.results[0].type
    if not isinstance(result, Array):
        return False
    if primitive is POWER:
        return result.dtype == "float64"
    return primitive in (WHERE, *_TRUTHS) or (
        primitive.elementwise and not (primitive in _OF_TRUTHS and result.dtype == "bool")
    )


class Virtual:
    """The operations whose results are not stored."""

    def __init__(self, function: Function, roots: Roots) -> None:
        self._facts = function.facts
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
        is_view = operation.primitive in VIEWS and isinstance(result.type, Array)
        if not is_view and not is_elementwise(operation):
            return False
        if operation.primitive is GETITEM and not is_known_part(operation, self._facts):
            return False
        self._reads[result] = self._read_by(operation)
        used = places.get(result, [])
        if len(used) != self._uses[result] or not used:
            return False  # in a region, or given on by the block
        if not is_view and len(used) > 1:
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
