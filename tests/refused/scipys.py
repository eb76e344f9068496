"""Functions of SciPy with arguments that have no derivative, or are not supported."""

from __future__ import annotations

import numpy as np
import scipy

from gradscribe.errors import NoDerivativeError
from tests.refused import refused

MATRIX = np.eye(3) + 1j


@refused(
    "the derivative of `jv` by this argument is not known",
    1.5,
    2.0,
    kind=NoDerivativeError,
)
def order_of_a_bessel_function(v, x):
    return scipy.special.jv(v, x)


@refused("`inv` may overwrite `m`, which is read later", np.eye(2))
def overwritten_and_read(m):
    return np.sum(scipy.linalg.inv(m, overwrite_a=True)) + np.sum(m)


@refused("`solve_triangular` cannot be compiled here: `trans` is a transposition here", MATRIX)
def conjugated_triangle(m):
    return scipy.linalg.solve_triangular(m, m, trans=2)


@refused(
    "`solve_triangular` cannot be compiled here: "
    "it takes one matrix, and a right side of one axis or two",
    np.ones((2, 3, 3)),
)
def stack_of_triangles(m):
    return scipy.linalg.solve_triangular(m, m[0])


@refused(
    "`solve_toeplitz` cannot be compiled here: "
    "it takes a vector for the first column, and one for the first row",
    MATRIX,
)
def several_columns(m):
    return scipy.linalg.solve_toeplitz(m, m[0])


@refused(
    "`convolve` cannot be compiled here: the arrays have as many axes as each other, one at least",
    np.ones(3),
)
def convolution_of_different_ranks(x):
    return scipy.signal.convolve(x, np.ones((2, 2)))


@refused(
    "`logpdf` cannot be compiled here: the numbers are of one dimension here",
    np.ones(3),
)
def normal_numbers(x):
    return np.sum(scipy.stats.multivariate_normal.logpdf(x))


@refused(
    "the attribute `mean` of a multivariate_normal_frozen made in the function cannot be stored",
    np.ones(2),
)
def mean_of_a_distribution_stored(x):
    made = scipy.stats.multivariate_normal(cov=np.eye(2))
    made.mean = np.zeros(2)
    return made.logpdf(x)


@refused("`dist` of a rv_continuous_frozen made in the function is not supported", np.ones(2))
def copy_of_a_distribution(x):
    return scipy.stats.norm(x[0]).dist.pdf(x[1])


@refused(
    "`logsumexp` cannot be compiled here: of complex numbers `return_sign` has no rule",
    MATRIX,
)
def sign_of_a_sum_of_complex_exponentials(m):
    return np.real(scipy.special.logsumexp(m, return_sign=True)[0])


class Tripled:
    """What computes transforms, and gives them three times."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method, args, kwargs):
        return getattr(np.fft, method.__name__)(*args, **kwargs) * 3.0


@refused(
    "what computes the functions of `scipy.fft` is not SciPy, but another backend, which has no "
    "derivative",
    np.ones(3),
)
def another_backend_of_transforms(x):
    with scipy.fft.set_backend(Tripled):
        return np.sum(np.abs(scipy.fft.fft(x)))


@refused("`lu` cannot be compiled here: it takes one matrix here", np.ones((2, 3, 3)))
def factors_of_a_stack(m):
    return scipy.linalg.lu(m)[1]


@refused(
    "`fractional_matrix_power` cannot be compiled here: the first power of a matrix is the matrix "
    "itself",
    np.eye(2),
)
def first_power(m):
    return np.sum(scipy.linalg.fractional_matrix_power(m, 1))


# -- flags ---------------------------------------------------------------------------------------


@refused("a list or an array, where a flag is meant", np.array([2.0, 3.0]))
def triangle_by_an_array(x):
    return scipy.linalg.cholesky(np.diag(x), x)


@refused("a list or an array, where a flag is meant", np.array([2.0, 3.0]))
def triangle_by_a_list(x):
    return scipy.linalg.solve_triangular(np.diag(x), x, lower=[0])


@refused("a list or an array, where a flag is meant", np.array([2.0, 3.0]))
def factor_with_an_array(x):
    return scipy.linalg.cho_solve((np.diag(x), x > 1), x)
