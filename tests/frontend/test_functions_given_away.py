"""Functions of the program that are given to code which cannot be read: how they are written."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

import numpy as np

import gradscribe as gs

X = np.array([0.5, 1.5, 2.0])


def source_of(program: Any) -> str:
    """What stands between the head of the generated function and its derivatives."""
    function = gs.value_and_grad(program)
    value, _ = function(X)
    assert value == program(X)
    text: str = function.source
    return text.partition("\n")[2].partition("\n\n")[0]


def test_a_lambda_is_written_as_it_stands() -> None:
    def program(x: Any) -> Any:
        return np.sum(x) * len(re.sub("a", lambda m: m.group(0) * 2, "aba"))

    assert ' = len(sub("a", lambda m: m.group(0) * 2, "aba"))' in source_of(program)


def test_what_a_function_captures_is_bound_to_parameters_of_its_own() -> None:
    def program(x: Any) -> Any:
        times = len(x)
        return np.sum(x) * len(re.sub("a", lambda m: m.group(0) * times, "aba"))

    assert "lambda m, *, times=" in source_of(program)


def test_a_variable_that_is_bound_anew_is_looked_up() -> None:
    def program(x: Any) -> Any:
        held, k = np.zeros(3), 2.0

        def work() -> None:
            held[0] = k

        thread = threading.Thread(target=work)
        k = 3.0
        thread.start()
        thread.join()
        return np.sum(held * x)

    text = source_of(program)
    assert "    variables = SimpleNamespace()\n" in text
    assert "        held[0] = variables.k\n" in text
    assert text.index("variables.k = 2.0") < text.index("Thread(target=work)")
    assert text.index("variables.k = 3.0") < text.index(".start()")


def test_a_variable_that_a_function_assigns_is_read_back() -> None:
    def program(x: Any) -> Any:
        count = 0

        def counted(match: Any) -> str:
            nonlocal count
            count += 1
            return "b"

        re.sub("a", counted, "aba")
        return np.sum(x) * count

    value, gradient = gs.value_and_grad(program)(X)
    assert value == 8.0
    np.testing.assert_array_equal(gradient, [2.0, 2.0, 2.0])


def test_a_method_of_an_array_writes_to_it() -> None:
    def program(x: Any) -> Any:
        held = np.zeros(3)
        thread = threading.Thread(target=held.fill, args=(2.0,))
        thread.start()
        thread.join()
        return np.sum(held * x)

    value, gradient = gs.value_and_grad(program)(X)
    assert value == 8.0
    np.testing.assert_array_equal(gradient, [2.0, 2.0, 2.0])


KEPT: list[Any] = []


def test_what_is_kept_is_of_the_class_that_the_program_made() -> None:
    def program(x: Any) -> Any:
        w = 2.0

        def told(a, b=1.0):
            "What it does."
            return a * w * b

        KEPT.extend([told, np.vectorize(lambda v: v * w), np.vectorize(told)])
        return np.sum(x)

    KEPT.clear()
    gs.grad(program, compile=True)(X)
    told, times, mapped = KEPT
    assert told.__doc__ == "What it does."
    assert (type(times), type(mapped)) == (np.vectorize, np.vectorize)
    assert mapped.pyfunc(3.0) == told(3.0) == 6.0
    assert times(X).tolist() == mapped(X).tolist() == (X * 2.0).tolist()


CACHED: list[Any] = []


def with_a_cache(x):
    @functools.cache
    def doubled(number):
        return 2.0 * number

    CACHED.append(doubled)
    return np.sum(x) * doubled(3)


def test_a_function_with_a_cache_is_kept_as_one() -> None:
    CACHED.clear()
    np.testing.assert_array_equal(gs.grad(with_a_cache)(np.ones(2)), [6.0, 6.0])
    (kept,) = CACHED
    assert [kept(4), kept(4)] == [8.0, 8.0]
    assert kept.cache_info().hits == 1
