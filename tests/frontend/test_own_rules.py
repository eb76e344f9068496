"""Operations of the user's own: `@gs.primitive` and its rules, in both modes and on Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

x = np.linspace(0.5, 2, 5)


@gs.primitive
def expit(x):
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


@expit.adjoint
def _(out, x, *, d_out):
    return d_out * out * (1 - out)


@gs.primitive
def product(x, y):
    return x * y


@product.adjoint
def _(out, x, y, *, d_out):
    return d_out * y, d_out * x


@product.tangent
def _(out, x, y, *, d_x, d_y):
    return d_x * y + x * d_y


@gs.primitive
def repeated(n, x):
    return np.zeros((n, len(x))) + x


@repeated.adjoint
def _(out, n, x, *, d_out):
    return None, d_out.sum(0)


@gs.primitive
def power(x, k=2):
    return np.array([v**k for v in x.tolist()])


@power.adjoint
def _(out, x, k, *, d_out):
    return np.asarray([k * a ** (k - 1) * b for a, b in zip(x.tolist(), d_out.tolist())])


@gs.primitive
def smallest_eigenvalue(a):
    return np.linalg.eigvalsh(a)[0]


@smallest_eigenvalue.like
def _(a):
    return a[0, 0]


@smallest_eigenvalue.adjoint
def _(out, a, *, d_out):
    v = np.linalg.eigh(a)[1][:, 0]
    return d_out * np.outer(v, v)


def once(x):
    return np.sum(expit(x) * x)


def in_a_loop(x):
    y = x
    for _ in range(3):
        y = product(y, x) + expit(y)
    return np.sum(y)


def in_a_branch(x):
    if np.sum(x) > 1:
        return np.sum(product(x, x))
    return expit(x[0])


def with_integers(x):
    return np.sum(repeated(3, x) * x) + product(x[0], 2.0)


def gradient_inside(x):
    return np.sum(gs.grad(lambda v: np.sum(expit(v)))(x))


def of_numbers(x):
    return product(x[0], x[1]) * expit(x[2])


@pytest.mark.parametrize(
    "function", [once, in_a_loop, in_a_branch, with_integers, gradient_inside, of_numbers]
)
def test_rules_are_used_in_both_modes_and_twice(function: Any) -> None:
    assert gs.vjp(function, x)[0] == function(x)
    gs.testing.check_grad(function, x)


@pytest.mark.parametrize("function", [once, in_a_loop, with_integers, of_numbers])
def test_eager_and_compiled_tensors_agree(function: Any) -> None:
    gradients = []
    for called in (function, gs.differentiable(function)):
        t = gs.tensor(x, requires_grad=True)
        called(t).backward()
        gradients.append(t.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-14)


def test_a_rule_that_cannot_be_compiled_is_called() -> None:
    def f(x):
        return np.sum(power(x, 3) * x)

    np.testing.assert_allclose(gs.grad(f)(x), 4 * x**3)
    np.testing.assert_allclose(gs.jvp(f, (x,), (x,))[1], np.sum(4 * x**4))


def test_a_stand_in_tells_the_type() -> None:
    a = np.diag([3.0, 1.0, 2.0])
    np.testing.assert_allclose(gs.grad(smallest_eigenvalue)(a), np.diag([0.0, 1.0, 0.0]))


def test_an_operation_without_rule_is_refused_where_it_is_called() -> None:
    @gs.primitive
    def step(x):
        return np.floor(x)

    with pytest.raises(errors.NoDerivativeError, match=r"give it one by `@step.adjoint`") as raised:
        gs.grad(lambda x: np.sum(step(x)))(x)
    assert "np.sum(step(x))" in str(raised.value)
    assert gs.grad(lambda x: np.sum(x * gs.stop_gradient(step(x))))(x).shape == (5,)


def test_emitted_code_calls_the_operation() -> None:
    source = gs.differentiable(once).specialize(x).gradient_source
    assert "t = expit(x)" in source
    assert expit.__doc__ == "The logistic function."


def test_an_operation_is_a_function_of_its_own() -> None:
    assert expit(0.0) == 0.5
    assert gs.grad(expit)(0.0) == 0.25


def test_a_primitive_has_named_parameters() -> None:
    with pytest.raises(errors.ArgumentError, match="variable number of arguments"):
        gs.primitive(lambda *xs: xs)


@gs.primitive
def named_as_rules_are(x, out, d_out, d_x, apply, *, rule=1.0):
    return x * out * d_out * d_x * apply * rule


@named_as_rules_are.adjoint
def _(result, *factors, d_out):
    return tuple(d_out * result / factor for factor in factors)


@gs.primitive
def with_tangents(x, d_x):
    return x * d_x


@with_tangents.tangent
def _(result, x, other, *, d_x, d_d_x):
    return d_x * other + x * d_d_x


def test_parameters_may_have_the_names_that_rules_use():
    def program(x):
        return np.sum(named_as_rules_are(x, x**2, d_out=x / 2, d_x=x, apply=3.0, rule=x))

    gs.testing.check_grad(program, x, order=1)
    np.testing.assert_allclose(gs.grad(program)(x), 9 * x**5)
    leaf = gs.tensor(x, requires_grad=True)
    named_as_rules_are(leaf, 2.0, d_out=1.0, d_x=leaf, apply=1.0).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), 4 * x)
    out, tangent = gs.jvp(lambda x: np.sum(with_tangents(x, x * 2)), (x,), (np.ones(5),))
    np.testing.assert_allclose((out, tangent), (np.sum(2 * x * x), np.sum(4 * x)))


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.sum(longer(y, x)),
        lambda x, y: np.sum(longer(x[x > 0.9], y[y > 1.9])),
        lambda x, y: np.sum(longer(np.concatenate([y, x]), x[1:])),
        lambda x, y: np.sum(longer(np.repeat(x, 3), np.repeat(y, 2))),
    ],
)
def test_examples_are_equally_long_where_arguments_are(function: Any, compile: Any) -> None:
    """A body in C without bounds checks reads beyond the end of an array that is too short."""
    x, y = np.linspace(0.5, 2, 4), np.linspace(1.5, 3, 4)
    value, gradient = gs.value_and_grad(function, argnums=(0, 1), compile=compile)(x, y)
    assert value == function(x, y)
    step = 1e-6 * np.ones(4)
    found = np.sum(gradient[0] * step) + np.sum(gradient[1] * step)
    assert found == pytest.approx(function(x + step, y + step) - value, rel=1e-4)


@gs.primitive
def longer(x, y):
    if len(x) < len(y):  # of code in C: memory of others, or the end of the process
        pytest.fail(f"{len(x)} numbers are read as {len(y)}")
    return x[: len(y)] * y


@longer.adjoint
def _(out, x, y, *, d_out):
    d_x = np.zeros_like(x)
    d_x[: len(y)] = d_out * y
    return d_x, d_out * x[: len(y)]
