"""In-place methods as functions of `gs`: those that PyTorch has there, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.runtime import methods as methods
from gradscribe.runtime.operations import activations, inplace
from gradscribe.runtime.tensors.tensor import Tensor

_NAMES = [
    "abs_",
    "acos_",
    "acosh_",
    "addmv_",
    "arccos_",
    "arccosh_",
    "arcsin_",
    "arcsinh_",
    "arctan_",
    "arctanh_",
    "as_strided_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "ceil_",
    "celu_",
    "clamp_",
    "clamp_max_",
    "clamp_min_",
    "clip_",
    "conj_physical_",
    "cos_",
    "cosh_",
    "deg2rad_",
    "detach",
    "detach_",
    "dropout_",
    "erf_",
    "erfc_",
    "exp2_",
    "exp_",
    "expm1_",
    "fill_",
    "fix_",
    "floor_",
    "frac_",
    "gcd_",
    "i0_",
    "index_put_",
    "lcm_",
    "ldexp_",
    "log10_",
    "log1p_",
    "log2_",
    "log_",
    "logit_",
    "nan_to_num_",
    "neg_",
    "negative_",
    "rad2deg_",
    "reciprocal_",
    "relu_",
    "round_",
    "rrelu_",
    "rsqrt_",
    "selu_",
    "sigmoid_",
    "sin_",
    "sinc_",
    "sinh_",
    "sqrt_",
    "square_",
    "tan_",
    "tanh_",
    "threshold_",
    "trunc_",
    "xlogy_",
    "zero_",
]

__all__ = ["fill", *_NAMES]


def _function(name: str) -> Callable[..., Any]:
    stem = name.removesuffix("_")

    def method(input: Tensor, *args: Any, **options: Any) -> Any:
        return getattr(input, name)(*args, **options)

    def update(input: Tensor, *args: Any, **options: Any) -> Tensor:
        return inplace.update(input, getattr(activations, stem), *args, **options)

    function = method if hasattr(Tensor, name) else update
    function.__name__ = function.__qualname__ = name
    function.__module__ = "gradscribe"
    function.__doc__ = f"`input.{name}(...)`."
    return function


def fill(input: Tensor, value: Any) -> Tensor:
    """A copy with all elements set to a value."""
    return input.clone().fill_(value)


globals().update({name: _function(name) for name in _NAMES})
