"""Loss functions over arrays: the loss of each element, which is then reduced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.composites import log_softmax


def reduced(losses: Any, reduction: str) -> Any:
    """The losses, or their mean or sum."""
    if reduction == "mean":
        return np.mean(losses)
    return np.sum(losses) if reduction == "sum" else losses


# --- of numbers -------------------------------------------------------------------------------


def mse(x: Any, target: Any, reduction: str) -> Any:
    """The squares of the differences."""
    return reduced((x - target) ** 2, reduction)


def l1(x: Any, target: Any, reduction: str) -> Any:
    """The absolute values of the differences."""
    return reduced(np.abs(x - target), reduction)


def smooth_l1(x: Any, target: Any, reduction: str, beta: float) -> Any:
    """A parabola up to beta, and a line from there on, of slope 1."""
    size = np.abs(x - target)
    return reduced(np.where(size < beta, 0.5 * size**2 / beta, size - 0.5 * beta), reduction)


def huber(x: Any, target: Any, reduction: str, delta: float) -> Any:
    """A parabola up to delta, and a line from there on, of slope delta."""
    size = np.abs(x - target)
    return reduced(np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta)), reduction)


def poisson_nll(
    x: Any, target: Any, reduction: str, log_input: bool, full: bool, eps: float
) -> Any:
    """The negative log likelihood of counts, of which x is the (logarithm of the) rate."""
    losses = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    if full:
        counted = np.where(target > 1, target, 1)
        term = counted * np.log(counted) - counted + 0.5 * np.log(2 * np.pi * counted)
        losses = losses + np.where(target > 1, term, 0)
    return reduced(losses, reduction)


def gaussian_nll(x: Any, target: Any, variance: Any, reduction: str, full: bool) -> Any:
    """The negative log likelihood of numbers of which x is the mean."""
    losses = 0.5 * (np.log(variance) + (x - target) ** 2 / variance)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def kl_div(x: Any, target: Any, reduction: str, log_target: bool) -> Any:
    """The divergence of a distribution from the target; x has logarithms."""
    if log_target:
        losses = np.exp(target) * (target - x)
    else:
        losses = np.where(
            target == 0, -target * x, target * (np.log(np.where(target == 0, 1, target)) - x)
        )
    if reduction == "batchmean":
        return np.sum(losses) / x.shape[0]
    return reduced(losses, reduction)


# --- of probabilities -------------------------------------------------------------------------


def binary_cross_entropy(x: Any, target: Any, *weight: Any, reduction: str) -> Any:
    """Of probabilities; logarithms are at least -100."""
    lost = -(target * np.maximum(np.log(x), -100) + (1 - target) * np.maximum(np.log1p(-x), -100))
    return reduced(lost * weight[0] if len(weight) > 0 else lost, reduction)


def binary_cross_entropy_with_logits(
    x: Any, target: Any, *weights: Any, reduction: str, has_weight: bool
) -> Any:
    """Of logits. weights: of the elements, if has_weight, and of positive targets, if one more."""
    scale = 1 + (weights[-1] - 1) * target if len(weights) > (1 if has_weight else 0) else 1.0
    losses = (1 - target) * x + scale * np.logaddexp(0, -x)
    return reduced(losses * weights[0] if has_weight else losses, reduction)


def nll(x: Any, target: Any, *weight: Any, axis: int, ignored: int, reduction: str) -> Any:
    """-x of the target class, x being log probabilities along an axis; 0 where it is ignored."""
    kept = target != ignored
    index = np.where(kept, target, 0)
    chosen = np.squeeze(np.take_along_axis(x, np.expand_dims(index, axis), axis), axis)
    scale = np.where(kept, weight[0][index] if len(weight) > 0 else 1, 0).astype(x.dtype)
    losses = np.where(kept, -chosen * scale, 0)
    if reduction == "mean":
        return np.sum(losses) / np.sum(scale)
    return reduced(losses, reduction)


def cross_entropy(
    x: Any, target: Any, *weight: Any, axis: int, ignored: int, reduction: str, smoothing: float
) -> Any:
    """`nll` of the logarithms of the softmax of x; part of each target goes to all classes."""
    logarithms = log_softmax(x, axis)
    sharp = nll(logarithms, target, *weight, axis=axis, ignored=ignored, reduction=reduction)
    if smoothing == 0:
        return sharp
    kept = target != ignored
    weighted = weighted_classes(logarithms, weight, axis)
    losses = np.where(kept, -np.sum(weighted, axis), 0)
    if reduction == "mean":
        index = np.where(kept, target, 0)
        scale = np.where(kept, weight[0][index] if len(weight) > 0 else 1, 0).astype(x.dtype)
        even = np.sum(losses) / np.sum(scale)
    else:
        even = reduced(losses, reduction)
    return (1 - smoothing) * sharp + smoothing / x.shape[axis] * even


def cross_entropy_of_probabilities(
    x: Any, target: Any, *weight: Any, axis: int, reduction: str, smoothing: float
) -> Any:
    """The cross entropy where the target has a probability for each class."""
    wanted = target * (1 - smoothing) + smoothing / x.shape[axis] if smoothing > 0 else target
    losses = -np.sum(wanted * weighted_classes(log_softmax(x, axis), weight, axis), axis)
    if reduction == "mean":
        return np.sum(losses) / (x.size // x.shape[axis])
    return reduced(losses, reduction)


def weighted_classes(x: Any, weight: Any, axis: int) -> Any:
    """x times the weight of each class along an axis."""
    if len(weight) == 0:
        return x
    return x * np.reshape(weight[0], (-1, *(1,) * (x.ndim - 1 - axis)))


# --- of margins -------------------------------------------------------------------------------


def at_least_zero(x: Any) -> Any:
    """max(x, 0), with derivative 1 at 0."""
    return np.where(x < 0, 0, x)


def hinge_embedding(x: Any, target: Any, reduction: str, margin: float) -> Any:
    """x where the target is 1, and how much is missing to the margin where it is -1."""
    apart = np.where(target == 1, 0, at_least_zero(margin - x))
    return reduced(apart + np.where(target == -1, 0, x), reduction)


def margin_ranking(first: Any, second: Any, target: Any, reduction: str, margin: float) -> Any:
    """How much is missing for the first to be greater (target 1) or smaller by a margin."""
    return reduced(at_least_zero(-target * (first - second) + margin), reduction)


def soft_margin(x: Any, target: Any, reduction: str) -> Any:
    """log(1 + exp(-target * x))."""
    return reduced(np.logaddexp(0, -target * x), reduction)


def triplet(positive: Any, negative: Any, reduction: str, margin: float) -> Any:
    """How much is missing for one distance to be greater by a margin than another."""
    return reduced(at_least_zero(margin + positive - negative), reduction)


def cosine_embedding(cosine: Any, target: Any, reduction: str, margin: float) -> Any:
    """1 - cosine where the target is 1, how much it is above the margin where it is -1."""
    near = np.where(target == 1, 1 - cosine, 0)
    return reduced(near + np.where(target == -1, at_least_zero(cosine - margin), 0), reduction)


def multi_margin(x: Any, target: Any, *weight: Any, reduction: str, p: int, margin: float) -> Any:
    """For each class but the target: how much the target is missing to be greater by a margin."""
    chosen = np.take_along_axis(x, target[:, None], 1)
    missing = at_least_zero(margin - chosen + x) ** p
    if len(weight) > 0:
        missing = missing * weight[0][target][:, None]
    others = np.arange(x.shape[1]) != target[:, None]
    return reduced(np.sum(np.where(others, missing, 0), 1) / x.shape[1], reduction)


def multilabel_margin(x: Any, target: Any, is_target: Any, reduction: str) -> Any:
    """For each pair of a target class and another: how much is missing to a margin of 1.
    target: classes, which end at the first -1; is_target: which classes are among them."""
    counted = np.cumsum(target < 0, axis=1) == 0
    chosen = np.take_along_axis(x, np.where(counted, target, 0), 1)
    missing = at_least_zero(1 - chosen[:, :, None] + x[:, None, :])
    pairs = counted[:, :, None] & (is_target[:, None, :] == 0)
    losses = np.sum(np.where(pairs, missing, 0), (1, 2)) / x.shape[1]
    return reduced(losses, reduction)


def multilabel_soft_margin(x: Any, target: Any, *weight: Any, reduction: str) -> Any:
    """The binary cross entropies of logits, averaged over the classes."""
    losses = target * np.logaddexp(0, -x) + (1 - target) * np.logaddexp(0, x)
    weighted = losses * weight[0] if len(weight) > 0 else losses
    return reduced(np.mean(weighted, axis=-1), reduction)
