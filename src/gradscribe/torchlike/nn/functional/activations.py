"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.rows import FUNCTION
from gradscribe.runtime.operations import activations as functions_beside
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, reductions, special
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.randomness import Generator, source
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.nn.formulas import activations as formulas
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL, SAME, TWIN, changing, named

_HARDTANH = Operation("Hardtanh", formulas.between, ("low", "high"))
_ELU = Operation("Elu", formulas.elu, ("alpha",))
_GELU = Operation("Gelu", formulas.gelu_of_tanh)
_GLU = Operation("Glu", formulas.glu, ("axis",))
_LEAKY_RELU = Operation("LeakyRelu", composites.sloped, ("slope",))
_SOFTPLUS = Operation("Softplus", formulas.softplus, ("beta", "threshold"))
_SOFTSHRINK = Operation("Softshrink", formulas.softshrink, ("lambd",))

FUNCTIONAL.also("hardshrink", functions_beside.hardshrink, FUNCTION)
FUNCTIONAL.also("logsigmoid", elementwise.logsigmoid, FUNCTION)
FUNCTIONAL.also("prelu", functions_beside.prelu, FUNCTION)
FUNCTIONAL.also("sigmoid", elementwise.sigmoid, FUNCTION)
FUNCTIONAL.also("tanh", elementwise.tanh, FUNCTION)

special.by_scipy("gelu", "Gelu")


@changing(TWIN)
def relu(input: Tensor) -> Tensor:
    """max(x, 0), for each element x of input."""
    return elementwise.relu(input)


@changing()
def relu6(input: Tensor) -> Tensor:
    """min(max(x, 0), 6), for each element x of input."""
    return apply(_HARDTANH, (input,), (0.0, 6.0))


@changing(TWIN)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """min(max(x, min_val), max_val), for each element x of input. ValueError where min_val is above
    max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return apply(_HARDTANH, (input,), (min_val, max_val))


@changing(TWIN)
def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x above 0, negative_slope * x below, for each element x of input."""
    return apply(_LEAKY_RELU, (input,), (negative_slope,))


@changing(TWIN)
def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha * (e^x - 1) below, for each element x of input."""
    return apply(_ELU, (input,), (alpha,))


@changing(TWIN)
def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """max(x, 0) + min(alpha * (e^(x / alpha) - 1), 0), for each element x of input. RuntimeError
    where alpha is 0."""
    return functions_beside.celu(input, alpha)


@changing(TWIN)
def selu(input: Tensor) -> Tensor:
    """scale * x above 0, scale * alpha * (e^x - 1) below, for each element x of input; scale and
    alpha are such that mean 0 and variance 1 stay so (Klambauer et al., 2017)."""
    return functions_beside.selu(input)


@changing(TWIN)
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """x above 0, slope * x below, for each element x of input; training: each slope is drawn evenly
    from [lower, upper], else it is the mean of these."""
    return functions_beside.rrelu(input, lower, upper, training)


@changing(TWIN)
def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """x above the threshold, else value, for each element x of input."""
    return functions_beside.threshold(input, threshold, value)


def _made(name: str, meaning: str, operation: Operation, enter: Callable[..., Any]) -> None:
    """A function of each element, without parameters."""

    def function(input: Tensor) -> Tensor:
        return apply(operation, (input,))

    enter(named(function, name, f"{meaning}, for each element x of input."))


_SELF = ("self=0",)
_HARDSIGMOID = Operation("Hardsigmoid", formulas.hardsigmoid, saved=_SELF)
_HARDSWISH = Operation("Hardswish", formulas.hardswish, saved=_SELF)
_PLAIN = FUNCTIONAL.operation(shapes=SAME)

_made("hardsigmoid", "min(max(x / 6 + 1 / 2, 0), 1)", _HARDSIGMOID, changing())
_made("hardswish", "x * hardsigmoid(x)", _HARDSWISH, changing())
_made("mish", "x * tanh(softplus(x))", Operation("Mish", formulas.mish, saved=_SELF), changing())
_made("silu", "x * sigmoid(x)", Operation("Silu", formulas.silu, saved=_SELF), changing())
_made("softsign", "x / (1 + |x|)", Operation("Softsign", formulas.softsign), _PLAIN)
_made("tanhshrink", "x - tanh(x)", Operation("Tanhshrink", formulas.tanhshrink), _PLAIN)


@FUNCTIONAL.operation(shapes=SAME)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x * Φ(x), for each element x of input, Φ being the distribution function of the normal
    distribution.

    approximate: "none" (by the error function, which needs SciPy), or "tanh": x / 2 * (1 +
    tanh(√(2 / π) * (x + 0.044715 x³))). RuntimeError for any other.
    """
    if approximate == "tanh":
        return apply(_GELU, (input,))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return apply(special.row_of("gelu"), (input,))


@FUNCTIONAL.operation(shapes="(…, 2n) -> (…, n)")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b), a and b being the halves of input along the axis dim. RuntimeError where its
    length is odd."""
    rank = len(input.shape)
    if rank == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    length = input.shape[dim]
    if length % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % rank} is size {length}"
        )
    return apply(_GLU, (input,), (dim,))


@FUNCTIONAL.operation(shapes=SAME)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """ln(1 + e^(beta * x)) / beta, for each element x of input; x itself where beta * x is above
    the threshold."""
    return apply(_SOFTPLUS, (input,), (beta, threshold))


@FUNCTIONAL.operation(shapes=SAME)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """sign(x) * max(|x| - lambd, 0), for each element x of input. RuntimeError where lambd is below
    0."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return apply(_SOFTSHRINK, (input,), (lambd,))


_DTYPE = "dtype, or that of input"


def _axis(input: Tensor, dim: int | None) -> int:
    """The axis named, or that which PyTorch takes otherwise."""
    return dim if dim is not None else 0 if len(input.shape) in (0, 1, 3) else 1


@FUNCTIONAL.operation(shapes=SAME, dtypes=_DTYPE)
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """e^x / Σ e^x along the axis dim; by default 0 of one or three axes, else 1."""
    return reductions.softmax(input, _axis(input, dim), dtype=dtype)


@FUNCTIONAL.operation(shapes=SAME, dtypes=_DTYPE)
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of -x."""
    return softmax(elementwise.neg(input), dim, dtype=dtype)


@FUNCTIONAL.operation(shapes=SAME, dtypes=_DTYPE)
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """x - ln Σ e^x along the axis dim, the logarithm of `softmax`."""
    return reductions.log_softmax(input, _axis(input, dim), dtype=dtype)


@FUNCTIONAL.operation(shapes=SAME)
def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
    *,
    generator: Generator | np.random.Generator | None = None,
) -> Tensor:
    """softmax((logits + noise) / tau) along the axis dim, the noise being drawn from a Gumbel
    distribution (Jang et al., 2016).

    hard: 1 at the greatest element and 0 elsewhere, with the derivative of the above. eps: has no
    effect.
    """
    noise = source(generator).gumbel(size=logits.array.shape)
    shifted = elementwise.add(logits, wrap(np.asarray(noise, logits.array.dtype)))
    soft = reductions.softmax(functions.div(shifted, tau), dim)
    if not hard:
        return soft
    whole = soft.detach()
    corner = elementwise.eq(whole, reductions.amax(whole, dim, True)).to(whole.dtype)
    return elementwise.add(elementwise.sub(corner, whole), soft)
