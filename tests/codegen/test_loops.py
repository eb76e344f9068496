"""The native tier: what it computes is what the NumPy tier does, errors included; what it cannot
say stays there, with the reason."""

from __future__ import annotations

import ast
import math
import textwrap

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from gradscribe.codegen.loops.rewriting import in_subset
from gradscribe.ir.trees import flatten
from tests.codegen.texts import unparsed
from tests.sampling import one_in

pytest.importorskip("numba")

RNG = np.random.default_rng(0)
VECTOR, MATRIX = RNG.normal(size=16), RNG.normal(size=(5, 4))
SYSTEM = RNG.normal(size=(6, 6)) + 6 * np.eye(6)


def pendulum(theta, n):
    omega = 0.0
    for _ in range(n):
        omega = omega - 0.01 * math.sin(theta)
        theta = theta + 0.01 * omega
    return theta


def rows(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        inner = 0.0
        for j in range(x.shape[1]):
            inner += w[j] * x[i, j]
        total += math.tanh(inner)
    return total


def log_determinant(a):
    n = a.shape[0]
    a = a.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    total = 0.0
    for i in range(n):
        total += math.log(abs(a[i, i]))
    return total


def newton(a, n):
    x = a
    for _ in range(n):
        if abs(x * x - a) < 1e-14:
            break
        x = 0.5 * (x + a / x)
    return x


def collatz(x, n):
    """An integer that halves or grows, as a condition."""
    steps = 0
    while n > 1 and steps < 50:
        if n % 2 == 0:
            n = n // 2
        else:
            n = n + 3
        steps += 1
        x = x * 1.01
    return x * steps


def backwards(x):
    total = 0.0
    for i in reversed(range(1, x.shape[0])):
        total += x[i] * x[i - 1] ** 2
    return total


def by_steps(x):
    total = 0.0
    for i in range(3, x.shape[0], 2):
        total += np.sqrt(abs(x[i])) * x[-1]
    return total


def items(x):
    total = 0.0
    for i, item in enumerate(x):
        total += item * i if item > 0 else -item
    return total


def solve(a, b):
    n = b.shape[0]
    y = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= a[i, j] * y[j]
        y[i] = s / a[i, i]
    return y


def checked(x, n):
    if n < 0:
        raise ValueError("n is negative")
    return x * n


NATIVE = [
    (pendulum, (0.5, 30), 0),
    (rows, (MATRIX, VECTOR[:4]), (0, 1)),
    (log_determinant, (SYSTEM,), 0),
    (newton, (3.7, 20), 0),
    (collatz, (1.5, 27), 0),
    (backwards, (VECTOR,), 0),
    (by_steps, (VECTOR,), 0),
    (items, (VECTOR,), 0),
    (checked, (1.5, 3), 0),
]


def leaves(value):
    return flatten(value)[1]


def assert_same(found, expected):
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("function", "args", "argnums"), one_in(3, NATIVE))
def test_the_native_gradient_is_that_of_numpy(function, args, argnums):
    native = gs.value_and_grad(function, argnums, jit=True)
    assert_same(native(*args), gs.value_and_grad(function, argnums)(*args))
    assert native.jit_report == "native"


@pytest.mark.parametrize(("function", "args"), [(pendulum, (0.5, 30)), (newton, (3.7, 20))])
def test_all_transforms_take_jit(function, args):
    tangents = (1.0, None)
    for transform in (gs.grad, gs.jacobian, gs.hessian):
        assert_same(transform(function, jit=True)(*args), transform(function)(*args))
    assert_same(gs.jvp(function, args, tangents, jit=True), gs.jvp(function, args, tangents))
    found = gs.hvp(function, args, tangents, jit=True)
    assert_same(found[0], gs.hvp(function, args, tangents)[0])
    value, pullback = gs.vjp(function, *args, jit=True)
    assert_same((value, pullback(1.0)[0]), (function(*args), gs.grad(function)(*args)))


