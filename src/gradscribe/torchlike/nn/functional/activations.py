"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.operations import activations as functions_beside
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, inplace, reductions, special
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.randomness import Generator, source
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import activations as formulas

# fmt: off
__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid",
    "hardswish", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid",
    "mish", "prelu", "relu", "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink",
    "threshold", "threshold_",
]
# fmt: on

_HARDTANH = Operation("Hardtanh", formulas.between, ("low", "high"))
_ELU = Operation("Elu", formulas.elu, ("alpha",))
_GELU = Operation("Gelu", formulas.gelu_of_tanh)
_GLU = Operation("Glu", formulas.glu, ("axis",))
_HARDSIGMOID = Operation("Hardsigmoid", formulas.hardsigmoid, saved=("self=0",))
_HARDSWISH = Operation("Hardswish", formulas.hardswish, saved=("self=0",))
_LEAKY_RELU = Operation("LeakyRelu", composites.sloped, ("slope",))
_MISH = Operation("Mish", formulas.mish, saved=("self=0",))
_SILU = Operation("Silu", formulas.silu, saved=("self=0",))
_SOFTPLUS = Operation("Softplus", formulas.softplus, ("beta", "threshold"))
_SOFTSHRINK = Operation("Softshrink", formulas.softshrink, ("lambd",))
_SOFTSIGN = Operation("Softsign", formulas.softsign)
_TANHSHRINK = Operation("Tanhshrink", formulas.tanhshrink)

hardshrink = functions_beside.hardshrink
logsigmoid = elementwise.logsigmoid
prelu = functions_beside.prelu
sigmoid = elementwise.sigmoid
tanh = elementwise.tanh

special.by_scipy("gelu", "Gelu")


def _given(function: Callable[..., Tensor], input: Tensor, inplace_: bool, *args: Any) -> Tensor:
    """The function of the input, or the input changed to it."""
    if inplace_:
        return inplace.update(input, function, *args)
    return function(input, *args)


def _leaky(input: Tensor, slope: float) -> Tensor:
    return apply(_LEAKY_RELU, (input,), (slope,))


def _between(input: Tensor, low: float, high: float) -> Tensor:
    return apply(_HARDTANH, (input,), (low, high))


def _elu(input: Tensor, alpha: float) -> Tensor:
    return apply(_ELU, (input,), (alpha,))


def _hardsigmoid(input: Tensor) -> Tensor:
    return apply(_HARDSIGMOID, (input,))


def _hardswish(input: Tensor) -> Tensor:
    return apply(_HARDSWISH, (input,))


def _mish(input: Tensor) -> Tensor:
    return apply(_MISH, (input,))


def _silu(input: Tensor) -> Tensor:
    return apply(_SILU, (input,))


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return _given(elementwise.relu, input, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x limited to [0, 6]."""
    return _given(_between, input, inplace, 0.0, 6.0)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _given(_between, input, inplace, min_val, max_val)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, negative_slope * x below."""
    return _given(_leaky, input, inplace, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha * (exp(x) - 1) below."""
    return _given(_elu, input, inplace, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
    return _given(functions_beside.celu, input, inplace, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled exponential linear unit (Klambauer et al., 2017)."""
    return _given(functions_beside.selu, input, inplace)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x above 0, x times a random slope below (the mean one, when not training)."""
    return _given(functions_beside.rrelu, input, inplace, lower, upper, training)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above the threshold, else a value."""
    return _given(functions_beside.threshold, input, inplace, threshold, value)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A line from 0 at -3 to 1 at 3."""
    return _given(_hardsigmoid, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return _given(_hardswish, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _given(_mish, input, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _given(_silu, input, inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the distribution function of the normal distribution; by SciPy's erf, or
    approximate="tanh"."""
    if approximate == "tanh":
        return apply(_GELU, (input,))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return apply(special.row_of("gelu"), (input,))


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along an axis times the sigmoid of the second."""
    rank = len(input.shape)
    if rank == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    length = input.shape[dim]
    if length % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % rank} is size {length}"
        )
    return apply(_GLU, (input,), (dim,))


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold."""
    return apply(_SOFTPLUS, (input,), (beta, threshold))


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x nearer to 0 by lambd, and 0 from -lambd to lambd."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return apply(_SOFTSHRINK, (input,), (lambd,))


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return apply(_SOFTSIGN, (input,))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return apply(_TANHSHRINK, (input,))


def _default_axis(rank: int) -> int:
    return 0 if rank in (0, 1, 3) else 1


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    axis = _default_axis(len(input.shape)) if dim is None else dim
    return reductions.softmax(input, axis, dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of -x."""
    return softmax(elementwise.neg(input), dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """log(softmax(x)) along an axis."""
    axis = _default_axis(len(input.shape)) if dim is None else dim
    return reductions.log_softmax(input, axis, dtype=dtype)


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
    *,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """A random point near a corner of the simplex (Jang et al., 2016); hard: the corner itself,
    with the derivative of the point."""
    noise = source(generator).gumbel(size=logits.array.shape)
    shifted = elementwise.add(logits, wrap(np.asarray(noise, logits.array.dtype)))
    soft = reductions.softmax(functions.div(shifted, tau), dim)
    if not hard:
        return soft
    whole = soft.detach()
    corner = elementwise.eq(whole, reductions.amax(whole, dim, True)).to(whole.dtype)
    return elementwise.add(elementwise.sub(corner, whole), soft)


def relu_(input: Tensor) -> Tensor:
    """`relu`, in place."""
    return relu(input, True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh`, in place."""
    return hardtanh(input, min_val, max_val, True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu`, in place."""
    return leaky_relu(input, negative_slope, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, in place."""
    return elu(input, alpha, True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu`, in place."""
    return celu(input, alpha, True)


def selu_(input: Tensor) -> Tensor:
    """`selu`, in place."""
    return selu(input, True)


def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """`rrelu`, in place."""
    return rrelu(input, lower, upper, training, True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold`, in place."""
    return _given(functions_beside.threshold, input, True, threshold, value)
