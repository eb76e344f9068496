"""What the Tensor API means inside compiled code.

`gs.exp(x)`, `x.std(0)` and their kind end in `eager.apply(row, operands, static)`. The frontend
inlines the Python around it like any helper of the user, and here finds what `apply` itself
means at compile time: a call of the row's NumPy callee. So eager and compiled code agree by
construction, PyTorch's spellings of arguments included. The other handlers here stand for the
few helpers at the bottom of the runtime that look into Tensors and arrays.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import (
    OUTSIDE,
    as_tensor,
    calling,
    cut,
    folded,
    known_value,
    numpy,
    refused,
    same,
    spelled,
)
from gradscribe.frontend.calls import single_items
from gradscribe.frontend.containers import shapes, stores, subscripts
from gradscribe.frontend.control import contexts
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    is_number,
)
from gradscribe.primitives.typing import ONE, dims_of
from gradscribe.runtime import own_methods
from gradscribe.runtime.arrays import composites, dtypes, size
from gradscribe.runtime.graph import grad_mode, inference
from gradscribe.runtime.operations import (
    adaptors,
    any_form,
    calculus,
    distinct,
    eager,
    factorizations,
    gathering,
    indexing,
    inplace,
    pieces,
    shaping,
    special,
    viewing,
)
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.tensors import backward, queries
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.runtime.tensors.variable import Variable

# -- values ----------------------------------------------------------------------------------------


def _item(lowering: Lowering, node: Any, item: Any, /) -> Any:
    """`x.item()`: of a Tensor of one element."""
    number = single_items.number_of(lowering, node, item)
    if isinstance(number, Ref):
        return single_items.item(lowering, node, number, ())
    return number


def _to_list(lowering: Lowering, node: Any, item: Any, /) -> Any:
    """`x.tolist()`: nested lists of Python numbers."""
    if is_number(item):
        dtype = getattr(lowering.value(item).type, "dtype", "float64")
        plain = Static(_PLAIN.get(np.dtype(dtype).kind, int))
        return lowering.call(node, plain, (subscripts.cut(lowering, item),), {})
    storage = Storage()
    lowering.contents[storage] = tuple(
        _to_list(lowering, node, row) for row in lowering.unpacked(node, item)
    )
    return ListRef(storage)


_PLAIN = {"b": bool, "f": float, "c": complex}
"""The number of Python's that an element is, by the kind of its dtype."""


