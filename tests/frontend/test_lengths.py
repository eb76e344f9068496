"""Lengths that only a run tells: slices with computed bounds, arrays that shrink and grow, lengths
that differ between branches. Each program is checked at several lengths, 0 and 1 among them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.sampling import one_in


def v(n):
    return np.linspace(0.5, 1.7, n) if n != 1 else np.array([0.7])


X = [v(5), v(2), v(1), v(0)]
XN = X[:3]
PROGRAMS: list[tuple[Any, list[tuple[Any, ...]]]] = []


def program(*calls):
    def register(function):
        given = [call if isinstance(call, tuple) else (call,) for call in calls]
        PROGRAMS.append((function, given))
        return function

    return register


@program(*[(x, k) for x in X for k in (0, 1, 3, -1)])
def upto(x, k):
    return np.sum(x[:k] ** 2)


@program(*[(x, a, b) for x in X for a, b in ((0, 2), (1, 4), (3, 1), (-3, -1), (2, 9))])
def between(x, a, b):
    return np.sum(np.sin(x[a:b]) * 2)


@program(*[(x, a, b) for x in X for a, b in ((0, 2), (1, 4), (3, 1), (-3, -1), (2, 9))])
def between_copy(x, a, b):
    y = x[a:b] * x[a:b]
    return np.sum(y * np.cos(y))


@program(*[(x, w) for x in X for w in (0, 1, 2)])
def window(x, w):
    s = 0.0
    for i in range(len(x)):
        lo = max(i - w, 0)
        hi = min(i + w + 1, len(x))
        s += np.mean(x[lo:hi]) ** 2
    return s


@program(*[(x, w) for x in X for w in (0, 1, 2)])
def window2(x, w):
    y = np.zeros(len(x))
    for i in range(w, len(x) - w):
        y[i] = np.sum(x[i - w : i + w + 1] ** 2)
    return np.sum(y * x)


@program(*[(n, 1.3) for n in (0, 1, 2, 5)])
def ar(n, a):
    t = np.arange(n)
    return np.sum(np.exp(-a * t))


@program(*[(n, 1.3) for n in (0, 1, 2, 5)])
def zer(n, a):
    t = np.zeros(n)
    for i in range(n):
        t[i] = a * i
    return np.sum(t**2)


@program(*[(0.1, 1.3, n) for n in (0, 1, 2, 5)])
def lin(a, b, n):
    t = np.linspace(a, b, n)
    return np.sum(np.sin(t))


@program(*XN)
def whl(x):
    y = x
    while len(y) > 1:
        y = y[1:] * y[:-1]
    return y[0]


@program(*XN)
def halve(x):
    s = 0.0
    while len(x) > 1:
        s = s + np.sum(x**2)
        x = x[::2] * x[0]
    return s + x[0]


@program(*XN)
def halve2(x):
    while len(x) > 1:
        m = (len(x) + 1) // 2
        y = x[:m].copy()
        y[: len(x) - m] += x[m:] ** 2
        x = y
    return x[0]


@program(*[(x, f) for x in X for f in (1.0, -1.0)])
def brlen(x, f):
    if f > 0:
        y = x[1:]
    else:
        y = x[:-2] * f
    return np.sum(y**2)


@program(*[(x, f) for x in X for f in (1.0, -1.0)])
def brlen2(x, f):
    if f > 0:
        y = x[1:]
    else:
        y = x
    z = y * y
    return np.sum(z + y)


@program(*[(x, f) for x in X for f in (1.0, -1.0)])
def brcall(x, f):

    def part(z, c):
        if c > 0:
            return z[2:]
        return z[:1] * 2

    return np.sum(part(x, f) ** 2)


@program(v(6), v(2), v(0))
def resh(x):
    n = len(x)
    m = x.reshape(n // 2, 2)
    return np.sum(m[:, 0] * m[:, 1])


@program(*X)
def resh2(x):
    m = x.reshape(len(x), -1)
    return np.sum(m * m)


@program(v(6), v(2), v(4))
def resh3(x):
    m = x.reshape(-1, 2)
    return np.sum(np.sin(m) * m[0])


@program(*[(x, p) for x in X for p in (0, 1, 3)])
def pad(x, p):
    y = np.zeros(len(x) + 2 * p)
    y[p : p + len(x)] = x
    return np.sum(y[1:] * y[:-1])


@program(*X)
def halfloop(x):
    s = 0.0
    n = len(x)
    for i in range(n // 2):
        s += x[i] * x[n - 1 - i]
    return s


@program(*X)
def halfarr(x):
    n = len(x)
    m = (n + 1) // 2
    a = np.zeros(m)
    for i in range(m):
        a[i] = x[i] * x[n - 1 - i]
    return np.sum(a[: n // 2] * x[: n // 2]) + np.sum(a)


@program(*X)
def evenodd(x):
    e = x[::2]
    o = x[1::2]
    return np.sum(e**2) - np.sum(o**3)


@program(v(6), v(2), v(4))
def butterfly(x):
    e = x[::2]
    o = x[1::2]
    return np.sum(e * o)


@program(*[(x, m) for x in X for m in (v(5), v(1))])
def bc(x, m):
    y = x[: len(x)]
    return np.sum(y[:, None] * m[None, :])


@program(*[(x, k) for x in XN for k in (1, 2, 5)])
def bcchance(x, k):
    a = np.ones(k) * x[0]
    if len(x) == k or k == 1:
        return np.sum(a * x)
    return np.sum(a)


@program(*X)
def maxempty(x):
    y = x[1:]
    if len(y) == 0:
        return 0.0 * np.sum(x)
    return np.max(y) * np.min(y)


@program(*[(x, k) for x in X for k in (0, 1, 2)])
def dot(x, k):
    return x[k:] @ x[: len(x) - k]


@program(*[(x, k) for x in X for k in (0, 1, 2)])
def autocorr(x, k):
    n = len(x)
    r = np.zeros(k + 1)
    for j in range(k + 1):
        r[j] = np.dot(x[: n - j], x[j:])
    return np.sum(r**2)


@program(*[(x, h) for x in X for h in (v(3), v(1))])
def fullconv(x, h):
    n = len(x)
    m = len(h)
    y = np.zeros(n + m - 1)
    for i in range(n):
        y[i : i + m] += x[i] * h
    return np.sum(y**2)


@program(*[(x, h) for x in X for h in (v(3), v(1))])
def fullconv2(x, h):
    n = len(x)
    m = len(h)
    y = np.zeros(n + m - 1)
    for j in range(m):
        y[j : j + n] += h[j] * x
    return np.sum(y**2)


@program(*[(np.ones((a, b)) * 0.3 + v(b),) for a, b in ((3, 4), (2, 2), (1, 3), (3, 1))])
def tri(A):
    n, m = A.shape
    s = 0.0
    for i in range(n):
        s += np.sum(A[i, i:] ** 2) + np.sum(A[:i, min(i, m - 1)])
    return s


@program(*[(np.eye(n) * 3 + 0.3,) for n in (4, 2, 1)])
def chol(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    return np.log(L[-1, -1])


@program(*[(np.eye(n) * 3 + 0.3, v(n)) for n in (4, 2, 1)])
def gauss(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n - 1):
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x**2)


@program(*[(x, k) for x in X for k in (0, 1, 2)])
def roll(x, k):
    y = np.concatenate([x[k:], x[:k]])
    return np.sum(x * y)


@program(*X)
def mergehalf(x):
    n = len(x) // 2
    a = x[:n]
    b = x[n : 2 * n]
    return np.sum(a * b)


@program(*[(n, 0.7) for n in (1, 2, 5)])
def binom(n, p):
    vals = np.maximum(np.linspace(-1, 1, n + 1) * p, 0)
    for i in range(n):
        vals = 0.5 * (vals[1:] + p * vals[:-1])
    return vals[0]


@program(*[(n, 0.7) for n in (1, 2, 5)])
def binom2(n, p):
    vals = np.zeros(n + 1)
    for i in range(n + 1):
        vals[i] = p**i
    for i in range(n, 0, -1):
        vals[:i] = 0.5 * (vals[1 : i + 1] + p * vals[:i])
    return vals[0]


@program(*[(n, 0.7) for n in (1, 2, 5)])
def binom3(n, p):
    vals = np.array([p * i for i in range(n + 1)])
    for i in range(n, 0, -1):
        vals = 0.5 * (vals[1 : i + 1] + p * vals[:i])
    return vals[0]


@program(*[(x, k) for x in XN for k in (1, 2)])
def cond_slice_sum(x, k):
    if k > 1:
        y = x[k - 1 :]
    else:
        y = x
    return np.mean(y) * np.sum(x)


@program(*[(x, k) for x in XN for k in (1, 2, 3)])
def chunk(x, k):
    s = 0.0
    for i in range(0, len(x), k):
        c = x[i : i + k]
        s += np.sum(c) ** 2
    return s


@program(*[(x, k) for x in XN for k in (0, 2)])
def fullk(x, k):
    y = np.full(k, x[0])
    return np.sum(y * y)


@program(*[(x, k) for x in X for k in (0, 2)])
def onesk(x, k):
    y = np.ones((k, len(x))) * x
    return np.sum(y * y)


@program(*[(v(n), v(m)) for n, m in ((3, 3), (3, 1), (1, 3), (4, 4))])
def items_of_two_arrays(x, y):
    kept = [x]
    kept.append(np.sin(y) * 2)
    total = 0.0
    for i in range(2):
        total = total + np.sum(kept[i] * x) + np.sum(kept[-1 - i] * y)
    return total


@program(*[(v(n), v(m), k) for n, m in ((4, 4), (4, 1), (1, 4)) for k in (0, 3)])
def either_of_two_arrays(x, y, k):
    chosen = x if k > 1 else y * 2
    return np.sum(chosen * x) + np.sum(chosen * y)


@program(*[(v(n), v(m)) for n, m in ((6, 6), (6, 2), (6, 1), (1, 1), (2, 6))])
def windows_of_two_arrays(x, y):
    total = 0.0
    for i in range(3):
        total = total + np.sum(x[i * 2 : (i + 1) * 2] * np.cos(y[i * 2 : (i + 1) * 2]))
    return total


@program(*[(v(n), k) for n in (1, 3) for k in (1, 2)])
def columns_of_blocks(x, k):
    columns = np.outer(np.arange(1.0, 5.0), np.repeat(x, 2)).reshape(4, -1)
    blocks = columns.reshape(2, -1, len(x))
    return np.sum(blocks * blocks[:, :1] * x**k)


@program(*[(list(v(n)),) for n in (2, 3, 6)])
def sums_of_list_parts(x):
    firsts = np.array(x[:-1]) * np.array(x[1:])
    return np.sum(firsts * np.arange(len(x[:-1]))) + sum(x[::2])


@program(*[(v(n), v(m)) for n, m in ((3, 4), (3, 1), (1, 1))])
def layers_of_different_sizes(x, y):
    outer = np.outer(y, x)
    values = [x, outer @ x]
    kept = [np.zeros(x.shape), np.zeros(y.shape)]
    delta = np.cos(values[-1])
    kept[-1] = delta
    for layer in range(2, 3):
        delta = (outer.T @ delta) * (1 - values[-layer] ** 2)
        kept[-layer] = delta
    return sum([np.sum(k * v) for k, v in zip(kept, values)])


CASES = [(f, args) for f, calls in PROGRAMS for args in calls]


def plain(function, args):
    """What plain Python gives; None where it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
    except (ValueError, IndexError):
        return None


