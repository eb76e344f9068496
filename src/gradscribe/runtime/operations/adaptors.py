"""How PyTorch's spellings of arguments become NumPy's: one maker of functions per kind of call.

Each maker takes a row of the table in `functions.py` and returns a function on Tensors, which
serves as `gs.name(x, ...)` and as the method `x.name(...)` alike.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.eager_operation import unwarned
from gradscribe.runtime.arrays.explaining import out_of_range
from gradscribe.runtime.operations.any_form import apply_of_any_form
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.launcher_text import ALONG, BINARY, REDUCTION, UNARY
from gradscribe.runtime.operations.launching import ROWS
from gradscribe.runtime.tensors.promotion import (
    alike,
    divisible,
    floating,
    multiple,
    only_floating,
    plain,
    promoted,
)
from gradscribe.runtime.tensors.tensor import Tensor

Function = Callable[..., Tensor]
Check = Callable[[Any, Any], None]

PUBLIC_MODULE = "gradscribe"
"""The module that the functions made here are found in by users (and by pickle)."""


def named(function: Function, name: str, callee: Callable[..., Any]) -> Function:
    """The function under its public name."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = PUBLIC_MODULE
    function.__doc__ = f"`{getattr(callee, '__name__', name)}` of Tensors."
    return function


def unary(name: str, callee: Callable[..., Any], node: str, **properties: Any) -> Function:
    """`name(x)`, of the dtype of x."""
    row = Operation(node, callee, **properties)

    def function(input: Any) -> Tensor:
        return apply(row, (input,))

    enter_row(row)
    ROWS[function] = UNARY, row
    return named(function, name, callee)


def smooth(name: str, callee: Callable[..., Any], node: str) -> Function:
    """`name(x)`, a floating number also of integers."""
    row = Operation(node, callee)

    def function(input: Any) -> Tensor:
        return apply(row, (floating(input),))

    enter_row(row)
    ROWS[function] = UNARY, row
    return named(function, name, callee)


def quotient(
    name: str,
    callee: Callable[..., Any],
    node: str,
    prepared: Callable[[Any, Any], tuple[Any, Any]] = divisible,
    **properties: Any,
) -> Function:
    """`name(x, other)`, a floating number also of integers."""
    row = Operation(node, callee, **properties)

    def function(input: Any, other: Any) -> Tensor:
        return apply(row, prepared(input, other))

    enter_row(row)
    ROWS[function] = BINARY, row
    return named(function, name, callee)


def binary(
    name: str,
    callee: Callable[..., Any],
    node: str,
    check: Check | None = None,
    **properties: Any,
) -> Function:
    """`name(x, other)`, of Tensors or numbers. check: raises errors for some."""
    row = Operation(node, callee, **properties)

    def function(input: Any, other: Any) -> Tensor:
        if check is not None:
            check(input, other)
        return apply(row, promoted(input, other))

    enter_row(row)
    ROWS[function] = BINARY, row
    return named(function, name, callee)


