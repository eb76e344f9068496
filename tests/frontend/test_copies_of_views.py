"""What may be a copy of an array, or the array itself: stores through it are not lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

M = np.arange(1.0, 7.0).reshape(2, 3)
X = np.array([1.0, 2.0, 3.0])


def raveled(m):
    f = m.T.ravel()
    f *= 2
    return (f**2).sum()


def raveled_slice(m):
    f = m[:, ::2].ravel()
    f[0] = 5 * f[1]
    return (f**2).sum()


def reshaped(m):
    f = (m * 1).swapaxes(0, 1).reshape(3, -1)
    f[1] *= 3
    return (f**2).sum()


def put_in_order(m):
    f = np.ascontiguousarray(m.T)
    f[0] = f[1] * 2
    return (f**2).sum()


def changed_in_a_loop(m):
    f = m.T.ravel()
    for i in range(3):
        f[i] += f[i + 1]
    return (f**3).sum()


def sorted_in_place(m):
    f = m.T.ravel()
    f.sort()
    return f[0] * f[1]


def seen_through_the_base(m):
    t = m * 1
    f = t.ravel()
    f *= 2
    return (t * t).sum()


@pytest.mark.parametrize(
    "function",
    [
        raveled,
        raveled_slice,
        reshaped,
        put_in_order,
        changed_in_a_loop,
        sorted_in_place,
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_stores_are_seen(function: Any, order: Any) -> None:
    m = np.array(M, order=order)
    assert gs.vjp(function, m)[0] == function(m.copy(order="K"))
    gs.testing.check_grad(function, m)


def test_stores_are_seen_through_the_base_of_what_is_a_view() -> None:
    assert gs.vjp(seen_through_the_base, M)[0] == seen_through_the_base(M)
    gs.testing.check_grad(seen_through_the_base, M)
    with pytest.raises(errors.AliasingError):
        gs.vjp(seen_through_the_base, np.asfortranarray(M))


def test_conjugate_of_a_real_array() -> None:
    def method(x):
        h = x.conj()
        h[0] = 0
        return (x * x).sum()

    def function(x):
        h = np.conjugate(x)
        h[0] = 0
        return (x * x).sum()

    for f in (method, function):
        assert gs.vjp(f, X)[0] == f(X.copy())
        gs.testing.check_grad(f, X)


@pytest.mark.parametrize(
    "given_back", [lambda x: np.einsum("i->i", x), lambda x: np.diff(x, n=0, prepend=1)]
)
def test_what_gives_its_operand_back_is_stored_to(given_back: Any) -> None:
    def function(x):
        h = given_back(x)
        h[0] = 3
        return (x * x).sum()

    assert gs.vjp(function, X)[0] == function(X.copy())
    gs.testing.check_grad(function, X)


def test_what_changes_its_argument_is_refused() -> None:
    with pytest.raises(errors.UnsupportedError, match="copy=False"):
        gs.vjp(lambda x: np.nan_to_num(x, copy=False), X)


def test_copies_of_arguments_keep_their_order_in_memory() -> None:
    def changed(m):
        m[0] = 1.0
        return m.sum()

    rng = np.random.default_rng(0)
    for _ in range(20):
        m = np.asfortranarray(rng.normal(size=(4, 5)))
        assert gs.vjp(changed, m)[0] == changed(m.copy(order="K"))


def test_a_copy_of_windows_is_stored_to() -> None:
    """The windows themselves are read-only, in the tangent, too."""

    def f(x: Any) -> Any:
        windows = np.lib.stride_tricks.sliding_window_view(x * 2, 3).copy()
        windows[0] = windows[-1] * 2
        return windows * np.linalg.norm(windows, axis=-1, keepdims=True)

    gs.testing.check_grad(f, np.arange(1.0, 7.0))


IN_OTHER_ORDER = [
    lambda x: x.reshape(2, 3).copy(order="F"),
    lambda x: x.reshape(2, 3).T.copy(order="K"),
    lambda x: np.zeros((2, 3), order="F"),
    lambda x: np.multiply(x.reshape(2, 3), 2, order="F"),
]


@pytest.mark.parametrize("make", IN_OTHER_ORDER)
def test_a_store_to_a_reshape_of_what_need_not_lie_in_order_is_refused(make):
    def f(x):
        y = make(x)
        flat = y.reshape(-1)
        flat[0] = 10.0
        return np.sum(y) + np.sum(flat)

    with pytest.raises(gs.errors.AliasingError, match="may share memory with `y`"):
        gs.grad(f)(np.arange(6.0))


def test_reshapes_in_different_orders_are_both_taken_back():
    def f(x):
        return np.sum(x.reshape((2, 3), order="F").ravel() * np.arange(6.0))

    assert gs.grad(f)(np.ones(6)).tolist() == [0, 3, 1, 4, 2, 5]
