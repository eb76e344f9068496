"""Results that go into arrays at hand, and functions that only change an array."""

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


def into_arrays(x, y):
    z = np.zeros_like(x)
    np.multiply(x, y, out=z)
    np.add(z, x, z)
    w = np.sin(z, out=(z,))
    np.exp(x[1:], out=z[:-1])
    return np.sum(w * z)


def divided_where_nonzero(x, y):
    r = np.divide(x, y, out=np.zeros_like(x), where=y != 0)
    return np.sum(r * x)


def where_nothing_or_everything(x, y):
    """As `where`, None is false."""
    r = x * 2
    np.exp(x, out=r, where=None)
    np.exp(y, out=y, where=True)
    np.sin(x, out=r, where=False)
    return np.sum(r * x) + np.sum(y * x)


def reduced_into_arrays(A):
    c = np.empty(A.shape[1])
    np.sum(A * A, axis=0, out=c)
    d = np.empty(A.shape[0])
    A.mean(axis=1, out=d)
    m = np.empty((A.shape[0], A.shape[0]))
    np.dot(A, A.T, out=m)
    np.matmul(A, A.T, m)
    A.clip(0.0, 1.0, out=A)
    np.clip(A, 0.1, 0.9, A)
    np.maximum(A, 0.3, out=A)
    return np.sum(c) * np.sum(d) + np.sum(m) + np.sum(A * A)


def at_items(x, i, v):
    y = x * 1
    np.add.at(y, i, v * v)
    np.subtract.at(y, i, v)
    np.add.at(y, 2, v[0])
    np.multiply.at(y, i, v)
    np.maximum.at(y, i, 0.4)
    np.add.at(y, [0, 1], 1.0)
    return np.sum(y * y)


def at_pairs(A, i, v):
    B = np.zeros_like(A)
    np.add.at(B, (i, i), v)
    np.add.at(B, i, A[0])
    np.add.at(B, (slice(None), i), v)
    return np.sum(B * A)


def at_places(x, A, i, v):
    """Indices of several axes, tuples, masks; values that broadcast."""
    y, B = x * 1, A * 1
    np.multiply.at(y, np.stack((i, i)), np.stack((v, v)))
    np.multiply.at(y, i, v[:1])
    np.multiply.at(y, x > 0, v)
    np.sin.at(y, np.stack((i, i)))
    np.multiply.at(B, i, A[0] + 1)
    np.multiply.at(B, (i, i), v)
    np.maximum.at(B, (slice(None), i), v)
    np.exp.at(B, (i, i))
    return np.sum(y) + np.sum(B * A)


def changed_by_methods(x):
    y = np.empty_like(x)
    y.fill(x[0])
    y[2] = 3 * x[1]
    y *= x
    y.sort()
    y[:] = y[::-1] * x
    y.put([1, 3], x[0])
    return np.sum(y * x)


def changed_by_functions(x):
    B = np.ndarray((3, 4))
    B[...] = x
    np.fill_diagonal(B, x[:3])
    np.copyto(B[0], x * 2)
    np.copyto(B, 1.5, where=B > 0.55)
    np.put(x, [0, 2], x[:2] ** 2)
    np.place(B, B < 0, [x[0], x[1]])
    np.putmask(B, B < 0.35, B * B)
    np.putmask(B, B < 0.1, 0.2)
    return np.sum(B * B) + np.sum(x)


def values_in_turn(x, A):
    """More or fewer values than places; arrays that do not lie in C order."""
    y, B, C, D = x * 1, A * 1, A * 1, A.T * x[0]
    np.put(y, [0, 1, 3], x[:2])
    y.put(2, x[1:])
    np.put(y, [0, 9, -3], x[2:], mode="clip")
    np.put(B, np.array([[0, 3], [5, 7]]), np.reshape(x[:2], (2, 1)))
    np.place(B, B > 0.8, np.stack((x, x * 2)))
    np.putmask(B, B < 0.3, np.stack((x, x * 3)))
    np.putmask(y, y > 0.3, x[1:])
    np.fill_diagonal(B, x[:2])
    np.fill_diagonal(C, x)
    np.put(D, [1, 5, -1], x[2:])
    np.fill_diagonal(D, x[1:3], wrap=True)
    weights = np.arange(12.0)
    return np.sum(y * x) + np.sum(np.ravel(B * C * D.T) * weights) + np.sum(np.ravel(D) * weights)


