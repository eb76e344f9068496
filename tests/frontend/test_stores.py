"""Masks and integer arrays as index, read and stored to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check

x4 = np.array([0.3, -0.2, 0.9, 1.4])
A34 = np.arange(12.0).reshape(3, 4) / 7 - 0.6
repeated = np.array([0, 2, 2])
values = np.array([0.3, 0.5, 0.7])


def masked_store(x):
    y = x * 2.0
    y[y > 1] = 0.0
    return np.sum(y**2)


def masked_where_positive(x):
    m = x > 0
    y = np.zeros_like(x)
    y[m] = np.log(x[m])
    return np.sum(y)


def masked_augmented(x):
    y = np.exp(x)
    y[x > 0.2] -= x[x > 0.2]
    y[(x < 0) | (x > 1)] *= 3.0
    y[~(x < 0)] /= x[x >= 0] + 2
    return np.sum(y)


def masks_of_rows(A):
    B = np.exp(A)
    B[1, A[1] > 0] = 2.5
    B[A[:, 0] > 0] *= A[A[:, 0] > 0]
    return np.sum(B * A)


def mask_of_matrix(A):
    return np.sum(A[A > 0] ** 2) + np.mean(A[A < 0.5])


def mask_in_a_loop(x, n):
    y = x * 1.0
    for _ in range(n):
        y[y > 0.5] *= 0.5
        y = y + x
    return np.sum(y)


def listed_items(x):
    y = x[[0, 1, 1]] ** 3
    return np.sum(y * x[[-1, 0, 2]])


def listed_flags(x):
    y = x * 2
    y[[True, False, True, False]] = x[[0, 1]] ** 2
    return np.sum(y * y)


def gathered(x, i):
    return np.sum(x[i] ** 3)


def scattered(x, i, v):
    y = x * 1.0
    y[i] = v * v
    return np.sum(np.sin(y))


def number_scattered(x, i, s):
    y = x * 1.0
    y[i] = s * s
    return np.sum(np.sin(y))


def augmented_items(x, i, v):
    y = x * 1.0
    y[i] += v * v
    y[i] *= v
    y[i] **= 2
    return np.sum(np.sin(y))


def pairs_and_columns(A, i, j):
    B = A[i, j] * A[i[:, None], j]
    C = A * A
    C[i, j] = 3.0
    C[:, j] += A[:, i]
    C[i] *= 2.0
    return np.sum(B) + np.sum(C**2)


def axes_in_between(A, i):
    T = np.stack([A, A * A, np.sin(A)])
    return np.sum(T[i, :, i] * T[0, :, i]) + np.sum(T[0][:, i][..., 0])


def diagonal(A):
    n = A.shape[0]
    i = np.arange(n)
    B = A * 2
    B[i, i] += 1.0
    B[i, i] *= A[i, i]
    return np.sum(B**2)


def computed_items(x, k):
    y = x * 1
    y[[k, k + 1]] = x[[k + 1, k]] * 2
    return np.sum(y * x)


def one_element_of_integers(n):
    count = np.zeros(3, dtype=int)
    for i in range(n):
        count[i % 3] += 1
    return count


def binned_means(x, labels):
    total = np.zeros(2)
    for k in range(2):
        total[k] = np.mean(x[labels == k])
    return np.sum(total**2)


def found_indices(x):
    y = x * 1
    idx = np.where(x > 0)[0]
    y[idx] = x[idx] ** 2
    y[np.nonzero(x < 0)] = 0.5
    y[np.flatnonzero(x > 1)] *= 3
    (k,) = (x > 0.5).nonzero()
    y[k] += x[x > 0.5]
    return np.sum(y)


def found_pairs(A):
    B = A * 1
    i, j = np.nonzero(A > 0.2)
    B[i, j] *= A[i, j]
    B[j[:1], j[:1] - 1] = 2.0
    return np.sum(B * A)


def open_mesh(A, i):
    B = A * 2
    B[np.ix_(i, i)] = A[np.ix_(i, [0, 1, 2])]
    B[np.ix_(A[:, 0] > -1, [0, 2])] *= 2
    return np.sum(B * B)


def chosen_elements(x):
    return np.sum(x * x, where=x > 0) + np.mean(x, where=x < 1)


def chosen_rows(A):
    mask = A > 0.15
    return np.sum(np.sum(A, axis=1, where=mask) * np.mean(A, axis=1, where=mask[0]))


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (found_indices, (x4,)),
        (found_pairs, (A34,)),
        (open_mesh, (A34, np.array([0, 2, 1]))),
        (chosen_elements, (x4,)),
        (chosen_rows, (A34 + 0.7,)),
        (masked_store, (x4,)),
        (masked_where_positive, (x4,)),
        (masked_augmented, (x4,)),
        (masks_of_rows, (A34,)),
        (mask_of_matrix, (A34,)),
        (mask_in_a_loop, (x4, 3)),
        (listed_items, (x4,)),
        (listed_flags, (x4,)),
        (gathered, (x4, repeated)),
        (gathered, (A34, repeated)),
        (gathered, (x4, np.array([[0, 1], [1, 3]]))),
        (scattered, (x4, repeated, values)),
        (scattered, (x4, np.array([[0, 1], [1, 3]]), np.array([[1.0, 2.0], [3.0, 4.0]]))),
        (number_scattered, (x4, repeated, 0.7)),
        (augmented_items, (x4, repeated, values)),
        (pairs_and_columns, (A34, repeated, np.array([0, 1, 1]))),
        (axes_in_between, (A34, repeated)),
        (diagonal, (A34[:, :3],)),
        (computed_items, (x4, 1)),
        (binned_means, (x4, np.array([0, 1, 1, 0]))),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_masks_and_integer_arrays_mean_what_numpy_says(function: Any, args: Any) -> None:
    check(function, *args)


def test_integers_are_counted() -> None:
    np.testing.assert_array_equal(gs.vjp(one_element_of_integers, 7)[0], [3, 2, 2])


def fractions_stored_in_integers(x):
    counts = np.arange(1, 4)
    counts[:2] = counts[:2] * 1.5
    return np.sum(counts * x)


def test_fractions_are_cut_where_integers_are_stored() -> None:
    value, gradient = gs.value_and_grad(fractions_stored_in_integers)(np.array([1.0, 2.0, 3.0]))
    assert (value, gradient.tolist()) == (16.0, [1, 3, 3])


def log_where_positive(x):
    y = np.log(x)
    y[x <= 0] = 0.0
    return np.sum(y)


def test_a_masked_store_hides_the_pole() -> None:
    with np.errstate(all="ignore"):
        found = gs.grad(log_where_positive)(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.5])


def test_the_last_writer_gets_the_cotangent() -> None:
    _, d_v = gs.grad(scattered, argnums=(0, 2))(np.zeros(3), np.array([1, 1, 0]), np.ones(3))
    np.testing.assert_allclose(d_v, [0.0, 2 * np.cos(1.0), 2 * np.cos(1.0)])


def test_the_gradient_of_a_masked_store_reads_like_one_by_hand() -> None:
    source = gs.differentiable(masked_store).specialize(x4).gradient_source
    assert source.splitlines()[2:] == [
        "    t = y > 1",
        "    y[t] = 0.0",
        "",
        "    d_y = d_result * 2 * y  # return np.sum(y**2)",
        "    d_y[t] = 0.0  # y[y > 1] = 0.0",
        "    return d_y * 2.0",
    ]


def test_repeated_items_accumulate() -> None:
    source = gs.differentiable(gathered).specialize(x4, repeated).gradient_source
    assert "np.add.at(d_x, i, d_result * 3 * x[i] ** 2)" in source


def float_index(x):
    return x[x]


def mask_of_another_shape(x):
    return x[np.ones(3) > 0]


@pytest.mark.parametrize("function", [float_index, mask_of_another_shape])
def test_what_numpy_does_not_take_as_index_is_refused(function: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match=r"as index|a mask has the shape"):
        gs.grad(function)(x4)


def made_of_one_number_or_another(x):
    first = 1 if x[0] > 1 else x[0]
    v = np.array([first, 2])
    v[0] = x[1]
    return v[0] * x[0]


def filled_with_what_a_loop_found(x):
    found = 0
    for value in x:
        if value > 1:
            found = found + value
    v = np.full(2, found)
    v[1] = x[1]
    return v[1] * x[0]


def filled_in_place(x):
    v = np.array([1 if x[0] > 1 else x[0], 2])
    v.fill(x[1])
    return v[0] * x[0]


def put_in_place(x):
    v = np.array([1 if x[0] > 1 else x[0], 2])
    np.put(v, [0], x[1])
    return v[0] * x[0]


def bound_anew_after_the_store(x):
    total = 0.0
    v = np.array([0.5, 1.0]) * x[0]
    for _ in range(2):
        v[0] = x[1]
        total += v[0] * x[0]
        v = np.array([1 if x[0] > 1 else x[0], 2])
    return total


def handed_on_from_name_to_name(x):
    total = 0.0
    u, v, w = np.zeros(2), np.zeros(2), np.zeros(2)
    for _ in range(4):
        u[0] = x[1]
        total += u[0] * x[0]
        u, v, w = v, w, np.full(2, 1 if x[0] > 1 else x[0])
    return total


def larger_than_an_integer(x):
    v = np.array([max(0, x[0] - 1), max(0, x[1] - 1)])
    v[0] = x[1]
    return np.sum(v)


def read_from_an_array(x):
    item = np.array([1 if x[0] > 1 else x[0], 2])[0]
    v = np.array([item, 1])
    v[1] = x[1]
    return v[1] * x[0]


@pytest.mark.parametrize(
    ("function", "floating", "integers"),
    [
        (larger_than_an_integer, [1.5, 0.5], [0.4, 0.7]),
        (read_from_an_array, [0.5, 1.5], [1.5, 0.5]),
        (bound_anew_after_the_store, [0.5, 1.5], [1.5, 0.5]),
        (handed_on_from_name_to_name, [0.5, 1.5], [1.5, 0.5]),
        (filled_in_place, [0.5, 1.5], [1.5, 0.5]),
        (put_in_place, [0.5, 1.5], [1.5, 0.5]),
        (made_of_one_number_or_another, [0.5, 1.5], [1.5, 0.5]),
        (filled_with_what_a_loop_found, [0.5, 1.5], [0.5, 0.7]),
    ],
)
def test_arrays_that_may_hold_integers_are_refused_where_they_do(
    function, floating: list[float], integers: list[float]
) -> None:
    gs.testing.check_grad(function, np.array(floating))
    with pytest.raises(
        errors.UnsupportedError, match="stored to an array of integers, which cuts them off"
    ):
        gs.grad(function)(np.array(integers))


def test_arrays_that_are_made_of_floats_on_every_path_need_no_check() -> None:
    def function(x):
        total = 0
        for value in x:
            total = total + value
        v = np.array([total / 2, 1, x[0]])
        v[1] = x[1]
        return np.sum(v * v)

    assert "assert" not in gs.differentiable(function).specialize(np.ones(2)).gradient_source


def test_buffers_of_floats_that_a_loop_swaps_need_no_check() -> None:
    def function(x):
        u, v = np.zeros(2), np.zeros(2)
        for i in range(3):
            u[0] = x[1] * v[1]
            v[1] = x[0] + u[0]
            u, v = v, np.full(2, x[i % 2])
        return np.sum(u)

    assert "assert" not in gs.differentiable(function).specialize(np.ones(2)).gradient_source


def test_what_fills_an_array_of_integers_is_cut_off() -> None:
    def function(x):
        return np.sum(np.full_like(np.zeros(2, int), x[0]) * x[1])

    assert list(gs.grad(function)(np.array([2.6, 1.7]))) == [0.0, 4.0]


@pytest.mark.parametrize("axes", [(1, 1), (1, 1, 1)])
def test_leading_axes_of_a_sum_with_the_part_it_is_stored_to_are_dropped(axes: tuple[int]) -> None:
    def function(x, axes=axes):
        y = x * 1.0
        y[1:2] = y[1:2] * np.reshape(x[0], axes)
        return y

    gs.testing.check_grad(function, np.array([3.0, 2.0, 5.0]))
