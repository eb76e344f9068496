"""What a library decides anew for each matrix: signs, orders, ranks, exchanges of rows. Results
that jump with it are refused; those that do not have the derivative of differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.errors import NoDerivativeError
from gradscribe.primitives.stability import nearby

RNG = np.random.default_rng(3)
W = RNG.normal(size=(5, 5))
AXES = np.diag([1.0, 2.0, 3.0])
UPPER = np.triu(W[:3, :3])
CYCLE = np.roll(np.eye(3), 1, axis=0)
SYMMETRIC = W[:3, :3] + W[:3, :3].T
LOW_RANK = np.outer([1.0, 2.0, 0.5], [0.5, 1.0, -1.0])
TIED = np.array([[1.0, 2.0], [-1.0, 3.0]])
TIED_LATER = np.array([[4.0, 2.0, 1.0], [1.0, 3.0, 7.0], [2.0, -1.5, 5.0]])
"""Of its second column, less the multiples of the first row, both elements are 2.5 in size."""
REFLECTION = np.eye(3) - 2 * np.outer([1.0, 5.0, 3.0], [1.0, 5.0, 3.0]) / 35
"""Of one value that is simple, and a pair of equal ones."""


def weighted(a: Any) -> Any:
    return np.sum(np.real(a) * W[: a.shape[0], : a.shape[1]])


def slope(function: Callable[[Any], Any], matrix: np.ndarray, along: np.ndarray) -> Any:
    return (function(matrix + 1e-6 * along) - function(matrix - 1e-6 * along)) / 2e-6


def check_slopes(function: Any, matrix: np.ndarray) -> None:
    gradient = gs.grad(function)(matrix)
    for _ in range(3):
        along = RNG.normal(size=matrix.shape)
        np.testing.assert_allclose(
            np.sum(gradient * along), slope(function, matrix, along), rtol=1e-5, atol=1e-6
        )


# -- results that do not jump --------------------------------------------------------------------


def polar_by_svd(a):
    u, _, vh = np.linalg.svd(a)
    return weighted(u @ vh)


def projection_by_svd(a):
    v = np.linalg.svd(a)[2][:2].T
    return weighted(v @ v.T)


def projection_by_qr(a):
    q = np.linalg.qr(a)[0][:, :1]
    return weighted(q @ q.T)


def squares_by_qr(a):
    q, r = np.linalg.qr(a)
    return weighted(q**2) + weighted(r**2)


def logarithms_by_qr(a):
    return np.sum(np.log(np.abs(np.diagonal(np.linalg.qr(a, "r")))))


def of_fixed_signs(a):
    q, r = np.linalg.qr(a)
    return weighted(q * np.sign(np.diagonal(r)))


def exponential(a):
    w, v = np.linalg.eigh(a)
    return weighted((v * np.exp(w)) @ v.T)


def exponential_by_scipy(a):
    w, v = linalg.eigh(a)
    return weighted((v * np.exp(w)) @ v.T)


def exponential_by_eig(a):
    w, v = np.linalg.eig(a)
    return weighted((v * np.exp(w)) @ np.linalg.inv(v))


def squares_of_eigenvalues(a):
    return np.sum(np.abs(np.linalg.eigvals(a)) ** 2)


def in_order(a):
    return np.sum(np.sort(np.real(np.linalg.eigvals(a))) * W[0, : a.shape[0]])


def solution_by_lu(a):
    return np.sum(linalg.lu_solve(linalg.lu_factor(a), W[0, : a.shape[0]]) * W[1, : a.shape[0]])


def lowest_by_scipy(a):
    v = linalg.eigh(a, subset_by_index=(0, 0))[1]
    return weighted(v @ v.T)


EVEN: list[tuple[Callable[[Any], Any], np.ndarray]] = [
    (polar_by_svd, AXES),
    (polar_by_svd, UPPER),
    (projection_by_svd, AXES),
    (projection_by_qr, np.eye(3)),
    (projection_by_qr, CYCLE),
    (squares_by_qr, AXES),
    (squares_by_qr, UPPER),
    (logarithms_by_qr, UPPER),
    (of_fixed_signs, np.eye(3)),
    (exponential, AXES),
    (exponential_by_scipy, SYMMETRIC),
    (exponential_by_eig, UPPER),
    (squares_of_eigenvalues, AXES),
    (in_order, AXES),
    (solution_by_lu, TIED),
    (lowest_by_scipy, SYMMETRIC),
]


@pytest.mark.parametrize(("function", "matrix"), EVEN)
def test_what_does_not_jump_has_the_derivative_of_differences(
    function: Any, matrix: np.ndarray
) -> None:
    check_slopes(function, matrix)


def test_signs_that_do_not_jump_are_those_of_a_smooth_branch() -> None:
    """The matrices have zeros, and LAPACK's signs are the same near them."""
    lower = np.tril(W[:3, :3])
    for function, matrix in ((orthogonal_factor, lower), (vectors_by_svd, lower)):
        check_slopes(function, matrix)


