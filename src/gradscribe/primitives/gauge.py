"""Choices that factorizations leave open, and derivatives that must not depend on them.

Vectors of equal values are any basis of their space, complex ones have any phase, and columns that
complete a basis are any that do. A result that is the same for all of these choices has a
derivative, although the vectors themselves have none; the formulas leave out how vectors turn among
each other. Whether a result is such a one is told by the cotangent G of the vectors V: the turn
V + V W with W = -W^H changes the result by Re tr(G^H V W), so V^H G - G^H V has to be zero where W
is free. The functions here check that in generated code, where they stand by their names. They give
back their first argument, or raise a `NoDerivativeError`.

Tolerances: values are equal where they differ by no more than eps^(2/3) of the largest (4e-11 in
double, 2e-5 in single precision): a division by a greater difference has an error of eps^(1/3).
A part of a cotangent is zero where it is no more than eps^(1/2) of the whole (1e-8, 3e-4).

Forward mode has no cotangents to check, and refuses the vectors themselves. The tangent of a
gradient is another matter: the gradient has been checked, and its tangent is, in turn.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.registry import GRADIENTS, PRIMITIVES, adjoint


@functools.cache
def unit(dtype, power):
    """A power of the rounding unit of this dtype."""
    return float(np.finfo(dtype).eps) ** power


def _zero(*cotangents):
    """What is zero in these cotangents of the columns of matrices: one number for each."""
    present = [d for d in cotangents if d is not None]
    whole = sum(np.sum(np.abs(d) ** 2, axis=(-2, -1)) for d in present)
    return (np.sqrt(whole) * unit(present[0].dtype, 1 / 2))[..., None]


def least_of(values):
    """The difference up to which values are equal; for each stack, with an axis of length one."""
    largest = np.maximum.reduce(np.abs(values), axis=-1, keepdims=True, initial=0)
    return unit(values.dtype, 2 / 3) * largest


def equal_among(values):
    """Which pairs of values are equal."""
    apart = np.abs(values[..., None, :] - values[..., :, None])
    return (apart <= least_of(values)[..., None]) & ~np.eye(values.shape[-1], dtype=bool)


def _have_equal(values):
    """Whether some are: values in order, as real ones are."""
    return bool((np.abs(values[..., 1:] - values[..., :-1]) <= least_of(values)).any())


def _adjoint_of(a):
    return np.conjugate(np.swapaxes(a, -1, -2))


def lengths_of(columns):
    """The lengths of the columns of matrices."""
    return np.sqrt(np.sum(np.abs(columns) ** 2, axis=-2))


def _turned(along):
    """The part of V^H G that tells of turns."""
    return np.abs(along - _adjoint_of(along))


def shown(pairs, values):
    """The first pair of values, as errors show it."""
    *stack, i, j = np.argwhere(pairs)[0].tolist()
    i, j = sorted((i, j))
    of = f" of matrix {', '.join(map(str, stack))}" if stack else ""
    return f"{i} and {j}{of} are {values[tuple(stack)][i]:.6g}"


def _type_of_first(facts, callee, **arguments):
    return next(iter(arguments.values()))


# -- what divides by differences -----------------------------------------------------------------


def reciprocal(x, values):
    """1 / x of differences or sums x of the values; zero where x is as good as zero."""
    least = least_of(values)
    is_zero = np.abs(x) <= (least if x.ndim == values.ndim else least[..., None])
    return np.divide(1, x, out=np.zeros_like(x), where=~is_zero)


def _reciprocal_tangent(out, x, values, *, d_x):
    return -(out * out * d_x)


@adjoint(reciprocal, type=_type_of_first, tangent=_reciprocal_tangent, signature=reciprocal)
def reciprocal_(out, x, values, *, d_out):
    return -(np.conjugate(out * out) * d_out if x.dtype.kind == "c" else out * out * d_out)


def gaps_of(w):
    """1 / (w_j - w_i), and 0 where the values are equal."""
    return reciprocal(w[..., None, :] - w[..., :, None], w)


# -- eigenvectors and singular vectors -----------------------------------------------------------


def invariant(values, v, given, of_values=None):
    """The eigenvalues in order, after a check that it makes no difference which vectors v equal
    ones have. given: the cotangent of the vectors; of_values: that of the values, if any."""
    if _have_equal(values):
        _check_equal(values, _turned(_adjoint_of(v) @ given), [(v, given)], of_values)
    return values


def invariant_pairs(values, u, given_u, vh, given_vh, of_values=None):
    """The singular values in order, after a check that it makes no difference which vectors equal
    ones have: columns of u, rows of vh. given_u, given_vh: their cotangents (None: zero)."""
    is_zero = values <= least_of(values)
    if _have_equal(values) or is_zero.any():
        sides = [] if given_u is None else [(u, given_u)]
        sides += [] if given_vh is None else [(_adjoint_of(vh), _adjoint_of(given_vh))]
        along = sum(_adjoint_of(v) @ given for v, given in sides)
        _check_equal(values, _turned(along), sides, of_values)
        is_apart = u.shape[-2] == vh.shape[-1] and u.dtype.kind != "c"
        _check_of_zero(is_zero, sides, of_values, is_apart)
    return values


def independent(values, v, given, change, of_values=None, of_complex=False):
    """The eigenvalues of a general matrix, after a check as of `invariant`: here, vectors of equal
    values may be combined as one likes. change: the cotangent of vectors of any length. (Phases are
    such that the largest component is real: there are several where several are largest.)"""
    along = _adjoint_of(v) @ change
    ties = have_ties(v, of_complex)
    if np.any(ties):
        turned = np.sum(np.conjugate(v) * given, axis=-2)
        _check_phases(np.where(ties, turned, 0), _zero(given))
    if np.any(equal_among(values)):
        _check_equal(values, np.abs(along), [(v, given)], of_values)
    return values


def have_ties(v, of_complex):
    """Of which vectors several components are the largest, one of which LAPACK makes real."""
    sizes = np.abs(v)
    largest = np.max(sizes, axis=-2, keepdims=True, initial=0)
    ties = np.sum(sizes >= largest * (1 - unit(v.dtype, 2 / 3)), axis=-2) > 1
    return ties & (of_complex | np.any(np.imag(v) != 0, axis=-2))


def phaseless(turn, first, second=None):
    """How a result changes as complex vectors turn, after a check that their phases make no
    difference. first, second: the cotangents that tell it (None: zero)."""
    present = [given for given in (first, second) if given is not None]
    _check_phases(np.diagonal(turn, axis1=-2, axis2=-1), _zero(*present))
    return turn


def _phaseless_tangent(out, turn, first, second=None, *, d_turn, d_first, d_second=None):
    if first is not None:
        first = np.concatenate((first, d_first), axis=-1)
    if second is not None:
        second = np.concatenate((second, d_second), axis=-1)
    return phaseless_nearby(d_turn, first, second)


def _check_phases(along, zero):
    if np.any(np.abs(np.imag(along)) > zero):
        raise NoDerivativeError(
            "the result depends on the phases of complex vectors, which are arbitrary",
            "let it depend on what phases do not change, as `np.abs(v)` and "
            "`v[:, i:j] @ v[:, i:j].conj().T` are",
        )


def _check_equal(values, turned, sides, of_values):
    """turned: how the result changes when vectors turn, for each pair. sides: the vectors and their
    cotangents."""
    equal = equal_among(values)
    if of_values is not None:
        _check_apart(values, equal, [given for _, given in sides], of_values)
    changed = equal & (turned > _zero(*[given for _, given in sides])[..., None])
    if np.any(changed):
        raise NoDerivativeError(
            "the result depends on which vectors of equal values are taken: the values number "
            f"{shown(changed, values)}",
            "let it depend on the space that they span together, as the projection on it does: "
            "`v[:, i:j] @ v[:, i:j].conj().T`",
        )
    unknown = equal & _unknown(sides)
    if np.any(unknown):
        raise NoDerivativeError(
            "the result may depend on which vectors of equal values are taken: the values number "
            f"{shown(unknown, values)}",
            "differentiate at a matrix whose vectors have no components that are zero: here, the "
            "derivative by their turn may be zero as it happens",
        )


def _unknown(sides):
    """Pairs of vectors that are used, of which nothing shows that they may turn into each other:
    where components are zero, the derivative by the turn may be zero although the result changes;
    and so may be all of the cotangent."""
    zero = _zero(*[given for _, given in sides])[..., None]
    used, simple, known = zero == 0, False, False
    for v, given in sides:
        used = used | (lengths_of(given)[..., None, :] > zero)
        simple = simple | np.any(np.abs(v) <= unit(v.dtype, 1 / 2), axis=-2)[..., None, :]
        known = known | (np.abs(_adjoint_of(v) @ given) > zero)
    simple = simple | (zero == 0)
    used, simple = used | np.swapaxes(used, -1, -2), simple | np.swapaxes(simple, -1, -2)
    return used & simple & ~(known | np.swapaxes(known, -1, -2))


def _check_apart(values, equal, given, of_values):
    """Refuse what depends on equal values and on their vectors: a function of the matrix has a
    derivative there, which their cotangents do not tell. Zeros in all of these may be as it
    happens, too."""
    size = np.max(np.abs(values), axis=-1, keepdims=True, initial=0)
    by_value = np.maximum(_zero(of_values[..., None]), _zero(*given) / np.where(size, size, 1))
    used = np.abs(of_values) > by_value
    for each in given:
        used = used | (lengths_of(each) > by_value * size)
    is_nothing = (by_value == 0)[..., None]
    mixed = equal & (used[..., None, :] | used[..., :, None] | is_nothing)
    if np.any(mixed):
        raise NoDerivativeError(
            "the derivative of what depends on equal values and on their vectors is not known: "
            f"the values number {shown(mixed, values)}",
            "call the function of the matrix itself (`scipy.linalg.expm`, `sqrtm`, `polar`, "
            "`np.linalg.pinv`, …), or take values that are used without vectors of `eigvalsh` or "
            "`svdvals`",
        )


def _check_of_zero(is_zero, sides, of_values, is_apart):
    """Vectors of the value zero turn on either side for themselves, and with those that no value
    belongs to; is_apart: where there are none, the values may be used beside the vectors."""
    zero = _zero(*[given for _, given in sides])
    pairs = is_zero[..., None, :] & is_zero[..., :, None]
    uses, changed = 0, False
    for v, given in sides:
        used = (lengths_of(given) > zero) | (zero == 0)  # all zeros may be so as it happens
        turned = pairs & (
            (_turned(_adjoint_of(v) @ given) > zero[..., None]) | _unknown_of(v, given)
        )
        changed = changed | np.any(turned, axis=-2) | (used & (v.shape[-2] > v.shape[-1]))
        uses = uses + used
    if of_values is not None:
        used = np.abs(of_values) > _zero(of_values[..., None])
        uses, changed = uses + used, changed | (used & (not is_apart))
    if np.any(is_zero & (changed | (uses > 1))):
        raise NoDerivativeError(
            "the result depends on which vectors of singular values that are zero are taken, or "
            "on more than the ones of one side",
            "leave them out: `u[:, :r]`, `s[:r]` and `vh[:r]` of a matrix of rank r",
        )


def _unknown_of(v, given):
    return _unknown([(v, given)]) & ~np.eye(v.shape[-1], dtype=bool)


# -- columns that complete a basis ---------------------------------------------------------------


def completion(given, columns, others, values=None):
    """The cotangent of columns that complete a basis, after a check that it makes no difference
    which ones they are. others: the cotangent of the other columns; values: the singular values
    that belong to those, among which zeros belong to any column."""
    if _are_free(columns):
        turned = _turned(_adjoint_of(columns) @ given) > _zero(given, others)[..., None]
        if values is not None and np.any(given):
            turned = np.any(turned) or np.any(values <= least_of(values))
        if np.any(turned):
            raise NoDerivativeError(
                "the result depends on which columns complete a basis",
                "let it depend on the space that they span, as the projection on it does: "
                "`q[:, k:] @ q[:, k:].conj().T`",
            )
    return given


def _completion_tangent(out, given, columns, others, values=None, *, d_given, d_columns):
    return completion_nearby(d_given, columns, given, d_columns)


def _are_free(columns):
    """Whether there is a choice beyond that of the sign of a single real column."""
    return columns.shape[-1] > (0 if columns.dtype.kind == "c" else 1)


# -- tangents of gradients -----------------------------------------------------------------------


def phaseless_nearby(turn, first, second=None):
    """The tangent of `turn` of `phaseless`, after a check that phases make no difference nearby,
    either."""
    present = [given for given in (first, second) if given is not None]
    _check_nearby(np.abs(np.imag(np.diagonal(turn, axis1=-2, axis2=-1))) > _zero(*present))
    return turn


def completion_nearby(tangent, columns, given, d_columns):
    """The tangent of `given` of `completion`, after a check that it makes no difference nearby,
    either, which columns there are."""
    if _are_free(columns):
        along = _adjoint_of(d_columns) @ given + _adjoint_of(columns) @ tangent
        moved = np.sqrt(np.sum(np.abs(d_columns) ** 2, axis=(-2, -1)))[..., None]
        zero = _zero(tangent) + moved * _zero(given)
        _check_nearby(_turned(along) > zero[..., None])
    return tangent


def _check_nearby(depends):
    if np.any(depends):
        raise NoDerivativeError(
            "the second derivative depends on phases of complex vectors, or on which columns "
            "complete a basis, as far as this part of the program tells",
            "compile the whole function: `gs.differentiable(f)`; let it depend on projections "
            "alone, such as `v[:, i:j] @ v[:, i:j].conj().T`",
        )


# -- forward mode --------------------------------------------------------------------------------


def determined(tangent, columns):
    """The tangent of columns that complete a basis, or of complex vectors, after a check that there
    are none of which there is a choice."""
    if _are_free(columns):
        raise NoDerivativeError(
            "columns that complete a basis, and phases of complex vectors, have no derivative of "
            "their own, as forward mode needs it",
            "use reverse mode first: `gs.grad`, `gs.vjp`, `gs.jacrev`, `gs.hvp` or `gs.hessian`",
        )
    return tangent


def tangent_of_values(out, *, d_values):
    return d_values


def tangent_of_tangent(out, *, d_tangent):
    return d_tangent


CHECKS: dict[Any, Any] = {
    invariant: tangent_of_values,
    invariant_pairs: tangent_of_values,
    independent: tangent_of_values,
    completion: _completion_tangent,
    phaseless: _phaseless_tangent,
    phaseless_nearby: _phaseless_tangent,
    completion_nearby: tangent_of_tangent,
    determined: tangent_of_tangent,
}
"""What stands in generated code, and gives back its first argument: each with its tangent."""


def enter(check, tangent):
    """Enter a check into the table of primitives."""

    def rule(out, *, d_out):
        return d_out

    rule.__name__, rule.__module__ = check.__name__, check.__module__
    adjoint(check, type=_type_of_first, tangent=tangent, view=True, signature=check)(rule)
    GRADIENTS.add(PRIMITIVES[check])


for _check, _tangent in CHECKS.items():
    enter(_check, _tangent)
GRADIENTS.add(PRIMITIVES[reciprocal])
