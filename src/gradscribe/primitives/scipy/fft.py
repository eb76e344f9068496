"""Transforms of `scipy.fft`: those that NumPy has, too, and the real ones of cosines and sines."""

from __future__ import annotations

import numpy as np
import scipy.fft

from gradscribe.primitives.backends import BACKENDS, CHOOSING, Backends
from gradscribe.primitives.registry import (
    COMPOSITIONS,
    LINEAR,
    PRIMITIVES,
    VARIANTS,
    adjoint,
    composition,
    register,
)
from gradscribe.primitives.typing import dims_of, length_of, like_first, normalize_axes, result_of

_OF_ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_OF_SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def _one_axis(function):
    def variant(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        return function(x, n, axis, norm)

    return variant


def _several_axes(function, axes):
    def made(x, s=None, axes=axes, norm=None, overwrite_x=False, workers=None):
        return function(x, s, axes, norm)

    return made


for _name in _OF_ONE_AXIS:
    _function, _like = getattr(scipy.fft, _name), getattr(np.fft, _name)
    if _like in PRIMITIVES:
        register(PRIMITIVES[_like], (_function,), ())
        VARIANTS[_function] = _one_axis(_function)
    else:
        COMPOSITIONS[_function] = _one_axis(_like)
for _name in _OF_SEVERAL:
    _axes = (-2, -1) if _name.endswith("2") else None
    COMPOSITIONS[getattr(scipy.fft, _name)] = _several_axes(getattr(np.fft, _name), _axes)
for _name in ("fftshift", "ifftshift"):
    COMPOSITIONS[getattr(scipy.fft, _name)] = COMPOSITIONS[getattr(np.fft, _name)]


# -- cosines and sines ---------------------------------------------------------------------------


def _real_type(facts, callee, x, type=2, n=None, axis=-1, norm=None):
    dims = list(dims_of(x))
    (axis,) = normalize_axes(axis, len(dims))
    if n is not None:
        dims[axis] = length_of(n)
    return like_first(result_of(callee, x), tuple(dims), x)


def _through_matrix(transform, d_out, x, type, n, axis, norm):
    """The transposed transform, by its matrix."""
    matrix = transform(np.eye(x.shape[axis], dtype=d_out.dtype), type, n, 1, norm)
    return np.moveaxis(np.moveaxis(d_out, axis, -1) @ matrix.T, -1, axis)


@adjoint(scipy.fft.dct, type=_real_type, tangent=LINEAR, static=("type", "norm"))
def dct(out, x, type=2, n=None, axis=-1, norm=None, *, d_out):
    return _through_matrix(scipy.fft.dct, d_out, x, type, n, axis, norm)


@adjoint(scipy.fft.idct, type=_real_type, tangent=LINEAR, static=("type", "norm"))
def idct(out, x, type=2, n=None, axis=-1, norm=None, *, d_out):
    return _through_matrix(scipy.fft.idct, d_out, x, type, n, axis, norm)


@adjoint(scipy.fft.dst, type=_real_type, tangent=LINEAR, static=("type", "norm"))
def dst(out, x, type=2, n=None, axis=-1, norm=None, *, d_out):
    return _through_matrix(scipy.fft.dst, d_out, x, type, n, axis, norm)


@adjoint(scipy.fft.idst, type=_real_type, tangent=LINEAR, static=("type", "norm"))
def idst(out, x, type=2, n=None, axis=-1, norm=None, *, d_out):
    return _through_matrix(scipy.fft.idst, d_out, x, type, n, axis, norm)


def _along(transform, x, type, s, axes, norm):
    if axes is None:
        axes = tuple(range(np.ndim(x)))
    for i, axis in enumerate(axes):
        x = transform(x, type, None if s is None else s[i], axis, norm)
    return x


@composition(scipy.fft.dctn)
def dctn(x, type=2, s=None, axes=None, norm=None):
    return _along(scipy.fft.dct, x, type, s, axes, norm)


@composition(scipy.fft.idctn)
def idctn(x, type=2, s=None, axes=None, norm=None):
    return _along(scipy.fft.idct, x, type, s, axes, norm)


@composition(scipy.fft.dstn)
def dstn(x, type=2, s=None, axes=None, norm=None):
    return _along(scipy.fft.dst, x, type, s, axes, norm)


@composition(scipy.fft.idstn)
def idstn(x, type=2, s=None, axes=None, norm=None):
    return _along(scipy.fft.idst, x, type, s, axes, norm)


# -- who computes them ---------------------------------------------------------------------------


class _Others:
    """What computes the functions of `scipy.fft`, where that is not SciPy."""

    @property
    def found(self):
        everywhere, here, _ = scipy.fft._backend.ua.get_state()._pickle()
        default, registered, is_last = everywhere[_DOMAIN]
        skipped, chosen = here.get(_DOMAIN, ((), ()))
        own = [] if default is None else [default[0]]
        order = [backend for backend, *_ in reversed(chosen)]
        order += [*registered, *own] if is_last else [*own, *registered]
        first = next((backend for backend in order if backend not in skipped), None)
        return () if first is scipy.fft._backend._ScipyBackend else (first,)


_DOMAIN = "numpy.scipy.fft"
_OF_SCIPY = Backends(
    _Others(),
    "what computes the functions of `scipy.fft` is not SciPy, but another backend, which has no "
    "derivative",
    "leave it to SciPy, `scipy.fft.set_backend('scipy', only=True)`, or use `numpy.fft`",
)
for _name in scipy.fft.__all__:
    if type(getattr(scipy.fft, _name)) is type(scipy.fft.fft):
        BACKENDS[getattr(scipy.fft, _name)] = _OF_SCIPY
for _name in ("set_backend", "set_global_backend", "register_backend", "skip_backend"):
    CHOOSING[getattr(scipy.fft, _name)] = (_OF_SCIPY, None if _name[:4] == "skip" else "scipy")
