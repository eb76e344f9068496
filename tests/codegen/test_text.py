"""User programs come out as their authors wrote them, as far as the IR remembers."""

from __future__ import annotations

import ast
import math
import sqlite3
import sys
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.codegen.wrapping import wrap
from tests.codegen.programs import block, text_of

x5 = np.linspace(-1.0, 2.0, 5)
A45 = np.arange(20.0).reshape(4, 5) / 7


def mlp(params, x, y):
    (W1, b1), (W2, b2) = params
    h = np.tanh(x @ W1 + b1)
    r = h @ W2 + b2 - y
    return np.mean(r**2)


def test_named_values_are_statements_and_temporaries_are_folded() -> None:
    params = ((np.ones((4, 5)), np.ones(5)), (np.ones((5, 3)), np.ones(3)))
    assert text_of(mlp, params, np.ones((7, 4)), np.ones((7, 3))) == block("""
        def mlp(params, x, y):
            (W1, b1), (W2, b2) = params
            h = np.tanh(x @ W1 + b1)
            r = h @ W2 + b2 - y
            return np.mean(r**2)
        """)


def search(x, key):
    for v in x:
        if v > key:
            found = v
            break
    else:
        found = -1.0
    return found


def test_break_and_the_else_of_a_loop_are_found_again() -> None:
    assert text_of(search, x5, 0.5) == block("""
        def search(x, key):
            for v in x:
                if v > key:
                    found = v
                    break
            else:
                found = -1.0
            return found
        """)


def nested_return(a, bound):
    total = 0.0
    for row in a:
        for v in row:
            total += v
            if total > bound:
                return total * 2
    return total


@pytest.mark.parametrize("bound", [3.0, 1000.0])
def test_return_in_nested_loops_leaves_both(bound: float) -> None:
    assert text_of(nested_return, A45, bound) == block("""
        def nested_return(a, bound):
            total = 0.0
            for row in a:
                for v in row:
                    total += v
                    if total > bound:
                        result = total * 2
                        break
                else:
                    continue
                break
            else:
                result = total
            return result
        """)


def first_row(a, bound):
    count = 0
    for row in a:
        for v in row:
            if v > bound:
                break
        else:
            if row[0] < 0:
                break
            count += 1
        count += 10
    return count


@pytest.mark.parametrize("bound", [-1.0, 1.0, 1000.0])
def test_else_of_an_inner_loop_that_leaves_the_outer_one(bound: float) -> None:
    for sign in (1, -1):
        text_of(first_row, sign * A45, bound)


def found_twice(x, y, bound):
    seen = True
    for v in x:
        if v > bound:
            seen = False
            break
    for w in y:
        if not seen:
            break
    return seen, 1 if seen else 2


@pytest.mark.parametrize("bound", [0.5, 1000.0])
def test_a_flag_that_is_read_after_the_loop(bound: float) -> None:
    text_of(found_twice, x5, x5, bound)


def wander(x):
    n = 0
    while True:
        x /= 2
        n += 1
        if x < 0.1 or n > 20:
            break
    return x, n


def test_endless_loop_with_break() -> None:
    assert text_of(wander, 3.0) == block("""
        def wander(x):
            n = 0
            while True:
                x /= 2
                n += 1
                if x < 0.1 or n > 20:
                    break
            return x, n
        """)


def newton(a, tol):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


def test_condition_of_while_is_one_expression() -> None:
    assert text_of(newton, 2.0, 1e-3) == block("""
        def newton(a, tol):
            x = a
            while abs(x * x - a) > tol:
                x = 0.5 * (x + a / x)
            return x
        """)


def fibonacci(n, x):
    a, b = x, 1.0
    for _ in range(n):
        a, b = b, a + b
    return a


def test_carried_values_that_read_each_other_are_assigned_at_once() -> None:
    assert "        a, b = b, a + b\n" in text_of(fibonacci, 5, 0.5)


