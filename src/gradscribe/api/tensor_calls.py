"""What the Tensor API means inside compiled code.

`gs.exp(x)`, `x.std(0)` and their kind end in `eager.apply(row, operands, static)`. The frontend
inlines the Python around it like any helper of the user, and here finds what `apply` itself
means at compile time: a call of the row's NumPy callee. So eager and compiled code agree by
construction, PyTorch's spellings of arguments included. The other handlers here stand for the
few helpers at the bottom of the runtime that look into Tensors and arrays.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.compiler.signatures import enter_array_class
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls import (
    handlers,
    positions,
    static_values,
    tensors,
    unpacking,
)
from gradscribe.frontend.control import contexts
from gradscribe.frontend.data import attributes, single_items, stores, subscripts
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import ListRef, ObjectRef, Ref, Static, Storage, TupleOf, is_number
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array
from gradscribe.primitives.shaping import respelled
from gradscribe.runtime import (
    activations,
    adaptors,
    any_form,
    calculus,
    composites,
    dtypes,
    eager,
    factorizations,
    functions,
    gathering,
    grad_mode,
    indexing,
    inplace,
    matrix_composites,
    own_methods,
    products,
    queries,
    shaping,
    size,
    special,
    viewing,
)
from gradscribe.runtime.tensor import Tensor, wrap

_NONE, _FIRST = Static(None), Static(0)
_ONCE, _PLANE = Static(1), Static((0, 1))

# -- whose methods an array has ------------------------------------------------------------------


def spelled(lowering: Lowering, node: Any, item: Any, spelling: str) -> Any:
    """The same array, with the methods of Tensors or of NumPy's arrays."""
    if not isinstance(item, Ref):
        return item
    type_ = lowering.load(item).type
    if not isinstance(type_, Array) or type_.spelling == spelling:
        return item
    if spelling == "tensor" and not type_.rank:
        return subscripts.read_item(lowering, node, item, TupleOf(()))
    return calls.call(lowering, node, Static(respelled), (item, Static(spelling)), {})


