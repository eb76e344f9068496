"""Names that loops bind to one array or another, and that are stored to."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = 0.5 + 0.4 * np.sin(1.7 * np.arange(18.0))


def swapped(x):
    u, v = x.copy(), x * 2
    p, q = u, v
    for k in range(x.size):
        p[k] = q[k] * x[1]
        p, q = q, p
    return np.sum(u * v) + np.sum(p * 3)


def views_of_one_array(x):
    buf = np.zeros((2, x.size))
    buf[0] = x
    u, v = buf[0], buf[1]
    for _ in range(x.size - 1):
        v[1:-1] = u[1:-1] + 0.1 * np.sin(u[2:] - u[:-2])
        u, v = v, u
    return np.sum(buf[0] * buf[1]) + np.sum(u[:3])


def halves_until_a_break(x):
    buf = np.concatenate([x, x])
    p, q = buf[: x.size], buf[x.size :]
    k = 0
    while True:
        q[k] = p[k] ** 2
        p, q = q, p
        k += 1
        if p[k] > 2.0 or k > 15:
            break
    return np.sum(buf**2) + p[0] * q[1]


def overlapping_views(x):
    buf = np.concatenate([x, x])
    p, q = buf[: x.size], buf[2 : x.size + 2]
    for k in range(x.size):
        q[k] = p[k] ** 2
        p, q = q, p
    return np.sum(buf**2) + p[0] * q[1]


def swapped_on_one_path(x):
    p, q = x.copy(), x * 2
    u, v = p, q
    for k in range(x.size):
        if p[k] > 0.47:
            p, q = q, p
        p[k] = q[k] * x[1]
    return np.sum(u * v**2) + np.sum(p * 3)


def rotated(x):
    a, b, c = x.copy(), x * 2, np.zeros_like(x)
    first = a
    for k in range(x.size - 1):
        c[1:-1] = a[1:-1] - 0.5 * b[1:-1] + 0.1 * np.sin(a[2:])
        a, b, c = c, a, b
        first[k] *= 0.5
    return np.sum(a * b) + np.sum(c**3) + first[3]


def kept_under_a_third_name(x):
    u, v, total = x.copy(), np.zeros_like(x), 0.0
    for k in range(x.size):
        w = u
        v[:] = w * 0.5 + x
        u, v = v, w
        total += u[k]
    w[0] = 7.0
    return total + np.sum(u * v)


def one_or_another(x):
    a, b = x.copy(), x * 2
    p = a if x[0] > 0 else b
    for k in range(x.size):
        p[k] = p[k] * x[1]
        p = a if p[k] > 0.3 else b
    return np.sum(a * b) + p[0]


def anew_on_one_path(x):
    y = 1.0 * x
    first = y
    for k in range(x.size):
        if x[k] > 0.8:
            y = np.tanh(y)
        y[k] *= 0.5 * y[k - 1]
    return np.sum(y * y) + np.sum(first)


def in_nested_loops(x):
    p, q = x.copy(), 2.0 * x
    first = p
    for k in range(x.size):
        for j in range(3):
            p[k] = 0.5 * q[j] + x[k]
            p, q = q, p
        first[k] += 1.0
        if q[0] > 0.4:
            q, p = p, q
    p[1] = 0.0
    return np.sum(p * x) + np.sum(q * q)


def step(p, q):
    q[1:] = 0.7 * p[:-1] + 0.1
    return q, p


def in_a_helper(x):
    p, q = x.copy(), np.zeros_like(x)
    first = p
    for _ in range(x.size):
        p, q = step(p, q)
    first[0] *= 3.0
    return np.sum(p * x) + np.sum(q)


def attributes(x):
    class State:
        pass

    state = State()
    state.p, state.q = x.copy(), x * 2
    first = state.p
    for k in range(x.size):
        state.q[k] = state.p[k] ** 2
        state.p, state.q = state.q, state.p
        first[k] += 1.0
    return np.sum(state.p * state.q) + first[0]


FUNCTIONS = [
    swapped,
    views_of_one_array,
    halves_until_a_break,
    overlapping_views,
    swapped_on_one_path,
    rotated,
    kept_under_a_third_name,
    one_or_another,
    anew_on_one_path,
    in_nested_loops,
    in_a_helper,
    attributes,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_stores_go_to_the_array_that_a_name_is_in_each_iteration(function: Any) -> None:
    value, _ = gs.value_and_grad(function)(X)
    assert value == function(X)
    gs.testing.check_grad(function, X)


FIRST_LINES = """\
def swapped_gradient(x, d_result=1.0):
    u = x.copy()
    v = x * 2
    steps = []
    branch = False
    for k in range(x.size):
        if branch:
            t = u[k]
            v[k] = t * x[1]
            steps.append((branch, t, None))
        else:
            t = v[k]
            u[k] = t * x[1]
            steps.append((branch, None, t))
        branch = not branch
"""


def test_a_flag_tells_which_of_two_arrays_a_name_is() -> None:
    gradient = gs.grad(swapped)
    gradient(X)
    assert gradient.source.startswith(FIRST_LINES), gradient.source


def test_two_buffers_without_other_names_are_carried_as_they_are() -> None:
    def diffused(x):
        u, v = x.copy(), np.zeros_like(x)
        for _ in range(x.size):
            v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            u, v = v, u
        return np.sum(u * v)

    gradient = gs.grad(diffused)
    gradient(X)
    assert " if " not in gradient.source
    gs.testing.check_grad(diffused, X)


class Lent:
    def __init__(self, item):
        self.item = item

    def __enter__(self):
        return self.item

    def __exit__(self, *_):
        return False


def joined_before_a_loop(x, A, s):
    v1 = np.full(5, s)
    v2 = 1.0 * x
    n3 = [np.sum(x), 0.5, x[0]]
    n4 = [x[0], s]
    w5 = [x, x]
    w6 = [1.0 * x, x]
    if s > 0.5:
        x = (lambda q: q)(A[0])
        w5[0] = v2
        if len(n3) > 2:
            del n3[0]
    else:
        v2 = np.array([0.3, -0.2, 0.1, 0.8, 1.0])
    with Lent(n4) as q7:
        q7.extend(n4)
    n3, n4 = n4, n3
    i8 = 0
    while i8 < 2:
        i8 += 1
        with Lent(w5[-1].reshape(5)) as q9:
            v2[v1 > 0.3] = 0.25
            w5 = list(w6)
        with contextlib.suppress(ValueError):
            n4.reverse()
            if i8 > 0:
                raise ValueError
            x = (lambda q: q)(v1)
    t = s * np.sum(A**2)
    t = t + 0.3 * (np.sum(x**2) + 3.0 * x[0])
    return t


def test_what_is_joined_before_a_loop_is_there_in_each_attempt_to_lower_it():
    x, A = np.linspace(0.1, 0.9, 5), np.arange(20.0).reshape(4, 5)
    with pytest.raises(UnsupportedError, match="in a `try` that may be left by an exception"):
        gs.value_and_grad(joined_before_a_loop, (0,))(x, A, 0.88)
