"""Calls of what has no source or rule, and values without known type."""

from __future__ import annotations

import functools
import random
import re
import threading

import numpy as np

import gradscribe as gs
from gradscribe.errors import (
    AliasingError,
    CompiledCodeError,
    NoDerivativeError,
    UnknownTypeError,
)
from tests.refused import refused, refused_when_run

X = np.linspace(0.5, 2.0, 4)
MATRIX = np.arange(4.0).reshape(2, 2) + 1


class Model:
    pass


MODEL = random.Random(1)


@refused(
    "`sort_complex` cannot be differentiated: it has no rule and no Python source that is compiled",
    MATRIX,
    kind=CompiledCodeError,
)
def unknown_function(m):
    return np.sort_complex(m)[0]


@refused("'str' object has no attribute 'foo'", X)
def method_of_no_text(x):
    return len(str(len(x)).foo()) * x[0]


@refused(
    "the method `search` of an object without known type cannot be differentiated",
    X,
    kind=UnknownTypeError,
)
def method_of_an_unknown_object(x):
    import re

    return re.compile("a").search(x[0])


@refused(
    "this computes with a value whose type is not known when the function is compiled",
    X,
    kind=UnknownTypeError,
)
def unknown_type(x):
    import json

    return x[0] * json.loads("[1.0]")[0]


@refused("what is stored in an array of objects has no derivative", X)
def array_of_objects(x):
    y = np.array([None, None])
    y[0] = x[0]
    return y[0]


@gs.primitive
def smooth(x):
    return x * 2


@refused("`smooth` has no rule for its derivative", X, kind=NoDerivativeError)
def operation_without_rule(x):
    return np.sum(smooth(x))


@gs.primitive
def parsed(x):
    return {"a": 1.0}


@refused("`parsed` cannot be compiled here: it returns a dict, not numbers or arrays", X)
def operation_that_returns_a_dict(x):
    return parsed(x)["a"]


@gs.primitive
def failing(x):
    raise ValueError("no")


@refused(
    "`failing` cannot be compiled here: a call on example values, to see what type it returns, "
    "failed: ValueError('no')",
    X,
)
def operation_that_fails(x):
    return failing(x)


@refused("`out` of `random` is not supported", X)
def drawn_into(x):
    np.random.default_rng(1).random(out=[1.0, 2.0])
    return np.sum(x)


@refused("`shuffle` of this value is not supported", X)
def shuffled_list(x):
    found = list(x)
    random.shuffle(found)
    return found[0]


@refused("the type of what `normal` draws is not known: scale < 0", X)
def drawn_in_vain(x):
    return np.random.default_rng(1).normal(0.0, -1.0) * x[0]


@functools.lru_cache
def remembered(n):
    return [float(n)]


@refused("this changes what a function returned that remembers its results", X)
def changed_result(x):
    found = remembered(len(x))
    found.append(x[0])
    return sum(found)


@refused("`forever` calls itself on every path, so it never returns", X)
def endless_recursion(x):
    return forever(x[0])


def forever(x):
    return forever(x / 2)


def grown(x, n):
    if n == 0:
        return (x,)
    return (x, grown(x, n - 1))


@refused("`growing` calls itself with ever other types of arguments or results", X, 3)
def other_arguments(x, n):
    return growing((x[0],), n)


def growing(pair, n):
    if n == 0:
        return 1.0
    return growing((pair,), n - 1)


@refused("a recursive function cannot be given this value", X, 3)
def recursion_with_an_iterator(x, n):
    return taking(iter(x), n)


def taking(items, n):
    if n == 0:
        return 0.0
    return taking(items, n - 1) + 1.0


def deeply(x, rest):
    if not rest:
        return x
    return deeply(x * 0.9, rest[1:])


@refused("this always raises IndexError: list assignment index out of range", X)
def deleted_out_of_range(x):
    found = [x[0]]
    del found[3]
    return found[0]


@refused(
    "`scatter` stores into `y`, which it may reach by another name, too", X, kind=AliasingError
)
def stores_twice(x):
    y = x * 2
    return scatter(y, y, 3)


def scatter(y, z, n):
    if n == 0:
        return np.sum(z)
    y[n] = z[0]
    return scatter(y, z, n - 1)


class Tally:
    count = 0.0


TALLY = Tally()


@refused("`tallied` stores into an object from outside, and calls itself", X, 3, kind=AliasingError)
def stores_in_a_recursion(x, n):
    return tallied(x, n)


def tallied(x, n):
    TALLY.count = x[0]
    return x[0] if n == 0 else tallied(x, n - 1)


@refused("lists that `choices` draws are not supported", X)
def drawn_list(x):
    return x[random.choices([0, 1, 2], k=2)[0]]


@refused(
    "a function is given to code that cannot be read: it assigns `COUNT`, a variable from outside",
    X,
)
def function_that_stores_a_global(x):
    def counted(match):
        global COUNT
        COUNT = 1
        return "b"

    return len(re.sub("a", counted, "aa")) * x[0]


@refused(
    "`c` may have been bound anew after a function that captures it was given to code that cannot "
    "be read",
    X,
)
def list_bound_anew_on_one_path(x):
    if x[0] > 1.0:
        c = [1.0, 2.0]
        threading.Thread(target=lambda: c[0])
        c = [3.0, 4.0]
    threading.Thread(target=lambda: 1)
    return x[0]


@refused(
    "`c` is bound anew after a function that captures it was given to code that cannot be read", X
)
def list_bound_anew_in_the_end(x):
    return x[0] * started_with_a_list()


def started_with_a_list():
    c = [1.0, 2.0]
    threading.Thread(target=lambda: c[0])
    c = [3.0, 4.0]
    return c[0] + 1.0


@refused("an item is read here of a list that is empty", X, [])
def item_of_an_empty_list(a, b):
    table = {(-1, -1): 0}
    for i in range(len(a)):
        table[i, -1] = 1.0
    for j in range(len(b)):
        table[-1, j] = 1.0
    for i in range(len(a)):
        for j in range(len(b)):
            least = min(table[i - 1, j], table[i, j - 1])
            table[i, j] = a[i] - b[j] + least
    return table[0, -1]


@refused_when_run(
    "`polyroots` gave complex128 of 1 axis, and float64 of 1 axis for other values of its "
    "arguments, for which this was compiled",
    UnknownTypeError,
)
def result_of_another_kind_than_before():
    coefficients = np.array([-1.0, 0.0, 1.0])
    gradient = gs.grad(lambda x: x * np.sum(np.polynomial.polynomial.polyroots(coefficients)))
    gradient(2.0)
    coefficients[0] = 1.0
    gradient(2.0)
