"""Functions of samples at sizes and points where a formula has no room: no elements, two, equal
abscissae."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

VALUES = np.array([0.5, 0.7, 0.9, 1.1])
ABSCISSAE = (
    *([0.0], [0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 2.0]),
    *([0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.5, 1.0, 2.0]),
)


@pytest.mark.parametrize("options", [{}, {"left": 7.0}, {"right": -2.0}], ids=str)
@pytest.mark.parametrize("points", ABSCISSAE, ids=str)
def test_interp_takes_the_last_of_equal_abscissae(points, options):
    points, values = np.array(points), VALUES[: len(points)]
    for x in (-0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5):

        def at(y, x=x):
            return np.interp(x, points, y, **options)

        slopes = [(at(values + e) - at(values - e)) / 2e-6 for e in np.eye(len(points)) * 1e-6]
        np.testing.assert_allclose(gs.grad(at)(values), slopes, atol=1e-8)
        np.testing.assert_allclose(gs.jacfwd(at)(values), slopes, atol=1e-8)
        if x not in points:

            def along(z):
                return np.interp(z, points, values, **options)

            slope = (along(x + 1e-6) - along(x - 1e-6)) / 2e-6
            np.testing.assert_allclose(gs.grad(along)(x), slope, atol=1e-8)


@pytest.mark.parametrize("compile", [True, False])
def test_a_histogram_of_nothing_has_empty_bins(compile):
    function = gs.value_and_grad(
        lambda x, w: np.sum(np.histogram(x, bins=3, weights=w)[0]), 1, compile=compile
    )
    value, gradient = function(np.zeros(0), np.zeros(0))
    assert (value, gradient.shape) == (0, (0,))


@pytest.mark.parametrize("count", range(2, 8))
@pytest.mark.parametrize("options", [{}, {"dx": 0.3}, {"x": [0, 1, 1, 2.5, 3, 3.0, 4]}], ids=str)
def test_simpson_of_few_samples_and_of_equal_abscissae(count, options):
    integrate = pytest.importorskip("scipy.integrate")
    if "x" in options:
        options = {"x": np.array(options["x"][:count])}
    samples = np.linspace(0.3, 1.2, count) ** 2

    def integral(y):
        return integrate.simpson(y, **options)

    slopes = [(integral(samples + e) - integral(samples - e)) / 2e-6 for e in np.eye(count) * 1e-6]
    value, gradient = gs.value_and_grad(integral)(samples)
    np.testing.assert_allclose(value, integral(samples))
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)


@pytest.mark.parametrize(
    "product",
    [
        lambda x: np.einsum("i,i->", x[x > 2], x),
        lambda x: np.einsum("ij,j->", x[None, x > 2], x),
        lambda x: np.einsum("ij,j->i", np.outer(x, x[x > 2]), x)[0],
        lambda x: np.sum(np.einsum("i,i->i", x, x[x > 2]) ** 2),
    ],
)
def test_a_mask_that_leaves_one_element_goes_with_each_of_the_others(product):
    gs.testing.check_grad(product, np.array([1.2, -0.7, 1.5, 3.0]))


def test_keys_that_are_no_part_of_a_name():
    def program(x, table):
        return x * table[-1] * table[0] + table[-1, 2] * x

    table = {-1: 3.0, 0: 4.0, (-1, 2): 5.0}
    tangents = {-1: 1.0, 0: 0.0, (-1, 2): 0.0}
    assert gs.grad(program)(2.0, table) == 17
    assert gs.jvp(program, (2.0, table), (1.0, tangents)) == (34, 25)