# -- results that do -----------------------------------------------------------------------------


def vectors_by_svd(a):
    return weighted(np.linalg.svd(a)[0])


def element_that_is_zero(a):
    return np.linalg.svd(a)[0][0, 0]


def orthogonal_factor(a):
    return weighted(np.linalg.qr(a)[0])


def triangular_factor(a):
    return weighted(np.linalg.qr(a, "r"))


def vectors_by_eigh(a):
    return weighted(np.linalg.eigh(a)[1])


def vectors_by_scipy(a):
    return weighted(linalg.eigh(a)[1])


def eigenvalues_in_turn(a):
    return np.sum(np.real(np.linalg.eigvals(a)) * W[0, : a.shape[0]])


def sizes_by_eig(a):
    return weighted(np.abs(np.linalg.eig(a)[1]) ** 2)


def schur_factor(a):
    return weighted(linalg.schur(a)[1])


def exchanged_rows(a):
    return weighted(linalg.lu(a)[1])


def pseudoinverse(a):
    return weighted(np.linalg.pinv(a))


def least_squares(a):
    return np.sum(np.linalg.lstsq(a, W[0, :3])[0])


def space_by_orth(a):
    q = linalg.orth(a)
    return weighted(q @ q.T)


def null_space(a):
    v = linalg.null_space(a)
    return weighted(v @ v.T)


def squares_of_one_vector(a):
    return np.abs(np.linalg.eig(a)[1][0, 0]) ** 2


def lowest_vector_by_scipy(a):
    return weighted(linalg.eigh(a, subset_by_index=(0, 0))[1])


def first_by_eigh(a):
    return np.linalg.eigh(a)[1][0, 0]


def vectors_by_eig(a):
    return weighted(np.real(np.linalg.eig(a)[1]))


JUMPING: list[tuple[Callable[[Any], Any], np.ndarray, str]] = [
    (vectors_by_svd, AXES, "signs of vectors that `svd` gives"),
    (element_that_is_zero, AXES, "signs of vectors that `svd` gives"),
    (orthogonal_factor, np.eye(3), "signs of vectors that `qr` gives"),
    (orthogonal_factor, CYCLE, "signs of vectors that `qr` gives"),
    (orthogonal_factor, UPPER, "signs of vectors that `qr` gives"),
    (triangular_factor, UPPER, "signs of vectors that `qr` gives"),
    (vectors_by_eigh, np.diag([1.0, 2.0]), "signs of vectors that `eigh` gives"),
    (vectors_by_scipy, SYMMETRIC, "signs of vectors that `eigh` gives"),
    (eigenvalues_in_turn, AXES, "order of eigenvalues, and vectors, that `eig` gives"),
    (sizes_by_eig, AXES, "vectors.* that `eig` gives"),
    (schur_factor, AXES, "that `schur` gives"),
    (schur_factor, np.array([[-2.0, 0.0, -2.0], [-2.0, -1.0, 1.0], [0.0, 0.0, 1.0]]), "order of"),
    (squares_of_one_vector, linalg.hadamard(4).astype(float), "vectors of equal values that `eig`"),
    (first_by_eigh, REFLECTION, "signs of vectors that `eigh` gives"),
    (lowest_vector_by_scipy, np.diag([3.0, 2.0, 1.0]), "signs of vectors that `eigh` gives"),
    (exchanged_rows, TIED, "exchanges of rows that `lu` makes"),
    (exchanged_rows, TIED_LATER, "exchanges of rows that `lu` makes"),
    (pseudoinverse, LOW_RANK, "not of full rank"),
    (least_squares, LOW_RANK, "not of full rank"),
    (space_by_orth, LOW_RANK, "not of full rank"),
    (null_space, LOW_RANK, "not of full rank"),
]