def sequences_stored(x):
    A = np.zeros((2, 3))
    A[0] = [x[0], x[1] * x[2], 1.0]
    A[1] = x[0], 2, x[1]
    A[:, 0] += [x[0], 4]
    return np.sum(A**2)


def swapped(A, x):
    x[0], x[1] = x[1], x[0] * 2
    A[0], A[1] = A[1], A[0]
    A[1:, 0] = A[0, 1:3] = x[:2]
    x[[0, 2]] = x[[2, 0]]
    return np.sum(A * A * x)


def sorted_along_axes(A):
    B = A * 1
    B.sort(axis=0)
    B[1].sort()
    return np.sum(B * A) + np.sum(np.sort(A, axis=None)[:3] * A[0, :3])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (into_arrays, (x4, x4 + 1)),
        (divided_where_nonzero, (x4, np.array([1.0, 2.0, 3.0, 4.0]))),
        (where_nothing_or_everything, (x4, np.array([1.0, 2.0, 3.0, 4.0]))),
        (reduced_into_arrays, (A34,)),
        (at_items, (x4, repeated, values)),
        (at_pairs, (A34, repeated, values)),
        (at_places, (x4, A34, repeated, values)),
        (changed_by_methods, (x4,)),
        (changed_by_functions, (x4,)),
        (values_in_turn, (x4, A34)),
        (sequences_stored, (x4,)),
        (swapped, (A34, x4)),
        (sorted_along_axes, (np.sin(A34 * 9),)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_arrays_are_changed_as_numpy_does(function: Any, args: Any) -> None:
    check(function, *args)


def test_recorded_arrays_are_changed_so_too() -> None:
    value, found = gs.value_and_grad(values_in_turn, (0, 1), compile=False)(x4, A34)
    assert value == values_in_turn(x4, A34)
    for a, b in zip(found, gs.grad(values_in_turn, (0, 1))(x4, A34), strict=True):
        np.testing.assert_allclose(a, b)


def test_where_cuts_the_derivative_off() -> None:
    with np.errstate(all="ignore"):
        d_x, d_y = gs.grad(divided_where_nonzero, argnums=(0, 1))(x4, np.array([1.0, 0, 3, 0]))
    np.testing.assert_allclose(d_x, [0.6, 0.0, 0.6, 0.0])
    np.testing.assert_allclose(d_y, [-0.09, 0.0, -0.09, 0.0])


def converted(x):
    y = np.zeros(4, dtype=np.float32)
    y[:] = x
    y[1] += x[0]
    n = np.zeros(4, dtype=int)
    n[:] = x * 10
    n[0] += x[1]
    b = np.zeros(4, bool)
    b[:] = x
    b[0] = x[0] > 1
    return np.sum(y * y), n, b


def test_stores_convert_to_the_dtype_of_the_array() -> None:
    found, pull = gs.vjp(converted, x4)
    for a, b in zip(found, converted(x4), strict=True):
        np.testing.assert_array_equal(a, b)
    (d_x,) = pull((1.0, None, None))
    np.testing.assert_allclose(d_x, [0.8, 0.2, 1.8, 2.8], rtol=1e-6)


def undefined_elsewhere(x):
    return np.sum(np.sqrt(x, where=x > 0))


def float_into_integers(x):
    n = np.zeros(4, dtype=int)
    n += x
    return n


def read_only(x):
    y = np.broadcast_to(x, (3, 4))
    y[0] = 1.0
    return np.sum(y)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (undefined_elsewhere, "leaves the other elements undefined"),
        (float_into_integers, "does not store a float64 result in an array of int64"),
        (read_only, "read-only"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_numpy_refuses_is_refused(function: Any, what: str) -> None:
    with pytest.raises(errors.UnsupportedError, match=what):
        gs.vjp(function, x4)
