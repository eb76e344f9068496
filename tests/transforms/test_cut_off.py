"""What a program does not use of a value gives it no gradient, also where its derivative has a
pole: the distance of a point to itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.testing import check_grad

POINTS = np.random.default_rng(3).normal(size=(4, 2))

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def _all(x: Any) -> Any:
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


def beyond_the_first(x: Any) -> Any:
    return np.sum(np.sqrt(np.sum((x - x[0]) ** 2, axis=1))[1:])


def first_replaced(x: Any) -> Any:
    r = np.linalg.norm(x - x[0], axis=1)
    r[0] = 1.0
    return np.sum(1 / r)


def upper_triangle(x: Any) -> Any:
    return np.sum(_all(x)[np.triu_indices(len(x), 1)])


def nearest(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        r = np.sqrt(((x - x[i]) ** 2).sum(1))
        total = total + r[r > 0].min()
    return total


def pairs_of_a_table(x: Any) -> Any:
    r, total = _all(x), 0.0
    for i in range(len(x)):
        for j in range(i):
            total = total + r[i, j]
    return total


def pairs_apart(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            r = np.sqrt(np.sum((x[i] - x[j]) ** 2))
            if r != 0:
                total += 1 / r
    return total


def powers_of_pairs(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            r = np.sum((x[i] - x[j]) ** 2) ** 0.5
            total += 0.0 if i == j else r
    return total


def other_side(x: Any) -> Any:
    r = np.sqrt(np.sum((x - x[0]) ** 2, axis=1))
    if x[0, 0] > 100:
        return np.sum(r)
    return np.sum(x**2)


def replaced_one_by_one(x: Any) -> Any:
    r = _all(x)
    for i in range(len(x)):
        r[i, i] = np.inf
    return np.sum(r[np.arange(len(x)), np.argmin(r, axis=1)])


def second_of_the_sorted(x: Any) -> Any:
    return np.sum(np.sort(_all(x), axis=1)[:, 1])


def rows_put_into_zeros(x: Any) -> Any:
    r = np.zeros(len(x) + 1)
    for i in range(len(x)):
        if i != 2:
            r[i + 1] = x[i, 0] ** 2
    total = 0.0
    for i in range(len(r)):
        total += np.sqrt(r[i])
    return total + np.sum(np.sqrt(r))


def put_into_zeros_on_one_side(x: Any) -> Any:
    r = np.zeros(len(x))
    if x[0, 0] > -100:
        r[1:] = x[1:, 0] ** 2
    return np.sum(np.sqrt(r))


@pytest.mark.parametrize(
    "f",
    [
        rows_put_into_zeros,
        put_into_zeros_on_one_side,
        beyond_the_first,
        first_replaced,
        upper_triangle,
        nearest,
        pairs_of_a_table,
        pairs_apart,
        powers_of_pairs,
        other_side,
        replaced_one_by_one,
        second_of_the_sorted,
    ],
)
def test_distance_to_itself_that_is_not_used(f: Callable[..., Any]) -> None:
    check_grad(f, POINTS)


def test_zero_by_chance_under_a_mask_has_second_derivatives() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.sqrt(x) - 1, 0.0) ** 2)

    x = np.array([1.0, 4.0, 1.0, 0.0])
    (product,) = gs.hvp(f, (x,), (np.ones(4),))
    np.testing.assert_allclose(product, [0.5, 0.0625, 0.5, 0.0])


def test_a_factor_of_zero_hides_no_pole() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.log(x) * 0.0)

    x = np.array([0.0, 1.0])
    np.testing.assert_array_equal(gs.grad(f)(x), [np.nan, 0.0])
    np.testing.assert_array_equal(gs.jvp(f, (x,), (np.array([1.0, 0.0]),)), [np.nan, np.nan])
    np.testing.assert_array_equal(gs.grad(lambda x: np.sum(np.log(x) * (x - x)))(x), [np.nan, 0.0])