def test_arrays_come_back_as_arrays():
    native = gs.jacobian(solve, (0, 1), jit=True)
    assert_same(native(SYSTEM, VECTOR[:6]), gs.jacobian(solve, (0, 1))(SYSTEM, VECTOR[:6]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_layout(order):
    x = np.array(MATRIX, order=order)[::-1]
    native = gs.grad(rows, (0, 1), jit=True)
    assert_same(native(x, VECTOR[:8:2]), gs.grad(rows, (0, 1))(x, VECTOR[:8:2]))


@pytest.mark.parametrize(("function", "args", "argnums"), one_in(3, NATIVE))
def test_decorated_functions_run_natively(function, args, argnums):
    decorated = gs.differentiable(function, argnums, jit=True)
    assert_same(decorated(*args), function(*args))
    specialization = decorated.specialize(*args)
    assert_same(specialization.gradient(*args), gs.grad(function, argnums)(*args))
    value, record = specialization.forward(*args)
    assert_same(
        (value, specialization.adjoint(record)), gs.value_and_grad(function, argnums)(*args)
    )


def test_a_decorated_function_that_cannot_be_compiled_runs_as_it_is():
    seen = []

    @gs.differentiable(jit=True)
    def notes(x):
        seen.append(x)
        return eval("x * 2")

    assert (notes(1.5), seen) == (3.0, [1.5])


def test_the_text_is_loops_that_people_read():
    native = gs.grad(pendulum, jit=True)
    native(0.5, 3)
    text = native.loops_source
    assert "for k in range(len(steps) - 1, -1, -1):" in text
    assert "math.cos(theta)" in text
    assert gs.differentiable(pendulum).specialize("float", "int").loops_source.startswith("def ")


# -- what Python, or NumPy, raises -----------------------------------------------------------------


def divides(x, n):
    return x / n


def takes_a_logarithm(x, n):
    return math.log(x) * n


def overflows(x, n):
    return math.exp(x * n)


def reads(x, n):
    return x[n] * 2.0


def powers(x, n):
    return (x * x) ** 3 * n


RAISING = [
    (divides, (1.0, 0)),
    (takes_a_logarithm, (-1.0, 2)),
    (overflows, (1.0, 1000)),
    (reads, (VECTOR, 16)),
    (reads, (VECTOR, -17)),
    (powers, (1e60, 1)),
    (checked, (1.0, -1)),
]


@pytest.mark.parametrize(("function", "args"), one_in(3, RAISING))
def test_errors_are_those_of_numpy_s_tier(function, args):
    with pytest.raises(Exception) as expected:
        gs.value_and_grad(function)(*args)
    native = gs.value_and_grad(function, jit=True)
    with pytest.raises(type(expected.value)) as found:
        native(*args)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("args", [(VECTOR, 15), (VECTOR, -1), (VECTOR, -16)])
def test_indices_count_from_the_end(args):
    assert_same(gs.grad(reads, jit=True)(*args), gs.grad(reads)(*args))


def test_under_an_error_state_of_the_users_numpy_runs():
    native = gs.grad(by_steps, jit=True)
    native(VECTOR)
    with np.errstate(all="raise"):
        assert_same(native(VECTOR), gs.grad(by_steps)(VECTOR))


def halved_until_small(x, tolerance):
    new = before = 0.0
    while True:
        new = 0.5 * x
        x = x * 0.7
        if abs(new - before) < tolerance:
            break
        before = new
    return x * new


def scaled_until_small(a, v, tolerance):
    new = estimate = 0.0
    while True:
        w = a @ v
        new = v @ w
        v = w / np.sqrt(w @ w)
        if abs(new - estimate) < tolerance:
            break
        estimate = new
    return new


def padded(x):
    steps = [x[0]]
    for i in range(1, len(x)):
        steps.append(steps[-1] * 0.5 + x[i])
    return np.sum(np.array(steps) ** 2)


def table(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(4):
            row.append(x[i] * x[j + 1])
        rows.append(row)
    return rows[1][2] * rows[2][0] + sum(rows[0])


def rows_as_records(x, w):
    h = np.zeros(x.shape[1])
    for row in x:
        h = np.tanh(w @ h + row)
    return np.sum(h * h)


def products(x, a):
    y = a.T @ np.outer(x, x) @ a
    return np.max(y) + np.mean(y, axis=0).sum() + np.sum(x**2, axis=-1) / np.prod(x[:2])


LISTS_AND_ARRAYS = [
    (halved_until_small, (3.0, 1e-3)),
    (scaled_until_small, (SYSTEM, VECTOR[:6], 1e-9)),
    (padded, (VECTOR,)),
    (table, (VECTOR,)),
    (rows_as_records, (MATRIX, 0.1 * SYSTEM[:4, :4])),
    (products, (VECTOR[:5], MATRIX)),
]


@pytest.mark.parametrize(("function", "args"), LISTS_AND_ARRAYS)
def test_lists_and_functions_of_arrays_run_natively(function, args):
    native = gs.value_and_grad(function, jit=True)
    assert_same(native(*args), gs.value_and_grad(function)(*args))
    assert native.jit_report == "native"


def a_float_among_integers(x, n):
    places = list(range(n))
    places[n - 1] = x * x
    for k in range(n - 1):
        places[k] = places[k + 1] * 0.5
    return places[0]


def test_a_list_of_numbers_of_two_types_stays_in_numpy():
    native = gs.grad(a_float_among_integers, jit=True)
    assert_same(native(1.5, 3), gs.grad(a_float_among_integers)(1.5, 3))
    assert "of two types" in native.jit_report


# -- what stays in NumPy ---------------------------------------------------------------------------


def doubles(x, n):
    k = 1
    for _ in range(n):
        k = k * 2
    return x * k


def adds_itself(x, n):
    k = 1
    for _ in range(n):
        k = k + k
    return x * k


def fibonacci(x, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return x * a


def factorial(x, n):
    product = 1
    for i in range(1, n):
        product *= i
    return x / product


@pytest.mark.parametrize("function", one_in(2, [doubles, adds_itself, fibonacci, factorial]))
def test_integers_that_may_exceed_64_bits_stay_python_s(function):
    native = gs.grad(function, jit=True)
    assert_same(native(1.5, 90), gs.grad(function)(1.5, 90))
    assert "may exceed 64 bits" in native.jit_report


def multiplies_places(x, n):
    return x[n * n % 7]


def test_large_integers_among_the_arguments_are_numpy_s():
    native = gs.grad(multiplies_places, jit=True)
    assert_same(native(VECTOR, 2**40), gs.grad(multiplies_places)(VECTOR, 2**40))
    assert native.jit_report == "native"


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (lambda x: np.sum(np.sort(x)), (VECTOR,), "sort`"),
        (lambda x: x["a"] ** 2, ({"a": 1.5},), "of the class dict"),
        (lambda x: x[0] * x[1], (VECTOR.astype(np.float32),), "float32"),
    ],
)
def test_what_is_no_loop_over_numbers_says_so(function, args, reason):
    native = gs.grad(function, jit=True)
    assert_same(native(*args), gs.grad(function)(*args))
    assert native.jit_report.startswith("NumPy: ")
    assert reason in native.jit_report
    with pytest.raises(errors.UnsupportedError):
        _ = native.loops_source


def test_without_numba_jit_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(errors.MissingLibraryError, match=r"gradscribe\[jit\]"):
        gs.grad(pendulum, jit=True)


# -- the subset ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for i in reversed(range(n)):\n    f(i)", "for i in range(n - 1, -1, -1):\n    f(i)"),
        (
            "for i in reversed(range(1, n)):\n    f(i)",
            "for i in range(n - 1, 0, -1):\n    f(i)",
        ),
        (
            "for i in reversed(range(1, n - 1)):\n    f(i)",
            "for i in range(n - 2, 0, -1):\n    f(i)",
        ),
        ("for i in reversed(range(n + 1)):\n    f(i)", "for i in range(n, -1, -1):\n    f(i)"),
        (
            "for x in reversed(steps):\n    f(x)",
            "for k in range(len(steps) - 1, -1, -1):\n    x = steps[k]\n    f(x)",
        ),
        (
            "for i, x in zip(reversed(range(n)), reversed(steps)):\n    f(i, x)",
            "for i in range(n - 1, -1, -1):\n    x = steps[i]\n    f(i, x)",
        ),
        (
            "for i, x in zip(reversed(range(2, n, 3)), reversed(steps)):\n    f(i, x)",
            "for k in range(len(steps) - 1, -1, -1):\n    i = 2 + 3 * k\n    x = steps[k]\n"
            "    f(i, x)",
        ),
        (
            "for x, (a, b) in zip(reversed(t), reversed(steps)):\n    t = f(x, a, b)",
            "items = t\nfor k in range(len(items) - 1, -1, -1):\n    x = items[k]\n"
            "    a, b = steps[k]\n    t = f(x, a, b)",
        ),
        ("while True:\n    break", "while forever:\n    break"),
        ("y = x ** 2", "y = power(x, 2)"),
        ("x **= 2", "x = power(x, 2)"),
        ("raise KeyError(1) from e", "raise ValueError"),
    ],
)
def test_statements_in_the_subset(text, expected):
    function = ast.parse("def g():\n" + textwrap.indent(text, "    ")).body[0]
    found = unparsed(in_subset(function))
    assert found == "def g():\n" + textwrap.indent(expected, "    ")
