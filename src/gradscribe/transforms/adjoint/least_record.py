"""The least record: which values to keep, where the others may be computed again.

    e = np.exp(-x); s = 1 / (1 + e); out = x * s      to keep `x`, `e`, `1 + e` and `s` is to keep
                                                      four arrays where `x` alone tells the rest

A single operation of a composite should keep what its caller has anyway, its operands. The values
that cut all paths from what cannot be computed again to what the adjoint reads, at least size, are
a minimum vertex cut (as in the min-cut partitioner of PyTorch's AOTAutograd), found by augmenting
paths (Ford and Fulkerson, 1956). Of cuts of one size it is the one that computes least again.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from gradscribe.ir.core import Operation, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.control import CONSTANT, UNDEF
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.analyses.costs import is_cheap

_Vertex = tuple[Value | None, bool]
"""Where paths enter a value (False) and where they leave it (True); None: the source and the
sink."""

_SOURCE: _Vertex = (None, True)
_SINK: _Vertex = (None, False)

_AGAIN = frozenset(
    PRIMITIVES[function]
    for function in (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.abs),
        *(np.exp, np.expm1, np.log, np.log1p, np.sqrt, np.square, np.tanh, np.sign, np.where),
        *(np.maximum, np.minimum, np.fmax, np.fmin),
    )
)
"""Elementwise operations that take little longer than reading what they give."""


def least_record(
    operations: Sequence[Operation],
    parameters: Collection[Value],
    results: Collection[Value],
    read: Iterable[Value],
    recorded: Collection[Value],
) -> frozenset[Value] | None:
    """What to keep of a function in one block for an adjoint that reads these values; None where
    nothing is gained over what is recorded already.

    What is a function of the result alone stays so: then an operand may be changed in place.
    """
    arrays = [value for value in recorded if isinstance(value.type, Array) and _rank(value)]
    if all(value in results for value in arrays) or all(value in parameters for value in arrays):
        return None
    made = [result for operation in operations for result in operation.results]
    sizes = {**{value: _size(value) for value in made}, **dict.fromkeys(parameters, 1)}
    flow = _Flow()
    for value, size in sizes.items():
        flow.add((value, False), (value, True), size)
    for value in read:
        flow.add((value, True), _SINK, math.inf)
    for parameter in parameters:
        flow.add(_SOURCE, (parameter, False), math.inf)
    for operation in operations:
        again = _may_be_done_again(operation)
        for result in operation.results:
            if not again:
                flow.add(_SOURCE, (result, False), math.inf)
            for operand in operation.operands if again else ():
                flow.add((operand, True), (result, False), math.inf)
    kept = flow.cut()
    if sum(sizes[v] for v in kept) >= sum(sizes[v] for v in recorded):
        return None
    return kept


def _may_be_done_again(operation: Operation) -> bool:
    if operation.primitive in (CONSTANT, UNDEF):
        return True
    return not operation.regions and (is_cheap(operation) or operation.primitive in _AGAIN)


def _rank(value: Value) -> int:
    """How many axes are longer than 1."""
    dims = value.type.dims if isinstance(value.type, Array) else ()
    return sum(length.known != 1 for length in dims)


def _size(value: Value) -> int:
    """A measure in which one more axis outweighs all other differences."""
    if not isinstance(value.type, Array):
        return 1
    return int(np.dtype(value.type.dtype).itemsize) << (10 * _rank(value))


class _Flow:
    """A network, and the flow through it."""

    def __init__(self) -> None:
        self._left: dict[_Vertex, dict[_Vertex, float]] = defaultdict(dict)

    def add(self, start: _Vertex, end: _Vertex, capacity: float) -> None:
        """An edge."""
        self._left[start][end] = capacity
        self._left[end].setdefault(start, 0)

    def cut(self) -> frozenset[Value]:
        """The values of a least cut, the nearest to the sink."""
        while path := self._path():
            edges = list(itertools.pairwise(path))
            amount = min(self._left[start][end] for start, end in edges)
            for start, end in edges:
                self._left[start][end] -= amount
                self._left[end][start] += amount
        reaching = self._reaching_sink()
        return frozenset(
            value
            for value, leaves in reaching
            if value is not None and leaves and (value, False) not in reaching
        )

    def _path(self) -> list[_Vertex]:
        """A shortest path on which more can flow."""
        before = {_SOURCE: _SOURCE}
        pending = deque([_SOURCE])
        while pending and _SINK not in before:
            start = pending.popleft()
            for end, capacity in self._left[start].items():
                if capacity > 0 and end not in before:
                    before[end] = start
                    pending.append(end)
        if _SINK not in before:
            return []
        path = [_SINK]
        while path[-1] != _SOURCE:
            path.append(before[path[-1]])
        return path[::-1]

    def _reaching_sink(self) -> set[_Vertex]:
        """The vertices from which more can flow to the sink."""
        reached, pending = {_SINK}, [_SINK]
        while pending:
            end = pending.pop()
            for start in self._left[end]:
                if start not in reached and self._left[start].get(end, 0) > 0:
                    reached.add(start)
                    pending.append(start)
        return reached
