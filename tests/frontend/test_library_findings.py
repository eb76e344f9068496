"""What whole programs have shown: small functions, each of a class that once went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs

x6 = np.linspace(0.1, 0.6, 6)


def lengths_as_an_index(a):
    n, m = a.shape
    F = np.zeros((n + 1, m + 1))
    F[n, m] = a[0, 0] ** 2
    return F[n, m]


def maximum_of_a_list_of_known_length(x):
    total = 0.0
    for i in range(3):
        terms = []
        for k in range(2):
            terms.append(x * i * k)
        m = max(terms)
        total += m + sum(np.exp(t - m) for t in terms)
    return total


def list_result_of_computed_length(A, v):
    return [sum(a * b for a, b in zip(row, v)) for row in A]


def trips_over_a_computed_shape(image, kernel):
    kh, kw = kernel.shape
    out = np.zeros((image.shape[0] - kh + 1, image.shape[1] - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return out


def integers_in_a_list(x, numbers):
    return sum(x[i] for i in numbers)


def forces(x, rest):
    f = np.zeros_like(x)
    for (i, j), l0 in zip([(0, 1), (1, 2)], rest):
        d = x[j] - x[i]
        f[i] += l0 * d / (1 + np.sum(d * d))
    return f


def helper_that_reads_items_by_name_called_again_in_a_loop(x, rest):
    f = forces(x, rest)
    for _ in range(3):
        x = x + f
        f = forces(x, rest)
    return x


def evaluate(expression, x):
    if expression[0] == "x":
        return x
    return evaluate(expression[1], x) * evaluate(expression[2], x)


def recursion_whose_end_records_nothing(x):
    return evaluate(("mul", ("x",), ("mul", ("x",), ("x",))), x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lengths_as_an_index, (np.ones((3, 4)),)),
        (maximum_of_a_list_of_known_length, (0.3,)),
        (list_result_of_computed_length, ([[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5])),
        (trips_over_a_computed_shape, (x6.reshape(2, 3), x6[:4].reshape(2, 2))),
        (integers_in_a_list, (x6, [0, 2])),
        (helper_that_reads_items_by_name_called_again_in_a_loop, (x6.reshape(3, 2), x6[:2])),
        (recursion_whose_end_records_nothing, (0.6,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_derivatives_of_both_modes_and_orders_agree(function: Any, args: Any) -> None:
    gs.testing.check_grad(function, *args)


def test_the_primal_part_reads_no_seed() -> None:
    compiled = gs.differentiable(trips_over_a_computed_shape)
    args = x6.reshape(2, 3), x6[:4].reshape(2, 2)
    out, _ = compiled.specialize(*args).forward(*args)
    np.testing.assert_array_equal(out, trips_over_a_computed_shape(*args))
    assert "d_out" not in compiled.forward_source


def reflect(A):
    A = A.copy()
    for k in range(A.shape[1]):
        v = A[k:, k].copy()
        v /= np.sqrt(np.sum(v * v))
        A[k:, k:] -= 2 * np.outer(v, v @ A[k:, k:])
    return A


def test_a_product_with_a_recorded_view_rounds_as_in_plain_python() -> None:
    A = np.random.default_rng(0).normal(size=(7, 5))
    found, _ = gs.differentiable(reflect).specialize(A).forward(A)
    np.testing.assert_array_equal(found, reflect(A))
    gs.testing.check_grad(reflect, A)
