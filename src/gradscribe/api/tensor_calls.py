"""What the Tensor API means inside compiled code.

`gs.exp(x)`, `x.std(0)` and their kind end in `eager.apply(row, operands, static)`. The frontend
inlines the Python around it like any helper of the user, and here finds what `apply` itself
means at compile time: a call of the row's NumPy callee. So eager and compiled code agree by
construction, PyTorch's spellings of arguments included. The other handlers here stand for the
few helpers at the bottom of the runtime that look into Tensors and arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import (
    as_tensor,
    calling,
    cut,
    folded,
    numpy,
    same,
    spelled,
)
from gradscribe.api.tensor_refusals import REFUSED
from gradscribe.api.tensor_shapes import SHAPES
from gradscribe.compiler.signatures import enter_array_class
from gradscribe.frontend.calls import single_items
from gradscribe.frontend.containers import stores, subscripts
from gradscribe.frontend.control import contexts
from gradscribe.frontend.state import handlers
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
from gradscribe.runtime import own_methods
from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.graph import grad_mode, inference
from gradscribe.runtime.operations import (
    any_form,
    calculus,
    eager,
    factorizations,
    inplace,
    special,
)
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.tensors import queries
from gradscribe.runtime.tensors.tensor import Tensor, wrap

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


def _never(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """What eager mode warns of, and NumPy warns of by itself."""
    return Static(False)


def _is_grad_enabled(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A call is compiled for being recorded, but for its own modes."""
    return Static(not lowering.modes.cutting)


# -- operations ----------------------------------------------------------------------------------


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


HANDLERS: dict[Any, handlers.Handler] = {
    **SHAPES,
    eager.apply: _apply,
    eager.Operation.has_too_few: _never,
    any_form.apply_of_any_form: _apply_of_any_form,
    inplace.update: _update,
    inplace.assign: _assign,
    wrap: as_tensor,
    composites.cut: cut,
    functions._plain: same,
    queries._array: same,
    functions.matmul: calling(np.matmul),
    functions.mm: calling(np.matmul),
    functions.mv: calling(np.matmul),
    functions.bmm: calling(np.matmul),
    queries.allclose: calling(np.allclose, "equal_nan"),
    queries.isclose: calling(np.isclose, "equal_nan"),
    calculus._summed_axes: folded(calculus._summed_axes),
    calculus._other_axes: folded(calculus._other_axes),
    special.row_of: folded(special.row_of),
    factorizations.inverse: calling(np.linalg.inv),
    functions.laid_out: same,
    own_methods._contiguous: calling(np.ascontiguousarray),
    dtypes.type_name: folded(dtypes.type_name),
    Tensor.numpy: numpy,
    Tensor.tolist: _to_list,
    Tensor.item: _item,
    Tensor.detach: cut,
    Tensor.data.fget: cut,  # type: ignore[attr-defined]
    Tensor.cpu: same,
}

handlers.enter(HANDLERS | REFUSED)
enter_array_class(Tensor, lambda tensor: tensor.array, spelling="tensor")

handlers.enter(
    {
        grad_mode.no_grad: contexts.mode(False),
        grad_mode.enable_grad: contexts.mode(True),
        grad_mode.set_grad_enabled: contexts.set_mode,
        grad_mode.GradMode: contexts.mode(),
        inference.inference_mode: contexts.mode(inverse=True),
        grad_mode.is_grad_enabled: _is_grad_enabled,
    }
)