@pytest.mark.parametrize(("function", "matrix", "message"), JUMPING)
def test_what_jumps_is_refused_in_both_modes(
    function: Any, matrix: np.ndarray, message: str
) -> None:
    with pytest.raises(NoDerivativeError, match=message):
        gs.grad(function)(matrix)
    with pytest.raises(NoDerivativeError):
        gs.jvp(function, (matrix,), (W[: matrix.shape[0], : matrix.shape[1]],))


def test_signs_of_eig_are_refused_where_the_library_lets_them_jump() -> None:
    """Which signs it takes near this matrix is another matter in each of its releases."""
    matrix, along = np.arange(1.0, 10.0).reshape(3, 3), W[:3, :3]
    steps = 1e-7 * np.array([*RNG.normal(size=(20, 3, 3)), *np.eye(9).reshape(9, 3, 3)])
    value = vectors_by_eig(matrix)
    if any(abs(vectors_by_eig(matrix + step) - value) > 1e-3 for step in (*steps, *-steps)):
        with pytest.raises(NoDerivativeError, match="signs of vectors that `eig` gives"):
            gs.grad(vectors_by_eig)(matrix)
    else:
        try:
            found = np.sum(gs.grad(vectors_by_eig)(matrix) * along)
        except NoDerivativeError:
            pytest.skip("they jump at another step, which the check has met")
        assert found == pytest.approx(slope(vectors_by_eig, matrix, along))


def along_one_element(x):
    """It jumps although no sign of these vectors does along directions without zeros."""
    a = np.diag([1.0, 2.0, 3.0])
    a[0, 2] = a[2, 0] = x[0]
    v = np.linalg.eigh(a)[1]
    return v[0, 0] + v[1, 1]


SPARSE: list[tuple[Callable[[Any], Any], np.ndarray, tuple[int, ...]]] = [
    (along_one_element, np.zeros(1), (0,)),
    (vectors_by_eigh, np.diag([0.0, -1.37, 2.0]), (1, 0)),
    (vectors_by_svd, np.array([[2.0, -1, 1], [-1, 0, -1], [1, -1, 0]]), (0, 2)),
    (vectors_by_eig, np.array([[0.0, 0, 2], [-1.37, -1.37, 0], [0, 0, 1]]), (0, 1)),
]


@pytest.mark.parametrize(("function", "point", "element"), SPARSE)
def test_what_jumps_along_single_elements_alone_is_refused(
    function: Any, point: np.ndarray, element: tuple[int, ...]
) -> None:
    step = np.zeros_like(point)
    step[element] = 1e-7
    changes = [abs(function(point + sign * step) - function(point)) for sign in (1, -1)]
    assert max(changes) > 1e-3
    with pytest.raises(NoDerivativeError, match="others at matrices nearby"):
        gs.grad(function)(point)
    with pytest.raises(NoDerivativeError):
        gs.grad(function, compile=False)(point)


def squares_of_schur(a):
    return weighted(linalg.schur(a)[1] ** 2)


