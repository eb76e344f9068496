"""Recursive functions: called in the emitted code, and differentiated to second order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.ir.core import Function, callees
from gradscribe.ir.verifier import verify
from tests.interpreter import run
from tests.sampling import is_one_in

WEIGHTS = np.array([[0.5, -0.25, 0.1], [0.3, 0.8, -0.4], [-0.2, 0.6, 0.9]])
BIAS = np.array([0.1, -0.2, 0.3])


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def product(x):
    if len(x) == 1:
        return x[0]
    h = len(x) // 2
    return product(x[:h]) * product(x[h:])


def conditional(x, n):
    return x if n <= 0 else np.sin(conditional(x * 1.1, n - 1)) + x


def fibonacci_like(x, n):
    if n < 2:
        return x * (n + 1)
    return np.tanh(fibonacci_like(x, n - 1)) + fibonacci_like(0.5 * x, n - 2)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def scaled_by_an_integer(x, n):
    return x**2 * fibonacci(n)


def through_a_helper(x, n):
    if n == 0:
        return x
    return helper(x * 0.7, n)


def helper(y, n):
    z = np.cos(y)
    return z * through_a_helper(y + z, n - 1)


def is_even(x, n):
    return x if n == 0 else is_odd(x * 1.5, n - 1)


def is_odd(x, n):
    return -x * x if n == 0 else is_even(x + 1.0, n - 1)


def mutual_twice(x, n):
    if n == 0:
        return x
    return mutual_once(x, n - 1) + mutual_twice(x * 0.5, n - 1)


def mutual_once(x, n):
    if n == 0:
        return x * x
    return mutual_twice(x * 0.9, n - 1) * mutual_once(x * 0.8, n - 1)


def reversed_array(x):
    if len(x) < 2:
        return x
    return np.concatenate([reversed_array(x[1:]), x[:1] * x[:1]])


def same_shape(x, n):
    if n == 0:
        return x * x
    y = same_shape(x * 0.5, n - 1)
    return y + x * np.sin(y)


def pair(x, y, n):
    if n == 0:
        return x, y
    a, b = pair(y, x * y, n - 1)
    return a * b, b + x


def in_a_loop(x, n):
    if n == 0:
        return x
    total = 0.0
    for i in range(2):
        total = total + in_a_loop(x * (0.3 + 0.1 * i), n - 1)
    return np.sin(total)


def in_nested_loops(x, n):
    if n == 0:
        return np.sum(x * x)
    total = 0.0
    for i in range(2):
        for j in range(i + 1):
            total = total + in_nested_loops(x * (0.3 + 0.1 * i - 0.2 * j), n - 1) * (j + 1)
    return np.sin(total)


def with_a_loop_inside(x, n):
    if n == 0:
        return np.sum(x)
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1]
    return with_a_loop_inside(y, n - 1) + y[0]


def accumulating(x, total):
    if len(x) == 0:
        return total
    return accumulating(x[1:], total + x[0] * x[0])


def from_an_integer(x):
    return accumulating(x, 0.0)


def layers(x, n):
    if n == 0:
        return x
    return np.tanh(layers(x, n - 1) @ WEIGHTS + BIAS)


SQUEEZE = np.array([[0.5, -0.25, 0.1], [0.3, 0.8, -0.4]])
ROW = np.array([[0.4, 0.7]])


def captured_of_other_shapes(x, n):
    """x has as many elements as SQUEEZE has rows."""
    if n == 0:
        return x * ROW[0]
    wide = np.tanh(x @ SQUEEZE + BIAS)
    return captured_of_other_shapes(SQUEEZE @ wide * ROW[0], n - 1) + x


def returns_what_it_captures(x, n):
    if n == 0:
        return BIAS
    y = returns_what_it_captures(x, n - 1)
    return y * x + BIAS


def closure(x, k):
    def go(y, n):
        if n == 0:
            return x
        return x * y + go(y * x, n - 1)

    return go(x, k) + go(2.0 * x, 2)


def with_a_function(x, n):
    return applied(lambda y: np.sin(y) * x, x, n)


def applied(f, x, n):
    return x if n == 0 else f(applied(f, x, n - 1))


def over_a_structure(x):
    return tree_sum((x, (x * 2.0, (x[0] * x[1], x))))


def tree_sum(tree):
    if isinstance(tree, tuple):
        return tree_sum(tree[0]) + tree_sum(tree[1])
    return np.sum(np.sin(tree))


def broadcast(x, y):
    """x has one element or as many as y, which the types do not tell."""
    if len(y) <= 2:
        return np.sum(x * y)
    h = len(y) // 2
    return broadcast(x[:h], y[:h]) * broadcast(x[-1:], y[h:])


def sine_of_a_number(x, n):
    return np.sin(power(np.sin(x) + x, n)) * power(x, 2)


def with_default(x, n=4, scale=0.9):
    return x if n == 0 else scale * x * with_default(x, n - 1)


def checked(x, n):
    if n < 0:
        raise ValueError("n is negative")
    if n == 0:
        return x
    return x * checked(x, n - 1)


def integral(a, b, depth):
    """Adaptive in form: the same quadrature on both halves, combined."""
    m = 0.5 * (a + b)
    whole = (b - a) / 6 * (math.exp(-a * a) + 4 * math.exp(-m * m) + math.exp(-b * b))
    if depth == 0 or abs(whole) < 1e-3:
        return whole
    return integral(a, m, depth - 1) + integral(m, b, depth - 1)


def determinant(a):
    n = len(a)
    if n == 1:
        return a[0, 0]
    rest = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    return a[0, 0] * determinant(rest)


def transform(x):
    """Haar's wavelets, all levels."""
    if len(x) == 1:
        return x
    low, high = (x[0::2] + x[1::2]) * 0.5, (x[0::2] - x[1::2]) * 0.5
    return np.concatenate([transform(low * low), high])


