"""Convolutions and filters of `scipy.signal`."""

from __future__ import annotations

import numpy as np
from scipy import signal

from gradscribe.primitives.array_parts import section
from gradscribe.primitives.matrices import conjugated
from gradscribe.primitives.registry import (
    BILINEAR,
    HOLOMORPHIC,
    PRIMITIVES,
    adjoint,
    composition,
    register,
    variant,
)
from gradscribe.primitives.typing import TypeRuleError, dims_of, like_first, result_of

# -- convolution ---------------------------------------------------------------------------------


def _convolve_type(facts, callee, in1, in2, mode="full"):
    first, second = dims_of(in1), dims_of(in2)
    if len(first) != len(second) or not first:
        raise TypeRuleError("the arrays have as many axes as each other, one at least")
    if mode == "same":
        dims = first
    elif mode == "valid":
        dims = tuple(_valid(facts, a, b) for a, b in zip(first, second, strict=True))
    else:
        dims = tuple(a + b + -1 for a, b in zip(first, second, strict=True))
    return like_first(result_of(callee, in1, in2), dims, in1, in2)


def _valid(facts, a, b):
    longer = facts.at_least(a - b, 0)
    if longer is None:
        return facts.maximum(a, b) - facts.minimum(a, b) + 1
    return a - b + 1 if longer else b - a + 1


def _full(d_out, in1, in2, mode):
    """The cotangent of the full convolution, of which d_out is that of the part that was given."""
    if mode == "full":
        return d_out
    widths = ()
    for n, m, k in zip(in1.shape, in2.shape, d_out.shape, strict=True):
        before = (m - 1) // 2 if mode == "same" else np.minimum(n, m) - 1
        widths = (*widths, (before, n + m - 1 - k - before))
    return np.pad(d_out, widths)


def _correlated(d_full, other):
    return signal.convolve(d_full, np.flip(other), "valid")


@adjoint(signal.convolve, type=_convolve_type, tangent=BILINEAR, static=("mode",))
def convolve(out, in1, in2, mode="full", *, d_out):
    d_full = _full(d_out, in1, in2, mode)
    return _correlated(d_full, in2), _correlated(d_full, in1)


HOLOMORPHIC.add(PRIMITIVES[signal.convolve])
for _function in (signal.fftconvolve, signal.oaconvolve, signal.convolve2d):
    register(PRIMITIVES[signal.convolve], (_function,), ())


@variant(signal.convolve)
def convolve_by(in1, in2, mode="full", method="auto"):
    return signal.convolve(in1, in2, mode)


@variant(signal.fftconvolve, signal.oaconvolve)
def convolve_along(in1, in2, mode="full", axes=None):
    if axes is None:
        return signal.fftconvolve(in1, in2, mode)
    rank = np.ndim(in1)
    along = [a % rank for a in ((axes,) if isinstance(axes, int) else axes)]
    lengths = [in1.shape[a] + in2.shape[a] - 1 for a in along]
    if np.result_type(in1, in2).kind == "c":
        full = np.fft.ifftn(
            np.fft.fftn(in1, lengths, along) * np.fft.fftn(in2, lengths, along), lengths, along
        )
    else:
        full = np.fft.irfftn(
            np.fft.rfftn(in1, lengths, along) * np.fft.rfftn(in2, lengths, along), lengths, along
        )
    if mode == "full":
        return full
    for axis in along:
        n, m = in1.shape[axis], in2.shape[axis]
        first = (m - 1) // 2 if mode == "same" else np.minimum(n, m) - 1
        count = n if mode == "same" else np.maximum(n, m) - first
        full = section(full, axis, first, first + count)
    return full


@variant(signal.convolve2d)
def convolve2d_in(in1, in2, mode="full", boundary="fill", fillvalue=0):
    widths = ()
    for m in in2.shape:
        widths = (*widths, (m // 2, (m - 1) // 2))
    return _bounded(in1, in2, mode, boundary, fillvalue, widths)


@composition(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    """Unlike `signal.correlate`, with the longer half first where a length is even."""
    widths = ()
    for m in in2.shape:
        widths = (*widths, ((m - 1) // 2, m // 2))
    return _bounded(in1, conjugated(np.flip(in2)), mode, boundary, fillvalue, widths)


def _bounded(in1, in2, mode, boundary, fillvalue, widths):
    """A convolution with what is beyond the boundary written around the first array: so much of
    it, if mode is "same"."""
    if mode == "valid":
        return signal.convolve2d(in1, in2, mode)
    if mode == "full":
        widths = ()
        for m in in2.shape:
            widths = (*widths, (m - 1, m - 1))
    if boundary not in ("fill", "pad", "wrap", "circular", "symm", "symmetric"):
        raise ValueError("the boundary is 'fill', 'wrap' ('circular') or 'symm' ('symmetric')")
    if boundary in ("fill", "pad"):
        around = np.pad(in1, widths, constant_values=fillvalue)
    else:
        mode_of_pad = "wrap" if boundary in ("wrap", "circular") else "symmetric"
        around = np.pad(in1, widths, mode=mode_of_pad)
    return signal.convolve2d(around, in2, "valid")


@composition(signal.correlate)
def correlate(in1, in2, mode="full", method="auto"):
    return signal.convolve(in1, conjugated(np.flip(in2)), mode)


# -- filters -------------------------------------------------------------------------------------


def _filter_type(facts, callee, b, a, x, axis=-1):
    return like_first(result_of(np.multiply, result_of(np.multiply, b, a), x), dims_of(x), x)


def _filter_tangent(out, b, a, x, axis=-1, *, d_b, d_a, d_x):
    change = 0.0
    if d_x is not None:
        change = change + signal.lfilter(b, a, d_x, axis)
    if d_b is not None:
        change = change + signal.lfilter(d_b, a, x, axis)
    if d_a is not None:
        change = change - signal.lfilter(d_a, a, out, axis)
    return change


def _delayed(d_out, filtered, count, axis):
    """For each delay, the sum of d_out with what was filtered so much earlier."""
    late = np.moveaxis(d_out, axis, -1)
    early = np.moveaxis(filtered, axis, -1)
    n = early.shape[-1]
    sums = [np.sum(late[..., k:] * early[..., : np.maximum(n - k, 0)]) for k in range(count)]
    return np.array(sums)


@adjoint(signal.lfilter, type=_filter_type, tangent=_filter_tangent)
def lfilter(out, b, a, x, axis=-1, *, d_out):
    one = np.ones(1, dtype=out.dtype)
    d_x = np.flip(signal.lfilter(b, a, np.flip(d_out, axis), axis), axis)
    d_b = _delayed(d_out, signal.lfilter(one, a, x, axis), b.shape[0], axis)
    d_a = _delayed(d_out, signal.lfilter(one, a, out, axis), a.shape[0], axis)
    return d_b, -d_a, d_x
