"""Calls with Tensors of functions that run as they are: one run, and its record, for all orders."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import forward_ad
from gradscribe.errors import AliasingError, UnsupportedError

X = np.array([0.3, 0.7, 1.1])


def recorded(function):
    return gs.differentiable(function, compile=False)


def orders(call, between):
    """The derivatives of the first three orders of what a call with a Tensor gives, summed up.
    between: is called in between."""
    x = gs.tensor(X, requires_grad=True)
    y, found = call(x), []
    for order in range(3):
        between(order)
        (y,) = gs.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach().numpy())
    return found


@pytest.mark.parametrize("when", range(3))
@pytest.mark.parametrize("given", [True, False], ids=["argument", "captured"])
def test_arrays_may_be_changed_before_backward(given, when):
    weights = np.array([1.0, 2.0, 3.0])

    def f(x, w=weights):
        return np.sum(w * x**4)

    def change(order):
        if order == when:
            weights[:] = 100.0

    called = recorded(f)
    found = orders((lambda x: called(x, weights)) if given else called, change)
    factors = [4 * X**3, 12 * X**2, 24 * X]
    for derivative, factor in zip(found, factors, strict=True):
        np.testing.assert_allclose(derivative, [1, 2, 3] * factor)


def test_the_function_runs_once_for_derivatives_of_all_orders():
    calls, state = [], np.ones(3)

    @gs.primitive
    def cubes(x):
        return x**3

    @cubes.adjoint
    def _(out, x, *, d_out):
        return 3 * x * x * d_out

    def f(x):
        calls.append(1)
        state[0] += 1
        y = x * 1.0
        y[1:] = y[:2]
        return gs.grad(lambda x: np.sum(cubes(x) * state * x))(y) @ x

    found = orders(recorded(f), lambda order: None)
    assert len(calls) == 1 and state[0] == 2
    state[0] = 1
    for own, other in zip(found, orders(gs.differentiable(f), lambda order: None), strict=True):
        np.testing.assert_allclose(own, other)


def test_forward_mode_is_taken_of_the_run_itself():
    calls = []

    def f(x, y):
        calls.append(1)
        return np.sum(x**3) + np.sum(y)

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(X), gs.ones(3))
        tangent = forward_ad.unpack_dual(recorded(f)(dual, gs.tensor(X))).tangent
    assert tangent.item() == pytest.approx(3 * np.sum(X**2)) and len(calls) == 1


def test_tensors_of_integers_have_no_derivative():
    x = gs.tensor(X, requires_grad=True)
    recorded(lambda i, x: (x[i] * x).sum())(gs.tensor([0, 0, 1]), x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [2 * X[0] + X[1], X[0] + X[2], X[1]])


def test_one_array_that_is_given_twice_is_one():
    def f(x, a, b):
        return (x * b * (5.0 if a is b else 1.0)).sum()

    def stores(x, a, b):
        a[0] = 5.0
        return (x * b).sum()

    x, w = gs.tensor(X, requires_grad=True), np.ones(3)
    recorded(f)(x, w, w).backward()
    assert x.grad.tolist() == [5, 5, 5]
    with pytest.raises(AliasingError, match="shares memory with another one"):
        recorded(stores)(x, w, w[:])


def changes_a_tensor(x, others):
    x *= 2.0
    return x.sum()


def changes_an_array(x, others):
    others["a"][0] = 5.0
    return x.sum()


def changes_a_list(x, others):
    others["l"].append(x[0])
    return x.sum()


def changes_a_dict(x, others):
    others["n"] = x[0]
    return x.sum()


@pytest.mark.parametrize(
    "function", [changes_a_tensor, changes_an_array, changes_a_list, changes_a_dict]
)
def test_what_is_given_is_not_changed_unseen(function):
    x = gs.tensor(X, requires_grad=True)
    others = {"a": np.ones(3), "l": [], "n": 1.0}
    with pytest.raises(AliasingError, match="changes what it is given"):
        recorded(function)(x * 1.0, others)
    assert others["l"] == [] and others["n"] == 1.0 and others["a"][0] == 1.0


class Cell:
    def __init__(self):
        self.state, self.log = 0.0, []

    def step(self, x):
        self.state = 0.9 * self.state + x.sum()
        return self.state * x[0]

    def logged(self, x):
        value = x.sum()
        self.log.append(gs.stop_gradient(value))
        return value * x[0]

    def in_a_cycle(self, x):
        def total(n):
            return x.sum() if n == 0 else total(n - 1) + x[0]

        return total(2)


def test_what_is_kept_for_later_calls_does_not_lose_its_derivative_unseen():
    x, cell = gs.tensor(X, requires_grad=True), Cell()
    with pytest.raises(UnsupportedError, match="stores outside what is differentiated"):
        recorded(cell.step)(x)
    recorded(cell.logged)(x).backward()
    assert cell.log == [np.sum(X)]
    for _ in range(2):
        recorded(cell.in_a_cycle)(x).backward()


@pytest.mark.parametrize("name", ["item", "tolist"])
def test_what_cuts_a_derivative_of_tensors_alone_is_refused(name):
    x = gs.tensor(X, requires_grad=True)

    def scaled(x):
        found = getattr(x if name == "tolist" else x.sum(), name)()
        return x[0] * (found[0] if name == "tolist" else found)

    with pytest.raises(UnsupportedError, match=f"`{name}` means one thing for Tensors"):
        recorded(scaled)(x)
    recorded(lambda x, y: x[0] * y.tolist()[0])(x, X).backward()
    assert x.grad.tolist() == [X[0], 0, 0]
