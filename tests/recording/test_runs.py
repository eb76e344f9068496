"""`vjp` and `jvp` of recorded runs, on nested values, in any order and mode."""

from dataclasses import dataclass

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.recording.runs import jvp, vjp

X = np.array([0.3, 0.7, 1.1])


def gradient(function):
    return lambda x: vjp(function, (x,))[1](1.0)[0]


def differences(function, x, step=1e-6):
    ends = [(function(x + step * d), function(x - step * d)) for d in np.eye(len(x))]
    return np.array([(above - below) / (2 * step) for above, below in ends])


def stores_and_views(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * x[i] ** 2
    v = y[1:]
    v[0] = 2 * v[1]
    v *= x[:2]
    return np.sum(y * y) + x.std(ddof=1) + x.max()


def test_value_and_gradient_are_those_of_the_function():
    out, pullback = vjp(stores_and_views, (X,))
    assert out == stores_and_views(X) and type(out) is np.float64
    np.testing.assert_allclose(pullback(1.0)[0], differences(stores_and_views, X), rtol=1e-7)


def test_forward_mode_agrees_with_reverse_mode():
    direction = np.array([1.0, -2.0, 0.5])
    out, tangent = jvp(stores_and_views, (X,), (direction,))
    assert out == stores_and_views(X)
    np.testing.assert_allclose(tangent, gradient(stores_and_views)(X) @ direction, rtol=1e-12)


def test_any_order_of_modes_gives_one_hessian():
    first = gradient(stores_and_views)
    expected = np.array([differences(lambda x: first(x)[i], X) for i in range(3)])
    forward_of_reverse = [jvp(first, (X,), (d,))[1] for d in np.eye(3)]
    reverse_of_reverse = [gradient(lambda x, i=i: first(x)[i])(X) for i in range(3)]
    reverse_of_forward = [
        gradient(lambda x, d=d: jvp(stores_and_views, (x,), (d,))[1])(X) for d in np.eye(3)
    ]
    for found in (forward_of_reverse, reverse_of_reverse, reverse_of_forward):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_derivative_within_a_function_is_by_its_own_variable():
    def outer(x):
        return x * gradient(lambda y: x * y)(1.0)

    assert gradient(outer)(3.0) == 6.0


@dataclass
class Model:
    w: np.ndarray
    name: str


def test_arguments_and_results_are_nested():
    def function(model, data):
        return {"out": np.sum(model.w * data["x"]) * data["n"], "name": model.name}, model.w[0]

    model, data = Model(np.array([1.0, 2.0]), "a"), {"x": np.array([3.0, 4.0]), "n": 2}
    out, pullback = vjp(function, (model, data), active=[True, [False, False]])
    assert out == ({"out": 22.0, "name": "a"}, 1.0)
    of_model, of_data = pullback(({"out": 1.0, "name": None}, 10.0))
    assert list(of_model.w) == [16.0, 8.0] and of_model.name is None
    assert of_data == {"x": None, "n": None}


def test_what_a_result_does_not_depend_on_has_zeros():
    out, pullback = vjp(lambda x, y: 3.0 * y, (X, 2.0))
    assert out == 6.0
    of_x, of_y = pullback(1.0)
    assert list(of_x) == [0.0, 0.0, 0.0] and of_y == 3.0


def test_arrays_of_the_caller_are_not_changed():
    def function(x, buffer):
        x *= 2
        buffer[:] = 1.0
        return np.sum(x) + np.sum(buffer)

    x, buffer = np.array([1.0, 2.0]), np.zeros(2)
    out, pullback = vjp(function, (x, buffer), active=[True, False])
    assert out == 8.0 and list(pullback(1.0)[0]) == [2.0, 2.0]
    assert list(x) == [1.0, 2.0] and list(buffer) == [0.0, 0.0]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_cotangents_have_the_type_of_their_values(kind):
    x = np.array([1, 2], kind)
    out, pullback = vjp(lambda x: x * x, (x,))
    assert out.dtype == kind and pullback(np.ones(2))[0].dtype == kind


def test_numbers_without_a_literal_are_static_arguments():
    x = np.array([0.7, 1.3, 2.1])
    for missing in (np.nan, np.float32("nan"), np.inf, complex(np.nan, 1.0)):
        gradient = gs.grad(
            lambda x, m=missing: np.sum(np.append(x, m)[:2].real ** 2), compile=False
        )(x)
        np.testing.assert_array_equal(gradient, [1.4, 2.6, 0.0])
