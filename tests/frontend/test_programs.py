"""Functions lowered to IR mean what Python says, value for value.

Each program is run as plain Python and as interpreted IR; the results must be the same to
the last bit, and of the same types.
"""

from __future__ import annotations

import math
from collections import namedtuple
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from gradscribe import frontend, primitives  # noqa: F401
from gradscribe.compiler.signatures import ArgumentTypes
from gradscribe.frontend.interface import RunTimeKeyError, SourcePlace
from gradscribe.ir.lengths import Facts
from gradscribe.ir.verifier import verify
from tests.interpreter import run

SCALE = 2.5
WEIGHTS = np.array([1.0, 2.0, 3.0])
Point = namedtuple("Point", "x y")


def lowered(
    function: FunctionType, *args: Any, keyed: frozenset[SourcePlace] = frozenset()
) -> frontend.Lowered:
    types = ArgumentTypes()
    names = function.__code__.co_varnames
    given = [types.add(n, a, f"a[{i}]") for i, (n, a) in enumerate(zip(names, args, strict=False))]
    facts = Facts(types.samples)

    def capture(name: str, value: Any) -> frontend.Argument:
        argument = types.add(name, value, "captured")
        facts.samples.update(types.samples)
        return argument

    try:
        return frontend.lower(function, given, facts, capture, keyed)
    except RunTimeKeyError as error:
        if error.place is None:
            raise
        return lowered(function, *args, keyed=keyed | {error.place})


def same(a: Any, b: Any) -> bool:
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    return type(a) is type(b) and (a == b or (a != a and b != b))


def copied(args: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, (np.ndarray, list)) else a for a in args]


def check(function: FunctionType, *args: Any) -> None:
    expected = function(*copied(args))
    result = lowered(function, *args)
    verify(result.function)
    captured = {c.name: _value_at(c.path) for c in result.captures}
    found = run(result.function, *copied(args), **captured)
    assert same(found, expected), f"{found!r} is not {expected!r}"


def _value_at(path: frontend.interface.Path) -> Any:
    value = path.root
    for kind, key in path.steps:
        value = getattr(value, key) if kind == "attribute" else value[key]
    return value


x5 = np.linspace(-1.0, 2.0, 5)
A45 = np.arange(20.0).reshape(4, 5) / 7


def early_return(x):
    if x > 3:
        return x
    elif x > 2:
        y = x * 2
    else:
        y = x + 1
        if y < 0:
            return -y
    return y / 3


def break_and_continue(x, limit):
    total = 0.0
    for i in range(10):
        if i % 2 == 0:
            continue
        if total > limit:
            break
        total = total + x * i
    return total, i


def loop_else(x, key):
    for v in x:
        if v > key:
            found = v
            break
    else:
        found = -1.0
    return found


def return_in_nested_loops(a, bound):
    total = 0.0
    for row in a:
        for v in row:
            total += v
            if total > bound:
                return total * 2
    return total


def while_with_break(x):
    n = 0
    while True:
        x = x / 2
        n += 1
        if x < 0.1 or n > 20:
            break
    return x, n


def loop_variable_after(n):
    s = 0
    for i in range(n):
        s += i
    return s * i


def zip_and_enumerate(x, y):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        s += a * b * i
    return s


def reversed_range(x):
    s = 0.0
    for i in reversed(range(len(x))):
        s = s * 0.5 + x[i]
    return s


def reversed_array(x):
    s = 0.0
    for v in reversed(x):
        s = s * 0.5 + v
    return s


def stores_through_views(a):
    v = a[1:]
    w = v[:, 1:3]
    w[0] = 5.0
    a[2] += 1.0
    v[1, 0] *= 3
    return a, v, w * 1


def alias_sees_store(a):
    b = a
    b[0] = 1.0
    return a * 2


