"""The distributions of several numbers, and of matrices, of `scipy.stats`."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp
from scipy import stats

from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.matrices import hermitian_of, of_triangle
from gradscribe.primitives.registry import (
    COMPOSITIONS,
    DISTRIBUTIONS,
    STAND_INS,
    adjoint,
    composition,
)
from gradscribe.primitives.static import as_places
from gradscribe.primitives.typing import (
    ONE,
    TypeRuleError,
    dims_of,
    like_first,
    number_type,
    same_length,
)


def _normal_type(facts, callee, x, mean=None, cov=1, allow_singular=False):
    x, given = number_type(x), dims_of(number_type(cov if mean is None else mean))
    length = given[-1] if given else ONE
    if not dims_of(x) or (length == ONE and facts.equal(dims_of(x)[-1], ONE) is not True):
        raise TypeRuleError("the numbers are of one dimension here", "use `scipy.stats.norm`")
    same_length(facts, dims_of(x)[-1], length, "the lengths of points and parameters")
    rows = tuple(row for row in dims_of(x)[:-1] if facts.equal(row, ONE) is not True)
    # SciPy computes in double precision, whatever it is given
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
    return np.reshape(change, np.shape(out))


@adjoint(
    stats.multivariate_normal.logpdf,
    type=_normal_type,
    tangent=_normal_tangent,
    static=("allow_singular",),
)
def multivariate_normal(out, x, mean=None, cov=1, allow_singular=False, *, d_out):
    inverse, weighted = _weighted(x, mean, cov, allow_singular)
    d_mean = np.reshape(d_out, (*x.shape[:-1], 1)) * weighted
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


def _points(x, length):
    """Points of so many numbers, as SciPy takes what it is given."""
    x = np.asarray(x, dtype=np.float64)
    if x.ndim == 0 or (x.ndim == 1 and length == 1):
        x = np.expand_dims(x, -1)
    return x


@composition(stats.multivariate_t.logpdf, called=True)
def multivariate_t(x, loc=None, shape=1, df=1):
    shape = np.asarray(shape, dtype=np.float64)
    if loc is not None:
        loc = np.ravel(np.asarray(loc, dtype=np.float64))
    length = loc.size if loc is not None else shape.shape[0] if shape.ndim == 2 else 1
    x = _points(x, length)
    deviations = x if loc is None else x - loc
    matrix = _matrix(shape, length)
    inverse = np.linalg.inv(matrix)
    squares = np.sum(deviations @ inverse * deviations, axis=-1)
    _, log = np.linalg.slogdet(matrix)
    return _t_density(squares, log, df, length)


def _t_density(squares, log, df, n):
    if df == np.inf:
        return -0.5 * (n * math.log(2 * math.pi) + log + squares)
    constant = sp.gammaln((df + n) / 2) - sp.gammaln(df / 2) - n / 2 * np.log(df * math.pi)
    return np.squeeze(constant - log / 2 - (df + n) / 2 * np.log1p(squares / df))[()]


@composition(stats.multivariate_t.pdf, called=True)
def multivariate_t_pdf(x, loc=None, shape=1, df=1):
    return np.exp(multivariate_t(x, loc, shape, df))


@composition(stats.dirichlet.logpdf, called=True)
def dirichlet(x, alpha):
    x, alpha = np.asarray(x), np.asarray(alpha)
    if x.shape[0] < alpha.shape[0]:
        x = np.concatenate((x, 1 - np.sum(x, axis=0, keepdims=True)))
    log_beta = np.sum(sp.gammaln(alpha)) - sp.gammaln(np.sum(alpha))
    return -log_beta + np.sum(sp.xlogy(alpha - 1, x.T).T, 0)


@composition(stats.dirichlet.pdf, called=True)
def dirichlet_pdf(x, alpha):
    return np.exp(dirichlet(x, alpha))


@composition(stats.multinomial.logpmf, called=True)
def multinomial(x, n, p):
    x, n, p = as_places(np.asarray(x)), as_places(n), np.asarray(p, dtype=np.float64)
    rest = 1.0 - np.sum(p[..., :-1], axis=-1, keepdims=True)
    wrong = np.abs(1 - np.sum(p, axis=-1, keepdims=True)) > 10 * np.finfo(np.float64).eps
    p = np.concatenate((p[..., :-1], np.where(wrong, rest, p[..., -1:])), axis=-1)
    return _counts_density(x, n, p, np.all((p >= 0) & (p <= 1), axis=-1) & (n >= 0))


def _counts_density(x, n, p, is_law):
    x = np.asarray(x)
    log = sp.gammaln(n + 1) + np.sum(sp.xlogy(x, p) - sp.gammaln(x + 1), axis=-1)
    is_outcome = np.all((x >= 0) & (x == np.floor(x)), axis=-1) & (np.sum(x, axis=-1) == n)
    return np.where(is_law, np.where(is_outcome, log, -np.inf), np.nan)[()]


@composition(stats.multinomial.pmf, called=True)
def multinomial_pmf(x, n, p):
    return np.exp(multinomial(x, n, p))


@composition(stats.wishart.logpdf, called=True)
def wishart(x, df, scale):
    """The density of positive definite matrices, which are x[:, :, k], if there are several. Of
    the scale the lower triangle is read."""
    scale = np.asarray(scale, dtype=np.float64)
    if scale.ndim < 2:
        scale = np.diag(np.atleast_1d(scale))
    scale = hermitian_of(scale, "L")
    log_scale = np.linalg.slogdet(scale)[1]
    return _wishart_density(x, scale.shape[0], df, scale, log_scale)


def _wishart_density(x, n, df, scale, log_scale):
    matrices = np.moveaxis(x, -1, 0) if np.ndim(x) == 3 else np.asarray(x)
    traces = np.trace(np.linalg.solve(scale, matrices), axis1=-2, axis2=-1)
    log_x = np.linalg.slogdet(hermitian_of(matrices, "L"))[1]
    constant = 0.5 * df * (n * math.log(2) + log_scale) + sp.multigammaln(0.5 * df, n)
    return 0.5 * (df - n - 1) * log_x - 0.5 * traces - constant


@composition(stats.wishart.pdf, called=True)
def wishart_pdf(x, df, scale):
    return np.exp(wishart(x, df, scale))


# -- distributions with given parameters ---------------------------------------------------------


class FrozenOfSeveral:
    """What the call of a distribution gives: its densities, with what was known of the parameters
    when it was called. SciPy computes of it then what its methods need."""

    def __init__(self, distribution, parameters):
        self._distribution, self._parameters = distribution, parameters

    def logpdf(self, x):
        return self._distribution.logpdf(x, *self._parameters)

    def pdf(self, x):
        return self._distribution.pdf(x, *self._parameters)

    def logpmf(self, x):
        return self._distribution.logpmf(x, *self._parameters)

    def pmf(self, x):
        return self._distribution.pmf(x, *self._parameters)

    def entropy(self):
        return self._distribution.entropy(*self._parameters)


class FrozenNormal(FrozenOfSeveral):
    """Stands for `multivariate_normal_frozen`."""

    def entropy(self):
        mean, cov, _ = self._parameters
        return self._distribution.entropy(mean, cov)


class FrozenT(FrozenOfSeveral):
    """Stands for `multivariate_t_frozen`."""


class FrozenDirichlet(FrozenOfSeveral):
    """Stands for `dirichlet_frozen`."""


class FrozenMultinomial(FrozenOfSeveral):
    """Stands for `multinomial_frozen`."""


class FrozenWishart(FrozenOfSeveral):
    """Stands for `wishart_frozen`."""


def _enter_frozen(distribution, cls, example):
    """Let the call of a distribution give an object of this class, which stands for such as the
    example; the function is given the parameters, and gives what SciPy keeps of them: copies of
    those of which it computes something at once."""

    def decorator(kept):
        def frozen(*args, **named):
            return cls(distribution, kept(*args, **named))

        DISTRIBUTIONS[type(distribution)] = distribution
        STAND_INS[cls] = example
        COMPOSITIONS[distribution] = frozen
        return kept

    return decorator


def _referred(parameter):
    """Numbers that SciPy keeps: an array of them as it is, others in a new one."""
    return None if parameter is None else np.asarray(parameter, dtype=np.float64)


@_enter_frozen(stats.multivariate_normal, FrozenNormal, stats.multivariate_normal())
def _normal_parameters(mean=None, cov=1, allow_singular=False):
    return _referred(mean), np.array(cov, dtype=np.float64), allow_singular


@_enter_frozen(stats.multivariate_t, FrozenT, stats.multivariate_t())
def _t_parameters(loc=None, shape=1, df=1):
    return _referred(loc), np.array(shape, dtype=np.float64), df


@_enter_frozen(stats.dirichlet, FrozenDirichlet, stats.dirichlet(np.ones(2)))
def _dirichlet_parameters(alpha):
    return (np.asarray(alpha),)


@_enter_frozen(stats.multinomial, FrozenMultinomial, stats.multinomial(1, np.ones(1)))
def _multinomial_parameters(n, p):
    return np.array(n), np.array(p, dtype=np.float64)


@_enter_frozen(stats.wishart, FrozenWishart, stats.wishart(1, 1))
def _wishart_parameters(df, scale):
    return df, np.array(scale, dtype=np.float64)


# -- those that were made outside: of what they hold, as SciPy does ------------------------------


@composition(type(stats.multivariate_normal()).logpdf, called=True)
def held_normal(self, x):
    x = _points(x, self.mean.shape[0])
    return np.squeeze(self._dist._logpdf(x, self.mean, self.cov_object))[()]


@composition(stats.multivariate_normal._logpdf)
def normal_by_factor(x, mean, cov_object):
    n, deviations = mean.shape[0], x - mean
    squares = np.sum(np.square(cov_object.whiten(deviations)), axis=-1)
    log = -0.5 * (cov_object.rank * math.log(2 * math.pi) + cov_object.log_pdet + squares)
    if hasattr(cov_object, "_support_mask") and cov_object.rank < n:
        log = np.where(cov_object._support_mask(deviations), log, -np.inf)
    return log


@composition(type(stats.multivariate_t()).logpdf, called=True)
def held_t(self, x):
    info, loc = self.shape_info, self.loc
    x = _points(x, loc.shape[0])
    return self._dist._logpdf(x, loc, info.U, info.log_pdet, self.df, self.dim, info.rank)


@composition(stats.multivariate_t._logpdf)
def t_by_factor(x, loc, prec_U, log_pdet, df, dim, rank):
    return _t_density(np.sum(np.square((x - loc) @ prec_U), axis=-1), log_pdet, df, dim)


@composition(type(stats.multinomial(1, np.ones(1))).logpmf)
def held_multinomial(self, x):
    return _counts_density(x, self.n, self.p, ~self.npcond)


@composition(type(stats.multinomial(1, np.ones(1))).pmf)
def held_multinomial_pmf(self, x):
    return np.exp(self.logpmf(x))


@composition(type(stats.wishart(1, 1)).logpdf, called=True)
def held_wishart(self, x):
    dim, df, scale = self.dim, self.df, self.scale
    return self._dist._logpdf(x, dim, df, scale, self.log_det_scale, self.C)


@composition(stats.wishart._logpdf)
def wishart_by_factor(x, dim, df, scale, log_det_scale, C):
    return _wishart_density(x, dim, df, C @ C.T, log_det_scale)
