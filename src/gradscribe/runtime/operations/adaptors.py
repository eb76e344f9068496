"""How PyTorch's spellings of arguments become NumPy's: one maker of functions per kind of call.

Each maker takes a name, what the function means, and the operation that it calls; it returns the
function on Tensors, and enters its row (`arrays/rows.py`). What else a maker takes is what
`rows.operation` does: forms, other names, dtypes of the result.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.eager_operation import unwarned
from gradscribe.runtime.arrays.explaining import out_of_range
from gradscribe.runtime.arrays.rows import BOTH, EVERY, FUNCTION, IN_PLACE, OUT, Spelling, operation
from gradscribe.runtime.operations.any_form import apply_of_any_form
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.launcher_text import ALONG, BINARY, REDUCTION, UNARY
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

KEPT = "axis", "keepdims"
"""The parameters of reductions."""

REDUCED = "(…) -> (), or (…) without the axes named, which keepdim keeps with length 1"
FLOATING = "floating also of integers (the default one)"
PROMOTED = "that which those of the operands promote to"
TRUTH = "bool"

PUBLIC_MODULE = "gradscribe"
"""The module that the functions made here are found in by users (and by pickle)."""


def named(function: Function, name: str, meaning: str) -> Function:
    """The function under its public name, with the first lines of its docstring."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = PUBLIC_MODULE
    function.__doc__ = meaning
    return function


def unary(
    name: str,
    meaning: str,
    row: Operation,
    spelling: Spelling = EVERY,
    *,
    refined: Callable[[Any], Any] = plain,
    **names: Any,
) -> Function:
    """`name(x)`. meaning: in terms of x. refined: what is done to x before."""

    def function(input: Any) -> Tensor:
        return apply(row, (refined(input),))

    enter_row(row)
    names.setdefault("dtypes", "" if row.differentiable else TRUTH)
    public = operation(spelling, shapes="(…) -> (…)", launcher=(UNARY, row), **names)
    return public(named(function, name, f"{meaning}, for each element x of input."))


def smooth(
    name: str, meaning: str, row: Operation, spelling: Spelling = EVERY, **names: Any
) -> Function:
    """`name(x)`, a floating number also of integers."""
    return unary(name, meaning, row, spelling, refined=floating, dtypes=FLOATING, **names)


def binary(
    name: str,
    meaning: str,
    row: Operation,
    spelling: Spelling = BOTH | IN_PLACE | OUT,
    *,
    prepared: Callable[[Any, Any], tuple[Any, Any]] = promoted,
    check: Check | None = None,
    **names: Any,
) -> Function:
    """`name(x, other)`, of Tensors or numbers. meaning: in terms of x and y. prepared: the operands
    that are computed with. check: raises errors for some."""

    def function(input: Any, other: Any) -> Tensor:
        if check is not None:
            check(input, other)
        return apply(row, prepared(input, other))

    enter_row(row)
    names.setdefault("shapes", "(…), (…) -> (…)")
    names.setdefault("dtypes", PROMOTED if row.differentiable else TRUTH)
    public = operation(spelling, launcher=(BINARY, row), **names)
    return public(named(function, name, f"{meaning}, for elements x of input and y of other."))


def quotient(
    name: str,
    meaning: str,
    row: Operation,
    spelling: Spelling = BOTH | IN_PLACE | OUT,
    *,
    prepared: Callable[[Any, Any], tuple[Any, Any]] = divisible,
    **names: Any,
) -> Function:
    """`name(x, other)`, a floating number also of integers."""
    names["dtypes"] = FLOATING
    return binary(name, meaning, row, spelling, prepared=prepared, **names)