def scaled(
    name: str, callee: Callable[..., Any], node: str, check: Check | None = None
) -> Function:
    """`name(x, other, alpha=1)`: addition and subtraction of a multiple. check: raises errors for
    some operands."""
    row = Operation(node, callee, wraps_numbers=True)

    def function(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        if check is not None:
            check(input, other)
        if alpha != 1 or alpha is True:
            other = multiple(input, other, alpha)
        return apply(row, promoted(input, other))

    enter_row(row)
    ROWS[function] = BINARY, row
    return named(function, name, callee)


def reduction(
    name: str,
    callee: Callable[..., Any],
    node: str,
    refined: Callable[[Any], Any] = plain,
    **properties: Any,
) -> Function:
    """`name(x, dim=None, keepdim=False)`; `axis` and `keepdims` are understood, too.

    refined: what is done to x where no dtype is named.
    """
    properties.setdefault("counts_elements", callee in (np.mean, np.nanmean))
    row = Operation(node, callee, ("axis", "keepdims"), **properties)

    def function(
        input: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        axis: Any = None,
        keepdims: bool | None = None,
        dtype: Any = None,
    ) -> Tensor:
        input = refined(input) if dtype is None else input.to(dtype)
        if dim is None:
            dim = axis
        kept = keepdim if keepdims is None else keepdims
        result = apply(row, (input,), (axes_of(input, dim), kept))
        return result if dtype is None else result.to(dtype)

    enter_row(row)
    ROWS[function] = REDUCTION, row
    return named(function, name, callee)


def of_bytes(function: Function) -> Function:
    """A reduction to truth values, which are bytes where the elements are."""

    def of_any(input: Any, *args: Any, **options: Any) -> Tensor:
        result = function(input, *args, **options)
        if isinstance(input, Tensor) and input.array.dtype == np.uint8:
            return result.to(np.uint8)
        return result

    return named(of_any, function.__name__, function)


def deviation(name: str, callee: Callable[..., Any], node: str) -> Function:
    """`name(x, dim=None, correction=1, keepdim=False)`: variance and standard deviation; `axis`,
    `ddof` and `keepdims` are understood, too."""
    row = Operation(node, callee, ("axis", "ddof", "keepdims"), counts_elements=True)
    enter_row(row)
    return _deviating(name, callee, functools.partial(apply, row))


def deviation_with_mean(name: str, callee: Callable[..., Any]) -> Function:
    """`deviation`, and the mean: two outputs of one node."""
    row = Operation(name, callee, ("axis", "ddof", "keepdims"))

    def run(operands: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
        if not row.has_too_few(operands[0], static):
            return apply_of_any_form(callee, (*operands, *static), {})
        with unwarned():
            results = apply_of_any_form(callee, (*operands, *static), {})
        row.tell_of_few(operands[0], static, results[0])
        return results

    return _deviating(name, callee, run)


def _deviating(name: str, callee: Callable[..., Any], run: Callable[..., Any]) -> Function:
    """run: called with the operand, and with axes, correction and whether the axes are kept."""

    def function(
        input: Any,
        dim: Any = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: int | None = None,
        axis: Any = None,
        ddof: int | None = None,
        keepdims: bool | None = None,
    ) -> Any:
        input = only_floating(input, "std and var only support floating point and complex dtypes")
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = (1 if unbiased else 0) if ddof is None else ddof
        kept = keepdim if keepdims is None else keepdims
        named = axes_of(input, axis if dim is None else dim)
        return run((input,), (named, correction, kept))

    return named(function, name, callee)


def along(
    name: str,
    callee: Callable[..., Any],
    node: str,
    refined: Callable[[Any], Any] = plain,
    **properties: Any,
) -> Function:
    """`name(x, dim)`: an operation along one axis that keeps the shape."""
    row = Operation(node, callee, ("axis",), **properties)

    def function(input: Any, dim: Any = None, *, axis: Any = None, dtype: Any = None) -> Tensor:
        input = refined(input) if dtype is None else input.to(dtype)
        dim = axes(axis if dim is None else dim)
        if dim is not None and isinstance(input, Tensor) and not input.array.ndim:
            no_axes(dim)
            return apply(row, (input[None],), (0,))[0]
        result = apply(row, (input,), (dim,))
        return result if dtype is None else result.to(dtype)

    enter_row(row)
    ROWS[function] = ALONG, row
    return named(function, name, callee)


def joined(name: str, callee: Callable[..., Any], node: str) -> Function:
    """`name(tensors, dim=0)`."""
    row = Operation(node, callee, ("axis",), sequence=True)

    def function(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
        operands = alike(tensors if isinstance(tensors, list) else tuple(tensors))
        if callee is np.concatenate:
            operands = without_empty(operands)
        return apply(row, operands, (int(dim if axis is None else axis),))

    enter_row(row)
    return named(function, name, callee)


def without_empty(tensors: Any) -> Any:
    """The Tensors to concatenate: those of one axis without elements go with any others."""
    kept = [t for t in tensors if getattr(t, "shape", None) != (0,)]
    return kept if 0 < len(kept) < len(tensors) else tensors


def axes_of(input: Any, dim: Any) -> Any:
    """An axis argument as a hashable; None also for the axis of a Tensor without axes."""
    named = axes(dim)
    if named is not None and isinstance(input, Tensor) and not input.array.ndim:
        return no_axes(named)
    return named


def no_axes(dim: Any) -> Any:
    """None for the axes of a Tensor without axes, which counts as having one there."""
    for named in dim if isinstance(dim, tuple) else (dim,):
        if named not in (0, -1):
            raise out_of_range(named, 0)
    return None


def axes(dim: Any) -> Any:
    """An axis argument as a hashable: None, an int or a tuple of ints."""
    if dim is None or type(dim) is int:
        return dim
    if isinstance(dim, (tuple, list)):
        return tuple(map(operator.index, dim)) or None
    return operator.index(dim)


BY_CALLEE: dict[Any, Operation] = {}
"""The row of each callee: under which name calls through NumPy's protocols are recorded."""


def enter_row(row: Operation) -> Operation:
    """Enter a row by its callee; the first of several spellings stays."""
    return BY_CALLEE.setdefault(row.callee, row)
