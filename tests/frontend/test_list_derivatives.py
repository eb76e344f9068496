"""Derivatives of lists: items of several lengths and types, items that are replaced, lists that a
loop returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import check

x6 = np.linspace(0.1, 0.6, 6)


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


def integers_in_a_list(x, numbers):
    return sum(x[i] for i in numbers)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (maximum_of_a_list_of_known_length, (0.3,)),
        (list_result_of_computed_length, ([[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5])),
        (integers_in_a_list, (x6, [0, 2])),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_derivatives_of_both_modes_and_orders_agree(function: Any, args: Any) -> None:
    gs.testing.check_grad(function, *args)


def test_an_operand_that_stands_twice_gets_both_cotangents() -> None:
    assert gs.grad(lambda x: sum([x, x], x))(1.3) == 3.0


def tuples_in_a_list(x, n):
    held = []
    for i in range(n):
        held.append((x * i, i))
    total = 0.0
    for v, i in held:
        total += np.sum(v) * i
    return total


def scaled_items(xs, w):
    total = 0.0
    for x in xs:
        total += x * w
    return total


def test_lists_of_tuples_and_empty_lists() -> None:
    np.testing.assert_allclose(gs.grad(tuples_in_a_list)(np.ones(2), 3), [5.0, 5.0])
    assert gs.value_and_grad(scaled_items, argnums=1)([], 2.0) == (0.0, 0.0)


# -- items of other lengths -----------------------------------------------------------------------


def shortened_rows(A):
    B = A[1:]
    for i in range(2):
        B[i] = B[i][0:1] + B[i][2:]
    return B[0][0] * B[1][1] * A[0][0]


def test_the_cotangent_of_a_replaced_item_has_the_length_of_that_item():
    check(shortened_rows, [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [7.0, 8.0, 9.0]])


def shortened_parts(a):
    parts = [a, a[1:] * 2, a[2:] * 3]
    for i in range(3):
        parts[i] = parts[i][1:] if i == 0 else parts[i][:1] * 2
    return parts


def test_the_cotangent_of_a_replaced_array_has_the_shape_of_that_array():
    check(shortened_parts, np.array([1.0, 2.0, 3.0, 4.0]))


def items_of_growing_length(x, n):
    parts = []
    for i in range(1, n):
        parts.append(x[:i])
    total = np.sum(parts[0] * parts[-1])
    for part in parts:
        total += np.sum(part * parts[0] * part)
    last = parts.pop()
    return total + np.sum(last * parts.pop(0))


def test_items_of_one_list_are_not_taken_to_be_of_one_length():
    check(items_of_growing_length, np.array([1.0, 0.2, 0.3, 0.7]), 5)


def layers_updated_from_behind(x, y):
    sizes = [3, 4, 2]
    weights = [np.full((n, m), 0.1 * n) for m, n in zip(sizes[:-1], sizes[1:])]
    for sample, wanted in [(x, y), (x**2, y)]:
        changes = [np.zeros(w.shape) for w in weights]
        activations = [sample]
        for w in weights:
            activations.append(np.tanh(w @ activations[-1]))
        delta = activations[-1] - wanted
        changes[-1] = delta @ activations[-2].T
        for level in range(2, len(sizes)):
            delta = weights[-level + 1].T @ delta
            changes[-level] = delta @ activations[-level - 1].T
        zeros = [np.zeros(w.shape) for w in weights]
        changes = [a + b for a, b in zip(zeros, changes)]
        weights = [w - 0.5 * c for w, c in zip(weights, changes)]
    return np.sum(weights[0]) + np.sum(weights[1])


def test_layers_of_different_sizes_are_updated_from_behind():
    check(layers_updated_from_behind, np.array([[0.3], [0.4], [0.5]]), np.array([[1.0], [0.0]]))


# -- items of other types -------------------------------------------------------------------------


def rows_of_integers(x, n):
    rows = [[x, x * 2], [3, 4]]
    pairs = [(x, x * 2), (x, 5), (2, 3)]
    total = 0.0
    for i in range(n):
        total += rows[i][0] * rows[i][1] + pairs[i][0] * pairs[i + 1][1]
    return total


def integers_that_come_and_go(x, n):
    rows = []
    for i in range(n):
        rows.append([i, 2])
        rows.append([x, x * i])
    rows[1] = [4, 3]
    rows.insert(0, [7, 1])
    return sum(a * b for a, b in rows)


@pytest.mark.parametrize("function", [rows_of_integers, integers_that_come_and_go])
def test_integers_among_numbers_have_no_tangent(function):
    check(function, 1.5, 2 if function is rows_of_integers else 4)


def integers_in_an_argument(points):
    return points[0][0] * points[1][1] ** 2 + points[1][0]


def test_derivatives_of_lists_that_hold_rows_of_integers_are_checked():
    gs.testing.check_grad(integers_in_an_argument, [[1.0, 2], [3, 4], [5.0, 6.0]])


def other_lists_on_each_path(x, n):
    numbers, arrays = [], []
    for i in range(n):
        numbers.append(x * i)
    for _ in range(n):
        arrays.append(np.ones(2) * x)
    chosen = numbers if x > 0 else arrays
    return chosen[1] * 2 if x > 0 else chosen[1][1]


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_lists_of_different_items_on_each_path_are_told_apart(x):
    check(other_lists_on_each_path, x, 3)


def appended_on_one_path(x, n):
    def within(t):
        return t * np.ones(2) if t > x else t * x

    found = []
    for i in range(n):
        found.append(within(float(i)))
    return found[0]


def test_a_list_that_gets_items_of_no_common_type_is_refused():
    with pytest.raises(gs.errors.UnsupportedError, match="items of other types on each path"):
        gs.grad(appended_on_one_path)(2.5, 20)


# -- copies, and lists that a loop returns --------------------------------------------------------


def copied_rows(rows, n):
    by_list, by_method = [list(row) for row in rows], [row.copy() for row in rows]
    for _ in range(n):
        for i in range(1, len(rows) - 1):
            by_list[i][0] += 0.5 * (rows[i][0] - by_list[i - 1][0])
            by_method[i][1] *= rows[i - 1][0]
    return by_list, by_method


def test_copies_of_lists_of_numbers_share_nothing():
    check(copied_rows, [[1.0 + i, 0.5 * i] for i in range(20)], 2)


def left_by_inner_return(x, n):
    for _ in range(20):
        for i in range(4):
            if i == n:
                return x
        x = [v * 1.1 for v in x]
    return x


@pytest.mark.parametrize("n", [0, 7])
def test_a_list_that_an_inner_loop_returns_has_no_cotangent_elsewhere(n):
    check(left_by_inner_return, [1.0, 2.0], n)


def returned_list(x):
    out = [0.0] * 4
    n = 2
    while True:
        out[0] += x[0] * x[1]
        if n == 1:
            return out
        x = [x[0] * 2, out[0]]
        n -= 1


def test_a_list_that_the_last_iteration_returns_has_no_cotangent_before():
    check(returned_list, [1.0, 2.0])


# -- arrays of lists in lists ------------------------------------------------------------------

x3 = np.array([0.3, 0.4, 0.5])


def list_in_a_display(x):
    items, weights = x.tolist(), np.arange(9.0).reshape(3, 3)
    return sum(items) * np.array(items)[0] + np.sum(np.array([items, items])[1] @ weights)


def displays_three_deep(x):
    cube = np.array([[[x[0], x[1]], [x[2], 1.0]]])
    return cube[0, 1, 0] * 3 + np.array([[x, x * 2]])[0, 1, 1] * cube[0, 0, 1]


def lists_three_deep(x):
    numbers = np.array([[[v * x[0] for v in x] for w in x] for u in x])
    arrays, weights = np.array([[v * x for w in x] for v in x]), np.arange(27.0).reshape(3, 3, 3)
    return np.sum(numbers * weights) * np.sum(arrays * weights)


def rows_read_besides(x):
    rows, weights = [v * x for v in x], np.arange(3.0)
    return np.sum(np.array([rows, rows])[1] @ weights) + np.sum(np.array(rows)) * rows[0][0]


@pytest.mark.parametrize(
    "function", [list_in_a_display, displays_three_deep, lists_three_deep, rows_read_besides]
)
def test_arrays_of_lists_in_lists(function) -> None:
    check(function, x3)


def test_the_tangent_of_a_list_that_stays_empty_has_its_shape() -> None:
    def rows_of(x, n):
        rows = []
        for i in range(n):
            rows.append(x * i)
        return np.array(rows)

    for n in (0, 1, 2):
        value, tangent = gs.jvp(rows_of, (x3, n), (np.ones(3), 0))
        np.testing.assert_array_equal(value, rows_of(x3, n))
        np.testing.assert_array_equal(tangent, rows_of(np.ones(3), n))


def test_tangents_of_arrays_without_axes_are_such_arrays():
    def function(x):
        matrix = np.outer(x, x) + np.eye(4)
        first, second = [np.tensordot(matrix, matrix) for _ in range(2)]
        return first + second

    check(function, np.arange(4.0))
