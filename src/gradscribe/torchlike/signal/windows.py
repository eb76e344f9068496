"""Windows of signals, symmetric (or, with sym=False, periodic), under PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import Table
from gradscribe.runtime.operations.spellings import publish
from gradscribe.runtime.operations.windows import SHAPES
from gradscribe.runtime.tensors.creation import finished
from gradscribe.runtime.tensors.tensor import Tensor

WINDOWS = Table("torchlike.signal.windows")


def _places(name: str, M: int, sym: bool) -> Any:
    """The places of M samples on the window, from 0 to 1."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    return np.arange(M) / max(M - 1 if sym else M, 1)


def _finished(window: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    if dtype is not None and dtypes.to_dtype(dtype) not in (dtypes.float32, dtypes.float64):
        name = dtypes.PublicDtype(dtypes.to_dtype(dtype))
        raise ValueError(f"windows have the dtypes float32 or float64, got: {name}")
    made = window if len(window) != 1 else np.ones(1)
    return finished(made, dtype or dtypes.default(), device, requires_grad)


def _of_cosines(place: Any, weights: Sequence[float]) -> Any:
    """The sum of weights, with signs in turn, times cosines of multiples of the angle."""
    total = np.zeros(len(place))
    for k, weight in enumerate(weights):
        total = total + (-1) ** k * weight * np.cos(2 * np.pi * k * place)
    return total


@WINDOWS.operation(shapes="(M)")
def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle."""
    place = _places("bartlett", M, sym)
    return _finished(SHAPES["bartlett"](place), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A sum of three cosines."""
    place = _places("blackman", M, sym)
    return _finished(SHAPES["blackman"](place), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A raised cosine with a step at both ends."""
    place = _places("hamming", M, sym)
    return _finished(SHAPES["hamming"](place, alpha, 1 - alpha), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A raised cosine."""
    place = _places("hann", M, sym)
    return _finished(SHAPES["hann"](place), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The window of Kaiser, by a Bessel function."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    place = _places("kaiser", M, sym)
    return _finished(SHAPES["kaiser"](place, beta), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A raised cosine: alpha - (1 - alpha) * cos."""
    place = _places("general_hamming", M, sym)
    return _finished(SHAPES["hamming"](place, alpha, 1 - alpha), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A sum of four cosines."""
    place = _places("nuttall", M, sym)
    return _finished(
        _of_cosines(place, (0.3635819, 0.4891775, 0.1365995, 0.0106411)),
        dtype,
        device,
        requires_grad,
    )


@WINDOWS.operation(shapes="(M)")
def general_cosine(
    M: int,
    *,
    a: Sequence[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A sum of cosines with weights of one's own."""
    if not a:
        raise ValueError("Coefficients cannot be empty")
    place = _places("general_cosine", M, sym)
    return _finished(_of_cosines(place, a), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a wave of a sine."""
    _places("cosine", M, sym)
    window = np.sin(np.pi * (np.arange(M) + 0.5) / (M if sym else M + 1))
    return _finished(window, dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-distance² / (2 std²)) from the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    _places("gaussian", M, sym)
    distance = np.arange(M) - (M - 1 if sym else M) / 2
    return _finished(np.exp(-((distance / std) ** 2) / 2), dtype, device, requires_grad)


@WINDOWS.operation(shapes="(M)")
def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-distance / tau) from the center."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    _places("exponential", M, sym)
    middle = (M - 1 if sym else M) / 2 if center is None else center
    window = np.exp(-np.abs(np.arange(M) - middle) / tau)
    return _finished(window, dtype, device, requires_grad)


__all__ = publish(WINDOWS, globals())
