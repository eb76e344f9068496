"""What the Tensor API means inside compiled code.

`gs.exp(x)`, `x.std(0)` and their kind end in `eager.apply(row, operands, static)`. The frontend
inlines the Python around it like any helper of the user, and here finds what `apply` itself
means at compile time: a call of the row's NumPy callee. So eager and compiled code agree by
construction, PyTorch's spellings of arguments included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.frontend import builtins, calls
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import ObjectRef, Static, TupleOf
from gradscribe.runtime import eager, functions, shaping
from gradscribe.runtime.tensor import Tensor, wrap
from gradscribe.signatures import enter_array_class


def _apply(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """`apply(row, operands, static)` as a call of the row's callee."""
    row, operands, *static = arguments
    operation: eager.Operation = row.target if isinstance(row, ObjectRef) else row.value
    items = calls.unpacked(lowering, node, operands)
    values = calls.unpacked(lowering, node, static[0]) if static else ()
    callee = Static(operation.callee)
    if operation.positional:
        return calls.call(lowering, node, callee, (items[0], *values, *items[1:]), {})
    if operation.sequence:
        items = (TupleOf(tuple(items)),)
    named = dict(zip(operation.parameters, values, strict=False))
    return calls.call(lowering, node, callee, tuple(items), named)


def _as(callee: Any) -> builtins.Handler:
    """A Tensor function that is one of NumPy's, with the same positional arguments."""

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        return calls.call(lowering, node, Static(callee), arguments, keywords)

    return handler


def _static(function: Any) -> builtins.Handler:
    """A helper of integers that are known when the function is compiled."""

    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        return Static(function(*(calls.static_integer(lowering, node, a) for a in arguments)))

    return handler


def _same(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    return arguments[0]


_MATRIX_PRODUCTS = (functions.matmul, functions.mm, functions.mv, functions.bmm)

builtins.BUILTINS[eager.apply] = _apply
builtins.BUILTINS[wrap] = builtins.BUILTINS[functions._plain] = _same
builtins.BUILTINS[shaping.axis_of] = _static(shaping.axis_of)
for _product in _MATRIX_PRODUCTS:
    builtins.BUILTINS[_product] = _as(np.matmul)
builtins.TENSOR_CLASSES.append(Tensor)
enter_array_class(Tensor, lambda tensor: tensor.array, spelling="tensor")
