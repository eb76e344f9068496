"""What the functions of `gs.nn.functional` are, in loops over NumPy arrays: independent of them."""

import itertools
import math

import numpy as np


def elementwise(f):
    return lambda x, *args, **kwargs: np.vectorize(lambda v: f(float(v), *args, **kwargs))(x)


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


ACTIVATIONS = {
    "celu": elementwise(lambda v: v if v > 0 else math.expm1(v)),
    "elu": elementwise(lambda v: v if v > 0 else math.expm1(v)),
    "gelu": elementwise(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2)))),
    "hardshrink": elementwise(lambda v: v if abs(v) > 0.5 else 0.0),
    "hardsigmoid": elementwise(lambda v: min(max(v / 6 + 0.5, 0), 1)),
    "hardswish": elementwise(lambda v: v * min(max(v / 6 + 0.5, 0), 1)),
    "hardtanh": elementwise(lambda v: min(max(v, -1), 1)),
    "leaky_relu": elementwise(lambda v: v if v > 0 else 0.01 * v),
    "logsigmoid": elementwise(lambda v: math.log(sigmoid(v))),
    "mish": elementwise(lambda v: v * math.tanh(math.log1p(math.exp(v)))),
    "relu": elementwise(lambda v: max(v, 0)),
    "relu6": elementwise(lambda v: min(max(v, 0), 6)),
    "selu": elementwise(
        lambda v: 1.0507009873554805 * (v if v > 0 else 1.6732632423543772 * math.expm1(v))
    ),
    "sigmoid": elementwise(sigmoid),
    "silu": elementwise(lambda v: v * sigmoid(v)),
    "softplus": elementwise(lambda v: math.log1p(math.exp(v))),
    "softshrink": elementwise(lambda v: math.copysign(max(abs(v) - 0.5, 0), v)),
    "softsign": elementwise(lambda v: v / (1 + abs(v))),
    "tanh": elementwise(math.tanh),
    "tanhshrink": elementwise(lambda v: v - math.tanh(v)),
}


def softmax(x, axis):
    powers = np.exp(x)
    return powers / powers.sum(axis, keepdims=True)


def glu(x):
    half = x.shape[-1] // 2
    return x[..., :half] / (1 + np.exp(-x[..., half:]))


def pairs(f):
    """The mean of a loss of pairs of numbers."""
    return lambda x, y: np.mean([f(a, b) for a, b in zip(x.ravel(), y.ravel(), strict=True)])


LOSSES_OF_PAIRS = {
    "mse_loss": pairs(lambda a, b: (a - b) ** 2),
    "l1_loss": pairs(lambda a, b: abs(a - b)),
    "smooth_l1_loss": pairs(
        lambda a, b: 0.5 * (a - b) ** 2 if abs(a - b) < 1 else abs(a - b) - 0.5
    ),
    "huber_loss": pairs(lambda a, b: 0.5 * (a - b) ** 2 if abs(a - b) < 1 else abs(a - b) - 0.5),
    "soft_margin_loss": pairs(lambda a, b: math.log1p(math.exp(-a * b))),
    "poisson_nll_loss": pairs(lambda a, b: math.exp(a) - a * b),
    "binary_cross_entropy_with_logits": pairs(
        lambda a, b: -b * math.log(sigmoid(a)) - (1 - b) * math.log(1 - sigmoid(a))
    ),
}


def cross_entropy(x, target, weight=None, ignore_index=-100, label_smoothing=0.0):
    """Of rows of logits and classes."""
    total, scale, count = 0.0, 0.0, x.shape[1]
    weight = np.ones(count) if weight is None else weight
    for row, wanted in zip(x, target, strict=True):
        if wanted == ignore_index:
            continue
        logarithms = np.log(softmax(row, 0))
        even = sum(weight[k] * logarithms[k] for k in range(count)) / count
        sharp = weight[wanted] * logarithms[wanted]
        total -= (1 - label_smoothing) * sharp + label_smoothing * even
        scale += weight[wanted]
    return total / scale


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def group_norm(x, groups):
    result = np.empty_like(x)
    for sample in range(x.shape[0]):
        for part in np.split(np.arange(x.shape[1]), groups):
            result[sample, part] = normalized(x[sample, part], None)
    return result


def convolved(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """A convolution with the same numbers for all axes."""
    space = x.ndim - 2
    x = np.pad(x, ((0, 0), (0, 0), *((padding, padding),) * space))
    counts = [
        (n - dilation * (k - 1) - 1) // stride + 1
        for n, k in zip(x.shape[2:], weight.shape[2:], strict=True)
    ]
    result = np.zeros((x.shape[0], weight.shape[0], *counts))
    each, given = weight.shape[0] // groups, weight.shape[1]
    for sample, out in itertools.product(range(x.shape[0]), range(weight.shape[0])):
        first = out // each * given
        for place in np.ndindex(*counts):
            for c, *offset in np.ndindex(*weight.shape[1:]):
                at = [p * stride + o * dilation for p, o in zip(place, offset, strict=True)]
                value = x[(sample, first + c, *at)] * weight[(out, c, *offset)]
                result[(sample, out, *place)] += value
        if bias is not None:
            result[sample, out] += bias[out]
    return result


def pooled(x, kernel, function, stride=None, padding=0, filling=0.0):
    """A function of what each position of a window meets."""
    space, stride = x.ndim - 2, kernel if stride is None else stride
    x = np.pad(x, ((0, 0), (0, 0), *((padding, padding),) * space), constant_values=filling)
    counts = [(n - kernel) // stride + 1 for n in x.shape[2:]]
    result = np.zeros((*x.shape[:2], *counts))
    for place in np.ndindex(*counts):
        window = tuple(slice(p * stride, p * stride + kernel) for p in place)
        met = x[(slice(None), slice(None), *window)].reshape(*x.shape[:2], -1)
        result[(slice(None), slice(None), *place)] = function(met, -1)
    return result


def adaptively_pooled(x, count, function):
    """A function of each of `count` parts of the last axis."""
    length = x.shape[-1]
    parts = [
        function(x[..., i * length // count : -(-(i + 1) * length // count)], -1)
        for i in range(count)
    ]
    return np.stack(parts, -1)


def linearly_resampled(row, count, align_corners):
    """A row of numbers, at `count` places."""
    length, found = len(row), []
    for i in range(count):
        at = (i + 0.5) * length / count - 0.5
        if align_corners:
            at = i * (length - 1) / (count - 1)
        found.append(np.interp(at, np.arange(length), row))
    return np.array(found)


def attention(query, key, value):
    return softmax(query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1]), -1) @ value


def cosines(x, y):
    """Of the angles between vectors along the last axis."""
    lengths = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    return (x * y).sum(-1) / lengths