def heat(u, steps):
    un = np.zeros_like(u)
    for _ in range(steps):
        un[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, un = un, u
    return u


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_swapped_buffers_stay_swapped(steps: int) -> None:
    assert "        u, un = un, u\n" in text_of(heat, x5, steps)


def seidel(A, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A)


def test_stores_are_in_place_operations_again() -> None:
    text = text_of(seidel, A45[:, :4], 3)
    assert "A[i, j] += A[i, j - 1]\n" in text
    assert "A[i, j] /= 9.0\n" in text
    assert text.count("in range(1, n - 1):\n") == 2
    assert text.count("np.array(A)") == 1


def booleans(a, b):
    c = a and b
    d = a or b
    return c, d, not a, 0 < a < b < 10, a if a > b else b


@pytest.mark.parametrize("a, b", [(0.0, 2.0), (1.5, 0.0), (1.0, 2.0)])
def test_and_or_and_chains_of_comparisons(a: float, b: float) -> None:
    assert text_of(booleans, a, b) == block("""
        def booleans(a, b):
            c = a and b
            d = a or b
            return c, d, not a, 0 < a < b < 10, a if a > b else b
        """)


def along(x, y):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        s += a * b * i
    for v in reversed(x):
        s = s * 0.5 + v
    return s


def test_zip_enumerate_and_reversed() -> None:
    assert text_of(along, x5, x5) == block("""
        def along(x, y):
            s = 0.0
            for i, (a, b) in enumerate(zip(x, y)):
                s += a * b * i
            for v in reversed(x):
                s = s * 0.5 + v
            return s
        """)


def grown(n, x):
    values = []
    for i in range(n):
        values.append(x * i)
    last = values.pop()
    return last, values[0], len(values)


def test_lists_are_appended_to_and_popped() -> None:
    text = text_of(grown, 4, 1.5)
    assert ".append(x * i)\n" in text
    assert ".pop()\n" in text


def structures(p, q):
    return {"sum": p["a"] + q[0], "rest": [q[1], (p["a"],)]}


def test_structures_are_taken_apart_and_rebuilt() -> None:
    assert text_of(structures, {"a": 1.5}, (2.0, 3.0)) == block("""
        def structures(p, q):
            p_a = p["a"]
            q_0, q_1 = q
            return {"sum": p_a + q_0, "rest": [q_1, (p_a,)]}
        """)


def turned(A):
    return A.transpose((1, 0)) + A.T + A.reshape((5, 4)) + A.sum(axis=0, keepdims=True).T


def test_methods_are_methods() -> None:
    assert "    return A.transpose((1, 0)) + A.T + " in text_of(turned, A45)


def shadowing(np_, len, range):
    t = len * 2
    s = 0.0
    for i in [1, 2]:
        s += i * range
    return s + t + np.tanh(np_)


def test_parameters_named_like_builtins_are_not_shadowed() -> None:
    text_of(shadowing, 1.0, 2.0, 3.0)


def shouting(x):
    print("x is", x)
    assert x > 0, f"{x!r} is not positive, {x:.2f}"
    if x > 10:
        raise ValueError(f"{x} is too large")
    return x + 1


def test_effects_keep_their_order_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert text_of(shouting, 3.0) == block("""
        def shouting(x):
            print("x is", x)
            assert x > 0, f"{x!r} is not positive, {x:.2f}"
            if x > 10:
                raise ValueError(f"{x} is too large")
            return x + 1
        """)
    assert capsys.readouterr().out == "x is 3.0\n" * 2


def infinite(x):
    best = np.inf
    for v in x:
        best = min(best, v)
    return best, -np.inf, 1e300


def test_methods_of_known_objects_are_called_on_them() -> None:
    database = sqlite3.connect(":memory:")

    def noted(x: Any) -> Any:
        sys.stdout.flush()
        database.execute("select 1")
        return np.sum(x * x)

    gradient = gs.grad(noted)
    gradient(x5)
    assert "    sys.stdout.flush()\n    connection.execute(" in gradient.source


def test_infinities_have_names() -> None:
    text = text_of(infinite, x5)
    assert "best = np.inf\n" in text
    assert "-np.inf" in text


def long_line(first_argument, second_argument, third_argument):
    return np.sum(
        np.tanh(first_argument * second_argument + third_argument)
        * np.exp(first_argument * second_argument - third_argument)
        + np.cos(first_argument / second_argument)
    )


def circle(r):
    return np.sin(np.pi * r) - math.pi


def test_pi_has_its_name() -> None:
    assert text_of(circle, 2.0) == block("""
        def circle(r):
            return np.sin(np.pi * r) - np.pi
        """)


def test_long_expressions_are_split_at_temporaries() -> None:
    text = text_of(long_line, x5, x5 + 4, x5 + 2)
    assert "    t = " in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_long_tuple_of_one_stays_a_tuple() -> None:
    line = "return (first_of_many_names + second_of_many_names,), record"
    wrapped = wrap(line, 40)
    assert "\n" in wrapped
    assert ast.dump(ast.parse(wrapped)) == ast.dump(ast.parse(line))


def test_a_length_is_not_read_where_its_array_has_been_stored_to():
    @gs.primitive
    def twice(x):
        return np.concatenate([x, x])

    @twice.adjoint
    def _(out, x, *, d_out):
        return d_out[: len(x)] + d_out[len(x) :]

    def function(x):
        return np.sum(twice(x) ** 3)

    x = np.linspace(-1.0, 2.0, 4)
    gs.jvp(function, (x,), (np.ones(4),))
    np.testing.assert_allclose(gs.hvp(function, (x,), (np.ones(4),))[0], 12 * x, atol=1e-15)