@pytest.mark.parametrize("derivative", [gs.grad, gs.jacobian, gs.jacrev, gs.jacfwd, gs.hessian])
def test_each_derivative_is_refused_of_what_jumps(derivative: Any) -> None:
    """Also where it is continuous itself: that of these squares is zero, as far as it goes."""
    with pytest.raises(NoDerivativeError, match="that `schur` gives"):
        derivative(squares_of_schur)(AXES)


def test_second_derivatives_are_decided_by_the_values_of_the_first() -> None:
    along = W[:3, :3]
    for function in (squares_by_qr, squares_of_eigenvalues):
        above, below = (gs.grad(function)(AXES + step * along) for step in (1e-6, -1e-6))
        second = np.tensordot(gs.hessian(function)(AXES), along, 2)
        np.testing.assert_allclose(second, (above - below) / 2e-6, rtol=1e-4, atol=1e-5)


def test_each_public_derivative_decides_by_values() -> None:
    along = W[:3, :3]
    expected = slope(projection_by_qr, np.eye(3), along)
    _, pullback = gs.vjp(projection_by_qr, np.eye(3))
    found = [
        np.sum(gs.value_and_grad(projection_by_qr)(np.eye(3))[1] * along),
        np.sum(pullback(1.0)[0] * along),
        np.sum(gs.jacobian(projection_by_qr)(np.eye(3)) * along),
        gs.jvp(projection_by_qr, (np.eye(3),), (along,))[1],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-8)
    (second,) = gs.hvp(squares_by_qr, (UPPER,), (along,))
    gradients = (gs.grad(squares_by_qr)(UPPER + step * along) for step in (1e-6, -1e-6))
    above, below = gradients
    np.testing.assert_allclose(second, (above - below) / 2e-6, rtol=1e-4, atol=1e-5)
    for refused in (
        lambda: gs.vjp(orthogonal_factor, np.eye(3))[1](1.0),
        lambda: gs.jacobian(orthogonal_factor)(np.eye(3)),
        lambda: gs.hvp(orthogonal_factor, (np.eye(3),), (along,)),
    ):
        with pytest.raises(NoDerivativeError, match="`qr` gives"):
            refused()


def test_a_rank_that_does_not_change_with_the_arguments_is_no_obstacle() -> None:
    """Of a graph with these weights, whose matrix is never of full rank."""

    def resistance(weights):
        x, y, z = weights
        laplacian = np.array([[x + y, -x, -y], [-x, x + z, -z], [-y, -z, y + z]])
        return np.linalg.pinv(laplacian)[0, 1]

    check_slopes(resistance, np.array([1.0, 2.0, 0.5]))


def test_of_tensors_and_of_what_runs_as_it_is_nobody_decides() -> None:
    x = gs.tensor(np.eye(3), requires_grad=True)
    with pytest.raises(RuntimeError, match="signs of vectors that `qr` gives"):
        (torchlike.linalg.qr(x)[0] * W[:3, :3]).sum().backward()
    with pytest.raises(NoDerivativeError, match="signs of vectors that `qr` gives"):
        gs.grad(orthogonal_factor, compile=False)(np.eye(3))


def test_a_function_with_effects_is_not_run_again(capsys: Any) -> None:
    def printing(a):
        print("once")
        return projection_by_qr(a)

    with pytest.raises(NoDerivativeError, match="signs of vectors that `qr` gives"):
        gs.grad(printing)(np.eye(3))
    assert capsys.readouterr().out == "once\n"


def test_nothing_is_factorized_again_where_no_elements_are_equal_in_size(monkeypatch: Any) -> None:
    def forbidden(a):
        raise AssertionError

    monkeypatch.setattr("gradscribe.primitives.stability.nearby", forbidden)
    for function in (vectors_by_svd, orthogonal_factor, vectors_by_eigh, eigenvalues_in_turn):
        gs.grad(function)(W[:3, :3])


