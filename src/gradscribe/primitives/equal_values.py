"""Eigenvalues and singular values that are equal, used without their vectors.

The k equal eigenvalues of a symmetric matrix move, along a change of it, by the eigenvalues of the
change in their space, in order. A result that weighs all of them alike has a derivative. So has, to
both sides on the average, one whose weights are alike once each is averaged with that from the
other end: the larger of two, as `np.maximum` of two equal numbers. For others there is none, on
which differences of the program agree. A singular value that is zero has, as an absolute value at
zero, the derivative zero. Eigenvalues of general matrices have no order.

All are checks in generated code as those of `gauge.py`, and give back their first argument where
no values are equal.
"""

from __future__ import annotations

import itertools

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.gauge import enter, equal_among, least_of, shown, unit
from gradscribe.primitives.stability import is_decided, refuse_unless_decided


def _refuse(values, equal, is_open=False):
    error = NoDerivativeError(
        "the result depends on single ones of equal values, which have no derivative of their own: "
        f"the values number {shown(equal, values)}",
        "let it depend on all of them alike, as their sum, or the trace of a function of the "
        "matrix, does",
    )
    error.is_open = is_open
    raise error


def _runs(values):
    """The slices of equal values, of values in order."""
    apart = np.abs(np.diff(values)) > least_of(values)
    edges = [0, *(np.flatnonzero(apart) + 1), len(values)]
    return [slice(i, j) for i, j in itertools.pairwise(edges) if j - i > 1]


def _are_apart(values, singular):
    least = least_of(values)
    is_equal = np.abs(values[..., 1:] - values[..., :-1]) <= least
    return not (np.any(is_equal) or (singular and np.any(values <= least)))


def _check_poles(given, values):
    """Refuse a result that has a pole where a value is zero, as a condition number has: the part of
    what is zero is too large for one that is but bent there."""
    is_zero = np.abs(values) <= least_of(values)
    size = np.max(np.abs(values), axis=-1, keepdims=True, initial=0)
    weighed = np.abs(given * values)
    others = np.max(np.where(is_zero, 0, weighed), axis=-1, keepdims=True, initial=0)
    bound = unit(values.dtype, -1 / 3) * np.maximum(others, 1)
    if np.any(is_zero & ((np.abs(given) * size > bound) | ~np.isfinite(given))):
        refuse_unless_decided(
            "the result depends steeply on a singular value or eigenvalue that is zero, as far as "
            "rounding errors let tell",
            "leave out values that are zero, or add to the matrix what makes it regular",
            is_of_kink=True,
        )


def shared(given, values, singular=False):
    """The cotangent of values in order, of which equal ones have equal parts."""
    _check_poles(given, values)
    if _are_apart(values, singular):
        return given
    given = np.array(given)
    for at in np.ndindex(values.shape[:-1]):
        own, part = values[at], given[at]
        zero = unit(values.dtype, 1 / 2) * np.max(np.abs(part), initial=0)
        for run in _runs(own):
            both = (part[run] + part[run][::-1]) / 2
            is_zero = singular and own[run][-1] <= least_of(own)[0]
            if np.any(np.abs(both - both.mean()) > zero) and not is_zero:
                _refuse(values, equal_among(values))
            part[run] = both.mean()
        if singular:
            part[own <= least_of(own)] = 0
    return given


def moved(given, values, v, d_v, singular=False):
    """The tangent of values in order. v, d_v: the vectors, and what the change makes of them (or of
    those on the other side, for singular values). Of two equal values, either moves by the same to
    both sides on the average; of more, they are alike where what depends on them is, as a sum."""
    if _are_apart(values, singular):
        return given
    if singular and np.any(values <= least_of(values)):
        refuse_unless_decided(
            "forward mode does not tell whether the result has a derivative where singular values "
            "are zero",
            "use reverse mode: `gs.grad`, `gs.vjp` or `gs.jacrev`; or differentiate the whole "
            "function, compiled",
            is_of_kink=True,
        )
    given = np.array(given)
    for at in np.ndindex(values.shape[:-1]):
        own, part = values[at], given[at]
        inner = np.conjugate(np.swapaxes(v[at], -1, -2)) @ d_v[at]
        inner = (inner + np.conjugate(inner.T)) / 2
        for run in _runs(own):
            by = np.linalg.eigvalsh(inner[run, run])
            both = (by + by[::-1]) / 2
            zero = unit(own.dtype, 1 / 2) * np.max(np.abs(by))
            is_zero = singular and own[run][-1] <= least_of(own)[0]
            if np.any(np.abs(both - both.mean()) > zero) and not (is_zero or is_decided()):
                _refuse(values, equal_among(values), True)
            part[run] = both.mean()
        if singular:
            part[own <= least_of(own)] = 0
    return given


def unordered(given, values):
    """The cotangent of eigenvalues of a general matrix, after a check that equal ones have equal
    parts."""
    equal = equal_among(values)
    if np.any(equal):
        apart = np.abs(given[..., None, :] - given[..., :, None])
        zero = unit(values.dtype, 1 / 2) * np.max(np.abs(given), axis=-1, initial=0)
        others = equal & (apart > zero[..., None, None])
        if np.any(others):
            _refuse(values, others)
    return given


def alike(given, values, inner):
    """The tangent of eigenvalues of a general matrix, of which equal ones move alike: on the
    average, where single ones do not, which is right for what depends on all of them. inner: the
    change in the basis of the vectors."""
    equal = equal_among(values)
    if not np.any(equal):
        return given
    zero = unit(values.dtype, 1 / 2) * np.max(np.abs(inner), axis=(-2, -1), initial=0)
    apart = np.abs(given[..., None, :] - given[..., :, None])
    others = equal & (np.maximum(apart, np.abs(inner)) > zero[..., None, None])
    if np.any(others) and not is_decided():
        _refuse(values, others, True)
    together = equal | np.eye(values.shape[-1], dtype=bool)
    return np.sum(together * given[..., None, :], axis=-1) / np.sum(together, axis=-1)


def _tangent_of_given(out, *, d_given):
    return d_given


CHECKS = dict.fromkeys((shared, moved, unordered, alike), _tangent_of_given)
"""As in `gauge.py`."""

for _check, _tangent in CHECKS.items():
    enter(_check, _tangent)
