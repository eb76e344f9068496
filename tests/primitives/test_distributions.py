"""What a distribution of SciPy's that is an object holds is what SciPy would use at that time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

stats = pytest.importorskip("scipy.stats")

X = np.array([0.7, 1.3])
S = np.eye(2) + 0.2


def is_right(function: Callable[[Any], Any], x: Any = X) -> None:
    value, _ = gs.value_and_grad(function)(x)
    assert np.shape(value) == np.shape(function(x))
    np.testing.assert_allclose(value, function(x), rtol=1e-12)
    gs.testing.check_grad(function, x)


def stored_after_normal(x):
    w = np.eye(2)
    d = stats.multivariate_normal(cov=w)
    w *= 9.0
    return d.logpdf(x)


def stored_after_an_active_normal(x):
    w = np.eye(2) * x[0]
    d = stats.multivariate_normal(cov=w)
    w *= 9.0
    return d.logpdf(np.ones(2))


def stored_in_a_list(x):
    w, mean = [[1.0, 0.0], [0.0, 2.0]], [0.5, 0.0]
    d = stats.multivariate_normal(mean, w)
    w[0][0], mean[0] = 5.0, 3.0
    return d.logpdf(x)


def mean_is_referred_to(x):
    mean = np.zeros(2)
    d = stats.multivariate_normal(mean, S)
    mean += x
    return d.logpdf(x[::-1])


def stored_after_t(x):
    w = np.eye(2)
    d = stats.multivariate_t(np.zeros(2), w, df=3)
    w *= 9.0
    return d.logpdf(x)


def stored_after_wishart(x):
    w = np.eye(2)
    d = stats.wishart(3, w)
    w *= 9.0
    return d.logpdf(np.eye(2) * x[0])


def stored_after_multinomial(x):
    p = np.ones(4) / 4
    d = stats.multinomial(3, p)
    p[0] = 0.0
    return d.pmf([1, 1, 1, 0]) * x[0]


def stored_after_dirichlet(x):
    a, b = np.ones(2), [1.0, 1.0]
    d, e = stats.dirichlet(a), stats.dirichlet(b)
    a[0], b[0] = 3.0, 5.0
    return d.logpdf(x / np.sum(x)) + e.logpdf(x / np.sum(x))


def several_of_one_array(x):
    w, made = np.eye(2), []
    for _ in range(3):
        made.append(stats.multivariate_normal(cov=w))
        w *= 2.0
    return made[0].logpdf(x) + made[1].logpdf(x) * x[0]


def parameters_of_one_number(x):
    location = np.zeros(1)
    d = stats.norm(location, 1.0)
    location += x[0]
    return d.logpdf(x[1])[0] + d.args[1] * d.kwds.get("scale", x[0])


def told_by_attributes(x):
    d, e = stats.norm(x[0]), stats.poisson(x[1])
    found = [hasattr(d, "logpmf"), hasattr(e, "logpmf"), hasattr(d, "kwds")]
    return d.logpdf(x[1]) if found == [False, True, True] else e.logpmf(3)


def told_by_class(x):
    d = stats.norm(x[0])
    is_frozen = type(d).__name__ == "rv_continuous_frozen"
    return d.logpdf(x[1]) if is_frozen and isinstance(d, type(NORMAL)) else np.sum(x)


NORMAL = stats.norm()


@pytest.mark.parametrize(
    "function",
    [
        stored_after_normal,
        stored_after_an_active_normal,
        stored_in_a_list,
        mean_is_referred_to,
        stored_after_t,
        stored_after_wishart,
        stored_after_multinomial,
        stored_after_dirichlet,
        several_of_one_array,
        parameters_of_one_number,
        told_by_attributes,
        told_by_class,
    ],
)
def test_parameters_are_those_that_scipy_keeps(function: Any) -> None:
    is_right(function)


POINTS = np.array([[0.7, 1.3], [0.2, 0.4], [-0.5, 1.0]])
COUNTED = {
    "one point of several": lambda x: stats.multivariate_normal.logpdf(x[:1], [0.0, 1.0], S),
    "of t": lambda x: stats.multivariate_t.logpdf(x[:1], [0.0, 1.0], S),
    "points of one number": lambda x: stats.multivariate_normal.logpdf(x[:, :1], 0.5, 2.0)[0],
    "points of one number, of t": lambda x: stats.multivariate_t.logpdf(x[0] * x[1])[0],
    "a normal one that is a t": lambda x: stats.multivariate_t.logpdf(x, x[0], S, np.inf)[1],
    "variances of wishart": lambda x: stats.wishart.logpdf(S, 3, x[0] + 2.0),
}


@pytest.mark.parametrize("function", COUNTED.values(), ids=COUNTED)
def test_points_are_counted_as_scipy_counts_them(function: Any) -> None:
    try:
        function(POINTS)
    except TypeError:  # SciPy 1.15's own, of a t that is normal
        with pytest.raises(TypeError):
            gs.value_and_grad(function)(POINTS)
        return
    is_right(function, POINTS)


def changed_normal() -> Any:
    cov = np.eye(2)
    made = stats.multivariate_normal(cov=cov)
    cov *= 9.0
    return made


def moved_normal() -> Any:
    made = stats.multivariate_normal(cov=S)
    made.mean = np.ones(2)
    return made


def normal_with_a_function() -> Any:
    made = stats.multivariate_normal(cov=S)
    made.logpdf = np.sum
    return made


def normal_of(cov: Any, **options: Any) -> Callable[[], Any]:
    return lambda: stats.multivariate_normal(cov=cov, **options)


def changed_t() -> Any:
    made = stats.multivariate_t(np.zeros(2), np.eye(2), df=3)
    made.shape = 4 * np.eye(2)
    return made


COVARIANCE = stats.Covariance
OUTSIDE = {
    "changed": changed_normal,
    "moved": moved_normal,
    "function": normal_with_a_function,
    "t": changed_t,
    "singular": normal_of(np.ones((2, 2)), allow_singular=True),
    "diagonal": normal_of(COVARIANCE.from_diagonal([1.0, 2.0])),
    "cholesky": normal_of(COVARIANCE.from_cholesky(np.linalg.cholesky(S))),
    "precision": normal_of(COVARIANCE.from_precision(S)),
    "dirichlet": lambda: stats.dirichlet([1.0, 2.0]),
}


@pytest.mark.parametrize("make", OUTSIDE.values(), ids=OUTSIDE)
def test_distributions_from_outside_are_what_they_hold(make: Any) -> None:
    made = make()
    is_right(lambda x: np.exp(made.logpdf(x / np.sum(x))) + x[0])


def test_points_of_one_number_of_a_distribution_from_outside() -> None:
    normal, t = stats.multivariate_normal(0.0, 2.0), stats.multivariate_t(df=3)
    is_right(lambda x: np.sum(normal.logpdf(x) * t.logpdf(x)))


def test_matrices_of_a_distribution_from_outside_whose_scale_was_stored_to() -> None:
    scale = np.eye(2)
    made = stats.wishart(3, scale)
    scale *= 4.0
    is_right(lambda x: made.logpdf(np.outer(x, x) + S))


INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
MATRICES = stats.wishart(4, S)
MISTAKEN = {
    "no matrix of a t": lambda x: stats.multivariate_t.logpdf(x, x, INDEFINITE),
    "no matrix of a normal one": lambda x: stats.multivariate_normal(x, INDEFINITE).pdf(x),
    "no fractions": lambda x: stats.dirichlet.logpdf(x, [1.0, 2.0]),
    "no definite matrix": lambda x: stats.wishart.logpdf(INDEFINITE * x[0], 3, S),
    "no definite matrix, outside": lambda x: MATRICES.logpdf(INDEFINITE * x[0]),
}


@pytest.mark.parametrize("function", MISTAKEN.values(), ids=MISTAKEN)
def test_what_scipy_does_not_take_raises(function: Any) -> None:
    def caught(x: Any) -> Any:
        try:
            return function(x)
        except ValueError:  # `LinAlgError` is one
            return x[1] ** 2

    np.testing.assert_allclose(gs.grad(caught)(X), [0.0, 2 * X[1]])


def make(distribution: Any, function: str = "", stored: Any = None, **given: Any) -> Any:
    """Another distribution of the class of one of SciPy's, with this function of its own."""
    made = type(distribution)(name="made", **given)
    if function:
        setattr(made, function, stored)
    return made


