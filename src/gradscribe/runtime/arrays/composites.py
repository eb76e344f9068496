"""Operations that NumPy does not have, as plain functions over arrays.

The compiler differentiates them like a user's own functions; eager Tensors record each as one
node. They are written so that neither the value nor the derivative overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    small = np.exp(-np.where(x < 0, -x, x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


def relu(x: Any) -> Any:
    """max(x, 0), with derivative 0 at 0."""
    return np.where(x <= 0, 0, x)


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return np.logaddexp(0.0, x)


def logsigmoid(x: Any) -> Any:
    """log(sigmoid(x))."""
    return -np.logaddexp(0.0, -x)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1.0 / np.sqrt(x)


def cut(x: Any) -> Any:
    """x itself; compiled code takes no derivative of it. For what a result does not depend on."""
    return x


def highest(x: Any, axis: Any) -> Any:
    """The greatest (real part of an) element along an axis, which is kept; it may have no
    elements."""
    return cut(np.max(np.real(x), axis=axis, keepdims=True, initial=-np.inf))


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))), shifted by the maximum."""
    shift = highest(x, axis)
    shift = np.where(np.isfinite(shift), shift, 0)
    total = np.sum(np.exp(x - shift), axis=axis, keepdims=True)
    result = np.log(total) + shift
    return result if keepdims else np.squeeze(result, axis=axis)


def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x))."""
    powers = np.exp(x - highest(x, axis))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """log(softmax(x))."""
    shifted = x - highest(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def var_mean(x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    """The variance and the mean."""
    variance = np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)
    return variance, np.mean(x, axis=axis, keepdims=keepdims)


def std_mean(x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    """The standard deviation and the mean."""
    deviation = np.std(x, axis=axis, ddof=ddof, keepdims=keepdims)
    return deviation, np.mean(x, axis=axis, keepdims=keepdims)


def flip(x: Any, axis: Any) -> Any:
    """A copy with these axes in the other direction."""
    return np.copy(np.flip(x, axis))


def clone(x: Any) -> Any:
    """A copy, in memory as x."""
    return np.copy(x) if np.ndim(x) else x.copy()


def taken_along(x: Any, index: Any, axis: int, keepdims: bool = True) -> Any:
    """The elements of x at these indices along an axis, without that axis if it is not kept."""
    taken = np.take_along_axis(x, index, axis)
    return taken if keepdims else np.squeeze(taken, axis)


def taken_evenly(x: Any, value: Any) -> Any:
    """The value, to which all elements that are equal to it contribute evenly; NaN to NaN."""
    if value == value:
        return np.max(np.where(x == value, x, -np.inf))
    return _missing(x)


def greatest(x: Any) -> Any:
    """The greatest element; NaN, to which all that are NaN contribute evenly, if there is one."""
    if np.any(x != x):
        return _missing(x)
    return np.max(x)


def least(x: Any) -> Any:
    """The least element; NaN as in `greatest`."""
    if np.any(x != x):
        return _missing(x)
    return np.min(x)


def _missing(x: Any) -> Any:
    missing = x != x
    return np.sum(np.where(missing, x, 0)) / np.sum(missing, dtype=x.dtype)


def parts_of_complex(x: Any) -> Any:
    """The real and imaginary parts along a last axis."""
    return np.stack((np.real(x), np.imag(x)), axis=-1)


def complex_of(real: Any, imag: Any) -> Any:
    """The complex numbers of two parts, where these are finite."""
    return real + 1j * imag


def complex_of_parts(x: Any) -> Any:
    """The complex numbers of the parts along the last axis."""
    return x[..., 0] + 1j * x[..., 1]


def taken_flat(x: Any, positions: Any) -> Any:
    """The elements at positions in the flat array."""
    return np.ravel(x)[positions]


def put_flat(x: Any, positions: Any, values: Any) -> Any:
    """A copy with these values at positions in the flat array."""
    flat = np.ravel(x).copy()
    flat[positions] = values
    return flat.reshape(x.shape)


def added_flat(x: Any, positions: Any, values: Any) -> Any:
    """A copy with these values added at positions, which may repeat, in the flat array."""
    flat = np.ravel(x).copy()
    np.add.at(flat, positions, values)
    return flat.reshape(x.shape)


def multiplied_flat(x: Any, positions: Any, values: Any) -> Any:
    """A copy multiplied by these values at positions, which may repeat, in the flat array."""
    flat = np.ravel(x).copy()
    np.multiply.at(flat, positions, values)
    return flat.reshape(x.shape)


def averaged_flat(x: Any, positions: Any, values: Any, counts: Any) -> Any:
    """A copy with these values added at positions, divided by how many there are."""
    total = added_flat(x, positions, values)
    return total // counts if x.dtype.kind in "iu" else (total / counts).astype(x.dtype)


def extreme_flat(x: Any, positions: Any, values: Any, counts: Any, is_own: Any, chosen: Any) -> Any:
    """The mean of the elements and the values at positions that are chosen."""
    total = added_flat(np.where(is_own, x, 0), positions, np.where(chosen, values, 0))
    return (total / counts).astype(x.dtype)


def strided(x: Any, places: Any, inside: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """The elements at places of the flat array, which were found of these steps in memory; zeros
    for those that are elsewhere."""
    return np.where(inside, np.ravel(x)[places], 0)


def logcumsumexp(x: Any, axis: int) -> Any:
    """log(cumsum(exp(x))): each sum is shifted by its own greatest term."""
    rows = np.moveaxis(x, axis, 0)
    total = rows[0]
    sums = [total]
    for i in range(1, rows.shape[0]):
        total = np.logaddexp(total, rows[i])
        sums.append(total)
    return np.moveaxis(np.stack(sums), 0, axis)


def einsum(*operands: Any, subscripts: str) -> Any:
    """Sums of products, as the subscripts say."""
    return np.einsum(subscripts, *operands)


def addcmul(x: Any, first: Any, second: Any, value: Any) -> Any:
    """x + value * first * second."""
    return x + value * first * second


def addcdiv(x: Any, first: Any, second: Any, value: Any) -> Any:
    """x + value * first / second."""
    return x + value * first / second


def lerp(x: Any, end: Any, weight: Any) -> Any:
    """Between x (weight 0) and end (weight 1), counted from the nearer one."""
    change = end - x
    return np.where(np.abs(weight) < 0.5, x + weight * change, end - change * (1 - weight))


def plainly_added_product(x: Any, first: Any, second: Any) -> Any:
    """x + first @ second."""
    return x + first @ second


def added_product(x: Any, first: Any, second: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * (first @ second)."""
    return beta * x + alpha * (first @ second)


