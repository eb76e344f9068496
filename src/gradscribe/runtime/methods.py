"""Attaches operators and methods to Tensor: the same functions as in the `gs` namespace.

Imported once, by the package; everything here stands above `tensor.py`, which therefore cannot
name it in the class body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime import own_methods
from gradscribe.runtime.operations import (
    activations,
    calculus,
    complex_numbers,
    distinct,
    factorizations,
    gathering,
    inplace,
    ordering,
    products,
    scattering,
    shaping,
    slices,
    special,
    strides,
    viewing,
    windows,
)
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.launcher_text import OPERATOR, REFLECTED, Form
from gradscribe.runtime.operations.launching import ROWS, launched
from gradscribe.runtime.operations.spellings import spelled
from gradscribe.runtime.tensors import queries
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import shorten, shortened

Function = Callable[..., Any]

_TABLES = (
    functions,
    activations,
    calculus,
    complex_numbers,
    distinct,
    factorizations,
    gathering,
    ordering,
    products,
    queries,
    scattering,
    shaping,
    slices,
    special,
    strides,
    viewing,
    windows,
)

# fmt: off
_NO_METHODS = {
    "alias_copy", "array_equal", "as_strided_copy", "bartlett_window", "blackman_window",
    "broadcast_tensors", "bucketize", "cat", "cdist", "celu", "chain_matmul", "combinations",
    "complex", "concat", "concatenate", "cosine_similarity", "cumulative_trapezoid",
    "detach_copy", "diagonal_copy", "dropout", "einsum", "expand_copy", "frobenius_norm",
    "gradient", "hamming_window", "hann_window", "imag", "is_tensor", "isin", "kaiser_window",
    "logsigmoid", "lu_unpack", "norm_except_dim", "nuclear_norm", "pairwise_distance", "pdist",
    "permute_copy", "polar", "polygamma", "real", "rrelu", "rsub", "searchsorted",
    "select_copy", "selu", "slice_copy", "softplus", "split_copy", "split_with_sizes_copy",
    "squeeze_copy", "stack", "std_mean", "t_copy", "tensordot", "threshold", "transpose_copy",
    "trapezoid", "trapz", "typename", "unbind_copy", "unfold_copy", "unravel_index",
    "unsqueeze_copy", "vander", "var_mean", "view_as_complex", "view_as_real", "view_copy",
    "where",
}
# fmt: on
"""The functions of the table that are not methods, too."""

_NO_FUNCTIONS = {
    *("expand", "expand_as", "repeat", "reshape_as", "trace", "unfold", "view", "view_as"),
}
"""The methods that are no functions, or other ones (`gs.trace`)."""

# fmt: off
_IN_PLACE = (
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv",
    "addr", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin",
    "asinh", "atan", "atan2", "atanh", "baddbmm", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clamp", "clamp_max",
    "clamp_min", "clip", "conj_physical", "copysign", "cos", "cosh", "cumprod", "cumsum", "deg2rad",
    "digamma", "div", "divide", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix",
    "float_power", "floor", "floor_divide", "fmod", "frac", "gcd", "heaviside", "hypot", "i0",
    "igamma", "igammac", "index_add", "index_copy", "index_fill", "index_put", "index_reduce",
    "lcm", "ldexp", "lerp", "lgamma", "log", "log10", "log1p", "log2", "logit", "masked_fill",
    "masked_scatter", "mul", "multiply", "mvlgamma", "nan_to_num", "neg", "negative", "nextafter",
    "polygamma", "pow", "put", "rad2deg", "reciprocal", "relu", "remainder", "renorm", "round",
    "rsqrt", "scatter", "scatter_add", "scatter_reduce", "sgn", "sigmoid", "sign", "sin", "sinc",
    "sinh", "sqrt", "square", "sub", "subtract", "tan", "tanh", "tril", "triu", "true_divide",
    "trunc", "xlogy",
)
_IN_PLACE_CAST = (
    "eq", "ge", "greater", "greater_equal", "gt", "le", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "logical_xor", "lt", "ne", "not_equal",
)
_IN_PLACE_AXES = ("as_strided", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze")
# fmt: on
"""The methods that have an in-place form, `x.name_(...)`: of elements, of elements that are cast to
the dtype of x, and of axes."""

_OPERATORS: dict[str, Function] = {
    "add": functions.add,
    "sub": functions.sub,
    "mul": functions.mul,
    "truediv": functions.div,
    "floordiv": functions.floor_divide,
    "mod": functions.remainder,
    "pow": functions.pow,
    "matmul": functions.matmul,
    "lshift": functions.bitwise_left_shift,
    "rshift": functions.bitwise_right_shift,
    "and": functions.bitwise_and,
    "or": functions.bitwise_or,
    "xor": functions.bitwise_xor,
}
"""Binary operators: each has a reflected and an in-place form."""

_COMMUTATIVE = frozenset({"add", "mul"})
"""Operators whose node has the Tensor for its first input on whichever side it stands."""

_COMPARISONS: dict[str, Function] = {
    "lt": functions.lt,
    "le": functions.le,
    "gt": functions.gt,
    "ge": functions.ge,
    "eq": functions.eq,
    "ne": functions.ne,
}

_UNARY: dict[str, Function] = {
    "neg": functions.neg,
    "pos": functions.positive,
    "abs": functions.abs,
    "invert": functions.bitwise_not,
}

_ARRAYS = (Tensor, np.ndarray)
_OPERANDS = (*_ARRAYS, int, float, complex, np.generic)


def _operands_of(function: Function) -> tuple[type, ...]:
    """What may stand beside a Tensor in an operator."""
    return _ARRAYS if function is functions.matmul else _OPERANDS


def _operator(function: Function) -> Function:
    operands = _operands_of(function)

    def method(self: Tensor, other: Any) -> Any:
        try:
            return function(self, other) if isinstance(other, operands) else NotImplemented
        except Exception as error:
            shorten(error)
            raise

    return _launched(method, OPERATOR, function)


def _reflected(function: Function) -> Function:
    operands = _operands_of(function)

    def method(self: Tensor, other: Any) -> Any:
        try:
            return function(other, self) if isinstance(other, operands) else NotImplemented
        except Exception as error:
            shorten(error)
            raise

    return _launched(method, REFLECTED, function)


def _launched(method: Function, form: Form, function: Function) -> Function:
    return launched(method, form, ROWS[function][1]) if function in ROWS else method


def _in_place(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return inplace.update(self, function, *args, **kwargs)

    return method


def _in_place_operator(function: Function) -> Function:
    operands = _operands_of(function)

    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, operands):
            return NotImplemented
        try:
            return inplace.update(self, function, other)
        except Exception as error:
            shorten(error)
            raise

    return method


def _in_place_cast(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return inplace.assign(self, function(self, *args, **kwargs))

    return method


def _in_place_axes(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        try:
            return inplace.rearrange(self, function, *args, **kwargs)
        except RuntimeError as error:
            name = f"{function.__name__}()"
            if not str(error).startswith(name):
                raise
            raise RuntimeError(str(error).replace(name, f"{function.__name__}_()")) from None

    return method


def attach() -> None:
    """Give Tensor its operators and methods."""
    for module in _TABLES:
        for name in (_NO_FUNCTIONS & {*vars(module)}) | ({*module.__all__} - _NO_METHODS):
            setattr(Tensor, name, spelled(vars(module)[name]))
    attribute: object
    for name in ("size", "stride"):
        setattr(Tensor, name, spelled(getattr(Tensor, name)))
    for name, attribute in own_methods.METHODS.items():
        setattr(Tensor, name, attribute if name.startswith("__") else spelled(attribute))
    forms = {_in_place: _IN_PLACE, _in_place_cast: _IN_PLACE_CAST, _in_place_axes: _IN_PLACE_AXES}
    for form, names in forms.items():
        for name in names:
            method = _named(shortened(form(vars(Tensor)[name])), f"{name}_")
            setattr(Tensor, f"{name}_", method)
    for name, function in _OPERATORS.items():
        setattr(Tensor, f"__{name}__", _named(_operator(function), f"__{name}__"))
        reflected = (_operator if name in _COMMUTATIVE else _reflected)(function)
        setattr(Tensor, f"__r{name}__", _named(reflected, f"__r{name}__"))
        setattr(Tensor, f"__i{name}__", _named(_in_place_operator(function), f"__i{name}__"))
    for name, function in _COMPARISONS.items():
        setattr(Tensor, f"__{name}__", _named(_operator(function), f"__{name}__"))
    for name, function in _UNARY.items():
        setattr(Tensor, f"__{name}__", spelled(function))
    for name, dtype in own_methods.CONVERSIONS.items():
        setattr(Tensor, name, _named(own_methods.conversion(dtype), name))


def _named(function: Function, name: str) -> Function:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    return function


attach()
