"""Nodes whose backward is compiled: eager operations and compiled functions alike.

An `OperationNode` is the node of a function f, whose backward is the adjoint of f, computed from
the record of the forward run. Where that backward is recorded, its results come from operations on
Tensors, for an eager operation (`recorded_backward.py`), or are outputs of a `HigherNode`
(`higher_node.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.runtime.arrays.kinds import kind_of_array
from gradscribe.runtime.graph.modes import MODES, tell_differentiated
from gradscribe.runtime.graph.node import (
    FREED_GRAPH,
)
from gradscribe.runtime.operations.derivative_node import derivative, recorded
from gradscribe.runtime.operations.higher_node import HigherNode
from gradscribe.runtime.operations.kept_call import FREED, Freed, KeptCall
from gradscribe.runtime.operations.kernel import Derivatives as Derivatives
from gradscribe.runtime.operations.kernel import Kernel as Kernel
from gradscribe.runtime.operations.point import Point, converted
from gradscribe.runtime.operations.recorded_backward import recorded_gradients
from gradscribe.runtime.operations.saved_values import (
    SavedTensor,
    placed,
    placed_result,
    saved_attributes,
    saved_value,
)
from gradscribe.runtime.tensors.saved import Known, PackedRecord, Packing, unpacked

if TYPE_CHECKING:
    from gradscribe.codegen import Stepwise


@cache
def node_class(name: str, count: int = 1) -> type[OperationNode]:
    """The class of the nodes of this name, with so many outputs that have cotangents."""
    own = {"__slots__": (), "__module__": "builtins", "cotangent_count": count}
    return type(name, (OperationNode,), own)


_KEPT = (Freed, PackedRecord)


class OperationNode(KeptCall):
    """The node of one call of an eager operation or of a compiled function."""

    __slots__ = ()

    returns_fresh = only_reads = True

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        try:
            return self._backward(cotangents, create_graph)
        except NoDerivativeError:
            given = tuple([number for number, c in enumerate(cotangents) if c is not None])
            part = None
            if len(given) < len(
                cotangents
            ):  # zeros for the others say less than that there are none
                part = self.kernel.derivatives.of_outputs(given)
            if part is None:
                raise
        return self.backward_of(part, given, cotangents, create_graph)

    def flow(self, cotangents: list[Any]) -> Sequence[Any]:
        kernel, record = self.kernel, self.record
        if kernel.call is None or record.__class__ in _KEPT:
            return self.backward(cotangents, False)
        for position in kernel.checked:
            counter = self.counters[position]
            if counter is not None and counter[0] != self.expected[position]:
                raise self._modified(position, counter[0])
        (cotangent,) = cotangents
        if cotangent.__class__ is not kernel.cotangent_class:
            cotangent = kernel.converters[0](cotangent)
        flow = kernel.flow
        if flow is None:
            flow = kernel.flow = kernel.derivatives.flow
        return flow(record, cotangent)

    def _backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        record = self.record
        kernel = self.kernel
        if create_graph and kernel.by_operations is not None:
            return self._backward_by_operations(cotangents)
        known: Known = {}
        if type(record) in _KEPT:
            record = record.get(known)
        if kernel.checked:
            self.check_versions(kernel.checked)
        if create_graph:
            return self._backward_recorded(record, unpacked(self.leaves, known), cotangents)
        return kernel.adjoint(record, *converted(cotangents, kernel.converters, self.output_types))

    def backward_of(
        self, part: Derivatives, given: Sequence[int], cotangents: list[Any], create_graph: bool
    ) -> Sequence[Any]:
        """The backward from some of the results alone, by their derivatives: rules of the user for
        the others do not run. (What was recorded is for all of them.)"""
        types = [self.output_types[number] for number in given]
        converters = [self.kernel.converters[number] for number in given]
        seeds = [cotangents[number] for number in given]
        told = Point.of(seeds if create_graph else [None] * len(seeds))
        values = converted(seeds, converters, types)
        point = self.point(unpacked(list(self.leaves), {}))
        whole = point + Point(values, told.edges, told.counters, told.expected)
        whole.check_versions(part.gradient.reads)
        results = derivative(part.gradient, whole)
        return recorded(part.gradient, whole, results) if create_graph else results

    def generated_run(self, cotangents: Sequence[Any]) -> tuple[Stepwise, Sequence[Any]] | None:
        if self.kernel.call is not None:
            return None
        record = self.record.get({}) if type(self.record) in _KEPT else self.record
        self.check_versions(self.kernel.checked)
        seeds = converted(cotangents, self.kernel.converters, self.output_types)
        return self.kernel.derivatives.stepwise(0), (record, *seeds)

    def _backward_by_operations(self, cotangents: Sequence[Any]) -> Sequence[Any]:
        """The backward as operations on Tensors."""
        if isinstance(self.record, Freed):
            raise RuntimeError(FREED_GRAPH)
        return recorded_gradients(self, cotangents)

    def _backward_recorded(
        self, record: Any, leaves: list[Any], cotangents: list[Any]
    ) -> Sequence[Any]:
        kernel = self.kernel
        seeds = converted(cotangents, kernel.converters, self.shapes)
        given = Point.of(cotangents)
        point = self.point(leaves) + Point(seeds, given.edges, given.counters, given.expected)
        results = kernel.adjoint(record, *seeds)
        if kernel.derivatives.has_given_rules:
            found: list[Any] = recorded(kernel.derivatives.gradient, point, results)
        else:
            self.check_versions(kernel.kept)
            found = HigherNode.of_gradient(kernel, point).outputs(results)
        if MODES:
            tell_differentiated(self, cotangents, found)
        return found

    def release(self) -> None:
        if self.kernel.records:
            self.record = FREED
            self.leaves = [None] * len(self.leaves)

    def as_saved(self, array: Any, position: int | None) -> Any:

        return placed_result(self, array) if position is None else placed(self, position, array)

    def pack_saved(self, pack: Callable[[Any, int | None], Any]) -> None:
        if not self.kernel.records or isinstance(self.record, Freed):
            return
        counters = list(self.counters)
        arity = len(self.leaves)

        def packed(array: Any, position: int | None) -> Any:
            result = pack(array, position)
            if result is not array and position is not None:
                counters[position] = None
            elif result is not array:
                counters[arity:] = [None] * (len(counters) - arity)
            return result

        packing = Packing(packed)
        kept = self.kernel.read_positions(arity)
        self.counters = counters
        self.leaves = [
            leaf
            if not isinstance(leaf, np.ndarray)
            else packing.leaf(leaf, position)
            if position in kept
            else kind_of_array(leaf).stand_in
            for position, leaf in enumerate(self.leaves)
        ]
        present = self.record
        record = present.record if isinstance(present, PackedRecord) else present
        self.record = PackedRecord(packing.record(record))

    def keep_output(self, array: Any) -> None:
        """Before its output, an array, is changed in place: keep a copy of what the record has of
        it, for operations whose results may be changed in PyTorch."""
        call, arity = self.kernel.call, len(self.leaves)
        if call is None or not self.kernel.checks_outputs or not call[0].from_operands:
            return
        if type(self.record) not in _KEPT and self.counters[arity] is not None:
            copy = array.copy()
            self.record = Packing(lambda each, _: copy if each is array else each).record(
                self.record
            )
            self.counters = [*self.counters[:arity], None]

    def arranged_by_input(self, gradients: Sequence[Any]) -> list[Any]:
        found = dict(zip(self.kernel.active, gradients, strict=True))
        return [found.get(position) for position in self.kernel.inputs]

    def arranged_by_edge(self, gradients: Sequence[Any]) -> list[Any]:
        found = dict(zip(self.kernel.inputs, gradients, strict=True))
        return [found.get(position) for position in self.kernel.active]

    def __dir__(self) -> list[str]:

        return [*super().__dir__(), *saved_attributes(self)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_saved_", "_raw_saved_")):
            find = SavedTensor.of if name.startswith("_raw") else saved_value
            return find(self, name.removeprefix("_raw").removeprefix("_saved_"))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
