"""Views that depend on the layout, and rows of arrays: stores through them are followed exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check

A34 = np.arange(12.0).reshape(3, 4) / 7 - 0.6


def through_reshape(A):
    B = A * 2
    f = B.reshape(-1)
    f[0] = 5.0
    f[3] *= A[0, 0]
    B[1] += 1.0
    return np.sum(B**2) + f[5] * f[4]


def through_ravel(A):
    f = A.ravel()
    f[2:5] = f[0:3] * 2
    return np.sum(A**2)


def through_reshaped_parts(A, n):
    for k in range(n):
        r = A[1:].reshape(-1)
        r[k] = A[0, 0] * A[0, 1]
        A[0].reshape(2, 2)[:, 1] *= 2
    return np.sum(A**2)


def base_under_reshape(A):
    v = A.reshape(2, 6)
    A[0, 0] = 3.0
    A *= 2
    w = v.T
    w[0] += 1
    return np.sum(v * v)


def reshape_of_carried(A, n):
    B = A * 1
    for k in range(n):
        B = B * 2
        g = B.reshape(-1)
        g[k] = g[k + 1] ** 2
    return np.sum(B)


def zeros_filled_flat(n, A):
    B = np.zeros((3, 4))
    b = B.ravel()
    for i in range(n):
        b[i] = A[0, i] ** 2
    return np.sum(B * A)


def same_object_of_asarray(x):
    y = np.asarray(x)
    z = np.asarray(x, dtype=np.float32)
    y[0] = 2.0 * y[1]
    return np.sum(x * x) + float(z[0]) * 0.0


def reshape_of_a_branch(A, s):
    if s > 0:
        B = A * 2
    else:
        B = A.copy()
    B.reshape(-1)[1] = s
    return np.sum(B * A)


def flat_elements(A):
    A.flat[2] = 3 * A[0, 0]
    A.flat[[0, 5]] *= A[0, 1]
    total = 0.0
    for v in A.flat:
        total += v * v
    A.flat[:] = A.flat[::-1]
    return total + np.sum(A[0])


def view_changed_in_a_loop(x, n):
    y = x * 1
    v = y[1:]
    for _ in range(n):
        v -= 0.3
        v[v < 0] = 0.0
    return np.sum(y * x)


def rows_changed(A):
    for row in A:
        row *= 2
        row[0] = row[1] ** 2
    return np.sum(A**2)


def rows_ahead(x):
    i = 0
    s = 0.0
    for v in x:
        if i + 1 < len(x):
            x[i + 1] += v * v
        i += 1
        s += v * x[0]
    return np.sum(x * s)


def rows_counted(A):
    for i, row in enumerate(A):
        row += i
        row[:] = row * A[0]
    return np.sum(A**2)


def rows_zipped(A, B):
    for a, b in zip(A, B, strict=False):
        a += b
        b *= a
    return np.sum(A * B)


def rows_backwards(A):
    for a in reversed(A):
        a *= A[0]
    for i, a in enumerate(reversed(A)):
        a *= A[0] * i
    return np.sum(A)


def rows_of_views(A):
    for a in A[1:]:
        a *= A[0]
    for a in A.T:
        a[0] = a[1]
    return np.sum(A)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (through_reshape, (A34,)),
        (through_ravel, (A34,)),
        (through_reshaped_parts, (A34, 3)),
        (base_under_reshape, (A34,)),
        (reshape_of_carried, (A34, 3)),
        (zeros_filled_flat, (3, A34)),
        (same_object_of_asarray, (A34[0].copy(),)),
        (reshape_of_a_branch, (A34, 0.5)),
        (reshape_of_a_branch, (A34, -0.5)),
        (flat_elements, (A34,)),
        (view_changed_in_a_loop, (A34[2].copy(), 3)),
        (rows_changed, (A34,)),
        (rows_ahead, (A34[0].copy(),)),
        (rows_counted, (A34,)),
        (rows_zipped, (A34, A34 * 2)),
        (rows_backwards, (A34,)),
        (rows_of_views, (A34,)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_stores_through_views_are_followed(function: Any, args: Any) -> None:
    check(function, *args)


def reshape_of_transposes(A, n):
    B = A * 1
    for _ in range(n):
        B = B.T * 2
        g = B.reshape(-1)
    g[0] = 1.0
    return np.sum(B)


def test_a_reshape_that_may_be_a_copy_is_refused() -> None:
    with pytest.raises(errors.AliasingError, match="may share memory"):
        gs.grad(reshape_of_transposes)(A34[:, :3].copy(), 2)


def test_an_argument_in_another_order_is_another_specialization() -> None:
    gradient = gs.grad(through_ravel)
    gradient(A34)
    np.testing.assert_array_equal(gradient(A34.T), 2 * A34.T)
    np.testing.assert_array_equal(gradient(A34), gs.grad(through_ravel)(A34.copy()))


def test_cotangents_in_any_order_reach_a_reshaped_store() -> None:
    def overwritten(A):
        B = A * 2
        B.reshape(-1)[1] = 0.0
        return B

    seed = np.arange(12.0).reshape(4, 3).T
    _, pull = gs.vjp(overwritten, A34)
    expected = 2 * seed
    expected[0, 1] = 0.0
    np.testing.assert_array_equal(pull(seed)[0], expected)
    np.testing.assert_array_equal(gs.jvp(overwritten, (A34,), (seed,))[1], expected)


def test_a_loop_that_only_reads_its_rows_runs_over_them() -> None:
    def of_rows(A):
        total = 0.0
        for a in A:
            b = a * 1
            b += 2
            total = total + np.sum(b * b)
        return total

    assert "for a in A:" in gs.differentiable(of_rows).specialize(A34).forward_source


def row_used_again(A, s):
    for row in A:
        row += s
    A[0] *= 2
    for row in A:
        row *= A[0]
    w = A[0] if s > 0 else A[1]
    t = np.sum(w)
    A[1] = s
    w = A[2]
    return np.sum(A * w) + t


@pytest.mark.parametrize("s", [0.5, -0.5])
def test_a_name_that_is_bound_anew_before_it_is_read_hinders_no_store(s: float) -> None:
    check(row_used_again, A34, s)


def read_after_a_change_by_a_helper(x, s):
    def raised(v):
        v[0] = 2.0
        return v[1]

    y, z = x * 2, x * 3
    w = y if s > 0 else z
    return raised(w) + np.sum(y)


@pytest.mark.parametrize("s", [1.0, -1.0])
def test_what_is_left_of_a_statement_reads_too(s: float) -> None:
    assert gs.vjp(read_after_a_change_by_a_helper, A34[0], s)[0] == (
        read_after_a_change_by_a_helper(A34[0], s)
    )
    gs.testing.check_grad(read_after_a_change_by_a_helper, A34[0], s)


def test_a_local_name_of_ours_is_free_for_users() -> None:
    def of_raised(x):
        raised = x * 2
        return raised * x

    assert gs.grad(of_raised)(3.0) == 12.0


x2 = np.array([1.5, -0.4])


def flat_of_a_transpose(x):
    y = np.outer(x, x).T
    y.flat[1] = 3 * x[0]
    y.flat[[0, -1]] -= 1.5 * x[1]
    y.flat[2:4] *= x
    y.flat[y.flat[:] > 1] = x[1]
    return np.sum(y * np.array([[1.0, -2.0], [3.0, 0.5]]))


def flat_of_slices(x):
    z = np.zeros((4, 4))
    z[::2, ::2].flat[1] = x[0]
    z[1:3, 1:3].flat[:] = np.outer(x, x).ravel()
    z[:, ::-1].flat[3] += x[1]
    return np.sum(z[0] * z[2]) + np.sum(z**2)


def flat_is_no_copy(x):
    y = np.outer(x, x).T
    f = y.flat
    y[1, 0] = 9 * x[0]
    total = np.sum(f[:] * np.arange(4.0))
    for i, v in enumerate(y.flat):
        y[0, 1] = x[0] * 7
        total = total + (i + 1) * v
    return total


def flat_of_three_axes(x):
    z = np.zeros((2, 3, 2))
    z.transpose(2, 0, 1).flat[5] = x[0]
    z.swapaxes(0, 2).flat[7] += x[1] ** 2
    for i in range(12):
        z.T.flat[i] += i * x[0]
    return np.sum(z**2 * np.arange(12.0).reshape(2, 3, 2))


@pytest.mark.parametrize(
    "function", [flat_of_a_transpose, flat_of_slices, flat_is_no_copy, flat_of_three_axes]
)
def test_flat_of_an_array_that_is_not_one_piece(function: Any) -> None:
    check(function, x2)


def stored_through_axes_in_a_list(A):
    B = np.transpose(A * 2, [1, 0])
    B[0] = 3.0
    return np.sum(B**2)


@pytest.mark.parametrize(
    "function",
    [
        lambda A: np.transpose(A, [1, 0])[0],
        lambda A: A.transpose([1, 0])[0],
        lambda A: np.permute_dims(A, [1, 0])[:, 1],
        lambda A: np.moveaxis(A, [0, 1], [1, 0])[0],
        lambda A: np.expand_dims(A, [0])[0],
        lambda A: np.reshape(A, [4, 3])[0],
        lambda A: np.broadcast_to(A, [2, 3, 4])[0],
        stored_through_axes_in_a_list,
    ],
)
def test_axes_and_shapes_of_a_view_may_be_lists(function):
    check(lambda A: np.sum(np.sin(function(A))), A34)
