"""As `primitives/stability.py`, of SciPy's factorizations."""

from __future__ import annotations

import numpy as np
from scipy import linalg as sl

from gradscribe.primitives.gauge import enter, unit
from gradscribe.primitives.registry import GRADIENTS, PRIMITIVES, adjoint
from gradscribe.primitives.stability import (
    check_signs,
    gaps_between,
    has_pattern,
    nearby,
    refuse_signs,
    refuse_unless_decided,
    tangent_of_given,
    triangle,
)


def settled_eigh_of(given, a, b, w, v, lower, every=False):
    """The cotangent of eigenvectors, after a check that signs are settled: of SciPy's driver,
    which is told by rounding errors where to begin, they may be others near any matrix."""
    if np.any(given):
        lengths = np.sqrt(np.sum(np.abs(v) ** 2, axis=-2))
        others = (sl.eigh(each, b, lower=lower)[1] / lengths for each in nearby(a))
        check_signs("eigh", given, v / lengths, others, w, every, True)
    return given


def settled_subset(given, v, a, b, lower, first, last):
    """The same of vectors that were asked for alone: of another driver."""
    if np.any(given) and has_pattern(triangle(a, "L" if lower else "U")):
        lengths = np.sqrt(np.sum(np.abs(v) ** 2, axis=-2))
        places = {"lower": lower, "subset_by_index": (first, last)}
        others = (sl.eigh(each, b, **places)[1] / lengths for each in nearby(a))
        check_signs("eigh", given, v / lengths, others, None, True, True)
    return given


def settled_schur(given, a, t, z, output):
    """A cotangent or tangent, after a check that the order of eigenvalues and the signs of vectors
    are settled. (Shifts are told by rounding errors: these may be others near any matrix.)"""
    w = np.diagonal(t)
    apart = 0.3 * gaps_between(w)
    for each in nearby(a):
        other, vectors = sl.schur(each, output)
        is_near = np.abs(np.diagonal(other) - w) <= apart
        if not np.all(is_near & (np.abs(np.sum(np.conjugate(z) * vectors, axis=-2)) >= 0.5)):
            refuse_signs("schur", "the order of eigenvalues, and vectors,", is_by_chance=True)
        check_signs("schur", given, z, [vectors], None, True, True)
    return given


def settled_lu(given, a):
    """A cotangent or tangent, after a check that the exchanges of rows are settled: that each pivot
    is larger than what it was chosen from."""
    _, lower, upper = sl.lu(a)
    pivots = np.diagonal(upper)
    k = pivots.shape[0]
    least = unit(a.dtype, 1 / 2) * np.max(np.abs(a), initial=0)
    largest = np.max(_sizes(np.tril(lower, -1)[:, :k] * pivots), axis=0, initial=0)
    is_chosen = np.arange(k) < a.shape[0] - 1
    if np.any(is_chosen & (_sizes(pivots) - largest <= least)):
        refuse_unless_decided(
            "the exchanges of rows that `lu` makes are others at matrices nearby, and the "
            "result depends on them, as far as is known",
            "let it depend on what they do not change, as `np.linalg.solve` and `det`; where "
            "it does not, differentiate the whole function, compiled: `gs.grad(f)`",
        )
    return given


def _sizes(a):
    """What LAPACK compares."""
    return np.abs(np.real(a)) + np.abs(np.imag(a))


for _settled in (settled_eigh_of, settled_subset, settled_schur, settled_lu):
    enter(_settled, tangent_of_given)


# -- vectors that are asked for alone ------------------------------------------------------------


def of_subset(v, a, b, lower, first, last):
    """v, vectors with the signs or phases that SciPy gives those from one number on to another."""
    return v


def _of_subset_type(facts, callee, v, a, b, lower, first, last):
    return v


def _of_subset_tangent(out, v, a, b, lower, first, last, *, d_v):
    return settled_subset(d_v, v, a, b, lower, first, last)


@adjoint(of_subset, type=_of_subset_type, tangent=_of_subset_tangent, view=True)
def alone(out, v, a, b, lower, first, last, *, d_out):
    return settled_subset(d_out, v, a, b, lower, first, last), None, None


GRADIENTS.add(PRIMITIVES[of_subset])