def floating(args):
    return tuple(i for i, a in enumerate(args) if np.asarray(a).dtype.kind == "f")


@pytest.mark.parametrize(
    ("function", "args"), one_in(3, CASES), ids=lambda p: getattr(p, "__name__", "")
)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_program_at_every_length(function: Any, args: Any) -> None:
    expected = plain(function, args)
    if expected is None:
        return
    value, _ = gs.value_and_grad(function, argnums=floating(args))(*args)
    assert np.array_equal(value, expected, equal_nan=True)
    if np.all(np.isfinite(expected)):
        gs.testing.check_grad(function, *args)


CHECKS = re.compile(r"if [^\n]*shape\[[^\n]*== 1")
GENUINE = {"bcchance", "either_of_two_arrays", "items_of_two_arrays", "windows_of_two_arrays"}
"""Programs in which an axis may be one long by chance, and is then broadcast."""


@pytest.mark.parametrize(
    ("function", "calls"),
    [pair for pair in PROGRAMS if pair[0].__name__ not in GENUINE],
    ids=lambda p: getattr(p, "__name__", ""),
)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_no_length_is_asked_for_at_run_time(function: Any, calls: Any) -> None:
    compiled = gs.differentiable(function)
    for args in calls:
        if plain(function, args) is not None:
            found = CHECKS.findall(
                compiled.specialize(*args, argnums=floating(args)).gradient_source
            )
            assert not found, found


