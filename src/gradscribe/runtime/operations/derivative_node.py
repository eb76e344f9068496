"""Derivatives of compiled functions as functions of their own: their calls, and the nodes of those.

The gradient g(x, d) = J^T d and the tangent t(x, v) = J v of a function are functions like any
other, with a gradient in turn, which the backward of a `DerivativeNode` runs. That is how tangents
are recorded; and gradients, where the user gave rules, which need not be true derivatives. (Where
all rules are true, gradients are symmetric, and a `HigherNode` does with less.)

Nothing is compiled for a backward before there is one: a rule may be one that cannot be
differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.runtime.graph.modes import MODES, tell_recorded
from gradscribe.runtime.graph.node import FREED_GRAPH, Edge, Node, next_sequence
from gradscribe.runtime.operations.kernel import Derivatives, as_array, converter, signature
from gradscribe.runtime.operations.point import Point, converted
from gradscribe.runtime.tensors.saved import Packing, unpacked
from gradscribe.runtime.tensors.tensor import Tensor, wrap, wrap_result

if TYPE_CHECKING:
    from gradscribe.codegen import Stepwise


def derivative(derivatives: Derivatives, point: Point) -> list[Any]:
    """The values of a derivative at a point."""
    return [*derivatives.primal(*unpacked(list(point.values), {}))]


def recorded(derivatives: Derivatives, point: Point, results: Sequence[Any]) -> list[Tensor]:
    """The values of a derivative as Tensors, with a node where edges lead on."""
    edges = [point.edges[position] for position in derivatives.active]
    if all(node is None for node, _ in edges):
        return [wrap(as_array(result)) for result in results]
    node = _node_class(f"{derivatives.name}Backward0")(derivatives, point, edges, results)
    if MODES:
        tell_recorded(node)
    return [wrap_result(as_array(result), node, i) for i, result in enumerate(results)]


@cache
def _node_class(name: str) -> type[DerivativeNode]:
    return type(name, (DerivativeNode,), {"__slots__": (), "__module__": "builtins"})


class DerivativeNode(Node):
    """The node of a derivative, called at a point."""

    __slots__ = ("converters", "derivatives", "point", "shapes")

    returns_fresh = True

    def __init__(
        self,
        derivatives: Derivatives,
        point: Point,
        edges: Sequence[Edge],
        results: Sequence[Any],
    ) -> None:
        self.derivatives = derivatives
        self.point: Point | None = point
        self.next_edges = edges
        self.converters = [*map(converter, results)]
        self.shapes = [*map(signature, results)]
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
        return len(self.shapes)

    @property
    def output_types(self) -> Sequence[Any]:
        return self.shapes

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        point = self._checked_point()
        values = converted(cotangents, self.converters, self.shapes)
        given = Point.of(cotangents if create_graph else [None] * len(values))
        gradient = self.derivatives.gradient
        whole = point + Point(values, given.edges, given.counters, given.expected)
        results = derivative(gradient, whole)
        return recorded(gradient, whole, results) if create_graph else results

    def generated_run(self, cotangents: Sequence[Any]) -> tuple[Stepwise, Sequence[Any]] | None:
        if self.point is None:
            return None
        values = converted(cotangents, self.converters, self.shapes)
        point = unpacked(list(self._checked_point().values), {})
        return self.derivatives.gradient.stepwise_primal, (*chain(point, values),)

    def _checked_point(self) -> Point:
        if self.point is None:
            raise RuntimeError(FREED_GRAPH)
        read = self.derivatives.gradient.reads
        self.point.check_versions([i for i in read if i < len(self.point.values)])
        return self.point

    def pack_saved(self, pack: Callable[[Any, int | None], Any]) -> None:
        if self.point is None:
            return
        packing = Packing(pack)
        values = [
            packing.leaf(value, position) if isinstance(value, np.ndarray) else value
            for position, value in enumerate(self.point.values)
        ]
        nones = [None] * len(values)
        self.point = Point(values, self.point.edges, nones, self.point.expected)

    def release(self) -> None:
        self.point = None
