"""Functions of matrices: exponentials, logarithms, roots, trigonometric functions.

The derivative of f at A along E is the upper right block of f([[A, E], [0, A]]) (Higham,
"Functions of Matrices", 2008, theorem 3.6), and its transpose that of the transposed matrix.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg as sl

from gradscribe.primitives.degenerate import off_the_cut
from gradscribe.primitives.matrices import square_type, transposed
from gradscribe.primitives.real_numbers import KINDS_BY_VALUE, check_real_matrix
from gradscribe.primitives.registry import HOLOMORPHIC, PRIMITIVES, adjoint, composition
from gradscribe.primitives.typing import TypeRuleError


def _along(function, a, direction):
    """The derivative of a function of a matrix along a direction."""
    n = a.shape[-1]
    above = np.concatenate((a, direction), axis=-1)
    below = np.concatenate((np.zeros_like(a), a), axis=-1)
    return function(np.concatenate((above, below), axis=-2))[..., :n, n:]


def _type(facts, callee, a):
    """Computed in floats of single precision at least. (Of one number, `expm` gives what `np.exp`
    does.)"""
    wide = np.result_type(a.dtype, np.float32 if np.dtype(a.dtype).kind in "fc" else np.float64)
    return square_type(facts, callee, replace(a, dtype=wide.name))


def _as_it_is(a):
    return a


def _enter(function, check=_as_it_is):
    def tangent(out, a, *, d_a):
        return _along(function, check(a), d_a)

    def rule(out, a, *, d_out):
        return _along(function, transposed(check(a)), d_out)

    rule.__name__ = function.__name__
    adjoint(function, type=_type, tangent=tangent)(rule)
    HOLOMORPHIC.add(PRIMITIVES[function])


for _function in (sl.expm, sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm, sl.tanhm):
    _enter(_function)
for _function in (sl.sqrtm, sl.logm):
    _enter(_function, off_the_cut)


def _power_tangent(out, a, t, *, d_a):
    def power(matrix):
        return sl.fractional_matrix_power(matrix, t)

    return _along(power, off_the_cut(a), d_a)


def _power_type(facts, callee, a, *t, **named):
    if 1 in (*t, *named.values()):
        what = "the first power of a matrix is the matrix itself"
        raise TypeRuleError(what, "leave the call out")
    return square_type(facts, callee, a, *t, **named)


@adjoint(sl.fractional_matrix_power, type=_power_type, tangent=_power_tangent, static=("t",))
def fractional_matrix_power(out, a, t, *, d_out):
    return _power_tangent(out, transposed(a), t, d_a=d_out)


for _function in (sl.sqrtm, sl.logm, sl.fractional_matrix_power):
    KINDS_BY_VALUE[PRIMITIVES[_function]] = check_real_matrix


@composition(sl.expm_frechet, called=True)
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    """In double precision."""
    A, E = A.astype(np.result_type(A, np.float64)), E.astype(np.result_type(E, np.float64))
    along = _along(sl.expm, A, E)
    return (sl.expm(A), along) if compute_expm else along