OTHERS = {
    "support": lambda: make(stats.norm, a=0.0),
    "badvalue": lambda: make(stats.norm, badvalue=7.0),
    "density": lambda: make(stats.norm, "_pdf", lambda x: x * 0.3),
    "check": lambda: make(stats.norm, "_argcheck", lambda: False),
}


@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_a_distribution_that_is_not_scipys_own_has_no_rule(made: Any) -> None:
    other = made()
    with pytest.raises(gs.errors.CompiledCodeError, match="cannot be differentiated"):
        gs.grad(lambda x: other.pdf(x[0]))(X)


def test_with_given_parameters_a_distribution_has_the_support_of_the_one_that_is_called() -> None:
    other = make(stats.norm, a=0.0)(1.0)
    with pytest.raises(gs.errors.CompiledCodeError, match="cannot be differentiated"):
        gs.grad(lambda x: other.cdf(x[0]))(X)


def test_a_distribution_that_is_like_scipys_has_its_rules() -> None:
    other = make(stats.norm)
    is_right(lambda x: other.logpdf(x[0], x[1]))
    is_right(lambda x: other(1.0).cdf(x[0]))


def test_the_function_of_a_distribution_may_be_the_users() -> None:
    other = make(stats.norm, "pdf", lambda x: x * 0.3)
    gradient = gs.grad(lambda x: other.pdf(x[0]))
    np.testing.assert_allclose(gradient(X), [0.3, 0.0])
    other.pdf = lambda x: x * 0.5
    np.testing.assert_allclose(gradient(X), [0.5, 0.0])


def test_a_distribution_is_asked_at_each_call_whether_it_is_scipys_own() -> None:
    made = stats.norm(0.0, 1.0)
    gradient = gs.grad(lambda x: made.cdf(x[0]))
    np.testing.assert_allclose(gradient(X), [stats.norm.pdf(0.7), 0.0])
    made.dist.a = 0.0
    with pytest.raises(gs.errors.CompiledCodeError):
        gradient(X)
    made.dist.a = -np.inf
    np.testing.assert_allclose(gradient(X), [stats.norm.pdf(0.7), 0.0])
