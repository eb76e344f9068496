"""What a recorded function is called with, as a node keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.anomaly import modified_in_place
from gradscribe.runtime.graph.node import NO_EDGE, Edge
from gradscribe.runtime.operations.kernel import Convert, signature
from gradscribe.runtime.tensors.saved import unpacked
from gradscribe.runtime.tensors.tensor import Tensor, edge_of


@dataclass(frozen=True, slots=True)
class Point:
    """What a function is called with: for each leaf its value (an array, or a number), where its
    gradient goes, its version counter (None: it is no Tensor), and what the version was."""

    values: Sequence[Any]
    edges: Sequence[Edge]
    counters: Sequence[list[int] | None]
    expected: Sequence[int]

    @classmethod
    def of(cls, leaves: Sequence[Any]) -> Point:
        """Of Tensors, arrays and numbers."""
        counters = [leaf._counter if isinstance(leaf, Tensor) else None for leaf in leaves]
        return cls(
            [leaf.array[()] if isinstance(leaf, Tensor) else leaf for leaf in leaves],
            [edge_to(leaf) for leaf in leaves],
            counters,
            [0 if counter is None else counter[0] for counter in counters],
        )

    def __add__(self, other: Point) -> Point:
        return Point(
            [*self.values, *other.values],
            [*self.edges, *other.edges],
            [*self.counters, *other.counters],
            [*self.expected, *other.expected],
        )

    def check_versions(self, positions: Sequence[int]) -> None:
        """Raise the error for a leaf that was changed in place since."""
        for position in positions:
            counter, expected = self.counters[position], self.expected[position]
            if counter is not None and counter[0] != expected:
                shape, dtype = signature(unpacked(self.values[position], {}))
                name = dtypes.type_name(dtype)
                raise modified_in_place(name, shape, self.edges[position], counter[0], expected)


def converted(
    cotangents: Sequence[Any], converters: Sequence[Convert], shapes: Sequence[Any]
) -> list[Any]:
    """Cotangents (arrays, numbers or Tensors) as the code expects them; zeros for None."""
    return [
        convert(np.zeros(*shape) if c is None else c.array if isinstance(c, Tensor) else c)
        for c, convert, shape in zip(cotangents, converters, shapes, strict=True)
    ]


def edge_to(leaf: Any) -> Edge:
    """Where the gradient of what may be no Tensor goes."""
    is_recorded = isinstance(leaf, Tensor) and leaf.requires_grad
    return edge_of(leaf) if is_recorded else NO_EDGE