class Net:
    def __init__(self) -> None:
        self.weights = WEIGHTS
        self.scale = 0.7

    def walk(self, x, n):
        if n == 0:
            return x
        return np.tanh(self.weights @ self.walk(x, n - 1)) * self.scale


NET = Net()


def method(x):
    return NET.walk(x, 3)


def with_or(x, n):
    if n == 0 or abs(x) < 1e-3:
        return x
    return x * with_or(x * 0.5, n - 1)


def in_a_while_loop(x, n):
    if n == 0:
        return x
    t = x
    while t > 0.5:
        t = t * 0.7 + in_a_while_loop(x, n - 1) * 0.01
    return t * x


def stored_in_a_loop(x, n):
    if n == 0:
        return x * 1.0
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.sum(stored_in_a_loop(x[i : i + 1], n - 1)) * x[i]
    return y


def argument_changes_after_the_call(x, n):
    if n == 0:
        return x * x
    y = x * 2.0
    z = argument_changes_after_the_call(y, n - 1)
    y[0] = 3.0 * y[0]
    return y * z


def result_is_stored_to(x, n):
    if n == 0:
        return x * 1.0
    y = result_is_stored_to(x, n - 1)
    y[0] = y[0] * x[1]
    return y


def of_a_list(x):
    return sum_of_list([x, x * 2, x * 3])


def sum_of_list(xs):
    if len(xs) == 0:
        return 0.0
    return np.sum(xs[0]) ** 2 + sum_of_list(xs[1:]) * xs[0][0]


def to_a_list(x):
    total = 0.0
    for item in multiples(x, 3):
        total = total + item * item
    return total


def multiples(x, n):
    if n == 0:
        return []
    items = multiples(x, n - 1)
    items.append(x * n)
    return items


def dictionary(x, n):
    if n == 0:
        return {"a": x, "b": (x * 2, None)}
    below = dictionary(x * 0.5, n - 1)
    return {"a": below["a"] * x, "b": (below["b"][0] + x, None)}


