"""In-place operations: methods with a trailing underscore, augmented assignment, stores.

The result is computed as if out of place and then stored in the memory of the Tensor, whose
version goes up. If it is recorded, the Tensor changes its place in the graph: it is now the
output of the operation's node. Where the Tensor is a view, its base is now the output of a
`CopySlices` node, which puts the region's new value into the base's old one, and all views
of the base are taken again when they are next used (`views.py`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.data_errors import other_shape
from gradscribe.runtime.arrays.explaining import copied, explained
from gradscribe.runtime.arrays.floating_point_errors import silent
from gradscribe.runtime.graph import inference
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.modes import (
    MODES,
    tell_copied,
    tell_recorded,
    tell_shared,
    tell_stored,
    tell_storing,
)
from gradscribe.runtime.graph.node import NO_EDGE, Edge, Node, next_sequence
from gradscribe.runtime.operations.kernel import as_array
from gradscribe.runtime.operations.operation import OperationNode, node_class
from gradscribe.runtime.operations.regions import RearrangedBackward, lead_to
from gradscribe.runtime.tensors.promotion import can_cast
from gradscribe.runtime.tensors.stored_values import check_dtypes, does_not_fit, fitting
from gradscribe.runtime.tensors.tensor import Array, Tensor, edge_of, producer, rank_of, wrap
from gradscribe.runtime.tensors.views import Step, Steps, View, positions, take, take_array

LEAF_IN_PLACE = "a leaf Variable that requires grad is being used in an in-place operation."


def update(target: Tensor, function: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """`target = function(target, ...)`, in the memory of target."""
    if not is_recorded(target, args):
        if MODES:
            store(target, function(as_it_was(target), *args, **kwargs))
        else:
            store(target, function(wrap(target.array), *args, **kwargs))
        return target
    refuse_leaf(target)
    result = function(as_it_was(target), *args, **kwargs)
    _name_in_place(result)
    store(target, result)
    _watch(target, result)
    _take_place(target, result)
    return target


def _name_in_place(result: Tensor) -> None:
    """Give the node of a result the name that it has where a Tensor is changed in place."""
    node = result._node
    call = node.kernel.call if isinstance(node, OperationNode) else None
    if node is not None and call is not None and call[0].in_place:
        stem, _, number = node.name().rpartition("Backward")
        node.__class__ = node_class(f"{stem}Backward{int(number) + call[0].in_place}")


def _watch(target: Tensor, result: Tensor) -> None:
    """Let the node of a result that is stored in the memory of target, and that it needs for its
    backward, notice a change of target."""
    node = result._node
    if isinstance(node, OperationNode) and node.kernel.checks_outputs:
        position = len(node.leaves)
        if "result" in node.saved_names() and node.counters[position] is not None:
            node.counters = [*node.counters[:position], target._counter]
            node.expected = [*node.expected[:position], target._counter[0]]


def as_it_was(target: Tensor) -> Tensor:
    """A copy in the same place of the graph, to stand for a Tensor whose memory will change."""
    original = wrap(target.array.copy())
    original._needs_grad = target.requires_grad
    original._node, original._index = _place_of(target)
    if MODES:
        tell_copied(target, original)
    return original


def _place_of(target: Tensor) -> Edge:
    """The place in the graph of what a Tensor is now. Of a view that is a view taken anew: the
    hooks of the view itself have nothing to do with the changes of its base."""
    node = producer(target)
    if target._view_of is None or node is None:
        return node, target._index
    again = take(target._view_of.base, target._view_of.steps)
    return again._node, again._index


def _take_place(target: Tensor, result: Tensor) -> None:
    """Put target in the place of a result in the graph, which has been stored in its memory."""
    if target._view_of is None and result._needs_grad:
        assert result._node is not None
        target._move(result._node, result._index)
    else:
        overwrite(target, edge_of(result) if result._needs_grad else NO_EDGE)


def take_over(target: Tensor, result: Tensor) -> None:
    """Store a result in the memory of target, and put target in its place in the graph."""
    recorded = result._needs_grad or (target.requires_grad and grad_enabled())
    store(target, result)
    if recorded:
        _take_place(target, result)


def rearrange(target: Tensor, function: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """Make target the view that a function gives of it, of the same memory. Earlier views of it
    are views of a Tensor that stands for what it was."""
    if is_recorded(target, ()):
        refuse_leaf(target)
    _tell_of_change(target)
    original = wrap(target.array)
    original._node, original._index = producer(target), target._index
    original._needs_grad = target._needs_grad
    original._counter = target._counter
    original._view_of = target._view_of
    if MODES:
        tell_shared(target, original)
    result = function(original, *args, **kwargs)
    if MODES:
        tell_shared(result, target)
    target.array = result.array
    target._kind = None
    if result._node is not None:
        _name_in_place(result)
        target._move(result._node, result._index)
    target._view_of = result._view_of
    target._counter[0] += 1
    if target._view_of is not None:
        target._view_of.origin = "" if original._view_of is None else original._view_of.origin
        target._view_of.is_of_itself = original._view_of is None or original._view_of.is_of_itself
        target._view_of.version = target._counter[0]
        if target._view_of.is_of_itself:
            _lead_on(target, target._view_of)
        target._view_of.node = target._view_of.base._node
    return target


def _lead_on(target: Tensor, view: View) -> None:
    """Let gradients of what target was, before its axes were changed, pass through what it is."""
    if target._node is not None:
        node = RearrangedBackward(target, view.steps, view.base.array)
        view.base._node, view.base._index = node, 0
    elif target._needs_grad:
        lead_to(target, view.base)


def is_recorded(target: Tensor, args: Sequence[Any]) -> bool:
    """Whether an in-place operation on target with these arguments belongs in the graph."""
    if not grad_enabled() or not dtypes.is_differentiable(target.array.dtype):
        return False
    if target.requires_grad or any(isinstance(a, Tensor) and a.requires_grad for a in args):
        return True
    return target._view_of is not None and target._view_of.base.requires_grad


@contextlib.contextmanager
def preserved_versions(tensors: Tensor | Sequence[Tensor]) -> Iterator[None]:
    """Changes in place within the block go unnoticed by later backwards."""
    counters = [t._counter for t in ([tensors] if isinstance(tensors, Tensor) else tensors)]
    before = [counter[0] for counter in counters]
    try:
        yield
    finally:
        for counter, version in zip(counters, before, strict=True):
            counter[0] = version


def is_fixed(target: Tensor) -> bool:
    """Whether `refuse_leaf` raises an error."""
    try:
        refuse_leaf(target)
    except RuntimeError:
        return True
    return False


def refuse_leaf(target: Tensor, *, of_view: bool = False) -> None:
    """Raise the error for a recorded in-place operation on a leaf that requires gradients, on a
    view of one, or on a view that does not allow it.

    of_view: the operation is on a view of target.
    """
    base = target
    if target._view_of is not None:
        target._view_of.refuse(target)
        base = target._view_of.base
    if base._node is None and (target.requires_grad or base.requires_grad):
        is_view = of_view or target._is_view()
        raise RuntimeError(f"a view of {LEAF_IN_PLACE}" if is_view else LEAF_IN_PLACE)


@silent
def assign(target: Tensor, value: Any, name: str = "") -> Tensor:
    """Give all elements of target this value (a Tensor, an array or a number), cast to its
    dtype. name: of the node, if the value does not tell it."""
    recorded = is_recorded(target, (value,))
    if recorded:
        refuse_leaf(target)
    refuse_store(target)
    given = fitting(value, target.array.dtype)
    try:
        if isinstance(value, Tensor) and given.ndim > target.array.ndim:
            raise other_shape(target.array, np.broadcast_shapes(target.array.shape, given.shape))
        target.array[...] = given
    except (ValueError, TypeError) as error:
        raise explained(error, "Copy", copied, (target.array, given)) from None
    target._counter[0] += 1
    if MODES:
        tell_stored(target, ..., value)
    if recorded:
        name = _name_of(target, value) if target._view_of is not None or not name else name
        overwrite(target, _value_edge(value, target.array), name=name)
    return target


def _name_of(target: Tensor, value: Any) -> str:
    """The name of the node of a Tensor all of whose elements were given a value."""
    if target._view_of is not None:
        return "CopySlices"
    if isinstance(value, Tensor) and value.array.ndim:
        return "CopyBackwards"
    if isinstance(value, np.ndarray):
        return "CopyBackwards"
    if isinstance(value, Tensor):
        return "FillBackward3"
    return "FillBackward2" if value else "ZeroBackward0"


@silent
def store(target: Tensor, result: Tensor) -> None:
    """Put the elements of a Tensor of the same shape into the memory of target."""
    array, value = target.array, result.array
    if value.shape != array.shape:
        raise other_shape(array, value.shape)
    if not can_cast(value.dtype, array.dtype):
        raise RuntimeError(
            f"result type {_kind(value)} can't be cast to the desired output type {_kind(array)}"
        )
    refuse_store(target)
    array[...] = value
    target._counter[0] += 1
    if MODES:
        tell_stored(target, ..., result)


def refuse_store(target: Tensor) -> None:
    """Raise the error for a store into broadcast memory (which NumPy makes read-only), or into
    an inference Tensor. Otherwise who needs what is there now is told to keep it."""
    _tell_of_change(target)
    if not target.array.flags.writeable:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _tell_of_change(target: Tensor) -> None:
    """Tell who needs what a Tensor is now to keep it; raise the error for an inference Tensor."""
    inference.refuse_store(target)
    base = target if target._view_of is None else target._view_of.base
    if isinstance(base._node, OperationNode):
        base._node.keep_output(base.array)
    if MODES:
        tell_storing(target)


def _kind(array: Array) -> str:
    return dtypes.scalar_name(array.dtype)


def overwrite(
    target: Tensor, value: Edge | None, region: Steps = (), name: str = "CopySlices"
) -> None:
    """Give the base of target a new place in the graph, after the region of target has been
    overwritten by what the edge leads to, or (None) by a number. name: of the node."""
    base, steps = target, region
    if target._view_of is not None:
        base, steps = target._view_of.base, (*target._view_of.steps, *region)
    edge = edge_of(base) if base._needs_grad else NO_EDGE
    node = _node_class(name)(edge, value, steps, base.array)
    base._move(node, 0)
    if MODES:
        tell_recorded(node)


class CopySlices(Node):
    """The node of a base after a region of it, a view or the base itself, was overwritten."""

    __slots__ = ("count", "dtype", "shape", "steps")

    next_edges: tuple[Edge, Edge]
    returns_fresh = only_reads = True

    def __init__(self, rest: Edge, value: Edge | None, steps: Steps, base: Array) -> None:
        self.next_edges = rest, value or NO_EDGE
        self.count = 1 if value is None else 2
        self.steps = steps
        self.shape = base.shape
        self.dtype = base.dtype
        self.sequence_nr = next_sequence()
        self.own_hooks = None

    def input_edges(self) -> Sequence[Edge]:
        """The value is told of only where it is a Tensor."""
        return self.next_edges[: self.count]

    def arranged_by_input(self, gradients: Sequence[Any]) -> list[Any]:
        return [*gradients[: self.count]]

    def arranged_by_edge(self, gradients: Sequence[Any]) -> list[Any]:
        return [*gradients, *[None] * (2 - self.count)]

    def name(self) -> str:
        name = super().name()
        return f"torch::autograd::{name}" if name.startswith("Copy") else name

    @property
    def output_types(self) -> Sequence[Any]:
        return [(self.shape, self.dtype)]

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (d_base,) = cotangents
        if create_graph:
            return self._backward_recorded(d_base)
        rest = np.array(d_base, copy=True, order="C")
        region = take_array(rest, self.steps)
        if not self.steps or np.shares_memory(rest, region):
            d_value = np.array(region)
            region[...] = 0
            return rest, d_value
        whole = take_array(rest, self.steps[:-1])
        positions = self._positions(whole.shape)
        d_value = whole.ravel()[positions]
        np.put(whole, positions, 0)
        return rest, d_value

    def _positions(self, shape: tuple[int, ...]) -> Any:
        """Where, in a flat array of this shape, the elements of the region stand that the last
        step gives a copy of."""
        return positions(shape, self.steps[-1:])

    def _backward_recorded(self, d_base: Tensor) -> Sequence[Any]:
        if not self.steps:
            return wrap(np.zeros(self.shape, self.dtype)), d_base.clone()
        rest = d_base.clone()
        region = take(rest, self.steps)
        if region._view_of is not None:
            region.zero_()
        else:
            whole = take(rest, self.steps[:-1])
            outside = np.ones(whole.array.shape, whole.array.dtype)
            outside.reshape(-1)[self._positions(whole.array.shape)] = 0
            whole.mul_(wrap(outside))
        return rest, take(d_base, self.steps).clone()


@cache
def _node_class(name: str) -> type[CopySlices]:
    return type(name, (CopySlices,), {"__slots__": (), "__module__": "builtins"})


@silent
def setitem(target: Tensor, step: Step, place: Any, value: Any) -> None:
    """`target[place] = value`; step: the same index, as a step to the region."""
    recorded = is_recorded(target, (value,))
    if recorded:
        refuse_leaf(target, of_view=not step.operands)
    refuse_store(target)
    given = value.array if isinstance(value, Tensor) else value
    if step.operands and isinstance(value, Tensor):
        check_dtypes(target.array, place, step.operands, given)
    try:
        target.array[place] = given
    except (ValueError, TypeError):
        raise does_not_fit(target.array[place], given, bool(step.operands)) from None
    target._counter[0] += 1
    if MODES:
        tell_stored(target, place, value)
    if recorded:
        name = _name_of_store(target, step, value)
        overwrite(target, _value_edge(value, target.array[place]), (step,), name)


def _name_of_store(target: Tensor, step: Step, value: Any) -> str:
    """The name of the node of a Tensor, or of its base, a part of which was given a value."""
    if not step.operands or target._view_of is not None:
        return "CopySlices"
    is_fill = len(step.operands) == 1 and step.operands[0].dtype.kind == "b" and not rank_of(value)
    return (
        "MaskedFillBackward0" if is_fill and not isinstance(value, Tensor) else "IndexPutBackward0"
    )


def _value_edge(value: Any, region: Any) -> Edge | None:
    """Where the gradient of a stored value goes, summed and cast as the store spread it; None of a
    number."""
    if not isinstance(value, (Tensor, np.ndarray)):
        return None
    if not isinstance(value, Tensor) or not value.requires_grad:
        return NO_EDGE
    region = as_array(region)
    extra = value.array.ndim - region.ndim
    if extra > 0:
        value = value.reshape(value.array.shape[extra:])
    if value.array.shape != region.shape:
        value = value.broadcast_to(region.shape)
    if value.array.dtype != region.dtype:
        value = value.to(region.dtype)
    return edge_of(value)
