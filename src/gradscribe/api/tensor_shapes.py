"""Shapes, axes and parts of Tensors inside compiled code: axes and numbers of parts are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import (
    calling,
    folded,
    known_value,
    same,
)
from gradscribe.frontend.containers import shapes, subscripts
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, TupleOf, is_number
from gradscribe.primitives.typing import ONE, dims_of
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


def _squeeze(
    lowering: Lowering, node: Any, input: Any, dim: Any = Static(None), *, axis: Any = Static(None)
) -> Any:
    """The axes that are dropped are known; where there are none, nothing is done."""
    dims = dims_of(lowering.value(input).type)
    lengths = tuple(1 if lowering.builder.facts.equal(d, ONE) else None for d in dims)
    named = axis if dim == Static(None) else dim
    if named == Static(None):
        named = Static(tuple(range(len(lengths))))
    dropped: Any = folded(shaping.axes_of_length_one)(lowering, node, Static(lengths), named)
    return calling(np.squeeze)(lowering, node, input, axis=dropped) if dropped.value else input


def _expanded_shape(lowering: Lowering, node: Any, input: Any, given: Any) -> Any:
    """A length that is not known is not -1; NumPy tells of what does not fit."""
    new = lowering.unpacked(node, given)
    present = shapes.shape_of(lowering, input).items if isinstance(input, Ref) else ()
    old = (Static(1),) * (len(new) - len(present)) + present
    return TupleOf(
        tuple(
            b if isinstance(a, Static) and a.value == -1 else a
            for a, b in zip(new, old, strict=False)
        )
    )


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


def _view_of_type(lowering: Lowering, node: Any, /, *arguments: Any) -> Any:
    lowering.unsupported(node, "a view of another element type", "convert with `.to(dtype)`")


def _rot90(
    lowering: Lowering, node: Any, input: Any, k: Any = Static(1), dims: Any = Static((0, 1))
) -> Any:
    turns = Static(known_value(lowering, node, k))
    plane = TupleOf(tuple(map(Static, known_value(lowering, node, dims))))
    return calling(np.rot90)(lowering, node, input, turns, plane)


def _masked_select(lowering: Lowering, node: Any, input: Any, mask: Any) -> Any:
    return subscripts.read_item(lowering, node, input, mask)


SHAPES: dict[Any, Handler] = {
    size.sizes: _integers,
    size.Size: _size,
    adaptors.axes: folded(adaptors.axes),
    shaping.axis_of: folded(shaping.axis_of),
    shaping.squeeze: _squeeze,
    shaping.expanded_shape: _expanded_shape,
    shaping.only_view: same,
    shaping.view_of_type: _view_of_type,
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