def _as_tensor(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return spelled(lowering, node, arguments[0], "tensor")


def _as_array(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`x.array`, `x.numpy()`: outside the graph."""
    return spelled(lowering, node, subscripts.cut(lowering, arguments[0]), "numpy")


def same(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return arguments[0]


def _cut(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return subscripts.cut(lowering, arguments[0])


def _item(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`x.item()`: of a Tensor of one element."""
    number = single_items.number_of(lowering, node, arguments[0])
    if isinstance(number, Ref):
        return single_items.item(lowering, node, number, ())
    return number


def _to_list(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`x.tolist()`: nested lists of Python numbers."""
    (item,) = arguments
    if is_number(item):
        return calls.call(lowering, node, Static(float), (subscripts.cut(lowering, item),), {})
    storage = Storage()
    lowering.contents[storage] = tuple(
        _to_list(lowering, node, (row,), {}) for row in unpacking.unpacked(lowering, node, item)
    )
    return ListRef(storage)


# -- operations ----------------------------------------------------------------------------------


def _apply(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`apply(row, operands, static)` as a call of the row's callee."""
    row, operands, *static = arguments
    operation: eager.Operation = row.target if isinstance(row, ObjectRef) else row.value
    if isinstance(operands, ListRef):
        items: tuple[Any, ...] = (operands,)
    else:
        items = unpacking.unpacked(lowering, node, operands)
        items = (TupleOf(items),) if operation.sequence else items
    values = unpacking.unpacked(lowering, node, static[0]) if static else ()
    callee = Static(operation.callee)
    if operation.positional:
        result = calls.call(lowering, node, callee, (items[0], *values, *items[1:]), {})
    else:
        named = dict(zip(operation.parameters, values, strict=False))
        result = calls.call(lowering, node, callee, items, named)
    if not operation.differentiable:
        result = subscripts.cut(lowering, result)
    return spelled(lowering, node, result, "tensor")


def _apply_of_any_form(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    callee, operands, _ = arguments
    return calls.call(lowering, node, callee, unpacking.unpacked(lowering, node, operands), {})


def _update(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`update(target, function, …)`: the in-place form of a function."""
    target, function, *rest = arguments
    result = calls.call(lowering, node, function, (target, *rest), keywords)
    return _assign(lowering, node, (target, result), {})


def _assign(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    target, value, *_ = arguments
    if not isinstance(target, Ref):
        lowering.unsupported(
            node,
            "in-place operations on a Tensor without axes, which is a number here",
            "use the form without underscore, and assign its result",
        )
    stores.store(lowering, node, target, value)
    return target


def _as(callee: Any, *left_out: str) -> handlers.Handler:
    """A Tensor function that is one of NumPy's, with the same positional arguments."""

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        given = {name: item for name, item in keywords.items() if name not in left_out}
        result = calls.call(lowering, node, Static(callee), arguments, given)
        return spelled(lowering, node, result, "tensor")

    return handler


# -- shapes --------------------------------------------------------------------------------------


def _integers(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`sizes(arguments)`: the lengths in `f(2, 3)`, `f((2, 3))` or `f(x.shape)`."""
    items = unpacking.unpacked(lowering, node, arguments[0])
    if len(items) == 1 and not is_number(items[0]):
        items = unpacking.unpacked(lowering, node, items[0])
    return TupleOf(items)


def _size(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return TupleOf(unpacking.unpacked(lowering, node, arguments[0]))


def _axes(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`axes(dim)`: None, an integer or a tuple of integers that are known."""
    (dim,) = arguments
    if is_number(dim):
        return Static(positions.static_integer(lowering, node, dim))
    if isinstance(dim, Static):
        return dim
    items = unpacking.unpacked(lowering, node, dim)
    static = tuple(Static(positions.static_integer(lowering, node, item)) for item in items)
    return TupleOf(static) if static else Static(None)


def _folded(function: Callable[..., Any]) -> handlers.Handler:
    """A helper that is run when the function is compiled: integers in it become known."""

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        return Static(function(*(known_value(lowering, node, item) for item in arguments)))

    return handler


def known_value(lowering: Lowering, node: Any, item: Any) -> Any:
    if isinstance(item, Value):
        return positions.static_integer(lowering, node, item)
    if isinstance(item, (TupleOf, ListRef)):
        return tuple(
            known_value(lowering, node, i) for i in unpacking.unpacked(lowering, node, item)
        )
    return static_values.object_of(lowering, node, item)


def _numel(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """The number of elements."""
    if is_number(arguments[0]):
        return Static(1)
    return attributes.attribute(lowering, node, _as_array(lowering, node, arguments, {}), "size")


def _clone(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return _as(np.positive if is_number(arguments[0]) else np.copy)(lowering, node, arguments, {})


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
    result = calls.call(lowering, node, Static(np.squeeze), (input,), {"axis": TupleOf(dropped)})
    return spelled(lowering, node, result, "tensor")


def _expand(lowering: Lowering, node: Any, input: Any, *shape: Any, size: Any = None) -> Any:
    """Broadcast to a shape, in which -1 leaves an axis as it is."""
    shape = shape if size is None else (size,)
    given = _integers(lowering, node, (TupleOf(shape),), {}).items
    present = attributes.shape_of(lowering, input).items if isinstance(input, Ref) else ()
    padded = (Static(1),) * (len(given) - len(present)) + present
    kept = tuple(
        old if isinstance(new, Static) and new.value == -1 else new
        for new, old in zip(given, padded, strict=False)
    )
    return _as(np.broadcast_to)(lowering, node, (input, TupleOf(kept)), {})


def _view(lowering: Lowering, node: Any, input: Any, *shape: Any, dtype: Any = None) -> Any:
    shape = shape if dtype is None else (dtype,)
    if len(shape) == 1 and isinstance(shape[0], Static) and not is_number(shape[0]):
        lowering.unsupported(node, "a view of another element type", "convert with `.to(dtype)`")
    return calls.call(lowering, node, Static(shaping.reshape), (input, *shape), {})


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
    shape = attributes.shape_of(lowering, input).items
    axis = shaping.axis_of(known_value(lowering, node, dim), len(shape))
    return axis, positions.static_integer(lowering, node, shape[axis])


def _tensor_split(
    lowering: Lowering, node: Any, input: Any, sections: Any, dim: Any = _FIRST
) -> Any:
    axis, length = _axis(lowering, node, input, dim)
    bounds = viewing.bounds_between(length, known_value(lowering, node, sections))
    places = [slice(Static(start), Static(stop), None) for start, stop in bounds]
    return TupleOf(tuple(_slice_at(lowering, node, input, axis, place) for place in places))


def _slice_at(
    lowering: Lowering, node: Any, input: Any, axis: Any, index: Any, name: Any = None
) -> Any:
    position = axis if isinstance(axis, int) else known_value(lowering, node, axis)
    place = TupleOf((*(slice(None, None, None),) * position, index))
    return subscripts.read_item(lowering, node, input, place)


def _rot90(lowering: Lowering, node: Any, input: Any, k: Any = _ONCE, dims: Any = _PLANE) -> Any:
    turns = Static(known_value(lowering, node, k))
    plane = TupleOf(tuple(map(Static, known_value(lowering, node, dims))))
    return _as(np.rot90)(lowering, node, (input, turns, plane), {})


def _masked_select(lowering: Lowering, node: Any, input: Any, mask: Any) -> Any:
    return subscripts.read_item(lowering, node, input, mask)


def with_names(function: Callable[..., Any]) -> handlers.Handler:
    signature = inspect.signature(function)

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        try:
            signature.bind(lowering, node, *arguments, **keywords)
        except TypeError as error:
            advice = "call it with the arguments that PyTorch documents"
            lowering.unsupported(node, f"this call has other arguments: {error}", advice)
        return function(lowering, node, *arguments, **keywords)

    return handler


# -- what there is not ---------------------------------------------------------------------------


def refused(what: str, advice: str) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        return lowering.unsupported(node, f"{what} inside of compiled code", advice)

    return handler


_OUTSIDE = "do this outside of the compiled function"
_GRAPH = (
    *("backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"),
    *("requires_grad_", "detach_"),
)
_LAYOUT = ("stride", "is_contiguous", "data_ptr", "dim_order", "is_set_to")
_STATE = ("requires_grad", "is_leaf", "grad", "grad_fn", "output_nr", "retains_grad", "_version")

HANDLERS: dict[Any, handlers.Handler] = {
    eager.apply: _apply,
    any_form.apply_of_any_form: _apply_of_any_form,
    inplace.update: _update,
    inplace.assign: _assign,
    wrap: _as_tensor,
    composites.cut: _cut,
    functions._plain: same,
    queries._array: same,
    functions.matmul: _as(np.matmul),
    functions.mm: _as(np.matmul),
    functions.mv: _as(np.matmul),
    functions.bmm: _as(np.matmul),
    queries.allclose: _as(np.allclose, "equal_nan"),
    queries.isclose: _as(np.isclose, "equal_nan"),
    calculus._summed_axes: _folded(calculus._summed_axes),
    calculus._other_axes: _folded(calculus._other_axes),
    special._row: _folded(special._row),
    factorizations.inverse: _as(np.linalg.inv),
    gathering.masked_select: with_names(_masked_select),
    viewing.rot90: with_names(_rot90),
    queries.numel: _numel,
    functions.clone: _clone,
    Tensor.numel: _numel,
    size.sizes: _integers,
    size.Size: _size,
    operator.index: same,
    adaptors.axes: _axes,
    shaping.axis_of: _folded(shaping.axis_of),
    shaping.squeeze: with_names(_squeeze),
    shaping.expand: with_names(_expand),
    shaping.view: with_names(_view),
    shaping.unbind: with_names(_unbind),
    shaping.split: with_names(_split),
    shaping.chunk: with_names(_chunk),
    indexing.at_axis: with_names(_slice_at),
    viewing.order_moved: _folded(viewing.order_moved),
    viewing.tensor_split: with_names(_tensor_split),
    own_methods._contiguous: _as(np.ascontiguousarray),
    dtypes.type_name: _folded(dtypes.type_name),
    Tensor.numpy: _as_array,
    Tensor.tolist: _to_list,
    Tensor.item: _item,
    Tensor.detach: _cut,
    Tensor.data.fget: _cut,  # type: ignore[attr-defined]
    Tensor.cpu: same,
}

handlers.FUNCTIONS.update(HANDLERS)
handlers.FUNCTIONS[inplace.rearrange] = refused(
    "exchanging axes in place", "use the form without underscore, and assign its result"
)
for _name in _GRAPH:
    handlers.FUNCTIONS[vars(Tensor)[_name]] = refused(f"`{_name}`", _OUTSIDE)
for _name in _LAYOUT:
    handlers.FUNCTIONS[getattr(Tensor, _name)] = refused(
        f"`{_name}`, the layout of memory,", _OUTSIDE
    )
for _function in (factorizations.lu, factorizations.geqrf):
    handlers.FUNCTIONS[_function] = refused(f"`{_function.__name__}`", _OUTSIDE)
for _name in _STATE:
    handlers.FUNCTIONS[inspect.getattr_static(Tensor, _name).fget] = refused(f"`{_name}`", _OUTSIDE)
tensors.CLASSES.append(Tensor)
tensors.ARRAY_MODULES |= {composites.__name__, matrix_composites.__name__}
tensors.ARRAY_MODULES.add("gradscribe.runtime.special_composites")
tensors.TENSOR_PACKAGES += [
    *("gradscribe.nn.functional.", "gradscribe.linalg", "gradscribe.fft", "gradscribe.special"),
    *(module.__name__ for module in (activations, calculus, factorizations, products)),
]
tensors.AS_TENSOR.append(_as_tensor)
attributes.ARRAY_OF.append(_as_array)
enter_array_class(Tensor, lambda tensor: tensor.array, spelling="tensor")

handlers.FUNCTIONS[grad_mode.no_grad] = contexts.mode(False)
handlers.FUNCTIONS[grad_mode.enable_grad] = contexts.mode(True)
handlers.FUNCTIONS[grad_mode.set_grad_enabled] = contexts.mode(None)
handlers.FUNCTIONS[grad_mode.GradMode] = contexts.mode(None)