def swapped_buffers(u, steps):
    un = np.zeros_like(u)
    for _ in range(steps):
        un[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, un = un, u
    return u


def grown_list(n, x):
    values = []
    for i in range(n):
        values.append(x * i)
    total = 0.0
    for v in values:
        total += v
    return total, len(values)


def conditional_append(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)
    s = 0.0
    for v in kept:
        s += v
    return s


def boolean_values(a, b):
    c = a and b
    d = a or b
    e = not a
    f = 0 < a < b < 10
    return c, d, e, f


def nested_function(x):
    factor = 3.0

    def scale(y, by=2):
        return y * by * factor

    g = lambda t: t - 1
    return g(scale(x)) + scale(x, by=4)


def structures(p):
    (a, b), c = p["pair"], p["c"]
    first, *rest = (a, b, c)
    return {"sum": a + b, "rest": rest, "point": Point(a, c)}


def captures(x):
    return SCALE * x + np.sum(WEIGHTS) * math.pi


def captured_in_a_branch(x):
    if x > 0:
        y = x * WEIGHTS
    else:
        y = x + WEIGHTS
    return y + WEIGHTS


def conditional_expression(x):
    return (x if x > 0 else -x) + (1 if x > 1 else 2)


def unrolled_with_break(x):
    s = 0.0
    for k in (1.0, 2.0, 3.0):
        if x > k:
            continue
        s += k
        if s > 4:
            break
    return s


def helper(a, i):
    a[i] = a[i] * 2
    return a[i]


def helper_changes_argument(a):
    s = 0.0
    for i in range(len(a)):
        s += helper(a, i)
    return s, a


def int_becomes_float(n, x):
    result = 1
    for _ in range(n):
        result = result * x
    return result


def raises_on_negative(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2


def maybe_unbound(x):
    if x > 0:
        y = x
    if x > 0:
        return y
    return 0.0


def fibonacci(n, x):
    a, b = x, 1.0
    for _ in range(n):
        a, b = b, a + b
    return a


def augmented_alias(x):
    y = x * 1
    z = y
    y += 1
    y *= z
    return z


def row_views(a):
    s = 0.0
    for i in range(a.shape[0]):
        row = a[i]
        row[0] = row[1] + s
        s += row[0]
    return s, a


def flags_of_two_kinds(x, bound):
    seen = True
    for v in x:
        if v > bound:
            seen = False
            break
        inner = v > 0
        while inner:
            inner = False
    return seen


def strong_number_becomes_weak(x, n):
    s = x[0]
    for _ in range(n):
        s = 1.5
    return s * x


PROGRAMS = [
    (flags_of_two_kinds, (x5, 0.5)), (flags_of_two_kinds, (x5, 5.0)),
    (strong_number_becomes_weak, (x5, 0)), (strong_number_becomes_weak, (x5, 2)),
    (early_return, (4.0,)), (early_return, (2.5,)), (early_return, (-5.0,)), (early_return, (0.0,)),
    (break_and_continue, (0.5, 3.0)), (break_and_continue, (0.5, 300.0)),
    (loop_else, (x5, 0.5)), (loop_else, (x5, 50.0)),
    (return_in_nested_loops, (A45, 3.0)), (return_in_nested_loops, (A45, 3e9)),
    (while_with_break, (3.0,)), (loop_variable_after, (5,)),
    (zip_and_enumerate, (x5, x5 + 1)), (zip_and_enumerate, (x5, x5[:3])),
    (reversed_range, (x5,)), (reversed_array, (x5,)),
    (stores_through_views, (A45,)), (alias_sees_store, (x5,)), (swapped_buffers, (x5, 3)),
    (swapped_buffers, (x5, 0)), (grown_list, (4, 0.3)), (grown_list, (0, 0.3)),
    (conditional_append, (x5,)), (boolean_values, (2.0, 3.0)), (boolean_values, (0.0, 3.0)),
    (nested_function, (1.5,)),
    (structures, ({"pair": (1.0, 2.0), "c": 3.0},)), (captures, (2.0,)),
    (conditional_expression, (0.5,)), (unrolled_with_break, (1.5,)),
    (helper_changes_argument, (x5,)), (int_becomes_float, (3, 1.5)), (int_becomes_float, (0, 1.5)),
    (raises_on_negative, (1.0,)), (maybe_unbound, (1.0,)), (maybe_unbound, (-1.0,)),
    (fibonacci, (6, 0.5)), (augmented_alias, (x5,)), (row_views, (A45,)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_lowered_program_equals_plain_python(function: Any, args: Any) -> None:
    check(function, *args)


def sum_of_rows(a):
    total = 0.0
    for row in a:
        total = total + row
    return total


def sum_of_list(xs, w):
    total = 0
    for i, x in enumerate(xs):
        total += x * w + i
    return total


def sum_of_products(A, x, n):
    y = 1.0
    for k in range(n):
        y = y * (A[k] + x)
    return y


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sum_of_rows, (A45,)),
        (sum_of_list, ([x5, x5 * 2, x5 + 1], 0.5)),
        (sum_of_products, (A45, x5, 3)),
        (sum_of_products, (A45, x5, 0)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_first_iteration_is_peeled_where_a_number_becomes_an_array(
    function: Any, args: Any
) -> None:
    check(function, *args)


def numeric_builtins(x, n):
    q, r = divmod(x, 0.7)
    values = (x, 2.0, abs(-x))
    whole = int(x * 3) + n // 2 + n % 3 + (n << 1) + (~n & 5)
    return (
        pow(x, 3) + round(x) + q + r,
        sum(values),
        min(values) + max(x, 1.0, 2),
        float(n) + whole,
        bool(n),
        x // 0.3 + x % 0.3 - (+x),
    )


def sum_of_array(x):
    return sum(x) + sum(x, 1.0)


def extremes(x):
    return max(x[0], x[1]) + np.maximum(x[0], 0.5), x.max(), x.min(), x.mean(), x.sum(axis=0)


def array_methods(a):
    b = a.T.reshape(2, 10).sum(axis=1)
    c = a.copy().transpose(1, 0).ravel()
    return b, c, a.shape, a.ndim, a.size, len(a), np.shape(a), np.ndim(a)


def prints(x):
    print("x is", x, f"{x:.2f} {x!r}")
    assert x > 0, f"{x} is not positive"
    return x * 2


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (numeric_builtins, (1.3, 5)),
        (sum_of_array, (x5,)),
        (extremes, (x5,)),
        (array_methods, (A45,)),
        (prints, (1.5,)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_builtins_and_methods_mean_what_python_says(function: Any, args: Any) -> None:
    check(function, *args)
