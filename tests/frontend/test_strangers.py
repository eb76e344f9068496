"""What other people's programs were found to do that was compiled wrongly, or refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees, check

SYMMETRIC = np.array([[3.0, 5.0, 1.0], [5.0, 4.0, 2.0], [1.0, 2.0, 6.0]])


# -- names that are bound in some trips of inner loops --------------------------------------------


def place_of_largest(a):
    largest = 0.0
    for i in range(2):
        for j in range(i + 1, 3):
            if abs(a[i, j]) >= largest:
                largest = abs(a[i, j])
                k = i
                m = j
    return a[k, m] * a[m, m]


def test_a_name_bound_in_an_inner_loop_survives_trips_of_the_outer_one_that_do_not_bind_it():
    check(place_of_largest, SYMMETRIC)


def deep_binding(a):
    for i in range(2):
        for j in range(2):
            if i == 0:
                k = a[i, j]
            else:
                for r in range(2):
                    if j == 5:
                        k = a[1, 1]
    return k * k


def test_a_name_that_no_trip_of_an_inner_loop_binds_keeps_the_value_of_an_earlier_trip():
    check(deep_binding, SYMMETRIC)


# -- lists that are run over ----------------------------------------------------------------------


def rows_of_slice(a):
    rows = [[x, 2 * x] for x in a]
    for row in rows:
        for other in rows[:2]:
            row[0] = row[0] * other[0]
    return rows


def test_a_store_to_a_row_is_seen_by_a_loop_over_a_slice_of_the_rows():
    check(rows_of_slice, [1.0, 2.0, 3.0])


def triangle(A):
    L = [[0.0] * len(A) for _ in range(len(A))]
    for i, (Ai, Li) in enumerate(zip(A, L)):
        for j, Lj in enumerate(L[: i + 1]):
            s = sum(Li[k] * Lj[k] for k in range(j))
            Li[j] = (Ai[i] - s) ** 0.5 if i == j else (Ai[j] - s) / Lj[j]
    return L


def test_rows_known_by_two_names_are_one():
    check(triangle, [[4.0, 1.0, 0.5], [1.0, 5.0, 1.5], [0.5, 1.5, 6.0]])


def arrays_of_slice(a):
    parts = [np.array([x, 2 * x]) for x in a]
    for part in parts:
        for other in parts[-2:]:
            part[0] = part[0] + other[0] * other[1]
    return parts


def test_slices_with_negative_bounds_are_run_over_item_by_item():
    check(arrays_of_slice, [1.0, 2.0, 3.0])


def restructured(a):
    rows = [[x, 2 * x] for x in a]
    for row in rows:
        for other in rows[:2]:
            row[0] = row[0] * other[0]
            rows[1] = [1.0, 1.0]
    return rows


def test_a_list_that_gets_other_items_while_a_slice_of_it_is_run_over_is_refused():
    with pytest.raises(gs.errors.AliasingError):
        gs.vjp(restructured, [1.0, 2.0, 3.0])


# -- values of several kinds ----------------------------------------------------------------------


def soft_threshold(rho, lam):
    if rho < -lam:
        return rho + lam
    elif rho > lam:
        return rho - lam
    else:
        return 0


def shrunk(rho, lam):
    t = np.zeros((2, 1))
    t[0] = soft_threshold(rho, lam)
    t[1] += soft_threshold(rho * 2, lam) * 3.0 + 1
    return t


@pytest.mark.parametrize("rho", [0.5, -0.5, 0.02])
def test_a_call_that_gives_an_array_or_a_number_is_stored(rho):
    check(shrunk, np.array([rho]), 0.1)


def found(x, s):
    if x > s:
        return x, 2 * x
    return None


def used_in_place(x, s):
    if found(x, s):
        a, b = found(x, s)
        return a * b
    return x * 3 if found(x, s) is None else 0.0


@pytest.mark.parametrize("x", [0.5, 2.3])
def test_a_call_that_gives_a_tuple_or_none_is_tested_and_unpacked(x):
    check(used_in_place, x, 1.0)


def falling_through(x, n):
    y = x
    for i in range(n):
        z = y - (y * y - 2) / (2 * y)
        if abs(z - y) < 1e-10:
            return z * x
        y = z
    print("did not converge")


def test_a_function_that_may_come_to_its_end_gives_none_there_and_none_has_no_derivative():
    check(falling_through, 1.3, 20)
    with pytest.raises(TypeError, match="`falling_through` returned None here"):
        gs.grad(falling_through)(1.3, 1)


def explicit_none(f, a, b):
    fa = f(a)
    if fa == 0.0:
        return a
    for i in range(4):
        c = 0.5 * (a + b)
        if f(c) > 1e5:
            return None
        if i > 2:
            return c * fa
        b = c
    return None


def search(a, b):
    return explicit_none(lambda x: x * x - 2, a, b)


def test_a_loop_may_return_a_value_or_none():
    check(search, 0.5, 3.0)


def bisection(f, a, b, tol):
    m = (a + b) / 2
    if np.abs(f(m)) < tol:
        return m
    elif np.sign(f(a)) == np.sign(f(m)):
        return bisection(f, m, b, tol)
    elif np.sign(f(b)) == np.sign(f(m)):
        return bisection(f, a, m, tol)


def bisected(a, b):
    return bisection(lambda x: x**3 - 2, a, b, 1e-2) * a


def test_a_recursive_function_whose_branches_cover_every_case():
    check(bisected, 1.0, 2.1)


# -- unpacking ------------------------------------------------------------------------------------


def polygon_centroid(points):
    area = x = y = 0.0
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        cross = x0 * y1 - x1 * y0
        area += cross / 2
        x += (x0 + x1) * cross
        y += (y0 + y1) * cross
    return x / (6 * area), y / (6 * area)


def test_lists_are_unpacked_into_as_many_names_as_there_are():
    check(polygon_centroid, [[0.0, 0.0], [2.0, 0.1], [2.1, 2.0], [0.1, 1.9]])
    with pytest.raises(ValueError, match="expected 2 values to unpack"):
        gs.grad(lambda points: polygon_centroid(points)[0])(
            [[0.0, 0.0], [2.0, 0.1], [2.1, 2.0, 1.0]]
        )


# -- derivatives of lists -------------------------------------------------------------------------


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


def returned_list(x):
    out = [0.0] * 4
    n = 2
    while True:
        out[0] += x[0] * x[1]
        if n == 1:
            return out
        x = [x[0] * 2, out[0]]
        n -= 1


def test_a_list_that_the_last_trip_returns_has_no_cotangent_before():
    check(returned_list, [1.0, 2.0])


# -- what NumPy does ------------------------------------------------------------------------------


def inverse_distances(x):
    d = np.sqrt((x - x[:, None]) ** 2)
    d[d > 0] = 1.0 / d[d > 0]
    return np.sum(np.triu(d, 1)) + np.sum(np.tril(d, -1) ** 2)


def test_a_pole_outside_of_a_triangle_is_cut_off():
    check(inverse_distances, np.array([1.0, 2.5, 4.5]), order=1)


def quadratic_form(x):
    B = np.array([[2.0, x[0]], [x[0], 3.0]])
    d = np.linalg.solve(B, x)
    t = d @ B
    t = t @ x
    return t * x


def test_products_of_vectors_are_not_taken_in_place():
    check(quadratic_form, np.array([0.5, 0.8]))


def bands(A):
    return np.diag(np.diag(A)) + np.diag(A[0, 1:], 1) - np.diag(A[0, :-1], -1)


def test_the_band_of_a_diagonal_matrix_is_no_data():
    check(bands, np.eye(3) + 1.5)


class Observer:
    def __init__(self, white):
        self.white = white


OBSERVERS = {"2 degrees": {"D65": Observer(np.array([0.95, 1.0, 1.09]))}}


def under_the_standard_light(x):
    return x / OBSERVERS["2 degrees"]["D65"].white


def test_an_attribute_below_a_key_that_is_no_name_has_a_name():
    agrees(under_the_standard_light, np.array([0.3, 0.4, 0.5]))


# -- what has no items ----------------------------------------------------------------------------


def sum_of_nested(items):
    total = 0.0
    for item in items:
        try:
            iter(item)
        except TypeError:
            total = total + item
        else:
            total = total + 10 * sum(item)
    return total


@pytest.mark.parametrize("items", [np.array([0.5, 1.5]), [1.0, [2.0, 3.0]]])
def test_iter_of_a_number_raises(items):
    check(sum_of_nested, items)


def last_or_itself(x):
    try:
        *_, last = x
    except TypeError:
        last = x * x
    return last


def first_of_loop(x):
    try:
        for i, item in enumerate(x):
            x = item * (i + 3)
    except TypeError:
        x = x * 2
    return x


def counted(x):
    try:
        return len(x) * np.sum(x)
    except TypeError:
        return x * 3


@pytest.mark.parametrize("function", [last_or_itself, first_of_loop, counted])
@pytest.mark.parametrize("x", [2.0, np.float64(2.0), np.array([0.5, 1.5])])
def test_numbers_have_no_items(function, x):
    check(function, x)


def weighted_orders(x):
    return sum(a + 2 * b for a, b, c in itertools.permutations(x, None))


def test_permutations_are_of_all_items_where_no_number_is_given():
    check(weighted_orders, np.array([0.5, 1.5, 2.5]))
