"""One Tensor of several along an axis, as the output of one node: `cat`, `stack`.

What comes back is cut into pieces, however many there are; nothing is compiled for a number of
them. The counterpart are the nodes of `pieces`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.eager_operation import Operation
from gradscribe.runtime.graph.node import NO_EDGE, Edge, Node, next_sequence
from gradscribe.runtime.tensors.tensor import Array, Tensor, edge_of, wrap_result

Kind = tuple[tuple[int, ...], Any]


class JoinedNode(Node):
    """The node of arrays that were put together along an axis.

    dim: the axis as it was given. kinds: shape and dtype of each array; out: those of the result.
    tensors: the positions of those that were Tensors, each of which has an edge.
    """

    __slots__ = ("dim", "kinds", "out", "tensors")

    returns_fresh = only_reads = True

    def __init__(self, dim: int, kinds: Sequence[Kind], out: Kind, edges: dict[int, Edge]) -> None:
        self.dim = dim
        self.kinds = kinds
        self.out = out
        self.tensors = tuple(edges)
        self.next_edges = tuple(edges.values())
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @property
    def output_types(self) -> Sequence[Any]:
        return [self.out]

    @property
    def _saved_dim(self) -> int:
        return self.dim

    @property
    def axis(self) -> int:
        """The axis that the arrays are put together along."""
        return self.dim % len(self.out[0])

    @property
    def is_stack(self) -> bool:
        """Whether each array has one place along an axis of the result that it has not itself."""
        return len(self.kinds[0][0]) < len(self.out[0])

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        cut = self._recorded if create_graph else self._cut
        pieces = cut(cotangents[0])
        wanted = zip(self.tensors, self.next_edges, strict=True)
        return [pieces(position) if node is not None else None for position, (node, _) in wanted]

    def _cut(self, cotangent: Array) -> Any:
        """What gives the piece of a cotangent for each position, an array of its own."""
        whole, starts = np.asarray(cotangent), self._starts()
        is_stack = self.is_stack
        before = (slice(None),) * self.axis

        def piece(position: int) -> Array:
            shape, dtype = self.kinds[position]
            start, stop = starts[position : position + 2]
            place = *before, start if is_stack else slice(start, stop)
            found = whole[place]
            if found.dtype.kind == "c" and dtype.kind != "c":
                found = found.real
            return np.array(found, dtype, order="C").reshape(shape)

        return piece

    def _starts(self) -> list[int]:
        """Where the piece for each position starts; then the length of all."""
        if self.is_stack:
            return list(range(len(self.kinds) + 1))
        lengths = (shape[self.axis] for shape, _ in self.kinds)
        return list(itertools.accumulate(lengths, initial=0))

    def _recorded(self, cotangent: Tensor) -> Any:
        """What gives the piece of a cotangent for each position, as a Tensor of its own memory."""
        if self.is_stack:
            pieces = cotangent.unbind(self.axis)
        else:
            lengths = [shape[self.axis] for shape, _ in self.kinds]
            pieces = cotangent.split(lengths, self.axis)

        def piece(position: int) -> Tensor:
            found, dtype = pieces[position], self.kinds[position][1]
            found.array, found._counter, found._view_of = found.array.copy(), [0], None
            if found.array.dtype == dtype:
                return found
            real = found.real if found.array.dtype.kind == "c" and dtype.kind != "c" else found
            return real.to(dtype)

        return piece

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "_saved_dim"]


@cache
def _node_class(name: str) -> type[JoinedNode]:
    return type(f"{name}Backward0", (JoinedNode,), {"__slots__": (), "__module__": "builtins"})


def is_join(operation: Operation, static: tuple[Any, ...]) -> bool:
    """Whether an operation puts its operands together along an axis."""
    if operation.callee not in (np.concatenate, np.stack):
        return False
    return not static or (operation.parameters[: len(static)] == ("axis",) and static != (None,))


def join(operation: Operation, operands: Sequence[Any], static: tuple[Any, ...]) -> Tensor:
    """The recorded result of an operation that puts its operands together."""
    arrays = [o.array if isinstance(o, Tensor) else np.asarray(o) for o in operands]
    out = operation.call(arrays, static)
    edges: dict[int, Edge] = {}
    for position, operand in enumerate(operands):
        if isinstance(operand, Tensor):
            if operand._view_of is not None:
                operand._view_of.refresh(operand, placed=True)
            edges[position] = edge_of(operand) if operand.requires_grad else NO_EDGE
    kinds = [(array.shape, array.dtype) for array in arrays]
    dim = static[0] if static else 0
    node = _node_class(operation.name)(dim, kinds, (out.shape, out.dtype), edges)
    return wrap_result(out, node)
