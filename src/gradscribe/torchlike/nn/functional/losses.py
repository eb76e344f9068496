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
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL, loss

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


def _of_two(
    row: Operation, input: Tensor, target: Tensor, reduction: str, weight: Any, *static: Any
) -> Tensor:
    """The loss of pairs of numbers, times a weight for each if there is one."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=5,
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


@loss()
def mse_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """(input - target)², for each pair of elements.

    weight: one for each loss; a mean is divided by their sum. ValueError for one of another shape;
    a warning where input and target are broadcast.
    """
    return _of_two(_MSE, input, target, reduction, weight)


@loss()
def l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """|input - target|, for each pair of elements. weight, warning: those of `mse_loss`."""
    return _of_two(_L1, input, target, reduction, weight)


@loss()
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """d² / (2 beta) up to beta, d - beta / 2 from there on, for each d = |input - target|.
    RuntimeError for beta below 0; a warning where input and target are broadcast."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return _of_two(_L1, input, target, reduction, None)
    return _of_two(_SMOOTH_L1, input, target, reduction, None, beta)


@loss(older="")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d² / 2 up to delta, delta * (d - delta / 2) from there on, for each d = |input - target|.

    weight, warning: those of `mse_loss`. RuntimeError for delta that is not above 0.
    """
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _of_two(_HUBER, input, target, reduction, weight, delta)


@loss(older="eps")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """rate - target * ln(rate): the negative log likelihood of counts, but for ln(target!).

    log_input: input is ln(rate), otherwise the rate, to which eps is added in the logarithm. full:
    with Stirling's approximation of ln(target!), for targets above 1.
    """
    return apply(_POISSON, alike((input, target)), (reduction, log_input, full, eps))


@FUNCTIONAL.operation(shapes='(…), (…), (…) or () -> (), or (…) where reduction is "none"')
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(ln(var) + (input - target)² / var) / 2: the negative log likelihood of normal numbers, whose
    means are input.

    var: a variance for each element, one for each along the last axis, or one for all; below eps
    it counts as eps, with the derivative that it has there. full: with ln(2π) / 2. reduction:
    "mean", "sum" or "none". ValueError for any other, and for a variance that is negative or of
    another shape.
    """
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


@loss(also="batchmean")
def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target * (ln(target) - input), of which the sum is the Kullback-Leibler divergence; input:
    logarithms of probabilities.

    log_target: target has logarithms, too. "batchmean": the sum over the length of the first axis.
    """
    return apply(_KL_DIV, alike((input, target)), (reduction, log_target))


@loss()
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-(target * ln(input) + (1 - target) * ln(1 - input)), logarithms being at least -100; times
    weight.

    ValueError where input and target differ in shape, RuntimeError for input outside [0, 1].
    """
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    if np.any((input.array < 0) | (input.array > 1)):
        raise RuntimeError("all elements of input should be between 0 and 1")
    weights = () if weight is None else (weight,)
    return apply(_BCE, alike((input, target, *weights)), (reduction,))


@loss()
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), also where that is near 0 or 1; pos_weight is a
    factor of its term target * ln(sigmoid(input)). ValueError where input and target differ in
    shape."""
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    first = () if weight is None else (weight,)
    last = () if pos_weight is None else (pos_weight,)
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


_CLASSES_ALONG = "(c) or (n, c, …), () or (n, …)"


@loss(_CLASSES_ALONG, "() or (n, …)", older="ignore_index")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-weight[k] * input[n, k], k being the class that is the target of n; input: logarithms of
    probabilities.

    weight: one for each class; a mean is divided by the sum of those used. ignore_index: a target
    whose loss is 0, and does not count. IndexError for a class that there is not, ValueError and
    RuntimeError for shapes that do not go together.
    """
    axis = _class_axis(input, target)
    _check_class_weights(weight, input.shape[axis])
    check_classes(target, input.shape[axis], ignore_index)
    weights = () if weight is None else (weight,)
    return apply(_NLL, (input, target, *weights), (axis, ignore_index, reduction))


@loss(_CLASSES_ALONG + " or that of input", "() or (n, …)", older="ignore_index")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of log_softmax(input), or -Σ target[n, k] * log_softmax(input)[n, k] where the
    target has a probability for each class k.

    weight, ignore_index, errors: those of `nll_loss`. label_smoothing: such a part of each target
    is shared by all classes; RuntimeError outside [0, 1].
    """
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
