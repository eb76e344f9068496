"""Floating-point errors of NumPy, which eager operations keep to themselves.

A division by zero or an overflow gives an infinity or a NaN, as in PyTorch, without a warning.
"""

import numpy as np

silent = np.errstate(all="ignore")
"""Decorator of a function that computes with arrays for a Tensor."""
