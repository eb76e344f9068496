"""Several views of one Tensor along an axis, as the outputs of one node: `unbind`, `split`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.inference import all_inference
from gradscribe.runtime.graph.modes import MODES, tell_finished
from gradscribe.runtime.graph.node import Node, next_sequence
from gradscribe.runtime.operations.eager import Operation, apply, mark_view
from gradscribe.runtime.operations.indexing import normalized, taking
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap, wrap_result
from gradscribe.runtime.tensors.views import MULTIPLE

_OPERATIONS = {name: taking(name) for name in ("Unbind", "Split", "SplitWithSizes")}


class PiecesNode(Node):
    """The node of pieces of an array along an axis.

    places: the index of each. saved: what the node tells as `_saved_*`.
    """

    __slots__ = ("axis", "dtype", "places", "saved", "shape", "shapes")

    returns_fresh = only_reads = True

    def __init__(
        self,
        tensor: Tensor,
        axis: int,
        places: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
        saved: dict[str, Any],
    ) -> None:
        self.next_edges = (edge_of(tensor),)
        self.sequence_nr = next_sequence()
        self.own_hooks = None
        self.axis = axis
        self.places = places
        self.shapes = shapes
        self.shape, self.dtype = tensor.array.shape, tensor.array.dtype
        self.saved = {**saved, "dim": axis}

    @property
    def cotangent_count(self) -> int:  # type: ignore[override]
        return len(self.places)

    @property
    def output_types(self) -> Sequence[Any]:
        return [(shape, self.dtype) for shape in self.shapes]

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        if create_graph:
            return (self._joined(cotangents),)
        whole = np.zeros(self.shape, self.dtype)
        for place, cotangent in zip(self.places, cotangents, strict=True):
            if cotangent is not None:
                whole[place] = cotangent
        return (whole,)

    def _joined(self, cotangents: list[Tensor | None]) -> Tensor:
        parts = [
            wrap(np.zeros(shape, self.dtype)) if cotangent is None else cotangent
            for shape, cotangent in zip(self.shapes, cotangents, strict=True)
        ]
        join: Any = np.stack if len(self.shapes[0]) < len(self.shape) else np.concatenate
        joined: Tensor = join(parts, self.axis)
        return joined

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(f"_saved_{name}" for name in self.saved)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_") and name[len("_saved_") :] in self.saved:
            return self.saved[name[len("_saved_") :]]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


@cache
def _node_class(name: str) -> type[PiecesNode]:
    return type(f"{name}Backward0", (PiecesNode,), {"__slots__": (), "__module__": "builtins"})


def pieces(
    tensor: Tensor, axis: int, places: Sequence[Any], name: str, **saved: Any
) -> tuple[Tensor, ...]:
    """Views of a Tensor that together are all of it, and may not be changed in place; name: of
    their node; places: their indices along the axis."""
    operation = _OPERATIONS[name]
    indices = [(*(slice(None),) * axis, place) for place in places]
    statics = [normalized(index)[0] for index in indices]
    if tensor.requires_grad and grad_enabled() and not all_inference((tensor,)):
        if tensor._view_of is not None:
            tensor._view_of.refresh(tensor, placed=True)
        views = _recorded(tensor, operation, axis, indices, statics, saved)
    else:
        views = tuple(apply(operation, (tensor,), (static,)) for static in statics)
    for view in views:
        if view._view_of is not None:
            view._view_of.origin = view._view_of.origin or MULTIPLE
    return views


def _recorded(
    tensor: Tensor,
    operation: Operation,
    axis: int,
    indices: Sequence[Any],
    statics: Sequence[Any],
    saved: dict[str, Any],
) -> tuple[Tensor, ...]:
    arrays = [operation.call((tensor.array,), (static,)) for static in statics]
    shapes = [array.shape for array in arrays]
    node = _node_class(operation.name)(tensor, axis, indices, shapes, saved)
    views = tuple(wrap_result(array, node, i) for i, array in enumerate(arrays))
    for view, static in zip(views, statics, strict=True):
        mark_view(view, operation, (tensor,), (static,))
        if MODES:
            tell_finished(operation, (tensor,), (static,), view)
    return views
