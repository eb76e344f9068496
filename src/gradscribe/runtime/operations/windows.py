"""Windows of signals, and the Fourier transform of frames of a signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import BOTH, operation
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import complex_numbers, shaping
from gradscribe.runtime.operations.adaptors import named
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.creation import finished
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap

# --- windows ----------------------------------------------------------------------------------


def _cosines(angle: Array, *weights: float) -> Array:
    """The sum of weights times cosines of multiples of angles."""
    terms = [weight * np.cos(k * angle) for k, weight in enumerate(weights)]
    total: Array = np.sum(terms, axis=0)
    return total


def _bartlett(place: Array) -> Array:
    window: Array = 1 - np.abs(2 * place - 1)
    return window


def _blackman(place: Array) -> Array:
    return _cosines(2 * np.pi * place, 0.42, -0.5, 0.08)


def _hamming(place: Array, alpha: float = 0.54, beta: float = 0.46) -> Array:
    return _cosines(2 * np.pi * place, alpha, -beta)


def _hann(place: Array) -> Array:
    return _cosines(2 * np.pi * place, 0.5, -0.5)


def _kaiser(place: Array, beta: float = 12.0) -> Array:
    window: Array = np.i0(beta * np.sqrt(1 - (2 * place - 1) ** 2)) / np.i0(beta)
    return window


SHAPES: dict[str, Callable[..., Array]] = {
    "bartlett": _bartlett,
    "blackman": _blackman,
    "hamming": _hamming,
    "hann": _hann,
    "kaiser": _kaiser,
}
"""The windows at places from 0 to 1, by name."""


def _window(name: str, shape: Callable[..., Array]) -> Callable[..., Tensor]:
    """`name(length, periodic=True)`. shape: the window at places from 0 to 1."""

    def function(
        window_length: int,
        periodic: bool = True,
        *args: float,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
        **parameters: float,
    ) -> Tensor:
        if window_length < 0:
            raise RuntimeError(
                f"{name} requires non-negative window_length, got window_length={window_length}"
            )
        steps = window_length if periodic else window_length - 1
        place = np.arange(window_length) / max(steps, 1)
        made = shape(place, *args, **parameters) if window_length > 1 else np.ones(window_length)
        return finished(made, dtype or dtypes.default(), device, requires_grad)

    meaning = f"The window of this name; periodic, or symmetric. {shape.__doc__ or ''}"
    public = operation(shapes="(window_length)", dtypes="the default one, where none is named")
    return public(named(function, name, meaning))


bartlett_window = _window("bartlett_window", _bartlett)
blackman_window = _window("blackman_window", _blackman)
hamming_window = _window("hamming_window", _hamming)
hann_window = _window("hann_window", _hann)
kaiser_window = _window("kaiser_window", _kaiser)

# --- frames -----------------------------------------------------------------------------------

_PAD = Operation("Pad", np.pad, ("pad_width", "mode"))


@operation(BOTH, shapes="(…, n) -> (…, frequencies, frames)", dtypes="complex")
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping frames: frequencies by frames."""
    if return_complex is None and input.array.dtype.kind != "c":
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    if center:
        ends = ((0, 0),) * (input.array.ndim - 1) + ((n_fft // 2,) * 2,)
        input = apply(_PAD, (input,), (ends, _PAD_MODES.get(pad_mode, pad_mode)))
    count = 1 + (input.array.shape[-1] - n_fft) // hop
    places = hop * np.arange(count)[:, None] + np.arange(n_fft)
    frames = input[..., wrap(places)] * _whole_window(window, n_fft, win_length)
    one_side = input.array.dtype.kind != "c" if onesided is None else onesided
    transform: Any = np.fft.rfft if one_side else np.fft.fft
    spectra = shaping.transpose(transform(frames), -1, -2)
    spectra = functions.div(spectra, n_fft**0.5) if normalized else spectra
    return spectra if return_complex is not False else complex_numbers.view_as_real(spectra)


_PAD_MODES = {"replicate": "edge", "circular": "wrap"}


def _whole_window(window: Tensor | None, n_fft: int, win_length: int | None) -> Any:
    """The window, with zeros on both sides where it is shorter than the frames."""
    if window is None and win_length is None:
        return 1.0
    length = n_fft if win_length is None else win_length
    given = wrap(np.ones(length)) if window is None else window
    left = (n_fft - length) // 2
    return (
        given
        if length == n_fft
        else apply(_PAD, (given,), (((left, n_fft - length - left),), "constant"))
    )


@operation(
    BOTH, shapes="(…, frequencies, frames) -> (…, n)", dtypes="real, or complex where asked for"
)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal of which `stft` gives these transforms, by least squares."""
    hop = n_fft // 4 if hop_length is None else hop_length
    spectra: Any = shaping.transpose(input, -1, -2)
    spectra = spectra * n_fft**0.5 if normalized else spectra
    if not return_complex:
        spectra = spectra[..., : n_fft // 2 + 1]
    frames: Any = np.fft.ifft(spectra) if return_complex else np.fft.irfft(spectra, n_fft)
    weights = _whole_window(window, n_fft, win_length)
    count = input.array.shape[-1]
    places = wrap(np.ravel(hop * np.arange(count)[:, None] + np.arange(n_fft)))
    whole = n_fft + hop * (count - 1)
    squares: Any = wrap(np.ones((count, n_fft))) * weights * weights
    envelope = wrap(np.zeros(whole)).index_add(0, places, squares.reshape(-1))
    flat = shaping.reshape(frames * weights, (*input.array.shape[:-2], -1))
    empty = wrap(np.zeros((*input.array.shape[:-2], whole), flat.array.dtype))
    start = n_fft // 2 if center else 0
    stop = whole - start if length is None else start + length
    signal = empty.index_add(-1, places, flat)[..., start:stop]
    return functions.div(signal, envelope[start:stop])