@pytest.mark.parametrize("name", ["zer", "ar", "lin", "binom", "binom2", "butterfly"])
def test_one_specialization_serves_all_lengths(name: str) -> None:
    ((function, calls),) = [pair for pair in PROGRAMS if pair[0].__name__ == name]
    compiled = gs.differentiable(function)
    for args in calls:
        compiled.specialize(*args, argnums=floating(args))
    assert len(compiled.specializations) == 1


def enforced_on_one_path(x, k, m, c):
    a, b = x[:k] if c > 1 else x[: k + 1], x[:m] if c > 1 else x[m:]
    if len(a) == len(b):
        s = a @ b
    else:
        s = np.sum(a * b)
    return s


@pytest.mark.parametrize(("k", "m"), [(3, 3), (1, 3), (3, 1), (1, 1)])
@pytest.mark.parametrize("c", [0.5, 1.5])
def test_what_one_path_enforces_is_not_believed_on_the_other(k: int, m: int, c: float) -> None:
    x = v(5)
    if plain(enforced_on_one_path, (x, k, m, c)) is not None:
        gs.testing.check_grad(lambda x: enforced_on_one_path(x, k, m, c), x)


def products_after_a_loop(x, n):
    y = x
    for _ in range(n):
        y = y[1:]
    return np.sum(y * x[n:]) + np.sum(y * y[:1])


@pytest.mark.parametrize("n", [0, 1, 3, 4])
def test_a_length_of_one_by_chance_is_broadcast(n: int) -> None:
    gs.testing.check_grad(lambda x: products_after_a_loop(x, n), v(5))


def iteration_of_another_loop(x, n):
    y = None
    s = 0.0
    for i in range(n):
        z = x[:1]
        for j in range(i):
            z = x[: j + 1]
        if y is not None:
            s = s + np.sum(y * z[:1])
        y = z
    return s


def test_lengths_of_one_iteration_are_not_those_of_the_next() -> None:
    gs.testing.check_grad(lambda x: iteration_of_another_loop(x, 4), v(5))
