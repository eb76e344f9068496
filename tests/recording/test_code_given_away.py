"""What code in C that was given a function of the program raises, as it gets what records of it."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError
from tests.every_mode import check_mode

DATABASE = sqlite3.connect(":memory:")
X = np.array([3.0, 4.0])


def of_a_function(x):
    DATABASE.create_function("g", 0, lambda: float(x[0]))
    DATABASE.execute("select g()").fetchone()
    return x[1] ** 2


def in_a_loop(x):
    DATABASE.create_function("g", 0, lambda: x[0] * 2.0)
    return x[1] * sum(row[0] for row in DATABASE.execute("select g() union select 2.0"))


def of_an_aggregate(x):
    class Sum:
        def __init__(self):
            self.total = 0.0

        def step(self, value):
            self.total += value

        def finalize(self):
            return self.total * float(x[0])

    DATABASE.create_aggregate("ag", 1, Sum)
    return x[1] * DATABASE.execute("select ag(2.0)").fetchone()[0]


def handled(x):
    DATABASE.create_function("g", 0, lambda: float(x[0]))
    try:
        return x[1] * DATABASE.execute("select g()").fetchone()[0]
    except sqlite3.Error:
        return x[1] ** 2


def refused_in_it(x):
    DATABASE.create_function("g", 0, lambda: x.tobytes())
    DATABASE.execute("select g()").fetchone()
    return x[1] ** 2


_FUNCTIONS = [of_a_function, in_a_loop, of_an_aggregate, handled, refused_in_it]


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_what_c_makes_of_it_is_a_refusal(function: Any) -> None:
    for _ in range(2):
        with pytest.raises(NoDerivativeError):
            gs.value_and_grad(function, compile=False)(X)
        with pytest.raises(NoDerivativeError):
            gs.jvp(function, (X,), (X,), compile=False)


def test_the_refusal_that_it_swallows_is_the_one_that_is_seen() -> None:
    with pytest.raises(NoDerivativeError, match="`tobytes` takes a value") as error:
        gs.grad(refused_in_it, compile=False)(X)
    assert isinstance(error.value.__cause__, sqlite3.OperationalError)


def other_error(x):
    DATABASE.create_function("g", 0, lambda: 1.0)
    try:
        DATABASE.execute("select nothing()")
    except sqlite3.Error:
        return x[1] ** 2
    return x[0]


def own_error(x):
    DATABASE.create_function("g", 0, lambda: float(x[0]))
    try:
        raise sqlite3.OperationalError("own")
    except sqlite3.Error:
        return x[1] ** 2


@pytest.mark.parametrize("function", [other_error, own_error])
def test_what_the_program_raises_itself_it_handles(function: Any) -> None:
    check_mode("recorded", function, X)
    value, tangent = gs.jvp(function, (X,), (X,), compile=False)
    assert (value, tangent) == (16.0, 32.0)