def test_rows_are_exchanged_alike_where_pivots_are_largest_by_more_than_rounding_errors() -> None:
    for apart, is_refused in ((1e-10, True), (1e-6, False)):
        matrix = TIED_LATER + apart * np.outer([0, 0, 1], [0, -1, 0])
        if is_refused:
            with pytest.raises(NoDerivativeError, match="exchanges of rows"):
                gs.grad(exchanged_rows)(matrix)
        else:
            gradient, along = gs.grad(exchanged_rows)(matrix), W[:3, :3]
            found = exchanged_rows(matrix + 1e-8 * along) - exchanged_rows(matrix - 1e-8 * along)
            np.testing.assert_allclose(np.sum(gradient * along), found / 2e-8, rtol=1e-5)


def test_a_matrix_is_factorized_again_until_a_sign_has_jumped(monkeypatch: Any) -> None:
    taken = []

    def counted(a):
        for each in nearby(a):
            taken.append(1)
            yield each

    monkeypatch.setattr("gradscribe.primitives.stability.nearby", counted)
    with pytest.raises(NoDerivativeError):
        gs.grad(orthogonal_factor)(np.eye(3))
    assert len(taken) <= 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_nearby_are_as_near_as_the_page_says(dtype: Any) -> None:
    eps = np.finfo(dtype).eps
    distances = [np.max(np.abs(a - 8)) / 8 for a in nearby(np.full((3, 3), 8, dtype))]
    assert min(distances) < 4 * eps ** (3 / 4) < max(distances) < 4 * eps ** (1 / 2)


@pytest.mark.parametrize(("apart", "is_refused"), [(1e-13, True), (1e-3, False)])
def test_a_pivot_near_zero_is_as_good_as_zero(apart: float, is_refused: bool) -> None:
    matrix = np.array([[apart, 1.0], [1.0, 0.5]])
    if not is_refused:
        check_slopes(orthogonal_factor, matrix)
        return
    with pytest.raises(NoDerivativeError, match="`qr` gives"):
        gs.grad(orthogonal_factor)(matrix)


# -- what rounding errors alone keep from a pole -------------------------------------------------


def with_smallest(value: float) -> np.ndarray:
    """A matrix without a pattern, of singular values 2, 1 and this one."""
    u, _, vh = np.linalg.svd(W[:3, :3])
    return (u * np.array([2.0, 1.0, value])) @ vh


def by_smallest(a):
    s = np.linalg.svd(a, compute_uv=False)
    return s[0] / s[-1]


POLES = {
    "cond": np.linalg.cond,
    "quotient": by_smallest,
}
OF_REGULAR: dict[str, Callable[[Any], Any]] = {
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "lu": lambda a: weighted(linalg.lu(a)[2]),
    "lu_factor": lambda a: weighted(linalg.lu_factor(a)[0]),
    "qr": lambda a: weighted(np.linalg.qr(a, "r")),
    "cond": lambda a: np.linalg.cond(a, 1),
}
SINGULAR = [with_smallest(0.0), np.ones((3, 3)) + 1e-17, np.arange(1.0, 10.0).reshape(3, 3)]


@pytest.mark.parametrize("name", POLES)
def test_poles_are_refused_at_matrices_that_rounding_errors_alone_make_regular(name: str) -> None:
    for matrix in SINGULAR:
        for derivative in (
            lambda a: gs.grad(POLES[name])(a),
            lambda a: gs.jvp(POLES[name], (a,), (W[:3, :3],)),
            lambda a: gs.grad(POLES[name], compile=False)(a),
        ):
            with pytest.raises(NoDerivativeError):
                derivative(matrix)


@pytest.mark.parametrize("name", OF_REGULAR)
@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.diag([0.0, 1.0, 2.0])])
def test_singular_matrices_are_refused_where_the_program_runs(
    name: str, matrix: np.ndarray
) -> None:
    function = OF_REGULAR[name]
    with np.errstate(divide="ignore"):
        function(matrix)
    for derivative in (
        lambda: gs.grad(function)(matrix),
        lambda: gs.jvp(function, (matrix,), (W[:3, :3],)),
        lambda: gs.grad(function, compile=False)(matrix),
    ):
        with pytest.raises(NoDerivativeError):
            derivative()


