"""Discrete Fourier transforms: every length, normalization and axis, both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs

REAL = np.random.default_rng(0).normal(size=(5, 4))
COMPLEX = REAL + 1j * np.random.default_rng(1).normal(size=(5, 4))

OF_ONE_AXIS = [
    (np.fft.fft, REAL),
    (np.fft.fft, COMPLEX),
    (np.fft.ifft, COMPLEX),
    (np.fft.rfft, REAL),
    (np.fft.irfft, COMPLEX),
    (np.fft.hfft, COMPLEX),
    (np.fft.ihfft, REAL),
]
OF_SEVERAL = [
    (np.fft.fftn, COMPLEX),
    (np.fft.ifftn, COMPLEX),
    (np.fft.fft2, REAL),
    (np.fft.ifft2, COMPLEX),
    (np.fft.rfftn, REAL),
    (np.fft.irfftn, COMPLEX),
    (np.fft.rfft2, REAL),
    (np.fft.irfft2, COMPLEX),
]
TESTED = frozenset(transform for transform, _ in (*OF_ONE_AXIS, *OF_SEVERAL))


def name_of(part: Any) -> str:
    return getattr(part, "__name__", "") or str(getattr(part, "dtype", part))


def check(function: Any, a: Any) -> None:
    np.testing.assert_array_equal(gs.vjp(function, a)[0], function(a))
    gs.testing.check_grad(function, a, order=1)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 4, 5, 6])
@pytest.mark.parametrize(("transform", "a"), OF_ONE_AXIS, ids=name_of)
def test_transform_of_one_axis(transform: Any, a: Any, n: Any, norm: Any) -> None:
    for axis in (0, -1):
        check(lambda a: transform(a, n, axis, norm), a)


@pytest.mark.parametrize(
    "keywords",
    [{}, {"axes": (1, 0)}, {"s": (6, 3), "axes": (0, 1), "norm": "ortho"}],
    ids=str,
)
@pytest.mark.parametrize(("transform", "a"), OF_SEVERAL, ids=name_of)
def test_transform_of_several_axes(transform: Any, a: Any, keywords: Any) -> None:
    check(lambda a: transform(a, **keywords), a)


def power(x):
    spectrum = np.fft.rfft(x)
    return np.sum(np.abs(spectrum) ** 2 * np.arange(len(spectrum)))


@pytest.mark.parametrize("length", [1, 2, 7, 8])
def test_second_order(length: int) -> None:
    gs.testing.check_grad(power, np.linspace(-1, 1.3, length) ** 2 + 0.3, order=2)


def derivative_of_signal(x):
    return np.sum(np.fft.irfft(np.fft.rfft(x) * (1j * np.fft.rfftfreq(len(x)))) ** 2)


def test_the_gradient_is_written_with_the_dual_transform() -> None:
    text = gs.differentiable(derivative_of_signal).specialize(REAL[:, 0]).gradient_source
    assert 'np.real(np.fft.ifft(d_t, x.shape[0], norm="forward"))' in text or (
        "np.fft.ifft(" in text and 'norm="forward"' in text and "shape[0] == 1" not in text
    )


def test_unknown_norm() -> None:
    with pytest.raises(gs.errors.UnsupportedError, match="none of 'backward', 'ortho'"):
        gs.vjp(lambda x: np.fft.fft(x, norm="unitary"), REAL)
