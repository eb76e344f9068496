"""Names that hold values of different kinds: a number and an array, None and an array, arrays of
two ranks or dtypes, nothing yet. Each program is run at several arguments, by all oracles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check

ROWS = np.linspace(0.3, 1.5, 12).reshape(4, 3)
MATRICES = [(ROWS,), (ROWS[:2],), (ROWS[:1],)]
X = np.array([0.5, 1.1, 1.7])
SIGNS = [(X, 1.0), (X, -1.0)]


def iterations(*numbers):
    return [(X, n) for n in numbers]


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = []


def program(calls):
    def register(function):
        PROGRAMS.extend((function, args) for args in calls)
        return function

    return register


@program([(X,), (X[:1],)])
def accnone(x):
    acc = None
    for q in x:
        acc = q if acc is None else acc + q
    return acc


@program(MATRICES)
def accnone2(x):
    acc = None
    for i in range(len(x)):
        t = x[i] ** 2
        if acc is None:
            acc = t
        else:
            acc = acc + t
    return np.sum(acc)


@program(MATRICES)
def accnone3(x):
    acc = None
    for i in range(len(x)):
        t = x[i] ** 2
        if acc is None:
            acc = t.copy()
        else:
            acc += t
    if acc is None:
        return 0.0
    return np.sum(acc)


@program(MATRICES)
def inttoarr(x):
    total = 0
    for i in range(len(x)):
        total = total + x[i] * 2
    return np.sum(total)


@program(MATRICES)
def inttoarr_if(x):
    total = 0
    for i in range(len(x)):
        if x[i, 0] > 0.5:
            total = total + x[i] * 2
    return np.sum(total)


@program(MATRICES)
def inttoarr_if2(x):
    total = 0.0
    for row in x:
        if row[0] > 0.5:
            total += row**2
        else:
            total -= row
    return np.sum(total)


@program(MATRICES[:2])
def inttoarr_nested(x):
    total = 0
    for i in range(len(x)):
        for j in range(i):
            total = total + x[i] * x[j]
    return np.sum(total)


@program(MATRICES)
def inttoarr_while(x):
    total = 0
    i = 0
    while i < len(x):
        total = total + x[i] * x[i]
        i += 1
    return np.sum(total)


@program(MATRICES)
def inttoarr_break(x):
    total = 0
    for i in range(len(x)):
        if i == 2:
            break
        total = total + x[i] * x[i]
    return np.sum(total)


@program(MATRICES)
def inttoarr_continue(x):
    total = 0
    for i in range(len(x)):
        if i == 0:
            continue
        total = total + x[i] * x[i]
    return np.sum(total)


@program(MATRICES)
def firstflag(x):
    first = True
    for r in x:
        if first:
            best = r * 2
            first = False
        else:
            best = np.maximum(best, r * r)
    return np.sum(best) if not first else 0.0


@program(MATRICES)
def firsti(x):
    for i in range(len(x)):
        if i == 0:
            best = x[i] * 2
        else:
            best = best + x[i] * best
    return np.sum(best)


@program(MATRICES)
def firsti2(x):
    for i in range(len(x)):
        r = x[i]
        if i > 0:
            s = s + r * prev  # noqa: F821
        else:
            s = np.zeros(3)
        prev = r
    return np.sum(s)


@program(SIGNS)
def scalar_or_array(x, c):
    if c > 0:
        y = x
    else:
        y = 2.0
    return np.sum(x * y)


@program(SIGNS)
def none_on_path(x, c):
    if c > 0:
        w = x * 2
    else:
        w = None
    y = x * x
    if w is not None:
        y = y * w
    return np.sum(y)


@program(SIGNS)
def none_in_cond(x, c):
    w = None
    if c > 0:
        w = x * 2
    y = x * x
    for i in range(3):
        if w is not None:
            y = y * w
    return np.sum(y)


@program(SIGNS)
def none_result(x, c):

    def h(z):
        if c > 0:
            return z * z
        return None

    r = h(x)
    if r is None:
        return np.sum(x)
    return np.sum(r)


@program(SIGNS)
def samecond(x, c):
    if c > 0:
        y = x
    else:
        y = 2.0
    z = np.sum(x)
    if c > 0:
        z = z * np.sum(y[1:])
    else:
        z = z * y
    return z


@program(SIGNS)
def isinst(x, c):
    if c > 0:
        y = x
    else:
        y = 2.0
    if isinstance(y, float):
        y = y * np.ones(3)
    return np.sum(y * x)


@program(SIGNS)
def list_or_array(x, c):
    if c > 0:
        y = [x, x * 2]
    else:
        y = x
    s = 0.0
    for q in y:
        s = s + np.sum(q)
    return s


@program(SIGNS)
def tuple_lens(x, c):
    if c > 0:
        y = (x, x * 2)
    else:
        y = (x,)
    return np.sum(y[0]) * len(y)


@program([(X,), (X[:1],)])
def twotrips(x):
    a = 0
    b = 0
    for i in range(5):
        a = a + b
        b = x * i + b
    return np.sum(a)


@program([(X,), (X[:1],)])
def threetrips(x):
    a = 0
    b = 0
    c = 0
    for i in range(5):
        a = a + b
        b = c + b
        c = c + x
    return np.sum(a)


@program(iterations(0, 1, 2, 5))
def lateprev(x, n):
    prev = None
    s = 0.0
    for i in range(n):
        if prev is not None:
            s = s + np.sum(prev * x)
        prev = np.sin(x * i)
    return s


@program(iterations(0, 1, 2, 5))
def while_none(x, n):
    prev = None
    k = 0
    while k < n:
        y = x * k if prev is None else prev + x
        prev = y
        k += 1
    return np.sum(prev) if prev is not None else np.sum(x)


@program(SIGNS)
def zerod(x, c):
    if c > 0:
        y = np.sum(x)
    else:
        y = np.array(2.0)
    return np.sum(x * y)


@program(SIGNS)
def rankmix(x, c):
    if c > 0:
        y = x[:, None]
    else:
        y = x
    return np.sum(x * y)


@program(SIGNS)
def early(x, c):
    y = 0
    if c > 0:
        y = y + x
    y = y + 1.0
    return np.sum(y) * np.sum(x)


@program(iterations(0, 1, 3))
def best_so_far(x, n):
    best = None
    for k in range(n):
        cand = x * (k - 1.5)
        f = np.sum(cand**3)
        if best is None or f < bf:  # noqa: F821
            best = cand
            bf = f
    return np.sum(best**2) if best is not None else 0.0 * x[0]


@program(iterations(1, 3))
def momentum(x, n):
    m = 0
    w = x
    for k in range(n):
        g = 2 * w
        m = 0.9 * m + g
        w = w - 0.1 * m
    return np.sum(w)


@program(iterations(0, 1, 3))
def adam(x, n):
    m = v = 0
    w = x
    for k in range(1, n + 1):
        g = 2 * w
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        w = w - 0.1 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.99**k)) + 1e-08)
    return np.sum(w)


@program(MATRICES)
def rnn(x):
    h = 0.0
    hs = []
    for r in x:
        h = np.tanh(r + h)
        hs.append(h)
    return np.sum(h) + np.sum(hs[-1])


@program(MATRICES)
def total_complexdefault(x):
    loss = 0
    for i, row in enumerate(x):
        loss += np.sum(row) * i
    return loss * 1.0


@program(iterations(0, 1, 2))
def pick(x, c):
    if c == 0:
        w = 1
    elif c == 1:
        w = x
    else:
        w = x[:, None] * x
    return np.sum(w * x)


@program([(X, None), (X, 2.0)])
def optional(x, c):
    b = None if c is None else x * c
    out = x
    if b is not None:
        out = out + b
    return np.sum(out**2)


@program(iterations(0, 1, 3))
def two_none(x, n):
    a = None
    b = None
    for k in range(n):
        if a is None:
            a = x * 1
            b = x * 2
        else:
            a, b = (a + b, a * b)
    return np.sum(a * b) if a is not None else 0.0


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_program_of_several_kinds(function: Any, args: Any) -> None:
    expected = function(*args)
    value, _ = gs.value_and_grad(function)(*args)
    assert value == expected and np.asarray(value).dtype == np.asarray(expected).dtype
    gs.testing.check_grad(function, *args)


def single_or_double(a, b, c):
    if c > 0:
        y = a
    else:
        y = b
    return np.sum(y * y)


@pytest.mark.parametrize("c", [1.0, -1.0])
def test_arrays_of_two_precisions(c: float) -> None:
    a, b = X.astype("f4"), X + 1
    value, gradients = gs.value_and_grad(single_or_double, argnums=(0, 1))(a, b, c)
    assert value == single_or_double(a, b, c) and value.dtype == (a if c > 0 else b).dtype
    np.testing.assert_array_equal(gradients[0], 2 * a if c > 0 else 0 * a)
    np.testing.assert_array_equal(gradients[1], 0 * b if c > 0 else 2 * b)
    assert [g.dtype for g in gradients] == ["float32", "float64"]


def test_a_test_for_none_is_the_condition_that_bound_it() -> None:
    def optional(x, c):
        w = None
        if c > 0:
            w = x * 2
        y = x * x
        if w is not None:
            y = y * w
        return np.sum(y)

    source = gs.differentiable(optional).specialize(X, 1.0).gradient_source
    statements = [line.partition("  #")[0] for line in source.splitlines()]
    assert sum("c > 0" in line for line in statements) == 1
    assert not any("None" in line for line in statements)


def test_a_path_that_cannot_be_compiled_raises_when_it_is_taken() -> None:
    def summed(x, n):
        total = None
        k = 0
        while k < n:
            total = x * k if total is None else total + x
            k += 1
        return np.sum(total)

    compiled = gs.value_and_grad(summed)
    assert compiled(X, 3)[0] == summed(X, 3)
    with pytest.raises(TypeError, match="sum"):
        compiled(X, 0)


def test_loop_whose_second_iteration_would_raise_can_make_its_first() -> None:
    def narrowing(x, w, steps):
        h = x
        for _ in range(steps):
            g = 2.0 * h
            h = np.tanh(g @ w)
            if np.sum(h) > 1e3:
                break
        return np.sum(h)

    gs.testing.check_grad(narrowing, np.linspace(-1, 1, 15).reshape(5, 3), X[:3], 1)


def test_a_path_of_values_that_lack_an_attribute_raises_what_python_does() -> None:
    def counted(x, text):
        y = x if x[0] > 1 else text
        return x[1] * y.count("a")

    compiled = gs.differentiable(counted)
    assert gs.vjp(compiled, X / 100, "banana")[0] == counted(X / 100, "banana")
    with pytest.raises(AttributeError, match="has no attribute `count`"):
        gs.vjp(compiled, X + 100, "banana")


def test_a_path_of_values_that_are_not_compiled_raises_an_error_of_ours() -> None:
    def shown(x, text):
        y = (x, x) if x[0] > 1 else text
        return x[1] * y.count("a")

    compiled = gs.differentiable(shown)
    assert gs.vjp(compiled, X / 100, "banana")[0] == shown(X / 100, "banana")
    with pytest.raises(errors.UnsupportedPathError, match=r'return x\[1\] \* y.count\("a"\)'):
        gs.vjp(compiled, X + 100, "banana")


def rows_or_samples(x, rows, s):
    t, y = np.sin(x[0]), np.sin(rows[-1])
    if t - s > -0.75:
        if y[0] <= rows[-1, -1]:
            if s < 3.0:
                y = np.tanh(x)
            t, s = s, t
        if t * x[2] <= s:
            t *= np.cos(np.max(y))
            if t < 5.0:
                y = np.tanh(rows[0])
    return s + t + np.sum(y * y)


@pytest.mark.parametrize("seed", range(8))
def test_cotangents_are_added_only_where_there_is_what_they_belong_to(seed):
    random = np.random.default_rng(seed)
    x, rows, s = random.normal(size=4), random.normal(size=(3, 4)), random.normal()
    tensors = [gs.tensor(x, requires_grad=True), gs.tensor(rows, requires_grad=True)]
    gs.differentiable(rows_or_samples)(tensors[0] * 1.0, tensors[1] * 1.0, s).backward()
    expected = gs.grad(rows_or_samples, argnums=(0, 1), compile=False)(x, rows, s)
    for tensor, gradient in zip(tensors, expected, strict=True):
        np.testing.assert_allclose(tensor.grad, gradient)


def bisected_bounds(b, target, n):
    low, high = -np.inf, np.inf
    for _ in range(n):
        if np.sum(b) > target:
            low = b[0:1].copy()
            b = b * 2.0 if high == np.inf or high == -np.inf else (b + high) / 2.0
        else:
            high = b[0:1].copy()
            b = b / 2.0 if low == np.inf or low == -np.inf else (b + low) / 2.0
    return b


def test_bounds_that_are_numbers_first_and_arrays_later_are_compared():
    check(bisected_bounds, np.array([1.0]), 1.7, 3)
