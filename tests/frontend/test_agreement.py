"""Operations that stand for a function of NumPy's give what it gives, or the call is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import gradscribe as gs
from gradscribe.primitives.registry import COMPOSITIONS

X = np.array([0.4, 1.5, 0.9])
PLACES = np.arange(7.0)


def padded_by_several(x):
    return np.sum(np.pad(x, 2, constant_values=x[:2]) * PLACES)


def ramps_to_several(x):
    ends = np.array([1.0, 2.0])
    return x[0] * np.sum(np.pad(x, 2, mode="linear_ramp", end_values=ends) * PLACES)


def spaced_by_several_bases(x):
    return np.sum(np.logspace(0.0, 1.0, 3, base=x) * PLACES[:3])


def spaced_at_one_place(x):
    return np.sum(np.geomspace(x[0], x[1], 1))


def trimmed_on_all_sides(x):
    padded = np.zeros((4, 4))
    padded[1:3, 1:3] = x[0]
    trimmed = np.trim_zeros(padded)
    return np.sum(trimmed) + trimmed.shape[0] * x[1]


@pytest.mark.parametrize(
    "function",
    [
        *(padded_by_several, ramps_to_several, spaced_by_several_bases, spaced_at_one_place),
        trimmed_on_all_sides,
    ],
)
def test_what_they_do_not_give_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(gs.errors.UnsupportedError, match="the operations that stand for"):
        gs.grad(function)(X)


def doubled(a, lower=False, overwrite_a=False, check_finite=True):
    return 2.0 * np.linalg.cholesky(a), lower


def test_functions_of_definite_matrices_are_tried_on_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def factor(x):
        return np.sum(scipy.linalg.cho_factor(9.0 * np.eye(3) + x[0], True, True)[0])

    assert gs.value_and_grad(factor)(X)[0] == pytest.approx(factor(X))
    monkeypatch.setitem(COMPOSITIONS, scipy.linalg.cho_factor, doubled)
    with pytest.raises(gs.errors.UnsupportedError, match="stand for `cho_factor` give other"):
        gs.grad(lambda x: np.sum(scipy.linalg.cho_factor(9.0 * np.eye(3) + x[0])[0]))(X)


def test_numbers_of_another_dtype_are_not_what_a_function_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spread(x):
        return np.sum(np.nanstd(x)) * x[0]

    single = X.astype(np.float32)
    assert gs.value_and_grad(spread)(single)[0].dtype == np.float32
    monkeypatch.setitem(COMPOSITIONS, np.nanstd, lambda a: np.std(a) * np.ones(()))
    with pytest.raises(gs.errors.UnsupportedError, match="another dtype than float32"):
        gs.grad(lambda x: np.sum(np.nanstd(x)) * x[0])(single)


@pytest.mark.parametrize("limits", [None, (0.0, 2.0)])
def test_edges_of_bins_are_as_precise_as_numpy_s(limits: Any) -> None:
    single = X.astype(np.float32)

    def edges(x):
        several = np.histogramdd((x, x), 3, range=limits and [limits] * 2)[1][0]
        return np.histogram_bin_edges(x, 3, range=limits), several

    given = gs.vjp(edges, single)[0]
    assert [item.dtype for item in given] == [item.dtype for item in edges(single)]
    np.testing.assert_allclose(given[0], edges(single)[0], rtol=1e-6)


def product_without_leading_zeros(x):
    product = np.polymul(np.array([0.0, x[0], x[1]]), np.array([1.0, x[2]]))
    return product[0] + len(product) * x[2]


def product_with_zero(x):
    return np.sum(np.polymul(np.zeros(2), x)) + x[0]


def slices_of_one(x):
    return np.hypot.reduceat(x - 1.0, [0, 2, 1]) @ x


def constants_padded(x):
    return np.sum(np.pad(x, 2, constant_values=(1.0, 2.0)) * PLACES)


def residuals_of_a_tall_matrix(x):
    return np.sum(scipy.linalg.lstsq(np.vander(x, 2), x * x)[1]) + x[0]


@pytest.mark.parametrize(
    "function",
    [
        *(product_without_leading_zeros, product_with_zero, slices_of_one, constants_padded),
        residuals_of_a_tall_matrix,
    ],
)
def test_what_they_give_is_differentiated(function: Callable[..., Any]) -> None:
    assert gs.value_and_grad(function)(X)[0] == pytest.approx(function(X), rel=1e-13)
    gs.testing.check_grad(function, X)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_eigenvectors_in_single_precision_are_scipys(dtype: Any) -> None:
    found = 0
    for seed in range(6):
        matrix = np.random.default_rng(seed).normal(size=(4, 4)).astype(dtype)

        def first(x, matrix=matrix):
            return np.sum(np.real(scipy.linalg.eig(matrix * x[0].astype(dtype))[1][0]))

        x = np.ones(1, np.float32)
        try:
            value, _ = gs.value_and_grad(first)(x)
        except gs.errors.NoDerivativeError as refused:
            assert "other vectors" in str(refused)
        else:
            assert value == pytest.approx(first(x), rel=1e-3)
            found += 1
    assert found > 3
