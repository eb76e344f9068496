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
from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, OUT, Spelling, operation
from gradscribe.runtime.operations import gathering, indexing, shaping, strides, viewing
from gradscribe.runtime.operations.adaptors import named
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap

View = Callable[..., Any]


def _viewed_positions(input: Tensor, view: View, args: Any, options: Any) -> Any:
    """A view of the positions of all elements: a Tensor, or several."""
    return view(wrap(gathering.positions(input)), *args, **options)


# --- copies of views --------------------------------------------------------------------------


def _copied(name: str, view: View, node: str, spelling: Spelling = FUNCTION) -> Callable[..., Any]:
    row = Operation(node, composites.taken_flat)

    def function(input: Tensor, *args: Any, **options: Any) -> Any:
        places = _viewed_positions(input, view, args, options)
        if isinstance(places, Tensor):
            return apply(row, (input, places.array))
        return tuple(apply(row, (input, place.array)) for place in places)

    public = operation(spelling, shapes=f"those of `{view.__name__}`")
    return public(named(function, name, f"A copy of what `{view.__name__}` gives."))


def _slice(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """The part of an axis from start to end."""
    axis = shaping.axis_of(dim, input.array.ndim)
    return indexing.at_axis(input, axis, slice(start, end, step))


def _itself(input: Tensor) -> Tensor:
    return input


@operation(FUNCTION, shapes="(…) -> (…)")
def detach_copy(input: Tensor) -> Tensor:
    """A copy outside the graph."""
    return wrap(input.array.copy())


alias_copy = _copied("alias_copy", _itself, "Alias_copy")
as_strided_copy = _copied("as_strided_copy", strides.as_strided, "AsStrided_copy")
diagonal_copy = _copied("diagonal_copy", viewing.diagonal, "Diagonal_copy")
expand_copy = _copied("expand_copy", shaping.expand, "Expand_copy")
narrow_copy = _copied("narrow_copy", viewing.narrow, "NarrowCopy", BOTH | OUT)
permute_copy = _copied("permute_copy", shaping.permute, "Permute_copy", FUNCTION | OUT)
select_copy = _copied("select_copy", viewing.select, "Select_copy", FUNCTION | OUT)
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
unsafe_chunk = _copied("unsafe_chunk", shaping.chunk, "UnsafeSplit", BOTH)
unsafe_split = _copied("unsafe_split", shaping.split, "UnsafeSplit", BOTH)
unsafe_split_with_sizes = _copied(
    "unsafe_split_with_sizes", viewing.split_with_sizes, "UnsafeSplitWithSizes", BOTH
)
unsqueeze_copy = _copied("unsqueeze_copy", shaping.unsqueeze, "Unsqueeze_copy")
view_copy = _copied("view_copy", shaping.view, "View_copy")

# --- views replaced ---------------------------------------------------------------------------


def _replaced(name: str, view: View, node: str, spelling: Spelling = BOTH) -> Callable[..., Tensor]:
    row = Operation(node, composites.put_flat)

    def function(input: Tensor, src: Tensor, *args: Any, **options: Any) -> Tensor:
        places: Array = _viewed_positions(input, view, args, options).array
        if src.array.shape != places.shape:
            raise RuntimeError(
                "expected src to have a size equal to the slice of self. src size = "
                f"{list(src.array.shape)}, slice size = {list(places.shape)}"
            )
        return gathering.put_at(row, input, np.array(places), src)

    public = operation(spelling, shapes=f"(…), that of `{view.__name__}` -> (…)")
    meaning = f"A copy in which what `{view.__name__}` gives is replaced."
    return public(named(function, name, meaning))


as_strided_scatter = _replaced("as_strided_scatter", strides.as_strided, "AsStridedScatter")
diagonal_scatter = _replaced("diagonal_scatter", viewing.diagonal, "DiagonalScatter")
select_scatter = _replaced("select_scatter", viewing.select, "SelectScatter")
slice_scatter = _replaced("slice_scatter", _slice, "SliceScatter", BOTH | OUT)
