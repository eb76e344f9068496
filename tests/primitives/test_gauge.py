"""Vectors of which there is a choice: what does not depend on it has its derivative, which is that
of differences of the program, and what does is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.errors import NoDerivativeError

RNG = np.random.default_rng(3)
W = RNG.normal(size=(5, 5))
TALL = RNG.normal(size=(5, 3))
COMPLEX = RNG.normal(size=(5, 5)) + 1j * RNG.normal(size=(5, 5))


def orthogonal(a: np.ndarray) -> np.ndarray:
    return np.linalg.qr(a)[0]


def with_eigenvalues(*w: float, basis: np.ndarray = W) -> np.ndarray:
    """A symmetric (or Hermitian) matrix."""
    q = orthogonal(basis)[: len(w), : len(w)] if len(w) < 5 else orthogonal(basis)
    q = orthogonal(q)
    a = (q * np.array(w)) @ q.conj().T
    return np.asarray((a + a.conj().T) / 2)


def with_singular_values(*s: float) -> np.ndarray:
    u, _, vh = np.linalg.svd(TALL, full_matrices=False)
    return np.asarray((u * np.array(s)) @ vh)


PAIR = with_eigenvalues(1, 1, 2, 3, 3)
COMPLEX_PAIR = with_eigenvalues(1, 1, 2, 3, 3, basis=COMPLEX)
HERMITIAN = with_eigenvalues(1, 1.5, 2, 3, 4, basis=COMPLEX)
EQUAL = with_singular_values(2, 2, 1)
LOW_RANK = with_singular_values(2, 1, 0)
CIRCULANT = np.array([np.roll([1.0, 2.0, 0.5, 0.3], k) for k in range(4)])
GENERAL = W @ np.diag([1.0, 1, 2, 3, 5]) @ np.linalg.inv(W)


def weighted(a: Any) -> Any:
    """A real number that depends on all elements of a matrix, or of a stack."""
    m, n = a.shape[-2:]
    return np.sum(np.real(a) * W[:m, :n]) + np.sum(np.imag(a) * W[-m:, -n:])


def projection(v: Any) -> Any:
    return weighted(v @ np.conj(np.swapaxes(v, -1, -2)))


# -- what depends on no choice -------------------------------------------------------------------


def space_of_eigenvectors(a):
    return projection(np.linalg.eigh(a)[1][..., :2])


def space_of_eigenvectors_of_scipy(a):
    from scipy import linalg

    return projection(linalg.eigh(a, np.diag([1.0, 2.0, 1.5, 1.0, 3.0]))[1][:, 1:3])


def equal_values(a):
    w = np.linalg.eigh(a)[0]
    return np.sum(w**2) + np.exp(w[0] + w[1])


def first_of_others(a):
    w, v = np.linalg.eigh(a)
    return projection(v[:, 2:3] * w[2])


def squares(a):
    return np.sum(np.abs(np.linalg.eigh(a)[1]) ** 2 * W)


def complement(a):
    return projection(np.linalg.svd(a)[0][..., 3:])


def complement_of_rows(a):
    v = np.linalg.svd(a.T)[2][3:].T
    return projection(v)


def orthogonal_factor(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return weighted(u @ vh)


def space_of_equal_values(a):
    return projection(np.linalg.svd(a, full_matrices=False)[0][:, :2])


def truncated(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return weighted((u[:, :2] * s[:2]) @ vh[:2])


def squares_of_singular_vectors(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.abs(u) ** 2 * W[: u.shape[0], : u.shape[1]]) + weighted(u @ vh)


def complement_by_qr(a):
    q, r = np.linalg.qr(a, "complete")
    return projection(q[:, 3:]) + weighted(q[:, :3] * np.real(r[0]))


def null_space(a):
    from scipy import linalg

    return projection(linalg.null_space(a.T))


def range_by_orth(a):
    from scipy import linalg

    return projection(linalg.orth(a))


def polar(a):
    from scipy import linalg

    u, p = linalg.polar(a)
    return weighted(u) + weighted(p @ p)


def polar_on_the_left(a):
    from scipy import linalg

    u, p = linalg.polar(a, side="left")
    return weighted(u * 2) + weighted(np.sin(p))


def space_of_general_eigenvectors(a):
    w, v = np.linalg.eig(a)
    v = v[:, np.argsort(np.abs(w - 1))[:2]]
    return weighted(v @ np.linalg.inv(np.conj(v.T) @ v) @ np.conj(v.T))


def sizes_of_general_eigenvectors(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v[:, np.argsort(np.imag(w))]) ** 2 * W[:4, :4])


def sizes_by_schur(a):
    from scipy import linalg

    t, z = linalg.schur(a, "complex")
    return np.sum(np.abs(z) ** 2 * W) + np.sum(np.abs(t) ** 2 * W)


def is_hermitian(a: np.ndarray) -> bool:
    return a.shape[-2] == a.shape[-1] and np.allclose(a, np.conj(np.swapaxes(a, -1, -2)))


INVARIANT: list[tuple[Callable[[Any], Any], np.ndarray]] = [
    (space_of_eigenvectors, PAIR),
    (space_of_eigenvectors, COMPLEX_PAIR),
    (space_of_eigenvectors, np.stack([PAIR, with_eigenvalues(1, 2, 3, 4, 5)])),
    (space_of_eigenvectors_of_scipy, with_eigenvalues(1, 2, 3, 4, 5)),
    (equal_values, PAIR),
    (first_of_others, PAIR),
    (squares, HERMITIAN),
    (complement, TALL),
    (complement, EQUAL),
    (complement, COMPLEX[:, :3]),
    (complement, np.stack([TALL, EQUAL])),
    (complement_of_rows, TALL),
    (orthogonal_factor, EQUAL),
    (orthogonal_factor, np.eye(3)),
    (space_of_equal_values, EQUAL),
    (space_of_equal_values, LOW_RANK),
    (truncated, LOW_RANK),
    (squares_of_singular_vectors, COMPLEX),
    (squares_of_singular_vectors, COMPLEX[:, :2]),
    (squares_of_singular_vectors, COMPLEX[:3]),
    (complement_by_qr, TALL),
    (complement_by_qr, COMPLEX[:, :3]),
    (null_space, TALL),
    (range_by_orth, EQUAL),
    (polar, EQUAL),
    (polar, np.eye(3)),
    (polar, TALL.T),
    (polar, COMPLEX[:, :3]),
    (polar_on_the_left, EQUAL),
    (polar_on_the_left, COMPLEX),
    (space_of_general_eigenvectors, GENERAL),
    (sizes_by_schur, COMPLEX),
    (sizes_of_general_eigenvectors, CIRCULANT),
]


def name_of(item: Any) -> str:
    if isinstance(item, np.ndarray):
        return f"{item.dtype}{item.shape}"
    return str(getattr(item, "__name__", item))


@pytest.mark.parametrize(("function", "matrix"), INVARIANT, ids=name_of)
def test_what_depends_on_no_choice_has_the_derivative_of_differences(
    function: Any, matrix: np.ndarray
) -> None:
    for _ in range(2):
        along = RNG.normal(size=matrix.shape) + 0 * matrix
        if matrix.dtype.kind == "c":
            along = along + 1j * RNG.normal(size=matrix.shape)
        if is_hermitian(matrix):
            along = along + np.conj(np.swapaxes(along, -1, -2))
        found = np.sum(np.real(np.conj(gs.grad(function)(matrix)) * along))
        above, below = (function(matrix + step * along) for step in (1e-6, -1e-6))
        np.testing.assert_allclose(found, (above - below) / 2e-6, rtol=1e-5, atol=1e-7)


SECOND = [
    (complement, TALL),
    (complement, COMPLEX[:, :3]),
    (complement_by_qr, TALL),
    (null_space, TALL),
    (squares, HERMITIAN),
    (squares_of_singular_vectors, COMPLEX[:, :2]),
    (polar, TALL),
    (sizes_by_schur, COMPLEX),
]


@pytest.mark.parametrize(("function", "matrix"), SECOND, ids=name_of)
def test_second_derivatives_agree_with_differences_of_the_gradient(
    function: Any, matrix: np.ndarray
) -> None:
    gs.testing.check_grad(function, matrix, modes=("reverse",), order=2)


def test_least_squares_and_determinants_have_second_derivatives_where_singular_values_are_equal():
    q = orthogonal(TALL)
    gs.testing.check_grad(lambda a: np.linalg.lstsq(a, W[0], rcond=None)[0] ** 2, q)
    gs.testing.check_grad(lambda a: np.sum(np.linalg.pinv(a) ** 3), q)
    gs.testing.check_grad(np.linalg.det, np.eye(3))


def test_hessians_and_jacobians_choose_the_mode_that_can_tell() -> None:
    along = RNG.normal(size=TALL.shape)
    (expected,) = gs.hvp(complement, (TALL,), (along,))
    hessian = gs.hessian(complement)(TALL)
    np.testing.assert_allclose(np.tensordot(hessian, along, 2), expected, atol=1e-12)
    _, tangent = gs.jvp(gs.grad(complement), (TALL,), (along,))
    np.testing.assert_allclose(tangent, expected, atol=1e-12)

    def projector(a):
        others = np.linalg.svd(a)[0][:, 3:]
        return others @ others.T

    np.testing.assert_allclose(gs.jacobian(projector)(TALL), gs.jacrev(projector)(TALL), atol=1e-12)


# -- what depends on a choice --------------------------------------------------------------------


def eigenvectors(a):
    return weighted(np.linalg.eigh(a)[1])


def exponential(a):
    w, v = np.linalg.eigh(a)
    return weighted((v * np.exp(w)) @ np.conj(v.T))


def fourth_powers(a):
    return np.sum(np.linalg.eigh(a)[1] ** 4 * W[: a.shape[0], : a.shape[0]])


def one_square(a):
    return np.linalg.eigh(a)[1][0, 1] ** 2


def part_of_a_space(a):
    v = np.linalg.eigh(a)[1][:, :2]
    return (v @ v.T)[0, 1]


def reconstructed(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return weighted((u * s) @ vh)


def logarithm(a):
    w, v = np.linalg.eigh(a)
    return ((v * np.log(w)) @ v.T)[0, 1]


def singular_vectors(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return weighted(u) + weighted(vh)


def left_vectors(a):
    return weighted(np.linalg.svd(a, full_matrices=False)[0])


def scaled_factor(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return weighted((u * np.sqrt(s)) @ vh)


def other_columns(a):
    return weighted(np.linalg.svd(a)[0])


def other_rows(a):
    return weighted(np.linalg.svd(a.T)[2])


def columns_by_qr(a):
    return weighted(np.linalg.qr(a, "complete")[0])


def basis_of_null_space(a):
    from scipy import linalg

    return weighted(linalg.null_space(a.T))


def basis_by_orth(a):
    from scipy import linalg

    return weighted(linalg.orth(a))


def general_eigenvectors(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v[:, np.argsort(np.real(w))]) ** 2 * W)


def real_parts_of_general_eigenvectors(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.real(v[:, np.argsort(np.imag(w))]) * W[:4, :4])


def value_of_a_defective_matrix(a):
    return np.real(np.linalg.eigvals(a)[0])


def vectors_by_schur(a):
    from scipy import linalg

    return weighted(linalg.schur(a, "complex")[1])


def reduced_by_qr(a):
    return weighted(np.linalg.qr(a)[0])


DEPENDENT: list[tuple[Callable[[Any], Any], np.ndarray, str]] = [
    (eigenvectors, PAIR, "vectors of equal values"),
    (eigenvectors, COMPLEX_PAIR, "phases"),
    (eigenvectors, HERMITIAN, "phases"),
    (eigenvectors, np.stack([with_eigenvalues(1, 2, 3, 4, 5), PAIR]), "0 and 1 of matrix 1 are 1"),
    (squares, COMPLEX_PAIR, "vectors of equal values"),
    (exponential, PAIR, "equal values and on their vectors"),
    (exponential, np.eye(3), "equal values and on their vectors"),
    (logarithm, np.eye(2), "equal values and on their vectors"),
    (fourth_powers, np.eye(3), "may depend on which vectors of equal values"),
    (fourth_powers, np.diag([1.0, 2.0, 1.0]), "may depend on which vectors of equal values"),
    (one_square, np.eye(3), "may depend on which vectors of equal values"),
    (part_of_a_space, np.eye(4), "may depend on which vectors of equal values"),
    (left_vectors, EQUAL, "vectors of equal values"),
    (singular_vectors, LOW_RANK, "singular values that are zero"),
    (singular_vectors, COMPLEX, "phases"),
    (scaled_factor, EQUAL, "equal values and on their vectors"),
    (orthogonal_factor, LOW_RANK, "singular values that are zero"),
    (complement, LOW_RANK, "which columns complete a basis"),
    (reconstructed, LOW_RANK, "singular values that are zero"),
    (other_columns, TALL, "which columns complete a basis"),
    (other_columns, COMPLEX[:, :4], "which columns complete a basis"),
    (other_rows, TALL, "which columns complete a basis"),
    (columns_by_qr, TALL, "which columns complete a basis"),
    (columns_by_qr, COMPLEX[:, :4], "which columns complete a basis"),
    (reduced_by_qr, LOW_RANK, "columns depend on each other"),
    (basis_of_null_space, TALL, "which columns complete a basis"),
    (basis_by_orth, EQUAL, "vectors of equal values"),
    (polar, LOW_RANK, "polar factors"),
    (general_eigenvectors, GENERAL, "vectors of equal values"),
    (real_parts_of_general_eigenvectors, CIRCULANT, "phases"),
    (value_of_a_defective_matrix, np.array([[2.0, 1.0], [0.0, 2.0]]), "too few eigenvectors"),
    (vectors_by_schur, COMPLEX, "phases"),
    (vectors_by_schur, PAIR, "equal eigenvalues"),
]


@pytest.mark.parametrize(("function", "matrix", "message"), DEPENDENT, ids=name_of)
def test_what_depends_on_a_choice_is_refused(
    function: Any, matrix: np.ndarray, message: str
) -> None:
    with pytest.raises(NoDerivativeError, match=message):
        gs.grad(function)(matrix)


@pytest.mark.parametrize(
    ("function", "matrix"),
    [
        *((f, a) for f, a in SECOND if f is not polar),
        (space_of_eigenvectors, PAIR),
        (space_of_equal_values, EQUAL),
        (space_of_general_eigenvectors, GENERAL),
        (sizes_of_general_eigenvectors, CIRCULANT),
        (left_vectors, LOW_RANK),
        (reduced_by_qr, LOW_RANK),
    ],
    ids=name_of,
)
def test_forward_mode_refuses_vectors_of_which_there_is_a_choice(
    function: Any, matrix: np.ndarray
) -> None:
    with pytest.raises(NoDerivativeError):
        gs.jvp(function, (matrix,), (matrix,))


def test_a_single_vector_and_distinct_values_have_tangents() -> None:
    gs.testing.check_grad(other_columns, RNG.normal(size=(3, 2)), order=1)
    gs.testing.check_grad(singular_vectors, TALL, order=1)
    gs.testing.check_grad(polar, EQUAL, order=1)


def test_values_alone_have_derivatives_in_both_modes() -> None:
    gs.testing.check_grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2), PAIR, order=1)
    gs.testing.check_grad(lambda a: np.sum(np.linalg.svd(a)[1] ** 2), EQUAL, order=1)


def test_what_is_stationary_at_one_matrix_is_told_by_its_second_derivative() -> None:
    """Of a real matrix LAPACK's vectors are real, and squares of real parts do not change with
    phases; they do at complex matrices nearby."""

    def real_parts(a):
        return np.sum(np.linalg.eigh(a)[1].real ** 2 * W)

    matrix = with_eigenvalues(1, 2, 3, 4, 5) + 0j
    assert np.all(np.isfinite(gs.grad(real_parts)(matrix)))
    imaginary = 1j * (np.triu(W) - np.triu(W).T)
    with pytest.raises(NoDerivativeError, match="second derivative depends on phases"):
        gs.hvp(real_parts, (matrix,), (imaginary,))


# -- tolerances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_equal_up_to_a_power_of_the_rounding_unit(dtype: Any) -> None:
    unit = np.finfo(dtype).eps ** (2 / 3)
    apart, equal = (
        with_eigenvalues(1, 1 + part * 5 * unit, 2, 4, 5).astype(dtype) for part in (2, 0.5)
    )
    assert gs.grad(eigenvectors)(apart).dtype == dtype
    with pytest.raises(NoDerivativeError, match="vectors of equal values"):
        gs.grad(eigenvectors)(equal)
    apart, equal = (
        with_singular_values(2, 2 - part * 2 * unit, 1).astype(dtype) for part in (2, 0.5)
    )
    assert gs.grad(left_vectors)(apart).dtype == dtype
    with pytest.raises(NoDerivativeError, match="vectors of equal values"):
        gs.grad(left_vectors)(equal)


def of_completion(a, part):
    others = np.linalg.svd(a)[0][:, 3:]
    return np.sum(others @ others.T * (W + W.T)) + part * np.sum(others * W[:, :2])


def of_pair(a, part):
    v = np.linalg.eigh(a)[1][:, :2]
    return np.sum(v @ v.T * (W + W.T)) + part * np.sum(v * W[:, :2])


def of_phases(a, part):
    v = np.linalg.eigh(a)[1]
    return np.sum(np.abs(v) ** 2 * np.abs(W)) + part * np.sum(v.imag * W)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("function", "matrix"), [(of_completion, TALL), (of_pair, PAIR), (of_phases, HERMITIAN)]
)
def test_parts_of_a_cotangent_are_zero_up_to_a_power_of_the_rounding_unit(
    function: Any, matrix: np.ndarray, dtype: Any
) -> None:
    unit = dtype(np.finfo(dtype).eps ** (1 / 2))
    matrix = matrix.astype(
        np.result_type(dtype, np.complex64) if matrix.dtype == complex else dtype
    )
    if dtype == np.float64:
        found = gs.grad(function)(matrix, unit / 8)
        np.testing.assert_allclose(found, gs.grad(function)(matrix, 0 * unit), atol=1e-6)
    assert np.all(np.isfinite(gs.grad(function)(matrix, 0 * unit)))
    with pytest.raises(NoDerivativeError):
        gs.grad(function)(matrix, 64 * unit)


def test_zero_cotangents_of_values_with_vectors_say_nothing() -> None:
    """The logarithm of 1 is zero, and so are all cotangents of its vectors; of another part of the
    stack they are not."""

    def off_diagonal(a):
        w, v = np.linalg.eigh(a)
        return np.sum(((v * np.log(w)[:, None]) @ np.swapaxes(v, -1, -2))[:, 0, 1])

    gs.grad(off_diagonal)(np.stack([np.diag([1.0, 2.0]), np.diag([3.0, 2.0])]))
    with pytest.raises(NoDerivativeError, match="of matrix 1 are 1"):
        gs.grad(off_diagonal)(np.stack([np.diag([1.0, 2.0]), np.eye(2)]))


# -- generated code and Tensors ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "matrix"),
    [
        (equal_values, PAIR),
        (lambda a: np.sum(np.linalg.eigvalsh(a)), PAIR),
        (lambda a: np.sum(np.linalg.svd(a)[1]), TALL),
        (lambda a: np.sum(np.linalg.eig(a)[0]).real, GENERAL),
    ],
)
def test_where_values_alone_are_used_nothing_is_checked(function: Any, matrix: Any) -> None:
    source = gs.differentiable(function).specialize(matrix).gradient_source
    assert not any(name in source for name in ("invariant", "independent", "completion"))


def test_the_check_stands_in_the_text_by_its_name() -> None:
    source = gs.differentiable(exponential).specialize(PAIR).gradient_source
    assert source.count("invariant(w, v, d_v, d_w)") == 1
    source = gs.differentiable(complement_by_qr).specialize(TALL).gradient_source
    assert source.count("completion(") == 1


def test_the_error_shows_the_statement_of_the_user() -> None:
    with pytest.raises(NoDerivativeError) as caught:
        gs.grad(eigenvectors)(PAIR)
    location = caught.value.location
    assert location is not None
    assert location.statement == "return weighted(np.linalg.eigh(a)[1])"
    assert f"line {location.line}\n    return weighted(np.linalg.eigh(a)[1])\n" in str(caught.value)


def test_tensors_are_checked_alike() -> None:
    def slope(function: Any, matrix: np.ndarray) -> np.ndarray:
        x = gs.tensor(matrix, requires_grad=True)
        function(x).backward()
        assert x.grad is not None
        return np.asarray(x.grad.numpy())

    def others(x):
        return torchlike.linalg.svd(x)[0][:, 3:]

    def beside(x):
        columns = others(x)
        return (columns @ columns.mT * W).sum()

    found = slope(beside, TALL)
    np.testing.assert_allclose(found, gs.grad(complement)(TALL), atol=1e-12)
    with pytest.raises(RuntimeError, match="which columns complete a basis"):
        slope(lambda x: (others(x) * W[:, :2]).sum(), TALL)
    with pytest.raises(RuntimeError, match="which columns complete a basis"):
        slope(lambda x: (torchlike.linalg.qr(x, "complete")[0] * W).sum(), TALL)
    with pytest.raises(RuntimeError, match="phases of complex vectors"):
        slope(lambda x: (torchlike.linalg.eigh(x)[1].real * W).sum(), HERMITIAN)
    with pytest.raises(RuntimeError, match="signs of vectors that `eigh` gives"):
        slope(lambda x: (torchlike.linalg.eigh(x)[1] * W).sum(), PAIR)


def test_of_tensors_vectors_or_values_alone_are_differentiated_where_values_are_equal() -> None:
    x = gs.tensor(PAIR, requires_grad=True)
    w, v = torchlike.linalg.eigh(x)
    (by_values,) = gs.autograd.grad((w**2).sum(), x, retain_graph=True)
    np.testing.assert_allclose(by_values.numpy(), 2 * PAIR, atol=1e-12)
    space = v[:, :2] @ v[:, :2].mT
    (by_space,) = gs.autograd.grad((space * W).sum(), x, retain_graph=True)
    lower = gs.grad(space_of_eigenvectors)(PAIR)
    np.testing.assert_allclose(by_space.numpy(), (lower + lower.T) / 2, atol=1e-12)
    with pytest.raises(RuntimeError, match="signs of vectors that `eigh` gives"):
        ((v * w.exp()) @ v.mT * gs.tensor(W)).sum().backward()


def test_forward_mode_of_tensors_refuses_vectors_of_which_there_is_a_choice() -> None:
    from gradscribe.autograd import forward_ad

    def others(x):
        return torchlike.linalg.svd(x)[0][:, 3:]

    x = gs.tensor(TALL)
    with forward_ad.dual_level(), pytest.raises(NoDerivativeError, match="forward mode needs it"):
        others(forward_ad.make_dual(x, x))
    for function in (others, gs.differentiable(lambda a: np.linalg.svd(a)[0][:, 3:])):
        with pytest.raises(NoDerivativeError, match="forward mode needs it"):
            gs.autograd.functional.jvp(function, x, x)
    _, tangent = gs.autograd.functional.jvp(lambda x: torchlike.linalg.svd(x, False)[0], x, x * x)
    _, expected = gs.jvp(lambda a: np.linalg.svd(a, full_matrices=False)[0], (TALL,), (TALL**2,))
    np.testing.assert_allclose(tangent.numpy(), expected, atol=1e-12)


def test_functions_that_run_as_they_are_are_checked_alike() -> None:
    for function, matrix in ((space_of_eigenvectors, PAIR), (equal_values, PAIR)):
        found = gs.grad(function, compile=False)(matrix)
        np.testing.assert_allclose(found, gs.grad(function)(matrix), atol=1e-12)
    for function, matrix in ((exponential, PAIR), (other_columns, TALL)):
        with pytest.raises(NoDerivativeError):
            gs.grad(function, compile=False)(matrix)
