"""The distributions of several numbers, and of matrices, of `scipy.stats`."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.matrices import hermitian_of, of_triangle
from gradscribe.primitives.registry import adjoint, composition
from gradscribe.primitives.scipy.distributed import enter_frozen
from gradscribe.primitives.typing import TypeRuleError, dims_of, like_first, number_type


def _normal_type(facts, callee, x, mean=None, cov=1, allow_singular=False):
    x, cov = number_type(x), number_type(cov)
    if not dims_of(x) or (mean is None and not dims_of(cov)):
        raise TypeRuleError("the numbers are of one dimension here", "use `scipy.stats.norm`")
    rows = dims_of(x)[:-1]  # SciPy computes in double precision, whatever it is given
    return like_first(Array("float64", rows), rows, x) if rows else Scalar("float64", weak=False)


def _matrix(cov, length):
    """The covariance as a matrix: of one number, or of the variances."""
    if np.ndim(cov) == 2:
        return hermitian_of(cov, "L")
    return cov * np.eye(length) if np.ndim(cov) == 0 else np.diag(cov)


def _weighted(x, mean, cov, allow_singular):
    """The inverse of the covariance, and its product with the deviations."""
    deviations = x if mean is None else x - mean
    matrix = _matrix(cov, x.shape[-1])
    inverse = np.linalg.pinv(matrix, hermitian=True) if allow_singular else np.linalg.inv(matrix)
    return inverse, deviations @ inverse


def _normal_tangent(
    out, x, mean=None, cov=1, allow_singular=False, *, d_x=None, d_mean=None, d_cov=None
):
    inverse, weighted = _weighted(x, mean, cov, allow_singular)
    change = 0.0
    if d_x is not None:
        change = change - np.sum(weighted * d_x, axis=-1)
    if d_mean is not None:
        change = change + np.sum(weighted * d_mean, axis=-1)
    if d_cov is not None:
        moved = _matrix(d_cov, x.shape[-1])
        change = (
            change + (np.sum(weighted @ moved * weighted, axis=-1) - np.sum(inverse * moved)) / 2
        )
    return change


@adjoint(
    stats.multivariate_normal.logpdf,
    type=_normal_type,
    tangent=_normal_tangent,
    static=("allow_singular",),
)
def multivariate_normal(out, x, mean=None, cov=1, allow_singular=False, *, d_out):
    inverse, weighted = _weighted(x, mean, cov, allow_singular)
    d_mean = np.expand_dims(d_out, -1) * weighted
    rows = np.reshape(weighted, (-1, x.shape[-1]))
    d_matrix = (np.reshape(d_mean, rows.shape).T @ rows - np.sum(d_out) * inverse) / 2
    if np.ndim(cov) == 2:
        return -d_mean, d_mean, of_triangle(d_matrix, "L")
    return -d_mean, d_mean, np.trace(d_matrix) if np.ndim(cov) == 0 else np.diagonal(d_matrix)


@composition(stats.multivariate_normal.pdf)
def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False):
    return np.exp(stats.multivariate_normal.logpdf(x, mean, cov, allow_singular))


@composition(stats.multivariate_normal.entropy)
def multivariate_normal_entropy(mean=None, cov=1):
    matrix = np.asarray(cov, dtype=np.float64)
    _, log = np.linalg.slogdet(_matrix(matrix, 1 if mean is None else np.size(mean)))
    return 0.5 * (matrix.shape[-1] * (math.log(2 * math.pi) + 1) + log)


@composition(stats.multivariate_t.logpdf)
def multivariate_t(x, loc=None, shape=1, df=1):
    x, shape = np.asarray(x, dtype=np.float64), np.asarray(shape, dtype=np.float64)
    n = x.shape[-1]
    deviations = x if loc is None else x - loc
    matrix = _matrix(shape, n)
    inverse = np.linalg.inv(matrix)
    squares = np.sum(deviations @ inverse * deviations, axis=-1)
    _, log = np.linalg.slogdet(matrix)
    constant = sp.gammaln((df + n) / 2) - sp.gammaln(df / 2) - n / 2 * np.log(df * math.pi)
    return constant - log / 2 - (df + n) / 2 * np.log1p(squares / df)


@composition(stats.multivariate_t.pdf)
def multivariate_t_pdf(x, loc=None, shape=1, df=1):
    return np.exp(multivariate_t(x, loc, shape, df))


@composition(stats.dirichlet.logpdf)
def dirichlet(x, alpha):
    x, alpha = np.asarray(x), np.asarray(alpha)
    if x.shape[0] < alpha.shape[0]:
        x = np.concatenate((x, 1 - np.sum(x, axis=0, keepdims=True)))
    log_beta = np.sum(sp.gammaln(alpha)) - sp.gammaln(np.sum(alpha))
    return -log_beta + np.sum(sp.xlogy(alpha - 1, x.T).T, 0)


@composition(stats.dirichlet.pdf)
def dirichlet_pdf(x, alpha):
    return np.exp(dirichlet(x, alpha))


@composition(stats.multinomial.logpmf)
def multinomial(x, n, p):
    x, n, p = np.asarray(x), np.asarray(n), np.asarray(p, dtype=np.float64)
    rest = 1.0 - np.sum(p[..., :-1], axis=-1, keepdims=True)
    wrong = np.abs(1 - np.sum(p, axis=-1, keepdims=True)) > 10 * np.finfo(np.float64).eps
    p = np.concatenate((p[..., :-1], np.where(wrong, rest, p[..., -1:])), axis=-1)
    log = sp.gammaln(n + 1) + np.sum(sp.xlogy(x, p) - sp.gammaln(x + 1), axis=-1)
    is_outcome = np.all((x >= 0) & (x == np.floor(x)), axis=-1) & (np.sum(x, axis=-1) == n)
    is_law = np.all((p >= 0) & (p <= 1), axis=-1) & (n >= 0)
    return np.where(is_law, np.where(is_outcome, log, -np.inf), np.nan)[()]


@composition(stats.multinomial.pmf)
def multinomial_pmf(x, n, p):
    return np.exp(multinomial(x, n, p))


@composition(stats.wishart.logpdf)
def wishart(x, df, scale):
    """The density of positive definite matrices, which are x[:, :, k], if there are several."""
    scale = np.reshape(scale, (1, 1)) if np.ndim(scale) == 0 else np.asarray(scale) * 1.0
    matrices = np.moveaxis(x, -1, 0) if np.ndim(x) == 3 else np.asarray(x)
    n = scale.shape[0]
    traces = np.trace(np.linalg.solve(scale, matrices), axis1=-2, axis2=-1)
    log_x = np.linalg.slogdet(hermitian_of(matrices, "L"))[1]
    log_scale = np.linalg.slogdet(hermitian_of(scale, "L"))[1]
    constant = 0.5 * df * (n * math.log(2) + log_scale) + sp.multigammaln(0.5 * df, n)
    return 0.5 * (df - n - 1) * log_x - 0.5 * traces - constant


@composition(stats.wishart.pdf)
def wishart_pdf(x, df, scale):
    return np.exp(wishart(x, df, scale))


# -- distributions with given parameters ---------------------------------------------------------


def _enter_frozen(distribution, methods, parameters, *example):
    """Let the call of a distribution give its methods with these parameters; those of what SciPy
    makes of such a call outside of compiled code, which holds them, are the same.

    parameters: what they are there. example: parameters of the call, to make one.
    """
    enter_frozen(distribution)
    made = type(distribution(*example))
    for name in methods:
        composition(getattr(made, name))(_of_held(getattr(distribution, name), parameters))


def _of_held(method, parameters):
    def call(self, x):
        return method(x, *parameters(self))

    return call


def _of_normal(held):
    return held.mean, held.cov_object._covariance, held.allow_singular


def _of_t(held):
    return held.loc, held.shape, held.df


def _of_dirichlet(held):
    return (held.alpha,)


def _of_multinomial(held):
    return held.n, held.p


def _of_wishart(held):
    return held.df, held.scale


_CONTINUOUS, _DISCRETE = ("logpdf", "pdf"), ("logpmf", "pmf")
_enter_frozen(stats.multivariate_normal, _CONTINUOUS, _of_normal)
_enter_frozen(stats.multivariate_t, _CONTINUOUS, _of_t)
_enter_frozen(stats.dirichlet, _CONTINUOUS, _of_dirichlet, np.ones(2))
_enter_frozen(stats.multinomial, _DISCRETE, _of_multinomial, 1, np.ones(1))
_enter_frozen(stats.wishart, _CONTINUOUS, _of_wishart, 1, 1)
