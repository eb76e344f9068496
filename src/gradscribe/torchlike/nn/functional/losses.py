"""Loss functions: of numbers, of probabilities, of classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, reductions, shaping
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors import queries
from gradscribe.runtime.tensors.promotion import alike
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.torchlike.nn.formulas import losses as formulas

# fmt: off
__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
    "gaussian_nll_loss", "huber_loss", "kl_div", "l1_loss", "mse_loss", "nll_loss",
    "poisson_nll_loss", "smooth_l1_loss",
]
# fmt: on

_R = ("reduction",)
_MSE = Operation("MseLoss", formulas.mse, _R)
_L1 = Operation("L1Loss", formulas.l1, _R)
_SMOOTH_L1 = Operation("SmoothL1Loss", formulas.smooth_l1, (*_R, "beta"))
_HUBER = Operation("HuberLoss", formulas.huber, (*_R, "delta"))
_POISSON = Operation("PoissonNllLoss", formulas.poisson_nll, (*_R, "log_input", "full", "eps"))
_GAUSSIAN = Operation("GaussianNllLoss", formulas.gaussian_nll, (*_R, "full"))
_KL_DIV = Operation("KlDiv", formulas.kl_div, (*_R, "log_target"))
_BCE = Operation("BinaryCrossEntropy", formulas.binary_cross_entropy, _R)
_BCE_LOGITS = Operation(
    "BinaryCrossEntropyWithLogits",
    formulas.binary_cross_entropy_with_logits,
    (*_R, "has_weight"),
)
_CLASSES = ("axis", "ignored", "reduction")
_NLL = Operation("NllLoss", formulas.nll, _CLASSES)
_CROSS_ENTROPY = Operation("CrossEntropyLoss", formulas.cross_entropy, (*_CLASSES, "smoothing"))
_CROSS_ENTROPY_OF_PROBABILITIES = Operation(
    "CrossEntropyLoss",
    formulas.cross_entropy_of_probabilities,
    ("axis", "reduction", "smoothing"),
)


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction; also as the arguments say that PyTorch had for it before."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _of_two(
    row: Operation, input: Tensor, target: Tensor, reduction: str, weight: Any, *static: Any
) -> Tensor:
    """The loss of pairs of numbers, times a weight for each if there is one."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=4,
        )
    operands = alike((input, target))
    if weight is None:
        return apply(row, operands, (reduction, *static))
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = elementwise.mul(apply(row, operands, ("none", *static)), weight)
    if reduction == "mean":
        return functions.div(reductions.sum(losses), reductions.sum(weight))
    return reductions.sum(losses) if reduction == "sum" else losses


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squares of the differences."""
    return _of_two(_MSE, input, target, reduction_of(size_average, reduce, reduction), weight)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute values of the differences."""
    return _of_two(_L1, input, target, reduction_of(size_average, reduce, reduction), weight)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """A parabola up to beta, and a line of slope 1 from there on."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    reduction = reduction_of(size_average, reduce, reduction)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return _of_two(_SMOOTH_L1, input, target, reduction, None, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """A parabola up to delta, and a line of slope delta from there on."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _of_two(_HUBER, input, target, reduction_of(None, None, reduction), weight, delta)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts; input: the rates, or their logarithms."""
    reduction = reduction_of(size_average, reduce, reduction)
    return apply(_POISSON, alike((input, target)), (reduction, log_input, full, eps))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of numbers; input: the means. Variances below eps count as eps,
    with the derivative that they have there."""
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = elementwise.add(elementwise.mul(input.detach(), 0), var)
    if len(var.shape) == len(input.shape) - 1 and var.shape == input.shape[:-1]:
        var = shaping.unsqueeze(var, -1)
    if len(var.shape) != len(input.shape) or any(
        length not in (1, whole) for length, whole in zip(var.shape, input.shape, strict=True)
    ):
        raise ValueError("var is of incorrect size")
    if bool(reductions.any(elementwise.lt(var.detach(), 0))):
        raise ValueError("var has negative entry/entries")
    given = var.detach()
    raised = elementwise.add(var, elementwise.sub(functions.clamp(given, min=eps), given))
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    operands = alike((input, target, raised))
    return apply(_GAUSSIAN, operands, (reduction, full))


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence; input: logarithms of probabilities. reduction: "batchmean"
    gives the divergence itself, averaged over the first axis."""
    if reduction != "batchmean":
        reduction = reduction_of(size_average, reduce, reduction)
    return apply(_KL_DIV, alike((input, target)), (reduction, log_target))


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy of probabilities of yes."""
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    if np.any((input.array < 0) | (input.array > 1)):
        raise RuntimeError("all elements of input should be between 0 and 1")
    weights = () if weight is None else (weight,)
    reduction = reduction_of(size_average, reduce, reduction)
    return apply(_BCE, alike((input, target, *weights)), (reduction,))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input)."""
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    first = () if weight is None else (weight,)
    last = () if pos_weight is None else (pos_weight,)
    reduction = reduction_of(size_average, reduce, reduction)
    operands = alike((input, target, *first, *last))
    return apply(_BCE_LOGITS, operands, (reduction, weight is not None))


def _class_axis(input: Tensor, target: Tensor) -> int:
    """The axis of classes; raises PyTorch's errors for targets of another shape."""
    rank = len(input.shape)
    axis = 0 if rank == 1 else 1
    if rank == 0:
        raise ValueError(f"Expected input batch_size ({0}) to match target batch_size ({0}).")
    if rank > 1 and input.shape[0] != (target.shape[0] if len(target.shape) else 0):
        count = target.shape[0] if len(target.shape) else 0
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({count})."
        )
    if target.shape != input.shape[:axis] + input.shape[axis + 1 :]:
        raise RuntimeError(
            f"Expected target size {list(input.shape[:axis] + input.shape[axis + 1 :])}, got "
            f"{list(target.shape)}"
        )
    return axis


def check_classes(target: Tensor, count: int, ignored: int) -> None:
    """Raise PyTorch's error for a class that there is not."""
    classes = np.ravel(target.array)
    is_wrong = ((classes < 0) | (classes >= count)) & (classes != ignored)
    if np.any(is_wrong):
        raise IndexError(f"Target {classes[np.argmax(is_wrong)]} is out of bounds.")


def _check_class_weights(weight: Tensor | None, count: int) -> None:
    if weight is not None and tuple(weight.shape) != (count,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {count} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-input of the target class; input: logarithms of probabilities, classes along axis 1."""
    reduction = reduction_of(size_average, reduce, reduction)
    axis = _class_axis(input, target)
    _check_class_weights(weight, input.shape[axis])
    check_classes(target, input.shape[axis], ignore_index)
    weights = () if weight is None else (weight,)
    return apply(_NLL, (input, target, *weights), (axis, ignore_index, reduction))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of softmax(input), classes along axis 1; target: classes, or a probability
    for each."""
    reduction = reduction_of(size_average, reduce, reduction)
    weights = () if weight is None else (weight,)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if queries.is_floating_point(target):
        if target.shape != input.shape:
            raise RuntimeError("expected scalar type Long but found a floating point target")
        axis = 0 if len(input.shape) == 1 else 1
        static: tuple[Any, ...] = (axis, reduction, label_smoothing)
        return apply(_CROSS_ENTROPY_OF_PROBABILITIES, (input, target, *weights), static)
    axis = _class_axis(input, target)
    _check_class_weights(weight, input.shape[axis])
    check_classes(target, input.shape[axis], ignore_index)
    static = (axis, ignore_index, reduction, label_smoothing)
    return apply(_CROSS_ENTROPY, (input, target, *weights), static)
