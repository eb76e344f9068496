"""Loss functions that ask for a margin between what belongs together and what does not."""

from __future__ import annotations

from collections.abc import Callable

from gradscribe.runtime.operations import calculus, elementwise, reductions, shaping
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors import constants
from gradscribe.runtime.tensors.promotion import alike
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.torchlike.nn.formulas import losses as formulas
from gradscribe.torchlike.nn.functional.losses import check_classes
from gradscribe.torchlike.nn.functional.rows import loss

_R = ("reduction",)
_HINGE = Operation("HingeEmbeddingLoss", formulas.hinge_embedding, (*_R, "margin"))
_RANKING = Operation("MarginRankingLoss", formulas.margin_ranking, (*_R, "margin"))
_SOFT_MARGIN = Operation("SoftMarginLoss", formulas.soft_margin, _R)
_TRIPLET = Operation("TripletMarginLoss", formulas.triplet, (*_R, "margin"))
_COSINE = Operation("CosineEmbeddingLoss", formulas.cosine_embedding, (*_R, "margin"))
_MULTI_MARGIN = Operation("MultiMarginLoss", formulas.multi_margin, (*_R, "p", "margin"))
_MULTILABEL_MARGIN = Operation("MultilabelMarginLoss", formulas.multilabel_margin, _R)
_MULTILABEL_SOFT = Operation("MultilabelSoftMarginLoss", formulas.multilabel_soft_margin, _R)


@loss()
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """input where the target is 1, max(margin - input, 0) where it is -1."""
    return apply(_HINGE, alike((input, target)), (reduction, margin))


@loss("(…), (…), (…)")
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean"
) -> Tensor:
    """max(margin - target * (input1 - input2), 0): input1 should be the greater by a margin where
    the target is 1, the smaller where it is -1. RuntimeError for different numbers of axes."""
    ranks = [len(each.shape) for each in (input1, input2, target)]
    if not ranks[0] == ranks[1] == ranks[2]:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return apply(_RANKING, alike((input1, input2, target)), (reduction, margin))


@loss()
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """ln(1 + e^(-target * input)); target: 1 or -1."""
    return apply(_SOFT_MARGIN, alike((input, target)), (reduction,))


@loss("(…, k), (…, k), (…)")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean"
) -> Tensor:
    """1 - cosine where the target is 1, max(cosine - margin, 0) where it is -1, the cosine being
    that of the angle between vectors along the last axis."""
    products_ = reductions.sum(elementwise.mul(input1, input2), -1)
    first = elementwise.add(reductions.sum(elementwise.square(input1), -1), 1e-12)
    second = elementwise.add(reductions.sum(elementwise.square(input2), -1), 1e-12)
    cosine = functions.div(products_, elementwise.sqrt(elementwise.mul(first, second)))
    return apply(_COSINE, alike((cosine, target)), (reduction, margin))


@loss("(…, k), (…, k), (…, k)")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(margin + |anchor - positive| - |anchor - negative|, 0), of p-norms along the last axis.

    eps: is added to the differences. swap: |positive - negative| counts where that is the smaller.
    ValueError for a margin that is not above 0, RuntimeError for different numbers of axes.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    ranks = [len(each.shape) for each in (anchor, positive, negative)]
    if not ranks[0] == ranks[1] == ranks[2]:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative "
            f"{ranks[2]}D inputs"
        )

    def distance(first: Tensor, second: Tensor) -> Tensor:
        return calculus.pairwise_distance(first, second, p, eps)

    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=distance,
        margin=margin,
        swap=swap,
        reduction=reduction,
    )


@loss("(…, k), (…, k), (…, k)", older="")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own: a function of two Tensors, by default
    `pairwise_distance`."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = calculus.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = elementwise.minimum(far, distance(positive, negative))
    return apply(_TRIPLET, (near, far), (reduction, margin))


def _check_rows(rows: Tensor) -> None:
    """Raise PyTorch's error for rows without elements."""
    if len(rows.shape) != 2 or rows.shape[1] == 0:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(rows.shape)}"
        )


@loss("(n?, c), (n) or ()", "(n?)")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Σ max(margin - input[n, k] + input[n, i], 0)^p / c over all classes i but the target k of n;
    times weight[k].

    p: 1 or 2; ValueError for any other. IndexError for a class that there is not, RuntimeError for
    shapes that do not go together.
    """
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    is_single = len(input.shape) < 2
    rows = shaping.reshape(input, (1, -1)) if is_single else input
    classes = shaping.reshape(target, -1)
    _check_rows(rows)
    if classes.shape[0] != rows.shape[0] or len(target.shape) > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows.shape[0]}], but got "
            f"{list(target.shape)}"
        )
    check_classes(classes, rows.shape[1], rows.shape[1])
    weights = () if weight is None else (weight,)
    losses = apply(_MULTI_MARGIN, (rows, classes, *weights), (reduction, p, margin))
    return shaping.squeeze(losses, 0) if is_single and reduction == "none" else losses


@loss("(n?, c), (n?, c)", "(n?)")
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Σ max(1 - input[n, k] + input[n, i], 0) / c over all target classes k of n and all others i.
    target: classes in each row, up to the first -1. RuntimeError for shapes that do not go
    together."""
    is_single = len(input.shape) < 2
    rows = shaping.reshape(input, (1, -1)) if is_single else input
    classes = shaping.reshape(target, (1, -1)) if is_single else target
    _check_rows(rows)
    if classes.shape != rows.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    counted = elementwise.eq(reductions.cumsum(elementwise.lt(classes, 0), 1), 0)
    places = functions.where(counted, classes, 0)
    is_target = constants.zeros_like(rows.detach()).scatter_add(1, places, counted.to(rows.dtype))
    losses = apply(_MULTILABEL_MARGIN, (rows, classes, is_target), (reduction,))
    return shaping.squeeze(losses, 0) if is_single and reduction == "none" else losses


@loss("(…, c), (…, c)")
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean of weight * `binary_cross_entropy_with_logits` over the last axis."""
    weights = () if weight is None else (weight,)
    return apply(_MULTILABEL_SOFT, alike((input, target, *weights)), (reduction,))
