"""NumPy's functions that store to an array, which is given by name."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from tests.every_mode import BY, MODES, check_mode, differences

X = np.array([1.2, -0.7, 0.6, 1.9])
W = np.arange(1.0, 5.0)
HELD = np.ones(4)


def copied(x):
    y = x * 1.0
    np.copyto(dst=y, src=x * 2)
    np.copyto(src=x[:2] ** 2, dst=y[2:])
    return y @ W


def copied_under_a_mask(x):
    y = x * 1.0
    np.copyto(where=x > 0, src=x * 2, dst=y)
    np.copyto(y, src=x * x, where=[1, 0, 2, 0])
    return y @ W


def moved_in_one_array(x):
    y = x * 1.0
    np.copyto(dst=y[1:], src=y[:-1])
    return y @ W


def put(x):
    y = x * 1.0
    np.put(a=y, ind=[0, 2], v=x[:2] ** 2)
    np.put(mode="clip", v=x[3], ind=9, a=y)
    np.put(y, v=x[:2] ** 2, ind=[0, -1])
    return y @ W


def put_in_a_row(x):
    y = np.outer(x, x)
    np.put(a=y[1], ind=[0, 2], v=x[:2])
    return np.sum(y @ W)


def placed(x):
    y = x * 1.0
    np.place(arr=y, mask=x > 0, vals=x[:2] ** 2)
    np.place(vals=3.0, mask=x < 0, arr=y)
    return y @ W


def masked(x):
    y = x * 1.0
    np.putmask(y, values=x[:2], mask=x > 0)
    return y @ W


def on_the_diagonal(x):
    y = np.outer(x, x)
    np.fill_diagonal(a=y, val=x * x)
    np.fill_diagonal(val=x[0] * y[0, 0], wrap=True, a=y[:, :2])
    return np.sum(y @ W)


def along_an_axis(x):
    y = np.outer(x, x)
    places = np.array([[1], [0], [2], [3]])
    np.put_along_axis(arr=y, indices=places, values=x[:, None], axis=1)
    np.put_along_axis(axis=None, values=x[:2], indices=np.array([1, 0]), arr=y)
    return np.sum(y @ W)


def of_what_is_not_differentiated(x):
    y = np.ones(4)
    np.copyto(dst=y, src=2.0)
    np.put(v=[3.0], a=y, ind=[1])
    return np.sum(y * x)


def left_outside(x):
    np.copyto(dst=HELD, src=W)
    np.put(ind=[1], v=5.0, a=HELD)
    return np.sum(HELD * x * x)


FUNCTIONS = [
    *(copied, copied_under_a_mask, moved_in_one_array, put, put_in_a_row, placed, masked),
    *(on_the_diagonal, along_an_axis, of_what_is_not_differentiated),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_array_is_given_by_name(function, mode):
    check_mode(mode, function, X)


@pytest.mark.parametrize("mode", MODES)
def test_an_array_outside_is_given_by_name(mode):
    check_mode(mode, left_outside, X, HELD)


@pytest.mark.parametrize("mode", MODES)
def test_what_does_not_fit_raises_what_python_raises(mode):
    def of_no_source(x):
        y = x * 1.0
        np.copyto(dst=y, source=x)
        return y @ W

    def of_no_axis(x):
        y = np.outer(x, x)
        np.put_along_axis(values=x, arr=y, indices=np.array([[0]]), alongside=0)
        return np.sum(y)

    for function in (of_no_source, of_no_axis):
        with pytest.raises((TypeError, gs.errors.UnsupportedError)):
            BY[mode](function, X)


@pytest.mark.parametrize("change", ["copyto", "put", "place", "fill_diagonal"])
def test_a_tensor_is_given_by_name(change):
    def changed(x):
        y = (x * x).reshape(2, 2)
        given = {
            "copyto": {"src": x.reshape(2, 2), "dst": y},
            "put": {"ind": [1], "v": x[:1], "a": y},
            "place": {"vals": x[:1], "mask": np.eye(2) > 0, "arr": y},
            "fill_diagonal": {"val": x[0], "a": y},
        }[change]
        getattr(np, change)(**given)
        return np.sum(y * y)

    x = gs.tensor(X, requires_grad=True)
    (found,) = gs.autograd.grad(changed(x), x)
    np.testing.assert_allclose(found.numpy(), differences(changed, X), rtol=1e-5)
