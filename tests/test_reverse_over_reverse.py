"""Reverse mode through gradients of functions with loops: what a loop consumes, its mirror gives
cotangents to. The same derivatives by forward mode tell what is right."""

import numpy as np
import pytest

import gradscribe as gs
from tests.sampling import one_in

X = np.array([0.3, -1.1, 0.8])
A = np.random.default_rng(0).standard_normal((3, 3))


def recurrence(x):
    h = x
    for i in range(len(x)):
        h = np.tanh(A @ h) + x[i]
    return np.sum(h * h)


def stores_in_place(x):
    y = x.copy()
    for i in range(2):
        y[i + 1] = y[i] * y[i + 1]
        y *= x
    return np.sum(y) * y[0]


def loops_in_loops(x):
    products = np.outer(x, x)
    for i in range(3):
        for j in range(3):
            if i != j:
                products[i, j] = products[i, j] * products[j, i] + products[i, i]
    return np.sum(products)


def until_small(x):
    while np.sum(x * x) > 0.3:
        x = x * 0.8 * np.cos(x)
    return np.sum(x**3)


def left_early(x):
    total = x[0]
    for i in range(5):
        if total > 1:
            break
        if total < -1:
            return total**2
        total = total * 1.9 + x[1] * x[2]
    else:
        total = total**2
    return total**3


def on_some_iterations(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            y = np.sin(A @ x) * x[i]
            total = total + np.sum(y * y) * total + y[0]
    return total


def loop_on_some_iterations(x):
    total = x[0]
    for i in range(2):
        if x[i] > 0:
            for v in x:
                total = np.sin(total * v)
        total = total * x[2]
    return total


def either_kind_of_end(x):
    y = x * 1.0
    for i in range(2):
        if y[0] < 0:
            if x[2] < 0:
                return np.sum(np.tanh(x) ** 2)
            squares = x * x
            if np.sum(squares) > 2:
                return np.sum(squares * x)
    return np.sum(y**3)


def grows_a_list(x):
    items = [x[0]]
    for i in range(4):
        items.append(items[-1] * np.sin(items[i]) * x[i % 3])
    return sum(items)


def empties_a_list(x):
    items = [v * v if v > 0 else np.exp(v) for v in x]
    total = 0.0
    while items:
        total = total * items[-1] + items.pop()
    return total


def keeps_a_list_of_arrays(x):
    states = [x]
    for _ in range(2):
        states.append(np.tanh(A @ states[-1]) + states[0])
    return sum(np.sum(h**2) for h in states)


PROGRAMS = [
    recurrence,
    stores_in_place,
    loops_in_loops,
    until_small,
    left_early,
    on_some_iterations,
    loop_on_some_iterations,
    either_kind_of_end,
    grows_a_list,
    empties_a_list,
    keeps_a_list_of_arrays,
]


@pytest.mark.parametrize("x", [X, -X], ids=["x", "-x"])
@pytest.mark.parametrize("f", one_in(3, PROGRAMS))
def test_to_the_third_order_it_agrees_with_forward_mode(f, x):
    by_reverse = gs.jacrev(gs.grad(f))
    np.testing.assert_allclose(by_reverse(x), gs.hessian(f)(x), rtol=1e-10, atol=1e-12)
    by_forward = gs.jacfwd(gs.jacfwd(gs.grad(f)))(x)
    np.testing.assert_allclose(gs.jacrev(by_reverse)(x), by_forward, rtol=1e-9, atol=1e-11)


def test_through_jacobians_pullbacks_and_tangents():
    def f(x):
        h, states = x, np.zeros(3)
        for i in range(3):
            h = np.sin(h) * x[i]
            states[i] = np.sum(h)
        return states

    def by_jacobians(x):
        return np.sum(gs.jacfwd(f)(x) ** 2) + np.sum(gs.jacrev(f)(x) ** 3)

    def by_pullback(x):
        out, pullback = gs.vjp(f, x)
        for _ in range(2):
            (out,) = pullback(out)
        return np.sum(out)

    def by_tangent(x):
        return np.sum(gs.jvp(f, (x,), (x * x,))[1])

    for g in (by_jacobians, by_pullback, by_tangent):
        np.testing.assert_allclose(gs.grad(g)(X), gs.jacfwd(g)(X), rtol=1e-10)
        gs.testing.check_grad(g, X)


def test_gradient_descent_is_differentiated():
    def loss(w, x):
        for row in A:
            w = np.tanh(w * row) + x
        return np.sum(w**2)

    def trained(x):
        w = np.zeros(3)
        for _ in range(3):
            w = w - 0.1 * gs.grad(loss)(w, x)
        return loss(w, x)

    gs.testing.check_grad(trained, X)


def test_the_mirror_of_what_consumes_a_record_collects_one():
    def power(x):
        y = x
        for _ in range(3):
            y = y * x
        return y

    second = gs.grad(lambda x: gs.grad(power)(x) * 1.0)
    assert second(2.0) == 48.0
    assert "reverse()" in second.source


def stores_in_a_loop_on_one_side(x):
    y = np.tanh(x)
    if y[0] > x[0] - 9:
        for _ in range(3):
            y[1] = x[2] * 0.5
            y = np.tanh(y * x)
    return np.tanh(y)


def computed_on_a_side_within_a_side(x):
    y, out = x * 1.0, np.zeros(4)
    if np.sum(x) > x[1] - 9:
        out[:3] = out[1:] * y + np.cumsum(y)
        if y[0] > x[0]:
            y *= np.cos(np.cumsum(x))
    return np.tanh(y) + out[1:]


@pytest.mark.parametrize("outer", [gs.jacfwd, gs.jacrev])
@pytest.mark.parametrize("f", [stores_in_a_loop_on_one_side, computed_on_a_side_within_a_side])
def test_jacobians_of_jacobians_of_branches(f, outer):
    x = np.array([0.3, -1.2, 0.7])
    expected = gs.jacfwd(gs.jacfwd(f))(x)
    for inner in (gs.jacfwd, gs.jacrev):
        np.testing.assert_allclose(outer(inner(f))(x), expected, atol=1e-12)


@pytest.mark.parametrize("order, expected", [(1, 12.0), (2, 12.0), (3, 6.0)])
def test_gradients_of_gradients_of_an_array_without_axes(order: int, expected: float) -> None:
    def derivative(x):
        return x * x * x

    for _ in range(order):
        derivative = gs.grad(derivative)
    found = derivative(np.array(2.0))
    assert found.shape == () and found == expected
