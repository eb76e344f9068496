"""The nodes of views that are taken again after their base was changed in place.

A view is told by the steps that lead to it from the base, so its gradient goes where the same
steps lead in an array of the base's shape. Where the axes of a leaf were changed in place, views
of what it was lead to what it is now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from gradscribe.runtime.graph.node import Node, next_sequence
from gradscribe.runtime.tensors.tensor import Array, Tensor, edge_of, wrap
from gradscribe.runtime.tensors.views import Steps, overlaps, positions, take, take_array


class AsStridedBackward0(Node):
    """The node of a view of a base that has been changed; steps: from the base to the view."""

    __slots__ = ("dtype", "of_view", "shape", "steps")
    __module__ = "builtins"

    returns_fresh = only_reads = True

    def __init__(self, base: Tensor, steps: Steps, view: Array) -> None:
        self.next_edges = [edge_of(base)]
        self.shape, self.dtype = base.array.shape, base.array.dtype
        self.steps = steps
        self.of_view = view.shape, view.dtype
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @property
    def output_types(self) -> Sequence[Any]:
        return [self.of_view]

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        if create_graph:
            return [self._recorded(cotangent)]
        whole = np.zeros(self.shape, self.dtype)
        part = take_array(whole, self.steps)
        if np.may_share_memory(part, whole) and part.flags.writeable and not overlaps(part):
            part[...] = cotangent
        else:
            np.add.at(whole.reshape(-1), positions(self.shape, self.steps), cotangent)
        return [whole]

    def _recorded(self, cotangent: Tensor) -> Tensor:
        whole = wrap(np.zeros(self.shape, self.dtype).reshape(-1))
        places = wrap(positions(self.shape, self.steps).reshape(-1))
        return whole.index_add(0, places, cotangent.reshape(-1)).reshape(self.shape)


def region(base: Tensor, steps: Steps, view: Array) -> AsStridedBackward0:
    """The node of a view of a base that has been changed."""
    return AsStridedBackward0(base, steps, view)


class RearrangedBackward(Node):
    """The node of what a leaf was before its axes were changed in place; steps: from that to what
    it is now."""

    __slots__ = ("kind", "steps")

    def __init__(self, leaf: Tensor, steps: Steps, former: Array) -> None:
        self.next_edges = [edge_of(leaf)]
        self.kind = former.shape, former.dtype
        self.steps = steps
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    @property
    def output_types(self) -> Sequence[Any]:
        return [self.kind]

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        return [(take if create_graph else take_array)(cotangent, self.steps)]


def lead_to(leaf: Tensor, former: Tensor) -> None:
    """Let gradients of what a leaf was, before its axes were changed in place, go to the leaf."""
    leaf_ref = ref(leaf)

    def node() -> Node | None:
        now = leaf_ref()
        if now is None or now._view_of is None:
            return None
        return RearrangedBackward(now, now._view_of.steps, former.array)

    former._leaf_state().accumulator = node