@pytest.mark.parametrize("function", [OF_REGULAR["lu"], OF_REGULAR["lu_factor"], exchanged_rows])
def test_triangular_factors_whose_last_pivot_is_zero_have_their_derivative(function: Any) -> None:
    singular = np.array([[2.0, 1.0, 0.5], [0.5, 1.0, -1.0], [1.0, 0.5, 0.25]])
    assert np.linalg.matrix_rank(singular) == 2
    check_slopes(function, singular)
    along = W[:3, :3]
    tangent = gs.jvp(function, (singular,), (along,))[1]
    np.testing.assert_allclose(tangent, slope(function, singular, along), rtol=1e-5)


def test_a_rank_is_an_integer_in_each_mode() -> None:
    def times_rank(a):
        return np.linalg.matrix_rank(a) * np.sum(a)

    for compile in (True, False, "auto"):
        found = gs.grad(times_rank, compile=compile)(LOW_RANK)
        np.testing.assert_array_equal(found, np.ones((3, 3)))
    stack = np.stack((LOW_RANK, AXES))
    np.testing.assert_array_equal(
        gs.grad(lambda a: np.linalg.matrix_rank(a) @ a[:, 0, 0])(stack)[:, 0, 0], [1, 3]
    )


@pytest.mark.parametrize(
    ("name", "smallest", "is_refused"),
    [
        ("cond", 1e-9, False),
        ("cond", 1e-11, True),
        ("quotient", 1e-9, False),
        ("quotient", 1e-11, True),
    ],
)
def test_near_a_pole_a_derivative_is_given_as_far_as_the_page_says(
    name: str, smallest: float, is_refused: bool
) -> None:
    matrix = with_smallest(smallest)
    if is_refused:
        with pytest.raises(NoDerivativeError, match="as far as rounding errors let"):
            gs.grad(POLES[name])(matrix)
        return
    gradient = gs.grad(POLES[name])(matrix)
    assert abs(np.sum(gradient * matrix)) < 1e-3 * np.linalg.norm(gradient) * smallest


@pytest.mark.parametrize("p", [None, -2, 1, -1, np.inf, -np.inf, "fro"])
def test_condition_numbers_of_complex_matrices_are_real(p: Any) -> None:
    def condition(a):
        return np.linalg.cond(a, p)

    for dtype in (np.complex128, np.complex64, np.float32):
        is_complex = np.dtype(dtype).kind == "c"
        matrix = (W[:3, :3] + 1j * W[2:, 2:] if is_complex else W[:3, :3]).astype(dtype)
        value, gradient = gs.value_and_grad(condition)(matrix)
        assert value == pytest.approx(condition(matrix), rel=1e-5)
        assert np.asarray(value).dtype == np.asarray(condition(matrix)).dtype
        assert gradient.dtype == dtype
        wide, along = matrix.astype(np.result_type(dtype, np.float64)), W[1:4, 1:4]
        found = np.sum(np.real(np.conj(gradient) * along))
        assert found == pytest.approx(slope(condition, wide, along), rel=1e-3)
        tangent = gs.jvp(condition, (matrix,), (along.astype(dtype),))[1]
        assert tangent == pytest.approx(found, rel=1e-3)


def test_a_pseudoinverse_of_an_ill_conditioned_matrix_has_the_derivative_of_the_inverse() -> None:
    matrix = linalg.hilbert(5) @ linalg.hilbert(5)
    expected = gs.grad(lambda a: weighted(np.linalg.inv(a)))(matrix)
    np.testing.assert_allclose(gs.grad(pseudoinverse)(matrix), expected, rtol=1e-2)


