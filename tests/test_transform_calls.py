"""Inside compiled functions, `gs.grad` and its kind: programs that use their own derivatives."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

X = np.array([0.3, -1.0, 0.8, 1.2])


def product_of_sines(x):
    result = 1.0
    for xi in x:
        if xi > 0:
            result = result * np.sin(xi)
    return result


def gradient_norm(x):
    g = gs.grad(lambda y: np.sum(np.tanh(y) ** 3))(x)
    return np.sum(g * g)


cubes = gs.grad(lambda x: np.sum(x**3))


def gradient_made_outside(x):
    return np.sum(cubes(x) * x)


def closure_over_an_argument(x):
    return np.sum(gs.grad(lambda y: np.sum(x * y**2))(x))


def gradient_by_several_arguments(x):
    d_b, d_a = gs.grad(lambda a, b: np.sum(a**2 * b), (1, 0))(x, 2 * x)
    return np.sum(d_a * d_b)


def value_and_gradient_in_a_dict(x):
    value, d = gs.value_and_grad(lambda p: np.sum(p["a"] ** 2) * p["b"])({"a": x, "b": 3.0})
    return value + np.sum(d["a"]) + d["b"]


def gradient_with_aux(x):
    d, aux = gs.grad(lambda y: (np.sum(y**3), y * 2), has_aux=True)(x)
    return np.sum(d * aux)


def second_derivative(x):
    return gs.grad(gs.grad(lambda y: y**3 * x[0]))(x[1])


def tangent_through_a_loop(x):
    return np.sum(gs.jvp(product_of_sines, (x,), (x * x,))[1] * x)


def pullback(x):
    out, pull = gs.vjp(lambda y: np.tanh(y) * x, x)
    return np.sum(pull(x)[0] * out)


def pullback_in_a_loop(x):
    out, pull = gs.vjp(product_of_sines, x)
    total = out
    for xi in x:
        total = total + np.sum(pull(xi)[0] ** 2)
    return total


def pullback_called_twice(x):
    _, pull = gs.vjp(lambda y: np.tanh(y) * x, x)
    return np.sum(pull(x)[0] * pull(x * x)[0])


def pullback_of_a_dict(x):
    out, pull = gs.vjp(lambda p: p["a"] * p["b"], {"a": x, "b": 3.0})
    (d_p,) = pull(out)
    return np.sum(d_p["a"]) * d_p["b"]


def gradient_of_a_part_of_a_length_of_its_own(x):
    def inner(y):
        part = y[:2] if len(y) > 3 else y
        return np.sum(part**3)

    return np.sum(gs.grad(inner)(x) * x)


def hessian_times_vector(x):
    return np.sum(gs.hvp(lambda y: np.sum(y**4) * x[0], x, x))


def newton(x):
    root = 1.0 + x[0]
    for _ in range(2):
        root = root - (root**2 - 2.0) / gs.grad(lambda r: r**2 - 2.0)(root)
    return root


def gradient_of_a_rank_0_array(x):
    value, d = gs.value_and_grad(lambda y: np.asarray(np.sum(y**3)))(x)
    return value[()] * np.sum(d * x)


def power_sum(a, n):
    return a * a if n < 2 else power_sum(a, n - 1) + a * power_sum(a, n - 2)


def gradient_of_a_recursion_elsewhere(x):
    return np.sum(x) * gs.grad(power_sum)(2.0, 4)


PROGRAMS = [
    gradient_of_a_rank_0_array,
    gradient_of_a_recursion_elsewhere,
    gradient_norm,
    gradient_made_outside,
    closure_over_an_argument,
    gradient_by_several_arguments,
    value_and_gradient_in_a_dict,
    gradient_with_aux,
    second_derivative,
    tangent_through_a_loop,
    pullback,
    gradient_of_a_part_of_a_length_of_its_own,
    pullback_called_twice,
    pullback_of_a_dict,
    hessian_times_vector,
    newton,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_programs_with_inner_derivatives_are_differentiated_in_both_modes(f):
    gs.testing.check_grad(f, X)


def test_forward_mode_goes_through_the_gradient_of_a_loop():
    def f(x):
        g = gs.grad(product_of_sines)(x)
        return np.sum(g * g)

    gs.testing.check_grad(f, X, modes=("forward",), order=0)


def test_a_pullback_may_be_called_in_a_loop():
    gs.testing.check_grad(pullback_in_a_loop, X, modes=("forward",), order=0)


def test_the_function_of_a_pullback_runs_once(capsys):
    def shown(y):
        print("once")
        return y * y

    def f(x):
        out, pull = gs.vjp(shown, x)
        return pull(out)[0] + pull(x)[0]

    np.testing.assert_allclose(gs.jvp(f, (X,), (X,))[0], 2 * X**3 + 2 * X**2)
    assert capsys.readouterr().out == "once\n"


def test_reverse_mode_through_the_gradient_of_a_recursion_is_refused():
    def f(x):
        return gs.grad(lambda a: x * power_sum(a, 3))(2.0)

    with pytest.raises(errors.UnsupportedError, match="reverse mode through the gradient"):
        gs.grad(f)(1.0)


@pytest.mark.parametrize("length", [1, 5])
def test_a_tangent_is_as_long_as_its_primal(length):
    def f(x, t):
        return gs.jvp(np.sum, (x,), (t,))[1]

    gs.testing.check_grad(f, X, np.ones(4))
    with pytest.raises(errors.ArgumentError, match=r"a tangent of shape \(.,\) for a value of"):
        gs.vjp(f, X, np.ones(length))


def test_what_the_inner_function_stores_outside_belongs_to_the_program_around_it():
    def f(x):
        array, items = np.zeros(3), []

        def inner(y):
            array[0] = y**2
            items.append(y**3)
            return y * y

        return gs.grad(inner)(x) + array[0] + items[0]

    assert gs.value_and_grad(f)(2.0) == (4 + 4 + 8, 2 + 4 + 12)


def test_an_inner_function_without_a_number_as_result_is_refused_at_the_call():
    def f(x):
        return np.sum(gs.grad(lambda y: y * 2)(x))

    with pytest.raises(errors.NonScalarError) as caught:
        gs.grad(f)(X)
    assert "return np.sum(gs.grad(lambda y: y * 2)(x))" in str(caught.value)


def test_a_tensor_flows_through_inner_derivatives():
    x = gs.tensor(X, requires_grad=True)
    gs.differentiable(gradient_norm)(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), gs.grad(gradient_norm)(X))


def layer(w):
    return lambda z: np.tanh(z * w) * z[0]


def pullback_of_either(x):
    if x[0] > 0:
        out, pull = gs.vjp(layer(x), x)
    else:
        out, pull = gs.vjp(np.sin, x)
    return pull(out)[0] + pull(x)[0]


def pullback_or_a_function(x):
    pull = gs.vjp(layer(x[1]), x)[1] if x[0] > 0 else lambda v: (v,)
    return pull(x)[0]


def gradient_of_either(x):
    if x[0] > 0:
        slope = gs.grad(lambda z: np.sum(z**3) * x[0])
    else:
        slope = gs.jacobian(lambda z: np.sum(z**2) * x[1])
    return slope(x)


def pullbacks_in_a_list(x):
    pulls = []
    for i in range(3):
        pulls.append(gs.vjp(layer(x[i]), x)[1])
    return sum(pull(x)[0] for pull in pulls)


def pullback_that_reads_the_result(x):
    out, pull = gs.vjp(np.exp, x)
    return pull(out)[0] + out


def pullback_of_what_is_changed_later(x):
    y, w = x.copy(), x * 2
    out, pull = gs.vjp(layer(w), y)
    y[0], w[:] = 7.0, 0.0
    out *= 3
    return pull(x)[0] + y + out


def pullback_in_a_recursion(x):
    def apply(n, pull):
        return x if n == 0 else pull(apply(n - 1, pull))[0]

    return apply(3, gs.vjp(layer(x), x)[1])


def gradient_of_what_stores_to_its_argument(x):
    def squared_sum(z):
        z[1] = z[0] * z[2]
        z *= z
        return z.sum()

    return gs.grad(squared_sum)(x) * x


@pytest.mark.parametrize("x", [X, -X], ids=["x", "-x"])
@pytest.mark.parametrize(
    "f",
    [
        pullback_of_either,
        pullback_or_a_function,
        gradient_of_either,
        pullbacks_in_a_list,
        pullback_that_reads_the_result,
        pullback_of_what_is_changed_later,
        pullback_in_a_recursion,
        gradient_of_what_stores_to_its_argument,
    ],
)
def test_derivatives_are_values_like_others(f, x):
    def plain(x):
        return f(x.copy())

    out, tangent = gs.jvp(f, (x,), (X,))
    np.testing.assert_allclose(out, plain(x), rtol=1e-12)
    difference = (plain(x + 1e-6 * X) - plain(x - 1e-6 * X)) / 2e-6
    np.testing.assert_allclose(tangent, difference, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(gs.jacrev(f)(x) @ X, tangent, rtol=1e-10)


def test_a_pullback_made_in_a_loop_is_not_called_after_it():
    def f(x):
        for i in range(2):
            out, pull = gs.vjp(layer(x[i]), x)
        return pull(out)[0]

    with pytest.raises(errors.UnsupportedError, match="`pull` is set in a loop"):
        gs.jvp(f, (X,), (X,))


def scaled_by_a_default(x, by=3.0):
    return np.sum(x**2 * by)


def scaled_by_a_keyword(x, *, by=2.0):
    return np.sum(x**3) * by


def to_a_power(x, n):
    return np.sum(x**n)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(gs.grad(scaled_by_a_default, argnums=-1)(x, 3.0)),
        lambda x: np.sum(gs.grad(scaled_by_a_default, argnums=-2)(x, 3.0)),
        lambda x: np.sum(gs.grad(scaled_by_a_keyword, argnums=-1)(x)),
        lambda x: np.sum(gs.jacobian(lambda *args: args[-1] ** 2, argnums=-1)(x, x)),
    ],
)
def test_negative_argnums_are_counted_from_the_last_parameter(f):
    for options in ({}, {"compile": "auto"}, {"compile": False}):
        value, gradient = gs.value_and_grad(f, **options)(X)
        assert value == pytest.approx(f(X))
        difference = (f(X + 1e-6 * X) - f(X - 1e-6 * X)) / 2e-6
        assert gradient @ X == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("argnums", [1, (0, 1)])
def test_an_integer_is_no_argument_of_a_gradient_within_a_function(argnums):
    def f(x):
        return np.sum(x) + 0 * len(str(gs.grad(to_a_power, argnums=argnums)(x, 3)))

    with pytest.raises(errors.ArgumentError, match="nothing to differentiate"):
        gs.grad(f)(X)


@pytest.mark.parametrize("argnums", [(1, 0), (0,), (-1,), [0]])
def test_gradients_in_another_order_are_differentiated_in_a_function(argnums):
    gradient = gs.grad(lambda x, y: np.sum(x**3 * y) + np.sum(y**2), argnums=argnums)
    for transform in (lambda g: gs.vjp(g, X, X), lambda g: gs.jvp(g, (X, X), (X, X))):
        with pytest.raises(errors.ArgumentError, match="differentiated itself"):
            transform(gradient)
        found, _ = transform(lambda x, y: gradient(x, y))
        for part, expected in zip(found, gradient(X, X), strict=True):
            np.testing.assert_allclose(part, expected)
