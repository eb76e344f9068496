"""Functions that are made of other operations: to the last bit NumPy's, and differentiable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.compiler.eager_calls import function_of_call
from gradscribe.ir.core import Operand
from gradscribe.ir.trees import flatten
from gradscribe.primitives.registry import COMPOSITIONS
from tests.primitives.compositions import ALL
from tests.primitives.harness import Case, is_operand
from tests.primitives.test_forms import TESTED as FORMS
from tests.primitives.test_spectra import TESTED as TRANSFORMS
from tests.sampling import one_in


def function_of(case: Case) -> Any:
    """The call as a function, with source, of its arrays."""
    count = len(case.values)
    places = case.with_values([Operand(i) for i in range(count)])
    return function_of_call(case.callee, places.args, places.keywords, count)


def assert_same_bits(results: Any, expected: Any) -> None:
    leaves, others = flatten(results)[1], flatten(expected)[1]
    assert len(leaves) == len(others)
    for result, wanted in zip(leaves, others, strict=True):
        assert np.shape(result) == np.shape(wanted)
        assert np.asarray(result).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(result, wanted)


FIRST = {case.callee: case for case in reversed(ALL)}
"""One call of each function."""


@pytest.mark.parametrize("case", one_in(3, ALL), ids=str)
def test_a_composition_gives_the_bits_of_numpy_and_both_derivatives(case: Case) -> None:
    function = function_of(case)
    value, _ = gs.vjp(function, *case.values)
    assert_same_bits(value, case())
    gs.testing.check_grad(function, *case.values, order=2 if FIRST[case.callee] is case else 1)


@pytest.mark.parametrize("case", one_in(3, FIRST.values()), ids=str)
def test_single_precision_stays_single(case: Case) -> None:
    single = case.with_operands([x.astype(np.float32) for x in case.operands])
    value, pullback = gs.vjp(function_of(single), *single.values)
    assert_same_bits(value, single())
    for x, cotangent in zip(single.values, pullback(value), strict=True):
        assert not is_operand(x) or np.asarray(cotangent).dtype == np.float32


@pytest.mark.parametrize("function", [np.nanmean, np.nanvar, np.nanstd])
def test_moments_of_integers_flags_and_complex_numbers(function: Any) -> None:
    z = np.array([1 + 2j, 0.5 - 1j, np.nan, 3j])
    for x in (np.array([[1, 2, 4], [0, 1, 7]]), np.array([True, False, True]), 3, z):
        assert_same_bits(gs.vjp(lambda x: function(x), x)[0], function(x))
    gs.testing.check_grad(lambda x: function(x * (1 + 2j)).real, np.array([0.5, -1.0, 2.0]))


def test_covariances_of_complex_numbers() -> None:
    def rows(x: Any) -> Any:
        return np.array([x * (1 + 1j), x**2 * 1j])

    def covariances(x: Any) -> Any:
        return np.cov(rows(x)), np.corrcoef(rows(x)), np.cov(rows(x), aweights=np.abs(x))

    def parts(x: Any) -> Any:
        return np.cov(rows(x)).imag[0, 1] + np.corrcoef(rows(x)).real[0, 1]

    x = np.array([0.5, -1.0, 2.0])
    for result, wanted in zip(gs.vjp(covariances, x)[0], covariances(x), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-14, atol=1e-14)
    gs.testing.check_grad(parts, x)


def test_sizes_of_numbers_and_along_an_axis() -> None:
    def sizes(x: Any) -> Any:
        total = np.size(x[0, 0]) + np.size(2.0) + np.size([1, 2]) + np.size(x)
        return np.sum(x) * (total + 10 * np.size(x, 0) + 100 * np.size(x, axis=-1))

    x = np.array([[0.5, -1.0, 2.0], [1.0, 3.0, 0.25]])
    assert gs.vjp(sizes, x)[0] == sizes(x)
    gs.testing.check_grad(sizes, x)


def test_of_several_conditions_that_hold_the_first_decides() -> None:
    def chosen(x: Any) -> Any:
        return np.sum(np.select([x > 3, x > 0], [x**2, x**3], x))

    x = np.array([-1.0, 0.5, 2.0, 4.0])
    np.testing.assert_array_equal(gs.grad(chosen)(x), [1, 0.75, 12, 8])


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_window_may_have_one_place(length: int) -> None:
    def window(beta: Any) -> Any:
        return np.sum(np.kaiser(length, beta))

    assert gs.vjp(window, 0.8)[0] == window(0.8)
    gs.testing.check_grad(window, 0.8)


def test_parts_of_integers_are_floating() -> None:
    for x in (3, np.array([1, -2])):
        assert_same_bits(gs.vjp(lambda x: np.modf(x), x)[0], np.modf(x))


def test_methods_are_the_functions_of_that_name() -> None:
    def taken(x: Any) -> Any:
        return x.take(np.array([2, 0]), axis=1) * x.compress([True, False, True], axis=1)

    gs.testing.check_grad(taken, np.arange(6.0).reshape(2, 3))


def test_elements_that_are_put_along_an_axis_have_their_derivative() -> None:
    def put(x: Any, values: Any) -> Any:
        y = x * 2
        np.put_along_axis(y, np.array([[1], [0]]), values, axis=1)
        y[0].partition(1)
        return y**2

    gs.testing.check_grad(put, np.arange(6.0).reshape(2, 3), np.array([[0.5], [1.5]]))


def test_lists_have_the_shape_of_their_arrays() -> None:
    value, gradient = gs.value_and_grad(lambda x: x * np.ndim([x, x]) * np.shape([x, 1.0])[0])(3.0)
    assert (value, gradient) == (6.0, 2.0)


@pytest.mark.parametrize("callee", [np.unique_all, np.unique_counts, np.unique_inverse])
def test_distinct_elements_come_with_names(callee: Any) -> None:
    x = np.array([[3.0, 1.0, 1.0], [np.nan, 2.0, np.nan]])
    expected = callee(x)
    results, _ = gs.vjp(lambda x: callee(x), x)
    assert type(results) is type(expected)
    assert_same_bits(tuple(results), tuple(expected))
    given = callee(gs.tensor(x, requires_grad=True))
    assert type(given) is type(expected)
    assert given.values.requires_grad


KINDS = [
    *(lambda x: x, lambda x: x[0], lambda x: np.asarray(x[0]), lambda x: x * 1j),
    *(lambda x: 2.0, lambda x: None, lambda x: "a", lambda x: (1, 1j), lambda x: [x[0], 2]),
]


@pytest.mark.parametrize("ask", [np.iscomplexobj, np.isrealobj, np.isscalar, np.iterable])
@pytest.mark.parametrize("mode", [True, False])
def test_what_types_say_is_as_in_numpy(ask: Any, mode: bool) -> None:
    x = np.array([0.5, 1.5])
    for kind in KINDS:
        found = gs.grad(lambda x, kind=kind: x[0] if ask(kind(x)) else x[1], compile=mode)(x)
        assert list(found) == ([1, 0] if ask(kind(x)) else [0, 1])


def test_what_types_say_is_known_when_a_function_is_compiled() -> None:
    def each(x: Any, scale: Any) -> Any:
        scales = list(scale) if np.iterable(scale) else [scale] * len(x)
        return sum(a * b for a, b in zip(x, scales, strict=True))

    x = np.array([0.5, 1.5])
    assert list(gs.grad(each)(x, 2.0)) == [2, 2]
    assert list(gs.grad(each)(x, (3, 4))) == [3, 4]


def test_every_composition_is_tested() -> None:
    tested = {COMPOSITIONS.get(callee) for callee in (*(c.callee for c in ALL), *TRANSFORMS)}
    outer = {ufunc.outer for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}
    others = {np.vectorize, "take", "compress"} | FORMS  # told by their likes
    others |= {np.iscomplexobj, np.isrealobj}  # told above
    others |= {c for c, f in COMPOSITIONS.items() if ".primitives.scipy." in f.__module__}
    assert not [c for c, f in COMPOSITIONS.items() if f not in tested and c not in outer | others]
