"""Functions of one number that have several results: Airy's, and integrals in pairs.

Formulas: Abramowitz & Stegun, 5.2, 7.3 and 10.4. What is scaled by a real part has no derivative of
complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from gradscribe.ir.types import Tuple
from gradscribe.primitives.registry import GRADIENTS, PRIMITIVES, adjoint
from gradscribe.primitives.typing import elementwise_type


def _several(ufunc: Any, poles: tuple[int, ...] = ()) -> Callable[[Any], Any]:
    """Enter a function by what gives the derivatives of its results, `rule(out, x)`.

    poles: the numbers of the results that have one at zero. There no cotangent of such a result
    is none of the argument, too: zero times infinity is NaN.
    """

    def result(i):
        return lambda x: ufunc(x)[i]

    parts = tuple(result(i) for i in range(ufunc.nout))

    def enter(rule):
        def type_(facts, callee, x):
            return Tuple(tuple(elementwise_type(facts, part, x=x) for part in parts))

        def tangent(out, x, *, d_x):
            return tuple(partial * d_x for partial in rule(out, x))

        def cotangent(out, x, *, d_out):
            d_x = 0.0
            for i, (partial, d_result) in enumerate(zip(rule(out, x), d_out)):  # noqa: B905
                if d_result is None:
                    continue
                is_complex = np.asarray(x).dtype.kind == "c"
                term = (np.conjugate(partial) if is_complex else partial) * d_result
                if i in poles:
                    term = np.where((x == 0) & (d_result == 0), 0, term)
                d_x = d_x + term
            return d_x

        cotangent.__name__ = rule.__name__
        adjoint(ufunc, type=type_, tangent=tangent, partial=True)(cotangent)
        return rule

    return enter


@_several(sp.airy)
def airy(out, x):
    return out[1], x * out[0], out[3], x * out[2]


@_several(sp.airye)
def airye(out, x):
    """Scaled by the exponential of 2/3 x ** 1.5, and of its real part where x is negative."""
    root = np.sqrt(np.maximum(x, 0))
    ai, d_ai = np.where(x < 0, 0, out[0]), np.where(x < 0, 0, out[1])  # there SciPy has none
    first = d_ai + root * ai, x * ai + root * d_ai
    return *first, out[3] - root * out[2], x * out[2] - root * out[3]


@_several(sp.sici, poles=(1,))
def sici(out, x):
    return np.sinc(x / math.pi), np.cos(x) / x


@_several(sp.shichi, poles=(1,))
def shichi(out, x):
    mean = np.sinc(1j * x / math.pi)  # sinh(x) / x
    return mean if np.asarray(x).dtype.kind == "c" else np.real(mean), np.cosh(x) / x


@_several(sp.fresnel)
def fresnel(out, x):
    angle = math.pi / 2 * x * x
    return np.sin(angle), np.cos(angle)


for _function in (sp.airy, sp.sici, sp.shichi, sp.fresnel):
    GRADIENTS.add(PRIMITIVES[_function])
