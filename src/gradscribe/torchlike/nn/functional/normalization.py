"""Normalization of batches, layers, groups and instances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.size import sizes
from gradscribe.runtime.graph import grad_mode
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, inplace, reductions, shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.torchlike.nn.formulas import normalization as formulas
from gradscribe.torchlike.nn.functional.padding import pad
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL, SAME

_AFFINE = ("axes", "eps", "shape", "has_weight")
_LAYER_NORM = Operation("NativeLayerNorm", formulas.normalized, _AFFINE)
_BATCH_NORM = Operation("NativeBatchNorm", formulas.normalized, _AFFINE)
_BATCH_NORM_EVAL = Operation(
    "NativeBatchNorm", formulas.standardized, ("eps", "shape", "has_weight")
)
_GROUP_NORM = Operation("NativeGroupNorm", formulas.grouped, ("groups", "eps", "has_weight"))
_RMS_NORM = Operation("FusedRmsNorm", formulas.root_mean_square, ("axes", "eps", "shape"))
_OF_LAST = "(…, *normalized_shape) -> (…, *normalized_shape)"
_OF_CHANNELS = "(n, c, …), and (c) each of the others -> (n, c, …)"


def _parameters(*tensors: Tensor | None) -> tuple[Tensor, ...]:
    """Those that are given."""
    return tuple(tensor for tensor in tensors if tensor is not None)


def _trailing(input: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    """The last axes, of which `normalized_shape` has the lengths; raises PyTorch's error."""
    shape = sizes((normalized_shape,))
    rank = len(input.shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = {list(shape)}"
        )
    if rank < len(shape) or tuple(input.shape[rank - len(shape) :]) != shape:
        stars = ", ".join(map(str, shape))
        stars = f", {stars}" if stars else ""
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{stars}], but got "
            f"input of size{list(input.shape)}"
        )
    return tuple(range(rank - len(shape), rank))


@FUNCTIONAL.operation(shapes=_OF_LAST)
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps) * weight + bias, mean and variance being those of x over its
    last axes.

    normalized_shape: the lengths of these, which are those of weight and bias, too. RuntimeError
    where input does not have them.
    """
    axes = _trailing(input, normalized_shape)
    shape = tuple(input.shape[axes[0] :])
    operands = (input, *_parameters(weight, bias))
    return apply(_LAYER_NORM, operands, (axes, eps, shape, weight is not None))


@FUNCTIONAL.operation(shapes=_OF_LAST)
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """x / √(mean of x² + eps) * weight, the mean being that over the last axes.

    normalized_shape, errors: those of `layer_norm`. eps: by default, that of the dtype.
    """
    axes = _trailing(input, normalized_shape)
    if weight is not None and tuple(weight.shape) != tuple(input.shape[axes[0] :]):
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {list(input.shape[axes[0] :])}"
        )
    small = float(dtypes.finfo(input.dtype).eps) if eps is None else eps
    shape = tuple(input.shape[axes[0] :])
    return apply(_RMS_NORM, (input, *_parameters(weight)), (axes, small, shape))


@FUNCTIONAL.operation(shapes="(n, c, …), (c)?, (c)? -> (n, c, …)")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps) * weight + bias, mean and variance being those of each of
    num_groups parts of a sample's channels. RuntimeError where they cannot be so divided."""
    rank = len(input.shape)
    if rank < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {rank}")
    channels = input.shape[1]
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={num_groups}"
        )
    operands = (input, *_parameters(weight, bias))
    return apply(_GROUP_NORM, operands, (num_groups, eps, weight is not None))


def _moved(running: Tensor | None, found: Tensor, momentum: float) -> None:
    """Move a running average towards what was found."""
    if running is not None:
        with grad_mode.no_grad():
            old = elementwise.mul(running, 1 - momentum)
            inplace.assign(running, elementwise.add(old, elementwise.mul(found, momentum)))


@FUNCTIONAL.operation(shapes=_OF_CHANNELS)
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps) * weight + bias, for each channel.

    training: mean and variance are those of the batch, by a part `momentum` of which running_mean
    and running_var, if they are given, are moved; otherwise these count. ValueError for a batch of
    one element for each channel, RuntimeError where averages or axes are missing.
    """
    rank = len(input.shape)
    if rank < 2:
        raise RuntimeError(f"batch_norm: expected input of at least 2 dimensions, got {rank}")
    axes = (0, *range(2, rank))
    shape = (-1, *(1,) * (rank - 2))
    parameters = _parameters(weight, bias)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when training=False"
            )
        operands = (input, running_mean, running_var, *parameters)
        return apply(_BATCH_NORM_EVAL, operands, (eps, shape, weight is not None))
    count = math.prod(input.shape) // max(input.shape[1], 1)
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    if running_mean is not None or running_var is not None:
        plain = input.detach()
        _moved(running_mean, reductions.mean(plain, axes), momentum)
        _moved(running_var, reductions.var(plain, axes), momentum)
    static = (axes, eps, shape, weight is not None)
    return apply(_BATCH_NORM, (input, *parameters), static)


@FUNCTIONAL.operation(shapes=_OF_CHANNELS)
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps) * weight + bias, for each channel of each sample.

    use_input_stats: mean and variance are those of input, otherwise running_mean and running_var
    count; they are moved as by `batch_norm`. ValueError for channels of one element.
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    rank = len(input.shape)
    axes = tuple(range(2, rank))
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}"
        )
    if running_mean is not None or running_var is not None:
        plain = input.detach()
        _moved(running_mean, reductions.mean(plain, (0, *axes)), momentum)
        _moved(running_var, reductions.mean(reductions.var(plain, axes), 0), momentum)
    static = (axes, eps, (-1, *(1,) * (rank - 2)), weight is not None)
    return apply(_BATCH_NORM, (input, *_parameters(weight, bias)), static)


@FUNCTIONAL.operation(shapes=SAME)
def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: Any = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """x / max(‖x‖, eps), of the p-norm along the axis dim. out: where the result is put."""
    size = functions.norm(input, p, dim, True)
    result = functions.div(input, shaping.expand_as(functions.clamp_min(size, eps), input))
    return result if out is None else inplace.assign(out, result)


@FUNCTIONAL.operation(shapes="(n, c, …) -> (n, c, …)")
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha * mean of x² over `size` channels around)^beta (Krizhevsky et al., 2012).
    ValueError for less than three axes."""
    rank = len(input.shape)
    if rank < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {rank} "
            "dimensions)"
        )
    squares = elementwise.square(input)
    before, after = size // 2, (size - 1) // 2
    whole = pad(squares, (0, 0) * (rank - 2) + (before, after))
    channels = input.shape[1]
    total = whole[:, :channels]
    for shift in range(1, size):
        total = elementwise.add(total, whole[:, shift : shift + channels])
    scale = elementwise.add(elementwise.mul(functions.div(total, size), alpha), k)
    return functions.div(input, elementwise.pow(scale, beta))