# -- equal values without vectors ----------------------------------------------------------------


def largest(a):
    return np.linalg.eigvalsh(a)[-1]


def logarithms(a):
    return np.sum(np.log(np.linalg.eigvalsh(a)))


def nuclear(a):
    return np.linalg.norm(a, "nuc")


def spectral(a):
    return np.linalg.norm(a, 2)


def second_singular_value(a):
    return np.linalg.svd(a, compute_uv=False)[1]


def trace_of_exponential(a):
    return np.real(np.sum(np.exp(np.linalg.eigvals(a))))


@pytest.mark.parametrize(
    ("function", "matrix"),
    [
        (logarithms, np.eye(3)),
        (largest, np.eye(2)),
        (largest, np.diag([1.0, 3.0, 3.0])),
        (nuclear, LOW_RANK),
        (nuclear, np.eye(3)),
        (spectral, np.eye(2)),
        (second_singular_value, np.array([[1.0, 2.0], [2.0, 4.0]])),
        (trace_of_exponential, np.eye(3)),
    ],
)
def test_equal_values_share_the_derivative_of_differences_to_both_sides(
    function: Any, matrix: np.ndarray
) -> None:
    check_slopes(function, matrix)
    along = W[: len(matrix), : len(matrix)]
    _, tangent = gs.jvp(function, (matrix,), (along,))
    np.testing.assert_allclose(tangent, slope(function, matrix, along), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "matrix"),
    [
        (largest, np.eye(3)),
        (spectral, np.eye(3)),
        (lambda a: np.linalg.eigvalsh(a) @ np.arange(3.0) ** 2, np.eye(3)),
        (lambda a: np.real(np.linalg.eigvals(a)[0]), np.eye(2)),
    ],
)
def test_single_ones_of_equal_values_are_refused(function: Any, matrix: np.ndarray) -> None:
    with pytest.raises(NoDerivativeError, match="single ones of equal values"):
        gs.grad(function)(matrix)
    for compile in (True, False):
        with pytest.raises(NoDerivativeError, match="equal values"):
            gs.jvp(function, (matrix,), (W[:3, :3][: len(matrix), : len(matrix)],), compile=compile)


@pytest.mark.parametrize(("weight", "is_refused"), [(1e-10, False), (1e-6, True)])
def test_parts_of_a_cotangent_of_equal_values_are_equal_up_to_a_power_of_the_unit(
    weight: float, is_refused: bool
) -> None:
    def nearly_a_trace(a):
        return np.linalg.eigvalsh(a) @ np.array([1, 1 + weight, 1])

    if is_refused:
        with pytest.raises(NoDerivativeError, match="single ones of equal values"):
            gs.grad(nearly_a_trace)(np.eye(3))
    else:
        np.testing.assert_allclose(gs.grad(nearly_a_trace)(np.eye(3)), np.eye(3), atol=1e-8)


def test_cotangents_are_complex_where_numpy_gives_real_values() -> None:
    """Where all values are real, NumPy gives real numbers, whatever others would be."""

    def turned(a):
        values = np.linalg.eigvals(a)
        return np.sum(np.abs(values[1:] * 1j - values[:-1]) ** 2)

    gs.testing.check_grad(turned, SYMMETRIC + AXES)
    np.testing.assert_allclose(
        gs.hessian(turned)(SYMMETRIC + AXES),
        gs.jacfwd(gs.jacfwd(turned))(SYMMETRIC + AXES),
        rtol=1e-8,
    )


@pytest.mark.parametrize("zero", [0, 0.0])
def test_an_unused_quotient_by_a_zero_of_python_has_no_derivative(zero):
    def f(x, n):
        quotient = x[0] / n
        return quotient if np.isfinite(quotient) else x[1]

    gradient = gs.grad(f)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert gradient(np.array([1.0, 2.0]), zero).tolist() == [0, 1]
    assert gradient(np.array([1.0, 2.0]), 4).tolist() == [0.25, 0]
