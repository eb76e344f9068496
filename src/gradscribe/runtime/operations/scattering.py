"""The table of eager operations, continued: copies of views, and of Tensors with a view replaced.

The elements of a view have positions in the flat array of what is viewed: the same view of these
positions tells them. So a copy of a view takes elements there, and a Tensor with a view replaced
has others put there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.operations import gathering, indexing, shaping, strides, viewing
from gradscribe.runtime.operations.adaptors import PUBLIC_MODULE
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap

# fmt: off
__all__ = [
    "alias_copy", "as_strided_copy", "as_strided_scatter", "detach_copy", "diagonal_copy",
    "diagonal_scatter", "expand_copy", "narrow_copy", "permute_copy", "select_copy",
    "select_scatter", "slice_copy", "slice_scatter", "split_copy", "split_with_sizes_copy",
    "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy", "unsafe_chunk",
    "unsafe_split", "unsafe_split_with_sizes", "unsqueeze_copy", "view_copy",
]
# fmt: on

View = Callable[..., Any]


def _viewed_positions(input: Tensor, view: View, args: Any, options: Any) -> Any:
    """A view of the positions of all elements: a Tensor, or several."""
    return view(wrap(gathering.positions(input)), *args, **options)


def _public(function: Callable[..., Any], name: str, meaning: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = PUBLIC_MODULE
    function.__doc__ = meaning
    return function


# --- copies of views --------------------------------------------------------------------------


def _copied(name: str, view: View, node: str) -> Callable[..., Any]:
    row = Operation(node, composites.taken_flat)

    def function(input: Tensor, *args: Any, **options: Any) -> Any:
        places = _viewed_positions(input, view, args, options)
        if isinstance(places, Tensor):
            return apply(row, (input, places.array))
        return tuple(apply(row, (input, place.array)) for place in places)

    return _public(function, name, f"A copy of what `{view.__name__}` gives.")


def _slice(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """The part of an axis from start to end."""
    axis = shaping.axis_of(dim, input.array.ndim)
    return indexing.at_axis(input, axis, slice(start, end, step))


def _itself(input: Tensor) -> Tensor:
    return input


def detach_copy(input: Tensor) -> Tensor:
    """A copy outside the graph."""
    return wrap(input.array.copy())


alias_copy = _copied("alias_copy", _itself, "Alias_copy")
as_strided_copy = _copied("as_strided_copy", strides.as_strided, "AsStrided_copy")
diagonal_copy = _copied("diagonal_copy", viewing.diagonal, "Diagonal_copy")
expand_copy = _copied("expand_copy", shaping.expand, "Expand_copy")
narrow_copy = _copied("narrow_copy", viewing.narrow, "NarrowCopy")
permute_copy = _copied("permute_copy", shaping.permute, "Permute_copy")
select_copy = _copied("select_copy", viewing.select, "Select_copy")
slice_copy = _copied("slice_copy", _slice, "Slice_copy")
split_copy = _copied("split_copy", shaping.split, "Split_copy")
split_with_sizes_copy = _copied(
    "split_with_sizes_copy", viewing.split_with_sizes, "SplitWithSizes_copy"
)
squeeze_copy = _copied("squeeze_copy", shaping.squeeze, "Squeeze_copy")
t_copy = _copied("t_copy", shaping.t, "T_copy")
transpose_copy = _copied("transpose_copy", shaping.transpose, "Transpose_copy")
unbind_copy = _copied("unbind_copy", shaping.unbind, "Unbind_copy")
unfold_copy = _copied("unfold_copy", viewing.unfold, "Unfold_copy")
unsafe_chunk = _copied("unsafe_chunk", shaping.chunk, "UnsafeSplit")
unsafe_split = _copied("unsafe_split", shaping.split, "UnsafeSplit")
unsafe_split_with_sizes = _copied(
    "unsafe_split_with_sizes", viewing.split_with_sizes, "UnsafeSplitWithSizes"
)
unsqueeze_copy = _copied("unsqueeze_copy", shaping.unsqueeze, "Unsqueeze_copy")
view_copy = _copied("view_copy", shaping.view, "View_copy")

# --- views replaced ---------------------------------------------------------------------------


def _replaced(name: str, view: View, node: str) -> Callable[..., Tensor]:
    row = Operation(node, composites.put_flat)

    def function(input: Tensor, src: Tensor, *args: Any, **options: Any) -> Tensor:
        places: Array = _viewed_positions(input, view, args, options).array
        if src.array.shape != places.shape:
            raise RuntimeError(
                "expected src to have a size equal to the slice of self. src size = "
                f"{list(src.array.shape)}, slice size = {list(places.shape)}"
            )
        return gathering.put_at(row, input, np.array(places), src)

    return _public(function, name, f"A copy in which what `{view.__name__}` gives is replaced.")


as_strided_scatter = _replaced("as_strided_scatter", strides.as_strided, "AsStridedScatter")
diagonal_scatter = _replaced("diagonal_scatter", viewing.diagonal, "DiagonalScatter")
select_scatter = _replaced("select_scatter", viewing.select, "SelectScatter")
slice_scatter = _replaced("slice_scatter", _slice, "SliceScatter")
