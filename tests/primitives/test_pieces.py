"""`np.piecewise`: conditions of any form, and functions of the parts that have elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.oracles import check

X = np.array([0.4, 1.5, 0.9])


def counted_calls(x):
    seen = []

    def high(t):
        seen.append(1)
        return t * 3

    return np.sum(np.piecewise(x, [x > 9], [high, lambda t: t * 2])) * (1 + len(seen))


def largest_of_no_elements(x):
    return np.sum(np.piecewise(x, [x < 9], [lambda t: t**2, lambda t: t / t.max()]))


def condition_stored_to_by_a_function(x):
    small = x < 1

    def doubled(t):
        small[:] = False
        return t * 2

    return np.sum(np.piecewise(x, [small, ~small, small], [doubled, np.square, np.exp]))


@pytest.mark.parametrize(
    "function", [counted_calls, largest_of_no_elements, condition_stored_to_by_a_function]
)
def test_functions_are_called_for_parts_that_have_elements(function: Any) -> None:
    check(function, X)


@pytest.mark.parametrize(
    "conditions",
    [
        lambda x: [np.array([1, 0, 1])],
        lambda x: [np.arange(3) % 2, np.array([2, 0, 0])],
        lambda x: [[1, 0, 1]],
        lambda x: [1, 0, 1],
        lambda x: [True, False, True],
        lambda x: x < 1,
        lambda x: np.array([x < 0.5, x > 1]),
        lambda x: np.array([[0, 1, 0], [1, 0, 0]]),
    ],
)
def test_conditions_are_masks(conditions: Any) -> None:
    functions = [np.exp, np.square, lambda t: t * 7]

    def pieces(x):
        given = conditions(x)
        count = len(given) if np.ndim(given) == 2 else 1
        return np.piecewise(x, given, functions[:count]), np.piecewise(
            x, given, functions[: count + 1]
        )

    check(pieces, X)


def test_further_arguments_are_handed_on() -> None:
    def scaled(x):
        by = lambda t, a, b=1.0: t * a * b
        return np.piecewise(x, [x < 1], [by, lambda t, a, b: t + a], x[1], b=2.0)

    check(scaled, X)
