"""The nodes of what backward runs compute under `create_graph`, to any order.

For outputs f(x) with cotangents d let L(z) = <d, f(x)>, z = (x, d), x being the active leaves.
Its gradient F_1(z) = (J^T d, f(x)) holds the adjoint and the primal. F_{n+1}(z; w_1, ..., w_n) is
the tangent of F_n along w_n, so it is the derivative of order n + 1 of L in n directions, and
symmetric in them. Hence the vector-Jacobian product of F_n(z; w_1, ..., w_{n-1}) with u is

    d_z = F_{n+1}(z; w_1, ..., w_{n-1}, u)        d_w_i = F_n(z; w with w_i replaced by u)

An `OperationNode` is the node of f, whose backward is the first part of F_1, computed by the
adjoint from the record of the forward run. Under `create_graph` the results of a backward are
outputs of a `HigherNode`, one class for every n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.anomaly import modified_in_place
from gradscribe.runtime.graph.modes import MODES, tell_recorded
from gradscribe.runtime.graph.node import (
    FREED_GRAPH,
    NO_EDGE,
    Edge,
    Node,
    next_sequence,
)
from gradscribe.runtime.operations.kernel import Kernel, as_array, converter, signature
from gradscribe.runtime.operations.point import Point, converted, edge_to
from gradscribe.runtime.tensors.saved import Known, Packing, unpacked
from gradscribe.runtime.tensors.tensor import wrap, wrap_result

if TYPE_CHECKING:
    from gradscribe.codegen import Stepwise


@cache
def higher_node_class(name: str) -> type[HigherNode]:
    return type(name, (HigherNode,), {"__slots__": (), "__module__": "builtins"})


class HigherNode(Node):
    """The node of F_n(z; w_1, ..., w_{n-1}); see the module's text.

    point: the leaves, then the cotangents (z, with the leaves that are not active).
    directions: the w_i. edges: those of z, then those of each w_i.
    counters, expected: as in `OperationNode`, for the point.
    """

    __slots__ = ("counters", "directions", "expected", "kernel", "order", "point")

    returns_fresh = True

    def __init__(
        self,
        kernel: Kernel,
        order: int,
        point: list[Any],
        directions: list[list[Any]],
        edges: list[Edge],
        counters: list[list[int] | None],
        expected: list[int],
    ) -> None:
        self.kernel = kernel
        self.order = order
        self.point = point
        self.directions = directions
        self.next_edges = edges
        self.counters = counters
        self.expected = expected
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @classmethod
    def of_gradient(cls, kernel: Kernel, point: Point) -> HigherNode:
        """The node of F_1(z). What is linear has no derivative by its leaves."""
        arity = len(point.values) - len(kernel.outputs)
        own = [*map(point.edges.__getitem__, kernel.active)]
        edges = [NO_EDGE] * len(own) if kernel.derivatives.linear else own
        return higher_node_class(f"{kernel.stem}BackwardBackward0")(
            kernel,
            1,
            [*point.values],
            [],
            [*edges, *point.edges[arity:]],
            [*point.counters],
            [*point.expected],
        )

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
        return len(self.kernel.active) + len(self.kernel.outputs)

    def input_edges(self) -> Sequence[Edge]:
        return tuple(self.arranged_by_input(self.next_edges))

    def arranged_by_input(self, gradients: Sequence[Any]) -> list[Any]:
        """Cotangents before leaves, as in PyTorch; no leaves where the operation is linear."""
        first = len(self.kernel.active)
        last = 0 if self.kernel.derivatives.linear and self.order == 1 else first
        width = self.cotangent_count
        return [*gradients[first:width], *gradients[:last], *gradients[width:]]

    def arranged_by_edge(self, gradients: Sequence[Any]) -> list[Any]:
        first = len(self.kernel.active)
        rest = self.cotangent_count - first
        if self.kernel.derivatives.linear and self.order == 1:
            return [*[None] * first, *gradients]
        return [*gradients[rest : rest + first], *gradients[:rest], *gradients[rest + first :]]

    @property
    def output_types(self) -> Sequence[Any]:
        if self.point is None:
            raise RuntimeError(FREED_GRAPH)
        return [signature(part) for part in self._parts(unpacked(self.point, {}))]

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        if self.point is None:
            raise RuntimeError(FREED_GRAPH)
        self._check_versions()
        known: Known = {}
        point: list[Any] = unpacked(self.point, known)
        directions: list[list[Any]] = unpacked(self.directions, known)
        cotangents += [None] * (self.cotangent_count - len(cotangents))
        direction = self._direction(point, cotangents)
        width = self.cotangent_count
        if self.order == 1 and self.kernel.derivatives.has_choices:
            self._check_tangents(point, direction)
        new_edges = [*map(edge_to, cotangents)] if create_graph else []
        own_edges = self._edges_of_higher(width)
        results = self._evaluate(
            point, [*directions, direction], [*own_edges, *new_edges], create_graph
        )
        for i in range(len(directions)):
            span = slice((i + 1) * width, (i + 2) * width)
            if all(node is None for node, _ in self.next_edges[span]):
                results += [None] * width
                continue
            replaced = [*directions]
            replaced[i] = direction
            edges = [*own_edges]
            if create_graph:
                edges[span] = new_edges
            results += self._evaluate(point, replaced, edges, create_graph)
        return results

    def _check_tangents(self, point: list[Any], direction: list[Any]) -> None:
        """Raise where tangents of outputs are wanted that forward mode refuses: what makes no
        difference to a gradient as a whole, may make one to these."""
        derivatives, first = self.kernel.derivatives, len(self.kernel.active)
        edges = self.next_edges[first : self.cotangent_count]
        wanted = tuple([number for number, (node, _) in enumerate(edges) if node is not None])
        if wanted:
            part = derivatives.of_outputs(wanted) or derivatives
            leaves = point[: len(point) - len(self.kernel.outputs)]
            part.tangent.primal(*leaves, *direction[:first])

    def generated_run(self, cotangents: Sequence[Any]) -> tuple[Stepwise, Sequence[Any]] | None:
        if self.point is None:
            return None
        self._check_versions()
        point, directions = unpacked(self.point, {}), unpacked(self.directions, {})
        missing = [None] * (self.cotangent_count - len(cotangents))
        along = [*directions, self._direction(point, [*cotangents, *missing])]
        code = self.kernel.derivatives.stepwise(len(along) + 1)
        return code, (*point, *chain.from_iterable(along))

    def _edges_of_higher(self, width: int) -> list[Edge]:
        """The edges for derivatives of this node: what is linear has none that depend on z."""
        if self.kernel.derivatives.linear:
            return [*[NO_EDGE] * width, *self.next_edges[width:]]
        return [*self.next_edges]

    def _evaluate(
        self,
        point: list[Any],
        directions: list[list[Any]],
        edges: list[Edge],
        create_graph: bool,
    ) -> list[Any]:
        """F along the directions at this point, as arrays or as Tensors with a node of their
        own."""
        order = len(directions) + 1
        function = self.kernel.derivatives.order(order)
        results = function(*point, *chain.from_iterable(directions))
        if not create_graph:
            return list(results)
        name = f"{self.kernel.stem}{'Backward' * (order + 1)}0"
        node = higher_node_class(name)(
            self.kernel, order, point, directions, edges, self.counters, self.expected
        )
        return node.outputs(results)

    def outputs(self, results: Sequence[Any]) -> list[Any]:
        """The results of the function as Tensors, of this node where its edges lead on."""
        arrays = [None if result is None else as_array(result) for result in results]
        if all(node is None for node, _ in self.next_edges):
            return [None if array is None else wrap(array) for array in arrays]
        if MODES:
            tell_recorded(self)
        return [None if a is None else wrap_result(a, self, i) for i, a in enumerate(arrays)]

    def _direction(self, point: list[Any], cotangents: list[Any]) -> list[Any]:
        """The cotangents, zeros for those that are None, with the types of the parts of z."""
        parts = self._parts(point)
        converters = [converter(part) for part in parts]
        return converted(cotangents, converters, [signature(part) for part in parts])

    def _parts(self, point: list[Any]) -> list[Any]:
        """The parts of z."""
        arity = len(point) - len(self.kernel.outputs)
        return [*(point[position] for position in self.kernel.active), *point[arity:]]

    def pack_saved(self, pack: Callable[[Any, int | None], Any]) -> None:
        arity = len(self.point) - len(self.kernel.outputs)
        packing = Packing(pack)
        read = {*self.kernel.kept, *range(arity, len(self.point))}
        self.point = [
            packing.leaf(value, position)
            if isinstance(value, np.ndarray) and position in read
            else value
            for position, value in enumerate(self.point)
        ]
        self.directions = packing.record(self.directions)
        self.counters = [None] * len(self.counters)

    def _check_versions(self) -> None:
        arity = len(self.point) - len(self.kernel.outputs)
        seeds = range(arity, len(self.point))
        for position in (*self.kernel.kept, *seeds):
            counter = self.counters[position]
            if counter is not None and counter[0] != self.expected[position]:
                shape, dtype = signature(unpacked(self.point[position], {}))
                raise modified_in_place(
                    dtypes.type_name(dtype), shape, NO_EDGE, counter[0], self.expected[position]
                )

    def release(self) -> None:
        self.point = None  # type: ignore[assignment]
        self.directions = []
