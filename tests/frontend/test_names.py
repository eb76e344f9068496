"""Names of all kinds: `nonlocal`, `global`, names like ours, shadowed built-ins, Unicode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import SourceNotFoundError, UnsupportedError
from tests.frontend.oracles import agrees, check

x5 = np.linspace(0.55, 2.0, 5)
SCALE = 2.0
IDENTITY = np.eye(3)


def reads_global(x):
    global SCALE
    return x.sum() * SCALE


def changes_outer_variables(x, n):
    total = 0.0
    count = 0

    def add(v):
        nonlocal total, count
        if v > 1.2:
            return
        total = total + v * v
        count += 1

    for i in range(n):
        add(x[i])
        if i == 2:
            add(x[0])
    return total * count


def keeps_the_latest(x):
    latest = None

    def update(v):
        nonlocal latest
        latest = v

    update(x)
    update(x * x)
    return latest.sum()


def names_like_ours(d_x, d_result):
    record = d_x * 2
    steps = record + d_result
    x_1 = steps
    branch = x_1 * d_x
    return branch.sum()


def module_name_as_variable(x):
    np = x * 2
    return (np * np).sum()


def module_name_as_parameter(np):
    return np.sum() * 2


def shadowed_builtins(x):
    list = x * 2
    sum = list.sum()
    max = sum + 1
    return max * sum


def unicode_names(α):
    β = α * 2
    Δx = β.sum()
    return Δx * α.sum()


def integers(n, a):
    q, r = divmod(n, 3)
    bits = (n << 2) + (n >> 1) + (n & 3) + (n | 8) + (n ^ 5) + ~n
    return a * (q + r + n // 2 + n % 3 + bits + pow(n, 2) + abs(-n) + round(2.6) + int(True))


def floored(a, b):
    q, r = divmod(a, b)
    return q * a + r * r + a // b + a % b + math.fmod(a, b)


def attributes_of_arrays(x):
    n = x.ndim * x.size * x.itemsize * x.shape[0] * len(x)
    return x.sum() * n * (x.dtype == np.float64)


def while_with_else(x):
    n = 0
    while n < 3:
        n += 1
        if n > 5:
            break
    else:
        n = 10
    return x.sum() * n


def small_statements(x):
    a: float = 1.0
    b = 2.0; c = 3.0  # fmt: skip
    del a
    pass
    ...
    "no docstring"
    assert x.ndim == 1, f"rank {x.ndim}"
    return x.sum() * b * c if 0 < x[0] < 1 < x[3] else -x.sum()


def static_text(x, text):
    parts = text.split("_")
    scale = 2 if text.startswith("a") else 1
    return x.sum() * len(parts) * scale * (3 if "b" in text else 1) * int("12")


def walrus(x):
    y = (n := len(x)) * x
    return (y * (m := y.sum())).sum() * n * m


def asks_for_classes(x):
    y = x
    if callable(np.sin) and hasattr(x, "shape") and getattr(x, "absent", 3) == 3:
        y = y * 2
    if type(x) is np.ndarray and issubclass(bool, int) and not isinstance(x[0], int):
        y = y * 3
    flag = x[0] > 0
    return y.sum() * (5 if flag is not None else 1)


def imports_inside(x):
    import math as m
    from math import pi as PI
    from math import sqrt

    return sqrt(x[0]) * PI * m.exp(x[1])


def two_lambdas(x):
    f, g = (lambda v, k=2.0: v * k), (lambda v: v + 1)  # fmt: skip
    return f(g(x)).sum() * f(1.0, k=3.0)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (reads_global, (x5,)),
        (changes_outer_variables, (x5, 5)),
        (keeps_the_latest, (x5,)),
        (names_like_ours, (x5, 1.0)),
        (module_name_as_variable, (x5,)),
        (module_name_as_parameter, (x5,)),
        (shadowed_builtins, (x5,)),
        (unicode_names, (x5,)),
        (integers, (7, 2.5)),
        (floored, (7.4, 2.0)),
        (while_with_else, (x5,)),
        (small_statements, (x5,)),
        (static_text, (x5, "a_b")),
        (walrus, (x5,)),
        (imports_inside, (x5,)),
        (two_lambdas, (x5,)),
    ],
)
def test_names_mean_what_python_says(function: Any, args: Any) -> None:
    agrees(function, *args)


@pytest.mark.parametrize("function", [attributes_of_arrays, asks_for_classes])
def test_questions_that_arrays_answer_otherwise_than_tensors(function: Any) -> None:
    check(function, x5)


def stores_global(x):
    global SCALE
    SCALE = x.sum()
    return SCALE


def _counter():
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return x.sum() * calls

    return counted


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (stores_global, "stores to the global variable `SCALE`"),
        (_counter(), "stores to `calls`, a variable of another function"),
    ],
)
def test_stores_that_cannot_be_followed_are_refused(function: Any, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        gs.grad(function)(x5)


def changed_by_a_callback(x):
    calls, total = 0, x[0]

    def square(v):
        nonlocal calls, total
        calls += 1
        total = total * 2 + v.sum()
        return v * v

    def apply(f, v):
        return f(v) * total

    return apply(square, x).sum() * calls + apply(square, x).sum() * total


def read_while_it_is_changed(x):
    n = x[0]

    def scaled():
        return n * x[1]

    def changed(factor):
        nonlocal n
        if factor > 1.0:
            n = n * factor
            return scaled()
        for v in x:
            n = n * v + 1
            factor = factor + scaled()
        return factor

    return changed(2.0) * changed(0.5) * scaled()


def accumulators(x):
    def accumulator(total):
        def add(v):
            nonlocal total
            total = total + v
            return total

        return add, lambda: total

    (add, first), (add_other, second) = accumulator(x[0]), accumulator(x[1])
    add(1.0)
    add_other(x[2])
    add(x[3])
    return first() * second()


def assigned_two_levels_up(x):
    n = x[0]

    def middle():
        def inner():
            nonlocal n
            n = n * 2
            return n

        return inner() + n

    return middle() * n


def shadowed_in_between(x):
    n = x[0]

    def middle():
        n = 5.0

        def inner():
            nonlocal n
            n = n * x[1]
            return n

        return inner() * n

    return middle() * n + sum([n * v for n, v in enumerate(x)])


def parameter_and_walrus(x):
    total = 0.0

    def double(v):
        nonlocal x
        x = x * v

    def add():
        nonlocal total
        return (total := total + x[0])

    double(2.0)
    items = [(total := total + v) for v in x]
    return add() * total * sum(items)


def assigned_before_an_exception(x):
    n = x[0]

    def raising():
        nonlocal n
        n = n * 2
        raise ValueError

    try:
        raising()
    except ValueError:
        n = n + 1
    return n * x[1]


@pytest.mark.parametrize(
    "function",
    [
        changed_by_a_callback,
        read_while_it_is_changed,
        accumulators,
        assigned_two_levels_up,
        shadowed_in_between,
        parameter_and_walrus,
        assigned_before_an_exception,
    ],
)
def test_all_functions_see_what_one_of_them_assigns(function: Any) -> None:
    check(function, x5)


def test_function_made_by_exec_is_refused_with_advice() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x): return x * x", namespace)
    with pytest.raises(SourceNotFoundError, match="define the function in a file"):
        gs.grad(namespace["f"])(2.0)


def offset(x: Any, base: Any = IDENTITY, *, scale: Any = np.array(2.0)) -> Any:
    return x @ base * scale


def test_an_array_as_a_default_is_read_at_each_call() -> None:
    def f(x: Any) -> Any:
        return np.sum(offset(x) ** 2)

    gs.testing.check_grad(f, np.array([1.0, 2.0, 3.0]))
