"""Choices that a library makes anew for each matrix: signs, the order of eigenvalues, a rank.

LAPACK's signs of vectors are constant near most matrices, and the program has the derivative that
the formulas give. They jump where a pivot or a number that is compared is zero: at triangular,
diagonal and permutation matrices, and others of a pattern. So does the order of the eigenvalues of
general matrices, and a rank where the matrix is not of full rank. No cotangent at one matrix tells
whether a result depends on what jumps. The checks here factorize again nearby, where a pattern in
the matrix gives cause to, and raise a `NoDerivativeError` that is *open* if the choice is another
there. Who can run the program decides then, by its values nearby, and runs it once more under
`decided` (`api/deciding.py`).

Nearby is eps^(3/4) and eps^(1/2) of the largest element (1.8e-12 and 1.5e-8 in double, 6e-6 and
3e-4 in single precision), along directions in which all elements move; and along some in which few
do, as signs may jump while zeros stay zero. Vectors of values that are as near to each other are
not compared.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.gauge import enter, least_of, lengths_of, unit
from gradscribe.primitives.registry import GRADIENTS, PRIMITIVES, adjoint

_LARGE = 32
"""The length of an axis from which on matrices nearby are taken along fewer directions."""

_SINGLE = 36
"""Up to how many elements each of them is moved for itself, too."""

_DECIDED: ContextVar[bool] = ContextVar("decided", default=False)


@contextmanager
def decided() -> Iterator[None]:
    """Choices make no difference here: nothing is refused for them."""
    token = _DECIDED.set(True)
    try:
        yield
    finally:
        _DECIDED.reset(token)


def is_decided():
    """Whether choices are known to make no difference here."""
    return _DECIDED.get()


def refuse_unless_decided(what, advice, *, is_of_kink=False, is_by_chance=False):
    """Raise an open error."""
    if not is_decided():
        error = NoDerivativeError(what, advice)
        error.is_open, error.is_of_kink, error.is_by_chance = True, is_of_kink, is_by_chance
        raise error


def refuse_signs(name, of="the signs of vectors", *, is_by_chance=False):
    refuse_unless_decided(
        f"{of} that `{name}` gives are others at matrices nearby, and the result depends on them, "
        "as far as is known",
        "let it depend on neither signs nor order, as squares and the projections "
        "`v[:, i:j] @ v[:, i:j].conj().T` do not; where it does not, differentiate the whole "
        "function, compiled: `gs.grad(f)`",
        is_by_chance=is_by_chance,
    )


# -- matrices nearby -----------------------------------------------------------------------------


def has_pattern(a):
    """Whether elements of a matrix are zero, or equal in size: of others, signs are settled."""
    if a.ndim > 1 and a.shape[-2] == a.shape[-1] and np.array_equal(a, np.swapaxes(a, -1, -2)):
        a = triangle(a, "L")  # those of symmetric matrices are
    if a.dtype.kind == "c":
        a = np.stack((a.real, a.imag))
    sizes = np.sort(np.abs(a), axis=None)
    if not sizes.size:
        return False
    return bool((np.diff(sizes, prepend=0) <= unit(a.dtype, 2 / 3) * sizes[-1]).any())


def are_equal(values):
    """Whether some are, of values in order."""
    largest = np.nanmax(np.abs(values), axis=-1, keepdims=True, initial=0)
    return bool((np.abs(np.diff(values)) <= unit(values.dtype, 2 / 3) * largest).any())


def _is_any_zero(values):
    return bool((values <= least_of(values)).any())


@functools.lru_cache(maxsize=64)
def _directions(shape, is_complex):
    rng = np.random.default_rng(7)
    directions = rng.normal(size=(2 if max(shape) >= _LARGE else 6, *shape))
    return directions + 1j * rng.normal(size=directions.shape) if is_complex else directions


def some_elements(
    rng: np.random.Generator, shapes: Sequence[tuple[int, ...]], several: int
) -> Iterator[list[np.ndarray]]:
    """Which elements of these arrays to move, for each of some directions: one, for each of them if
    they are few; or several of all arrays together, of any number."""
    count = sum(map(math.prod, shapes))
    chosen = list(np.eye(count, dtype=bool)) if count <= _SINGLE else []
    chosen += [rng.random(count) < count ** rng.uniform(-1, 0) for _ in range(several)]
    edges = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    for which in chosen:
        yield list(map(np.reshape, np.split(which, edges), shapes))


def nearby(a):
    """Matrices nearby, on both sides of a: as many as are asked for; none under `decided`. Where a
    has a pattern, some that keep a part of it are among them."""
    if is_decided():
        return
    size = np.max(np.abs(a), axis=(-2, -1), keepdims=True, initial=0)
    size = np.where(size, size, 1)
    directions = _directions(a.shape[-2:], a.dtype.kind == "c")
    for direction in directions:
        for power in (3 / 4, 1 / 2):
            step = (unit(a.dtype, power) * size * direction).astype(a.dtype)
            yield from (a + step, a - step)
    if has_pattern(a):
        masks = some_elements(np.random.default_rng(7), [a.shape[-2:]], 4 * len(directions))
        for (mask,), direction in zip(masks, itertools.cycle(directions)):
            step = (unit(a.dtype, 1 / 2) * size * np.where(mask, direction, 0)).astype(a.dtype)
            yield from (a + step, a - step)


def triangle(a, UPLO):
    rows, columns = np.tril_indices(a.shape[-1])
    return a[..., rows, columns] if UPLO == "L" else a[..., columns, rows]


def _largest(values):
    return np.max(np.abs(values), axis=-1, keepdims=True, initial=0)


def gaps_between(values):
    """How far each value is from the others."""
    apart = np.abs(values[..., None, :] - values[..., :, None])
    apart = np.where(np.eye(values.shape[-1], dtype=bool), np.inf, apart)
    return np.min(apart, axis=-1, initial=np.inf)


def _is_used(given):
    """Which columns the result depends on, by their cotangents."""
    lengths = lengths_of(given)
    whole = np.sqrt(np.sum(lengths**2, axis=-1, keepdims=True))
    return (lengths > unit(given.dtype, 1 / 2) * whole) | (whole == 0)


def _are_others(v, other):
    """Which columns of matrices nearby are not nearby."""
    return np.real(np.sum(np.conjugate(v) * other, axis=-2)) < 0.5


def check_signs(name, given, v, others, values, every, is_by_chance=False):
    """others: the vectors of matrices nearby, of which no more are found than tell."""
    used = True if every else _is_used(given)
    if values is not None:
        used = used & (gaps_between(values) > 64 * unit(v.dtype, 1 / 2) * _largest(values))
    for other in others:
        if np.any(_are_others(v, other) & used):
            refuse_signs(name, is_by_chance=is_by_chance)


# -- factorizations ------------------------------------------------------------------------------


def settled_svd(given, a, v, values, rows=False, every=False):
    """The cotangent of singular vectors, after a check that signs are settled. v: the vectors, in
    columns, or in rows. every: given is the tangent, which does not tell which are used."""
    if np.any(given) and (has_pattern(a) or are_equal(values) or _is_any_zero(values)):
        k = values.shape[-1]
        part = 2 if rows else 0
        is_full = v.shape[-2 if rows else -1] > k
        turn = _conjugate_transposed if rows else np.asarray
        d_columns, columns = turn(given), turn(v)
        of_last = columns.shape[-1] == k + 1 and not _is_any_zero(values)
        for each in nearby(a):
            other = turn(np.linalg.svd(each, full_matrices=is_full)[part])
            first = [other[..., :k]]
            check_signs("svd", d_columns[..., :k], columns[..., :k], first, values, every)
            if of_last:
                last = [other[..., k:]]
                check_signs("svd", d_columns[..., k:], columns[..., k:], last, None, every)
    return given


def _conjugate_transposed(a):
    return np.conjugate(np.swapaxes(a, -1, -2))


def settled_qr(given, a, q, every=False):
    """The triangular factor, or the cotangent or tangent of one, after a check that its signs are
    settled."""
    if has_pattern(a):
        k = min(a.shape[-2:])
        is_full = q.shape[-1] == k + 1
        mode = "complete" if is_full else "reduced"
        others = (np.linalg.qr(each, mode)[0] for each in nearby(a))
        q = q if is_full else q[..., :k]
        check_signs("qr", q, q, others, None, True)
    return given


def settled_eigh(given, a, w, v, UPLO="L", every=False):
    """The cotangent of eigenvectors of a symmetric matrix, after a check that signs are settled."""
    if np.any(given) and (has_pattern(triangle(a, UPLO)) or are_equal(w)):
        others = (np.linalg.eigh(each, UPLO)[1] for each in nearby(a))
        check_signs("eigh", given, v, others, w, every)
    return given


def settled_eig(given, a, w, v=None, every=False):
    """The cotangent of eigenvectors, or without those of eigenvalues, of a general matrix, after a
    check that their order, and the signs of vectors, are settled. Those of equal values are others
    near any matrix."""
    sizes = np.sort(np.where(np.imag(w) >= 0, np.abs(w), np.nan))
    if has_pattern(a) or are_equal(sizes) or _is_any_zero(np.abs(w)):
        gaps = gaps_between(w)
        free = gaps <= 64 * unit(w.dtype, 1 / 2) * _largest(w)
        if v is not None and np.any(free & _is_used(given)):
            refuse_signs("eig", "the vectors of equal values", is_by_chance=True)
        for each in nearby(a):
            moved, vectors = np.linalg.eig(each)
            if np.any((np.abs(moved - w) > 0.3 * gaps) & ~free):
                refuse_signs("eig", "the order of eigenvalues, and vectors,")
            if v is not None:
                check_signs("eig", given, v, [vectors], w, every)
    return given


def settled_rank(given, rank, a):
    """A cotangent or tangent, after a check that matrices near a have its rank."""
    if np.any(rank < min(a.shape[-2:]) - 0.5):
        refuse_unless_decided(
            "a matrix that is not of full rank has neighbours that are, and the result jumps "
            "there, as far as is known",
            "let it depend on arguments that do not change the rank, and differentiate the whole "
            "function, compiled: `gs.grad(f)`; or add to the matrix what makes it regular",
        )
    return given


def tangent_of_given(out, *, d_given):
    return d_given


CHECKS = dict.fromkeys(
    (settled_svd, settled_qr, settled_eigh, settled_eig, settled_rank), tangent_of_given
)
"""As in `gauge.py`."""

for _check, _tangent in CHECKS.items():
    enter(_check, _tangent)


# -- a rank that is decided ----------------------------------------------------------------------


def of_rank(x, rank, a):
    """x, which is cut at the rank of a."""
    return x


def _of_rank_type(facts, callee, x, rank, a):
    return x


def _of_rank_tangent(out, x, rank, a, *, d_x):
    return settled_rank(d_x, rank, a)


@adjoint(of_rank, type=_of_rank_type, tangent=_of_rank_tangent, view=True)
def cut_at_rank(out, x, rank, a, *, d_out):
    return settled_rank(d_out, rank, a), None, None


GRADIENTS.add(PRIMITIVES[of_rank])
