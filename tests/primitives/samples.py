"""The arrays of the tested calls."""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(7)


def array(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    return np.asarray(RNG.uniform(low, high, size=shape))


def regular(*shape: int) -> np.ndarray:
    """Matrices that are far from singular."""
    return array(*shape) + 4 * np.eye(shape[-1])


def positive(*shape: int) -> np.ndarray:
    """Symmetric matrices with positive, distinct eigenvalues."""
    a = array(*shape)
    return a @ np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))
