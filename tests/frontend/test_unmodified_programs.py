"""What programs that were taken as they stand were found to do that was compiled wrongly, or
refused."""

from __future__ import annotations

import bisect

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees, check

# -- how often a loop runs, and which way a test goes, where that has to be known ------------------


class Joint:
    def __init__(self, length, angle):
        self.length = length
        self.angle = angle
        self.turns = 0

    def turn(self, by):
        self.angle += by
        self.turns += 1


def arm(lengths, angles, n):
    joints = []
    for i in range(n):
        joints.append(Joint(lengths[i], angles[i]))
    others = [Joint(length, 0.1) for length in lengths]
    for joint in joints:
        joint.turn(0.1 * joint.length)
    for i in range(len(others)):
        for j in range(i + 1, len(others)):
            others[i].turn(others[j].length * joints[i].angle)
    x = total = 0.0
    for joint in joints + others:
        total += joint.angle
        x += joint.length * np.cos(total)
    return x


def test_objects_are_made_in_a_loop_over_as_many_items_as_there_are():
    check(arm, np.array([1.0, 0.8, 0.5]), [0.1, 0.2, 0.3], 3)


def test_a_loop_that_makes_objects_is_compiled_for_each_number_of_trips():
    gradient = gs.grad(arm)
    for n in (2, 3):
        lengths, angles = np.linspace(0.5, 1, n), [0.1 * i for i in range(n)]
        step = gs.jvp(arm, (lengths, angles, n), (np.ones(n), [None] * n, None))[1]
        np.testing.assert_allclose(gradient(lengths, angles, n).sum(), step)


def one_buffer(x, n):
    held = []
    for _ in range(n):
        x[0] += 1.0
        held.append(x)
    return np.sum(held[0] ** 2)


def test_what_few_trips_do_to_one_array_is_followed():
    check(one_buffer, np.array([1.0, 2.0]), 3)


def labelled_loss(y, t):
    if t.size == y.size:
        t = t.argmax(axis=1)
    return -np.sum(np.log(y[np.arange(y.shape[0]), t]))


@pytest.mark.parametrize("t", [np.array([0, 1, 1, 0]), np.eye(2)[[0, 1, 1, 0]].astype(int)])
def test_a_side_that_these_lengths_never_take_need_not_be_compiled(t):
    check(labelled_loss, np.linspace(0.2, 0.9, 8).reshape(4, 2), t)


def by_number_of_columns(y, t):
    if not (t.ndim == 1 and len(t) < y.shape[1]):
        t = y[: t.shape[0]] * t[:, None]
    else:
        t = y[:, : len(t)] @ t
    return np.sum(t**2)


@pytest.mark.parametrize("n", [2, 3])
def test_a_side_is_left_out_for_tests_of_several_parts(n):
    check(by_number_of_columns, np.linspace(0.2, 0.9, 9).reshape(3, 3), np.arange(1.0, n + 1))


# -- lists whose items differ ---------------------------------------------------------------------


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


# -- views, tests and library functions -----------------------------------------------------------


def polar(w, n):
    w = np.array([[w[0, 0], w[0, 1]], [w[1, 0], w[1, 1]]])
    for _ in range(n):
        u, _, vh = np.linalg.svd(w)
        w = (u @ vh).T @ w + w
    return w


def test_a_transposed_view_that_is_changed_in_place_is_a_variable():
    check(polar, np.array([[1.0, 0.2], [0.3, 2.0]]), 2, order=1)


def bisected_bounds(b, target, n):
    low, high = -np.inf, np.inf
    for _ in range(n):
        if np.sum(b) > target:
            low = b[0:1].copy()
            b = b * 2.0 if high == np.inf or high == -np.inf else (b + high) / 2.0
        else:
            high = b[0:1].copy()
            b = b / 2.0 if low == np.inf or low == -np.inf else (b + low) / 2.0
    return b


def test_bounds_that_are_numbers_first_and_arrays_later_are_compared():
    check(bisected_bounds, np.array([1.0]), 1.7, 3)