def alternating(x, n, negative=False):
    if n == 0:
        return -x if negative else x
    return x * alternating(x, n - 1, not negative)


def with_none(x, n, weight=None):
    if n == 0:
        return x if weight is None else x * weight
    return with_none(x, n - 1, weight=x if weight is None else weight * x)


def with_rest(x):
    return takes_rest(x, 2, 0.3, 0.4)


def takes_rest(x, n, *rest):
    return x * rest[0] if n == 0 else takes_rest(x * 0.9, n - 1, *rest) * rest[1]


factorial = lambda x, n: x if n == 0 else x * n * factorial(x, n - 1)


def without_else(x, n):
    if n > 0:
        y = without_else(x * 0.9, n - 1)
        x = x + y
    return x


def returns_in_a_loop(x, n):
    for i in range(3):
        if n <= i:
            return x * (i + 1)
        x = x + 0.1 * returns_in_a_loop(x * 0.5, n - 1 - i)
    return x


def collatz(x, n):
    if n == 1:
        return x
    return collatz(x * 0.5, n // 2) if n % 2 == 0 else collatz(x + 0.3, 3 * n + 1)


def matrix_power(a, n):
    if n == 0:
        return np.eye(len(a))
    if n % 2:
        return a @ matrix_power(a, n - 1)
    half = matrix_power(a, n // 2)
    return half @ half


def quadrants(a):
    if a.shape[0] <= 1:
        return a.sum()
    h = a.shape[0] // 2
    return quadrants(a[:h, :h]) * quadrants(a[h:, h:]) + a[:h, h:].mean()


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def by_ackermann(x):
    return x ** ackermann(2, 1)


def inner_recursion(x, n):
    if n == 0:
        return x
    return power(inner_recursion(x, n - 1), n) + x


def partly_of_constants(x, y, n):
    """Some calls, and some of what the record holds, do not depend on the arguments."""
    if n <= 0:
        return np.tanh(y - x) / (2.0 + x**2), np.exp(-(x**2)) + y * 0.3
    s = x * 1.0
    for i in range(2):
        _, b = partly_of_constants(1.3, y / (2.0 + 1.3**2), n - 1)
        a, _ = partly_of_constants(1.3, 0.2, n - 2)
        s = s * 0.5 + a * b * (i + 1)
    return np.exp(-(s**2)) + x * 0.1, x / (2.0 + 1.3**2) + y * 0.3


RNG = np.random.default_rng(0)
VECTOR = RNG.uniform(0.5, 1.5, size=5)
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (power, (1.3, 5)),
    (power, (np.float64(1.3), 5)),
    (product, (VECTOR,)),
    (conditional, (0.4, 3)),
    (conditional, (VECTOR, 3)),
    (fibonacci_like, (0.8, 5)),
    (scaled_by_an_integer, (1.2, 7)),
    (through_a_helper, (0.6, 3)),
    (is_even, (0.6, 3)),
    (is_even, (0.6, 4)),
    (mutual_twice, (0.9, 4)),
    (reversed_array, (VECTOR,)),
    (same_shape, (VECTOR, 3)),
    (same_shape, (VECTOR.reshape(1, 5), 2)),
    (pair, (0.7, 1.2, 3)),
    (pair, (VECTOR, 0.5 + VECTOR, 2)),
    (in_a_loop, (0.8, 3)),
    (in_nested_loops, (VECTOR, 2)),
    (with_a_loop_inside, (VECTOR, 2)),
    (accumulating, (VECTOR, 0.5)),
    (from_an_integer, (VECTOR,)),
    (layers, (VECTOR[:3], 2)),
    (captured_of_other_shapes, (VECTOR[:2], 2)),
    (returns_what_it_captures, (VECTOR[:3], 2)),
    (closure, (0.7, 3)),
    (with_a_function, (0.7, 3)),
    (over_a_structure, (VECTOR,)),
    (broadcast, (VECTOR, VECTOR[::-1].copy())),
    (sine_of_a_number, (0.9, 3)),
    (with_default, (0.9,)),
    (checked, (0.9, 3)),
    (integral, (0.0, 1.5, 3)),
    (determinant, (RNG.normal(size=(4, 4)) + 3 * np.eye(4),)),
    (method, (VECTOR[:3],)),
    (with_or, (1.2, 4)),
    (in_a_while_loop, (1.1, 2)),
    (stored_in_a_loop, (VECTOR[:2], 2)),
    (argument_changes_after_the_call, (VECTOR, 2)),
    (result_is_stored_to, (VECTOR, 2)),
    (of_a_list, (VECTOR,)),
    (to_a_list, (np.float64(1.1),)),
    (dictionary, (0.8, 2)),
    (alternating, (1.1, 3)),
    (with_none, (1.1, 3)),
    (with_rest, (1.1,)),
    (factorial, (1.1, 3)),
    (without_else, (0.9, 3)),
    (returns_in_a_loop, (0.9, 4)),
    (collatz, (0.9, 6)),
    (matrix_power, (RNG.uniform(0.2, 0.8, size=(3, 3)), 5)),
    (quadrants, (RNG.uniform(0.5, 1.5, size=(4, 4)),)),
    (by_ackermann, (1.1,)),
    (inner_recursion, (0.6, 3)),
    (partly_of_constants, (0.6, 0.9, 2)),
    (transform, (RNG.normal(size=8),)),
]
NAMES = [f"{f.__name__}-{number}" for number, (f, _) in enumerate(PROGRAMS)]
EACH = pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)


