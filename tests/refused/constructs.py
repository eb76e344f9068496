"""Statements, expressions and names that are refused."""

from __future__ import annotations

import warnings

import numpy as np

from gradscribe.errors import SourceNotFoundError
from tests.refused import refused

X = np.linspace(0.5, 2.0, 4)
RATES = {("a", "b"): 2.0}


@refused("`type` makes a class here", X)
def class_made_by_type(x):
    return x[0] * type("Two", (), {"factor": 2.0}).factor


@refused("`async` and `await` are not supported", X)
def asynchronous_helper(x):
    async def fetched():
        return x

    return np.sum(x) * 2


@refused("generators are not supported", 2.0)
def generator(x):
    yield x


@refused("`fetched` is an `async` function", 2.0)
async def fetched(x):
    return x


def _counter():
    calls = 0

    @refused("stores to `calls`, a variable of another function, are not supported", 2.0)
    def count(x):
        nonlocal calls
        calls += 1
        return x * calls


_counter()


def _later():
    @refused("`rate` has no value yet", 2.0)
    def reads(x):
        return x * rate

    return reads
    rate = 1.0


_later()


@refused("`y` is read before it has a value", 2.0)
def read_too_early(x):
    z = y * x  # noqa: F821
    y = 1.0
    return z + y


@refused("the name `undefined` is not defined", 2.0)
def undefined_name(x):
    return x * undefined  # noqa: F821


@refused("this item cannot be read: 'c'", X)
def missing_item(x):
    return np.sum(x) * CONFIG["c"]


class Config:
    pass


CONFIG = {"a": 1.0, "b": Config()}


@refused("the source of '<made>' cannot be read", 2.0, kind=SourceNotFoundError)
def calls_what_exec_has_made(x):
    return MADE["made"](x)


NAMESPACE: dict = {}
exec(compile("def made(x):\n    return x * x", "<made>", "exec"), NAMESPACE)
MADE = {"made": NAMESPACE["made"]}


@refused("expected 3 values to unpack, got 4", X)
def too_few_targets(x):
    a, b, c = x
    return a + b + c


@refused("not enough values to unpack: 1", 2.0)
def too_many_targets(x):
    a, b, *rest = [x]
    return a + b


@refused("only names and items of lists and dicts can be deleted", X)
def deleted_element(x):
    y = x * 2
    del y[0]
    return np.sum(y)


@refused("a computed format specification is not supported", X)
def formatted(x):
    text = f"{x[0]:.{int(x[1])}f}"
    return x[0] * len(text)


@refused("`eval` is not supported: a program in a string has no source to compile", 2.0)
def evaluated(x):
    return eval("x * x")


@refused("`globals` is not supported: names are resolved when the function is compiled", 2.0)
def by_name(x):
    return x * globals()["TOTAL"]


@refused("`id` is not supported: what it gives differs from run to run", 2.0)
def by_address(x):
    return x * id(x)


@refused("stores to the global variable `TOTAL` are not supported", 2.0)
def added_to_a_global(x):
    global TOTAL
    TOTAL = TOTAL + x
    return TOTAL


TOTAL = 0.0


HISTORY = [1.0]


@refused("`HISTORY` from outside is both read and changed", X)
def reads_what_it_adds(x):
    HISTORY.append(x[0])
    return _size() * x[1]


def _size():
    return sum(HISTORY)


TABLE = {None: 2.0, "a": object()}


@refused("only numbers and strings are supported as keys here", X)
def keyed_by_none(x):
    return x[0] * TABLE[None]


@refused("`tb_lineno` of a traceback is not supported: generated code raises elsewhere", X)
def line_of_an_exception(x):
    try:
        if x[0] > 0.0:
            raise ValueError
    except ValueError as error:
        return x[0] * error.__traceback__.tb_lineno
    return x[0]


@refused(
    "`filterwarnings` asks where warnings come from, which is not where the program is",
    X,
)
def filter_by_module(x):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module=__name__)
        return np.sum(np.log(x))