def between(xs, ys, x):
    i = bisect.bisect(xs, x) - 1
    j = bisect.bisect_left(xs, x, 1)
    return ys[i] + (x - xs[i]) * (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) * ys[j]


@pytest.mark.parametrize("kind", [list, np.array])
def test_places_are_found_by_bisection(kind):
    check(between, kind([0.0, 1.0, 2.0, 3.0]), [1.0, 2.0, 4.0, 8.0], 1.3)


def joined_by_index(x, y, n):
    total = np.r_[x, y[0], 0.5, 1:3] @ np.arange(7.0)
    for i in range(n):
        total += np.sum(x[np.r_[0:i, i + 1 : n]] * i)
    columns = np.c_[x, y, np.ones(3)]
    return total + np.sum(columns @ np.r_[0:1:3j]) + np.r_[[0.0], x[:2]][1]


def test_arrays_are_joined_by_index():
    check(joined_by_index, np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), 3)


def test_numbers_that_would_take_the_type_of_arrays_are_not_joined_with_them():
    with pytest.raises(gs.errors.UnsupportedError, match="numbers beside arrays of this type"):
        gs.vjp(lambda x: np.r_[x, 1.0], np.ones(2, np.float32))


def parts_of_ranges(x):
    total = 0.0
    for part in (2, 9):
        for i in range(len(x))[part:]:
            total = total * 0.5 + x[i] * i
    for i in range(len(x))[:2]:
        total += x[i] ** 2 * i
    for i in range(len(x))[1:-1]:
        total = total * x[i]
    for i in range(1, len(x))[::-1]:
        total = total * 0.5 + x[i]
    for i in range(len(x))[1:20:2]:
        total += x[i] ** 3
    return total


def test_parts_of_ranges_are_ranges():
    check(parts_of_ranges, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))


def jacobian_of_softmax(p):
    p = p.reshape(-1, 1)
    return np.diagflat(p) - p @ p.T


def test_a_column_is_put_on_a_diagonal():
    check(jacobian_of_softmax, np.array([0.2, 0.3, 0.5]))


def copied_rows(rows, n):
    by_list, by_method = [list(row) for row in rows], [row.copy() for row in rows]
    for _ in range(n):
        for i in range(1, len(rows) - 1):
            by_list[i][0] += 0.5 * (rows[i][0] - by_list[i - 1][0])
            by_method[i][1] *= rows[i - 1][0]
    return by_list, by_method


def test_copies_of_lists_of_numbers_share_nothing():
    check(copied_rows, [[1.0 + i, 0.5 * i] for i in range(20)], 2)


def updated_copy(x):
    held = {}
    for i in range(len(x)):
        held[i] = x[i] ** 2
    copied = dict(held)
    for i in range(len(x)):
        copied[i] += held[i] * x[0]
    held.update({0: x[1], 7: x[2]})
    return sum(k * v for k, v in copied.items()) + held[0] * held[7]


def test_dicts_with_computed_keys_are_copied_and_updated():
    agrees(updated_copy, np.array([1.0, 2.0, 3.0]))


def rotated_energy(x):
    z = np.diag([1.0, -1.0])
    shifted = np.diag((x, 2 * x), 1)
    return np.sum(np.kron(z, np.diag([x, 1.0]))) + np.sum(shifted[:2, 1:] @ z)


def test_lists_are_put_on_a_diagonal():
    check(rotated_energy, 1.5)


def left_by_inner_return(x, n):
    for _ in range(20):
        for i in range(4):
            if i == n:
                return x
        x = [v * 1.1 for v in x]
    return x


def numbers_of_ranges(x):
    columns, rows = np.meshgrid(range(3), range(2))
    total = np.sum(np.array(range(1, 4)) * x) + np.sum(range(3)) * x
    return total + np.sum(columns * x**2 + rows) + np.dot(range(3)[::-1], [x, 2.0, x])


def test_ranges_are_arrays_of_their_numbers():
    check(numbers_of_ranges, 1.5)


@pytest.mark.parametrize("n", [0, 7])
def test_a_list_that_an_inner_loop_returns_has_no_cotangent_elsewhere(n):
    check(left_by_inner_return, [1.0, 2.0], n)
