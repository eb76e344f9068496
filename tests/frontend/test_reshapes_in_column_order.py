"""Elements of what is laid out by columns: the way back of a store is by columns, too."""

import numpy as np
import pytest

import gradscribe as gs


def item_of_ravel(x):
    return np.ravel(np.outer(x, x * x), order="F")[1]


def part_of_ravel(x):
    return np.sum(np.outer(x, np.exp(x)).ravel("F")[1:4] * np.array([1.0, -2.0, 0.5]))


def item_of_reshape(x):
    return np.reshape(np.outer(x, x * x), (3, 3, 1), order="F")[2, 0, 0] * x[1]


def row_of_reshape(x):
    return np.outer(x, np.sin(x)).reshape((1, 9), order="F")[0, 2:5] @ x


def item_in_a_loop(x):
    flat = np.ravel(np.outer(x, x * x), order="F")
    total = 0.0
    for i in range(1, 9, 3):
        total += i * flat[i]
    return total


@pytest.mark.parametrize(
    "function", [item_of_ravel, part_of_ravel, item_of_reshape, row_of_reshape, item_in_a_loop]
)
def test_an_element_by_columns_has_its_derivative(function):
    gs.testing.check_grad(function, np.array([1.3, 2.2, -0.4]))
