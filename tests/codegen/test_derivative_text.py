"""Whole derivatives of small functions, as text: what an expert would write."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradscribe as gs
from tests.codegen.programs import block

x5 = np.linspace(-1.0, 2.0, 5)


def sources(function, *args, argnums=None):
    return gs.differentiable(function).specialize(*args, argnums=argnums)


def normalized(x, n):
    v = 1.0
    for _ in range(n):
        r = math.sqrt(x * x + v)
        x = x / r
        v = v + x * r
    return x + v


def test_what_an_iteration_records_is_one_tuple_in_forward_and_adjoint() -> None:
    found = sources(normalized, 0.5, 3, argnums=0)
    assert found.forward_source == block("""
        def normalized_forward(x, n):
            steps = []
            v = 1.0
            for _ in range(n):
                r = math.sqrt(x * x + v)
                steps.append((x, r))
                x /= r
                v += x * r
            return x + v, (x, steps)
        """)
    assert found.adjoint_source == block("""
        def normalized_adjoint(record, d_result):
            x, steps = record
            d_v = d_result  # for _ in range(n):
            d_x = d_result
            for x_1, r in reversed(steps):
                d_x += d_v * r  # v = v + x * r
                d_r = d_v * x
                d_x /= r  # x = x / r
                d_r -= d_x * x
                d_t = d_r * (0.5 / r if r else np.divide(0.5, r))  # r = math.sqrt(x * x + v)
                d_v += d_t
                d_x += d_t * (2 * x_1)
                x = x_1  # for _ in range(n):
            return d_x
        """)


def test_a_tangent_comes_before_the_statement_that_overwrites_what_it_reads() -> None:
    assert sources(normalized, 0.5, 3, argnums=0).tangent_source == block("""
        def normalized_tangent(x, n, d_x):
            v = 1.0
            d_v = 0.0
            for _ in range(n):
                r = math.sqrt(x * x + v)
                d_r = (2 * (d_x * x) + d_v) * (0.5 / r if r else np.divide(0.5, r))
                x /= r
                d_x = d_x / r - d_r * (x / r)
                d_v += d_x * r + d_r * x
                v += x * r
            return x + v, d_x + d_v
        """)


def shadowed(x, t):
    for _ in range(t):
        x = np.exp(x / (1 + x * x))
    return np.sum(x)


def test_temporaries_take_no_name_of_the_users() -> None:
    assert sources(shadowed, x5, 3, argnums=0).gradient_source == block("""
        def shadowed_gradient(x, t, d_result=1.0):
            steps = []
            for _ in range(t):
                steps.append(x)
                x = np.exp(x / (1 + x * x))

            d_x = np.full_like(x, d_result)  # return np.sum(x)
            for x_1 in reversed(steps):  # for _ in range(t):
                d_x *= x  # x = np.exp(x / (1 + x * x))
                t_1 = 1 + x_1 * x_1
                d_x /= t_1
                d_x -= d_x * (x_1 / t_1) * (2 * x_1)
                x = x_1  # for _ in range(t):
            return d_x
        """)


def adam(w, g, lr):
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 4):
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        w = w - lr * (m / (1 - 0.9**t)) / np.sqrt(v / (1 - 0.99**t))
    return np.sum(w)


def test_what_is_soon_computed_of_the_rest_is_not_recorded() -> None:
    source = sources(adam, x5, x5, 0.1).gradient_source
    assert "steps.append((m / (1 - 0.9**t), np.sqrt(v / (1 - 0.99**t))))" in source


def gate(W, x, c):
    for _ in range(3):
        c = c * (1.0 / (1.0 + np.exp(-(W @ x)))) + np.tanh(x)
    return np.sum(c)


def test_computing_again_takes_no_statement_for_what_is_a_part_of_another() -> None:
    lines = sources(gate, np.eye(5), x5, x5).gradient_source.splitlines()
    assert not [line for line in lines if line.strip().startswith(("t *=", "t_1 /=", "t /="))]


def search(values, target):
    for i, v in enumerate(values):
        if v > target:
            return v * i
    return -1.0


def test_cotangent_of_what_is_returned_in_a_loop_is_that_of_the_result() -> None:
    assert sources(search, x5, 1.0).gradient_source == block("""
        def search_gradient(values, target, d_result=1.0):
            iterations = 0
            for v in values:
                iterations += 1
                if v > target:
                    break

            d_values = np.zeros_like(values)  # for i, v in enumerate(values):
            for i in reversed(range(iterations)):
                v = values[i]  # if v > target:
                if v > target:
                    d_values[i] = d_result * i  # return v * i
            return d_values, 0.0
        """)


def squares(x):
    found = []
    for v in x:
        found.append(np.sin(v))
    return sum(found)


def test_a_list_that_grows_keeps_its_name() -> None:
    assert "d_found = [d_result] * len(found)" in sources(squares, x5).gradient_source


def solve(L, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    return np.sum(x)


def test_elements_are_read_where_they_are_needed() -> None:
    assert sources(solve, np.eye(3), np.ones(3)).gradient_source == block("""
        def solve_gradient(L, b, d_result=1.0):
            n = b.shape[0]
            x = np.zeros(n)
            undo = []
            for i in range(n):
                undo.append(x[i])
                x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]

            d_x = np.full_like(x, d_result)  # return np.sum(x)
            d_L = np.zeros_like(L)  # for i in range(n):
            d_b = np.zeros_like(b)
            for i, t in zip(reversed(range(n)), reversed(undo)):
                d_t = d_x[i]  # x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
                d_x[i] = 0.0
                d_t /= L[i, i]
                d_L[i, i] -= d_t * x[i]
                d_b[i] += d_t
                d_t = -d_t
                x[i] = t
                d_L[i, :i] += d_t * x[:i]
                d_x[:i] += d_t * L[i, :i]
            return d_L, d_b
        """)


def stencil(u, k, steps):
    n = len(u)
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(1, n - 1):
            c = np.exp(u[i])
            new[i] = c * np.sin(k * c)
        u = new
    return np.sum(u)


def test_nested_loops_share_one_stack_of_tuples() -> None:
    source = sources(stencil, x5, 0.1, 2).gradient_source
    assert "            steps_1.append((c, t))" in source.splitlines()
    assert "            c, t = steps_1.pop()" in source.splitlines()


def clamped(x, lo, hi):
    if x < lo:
        return lo * x
    if x > hi:
        return hi + x
    y = math.sin(x)
    return y * x


def test_a_gradient_computes_what_a_path_needs_on_that_path() -> None:
    assert sources(clamped, 0.5, 0.1, 2.0).gradient_source == block("""
        def clamped_gradient(x, lo, hi, d_result=1.0):
            if x < lo:
                d_hi = 0.0
                d_lo = d_result * x  # return lo * x
                d_x = d_result * lo
            else:
                d_lo = 0.0
                if x > hi:
                    d_hi = d_result
                    d_x = d_result
                else:
                    d_hi = 0.0
                    y = math.sin(x)
                    d_y = d_result * x  # return y * x
                    d_x = d_result * y
                    d_x += d_y * math.cos(x)  # y = math.sin(x)
            return d_x, d_lo, d_hi
        """)


def loss_or_penalty(x, bound):
    total = np.sum(x * x)
    if total > bound:
        return total * 2
    return bound


def test_derivatives_in_a_branch_say_which_test_of_the_program_they_belong_to() -> None:
    assert sources(loss_or_penalty, x5, 3.0).adjoint_source == block("""
        def loss_or_penalty_adjoint(record, d_result):
            x, branch = record
            if branch:  # if total > bound:
                d_bound = 0.0
                d_total = d_result * 2  # return total * 2
            else:
                d_total = 0.0
                d_bound = d_result
            d_x = d_total * 2 * x  # total = np.sum(x * x)
            return d_x, d_bound
        """)


def newton(a, b):
    x = 2.0
    for _ in range(20):
        fx = x**3 - a * x - b
        if abs(fx) < 1e-10:
            return x
        x = x - fx / (3 * x**2 - a)
    raise RuntimeError("no convergence")


def test_record_of_an_iteration_that_is_left_is_appended_before_the_break() -> None:
    assert sources(newton, 1.7, 0.6).forward_source == block("""
        def newton_forward(a, b):
            steps = []
            x = 2.0
            for _ in range(20):
                fx = x**3 - a * x - b
                if abs(fx) < 1e-10:
                    steps.append((x, True, None))
                    result = x
                    break
                t = fx / (3 * x**2 - a)
                steps.append((x, False, t))
                x -= t
            else:
                raise RuntimeError("no convergence")
            return result, (a, steps)
        """)


def test_iterations_are_counted_where_they_begin() -> None:
    assert sources(search, x5, 1.0).forward_source == block("""
        def search_forward(values, target):
            iterations = 0
            for i, v in enumerate(values):
                iterations += 1
                if v > target:
                    result = v * i
                    break
            else:
                result = -1.0
            return result, (values, target, iterations)
        """)


def orthogonal(A, steps):
    for _ in range(steps):
        Q, R = np.linalg.qr(A)
        A = R @ Q
    return np.trace(A)


def test_results_that_come_together_are_taken_apart_at_once() -> None:
    source = sources(orthogonal, np.eye(3) + 0.1, 2).gradient_source
    assert "Q, R = np.linalg.qr(A_1)" in source
    assert "steps_1.append((A_1, Q, R))" in source
    assert "t[0]" not in source


def measured(x, zs):
    H = np.array([[1.0, 0.5]])
    total = 0.0
    for z in zs:
        total += np.sin(z - (H @ x)[0])
        x = np.tanh(x)
    return total


def test_array_whose_lengths_are_known_is_not_recorded_for_its_shape() -> None:
    source = sources(measured, np.array([0.5, 0.25]), x5).gradient_source
    assert "np.zeros((1,))" in source
    assert "np.zeros_like(t" not in source


def of_unit_length(x):
    for _ in range(3):
        x = x / np.linalg.norm(x)
    return x


def test_a_number_that_is_tested_is_not_named_as_a_branch():
    text = sources(of_unit_length, x5).adjoint_source
    assert "/ (t or 1.0)" in text
    assert "branch" not in text


def payoff_of_living(S0, Z):
    S = S0 * Z[:, 0]
    alive = S < 95.0
    return np.mean(np.where(alive, np.maximum(S - 90.0, 0.0), 0.0))


def test_nothing_is_computed_for_its_size_alone() -> None:
    text = sources(payoff_of_living, 100.0, np.ones((4, 2)), argnums=0).gradient_source
    assert text.count("np.maximum(") == text.count("# return np.mean(np.where(alive, np.maximum(")


def weighted_and_squared(x, y):
    z = x * y
    return z @ z + np.sum(z * y)


def test_what_is_added_twice_is_doubled() -> None:
    assert sources(weighted_and_squared, x5, x5, argnums=0).gradient_source == block("""
        def weighted_and_squared_gradient(x, y, d_result=1.0):
            z = x * y

            d_z = d_result * y  # return z @ z + np.sum(z * y)
            d_z += 2 * d_result * z
            return d_z * y
        """)


def last_or_next(x, n):
    y = x
    for i in range(n):
        z = y * 2
        if np.sum(z) > 100.0:
            y = z
    return np.sum(y)


def test_what_a_branch_leaves_in_a_variable_is_computed_when_it_is_free() -> None:
    assert "d_y_1" not in sources(last_or_next, x5, 3, argnums=0).gradient_source


def grid(x):
    return np.sum(x * np.arange(4, -1, -1))


def test_bounds_of_arange_are_not_named() -> None:
    assert "np.arange(4, -1, -1)" in sources(grid, x5).gradient_source


def alternating(x, n):
    total = 0.0
    for k in range(n):
        total = total + x * (-2) ** k
    return total


def both_comparisons(x, low, high):
    return x * x if x > 1.0 and high < low else x * 3


def remainder(x, n):
    y = x
    for i in range(n):
        y = x * i - y
    return y


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (alternating, (1.5, 4)),
        (both_comparisons, (2.0, 0.0, 1.0)),
        (both_comparisons, (2.0, 3.0, 1.0)),
        (both_comparisons, (2.0, 5.0, 7.0)),
        (remainder, (2.0, 3)),
    ],
)
def test_the_text_means_what_the_operations_do(function, args) -> None:
    """Parentheses of powers, comparisons that are no chain, differences in place."""
    assert gs.value_and_grad(function)(*args)[0] == function(*args)
    gs.testing.check_grad(lambda x: function(x, *args[1:]), args[0])
