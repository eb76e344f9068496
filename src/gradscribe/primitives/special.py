"""Functions that NumPy does not have, as ordinary Python functions over what it has.

They are no primitives: the compiler inlines them like any helper, so that the code it
emits needs only NumPy, and their derivatives are those of what they are made of.
"""

from __future__ import annotations

import numpy as np


def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow and exact to rounding for large negative x.

    x: a number or an array; the result has its shape. As exp(-log(1 + exp(-x))).
    """
    return np.exp(-np.logaddexp(0, -x))


def relu(x):
    """The larger of x and 0; the derivative at 0 is 0.

    x: a number or an array; the result is an array of its shape.
    """
    return np.where(x > 0, x, 0)
