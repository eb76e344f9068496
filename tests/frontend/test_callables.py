"""Functions as values: partial, decorators, operators, higher-order built-ins, star calls."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees

x = np.linspace(0.5, 2, 5)
X = np.arange(6.0).reshape(3, 2) + 1
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = []


def program(*args):
    def enter(function):
        PROGRAMS.append((function, args))
        return function

    return enter


@program(x)
def part1(x):
    g = partial(np.power, x)
    h = partial(lambda a, b, c: a * b + c, b=2.0)
    k = partial(h, x, c=3.0)
    return g(2).sum() * k().sum()


def apply(f, x):
    return f(x) * 2


@program(x)
def part_arg(x):
    return apply(partial(lambda a, b: (a * b).sum(), x * 2), x)


GP = partial(lambda w, s, v: (w * v * s).sum(), np.arange(5.0), s=2.0)


@program(x)
def part_global(x):
    return GP(v=x) * GP(v=x * x)


@program(partial(lambda w, v: (w * v).sum(), np.arange(5.0) + 1), x)
def part_param(f, x):
    return f(x) * f(x)


@program(x)
def red(x):
    return reduce(lambda a, b: a * b, x)


@program(x)
def red2(x):
    return reduce(operator.add, [x, x * 2, x * x], 0.0).sum()


@program(x)
def red3(x):
    return reduce(lambda a, i: a * x[i] + i, range(1, 5), 1.0)


@program(X)
def red4(X):
    return reduce(np.multiply, X).sum()


@program(x)
def red5(x):
    return reduce(lambda f, g: lambda v: g(f(v)), [np.sin, np.exp, lambda v: v * v])(x).sum()


@program(x)
def mp(x):
    return sum(map(lambda v: v * v, x))


@program(x)
def mp2(x):
    return sum(map(operator.mul, x, x[::-1]))


@program(x)
def mp3(x):
    s = 0.0
    for v in map(math.sin, x):
        s += v * v
    return s


@program(x)
def lazy(x):
    fs = [np.sin, np.exp, np.tanh]
    y = x
    for v in map(lambda f: f(y), fs):
        y = v
    return y.sum()


@program(x)
def lazy2(x):
    y = x * 1
    s = 0.0
    for v in map(lambda i: y[i], range(4)):
        y[1:] = y[:-1] * v
        s += v
    return s


@program(x)
def flt(x):
    return sum(filter(lambda v: v > 1.0, x))


@program(x)
def flt2(x):
    return sum(v * v for v in filter(None, [1, 0, 2])) * x.sum()


@program(x)
def flt3(x):
    a, b = filter(lambda t: t is not None, [x, None, 2 * x])
    return (a * b).sum()


@program(x)
def lists(x):
    a = list(map(lambda v: v**2, x))
    b = np.array(list(map(np.sin, a)))
    return b.sum() * a[1]


@program(x)
def acc(x):
    t = list(itertools.accumulate(x))
    u = list(itertools.accumulate(x, operator.mul))
    return t[3] * u[4]


@program(x)
def acc2(x):
    s = 0.0
    for v in itertools.accumulate(x, lambda a, b: a * 0.5 + b, initial=0.1):
        s += v * v
    return s


@program(x)
def pw(x):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


@program(x)
def ch(x):
    s = 0.0
    for v in itertools.chain(x[:2], x[3:]):
        s += v**3
    for v in itertools.chain([x[0]], [x[1] * 2, x[2]]):
        s += v**3
    return s


@program(X)
def prod(X):
    s = 0.0
    for i, j in itertools.product(range(X.shape[0]), range(X.shape[1])):
        s += X[i, j] * (i + 2 * j) ** 2 * X[i, j]
    for a, b in itertools.product([1.0, 2.0], (X[0, 0], X[1, 1])):
        s += a * b * b
    return s


@program(x)
def comb(x):
    s = 0.0
    for a, b in itertools.combinations(x, 2):
        s += (a - b) ** 2
    for i, j in itertools.combinations(range(len(x)), 2):
        s += x[i] * x[j]
    return s


@program(x)
def perm(x):
    return sum(a * b * b for a, b in itertools.permutations([x[0], x[1], x[2]], 2))


@program(x)
def starm(x):
    return sum(itertools.starmap(pow, [(x[0], 2), (x[1], 3)])) + sum(map(operator.mul, x, x[1:]))


@program(x)
def isl(x):
    return sum(itertools.islice(x, 1, 4))


@program(x)
def rep(x):
    return sum(map(operator.mul, itertools.repeat(x[0], 3), x[:3]))


@program(x)
def ops(x):
    f = operator.itemgetter(1)
    g = operator.itemgetter(0, 2)
    a, b = g(x)
    h = operator.attrgetter("T")
    m = operator.methodcaller("sum")
    return (
        operator.add(f(x), a)
        * b
        * operator.truediv(x[0], x[1])
        * operator.neg(x[2])
        * m(h(x))
        * operator.pow(x[0], 2)
        * operator.getitem(x, 3)
    )


@program(x)
def sorty(x):
    L = [("b", x[1]), ("a", x[0])]
    L = sorted(L, key=operator.itemgetter(0))
    return L[0][1] ** 2 + L[1][1]


def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        return f(*a, **k) * 2

    return w


def deco2(n):
    def d(f):
        def w(x):
            return f(x) ** n

        return w

    return d


@deco
def helper(x, k=1.0):
    return (x * k).sum()


@deco2(3)
def helper2(x):
    return x.sum()


@functools.cache
def cached(n):
    return 1.0 if n < 2 else cached(n - 1) + cached(n - 2)


@functools.cache
def coef(n):
    return n * 2.0


@program(x)
def decos(x):
    return helper(x, k=2.0) * helper2(x) * coef(3)


@program(x)
def decos2(x):
    @deco
    def f(v):
        return (v * x).sum()

    @functools.lru_cache
    def g(n):
        return n * x

    return f(x) * g(2).sum()


@program(x)
def memo(x):
    return cached(7) * x.sum()


def kw(a, /, b, *c, d=2.0, **e):
    return a * b * sum(c) * d * e["z"]


@program(x)
def stars(x):
    t = (x[1], x[2])
    k = {"z": x[3], "d": x[4]}
    return kw(x[0], *t, x[1], **k) + kw(x[0], x[1], *[x[2]], z=2.0) + max(*x) + kw(*x, z=1.0)


@program([x, x * 2, x * 3])
def stars_list(xs):
    def f(a, b, c):
        return (a * b * c).sum()

    return f(*xs)


@program(x)
def fnres(x):
    def make(k):
        def g(v):
            return v * k * x

        return g

    f, g = make(2.0), make(x)
    return (f(x) * g(x)).sum()


@program(x)
def cond_fn(x):
    f = np.sin if x.sum() > 1 else np.cos
    return f(x).sum()


@program(x)
def table(x):
    T = {"s": np.sin, "q": lambda v: v * v}
    s = 0.0
    for k, f in T.items():
        s = s + f(x).sum()
    return s + T["q"](x).sum()


def is_even(n, x):
    return x if n == 0 else is_odd(n - 1, x * 1.1)


def is_odd(n, x):
    return -x if n == 0 else is_even(n - 1, x * x)


@program(x)
def mutual(x):
    return is_even(3, x).sum()


@program(x, 3)
def mutual2(x, n):
    return is_even(n, x).sum()


@program({"l": {"v": x}, "r": {"l": {"v": 2 * x}, "r": {"v": x * x}}})
def dtree(t):
    if "v" in t:
        return t["v"].sum()
    return dtree(t["l"]) * dtree(t["r"]) + 1


@program(([1.0, 2.0], [3.0, (4.0, 5.0)]))
def ntree(t):
    if isinstance(t, (list, tuple)):
        s = 1.0
        for c in t:
            s = s * ntree(c) + 1
        return s
    return t * t


@functools.singledispatch
def area(s):
    return s * 1.0


@area.register(int)
def _(s):
    return s * 2.0


@area.register(tuple)
def _(s):
    return s[0] * s[1]


@program(x)
def sdisp(x):
    return area((x[0], x[1])) * area(x[2]) * area(3)


def compose(*fs):
    def c(v):
        for f in fs:
            v = f(v)
        return v

    return c


@program(x)
def comp(x):
    return compose(np.sin, partial(np.multiply, 2.0), lambda v: v + x)(x).sum()


@program(x)
def sumobj(x):
    return sum([x, x * 2], x).sum() + sum((x[0], x[1]), start=1.0) + sum(range(4)) * x[0]


def newton(f, df, x0, n=5):
    for _ in range(n):
        x0 = x0 - f(x0) / df(x0)
    return x0


@program(2.0)
def nw(a):
    return newton(lambda t: t * t - a, lambda t: 2 * t, 1.0)


@program(x)
def rk(x):
    def step(f, y, h):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        return y + h * k2

    f = partial(lambda w, y: -w * y, x)
    y = x
    for _ in range(5):
        y = step(f, y, 0.1)
    return y.sum()


@program(x, 1.3)
def functions_defined_in_nested_loops(x, s):
    for k in range(2):
        for e in x:

            def damped(r):
                return np.tanh(r) * s

            def power(n):
                return e if n == 0 else 0.5 * power(n - 1)

            s = s + damped(e) + power(2)
    return s


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_program(function: Any, args: Any) -> None:
    assert gs.vjp(function, *args)[0] == function(*args)
    if isinstance(args[0], partial):
        gs.testing.check_grad(lambda x: function(args[0], x), *args[1:])
    else:
        gs.testing.check_grad(function, *args)


def remembered_effects(x):
    calls = []

    @functools.lru_cache(None)
    def f(i):
        calls.append(i)
        return x[i]

    return f(0) + f(0) + x[1] * len(calls)


def remembered_variable(x):
    k = x[0]

    @functools.cache
    def f(i):
        return k * i

    first = f(2)
    k = x[1]
    return first * f(2)


def remembered_memory(x):
    a = x * 1.0

    @functools.cache
    def f(i):
        return a[i] * 2

    first = f(0)
    a[0] = 7.0
    return first * f(0)


def remembered_list(x):
    @functools.cache
    def f(i):
        return [x[i]]

    f(0).append(x[1])
    return sum(f(0))


def remembered_array(x):
    @functools.cache
    def f(i):
        return np.arange(3.0) + i

    f(1)[0] = x[0]
    return f(1).sum() * x[1]


def remembered_of_an_array(x):
    @functools.cache
    def f(v):
        return v.sum()

    return f(x)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (remembered_effects, "a function that remembers its results has effects"),
        (remembered_variable, "reads `k`, which may change"),
        (remembered_memory, "reads `a`, which changes"),
        (remembered_list, "this changes what a function returned that remembers its results"),
        (remembered_array, "this array is read-only"),
        (remembered_of_an_array, "unhashable type: 'numpy.ndarray'"),
    ],
)
def test_results_that_are_remembered_are_those_of_a_pure_function(function: Any, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        gs.grad(function)(x)


def remembered_numbers(x):
    @functools.cache
    def f(n):
        if n < 2:
            return x[n]
        return f(n - 1) + f(n - 2) * 0.5

    total = 0.0
    for k in range(3):

        @functools.cache
        def g(i):
            return x[i] * k

        total += g(1) + g(1)

    @functools.cache
    def nodes(n):
        return [float(i) for i in range(n)]

    return f(7) * f(3) + total * sum(nodes(4)) * nodes(4)[2]


def test_a_pure_function_may_remember_its_results() -> None:
    gs.testing.check_grad(remembered_numbers, x)
    assert gs.value_and_grad(remembered_numbers)(x)[0] == remembered_numbers(x)


def lambda_or_function(x, n):
    f = math.sin
    if n > 0:

        def f(v):
            return v * x[3]

    return f(x[1]) * f(x[0])


def lambda_or_none(x, n):
    f = None
    if n > 0:
        f = lambda v, k=x[0] * 2: v * k
    if f is not None:
        return f(x[1])
    return x[0]


def one_of_two_lambdas(x, n):
    k = x[2]
    f = (lambda v: v * k) if x[n] > 1 else (lambda v, power=x[1]: v**power)
    k = k * 3
    return sum([f(v) for v in x])


@pytest.mark.parametrize("function", [lambda_or_function, lambda_or_none, one_of_two_lambdas])
@pytest.mark.parametrize("n", [0, 1])
def test_a_name_may_be_one_of_two_local_functions(function: Any, n: int) -> None:
    agrees(function, np.array([0.7, 1.3, 0.4, 2.1]), n)


COUNTED: list[int] = []


@functools.lru_cache(None)
def counted_factorial(n):
    COUNTED.append(n)
    return 1.0 if n == 0 else n * counted_factorial(n - 1)


def test_a_recursive_function_with_effects_may_not_remember_its_results():
    with pytest.raises(gs.errors.UnsupportedError, match="has effects"):
        gs.grad(lambda x: counted_factorial(2) * np.sum(x))(np.ones(2))
    assert COUNTED == []
