"""Floating-point errors of NumPy, which eager operations keep to themselves.

A division by zero or an overflow gives an infinity or a NaN, as in PyTorch, without a warning.
"""

import warnings

import numpy as np

silent = np.errstate(all="ignore")
"""Decorator of a function that computes with arrays for a Tensor."""


def tell_of_imaginary_part() -> None:
    """Warn of complex numbers that become real ones, as PyTorch does."""
    warnings.warn(
        "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4
    )
