"""What depends on a choice that a factorization leaves open."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.errors import NoDerivativeError
from tests.refused import refused_when_run

TALL = np.array([[1.0, 0.2], [0.3, 1.0], [0.5, -0.4], [0.1, 0.6]])
WEIGHTS = np.arange(4.0)
HERMITIAN = np.array([[2.0, 1j], [-1j, 3.0]])
AXES = np.diag([1.0, 2.0, 1.0])
NEARLY_SINGULAR = np.array([[1.0, 2.0], [0.1, 0.2 + 1e-15]])


@refused_when_run("the result depends on which columns complete a basis", NoDerivativeError)
def columns_beyond_the_singular_values():
    gs.grad(lambda a: WEIGHTS @ np.linalg.svd(a)[0][:, 2])(TALL)


@refused_when_run(
    "columns that complete a basis, and phases of complex vectors, have no derivative of their "
    "own, as forward mode needs it",
    NoDerivativeError,
)
def columns_in_forward_mode():
    gs.jvp(lambda a: np.linalg.qr(a, "complete")[0][:, 2:], (TALL,), (TALL,))


@refused_when_run(
    "the result depends on the phases of complex vectors, which are arbitrary", NoDerivativeError
)
def real_part_of_an_eigenvector():
    gs.grad(lambda a: np.linalg.eigh(a)[1][0, 0].imag)(HERMITIAN)


@refused_when_run(
    "the second derivative depends on phases of complex vectors, or on which columns complete a "
    "basis, as far as this part of the program tells",
    NoDerivativeError,
)
def second_derivative_of_real_parts():
    def real_parts(a):
        return WEIGHTS[:2] @ np.linalg.eigh(a)[1].real[:, 0] ** 2

    symmetric = np.array([[2.0, 1.0], [1.0, 3.0]]) + 0j
    gs.hvp(real_parts, (symmetric,), (HERMITIAN - HERMITIAN.T,))


@refused_when_run(
    "the result depends on which vectors of equal values are taken: the values number 0 and 1 "
    "are 1",
    NoDerivativeError,
)
def vectors_of_equal_values():
    gs.grad(lambda a: np.sum(np.linalg.eigh(a)[1] @ WEIGHTS[1:]))(AXES)


@refused_when_run(
    "the result may depend on which vectors of equal values are taken: the values number 0 and 1 "
    "are 1",
    NoDerivativeError,
)
def vectors_along_the_axes():
    gs.grad(lambda a: np.sum(np.linalg.eigh(a)[1] ** 4))(AXES)


@refused_when_run(
    "the derivative of what depends on equal values and on their vectors is not known: the values "
    "number 0 and 1 of matrix 1 are 1",
    NoDerivativeError,
)
def logarithm_of_a_matrix():
    def entry(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.log(w)[:, None] @ np.swapaxes(v, -1, -2))[:, 0, 2])

    gs.grad(entry)(np.stack([np.diag(WEIGHTS[1:]), AXES]))


@refused_when_run(
    "the result depends on which vectors of singular values that are zero are taken, or on more "
    "than the ones of one side",
    NoDerivativeError,
)
def all_singular_vectors_of_a_matrix_of_low_rank():
    def turned(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum((u @ vh)[0])

    gs.grad(turned)(np.outer(WEIGHTS, [1.0, 2.0]))


@refused_when_run(
    "vectors of equal values, and of singular values that are zero, have no derivative of their "
    "own, as forward mode needs it",
    NoDerivativeError,
)
def equal_eigenvalues_in_forward_mode():
    gs.jvp(lambda a: np.linalg.eigh(a)[1] ** 2, (AXES,), (AXES,))


@refused_when_run(
    "of a matrix whose columns depend on each other, `qr` has no derivative", NoDerivativeError
)
def columns_that_depend_on_each_other():
    gs.grad(lambda a: np.sum(np.linalg.qr(a)[0] ** 3))(np.outer(WEIGHTS, [1.0, 2.0]))


@refused_when_run("of a singular matrix `slogdet` has no derivative", NoDerivativeError)
def logarithm_of_a_determinant_that_is_zero():
    gs.grad(lambda a: np.linalg.slogdet(a)[1])(np.diag([1.0, 2.0, 0.0]))


@refused_when_run(
    "the polar factors of a matrix that is not of full rank have no derivative", NoDerivativeError
)
def polar_factors_of_a_singular_matrix():
    from scipy import linalg

    gs.grad(lambda a: linalg.polar(a)[0][0, 0])(np.outer(WEIGHTS, [1.0, 2.0]))


@refused_when_run(
    "Schur's factors of a matrix with equal eigenvalues have no derivative: the values number 0 "
    "and 2 are 1",
    NoDerivativeError,
)
def schur_factors_of_equal_eigenvalues():
    from scipy import linalg

    gs.grad(lambda a: np.sum(linalg.schur(a)[0] ** 2))(AXES)


@refused_when_run(
    "phases of complex vectors of which several components are the largest have no derivative, as "
    "forward mode needs it",
    NoDerivativeError,
)
def vectors_of_a_circulant_matrix():
    circulant = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]])
    gs.jvp(lambda a: np.linalg.eig(a)[1].real, (circulant,), (circulant,))


@refused_when_run(
    "the eigenvalues of a matrix with too few eigenvectors have no derivative", NoDerivativeError
)
def eigenvalues_of_a_defective_matrix():
    gs.grad(lambda a: np.linalg.eigvals(a)[0].real)(np.array([[2.0, 1.0], [0.0, 2.0]]))


@refused_when_run(
    "the signs of vectors that `qr` gives are others at matrices nearby, and the result depends on "
    "them, as far as is known",
    NoDerivativeError,
)
def signs_that_jump():
    gs.grad(lambda a: np.linalg.qr(a)[0][0, 0])(np.eye(3))


@refused_when_run(
    "a matrix that is not of full rank has neighbours that are, and the result jumps there, as far "
    "as is known",
    NoDerivativeError,
)
def pseudoinverse_of_a_singular_matrix():
    gs.grad(lambda a: np.sum(np.linalg.pinv(a)))(np.outer(WEIGHTS, [1.0, 2.0]))


@refused_when_run(
    "the result depends on single ones of equal values, which have no derivative of their own: the "
    "values number 0 and 1 are 1",
    NoDerivativeError,
)
def one_of_three_equal_values():
    gs.grad(lambda a: np.linalg.eigvalsh(a)[-1])(np.eye(3))


@refused_when_run(
    "the result depends steeply on a singular value or eigenvalue that is zero, as far as rounding "
    "errors let tell",
    NoDerivativeError,
)
def condition_number_of_a_singular_matrix():
    gs.grad(np.linalg.cond)(NEARLY_SINGULAR)


@refused_when_run(
    "forward mode does not tell whether the result has a derivative where singular values are zero",
    NoDerivativeError,
)
def condition_number_in_forward_mode():
    gs.jvp(np.linalg.cond, (NEARLY_SINGULAR,), (AXES[:2, :2],))


@refused_when_run(
    "the exchanges of rows that `lu` makes are others at matrices nearby, and the result depends "
    "on them, as far as is known",
    NoDerivativeError,
)
def exchanges_of_rows_that_jump():
    from scipy import linalg

    gs.grad(lambda a: linalg.lu(a)[1][1, 0])(np.array([[1.0, 2.0], [-1.0, 3.0]]))


@refused_when_run(
    "of equal eigenvalues, `subset_by_index` gives other vectors than `eigh` of all",
    NoDerivativeError,
)
def subset_of_equal_values():
    from scipy import linalg

    gs.grad(lambda a: linalg.eigh(a, subset_by_index=(0, 0))[1][0, 0])(np.eye(3))


@refused_when_run(
    "in single precision, `scipy.linalg.eig` gives other vectors here than in double",
    NoDerivativeError,
)
def vectors_in_single_precision():
    from scipy import linalg

    matrix = np.random.default_rng(1).normal(size=(3, 3)).astype(np.complex64)
    gs.grad(lambda a: np.sum(np.real(linalg.eig(a)[1][0])))(matrix)


@refused_when_run("of complex eigenvalues Schur's real form has no derivative", NoDerivativeError)
def real_form_of_a_rotation():
    from scipy import linalg

    gs.grad(lambda a: linalg.schur(a)[0][0, 0])(np.array([[0.0, -1.0], [1.0, 0.5]]))


@refused_when_run(
    "the function of a real matrix is complex where an eigenvalue is negative", NoDerivativeError
)
def root_of_a_negative_matrix():
    from scipy import linalg

    gs.grad(lambda a: np.sum(np.abs(linalg.sqrtm(a))))(-np.eye(2))


@refused_when_run(
    "roots and logarithms of a matrix jump, or have no derivative, where an eigenvalue is zero or "
    "a negative number",
    NoDerivativeError,
)
def root_of_a_singular_matrix():
    from scipy import linalg

    gs.grad(lambda a: np.sum(linalg.sqrtm(a)))(np.diag([1.0, 0.0]))
