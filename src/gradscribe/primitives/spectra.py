"""Discrete Fourier transforms, of `numpy.fft`.

The adjoint of a transform is the transform in the other direction without its normalization:
what `norm="backward"` scales, `"forward"` does not, and conversely (`_dual`). Where the input was
cut off or filled with zeros to the length n, its cotangent is filled or cut off. Transforms of
several axes are those of one axis, one after the other, in NumPy's order.
"""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Array
from gradscribe.primitives.registry import LINEAR, adjoint, composition
from gradscribe.primitives.typing import (
    TypeRuleError,
    dims_of,
    length_of,
    like_first,
    normalize_axes,
    result_of,
)

# -- types ---------------------------------------------------------------------------------------


def _whole(facts, length):
    return length


def _half(facts, length):
    """Of a real signal of this length, the frequencies that are not negative."""
    return facts.quotient(length, 2) + 1


def _doubled(facts, length):
    """The length of the real signal that a half spectrum is taken for."""
    return length * 2 - 2


def _type_of(by_default, of_n):
    """A type rule: the length of the axis is a function of that of the axis, or of n."""

    def rule(facts, callee, a, n=None, axis=-1, norm=None):
        if norm not in (None, "backward", "ortho", "forward"):
            raise TypeRuleError(f"norm={norm!r} is none of 'backward', 'ortho' and 'forward'")
        if not isinstance(a, Array) or not a.rank:
            raise TypeRuleError("a transform is one of an array with an axis")
        (axis,) = normalize_axes(axis, a.rank)
        dims = list(dims_of(a))
        dims[axis] = by_default(facts, dims[axis]) if n is None else of_n(facts, length_of(n))
        return like_first(result_of(callee, a, n=2), tuple(dims), a)

    return rule


# -- one axis ------------------------------------------------------------------------------------


def _dual(norm):
    if norm == "ortho":
        return "ortho"
    return "backward" if norm == "forward" else "forward"


def _like(d_a, a, n, axis):
    """The cotangent of an operand that was cut off, or filled with zeros, along its axis to fit n,
    where that was given."""
    length = a.shape[axis]
    if n is None or d_a.shape[axis] == length:
        return d_a
    last = _with_last(d_a, axis)
    if last.shape[-1] > length:
        return _with_last_at(last[..., :length], axis)
    missing = np.zeros((*last.shape[:-1], length - last.shape[-1]), dtype=d_a.dtype)
    return _with_last_at(np.concatenate((last, missing), axis=-1), axis)


def _with_last(a, axis):
    """The array with this axis as its last one."""
    return a if axis in (-1, a.ndim - 1) else np.moveaxis(a, axis, -1)


def _with_last_at(a, axis):
    """The array with its last axis as this one."""
    return a if axis in (-1, a.ndim - 1) else np.moveaxis(a, -1, axis)


@adjoint(np.fft.fft, type=_type_of(_whole, _whole), tangent=LINEAR)
def fft(out, a, n=None, axis=-1, norm=None, *, d_out):
    return _like(np.fft.ifft(d_out, axis=axis, norm=_dual(norm)), a, n, axis)


@adjoint(np.fft.ifft, type=_type_of(_whole, _whole), tangent=LINEAR)
def ifft(out, a, n=None, axis=-1, norm=None, *, d_out):
    return _like(np.fft.fft(d_out, axis=axis, norm=_dual(norm)), a, n, axis)


@adjoint(np.fft.rfft, type=_type_of(_half, _half), tangent=LINEAR)
def rfft(out, a, n=None, axis=-1, norm=None, *, d_out):
    length = a.shape[axis] if n is None else n
    return _like(np.real(np.fft.ifft(d_out, length, axis, _dual(norm))), a, n, axis)


@adjoint(np.fft.irfft, type=_type_of(_doubled, _whole), tangent=LINEAR)
def irfft(out, a, n=None, axis=-1, norm=None, *, d_out):
    """Each frequency stands for its negative, too, but for the first and that of n / 2."""
    half = _with_last(np.fft.rfft(d_out, axis=axis, norm=_dual(norm)), axis)
    k = np.arange(half.shape[-1])
    half = half * np.where((k == 0) | (2 * k == out.shape[axis]), 1, 2)
    return _like(_with_last_at(half, axis), a, n, axis)


@composition(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None):
    length = 2 * (np.shape(a)[axis] - 1) if n is None else n
    return np.fft.irfft(np.conjugate(a), length, axis, _dual(norm))


@composition(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None):
    return np.conjugate(np.fft.rfft(a, n, axis, _dual(norm)))


# -- several axes --------------------------------------------------------------------------------


def _lengths_and_axes(a, s, axes):
    """For each axis, in order: the length (None: its own) and the axis."""
    if axes is None:
        axes = tuple(range(np.ndim(a)) if s is None else range(-len(s), 0))
    lengths = [None] * len(axes) if s is None else s
    return list(zip(lengths, axes, strict=True))


def _transformed(transform, a, lengths_and_axes, norm):
    if len(lengths_and_axes) == 0:
        return np.asarray(a)
    for n, axis in lengths_and_axes:
        a = transform(a, n, axis, norm)
    return a


@composition(np.fft.fftn)
def fftn(a, s=None, axes=None, norm=None):
    return _transformed(np.fft.fft, a, _lengths_and_axes(a, s, axes)[::-1], norm)


@composition(np.fft.ifftn)
def ifftn(a, s=None, axes=None, norm=None):
    return _transformed(np.fft.ifft, a, _lengths_and_axes(a, s, axes)[::-1], norm)


@composition(np.fft.fft2)
def fft2(a, s=None, axes=(-2, -1), norm=None):
    return fftn(a, s, axes, norm)


@composition(np.fft.ifft2)
def ifft2(a, s=None, axes=(-2, -1), norm=None):
    return ifftn(a, s, axes, norm)


@composition(np.fft.rfftn)
def rfftn(a, s=None, axes=None, norm=None):
    *others, (n, axis) = _lengths_and_axes(a, s, axes)
    return _transformed(np.fft.fft, np.fft.rfft(a, n, axis, norm), others[::-1], norm)


@composition(np.fft.irfftn)
def irfftn(a, s=None, axes=None, norm=None):
    *others, (n, axis) = _lengths_and_axes(a, s, axes)
    return np.fft.irfft(_transformed(np.fft.ifft, a, others, norm), n, axis, norm)


@composition(np.fft.rfft2)
def rfft2(a, s=None, axes=(-2, -1), norm=None):
    return rfftn(a, s, axes, norm)


@composition(np.fft.irfft2)
def irfft2(a, s=None, axes=(-2, -1), norm=None):
    return irfftn(a, s, axes, norm)