def scaled(
    name: str, meaning: str, row: Operation, check: Check | None = None, **names: Any
) -> Function:
    """`name(x, other, alpha=1)`: addition and subtraction of a multiple. check: raises errors for
    some operands."""

    def function(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        if check is not None:
            check(input, other)
        if alpha != 1 or alpha is True:
            other = multiple(input, other, alpha)
        return apply(row, promoted(input, other))

    enter_row(row)
    names |= {"shapes": "(…), (…) -> (…)", "dtypes": PROMOTED}
    public = operation(BOTH | IN_PLACE | OUT, launcher=(BINARY, row), **names)
    return public(named(function, name, f"{meaning}, for elements x of input and y of other."))


def reduction(
    name: str,
    meaning: str,
    row: Operation,
    spelling: Spelling = BOTH | OUT,
    *,
    refined: Callable[[Any], Any] = plain,
    keeps_bytes: bool = False,
    dtypes: str = "",
) -> Function:
    """`name(x, dim=None, keepdim=False)`; `axis` and `keepdims` are understood, too.

    refined: what is done to x where no dtype is named. keeps_bytes: whether the result is bytes
    where the elements are.
    """

    def function(
        input: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        axis: Any = None,
        keepdims: bool | None = None,
        dtype: Any = None,
    ) -> Tensor:
        if keeps_bytes and dtype is None and isinstance(input, Tensor):
            dtype = np.uint8 if input.array.dtype == np.uint8 else None
        input = refined(input) if dtype is None else input.to(dtype)
        if dim is None:
            dim = axis
        kept = keepdim if keepdims is None else keepdims
        result = apply(row, (input,), (axes_of(input, dim), kept))
        return result if dtype is None else result.to(dtype)

    enter_row(row)
    public = operation(spelling, shapes=REDUCED, dtypes=dtypes, launcher=(REDUCTION, row))
    return public(named(function, name, f"{meaning}, along the axes named or of all."))


def deviation(name: str, meaning: str, row: Operation) -> Function:
    """`name(x, dim=None, correction=1, keepdim=False)`: variance and standard deviation; `axis`,
    `ddof` and `keepdims` are understood, too."""
    enter_row(row)
    public = operation(BOTH | OUT, shapes=REDUCED, dtypes="floating")
    return public(_deviating(name, meaning, functools.partial(apply, row)))


def deviation_with_mean(name: str, meaning: str, row: Operation) -> Function:
    """`deviation`, and the mean: two outputs of one node."""

    def run(operands: tuple[Any, ...], static: tuple[Any, ...]) -> Any:
        if not row.has_too_few(operands[0], static):
            return apply_of_any_form(row.callee, (*operands, *static), {})
        with unwarned():
            results = apply_of_any_form(row.callee, (*operands, *static), {})
        row.tell_of_few(operands[0], static, results[0])
        return results

    public = operation(FUNCTION, shapes=f"{REDUCED}, for both", dtypes="floating")
    return public(_deviating(name, meaning, run))


def _deviating(name: str, meaning: str, run: Callable[..., Any]) -> Function:
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
        axes = axes_of(input, axis if dim is None else dim)
        return run((input,), (axes, correction, kept))

    return named(
        function,
        name,
        f"{meaning}, along the axes named or of all: squares are divided by the number of elements "
        "less the correction.",
    )


def along(
    name: str,
    meaning: str,
    row: Operation,
    spelling: Spelling = BOTH | OUT,
    *,
    refined: Callable[[Any], Any] = plain,
    dtypes: str = "",
) -> Function:
    """`name(x, dim)`: an operation along one axis that keeps the shape."""

    def function(input: Any, dim: Any = None, *, axis: Any = None, dtype: Any = None) -> Tensor:
        input = refined(input) if dtype is None else input.to(dtype)
        dim = axes(axis if dim is None else dim)
        if dim is not None and isinstance(input, Tensor) and not input.array.ndim:
            no_axes(dim)
            return apply(row, (input[None],), (0,))[0]
        result = apply(row, (input,), (dim,))
        return result if dtype is None else result.to(dtype)

    enter_row(row)
    public = operation(spelling, shapes="(…) -> (…)", dtypes=dtypes, launcher=(ALONG, row))
    return public(named(function, name, f"{meaning}, along an axis."))


def joined(name: str, meaning: str, row: Operation, **names: Any) -> Function:
    """`name(tensors, dim=0)`."""

    def function(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
        operands = alike(tensors if isinstance(tensors, list) else tuple(tensors))
        if row.callee is np.concatenate:
            operands = without_empty(operands)
        return apply(row, operands, (int(dim if axis is None else axis),))

    enter_row(row)
    return operation(FUNCTION | OUT, dtypes=PROMOTED, **names)(named(function, name, meaning))


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
