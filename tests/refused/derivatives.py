"""What has no derivative, or none of the order that is asked for."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.errors import ArgumentError, NoDerivativeError, NonScalarError
from tests.refused import refused, refused_when_run

VECTOR = np.array([0.5, 1.5, 2.5])


def power_sum(a, n):
    return a * a if n < 2 else power_sum(a, n - 1) + a * power_sum(a, n - 2)


def power(a, n):
    result = a
    for _ in range(n):
        result = result * a
    return result


@refused("`sign` of complex numbers cannot be differentiated", VECTOR)
def directions(x):
    return np.sign(x * 1j).imag


@refused(
    "no derivative is known of `choice` with respect to its arguments",
    VECTOR,
    kind=NoDerivativeError,
)
def bootstrap(x):
    return np.random.default_rng(0).choice(x, 5)


@refused_when_run("a list with integers is put where numbers with derivatives may be")
def pairs_of_both_kinds():
    def chosen(x, n):
        rows = [[(v, k) for k, v in enumerate(x)], [(v, v) for v in x]]
        return rows[n][0][1]

    gs.jvp(chosen, (VECTOR, 1), (VECTOR, 0))


@refused("reverse mode through the gradient of a recursive function", 2.0)
def gradient_of_the_gradient_of_a_recursion(x):
    return gs.grad(lambda a: power_sum(a, 3))(x)


@refused_when_run(
    "`noisy` draws random numbers, or calls code that cannot be read, and might get others for its "
    "derivatives of higher order"
)
def second_derivative_of_draws():
    def noisy(x):
        return np.sum(x**2 * np.random.normal(size=3))

    x = gs.tensor(VECTOR, requires_grad=True)
    (gradient,) = gs.autograd.grad(gs.differentiable(noisy)(x), x, create_graph=True)
    gradient.sum().backward()


# -- gradients -----------------------------------------------------------------------------------


@refused_when_run(
    "the gradient of `doubled` needs one real number as its result, not float64[:]", NonScalarError
)
def gradient_of_an_array():
    def doubled(x):
        return 2 * x

    gs.grad(doubled)(VECTOR)


@refused_when_run(
    "the inner gradient is not one real number, so it has no gradient itself", NonScalarError
)
def gradient_of_many_gradients():
    gs.grad(gs.grad(lambda x: np.sum(x**3)))(VECTOR)


@refused_when_run("`grad_power` returns a pair, which has no gradient", NonScalarError)
def gradient_of_value_and_gradient():
    gs.grad(gs.value_and_grad(power))(2.0, 3)


@refused_when_run("`power` does not return a pair", ArgumentError)
def no_auxiliary_value():
    gs.grad(power, has_aux=True)(2.0, 3)


@refused_when_run(
    "argument `n` of `power` has nothing to differentiate: it is of type int", ArgumentError
)
def gradient_by_an_integer():
    gs.grad(power, argnums=1)(2.0, 3)


@refused_when_run(
    "the result of `doubled` is no single number, so its gradient needs a cotangent", ArgumentError
)
def specialized_gradient_of_an_array():
    def doubled(x):
        return 2 * x

    gs.differentiable(doubled).specialize(VECTOR).gradient(VECTOR)
