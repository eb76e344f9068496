"""The table of eager operations, continued: reductions, and what is done along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.explaining import of_nothing
from gradscribe.runtime.arrays.node_names import along_axes, taken_of_all
from gradscribe.runtime.arrays.operand_checks import (
    extremum,
    not_complex,
    not_implemented,
    only_floating,
)
from gradscribe.runtime.arrays.rows import BOTH, IN_PLACE, OUT
from gradscribe.runtime.operations.adaptors import (
    FLOATING,
    KEPT,
    along,
    deviation,
    deviation_with_mean,
    enter_row,
    reduction,
)
from gradscribe.runtime.operations.eager import Operation
from gradscribe.runtime.tensors.promotion import averageable, floating, summable


def _extremum(name: str, **callees: Any) -> Operation:
    """The operation of the greatest or least element of all."""
    stem = name.title()
    return Operation(
        stem,
        **callees,
        number=taken_of_all,
        saved=("dim:axis keepdim:keepdims picked sizes", "self=0 result"),
        check=extremum(name),
        explain=of_nothing(name),
    )


def _along_axes(name: str, callee: Any, *saved: str, **others: Any) -> Operation:
    """The operation of a reduction."""
    return Operation(name, callee, KEPT, saved=saved, **others)


NAMED = "dim:axis* keepdim:keepdims"


def _greatest(name: str, callee: Any) -> Operation:
    return _along_axes(
        name.title(),
        callee,
        f"{NAMED} self=0 result",
        check=not_implemented(name),
        explain=of_nothing(name),
    )


def _position(name: str, callee: Any) -> Operation:
    """The operation of where the greatest or least element is."""
    return _along_axes(
        name.title(),
        callee,
        differentiable=False,
        check=not_complex(RuntimeError, f"{name}(): does not support complex input"),
        explain=of_nothing(name, IndexError),
    )


enter_row(_extremum("max", callee=np.max))
enter_row(_extremum("min", callee=np.min))
MAX = _extremum("max", callee=composites.greatest, run=np.max)
MIN = _extremum("min", callee=composites.least, run=np.min)
_SUM = _along_axes("Sum", np.sum, "sizes", f"{NAMED} sizes", number=along_axes)
_MEAN = _along_axes(
    "Mean",
    np.mean,
    "numel sizes",
    f"{NAMED} numel sizes",
    number=along_axes,
    counts_elements=True,
)
_PROD = _along_axes(
    "Prod",
    np.prod,
    "self=0 result",
    "dim:axis keepdim:keepdims self=0 result",
    number=along_axes,
)
_DEVIATIONS = "axis", "ddof", "keepdims"
_SPREAD = f"correction:ddof {NAMED} self=0"
_SOFTMAX = Operation(
    "Softmax",
    composites.softmax,
    ("axis",),
    saved=("dim:axis result",),
    check=only_floating("softmax"),
)
_LOG_SOFTMAX = Operation(
    "LogSoftmax",
    composites.log_softmax,
    ("axis",),
    saved=("dim:axis result",),
    check=only_floating("log_softmax"),
)
_COUNTED = "that of input; int64 of truth values and integers"

sum = reduction("sum", "The sum of the elements", _SUM, refined=summable, dtypes=_COUNTED)
mean = reduction("mean", "The mean of the elements", _MEAN, refined=averageable)
prod = reduction("prod", "The product of the elements", _PROD, refined=summable, dtypes=_COUNTED)
amax = reduction("amax", "The greatest element", _greatest("amax", np.max))
amin = reduction("amin", "The least element", _greatest("amin", np.min))
nansum = reduction(
    "nansum",
    "The sum of the elements that are not NaN",
    _along_axes("Nansum", np.nansum, f"{NAMED} self=0"),
    refined=summable,
    dtypes=_COUNTED,
)
nanmean = reduction(
    "nanmean",
    "The mean of the elements that are not NaN",
    _along_axes("Nanmean", np.nanmean, counts_elements=True),
    refined=averageable,
)
var = deviation(
    "var",
    "The variance of the elements",
    Operation("Var", np.var, _DEVIATIONS, saved=(_SPREAD,), counts_elements=True),
)
std = deviation(
    "std",
    "The standard deviation of the elements",
    Operation("Std", np.std, _DEVIATIONS, saved=(f"{_SPREAD} result",), counts_elements=True),
)
var_mean = deviation_with_mean(
    "var_mean",
    "The variance of the elements, and their mean",
    Operation("var_mean", composites.var_mean, _DEVIATIONS),
)
std_mean = deviation_with_mean(
    "std_mean",
    "The standard deviation of the elements, and their mean",
    Operation("std_mean", composites.std_mean, _DEVIATIONS),
)
logsumexp = reduction(
    "logsumexp",
    "ln Σ e^x of the elements x",
    _along_axes("Logsumexp", composites.logsumexp, f"{NAMED} self=0 result"),
    refined=floating,
    dtypes=FLOATING,
)
all = reduction(
    "all",
    "Whether all elements are not zero",
    _along_axes("All", np.all, differentiable=False),
    keeps_bytes=True,
    dtypes="bool; uint8 of uint8",
)
any = reduction(
    "any",
    "Whether any element is not zero",
    _along_axes("Any", np.any, differentiable=False),
    keeps_bytes=True,
    dtypes="bool; uint8 of uint8",
)
argmax = reduction(
    "argmax",
    "The position of the greatest element, the first of several",
    _position("argmax", np.argmax),
    dtypes="int64",
)
argmin = reduction(
    "argmin",
    "The position of the least element, the first of several",
    _position("argmin", np.argmin),
    dtypes="int64",
)
count_nonzero = reduction(
    "count_nonzero",
    "The number of the elements that are not zero",
    _along_axes("CountNonzero", np.count_nonzero, differentiable=False),
    BOTH,
    dtypes="int64",
)
cumsum = along(
    "cumsum",
    "The sum of the elements up to each",
    Operation("Cumsum", np.cumsum, ("axis",), saved=("dim:axis",)),
    BOTH | IN_PLACE | OUT,
    refined=summable,
    dtypes=_COUNTED,
)
cumprod = along(
    "cumprod",
    "The product of the elements up to each",
    Operation("Cumprod", np.cumprod, ("axis",), saved=("dim:axis self=0 result",)),
    BOTH | IN_PLACE | OUT,
    refined=summable,
    dtypes=_COUNTED,
)
logcumsumexp = along(
    "logcumsumexp",
    "ln Σ e^x of the elements x up to each",
    Operation(
        "Logcumsumexp", composites.logcumsumexp, ("axis",), saved=("dim:axis self=0 result",)
    ),
    refined=floating,
    dtypes=FLOATING,
)
softmax = along("softmax", "e^x / Σ e^x", _SOFTMAX)
log_softmax = along("log_softmax", "x - ln Σ e^x", _LOG_SOFTMAX)
