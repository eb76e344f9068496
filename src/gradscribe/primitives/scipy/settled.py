"""As `primitives/stability.py`, of SciPy's factorizations."""

from __future__ import annotations

import numpy as np
from scipy import linalg as sl

from gradscribe.primitives.gauge import enter
from gradscribe.primitives.stability import (
    check_signs,
    nearby,
    refuse,
    refuse_signs,
    tangent_of_given,
)


def settled_eigh_of(given, a, b, w, v, lower, every=False):
    """The cotangent of eigenvectors, after a check that signs are settled: of SciPy's driver they
    may be others near any matrix."""
    if np.any(given):
        others = [sl.eigh(each, b, lower=lower)[1] for each in nearby(a)]
        lengths = np.sqrt(np.sum(np.abs(v) ** 2, axis=-2))
        check_signs("eigh", given, v / lengths, [each / lengths for each in others], w, every)
    return given


def settled_schur(given, a, z, output):
    """A cotangent or tangent, after a check that the order of eigenvalues and the signs of vectors
    are settled."""
    for each in nearby(a):
        moved = sl.schur(each, output)[1]
        if np.any(np.abs(np.sum(np.conjugate(z) * moved, axis=-2)) < 0.5):
            refuse_signs("schur", "the order of eigenvalues, and vectors,")
        check_signs("schur", given, z, [moved], None, True)
    return given


def settled_lu(given, a):
    """A cotangent or tangent, after a check that the exchanges of rows are settled."""
    pivots = sl.lu_factor(a)[1] if a.shape[0] == a.shape[1] else sl.lu(a)[0]
    for each in nearby(a):
        moved = sl.lu_factor(each)[1] if a.shape[0] == a.shape[1] else sl.lu(each)[0]
        if np.any(moved != pivots):
            refuse(
                "the exchanges of rows that `lu` makes are others at matrices nearby, and the "
                "result depends on them, as far as is known",
                "let it depend on what they do not change, as `np.linalg.solve` and `det`; where "
                "it does not, differentiate the whole function, compiled: `gs.grad(f)`",
            )
    return given


for _settled in (settled_eigh_of, settled_schur, settled_lu):
    enter(_settled, tangent_of_given)
