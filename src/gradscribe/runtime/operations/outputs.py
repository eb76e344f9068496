"""`out=`: results stored in Tensors that the caller gives.

A function of the `gs` namespace computes as ever; its result is then stored in the memory of the
given Tensor, cast to its dtype. Where the shapes differ, that Tensor gets memory of the right
size, as in PyTorch: an empty one silently, another one with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.modes import MODES, tangent_of
from gradscribe.runtime.operations.inplace import store
from gradscribe.runtime.tensors.tensor import Tensor, wrap

# fmt: off
NAMES = frozenset({
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv",
    "addr", "all", "amax", "amin", "aminmax", "angle", "any", "arange", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort", "asin",
    "asinh", "atan", "atan2", "atanh", "baddbmm", "bernoulli", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm", "bucketize", "cat",
    "ceil", "cholesky", "cholesky_inverse", "cholesky_solve", "clamp", "clamp_max", "clamp_min",
    "clip", "column_stack", "complex", "concat", "concatenate", "conj_physical", "copysign", "cos",
    "cosh", "cross", "cummax", "cummin", "cumprod", "cumsum", "deg2rad", "diag", "diff", "digamma",
    "div", "divide", "dot", "dstack", "empty", "eq", "erf", "erfc", "erfinv", "exp", "exp2",
    "expm1", "eye", "fix", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac",
    "frexp", "frobenius_norm", "full", "gather", "gcd", "ge", "geqrf", "ger", "greater",
    "greater_equal", "gt", "hardshrink", "heaviside", "histc", "histogram", "hstack", "hypot", "i0",
    "igamma", "igammac", "index_add", "index_copy", "index_reduce", "index_select", "inner",
    "inverse", "isin", "isneginf", "isposinf", "kron", "kthvalue", "lcm", "ldexp", "le", "lerp",
    "less", "less_equal", "lgamma", "linspace", "log", "log10", "log1p", "log2", "log_softmax",
    "logaddexp", "logaddexp2", "logcumsumexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logit", "logspace", "logsumexp", "lt", "lu_solve", "lu_unpack", "masked_select",
    "matmul", "matrix_power", "max", "maximum", "mean", "median", "min", "minimum", "mm", "mode",
    "msort", "mul", "multinomial", "multiply", "mv", "mvlgamma", "nan_to_num", "nanmean",
    "nanmedian", "nanquantile", "nansum", "narrow_copy", "ne", "neg", "negative", "nextafter",
    "nonzero", "nonzero_static", "norm", "normal", "not_equal", "nuclear_norm", "ones", "orgqr",
    "ormqr", "outer", "permute_copy", "polar", "polygamma", "pow", "prod", "qr", "quantile",
    "rad2deg", "rand", "randint", "randn", "randperm", "range", "reciprocal", "remainder", "renorm",
    "round", "row_stack", "rsqrt", "scatter", "scatter_add", "scatter_reduce", "searchsorted",
    "select_copy", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "slice_scatter",
    "slogdet", "softmax", "sort", "sqrt", "square", "stack", "std", "sub", "subtract", "sum", "svd",
    "take", "take_along_dim", "tan", "tanh", "tensordot", "threshold", "topk", "triangular_solve",
    "tril", "triu", "true_divide", "trunc", "var", "vdot", "vstack", "where", "xlogy", "zeros",
})
_CREATING = frozenset({
    "arange", "empty", "eye", "full", "linspace", "logspace", "normal", "ones", "rand", "randint",
    "randn", "randperm", "range", "zeros",
})
_COUNTED = frozenset({"arange", "linspace", "logspace", "range"})
# fmt: on
"""The functions of `gs` that take `out=`; those of no Tensor, whose dtype is that of `out`; those
of them whose elements fill an `out` of any shape."""


def stored(function: Callable[..., Any], args: Any, options: Mapping[str, Any], out: Any) -> Any:
    """The result of a call, stored in a Tensor, or in several for several results."""
    name = function.__name__
    if name in _CREATING and options.get("dtype") is None:
        options = {**options, "dtype": _only_dtype(out)}
    result = function(*args, **options)
    if name in _COUNTED and isinstance(out, Tensor) and out.array.size == result.array.size:
        result = wrap(result.array.reshape(out.array.shape))
    if isinstance(result, Tensor):
        return into(out, result, name)
    found = [into(each, part, name) for each, part in zip(out, result, strict=True)]
    return type(result)(*found) if hasattr(result, "_fields") else tuple(found)


def _only_dtype(out: Any) -> Any:
    return out.dtype if isinstance(out, Tensor) else None


def into(out: Tensor, result: Tensor, name: str) -> Tensor:
    """Store a result in `out=`."""
    if name == "nonzero" and isinstance(out, Tensor) and out.array.dtype != np.int64:
        raise RuntimeError(
            "nonzero: Expected out tensor to have scalar type Long but got scalar type"
            f"{dtypes.scalar_name(out.array.dtype)}"
        )
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if result.requires_grad or (grad_enabled() and out.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if MODES and (tangent_of(result) is not None or tangent_of(out) is not None):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )
    if out.array.shape != result.array.shape:
        _make_room(out, result.array.shape)
    store(out, result)
    return out


def _make_room(out: Tensor, shape: tuple[int, ...]) -> None:
    """Give a Tensor memory for a result of this shape."""
    if out.array.size:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out.array.shape)}, which does not match the required output shape "
            f"{list(shape)}. This behavior is deprecated, and in a future PyTorch release outputs "
            "will not be resized unless they have zero elements. You can explicitly reuse an out "
            "tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=4,
        )
    out.array = np.empty(shape, out.array.dtype)
    out._kind = None
