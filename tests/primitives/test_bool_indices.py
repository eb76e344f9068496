"""Bools as indices, counts and axes: the numbers 0 and 1, or a mask, as each function has them."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.7, 1.3, 0.4, 1.9])
WEIGHTS = np.array([1.0, 2.0, 4.0, 8.0])
BOOLS = np.array([True, False, True, False])
TABLE = np.array([2.0, 3.0])


def put(x):
    y = np.zeros(4)
    np.put(y, BOOLS, x)
    return y * x


def put_by_method(x):
    y = x * x
    y.put(x > 1, [5.0, 6.0, 7.0, 8.0])
    return y * x


def put_one(x):
    y = x * x
    np.put(y, True, x[3])
    return y


def put_in_flat(x):
    y = np.reshape(x * x, (2, 2))
    y.flat[BOOLS] = 3.0
    return y


def added_at(x):
    y = np.zeros(4)
    np.add.at(y, x > 1, x[0])
    return y


NUMBERS = {
    "take": lambda x: np.take(x, BOOLS),
    "take_of_varying": lambda x: np.take(x * x, x > 1),
    "take_by_list": lambda x: np.take(x, [True, False, True]),
    "take_one": lambda x: np.take(x, True),
    "take_along_axis": lambda x: np.take(np.reshape(x, (2, 2)), BOOLS, axis=1),
    "take_wrapped": lambda x: np.take(x, x > 1, mode="wrap"),
    "look_up": lambda x: np.take([2.0, 3.0], x > 1) * x,
    "look_up_in_array": lambda x: np.take(TABLE, x > 1) * x,
    "look_up_in_active": lambda x: np.take((x[0], x[1]), x > 1) * x,
    "bincount": lambda x: np.bincount(x > 1, weights=x),
    "bincount_of_one_kind": lambda x: np.bincount(x > 0, weights=x),
    "bincount_of_list": lambda x: np.bincount([True, False, False, True], weights=x, minlength=4),
    "reduceat": lambda x: np.add.reduceat(x, BOOLS),
    "reduceat_of_maximum": lambda x: np.maximum.reduceat(x, [False, True]),
    "put": put,
    "put_one": put_one,
    "tile": lambda x: np.tile(x, True),
    "tile_along_axes": lambda x: np.tile(x, (2, True)),
    "bins": lambda x: np.histogram(x, True, weights=x)[0],
    "new_axis": lambda x: np.expand_dims(x, (True, 0)),
    "gradient": lambda x: np.gradient(np.reshape(x, (2, 2)), axis=True),
}
MASKS = {
    "delete": lambda x: np.delete(x, BOOLS),
    "choose": lambda x: np.choose(x > 1, [x, x * x]),
    "index": lambda x: x[BOOLS] * x[x > 1],
    "added_at": added_at,
}
METHODS = {
    "take": lambda x: x.take(x > 1),
    "look_up": lambda x: TABLE.take(x > 1) * x,
    "put": put_by_method,
    "put_in_flat": put_in_flat,
}


def check(function, **options):
    def loss(x):
        values = np.ravel(function(x))
        return np.sum(np.arange(1.0, 1.0 + np.size(values)) * values**2)

    expected = [(loss(X + step) - loss(X - step)) / 2e-6 for step in np.eye(4) * 1e-6]
    value, gradient = gs.value_and_grad(loss, **options)(X)
    np.testing.assert_allclose(value, loss(X))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
    tangent = gs.jvp(loss, (X,), (WEIGHTS,), **options)[1]
    np.testing.assert_allclose(tangent, gradient @ WEIGHTS)
    return loss, gradient


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize("function", (NUMBERS | MASKS).values(), ids=NUMBERS | MASKS)
def test_bools_mean_what_they_mean_in_numpy(function, compile):
    loss, gradient = check(function, compile=compile)
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(loss)(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), gradient)


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize("function", METHODS.values(), ids=METHODS)
def test_bools_given_to_methods(function, compile):
    check(function, compile=compile)


@pytest.mark.filterwarnings("ignore:in the future insert:FutureWarning")
@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize(
    "function",
    [lambda x: np.insert(x, BOOLS, 3.0) * 2.0, lambda x: np.insert(x, x > 1, x[:2])],
    ids=["constant", "varying"],
)
def test_insert_takes_them_as_this_numpy_does(function, compile):
    try:
        function(X)
    except ValueError:
        pytest.skip("before NumPy 2.4, bools were the places 0 and 1")
    check(function, compile=compile)


@pytest.mark.parametrize("compile", [True, False])
def test_values_are_not_put_along_an_axis_by_bools(compile):
    def program(x):
        y = x * x
        np.put_along_axis(y, BOOLS, x, 0)
        return np.sum(y)

    with pytest.raises(IndexError):
        program(X)
    with pytest.raises(IndexError):
        gs.grad(program, compile=compile)(X)


@pytest.mark.parametrize("method", ["take", "put"])
def test_places_in_a_tensor_are_integers(method):
    x = gs.tensor(X)
    values = (x,) if method == "put" else ()
    with pytest.raises(RuntimeError, match="Expected a long tensor for index, but got Bool"):
        getattr(x, method)(x > 1, *values)


@pytest.mark.parametrize("place", [(np.int64(3),), (1, 1), ((1, 1),), (np.int8(1), 1)])
def test_items_at_places_of_a_recorded_array(place):
    gradient = gs.grad(lambda x: np.reshape(x, (2, 2)).item(*place) ** 2, compile=False)(X)
    np.testing.assert_allclose(gradient, [0, 0, 0, 3.8])
    with pytest.raises(TypeError):
        gs.grad(lambda x: x.item(True) ** 2, compile=False)(X)