def assert_same_bits(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same_bits(one, other)
        return
    np.testing.assert_array_equal(found, expected, strict=isinstance(expected, np.ndarray))


@EACH
def test_values_are_those_of_python(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    expected = f(*args)
    assert_same_bits(gs.differentiable(f).specialize(*args).forward(*args)[0], expected)


@EACH
def test_both_modes_and_the_second_order_agree_with_each_other_and_with_differences(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    gs.testing.check_grad(f, *args, order=2 if is_one_in(2, f.__name__) else 1)


def called_by(*functions: Function) -> list[Function]:
    found = dict.fromkeys(callee for function in functions for callee in callees(function))
    return [callee.function for callee in found]


@EACH
def test_all_functions_keep_the_rules_of_the_ir(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    stages = gs.differentiable(f).specialize(*args).stages
    functions = [stages.primal, stages.forward, stages.adjoint, stages.gradient, stages.tangent]
    functions.append(stages.order(2))
    for function in (*functions, *called_by(*functions)):
        verify(function)


def test_the_ir_means_what_the_emitted_code_does() -> None:
    special = gs.differentiable(product).specialize(VECTOR)
    result, record = run(special.stages.forward, VECTOR)
    assert result == product(VECTOR)
    gradient = run(special.stages.adjoint, record, 1.0)
    np.testing.assert_array_equal(gradient, special.gradient(VECTOR))


def test_the_emitted_functions_call_themselves() -> None:
    special = gs.differentiable(power).specialize(2.0, 3)
    assert (
        special.forward_source
        == """\
def power_1_forward(x, n):
    branch = n == 0
    if branch:
        result = 1.0
        t = None
        record = None
    else:
        t, record = power_1_forward(x, n - 1)
        result = x * t
    return result, (x, branch, t, record)


def power_forward(x, n):
    t, record = power_1_forward(x, n)
    return t, record
"""
    )
    assert (
        special.tangent_source
        == """\
def power_1_tangent(x, n, d_x):
    if n == 0:
        result = 1.0
        d_result = 0.0
    else:
        t, t_1 = power_1_tangent(x, n - 1, d_x)
        result = x * t
        d_result = d_x * t + t_1 * x
    return result, d_result


def power_tangent(x, n, d_x):
    t, t_1 = power_1_tangent(x, n, d_x)
    return t, t_1
"""
    )


def test_one_specialization_serves_all_depths() -> None:
    gradient = gs.grad(power)
    for n in range(6):
        assert gradient(2.0, n) == pytest.approx(n * 2.0 ** (n - 1))


def test_an_adjoint_can_run_again() -> None:
    special = gs.differentiable(same_shape).specialize(VECTOR, 3)
    _, record = special.forward(VECTOR, 3)
    seed = np.ones(5)
    first = special.adjoint(record, seed)
    np.testing.assert_array_equal(special.adjoint(record, seed), first)
    np.testing.assert_array_equal(seed, 1.0)


def test_backward_through_a_decorated_function_that_calls_itself() -> None:
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    decorated_product(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [6.0, 3.0, 2.0])


@gs.differentiable
def decorated_product(x):
    if len(x) == 1:
        return x[0]
    return x[0] * decorated_product(x[1:])


def test_effects_happen_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    gs.value_and_grad(printing)(2.0, 2)
    assert capsys.readouterr().out == "at 2\nat 1\nat 0\n"


def printing(x, n):
    print("at", n)
    return x if n == 0 else x * printing(x, n - 1)


def test_exceptions_are_those_of_the_user() -> None:
    with pytest.raises(ValueError, match="n is negative"):
        gs.grad(checked)(1.0, -1)


def test_recursion_without_end_fails_as_in_python() -> None:
    with pytest.raises(RecursionError):
        gs.grad(power)(1.0, -1)


def test_to_third_order() -> None:
    x = gs.tensor(1.5, requires_grad=True)
    y = gs.differentiable(power)(x, 5)
    for expected in (5 * 1.5**4, 20 * 1.5**3, 60 * 1.5**2):
        (y,) = gs.autograd.grad(y, x, create_graph=True)
        assert y.item() == pytest.approx(expected)


# -- refusals ------------------------------------------------------------------------------------


def endless(x):
    return x * endless(x - 1.0)


def storing_the_result(x, n):
    if n == 0:
        return x
    y = storing_the_result(x, n - 1)
    y[0] = y[0] * 2.0
    return y


def without_a_base(x, n):
    """It ends where no iteration is made."""
    for i in range(n):
        x = x + without_a_base(x * 0.5, i)
    return x


def of_two_kinds(x, n):
    if n == 0:
        return x
    return (of_two_kinds(x, n - 1), x)


def growing(x, n):
    return 0.0 if n == 0 else growing((x, x), n - 1)


def growing_lists(x, n):
    for _ in range(2):
        if n > 0:
            x = growing_lists([x, x], n - 1)
    return 0.0


def growing_by_turns(x, n):
    return 0.0 if n == 0 else growing_in_turn((x, x), n - 1)


def growing_in_turn(x, n):
    return 0.0 if n == 0 else growing_by_turns((x, x, x), n - 1)


def longer_each_time(xs, n):
    return xs[-1] if n == 0 else longer_each_time((*xs, xs[-1] * 1.1), n - 1)


def turned_and_grown(x, n, a, b, c):
    if n == 0:
        return x
    if x > 2:
        return turned_and_grown(x * 0.5, n - 1, b, c, a)
    if x > 1:
        return turned_and_grown(x * 0.5, n - 1, a, (b,), c)
    return turned_and_grown(x, n - 1, (a, b), (c, c), c)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (growing, (1.0, 3)),
        (growing_lists, (1.0, 3)),
        (growing_by_turns, (1.0, 3)),
        (longer_each_time, ((1.0, 2.0), 3)),
        (turned_and_grown, (1.0, 3, 1.0, 2.0, 3.0)),
    ],
)
def test_arguments_that_grow_for_ever_are_refused_soon(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    with pytest.raises(UnsupportedError, match=r"ever other types|nested too deeply"):
        gs.grad(f)(*args)


def automaton(x, n, state):
    """Each state is a function of its own, which calls those of other states."""
    if n == 0:
        return x
    after = "bcdefghijka"["abcdefghijk".index(state)]
    if x < 0.5:
        return automaton(x * 1.1, n - 1, after)
    return automaton(np.cos(x), n - 1, "a") * automaton(x * x, n - 1, after)


def test_the_passes_over_functions_that_call_each_other_are_not_multiplied() -> None:
    gs.testing.check_grad(automaton, 0.3, 5, "a", order=1)


def test_a_recursion_ends_where_a_loop_makes_no_iteration() -> None:
    assert gs.vjp(without_a_base, 1.0, 3)[0] == without_a_base(1.0, 3)
    gs.testing.check_grad(without_a_base, 1.0, 3)


@pytest.mark.parametrize(
    ("f", "args", "kind", "message", "shown"),
    [
        (endless, (1.0,), UnsupportedError, "never returns", "endless(x - 1.0)"),
        (storing_the_result, (VECTOR, 2), AliasingError, "stores into `x`", "def storing_the"),
        (of_two_kinds, (1.0, 2), UnsupportedError, "", "of_two_kinds"),
    ],
)
def test_refusals_show_the_place(
    f: Callable[..., Any], args: tuple[Any, ...], kind: type[Exception], message: str, shown: str
) -> None:
    with pytest.raises(kind) as caught:
        gs.grad(f)(*args)
    text = str(caught.value)
    assert message in text
    assert "test_recursion.py" in text
    assert shown in text
    assert "^" in text


def bisected(low, high, root, n):
    middle = 0.5 * (low + high)
    if n == 0:
        return middle * root
    if middle**2 > root:
        return bisected(low, middle, root, n - 1)
    return bisected(middle, high, root, n - 1)


def test_only_what_is_active_in_some_call_gets_a_cotangent() -> None:
    gradient = gs.grad(lambda x: bisected(0.0, 4.0, x, 8))
    assert gradient(2.0) == gs.jvp(lambda x: bisected(0.0, 4.0, x, 8), (2.0,), (1.0,))[1]
    assert "d_root" in gradient.source
    assert "d_low" not in gradient.source
    assert "d_high" not in gradient.source


def shifted(a, b, c, n):
    return a * b + c if n == 0 else shifted(b, c, a * c, n - 1)


def test_what_a_recursion_hands_round_becomes_active() -> None:
    gs.testing.check_grad(lambda x: shifted(x, 2.0, 3.0, 5) + shifted(2.0, 3.0, 0.5, 2) * x, 0.7)


def test_one_function_differentiated_by_different_arguments() -> None:
    def function(x, y):
        slopes = gs.grad(shifted)(x, y, 2.0, 3) - gs.grad(shifted, argnums=1)(x, y, x, 3)
        return slopes * gs.grad(lambda c: y * shifted(x, y, c, 4))(0.5)

    slope = gs.jvp(function, (0.3, 0.7), (1.0, 0.0))[1]
    h = 1e-6
    difference = (function(0.3 + h, 0.7) - function(0.3 - h, 0.7)) / (2 * h)
    assert slope == pytest.approx(difference, rel=1e-7)


def in_parts(a, b, c, n):
    if n <= 0:
        return 0.52 * b, a + b, c + a
    if a > -0.16:
        d, e, _ = in_parts(1.38, 0.34, c * a, n - 1)
    else:
        d, e = a, b
    return c * 0.35, (c - 0.5 * e) * 0.7, a * d


def one_call_needs_the_tangent_of_its_record(x):
    _, _, last = in_parts(0.5, x[1], x[0], 3)
    _, first, second = in_parts(x[1], last, x[0], 1)
    return np.tanh(0.8 * first) + 2 * second + x[1]


CAPTURED = np.array([0.5, 1.2, 0.8])


def of_a_loop(a, b, c, n):
    if n <= 0:
        return np.sin(a), 0.75, b
    d, e = with_a_loop(np.tanh(a * b), a, b, n - 1)
    return d * e * (c + a), b, d


def with_a_loop(a, b, c, n):
    if n <= 0:
        return 0.86 * CAPTURED[n % 3], np.sin(0.47)
    e = c
    for i in range(2):
        _, e = in_a_branch(CAPTURED[n % 3] - 0.49, 1.29, c, n - 1 - i)
    return a * np.sin(e), CAPTURED[n % 3] * c + np.tanh(c * b)


def in_a_branch(a, b, c, n):
    if n <= 0:
        return a * c, b * 0.7
    if a > 0.21:
        _, e = in_a_branch(c, a * 0.7, b, n - 1)
    else:
        _, e = b, c
    return np.sin(a), e + 0.69


def no_record_of_a_call_has_a_tangent(x):
    first, _ = with_a_loop(0.61, x[0], x[0], 2)
    _, second, third = of_a_loop(0.77, x[0], first, 2)
    fourth, _, fifth = of_a_loop(second, x[1], 1.16, 1)
    return np.tanh(fourth * 0.7 * third * fifth) + np.tanh(0.55 * x[0])


@pytest.mark.parametrize(
    "function",
    [one_call_needs_the_tangent_of_its_record, no_record_of_a_call_has_a_tangent],
)
def test_second_derivatives_of_calls_that_are_active_in_part(function) -> None:
    gs.testing.check_grad(function, np.array([0.63, 0.41]))


def test_a_direction_that_does_not_reach_a_recursive_call_of_a_gradient() -> None:
    def slope(x):
        reached = gs.grad(lambda a: power(a * x, 2))(2.0)
        return gs.grad(lambda a: x * power(a, 3))(2.0) + reached

    assert gs.jvp(slope, (3.0,), (1.0,)) == (3.0 * 12.0 + 36.0, 12.0 + 24.0)


class Coupled:
    """A recursion that reads more of its object than its result may change in type."""

    def __init__(self):
        for number in range(15):
            setattr(self, f"c{number}", 0.1 * number + 0.2)

    def value(self, x, n):
        if n == 0:
            return x * self.c0 * self.c1 + self.c2 * self.c3 - self.c4
        below = self.value(x * self.c5 + BIAS * self.c6, n - 1)
        below = below * self.c7 + self.c8 * self.c9 + self.c10 * self.c11
        return np.tanh(WEIGHTS @ below) * self.c12 + self.c13 * self.c14


def test_a_recursion_reads_any_number_of_attributes() -> None:
    coupled = Coupled()
    gs.testing.check_grad(lambda x: np.sum(coupled.value(x, 3)), BIAS, order=1)


def either_side(p, q, r, k):
    if k <= 0:
        return np.tanh(np.outer(p, q)[:4][1, 2] + 0.75) * np.sum(p)
    t = either_side(np.sin(q), q, 0.5 * r, k - 1)
    for _ in range(2):
        p = np.tanh(np.dot((np.mean(p) * np.outer(p, q)[:4][0])[:4], np.outer(p, q)[:4]))
    return np.tanh(r) + np.sum(p * q)


def test_second_derivative_where_both_sides_record_arrays_of_one_shape() -> None:
    def function(x, s):
        return either_side(1.0 * x, np.cos(x), s, 2)

    gs.testing.check_grad(function, np.linspace(0.1, 0.5, 5), 0.7)


def spread(x, n):
    return x if n == 0 else spread(x.view_as(x) * x.std(), n - 1)


def test_methods_of_tensors_mean_those_in_recursive_functions() -> None:
    found = []
    for called in (spread, gs.differentiable(spread)):
        x = gs.tensor(BIAS, requires_grad=True)
        called(x, 3).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-13)