def _is_tensor(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Whether this is a Tensor to the program."""
    item = next(iter((*arguments, *keywords.values())))
    return lowering.call(node, Static(isinstance), (item, Static(Tensor)), {})


def _never(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """What eager mode warns of, and NumPy warns of by itself."""
    return Static(False)


def _is_grad_enabled(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A call is compiled for being recorded, but for its own modes."""
    return Static(not lowering.modes.cutting)


# -- operations ------------------------------------------------------------------------------------


def _apply(lowering: Lowering, node: Any, row: Any, operands: Any, /, *static: Any) -> Any:
    """`apply(row, operands, static)` as a call of the row's callee."""
    operation: eager.Operation = row.target if isinstance(row, ObjectRef) else row.value
    if isinstance(operands, ListRef):
        items: tuple[Any, ...] = (operands,)
    else:
        items = lowering.unpacked(node, operands)
        items = (TupleOf(items),) if operation.sequence else items
    values = lowering.unpacked(node, static[0]) if static else ()
    callee = Static(operation.callee)
    if operation.positional:
        result = lowering.call(node, callee, (items[0], *values, *items[1:]), {})
    else:
        named = dict(zip(operation.parameters, values, strict=False))
        result = lowering.call(node, callee, items, named)
    if not operation.differentiable:
        result = subscripts.cut(lowering, result)
    return spelled(lowering, node, result, "tensor")


def _apply_of_any_form(
    lowering: Lowering, node: Any, callee: Static, operands: Any, _: Any, /
) -> Any:
    return lowering.call(node, callee, lowering.unpacked(node, operands), {})


def _update(
    lowering: Lowering,
    node: Any,
    target: Any,
    function: Any,
    /,
    *rest: Any,
    **keywords: Any,
) -> Any:
    """`update(target, function, …)`: the in-place form of a function."""
    result = lowering.call(node, function, (target, *rest), keywords)
    return _assign(lowering, node, target, result)


def _assign(lowering: Lowering, node: Any, /, target: Any, value: Any, *_: Any) -> Any:
    if not isinstance(target, Ref):
        lowering.unsupported(
            node,
            "in-place operations on a Tensor without axes, which is a number here",
            "use the form without underscore, and assign its result",
        )
    stores.store(lowering, node, target, value)
    return target


# -- shapes and parts ------------------------------------------------------------------------------


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
    whole = (slice(None, None, None),) * known_value(lowering, node, axis)
    place = TupleOf((*whole, index))
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


# -- tables ----------------------------------------------------------------------------------------

_GRAPH = (
    *("backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"),
    *("requires_grad_", "detach_"),
)
_LAYOUT = ("stride", "is_contiguous", "data_ptr", "dim_order", "is_set_to")
_STATE = ("requires_grad", "is_leaf", "grad", "grad_fn", "output_nr", "retains_grad", "_version")

_INNER = "use `gs.grad` or `gs.vjp` of an inner function, or call it outside of the function"

REFUSED: dict[Any, Handler] = {
    **{
        function: refused(f"`autograd.{function.__name__}`", _INNER)
        for function in (backward.grad, backward.backward)
    },
    Variable: refused("`Variable`", "use the Tensor itself, or `x.data`"),
    inplace.rearrange: refused(
        "exchanging axes in place", "use the form without underscore, and assign its result"
    ),
    **{vars(Tensor)[name]: refused(f"`{name}`", OUTSIDE) for name in _GRAPH},
    **{
        getattr(Tensor, name): refused(f"`{name}`, the layout of memory,", OUTSIDE)
        for name in _LAYOUT
    },
    **{
        function: refused(f"`{function.__name__}`", OUTSIDE)
        for function in (factorizations.lu, factorizations.geqrf)
    },
    **{inspect.getattr_static(Tensor, name).fget: refused(f"`{name}`", OUTSIDE) for name in _STATE},
}
"""What Tensors have outside of compiled code only: the graph, the state of autograd, memory."""

_FOLDED = (
    adaptors.axes,
    shaping.axis_of,
    shaping.every_index,
    shaping.places_of_pieces,
    shaping.sizes_of_chunks,
    viewing.places_between,
    viewing.order_moved,
    calculus._summed_axes,
    calculus._other_axes,
    special.row_of,
    dtypes.type_name,
)
"""Functions of numbers and axes, which are known when a function is compiled."""

HANDLERS: dict[Any, Handler] = {
    size.Size: _size,
    shaping.squeeze: _squeeze,
    shaping.expanded_shape: _expanded_shape,
    shaping.only_view: same,
    shaping.view_of_type: _view_of_type,
    viewing.rot90: _rot90,
    pieces.pieces: _at_places,
    indexing.at_places: _at_places,
    indexing.at_axis: _slice_at,
    gathering.masked_select: _masked_select,
    eager.apply: _apply,
    eager.Operation.has_too_few: _never,
    any_form.apply_of_any_form: _apply_of_any_form,
    inplace.update: _update,
    inplace.assign: _assign,
    wrap: as_tensor,
    composites.cut: cut,
    functions._plain: same,
    queries._array: same,
    **dict.fromkeys(
        (functions.matmul, functions.mm, functions.mv, functions.bmm), calling(np.matmul)
    ),
    queries.allclose: calling(np.allclose),
    queries.isclose: calling(np.isclose),
    factorizations.inverse: calling(np.linalg.inv),
    functions.laid_out: same,
    own_methods._contiguous: calling(np.ascontiguousarray),
    distinct.recorded: cut,
    queries.is_tensor: _is_tensor,
    Tensor.numpy: numpy,
    Tensor.tolist: _to_list,
    Tensor.item: _item,
    Tensor.detach: cut,
    Tensor.data.fget: cut,  # type: ignore[attr-defined]
    Tensor.cpu: same,
    **{function: folded(function) for function in _FOLDED},
    **REFUSED,
    grad_mode.no_grad: contexts.mode(False),
    grad_mode.enable_grad: contexts.mode(True),
    grad_mode.set_grad_enabled: contexts.set_mode,
    grad_mode.GradMode: contexts.mode(),
    inference.inference_mode: contexts.mode(inverse=True),
    grad_mode.is_grad_enabled: _is_grad_enabled,
}
