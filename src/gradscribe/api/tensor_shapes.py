"""Shapes, axes and parts of Tensors inside compiled code: axes and numbers of parts are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import (
    calling,
    folded,
    known_value,
    spelled,
)
from gradscribe.frontend.containers import shapes, subscripts
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, TupleOf, is_number
from gradscribe.ir.types import Array
from gradscribe.runtime.arrays import size
from gradscribe.runtime.operations import adaptors, gathering, indexing, pieces, shaping, viewing


def _integers(lowering: Lowering, node: Any, item: Any, /) -> Any:
    """`sizes(arguments)`: the lengths in `f(2, 3)`, `f((2, 3))` or `f(x.shape)`."""
    items = lowering.unpacked(node, item)
    if len(items) == 1 and not is_number(items[0]):
        items = lowering.unpacked(node, items[0])
    return TupleOf(items)


def _size(lowering: Lowering, node: Any, item: Any, /) -> Any:
    return TupleOf(lowering.unpacked(node, item))


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


def _slice_at(
    lowering: Lowering, node: Any, tensor: Any, axis: Any, index: Any, name: Any = None
) -> Any:
    position = axis if isinstance(axis, int) else known_value(lowering, node, axis)
    place = TupleOf((*(slice(None, None, None),) * position, index))
    return subscripts.read_item(lowering, node, tensor, place)


def _at_places(
    lowering: Lowering, node: Any, tensor: Any, axis: Any, places: Any, /, *name: Any, **saved: Any
) -> Any:
    return TupleOf(
        tuple(
            _slice_at(lowering, node, tensor, axis, place)
            for place in lowering.unpacked(node, places)
        )
    )


def _rot90(
    lowering: Lowering, node: Any, input: Any, k: Any = Static(1), dims: Any = Static((0, 1))
) -> Any:
    turns = Static(known_value(lowering, node, k))
    plane = Static(known_value(lowering, node, dims))
    return calling(np.rot90)(lowering, node, input, turns, plane)


def _masked_select(lowering: Lowering, node: Any, input: Any, mask: Any) -> Any:
    return subscripts.read_item(lowering, node, input, mask)


SHAPES: dict[Any, Handler] = {
    size.sizes: _integers,
    size.Size: _size,
    adaptors.axes: folded(adaptors.axes),
    shaping.axis_of: folded(shaping.axis_of),
    shaping.squeeze: _squeeze,
    shaping.expand: _expand,
    shaping.view: _view,
    shaping.every_index: folded(shaping.every_index),
    shaping.places_of_pieces: folded(shaping.places_of_pieces),
    shaping.sizes_of_chunks: folded(shaping.sizes_of_chunks),
    viewing.places_between: folded(viewing.places_between),
    viewing.order_moved: folded(viewing.order_moved),
    viewing.rot90: _rot90,
    pieces.pieces: _at_places,
    indexing.at_places: _at_places,
    indexing.at_axis: _slice_at,
    gathering.masked_select: _masked_select,
}
"""What lowers the functions of Tensors that are about shapes."""
