"""Functions of NumPy and SciPy that are written in Python are followed as those of the user are."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats
from numpy.polynomial import Polynomial

import gradscribe as gs
from tests.every_mode import check_mode

X = np.array([0.7, 1.3, 2.1, 0.4])
W = np.array([1.0, -2.0, 3.0, 0.5])

LOSSES: dict[str, Any] = {
    "polynomials and their operators": lambda x: (Polynomial(x) * Polynomial(W) - x[0])(1.1),
    "the derivative of a polynomial": lambda x: Polynomial(x).deriv()(0.3) * Polynomial(x)(x[1]),
    "a polynomial of the old kind": lambda x: np.sum(np.poly1d(x)(W)),
    "an object of SciPy that has no hash": lambda x: scipy.special.legendre(2)(x[0]) * x[1],
    "arrays that are checked": lambda x: np.sum(np.asarray_chkfinite([x[0], x[1]]) ** 2),
    "arrays made of a function": lambda x: np.sum(
        np.fromfunction(lambda i, j: x[0] * i + x[1] * j, (2, 2)) ** 2
    ),
    "an array that NumPy makes": lambda x: _stored(np.indices((4,), dtype=float), x),
    "a function of numbers": lambda x: np.sum(np.vectorize(lambda a: a * a if a > 1 else a)(x)),
    "a function of rows": lambda x: np.sum(
        np.apply_along_axis(lambda row: row * row.sum(), 1, x.reshape(2, 2))
    ),
    "a number that is broadcast": lambda x: _filled(np.broadcast_arrays(x, x[0])[1], x),
    "a list that is broadcast": lambda x: _filled(np.broadcast_arrays(x, [x[0]])[1], x),
    "objects as numbers": lambda x: np.sum(np.array([x[0], x[1]], dtype=object).astype(float) ** 2),
    "elements and their places": lambda x: sum(
        v * (1 + i + 2 * j) for (i, j), v in np.ndenumerate(x.reshape(2, 2) ** 2)
    ),
    "one bound": lambda x: np.sum(x.clip(1.0) * W) + x[0].clip(max=2.0),
    "a result wrapped as the argument is": lambda x: (
        _wrapped(x) + np.sum(scipy.signal.filtfilt([1.0, 0.2], [1.0, 0.3], np.ones(30)) * x[0])
    ),
    "ranks": lambda x: scipy.stats.spearmanr(x, W)[0] * x[0],
    "a mean within limits": lambda x: scipy.stats.tmean(x, limits=(0.5, 2.0)),
    "real eigenvalues": lambda x: np.real(np.sum(np.linalg.eig(x.reshape(2, 2)).eigenvalues ** 2)),
    "real eigenvectors": lambda x: np.sum(
        np.abs(np.linalg.eig(x.reshape(2, 2))[1][0]) ** 2 * W[:2]
    ),
}


def _wrapped(x: Any) -> Any:
    wrap = x.__array_wrap__
    return np.sum(wrap(x * W)) * wrap(np.sum(x, keepdims=True).reshape(()), None, True)


def _stored(made: Any, x: Any) -> Any:
    made[0] += x**2
    return np.sum(made**2)


def _filled(made: Any, x: Any) -> Any:
    made[0] = x[1]  # all elements lie at one place
    return np.sum(made * x)


def in_set(kind: Any, x: Any) -> Any:
    return np.array([x[0], x[1]])[0] if kind in {"one", "two", "three", "four"} else x[2]


def taken_apart(x: Any) -> Any:
    first, *others = (x[0], x[1], x[2])
    return np.array([first, *others])[1] * first


@pytest.mark.filterwarnings("ignore:Numpy has detected")
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_functions_of_libraries_are_followed(loss: Any) -> None:
    h = 1e-6 * np.eye(4)
    expected = [(float(loss(X + d)) - float(loss(X - d))) / 2e-6 for d in h]
    value, gradient = gs.value_and_grad(loss, compile=False)(X)
    assert type(value) is type(loss(X))
    np.testing.assert_allclose(value, loss(X))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_functions_with_sets_of_texts_or_starred_targets_are_followed() -> None:
    assert gs.grad(lambda x: in_set("two", x), compile=False)(X).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert gs.grad(taken_apart, compile=False)(X).tolist() == [1.3, 0.7, 0.0, 0.0]


def test_what_compiled_code_returns_of_its_arguments_is_the_array_itself():
    def scaled(x):
        weights = np.ones(3)
        result = scipy.linalg.blas.dscal(2.0, weights)
        return np.sum(weights * x) + (result is weights) * x[0]

    x = np.array([1.0, 2.0, 4.0])
    assert scaled(x) == 15.0
    assert gs.value_and_grad(scaled, compile=False)(x)[0] == 15.0


def test_pandas_may_count_the_references_to_its_tables() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2.0, 3.0]})

    def loss(x: Any) -> Any:
        table["b"] = table["a"] * 2.0
        return float(table["b"].iloc[1]) * np.sum(x)

    gradient = gs.grad(loss, compile=False)(np.ones(2))
    np.testing.assert_array_equal(gradient, [4.0, 4.0])


class Table:
    """A sequence that can be called: NumPy's functions are followed, as it may be a function."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]

    def __call__(self, value):
        return value


TABLE = Table(2.0, 1.0, 3.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.cumsum(TABLE) * x) + np.cumprod(TABLE) @ x,
        lambda x: x[np.argsort(TABLE)] @ np.sort(TABLE) + x[np.argmax(TABLE)],
        lambda x: np.round(TABLE, 1) @ x + np.clip(TABLE, 0, 2) @ x + np.take(TABLE, 1) * x[0],
        lambda x: np.reshape(TABLE, 3) @ x + np.squeeze(TABLE) @ x + np.repeat(TABLE, 2)[1:4] @ x,
        lambda x: np.delete(TABLE, 0)[0] * x[1] + np.insert(TABLE, 1, 5.0)[:3] @ x,
        lambda x: np.linspace(TABLE, 4.0, 3)[1] @ x + np.unique(TABLE) @ x,
        lambda x: np.tril([TABLE, TABLE, TABLE])[1] @ x,
    ],
)
def test_numpy_takes_a_callable_sequence(function):
    check_mode("recorded", function, np.array([1.2, -0.7, 0.6]))