def product_over(x: Any, first: Any, second: Any, alpha: Any) -> Any:
    """alpha * (first @ second), nothing of x."""
    return np.zeros_like(x) + alpha * (first @ second)


def outer_over(x: Any, first: Any, second: Any, alpha: Any) -> Any:
    """alpha * outer(first, second), nothing of x."""
    return np.zeros_like(x) + alpha * np.outer(first, second)


def products_over(x: Any, first: Any, second: Any, alpha: Any) -> Any:
    """alpha * the sum of the products of two stacks of matrices, nothing of x."""
    return np.zeros_like(x) + alpha * np.sum(first @ second, axis=0)


def added_outer(x: Any, first: Any, second: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * outer(first, second)."""
    return beta * x + alpha * np.outer(first, second)


def added_products(x: Any, first: Any, second: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * the sum of the products of two stacks of matrices."""
    return beta * x + alpha * np.sum(first @ second, axis=0)


def sign(x: Any) -> Any:
    """The sign; 0 of what is no number. Of complex numbers, their directions."""
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, 0, x / (size + (size == 0)))
    return np.sign(np.where(x == x, x, 0))


def sign_of_any(x: Any) -> Any:
    """The sign, of truth values too, which are their own."""
    return x.copy() if x.dtype.kind == "b" else sign(x)


def cross(x: Any, y: Any, axis: int) -> Any:
    """The vector product along an axis."""
    product = np.cross(np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1))
    return np.moveaxis(product, -1, axis)


def whole_times(x: Any, y: Any) -> Any:
    """The quotient of integers, rounded towards zero."""
    return x // y + ((x % y != 0) & ((x < 0) != (y < 0)))


def frac(x: Any) -> Any:
    """The part after the point, with the sign of x."""
    return x - np.trunc(x)


def logit(x: Any, eps: Any = None) -> Any:
    """log(x / (1 - x)), x first limited to [eps, 1 - eps]."""
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x) - np.log1p(-x)


def at_least(x: Any, bound: Any) -> Any:
    """x, or its bound where that is greater. Where they are equal, all of the derivative is x's."""
    return np.clip(x, bound, None)


def at_most(x: Any, bound: Any) -> Any:
    """x, or its bound where that is less. Where they are equal, all of the derivative is x's."""
    return np.clip(x, None, bound)


def truncated_quotient(x: Any, y: Any) -> Any:
    """x / y, rounded to zero."""
    return np.trunc(np.true_divide(x, y))


def polar(length: Any, angle: Any) -> Any:
    """The complex numbers of absolute values and angles."""
    return length * np.exp(1j * angle)


def xlogy(x: Any, y: Any) -> Any:
    """x * log(y), 0 where x is."""
    return x * np.log(np.where((x == 0) & ((y <= 0) | np.isinf(y)), 1, y))


def to_dtype(x: Any, dtype: Any) -> Any:
    """The elements converted to a dtype."""
    return x.astype(dtype)


# --- activations ------------------------------------------------------------------------------


def celu(x: Any, alpha: float) -> Any:
    """max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)."""
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def elu(x: Any, alpha: float, scale: float) -> Any:
    """scale * x above 0, scale * alpha * (exp(x) - 1) below."""
    return np.where(x > 0, scale * x, scale * alpha * np.expm1(np.where(x > 0, 0, x)))


def hardshrink(x: Any, lambd: float) -> Any:
    """0 from -lambd to lambd."""
    return np.where(np.abs(x) <= lambd, 0, x)


def threshold(x: Any, threshold: float, value: float) -> Any:
    """A value up to the threshold."""
    return np.where(x <= threshold, value, x)


def sloped(x: Any, slope: Any) -> Any:
    """x above 0, slope * x below."""
    return np.where(x > 0, x, slope * x)


# --- powers and norms -------------------------------------------------------------------------


def ldexp(x: Any, exponent: Any) -> Any:
    """x * 2 ** exponent."""
    return x * np.exp2(exponent)


def renorm(x: Any, p: float, axes: Any, maxnorm: float) -> Any:
    """x, scaled where the p-norm over these axes is greater than maxnorm."""
    if p == np.inf:
        size = np.max(np.abs(x), axis=axes, keepdims=True)
    else:
        size = np.sum(np.abs(x) ** p, axis=axes, keepdims=True) ** (1 / p)
    return x * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


def regrouped(x: Any, parts: Any, order: Any, shape: Any) -> Any:
    """Axes taken apart, put in another order, and together in another shape."""
    return np.reshape(np.transpose(np.reshape(x, parts), order), shape).copy()
