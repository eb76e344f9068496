"""Shapes, axes and parts of Tensors inside compiled code: axes and numbers of parts are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import (
    as_array,
    calling,
    folded,
    known_value,
    spelled,
)
from gradscribe.frontend.containers import known_integers, shapes, subscripts
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, TupleOf, is_number
from gradscribe.ir.types import Array
from gradscribe.runtime.arrays import size
from gradscribe.runtime.operations import adaptors, gathering, indexing, shaping, viewing
from gradscribe.runtime.tensors import queries
from gradscribe.runtime.tensors.tensor import Tensor

_FIRST, _ONCE, _PLANE = Static(0), Static(1), Static((0, 1))


def _integers(lowering: Lowering, node: Any, item: Any, /) -> Any:
    """`sizes(arguments)`: the lengths in `f(2, 3)`, `f((2, 3))` or `f(x.shape)`."""
    items = lowering.unpacked(node, item)
    if len(items) == 1 and not is_number(items[0]):
        items = lowering.unpacked(node, items[0])
    return TupleOf(items)


def _size(lowering: Lowering, node: Any, item: Any, /) -> Any:
    return TupleOf(lowering.unpacked(node, item))


def _axes(lowering: Lowering, node: Any, /, dim: Any) -> Any:
    """`_axes(dim)`: None, an integer or a tuple of integers that are known."""
    if is_number(dim):
        return Static(known_integers.static_integer(lowering, node, dim))
    if isinstance(dim, Static):
        return dim
    items = lowering.unpacked(node, dim)
    static = tuple(Static(known_integers.static_integer(lowering, node, item)) for item in items)
    return TupleOf(static) if static else Static(None)


def _numel(lowering: Lowering, node: Any, /, input: Any) -> Any:
    """The number of elements."""
    if is_number(input):
        return Static(1)
    return lowering.attribute(node, as_array(lowering, node, input), "size")


def _squeeze(lowering: Lowering, node: Any, input: Any, dim: Any = None, axis: Any = None) -> Any:
    """Without the axes of length one, or without those named that have length one."""
    named = known_value(lowering, node, dim if dim is not None else axis or Static(None))
    type_ = lowering.value(input).type
    lengths = [d.known for d in type_.dims] if isinstance(type_, Array) else []
    if named is None:
        named = tuple(range(len(lengths)))
    chosen = {
        shaping.axis_of(d, len(lengths)) for d in (named if type(named) is tuple else (named,))
    }
    dropped = tuple(Static(d) for d in sorted(chosen) if lengths and lengths[d] == 1)
    if not dropped:
        return input
    result = lowering.call(node, Static(np.squeeze), (input,), {"axis": TupleOf(dropped)})
    return spelled(lowering, node, result, "tensor")


def _expand(lowering: Lowering, node: Any, input: Any, *shape: Any, size: Any = None) -> Any:
    """Broadcast to a shape, in which -1 leaves an axis as it is."""
    shape = shape if size is None else (size,)
    given = _integers(lowering, node, TupleOf(shape)).items
    present = shapes.shape_of(lowering, input).items if isinstance(input, Ref) else ()
    padded = (Static(1),) * (len(given) - len(present)) + present
    kept = tuple(
        old if isinstance(new, Static) and new.value == -1 else new
        for new, old in zip(given, padded, strict=False)
    )
    return calling(np.broadcast_to)(lowering, node, input, TupleOf(kept))


def _view(lowering: Lowering, node: Any, input: Any, *shape: Any, dtype: Any = None) -> Any:
    shape = shape if dtype is None else (dtype,)
    if len(shape) == 1 and isinstance(shape[0], Static) and not is_number(shape[0]):
        lowering.unsupported(node, "a view of another element type", "convert with `.to(dtype)`")
    return lowering.call(node, Static(shaping.reshape), (input, *shape), {})


def _unbind(lowering: Lowering, node: Any, input: Any, dim: Any = _FIRST) -> Any:
    axis, length = _axis(lowering, node, input, dim)
    return TupleOf(tuple(_slice_at(lowering, node, input, axis, Static(i)) for i in range(length)))


def _split(lowering: Lowering, node: Any, input: Any, split_size: Any, dim: Any = _FIRST) -> Any:
    axis, length = _axis(lowering, node, input, dim)
    bounds = shaping._bounds_of_pieces(length, known_value(lowering, node, split_size), axis)
    places = [slice(Static(start), Static(stop), None) for start, stop in bounds]
    return TupleOf(tuple(_slice_at(lowering, node, input, axis, place) for place in places))


def _chunk(lowering: Lowering, node: Any, input: Any, chunks: Any, dim: Any = _FIRST) -> Any:
    _, length = _axis(lowering, node, input, dim)
    pieces = max(1, -(-length // known_value(lowering, node, chunks)))
    return _split(lowering, node, input, Static(pieces), dim)


def _axis(lowering: Lowering, node: Any, input: Any, dim: Any) -> tuple[int, int]:
    """An axis counted from the front, and its length, which the specialization then assumes."""
    shape = shapes.shape_of(lowering, input).items
    axis = shaping.axis_of(known_value(lowering, node, dim), len(shape))
    return axis, known_integers.static_integer(lowering, node, shape[axis])


def _tensor_split(
    lowering: Lowering, node: Any, input: Any, indices_or_sections: Any, dim: Any = _FIRST
) -> Any:
    axis, length = _axis(lowering, node, input, dim)
    bounds = viewing.bounds_between(length, known_value(lowering, node, indices_or_sections))
    places = [slice(Static(start), Static(stop), None) for start, stop in bounds]
    return TupleOf(tuple(_slice_at(lowering, node, input, axis, place) for place in places))


def _slice_at(
    lowering: Lowering, node: Any, tensor: Any, axis: Any, index: Any, name: Any = None
) -> Any:
    position = axis if isinstance(axis, int) else known_value(lowering, node, axis)
    place = TupleOf((*(slice(None, None, None),) * position, index))
    return subscripts.read_item(lowering, node, tensor, place)


def _rot90(lowering: Lowering, node: Any, input: Any, k: Any = _ONCE, dims: Any = _PLANE) -> Any:
    turns = Static(known_value(lowering, node, k))
    plane = TupleOf(tuple(map(Static, known_value(lowering, node, dims))))
    return calling(np.rot90)(lowering, node, input, turns, plane)


def _masked_select(lowering: Lowering, node: Any, input: Any, mask: Any) -> Any:
    return subscripts.read_item(lowering, node, input, mask)


SHAPES: dict[Any, Handler] = {
    size.sizes: _integers,
    size.Size: _size,
    adaptors.axes: _axes,
    queries.numel: _numel,
    Tensor.numel: _numel,
    shaping.axis_of: folded(shaping.axis_of),
    shaping.squeeze: _squeeze,
    shaping.expand: _expand,
    shaping.view: _view,
    shaping.unbind: _unbind,
    shaping.split: _split,
    shaping.chunk: _chunk,
    viewing.tensor_split: _tensor_split,
    viewing.order_moved: folded(viewing.order_moved),
    viewing.rot90: _rot90,
    indexing.at_axis: _slice_at,
    gathering.masked_select: _masked_select,
}
"""What lowers the functions of Tensors that are about shapes."""
