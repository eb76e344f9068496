"""The table of eager operations, continued: activation functions and random zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, IN_PLACE_FUNCTION, OUT, operation
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors import randomness
from gradscribe.runtime.tensors.tensor import Tensor

_CELU = Operation("Celu", composites.celu, ("alpha",), saved=("alpha:alpha self=0",))
_ELU = Operation("Elu", composites.elu, ("alpha", "scale"))
_HARDSHRINK = Operation(
    "Hardshrink", composites.hardshrink, ("lambd",), saved=("lambd:lambd self=0",)
)
_THRESHOLD = Operation(
    "Threshold", composites.threshold, ("threshold", "value"), saved=("threshold:threshold self=0",)
)
_PRELU = Operation("PreluKernel", composites.sloped)
_DROPOUT = Operation("Mul", np.multiply)
_RRELU = Operation("RreluWithNoise", composites.sloped)

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@operation(FUNCTION | IN_PLACE_FUNCTION, shapes="(…) -> (…)")
def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return apply(_CELU, (input,), (alpha,))


@operation(FUNCTION | IN_PLACE_FUNCTION, shapes="(…) -> (…)")
def selu(input: Tensor) -> Tensor:
    """The scaled exponential linear unit (Klambauer et al., 2017)."""
    return apply(_ELU, (input,), (_SELU_ALPHA, _SELU_SCALE))


@operation(BOTH | OUT, shapes="(…) -> (…)")
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The elements, 0 for those from -lambd to lambd."""
    return apply(_HARDSHRINK, (input,), (lambd,))


@operation(FUNCTION | IN_PLACE_FUNCTION | OUT, shapes="(…) -> (…)")
def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """The elements above the threshold, and a value for the others."""
    return apply(_THRESHOLD, (input,), (threshold, value))


@operation(BOTH, shapes="(n, c, …), (c) or (1) -> (n, c, …)")
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The elements, those below 0 times a weight: one for all, or one for each channel."""
    count = weight.array.size
    if count == 1:
        return apply(_PRELU, (input, weight.reshape(())))
    shape = input.array.shape
    channels = shape[1] if len(shape) > 1 else 1
    if count != channels:
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )
    return apply(_PRELU, (input, weight.reshape((-1,) + (1,) * (len(shape) - 2))))


@operation(FUNCTION | IN_PLACE_FUNCTION, shapes="(…) -> (…)")
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """The elements, those below 0 times a random slope: when not training, the mean one."""
    slope: Any = (lower + upper) / 2
    if training:
        slope = randomness.source().uniform(lower, upper, input.array.shape)
    return apply(_RRELU, (input, np.asarray(slope, input.array.dtype)))


@operation(FUNCTION | IN_PLACE_FUNCTION, shapes="(…) -> (…)")
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zeros for elements by chance, with probability p, the others scaled up."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if not train or p == 0:
        return input
    kept = randomness.source().random(input.array.shape) >= p
    scale = 1 / (1 - p) if p < 1 else 0.0
    return apply(_DROPOUT, (input, np.asarray(kept * scale, input.array.dtype)))
