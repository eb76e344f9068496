"""`torchlike.fft`: Fourier transforms of Tensors, under PyTorch's names and with its arguments.

The derivatives are those of `numpy.fft`; here stand only the spellings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import Table
from gradscribe.runtime.arrays.size import in_tuple
from gradscribe.runtime.operations.spellings import publish
from gradscribe.runtime.tensors.creation import finished
from gradscribe.runtime.tensors.promotion import floating
from gradscribe.runtime.tensors.tensor import Tensor

FFT = Table("torchlike.fft")
_numpy: Any = np.fft  # takes Tensors, too


def _along(
    transform: Callable[..., Any], input: Any, n: int | None, dim: int, norm: str | None
) -> Tensor:
    """A transform along an axis."""
    given = floating(input)
    if len(given.shape) == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    _check(given, n)
    return transform(given, n, dim, norm)  # type: ignore[no-any-return]


def _along_several(
    transform: Callable[..., Any], input: Any, s: Any, dim: Any, norm: str | None
) -> Tensor:
    given = floating(input)
    if len(given.shape) == 0 and (dim is not None or s is not None):
        first = 0 if dim is None else in_tuple(dim)[0]
        raise IndexError(f"Dimension specified as {first} but tensor has no dimensions")
    lengths, axes = _lengths(given, s, dim)
    for length in lengths or ():
        _check(given, length)
    return transform(given, lengths, axes, norm)  # type: ignore[no-any-return]


def _check(input: Tensor, n: int | None) -> None:
    if n is not None and n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _lengths(input: Tensor, s: Any, dim: Any) -> tuple[Any, Any]:
    """The lengths along the axes, -1 standing for that of the input, and the axes."""
    rank = len(input.shape)
    if s is None:
        return None, tuple(range(rank)) if dim is None else in_tuple(dim)
    given = in_tuple(s)
    axes = tuple(range(rank - len(given), rank)) if dim is None else in_tuple(dim)
    if len(axes) != len(given):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    return tuple(input.shape[a] if n == -1 else n for n, a in zip(given, axes, strict=True)), axes


@FFT.operation(shapes="(…, n) -> (…, n)", dtypes="complex")
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform along an axis."""
    return _along(_numpy.fft, input, n, dim, norm)


@FFT.operation(shapes="(…, n) -> (…, n)", dtypes="complex")
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    return _along(_numpy.ifft, input, n, dim, norm)


@FFT.operation(shapes="(…, n) -> (…, n // 2 + 1)", dtypes="complex")
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft` of real elements: the frequencies from 0 up."""
    return _along(_numpy.rfft, input, n, dim, norm)


@FFT.operation(shapes="(…, n // 2 + 1) -> (…, n)", dtypes="real")
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`; n: the length of the result."""
    return _along(_numpy.irfft, input, n, dim, norm)


@FFT.operation(shapes="(…, n // 2 + 1) -> (…, n)", dtypes="real")
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft`, real, of what is Hermitian along an axis."""
    return _along(_numpy.hfft, input, n, dim, norm)


@FFT.operation(shapes="(…, n) -> (…, n // 2 + 1)", dtypes="complex")
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`."""
    return _along(_numpy.ihfft, input, n, dim, norm)


@FFT.operation(shapes="(…) -> (…)", dtypes="complex")
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform, along several axes: by default, all."""
    return _along_several(_numpy.fftn, input, s, dim, norm)


@FFT.operation(shapes="(…) -> (…)", dtypes="complex")
def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform, along two axes."""
    return fftn(input, s, dim, norm)


@FFT.operation(shapes="(…) -> (…)", dtypes="complex")
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform, along several axes: by default, all."""
    return _along_several(_numpy.ifftn, input, s, dim, norm)


@FFT.operation(shapes="(…) -> (…)", dtypes="complex")
def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform, along two axes."""
    return ifftn(input, s, dim, norm)


@FFT.operation(shapes="(…, n) -> (…, n // 2 + 1)", dtypes="complex")
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform of real elements, along several axes: by default, all."""
    return _along_several(_numpy.rfftn, input, s, dim, norm)


@FFT.operation(shapes="(…, n) -> (…, n // 2 + 1)", dtypes="complex")
def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform of real elements, along two axes."""
    return rfftn(input, s, dim, norm)


@FFT.operation(shapes="(…, n // 2 + 1) -> (…, n)", dtypes="real")
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`, along several axes: by default, all."""
    return _along_several(_numpy.irfftn, input, s, dim, norm)


@FFT.operation(shapes="(…, n // 2 + 1) -> (…, n)", dtypes="real")
def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `rfft2`."""
    return irfftn(input, s, dim, norm)


@FFT.operation(shapes="(…, n // 2 + 1) -> (…, n)", dtypes="real")
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """`fftn`, real, of what is Hermitian: the last axis has the frequencies from 0 up."""
    lengths, axes = _lengths(floating(input), s, dim)
    last = None if lengths is None else lengths[-1]
    first = None if lengths is None else lengths[:-1]
    whole = fftn(input, first, axes[:-1], norm) if len(axes) > 1 else input
    return hfft(whole, last, axes[-1], norm)


@FFT.operation(shapes="(…, n // 2 + 1) -> (…, n)", dtypes="real")
def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` along two axes."""
    return hfftn(input, s, dim, norm)


@FFT.operation(shapes="(…, n) -> (…, n // 2 + 1)", dtypes="complex")
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`."""
    lengths, axes = _lengths(floating(input), s, dim)
    last = None if lengths is None else lengths[-1]
    half = ihfft(input, last, axes[-1], norm)
    first = None if lengths is None else lengths[:-1]
    return ifftn(half, first, axes[:-1], norm) if len(axes) > 1 else half


@FFT.operation(shapes="(…, n) -> (…, n // 2 + 1)", dtypes="complex")
def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`ihfftn` along two axes."""
    return ihfftn(input, s, dim, norm)


@FFT.operation(shapes="(…) -> (…)")
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The frequency 0 in the middle."""
    return _numpy.fftshift(input, dim)  # type: ignore[no-any-return]


@FFT.operation(shapes="(…) -> (…)")
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _numpy.ifftshift(input, dim)  # type: ignore[no-any-return]


@FFT.operation(shapes="(n)")
def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of `fft` of n samples, d apart."""
    return finished(np.fft.fftfreq(n, d), dtype or dtypes.default(), device, requires_grad)


@FFT.operation(shapes="(n // 2 + 1)")
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of `rfft` of n samples, d apart."""
    return finished(np.fft.rfftfreq(n, d), dtype or dtypes.default(), device, requires_grad)


__all__ = publish(FFT, globals())
