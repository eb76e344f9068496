"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

import numpy as np

from gradscribe.primitives.eigenvalues import as_complex
from gradscribe.primitives.registry import composition


@composition(np.polyval)
def polyval(p, x):
    x = np.asarray(x)
    y = np.zeros_like(x)
    for coefficient in np.asarray(p):
        y = y * x + coefficient
    return y


@composition(np.polyadd)
def polyadd(a1, a2):
    a1, a2 = np.atleast_1d(a1, a2)
    return _lengthened(a1, a2) + _lengthened(a2, a1)


@composition(np.polysub)
def polysub(a1, a2):
    a1, a2 = np.atleast_1d(a1, a2)
    return _lengthened(a1, a2) - _lengthened(a2, a1)


def _lengthened(p, other):
    """The coefficients, as many as those of the longer of two polynomials."""
    missing = np.maximum(other.shape[0] - p.shape[0], 0)
    return np.concatenate((np.zeros(missing, dtype=p.dtype), p))


@composition(np.polymul)
def polymul(a1, a2):
    return np.convolve(_from_the_highest(a1), _from_the_highest(a2))


def _from_the_highest(p):
    """The coefficients without zeros at the beginning; of zeros alone the last one."""
    p = np.atleast_1d(p)
    return p[np.argmax(np.append(p[:-1] != 0, True)) :]


@composition(np.polydiv)
def polydiv(u, v):
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    steps = max(len(u) - len(v) + 1, 1)
    scale = 1.0 / v[0]
    quotient = np.zeros(steps, dtype=u.dtype)
    rest = u.copy()
    for k in range(len(u) - len(v) + 1):
        quotient[k] = scale * rest[k]
        rest[k : k + len(v)] -= quotient[k] * v
    zeros = np.cumprod(np.isclose(rest[:-1], 0, rtol=1e-14))
    return quotient, rest[np.sum(zeros) :]


@composition(np.polyder, static=("m",))
def polyder(p, m=1):
    p = np.asarray(p)
    if p.ndim != 1:
        raise ValueError("the coefficients of a polynomial are a vector")
    for _ in (None,) * m:
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@composition(np.polyint, static=("m",))
def polyint(p, m=1, k=None):
    p = np.asarray(p)
    for i, _ in enumerate((None,) * m):
        p = np.concatenate((p / np.arange(p.shape[0], 0, -1), _constant(k, i)))
    return p


def _constant(k, i):
    """The constant of integration of step i, as an array."""
    if k is None:
        return np.zeros(1)
    k = np.atleast_1d(k)
    return k if k.shape[0] == 1 else k[i : i + 1]


@composition(np.poly)
def poly(seq_of_zeros):
    zeros = np.atleast_1d(seq_of_zeros)
    zeros = np.asarray(zeros, dtype=np.result_type(zeros.dtype, 0.0))
    coefficients = np.ones(1, dtype=zeros.dtype)
    for zero in zeros:
        coefficients = np.convolve(coefficients, np.array([1, -zero], dtype=zeros.dtype))
    return as_complex(coefficients) if zeros.dtype.kind == "c" else coefficients


@composition(np.vander)
def vander(x, N=None, increasing=False):
    x = np.asarray(x, dtype=np.promote_types(x.dtype, int))
    count = x.shape[0] if N is None else N
    if count < 2:
        return np.ones((x.shape[0], count), dtype=x.dtype)
    factors = np.broadcast_to(x[:, None], (x.shape[0], count - 1))
    ones = np.ones((x.shape[0], 1), dtype=x.dtype)
    powers = np.concatenate((ones, np.cumprod(factors, axis=1)), axis=1)
    return powers if increasing else powers[:, ::-1]


@composition(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    powers = np.vander(x, deg + 1)
    if w is not None:
        powers = powers * w[:, None]
        y = y * (w if np.ndim(y) == 1 else w[:, None])
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    found, residuals, rank, values = np.linalg.lstsq(powers / scale, y, rcond)
    coefficients = (found.T / scale).T
    if full:
        return coefficients, residuals, rank, values, rcond
    if not cov:
        return coefficients
    scaled = powers / scale
    spread = np.linalg.inv(scaled.T @ scaled)
    spread = spread / np.outer(scale, scale)
    factor = 1 if cov == "unscaled" else residuals / (len(x) - deg - 1)
    return coefficients, spread * factor if np.ndim(y) == 1 else spread[:, :, None] * factor
