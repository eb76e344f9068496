"""Missing values (NaN) that a program leaves out get no derivative, and give none."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

DATA = np.array([1.0, np.nan, 2.0])
TIMES = np.array([1.0, 2.0, 3.0])
P = np.array([0.5, 0.3])


def residual(p):
    return p[0] * TIMES + p[1] - DATA


def sum_of_squares(p):
    return np.nansum(residual(p) ** 2)


def mean_of_squares(p):
    return np.nanmean(residual(p) * residual(p))


def chosen(p):
    r = residual(p)
    return np.sum(np.where(np.isnan(DATA), 0.0, r * r))


def chosen_by_finite(p):
    r = residual(p)
    return np.sum(np.where(np.isfinite(r), np.abs(r), 0.0))


def indexed(p):
    r = residual(p) ** 2
    return np.sum(r[~np.isnan(DATA)])


def item_by_item(p):
    total = 0.0
    for i in range(3):
        r = p[0] * TIMES[i] + p[1] - DATA[i]
        if not np.isnan(r):
            total += r**2
    return total


def variance(p):
    return np.nanvar(p[0] * TIMES * DATA + p[1] * TIMES)


def replaced(p):
    return np.sum(np.nan_to_num(p[0] * TIMES * DATA) ** 2)


def exponentials(p):
    return np.nansum(np.exp(p[0] * DATA) * p[1])


def largest(p):
    return np.nanmax(p[0] * DATA) + np.nanmin(p[1] * DATA)


def middle(p):
    return np.nanmedian(np.sin(p[0] * DATA))


def roots(p):
    return np.nansum(np.sqrt(p[0] * DATA) / DATA)


PROGRAMS = (
    *(sum_of_squares, mean_of_squares, chosen, chosen_by_finite, indexed, item_by_item),
    *(variance, replaced, exponentials, largest, middle, roots),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_missing_values_give_no_derivative(program) -> None:
    steps = 1e-6 * np.eye(2)
    differences = [(program(P + h) - program(P - h)) / 2e-6 for h in steps]
    for transform in (gs.grad, gs.jacrev, gs.jacfwd):
        np.testing.assert_allclose(transform(program)(P), differences, rtol=1e-6, atol=1e-8)
    hessian = [(gs.grad(program)(P + h) - gs.grad(program)(P - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gs.hessian(program)(P), hessian, rtol=1e-5, atol=1e-5)


def test_values_that_are_left_in_are_missing_in_the_derivative() -> None:
    def program(p):
        return np.nansum(residual(p) ** 2) + np.sum(residual(p))

    assert np.isnan(gs.grad(program)(P)).sum() == 0  # of a sum, whose derivative is no NaN
    assert np.isnan(gs.grad(lambda p: np.sum(residual(p) ** 2))(P)).all()
