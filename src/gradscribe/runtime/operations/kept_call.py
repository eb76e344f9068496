"""What the node of a recorded call keeps: what it was called with, and its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.saved_names import names_at
from gradscribe.runtime.graph.anomaly import modified_in_place
from gradscribe.runtime.graph.node import FREED_GRAPH, NO_EDGE, Edge, Node, next_sequence
from gradscribe.runtime.operations.kernel import Kernel, signature
from gradscribe.runtime.operations.point import Point
from gradscribe.runtime.tensors.saved import Known


class Freed:
    """In place of a record that has been freed. A record may be kept in another form (as this
    one, or packed); `get` gives it back."""

    def get(self, known: Known) -> Any:
        raise RuntimeError(FREED_GRAPH)


FREED = Freed()


class KeptCall(Node):
    """Base of the nodes of calls of eager operations and of compiled functions.

    leaves: the input arrays and numbers, as far as higher derivatives need them.
    counters, expected: for each leaf, then each output: its version counter (None: it is no
        Tensor), and what the version was.
    shapes: shape and dtype of each of the kernel's outputs.
    """

    __slots__ = ("counters", "expected", "kernel", "leaves", "record", "shapes")

    def __init__(
        self,
        kernel: Kernel,
        edges: Sequence[Edge],
        leaves: Sequence[Any],
        record: Any,
        counters: Sequence[list[int] | None],
        expected: Sequence[int],
        shapes: Sequence[Any],
    ) -> None:
        self.kernel = kernel
        self.next_edges = edges
        self.leaves: Sequence[Any] = leaves
        self.record = record
        self.counters = counters
        self.expected = expected
        self.shapes = shapes
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @property
    def output_types(self) -> Sequence[Any]:
        return self.shapes

    def input_edges(self) -> Sequence[Edge]:
        active = dict(zip(self.kernel.active, self.next_edges, strict=True))
        return tuple(active.get(position, NO_EDGE) for position in self.kernel.inputs)

    def saved_names(self) -> Mapping[str, str]:
        """The names of what it tells that it keeps, each with where that is found."""
        call = self.kernel.call
        return {} if call is None else names_at(call[0].saved, self.name())

    @property
    def is_freed(self) -> bool:
        """Whether what was kept has been freed."""
        return isinstance(self.record, Freed)

    def point(self, leaves: Sequence[Any]) -> Point:
        """What the function was called with. leaves: those that it keeps, unpacked."""
        arity = len(leaves)
        edges = dict(zip(self.kernel.active, self.next_edges, strict=True))
        return Point(
            leaves,
            [edges.get(position, NO_EDGE) for position in range(arity)],
            self.counters[:arity],
            self.expected[:arity],
        )

    def check_versions(self, positions: Sequence[int]) -> None:
        """Raise the error for a recorded value that was changed in place since the call."""
        for position in positions:
            counter = self.counters[position]
            if counter is not None and counter[0] != self.expected[position]:
                raise self._modified(position, counter[0])

    def _modified(self, position: int, found: int) -> RuntimeError:
        arity = len(self.leaves)
        if position < arity:
            active = dict(zip(self.kernel.active, self.next_edges, strict=True))
            shape, dtype = signature(self.leaves[position])
            producer = active.get(position, NO_EDGE)
        else:
            known = dict(zip(self.kernel.outputs, self.shapes, strict=True))
            shape, dtype = known.get(position - arity, ((), None))
            producer = (self, position - arity)
        return modified_in_place(
            dtypes.type_name(dtype), shape, producer, found, self.expected[position]
        )
