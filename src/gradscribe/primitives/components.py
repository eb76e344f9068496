"""The components of numbers: real and imaginary, whole and fraction, mantissa and exponent."""

from __future__ import annotations

import numpy as np

from gradscribe.ir.types import Scalar, Tuple
from gradscribe.primitives.registry import LINEAR, adjoint, composition
from gradscribe.primitives.typing import (
    elementwise_type,
    number_type,
    refuse_arrays,
)

# -- real and imaginary --------------------------------------------------------------------------


@adjoint(np.real, methods=("real",), type=elementwise_type, tangent=LINEAR, view=True, cheap=True)
def real(out, x, *, d_out):
    return d_out


@adjoint(np.imag, methods=("imag",), type=elementwise_type, tangent=LINEAR, view=True)
def imag(out, x, *, d_out):
    return d_out * 1j if np.asarray(x).dtype.kind == "c" else None


@adjoint(np.conjugate, methods=("conj", "conjugate"), type=elementwise_type, tangent=LINEAR)
def conjugate(out, x, *, d_out):
    return np.conjugate(d_out)


def _complex_type(facts, callee, real, imag=0):
    refuse_arrays(map(number_type, (real, imag)), "multiply by `1j`, and add")
    return Scalar("complex128")


@adjoint(complex, type=_complex_type, tangent=LINEAR, cheap=True)
def complex_(out, real, imag=0, *, d_out):
    return d_out, d_out * -1j


@composition(np.angle)
def angle(z, deg=False):
    angles = np.arctan2(np.imag(z), np.real(z))
    return angles * (180 / np.pi) if deg else angles


# -- whole and fraction --------------------------------------------------------------------------


@composition(np.divmod)
def divmod_(x, y):
    return np.floor_divide(x, y), np.remainder(x, y)


@composition(np.modf)
def modf(x):
    if np.asarray(x).dtype.kind in "biu":
        x = x + 0.0
    finite = np.where(np.isinf(x), np.copysign(0.0, x), x)
    return np.fmod(finite, 1.0)[()], np.trunc(x)


# -- mantissa and exponent -----------------------------------------------------------------------


def _frexp_type(facts, callee, x):
    x = number_type(x)
    mantissa = elementwise_type(facts, _mantissa, x=x)
    exponent = elementwise_type(facts, _exponent, x=x)
    return Tuple((mantissa, exponent))


def _mantissa(x):
    return np.frexp(x)[0]


def _exponent(x):
    return np.frexp(x)[1]


def _frexp_tangent(out, x, *, d_x):
    return np.ldexp(d_x, -out[1]), out[1]


@adjoint(np.frexp, type=_frexp_type, tangent=_frexp_tangent)
def frexp(out, x, *, d_out):
    return np.ldexp(d_out[0], -out[1])
