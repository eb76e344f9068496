"""`compile="auto"`: what can be compiled is, and the calls that cannot are recorded."""

from __future__ import annotations

import collections
import csv
import functools
import inspect
import io
import json
import math
import struct
import sys
import types
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.ndimage
import scipy.sparse

import gradscribe as gs
from gradscribe.errors import (
    ArgumentError,
    GradscribeError,
    NoDerivativeError,
    NotSpecializedError,
    UnknownTypeError,
    UnsupportedError,
)
from tests.every_mode import check_mode


def told(error: GradscribeError) -> tuple[str, str]:
    return error.what, error.advice


X = np.array([0.5, 1.5, 2.5])
W = np.array([1.0, -2.0, 0.5])


# -- helpers that cannot be compiled, one of each class --------------------------------------------


def validated(function: Any) -> Any:
    @functools.wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        bound = inspect.signature(function).bind(*args, **keywords)
        bound.apply_defaults()
        return function(*bound.args, **bound.kwargs)

    return checked


@validated
def of_a_checked_signature(x, scale=2.0):
    return np.sin(x) * scale


@functools.lru_cache
def nodes(count):
    found = []
    found.append(count)
    exec("", {})
    return np.linspace(0.0, 1.0, count)


def with_remembered_nodes(x):
    return x * nodes(len(x))


def of_signature(function: Any) -> Any:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def bound(*args: Any, **keywords: Any) -> Any:
        return function(*signature.bind(*args, **keywords).args)

    return bound


@of_signature
def of_a_bound_signature(x, scale=2.0):
    return np.sin(x) * scale


@validated
def of_numbers_and_new_arrays(x):
    out = np.zeros(len(x))
    out[0] = math.exp(x[0])
    out[1:] = np.asarray(x)[1:] * float(x[1])
    return out


calls = 0


def counting(x):
    global calls
    calls += 1
    return x * x


def reshaped(x):
    y = x * 2
    y.shape = (3, 1)
    return y


def by_a_program_in_a_string(x):
    return eval("np.cos(x) * x", {"np": np, "x": x})


def of_two_results(x, k=2):
    eval("0")
    return x * k, (np.sum(x), 3, None)


def in_a_list(x):
    eval("0")
    return [np.sin(x), np.cos(x)]


def handed_a_list(items, more):
    eval("0")
    return items[0] * items[1] + more["k"]


class Layer:
    def __init__(self):
        self.weights = W
        self.seen = 0

    def apply(self, x):
        self.seen += 1
        eval("0")
        return np.tanh(self.weights * x)


LAYER = Layer()

FUNCTIONS = {
    "a bound signature": lambda x: np.sum(of_a_bound_signature(x, 3.0) * x),
    "a checked signature": lambda x: np.sum(of_a_checked_signature(x) * x),
    "calls that are followed": lambda x: np.sum(of_numbers_and_new_arrays(x) * x),
    "a keyword": lambda x: np.sum(of_a_checked_signature(x, scale=3.0) ** 2),
    "remembered results": lambda x: np.sum(with_remembered_nodes(x) * x),
    "a global that is set": lambda x: np.sum(counting(x) * x),
    "a shape that is set": lambda x: np.sum(reshaped(x) @ np.ones((1, 2)) * np.sum(x)),
    "a program in a string": lambda x: np.sum(by_a_program_in_a_string(x * 2)),
    "a method": lambda x: np.sum(LAYER.apply(x) * x),
    "an argument in a list": lambda x: np.sum(handed_a_list([x, x * 2], {"k": x})),
    "a number": lambda x: by_a_program_in_a_string(x[0]) * x[1],
}


def of_tuple(x):
    a, (b, n, none) = of_two_results(x, k=3)
    if none is not None:  # `assert` is written anew by pytest, with a variable for None
        raise ValueError(none)
    return np.sum(a) * b * n


def of_list(x):
    a, b = in_a_list(x)
    return np.sum(a * b * x)


def in_loops_and_branches(x):
    y = x
    for i in range(4):
        if np.sum(y) > 1.0 or i == 0:
            y = by_a_program_in_a_string(y) + x
    return np.sum(y)


def in_a_comprehension(x):
    return sum([by_a_program_in_a_string(v) for v in x])


def in_a_nested_function(x):
    def inner(t):
        return by_a_program_in_a_string(t) * x

    return np.sum(inner(x) * inner(x * 2))


FUNCTIONS |= {
    f.__name__.replace("_", " "): f
    for f in (of_tuple, of_list, in_loops_and_branches, in_a_comprehension, in_a_nested_function)
}


def differences(function, x, step=1e-6):
    found = np.zeros_like(x)
    for i in range(len(x)):
        d = np.zeros_like(x)
        d[i] = step
        found[i] = (function(x + d) - function(x - d)) / (2 * step)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_helpers_are_recorded_and_the_rest_is_compiled(name):
    function = FUNCTIONS[name]
    gradient = gs.value_and_grad(function, compile="auto")
    expected = function(X), differences(function, X)
    recorded = gs.value_and_grad(function, compile=False)(X)
    for _ in range(3):  # recorded as a whole, then compiled
        value, d_x = gradient(X)
        assert value == pytest.approx(expected[0], rel=1e-14)
        np.testing.assert_allclose(d_x, expected[1], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(d_x, recorded[1], rtol=1e-12)
    assert "is compiled, but for calls that are recorded" in gradient.report
    assert "_vjp(" in gradient.source
    value, d_x = gradient(X * 1.5)  # of the same types
    np.testing.assert_allclose(d_x, differences(function, X * 1.5), rtol=1e-7, atol=1e-7)


def test_what_is_compiled_as_a_whole_is_not_recorded(monkeypatch):
    gradient = gs.grad(lambda x: np.sum(x * x), compile="auto")
    monkeypatch.setattr(gradient, "recorded", None)
    np.testing.assert_array_equal(gradient(X), 2 * X)
    assert gradient.report.endswith("is compiled as a whole")


# -- what is generated, and said -------------------------------------------------------------------


def loss(x, w):
    y = by_a_program_in_a_string(x)
    total = 0.0
    for i in range(2):
        total += np.sum(y * w) * i
    return total


LOSS = """\
def loss_gradient(x, w, d_total=1.0):
    _, by_a_program_in_a_string_pullback = by_a_program_in_a_string_vjp(x)

    d_t = 0.0  # for i in range(2):
    branch = False
    for i in reversed(range(2)):
        d_t += d_total * i  # total += np.sum(y * w) * i
        branch = True  # for i in range(2):
    if branch:  # y = by_a_program_in_a_string(x)
        d_y = d_t * w  # total += np.sum(y * w) * i
        d_x = by_a_program_in_a_string_pullback(d_y)  # y = by_a_program_in_a_string(x)
    else:
        d_x = np.zeros_like(x)
    return d_x
"""


def test_generated_code_shows_the_call_by_its_name():
    gradient = gs.grad(loss, compile="auto")
    gradient(X, W)
    assert gradient.source == LOSS


def test_a_pullback_is_kept_for_each_iteration():
    gradient = gs.grad(in_loops_and_branches, compile="auto")
    gradient(X)
    assert "steps.append((True, by_a_program_in_a_string_pullback))" in gradient.source
    assert "in reversed(steps)" in gradient.source


def test_the_report_says_which_calls_are_recorded_and_why():
    gradient = gs.grad(loss, compile="auto")
    with pytest.raises(NotSpecializedError, match="was not called yet"):
        gradient.report
    gradient(X, W)
    line = loss.__code__.co_firstlineno + 1
    assert gradient.report == (
        "`loss` is compiled, but for calls that are recorded:\n"
        f'  File "{__file__}", line {line}: `by_a_program_in_a_string`, for `eval` is not '
        "supported: a program in a string has no source to compile"
    )


def of_namedtuple(x):
    eval("0")
    return namedtuple("Pair", "a b")(x, x)


def test_what_cannot_be_compiled_around_a_call_is_recorded_as_a_whole():
    def function(x):
        pair = of_namedtuple(x)
        return np.sum(pair.a * pair.b)

    gradient = gs.grad(function, compile="auto")
    for _ in range(2):
        np.testing.assert_array_equal(gradient(X), 2 * X)
    assert gradient.report.startswith("`function` is recorded as a whole: `eval` is not supported")
    with pytest.raises(NotSpecializedError, match="so it has no source"):
        gradient.source


def test_of_the_outermost_function_itself_all_calls_are_recorded():
    def function(x):
        return eval("np.sum(x * x)", {"np": np, "x": x})

    gradient = gs.grad(function, compile="auto")
    for _ in range(2):
        np.testing.assert_array_equal(gradient(X), 2 * X)
    assert "recorded as a whole" in gradient.report


# -- types are what was seen, and are checked ------------------------------------------------------

returned = "the argument"


def of_changing_type(x):
    results = {
        "the argument": x * 2,
        "more": np.concatenate([x, x]),
        "a number": np.sum(x),
        "single": (x * 3).astype(np.float32),
    }
    return eval("results[returned]", {"results": results, "returned": returned})


@pytest.mark.parametrize("kind", ["more", "a number", "single"])
def test_another_type_at_a_later_call_needs_another_specialization(kind, monkeypatch):
    def function(x):
        y = of_changing_type(x)
        return np.sum(y * y)

    module = sys.modules[__name__]
    gradient = gs.value_and_grad(function, compile="auto")
    for now in ("the argument", "the argument", kind, kind, "the argument", kind):
        monkeypatch.setattr(module, "returned", now)
        value, d_x = gradient(X)
        assert value == pytest.approx(function(X), rel=1e-6)
        expected = gs.grad(function, compile=False)(X)
        np.testing.assert_allclose(d_x, expected, rtol=1e-6)


def test_lengths_that_follow_those_of_the_arguments_need_no_other_specialization():
    gradient = gs.grad(FUNCTIONS["a checked signature"], compile="auto")
    gradient(X), gradient(X)
    source = gradient.source
    runs = []
    gradient.recorded = lambda args, keywords: runs.append(args)
    for count in (2, 5):
        x = np.linspace(0.0, 1.0, count)
        np.testing.assert_allclose(
            gradient(x), differences(FUNCTIONS["a checked signature"], x), atol=1e-7
        )
    assert runs == []
    assert gradient.source is source


def test_a_path_that_was_not_taken_yet_is_seen_when_it_is():
    def function(x):
        if x[0] > 0.0:
            return np.sum(by_a_program_in_a_string(x))
        return np.sum(in_a_list(x)[0] * by_a_program_in_a_string(x * 2))

    gradient = gs.grad(function, compile="auto")
    for x in (X, X, -X, -X, X, -2 * X):
        np.testing.assert_allclose(gradient(x), differences(function, x), atol=1e-7)
    assert "in_a_list" in gradient.report
    assert gradient.source.count("_vjp") == 3


def telling(x):
    print("called")
    return of_changing_type(x)


def test_what_was_told_is_not_told_twice(capsys, monkeypatch):
    def function(x):
        return np.sum(telling(x) * 2)

    gradient = gs.grad(function, compile="auto")
    for _ in range(3):
        gradient(X)
        assert capsys.readouterr().out == "called\n"
    monkeypatch.setattr(sys.modules[__name__], "returned", "a number")
    with pytest.raises(UnsupportedError) as refusal:
        gradient(X)
    assert told(refusal.value) == (
        "a recorded call returned float64, not float64[3], as it was compiled for, and what ran "
        "before it must not run twice",
        "call the function again: it is compiled anew for that",
    )
    assert capsys.readouterr().out == "called\n"
    np.testing.assert_array_equal(gradient(X), np.full(3, 2.0))
    assert capsys.readouterr().out == "called\n"


OUTSIDE, DRAWS = np.ones((2, 3)), []


def shares_after_a_draw(x):
    DRAWS.append(np.random.random())
    part = np.asfortranarray(OUTSIDE.reshape(1, 6))
    part[0, 0] = 3.0
    return np.sum(part) * x[0] * DRAWS[-1]


def shares_before_a_draw(x):
    part = np.asfortranarray(OUTSIDE.reshape(1, 6))
    part[0, 0] = 3.0
    DRAWS.append(np.random.random())
    return np.sum(part) * x[0] * DRAWS[-1]


def shares_after_what_c_has_stored(x):
    struct.pack_into("d", OUTSIDE, 0, OUTSIDE[0, 1] + OUTSIDE[0, 0])
    flat = OUTSIDE.reshape(6)
    OUTSIDE[0, 1] = 3.0
    return np.sum(flat) * x[0]


@pytest.mark.parametrize("derive", [gs.value_and_grad, gs.hessian])
@pytest.mark.parametrize(
    ("function", "times"),
    [(shares_after_a_draw, 1), (shares_before_a_draw, 0), (shares_after_what_c_has_stored, 1)],
)
def test_what_ran_before_shared_memory_was_found_does_not_run_twice(function, times, derive):
    def restart():
        np.random.seed(0)
        DRAWS.clear()
        OUTSIDE[:] = 1.0

    def state():
        return np.random.get_state()[2], DRAWS[:], OUTSIDE.tolist()

    restart()
    value = function(X)
    left = state()
    transform = derive(function, compile="auto")
    for call in range(3):
        restart()
        if call < times:
            with pytest.raises(UnsupportedError, match="what ran before it must not run twice"):
                transform(X)
            continue
        found = transform(X)
        assert state() == left
        assert derive is gs.hessian or found[0] == value


def test_counters_count_each_call_once():
    before = calls
    gradient = gs.grad(FUNCTIONS["a global that is set"], compile="auto")
    for count in range(1, 4):
        gradient(X)
        assert calls == before + count


# -- memory, and what is found outside -------------------------------------------------------------


def writing(x):
    eval("0")
    x[0] = 5.0
    return x * 2


def view_of(x):
    eval("0")
    return x.reshape(3, 1)


def writes_to_its_argument(x):
    z = x * 1
    y = writing(z)
    return np.sum(y * z)


def stores_under_a_view(x):
    z = x * 1
    y = view_of(z)
    z[0] = 7.0
    return np.sum(y) * z[1]


def stores_to_a_view(x):
    z = x * 1
    y = view_of(z)
    y += 1
    return np.sum(y) * z[1]


TABLE = np.ones(3)


def shared(x):
    eval("0")
    return TABLE


def stores_to_what_others_have(x):
    t = shared(x)
    t *= 2.0
    return np.sum(t * x) * np.sum(TABLE)


scale = 2.0


def sets_the_scale(x):
    global scale
    scale = 3.0
    return x * 1


def reads_what_a_call_sets(x):
    global scale
    scale = 2.0
    return np.sum(sets_the_scale(x)) * scale


def decided_after_a_call(x):
    return np.sum(sets_the_level(x)) * (2.0 if level == "low" else 3.0)


def read_after_a_call(x):
    return np.sum(sets_the_scale(x)) * scale


@pytest.mark.parametrize(
    "function",
    [
        *(writes_to_its_argument, stores_under_a_view, stores_to_a_view),
        *(read_after_a_call, decided_after_a_call),
    ],
    ids=lambda f: f.__name__,
)
def test_memory_that_a_recorded_call_may_share_is_as_in_python(function):
    gradient = gs.value_and_grad(function, compile="auto")
    for _ in range(3):
        value, d_x = gradient(X)
        assert value == function(X)
        np.testing.assert_allclose(d_x, differences(function, X), atol=1e-7)


def test_memory_of_others_is_not_used_again():
    def function(x):
        return np.sum(shared(x) * x + x)

    gradient = gs.grad(function, compile="auto")
    for _ in range(3):
        np.testing.assert_array_equal(gradient(X), np.full(3, 2.0))
    np.testing.assert_array_equal(TABLE, np.ones(3))


def valid(x, above=0.0):
    assert eval("np.all(x > above)", {"np": np, "x": x, "above": above})
    return x


def checks_its_arguments(x):
    y = valid(x)
    z = valid(y * 2, above=-1.0)
    z += 1.0
    return np.sum(z * y)


def tells_objects_apart(x):
    y = valid(x)
    return np.sum(x * (2.0 if y is x else 3.0))


def grows_a_list(x):
    items = [x, x * 2]
    valid_items(items).append(x * 3)
    return np.sum(items[2] * items[0])


def valid_items(items):
    eval("0")
    return items


def squared_if_one(a, b):
    eval("0")
    return a**2 if a is b else a * b * 3.0


def hands_over_one_object_twice(x):
    y = x * 1.0
    return np.sum(squared_if_one(y, y) * squared_if_one(x, y))


def test_one_object_is_one_for_the_function_that_is_called():
    gradient = gs.value_and_grad(hands_over_one_object_twice, compile="auto")
    for _ in range(3):
        value, d_x = gradient(X)
        assert value == pytest.approx(hands_over_one_object_twice(X))
        np.testing.assert_allclose(d_x, differences(hands_over_one_object_twice, X), rtol=1e-7)
    assert "is compiled, but for" in gradient.report


level = "low"


def sets_the_level(x):
    global level
    level = "high"
    return x * 1


@pytest.mark.parametrize(
    "function",
    [checks_its_arguments, tells_objects_apart, grows_a_list],
    ids=lambda f: f.__name__,
)
def test_what_returns_an_argument_returns_that_very_object(function):
    gradient = gs.value_and_grad(function, compile="auto")
    for _ in range(3):
        value, d_x = gradient(X)
        assert value == function(X)
        np.testing.assert_allclose(d_x, differences(function, X), rtol=1e-7)
    assert "is compiled, but for" in gradient.report
    assert "_vjp" not in gradient.source


def tells_a_table(x):
    t = shared(x)
    return np.sum(x * t) * (2.0 if t is TABLE else 3.0)


def tells_whether_it_is_one(x):
    a, b = with_kept_ones(x), with_kept_ones(x)
    return np.sum(x * a * b) * (2.0 if a is b else 3.0)


ONES: dict[int, Any] = {}


def with_kept_ones(x):
    eval("0")
    return ONES.setdefault(len(x), np.ones(len(x)))


@pytest.mark.parametrize(
    "function", [tells_a_table, tells_whether_it_is_one], ids=lambda f: f.__name__
)
def test_a_result_may_be_an_object_that_is_known_elsewhere(function):
    gradient = gs.value_and_grad(function, compile="auto")
    for _ in range(3):
        value, d_x = gradient(X)
        assert value == function(X)
        np.testing.assert_allclose(d_x, differences(function, X), rtol=1e-7)


given: list[Any] = []


def keep(items):
    given.append(items)
    return eval("np.sum(items[0])", {"np": np, "items": items})


def count_kept():
    return eval("float(len(given[-1]))", {"given": given})


def grows_what_is_kept(x):
    items = [x, x * 2]
    total = keep(items)
    items.append(x)
    return total * count_kept()


class Memory:
    previous: Any = None

    def start(self):
        self.previous = eval("None")

    def step(self, x):
        eval("0")
        found = 1.0 if self.previous is None else np.sum(self.previous)
        self.previous = x
        return x * found


MEMORY = Memory()


def changes_what_is_kept(x):
    MEMORY.start()
    y = x * 1
    total = 0.0
    for _ in range(3):
        total += np.sum(MEMORY.step(y))
        y += 1.0
    return total


@pytest.mark.parametrize(
    "function", [grows_what_is_kept, changes_what_is_kept], ids=lambda f: f.__name__
)
def test_what_a_call_has_kept_is_seen_to_change(function):
    gradient = gs.value_and_grad(function, compile="auto")
    for _ in range(3):
        value, d_x = gradient(X)
        assert value == pytest.approx(function(X))
        np.testing.assert_allclose(d_x, differences(function, X), rtol=1e-7)
    assert "what another such call may have kept has changed since" in gradient.report


def test_an_array_that_calls_have_not_kept_may_change_between_them():
    def function(x):
        y = x * 1
        for _ in range(3):
            y += 0.1 * by_a_program_in_a_string(y)
        return np.sum(y)

    gradient = gs.grad(function, compile="auto")
    for _ in range(2):
        np.testing.assert_allclose(gradient(X), differences(function, X), rtol=1e-7)
    assert "is compiled, but for" in gradient.report


def test_arguments_that_no_derivative_passes_by_are_no_matter():
    def weighted(x, w):
        eval("0")
        assert isinstance(w, np.ndarray)
        return x * w.tobytes().count(b"@")  # of a plain array alone

    def function(x):
        return np.sum(weighted(x, W))

    gradient = gs.grad(function, compile="auto")
    for _ in range(2):
        np.testing.assert_array_equal(gradient(X), np.full(3, float(W.tobytes().count(b"@"))))


def test_what_the_helper_raises_is_the_users():
    def failing(x):
        eval("0")
        if x[0] > 0:
            raise KeyError("no such node")
        return x

    gradient = gs.grad(lambda x: np.sum(failing(x) ** 2), compile="auto")
    gradient(-X), gradient(-X)
    for x in (X, -X, X):
        if x[0] > 0:
            with pytest.raises(KeyError, match="no such node"):
                gradient(x)
        else:
            np.testing.assert_array_equal(gradient(x), 2 * x)


memory: dict[str, Any] = {}


def remember(x):
    memory["x"] = x
    eval("0")
    return np.sum(x)


def remembered(y):
    eval("0")
    return y * memory["x"]


def recall():
    eval("0")
    return memory["x"]


class Cell:
    def put(self, x):
        self.x = x
        eval("0")

    def get(self):
        eval("0")
        return self.x * 2


CELL = Cell()


def through_a_global(x):
    remember(x * 3)
    return np.sum(remembered(x))


def through_a_global_without_arguments(x):
    total = remember(x * x)
    return np.sum(recall()) * total


def through_an_object(x):
    CELL.put(np.sin(x))
    return np.sum(CELL.get() * x)


@pytest.mark.parametrize(
    "function",
    [through_a_global, through_a_global_without_arguments, through_an_object],
    ids=lambda f: f.__name__,
)
def test_derivatives_that_pass_by_other_ways_than_arguments_are_not_lost(function):
    gradient = gs.grad(function, compile="auto")
    for _ in range(3):
        np.testing.assert_allclose(gradient(X), differences(function, X), atol=1e-7)
    expected = gs.jvp(function, (X,), (W,), compile=False)[1]
    for _ in range(3):
        assert gs.jvp(function, (X,), (W,), compile="auto")[1] == pytest.approx(expected)


def applied(function, values):
    eval("0")
    return np.array([function(value) for value in values])


def fills_a_list(x):
    seen = []
    total = np.sum(applied(lambda v: seen.append(v) or v, W))
    return total * np.sum(x**2) + len(seen) * x[0]


def counts_in_a_variable(x):
    count = 0

    def counted(v):
        nonlocal count
        count += 1
        return v

    total = np.sum(applied(counted, W))
    return total * np.sum(x**2) + count * x[0]


def binds_a_variable_anew(x):
    factor = 1.0
    total = np.sum(applied(lambda v: v * factor, W))
    factor = 5.0
    return (total + np.sum(applied(lambda v: v * factor, W))) * np.sum(x**2)


def adds_to_an_array(x):
    sums = np.zeros(2)

    def added(v):
        sums[0] += v
        return v

    before = sums[0]
    total = np.sum(applied(added, W))
    return total * np.sum(x**2) + (sums[0] - before) * x[0]


def counts_by_a_partial_of_a_dict(x):
    counts = {"calls": 0}

    def counted(counts, v):
        counts["calls"] += 1
        return v

    total = np.sum(applied(functools.partial(counted, counts), W))
    return total * np.sum(x**2) + counts["calls"] * x[0]


def takes_from_a_generator(x):
    seen = []
    total = np.sum(applied(lambda v: v, (seen.append(v) or v for v in W)))
    return total * np.sum(x**2) + len(seen) * x[0]


@pytest.mark.parametrize(
    "function",
    [fills_a_list, counts_in_a_variable, binds_a_variable_anew, adds_to_an_array]
    + [counts_by_a_partial_of_a_dict, takes_from_a_generator],
    ids=lambda f: f.__name__,
)
def test_what_a_function_changes_that_a_recorded_call_is_given_is_not_lost(function):
    value_and_grad = gs.value_and_grad(function, compile="auto")
    for _ in range(3):
        value, d_x = value_and_grad(X)
        assert value == function(X)
        np.testing.assert_allclose(d_x, differences(function, X), rtol=1e-7, atol=1e-7)


def through_a_file(x):
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    return np.sum(np.load(file)) * x[1]


def test_what_passes_through_a_file_is_refused():
    gradient = gs.grad(through_a_file, compile="auto")
    for _ in range(3):
        with pytest.raises(NoDerivativeError):
            gradient(X)
    with pytest.raises(NoDerivativeError):
        gs.jvp(through_a_file, (X,), (W,), compile="auto")


# -- other transforms ------------------------------------------------------------------------------


def vector(x):
    return of_a_checked_signature(x) * x * np.sum(x)


def plain_vector(x):
    return np.sin(x) * 2.0 * x * np.sum(x)


def test_vjp_and_jvp():
    expected = gs.vjp(plain_vector, X)[1](W)[0]
    for _ in range(2):
        out, pullback = gs.vjp(vector, X, compile="auto")
        np.testing.assert_allclose(out, plain_vector(X))
        np.testing.assert_allclose(pullback(W)[0], expected)
        np.testing.assert_allclose(pullback(W)[0], expected)
    assert "of_a_checked_signature_pullback(" in pullback.source
    expected = gs.jvp(plain_vector, (X,), (W,))[1]
    for _ in range(2):
        out, tangent = gs.jvp(vector, (X,), (W,), compile="auto")
        np.testing.assert_allclose(out, plain_vector(X))
        np.testing.assert_allclose(tangent, expected)


@pytest.mark.parametrize("transform", [gs.jacobian, gs.jacrev, gs.jacfwd])
def test_jacobians(transform):
    jacobian = transform(vector, compile="auto")
    for _ in range(2):
        np.testing.assert_allclose(jacobian(X), gs.jacobian(plain_vector)(X))


def scalar(x):
    return np.sum(vector(x) ** 2)


def plain_scalar(x):
    return np.sum(plain_vector(x) ** 2)


def test_second_derivatives():
    expected = gs.hessian(plain_scalar)(X)
    hessian = gs.hessian(scalar, compile="auto")
    for _ in range(2):
        np.testing.assert_allclose(hessian(X), expected)
        np.testing.assert_allclose(gs.hvp(scalar, X, W, compile="auto"), expected @ W)
    along = gs.grad(gs.grad(lambda t: by_a_program_in_a_string(t) * t, compile="auto"))
    for _ in range(2):
        t = 0.7  # of t² cos t
        assert along(t) == pytest.approx((2 - t * t) * np.cos(t) - 4 * t * np.sin(t))


def test_several_arguments_and_auxiliary_results():
    def function(x, w):
        y = of_a_checked_signature(x)
        return np.sum(y * w), y

    gradient = gs.value_and_grad(function, argnums=(1, 0), has_aux=True, compile="auto")
    for _ in range(2):
        (value, aux), (d_w, d_x) = gradient(X, W)
        np.testing.assert_allclose(aux, 2 * np.sin(X))
        np.testing.assert_allclose(d_w, aux)
        np.testing.assert_allclose(d_x, 2 * np.cos(X) * W)
        assert value == pytest.approx(np.sum(aux * W))


def test_a_specialization_needs_values():
    def loss(x, w):
        return np.sum(by_a_program_in_a_string(x) * w)

    function = gs.differentiable(loss, compile="auto")
    with pytest.raises(ArgumentError) as refusal:
        function.specialize("float64[:]", "float64[:]")
    assert told(refusal.value) == (
        "`loss` has calls that are recorded, and their types are seen when they run",
        "call `loss.specialize(…)` with values, not with types",
    )
    special = function.specialize(X, W)
    np.testing.assert_allclose(special.gradient(X, W)[0], differences(lambda x: loss(x, W), X))
    assert "`by_a_program_in_a_string`, for" in special.report
    assert "by_a_program_in_a_string_pullback(" in function.gradient_source


def test_tensors_pass_through_functions_that_cannot_be_compiled():
    function = gs.differentiable(loss, compile="auto")
    for _ in range(2):
        x = gs.tensor(X, requires_grad=True)
        function(x, W).backward()
        np.testing.assert_allclose(x.grad.numpy(), differences(lambda x: loss(x, W), X))


def test_native_code_has_no_recorded_calls():
    for transform in (gs.grad, gs.jacobian, gs.hessian):
        with pytest.raises(ArgumentError) as refusal:
            transform(loss, jit=True, compile="auto")
        assert told(refusal.value) == (
            "`jit=True` runs generated code, and with `compile='auto'` some calls are recorded",
            "leave one of them out",
        )


def test_compiled_code_that_differentiates_is_refused_as_before():
    with pytest.raises(GradscribeError, match="`eval` is not supported"):
        gs.grad(loss)(X, W)


@validated
def shown(v):
    return str(v)


@validated
def doubled_and_shown(v):
    return v * 2, str(v)


@validated
def as_hexadecimal(v):
    return float(v).hex()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: float(shown(x[0])) * x[1],
        lambda x: doubled_and_shown(x[0])[0] * float(doubled_and_shown(x[0])[1][:4]),
        lambda x: float.fromhex(as_hexadecimal(x[0])) * x[1],
        lambda x: json.loads(json.dumps(float(x[0]))) * 1.0,
    ],
)
def test_no_number_comes_out_of_a_call_in_a_text(function):
    """A text has no derivative; the number that is read from it may be what is differentiated."""
    for transform in (gs.grad(function, compile="auto"), gs.hessian(function, compile="auto")):
        with pytest.raises(NoDerivativeError):
            transform(X)


def test_texts_of_what_is_differentiated_may_decide():
    def loss(x):
        return x[0] * len(shown(x[0])) if shown(x[0]).startswith("0") else x[1]

    np.testing.assert_array_equal(gs.grad(loss, compile="auto")(X), [3.0, 0.0, 0.0])


def unpacked(x):
    return np.sum(x * struct.unpack("3d", struct.pack("3d", 1.0, 2.0, 3.0)))


def parsed(x):
    return np.sum(x) * json.loads("[2.5]")[0]


SPLINE = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], W)


def interpolated(x):
    return np.sum(x * SPLINE(0.3))


def of_a_constant_matrix(x):
    return np.sum(x * (scipy.sparse.csr_matrix(np.eye(3) * 2) @ W))


@pytest.mark.parametrize("function", [unpacked, parsed, interpolated, of_a_constant_matrix])
def test_where_a_type_is_not_known_the_way_out_is_told_and_is_one(function):
    with pytest.raises(UnknownTypeError) as caught:
        gs.grad(function)(X)
    assert str(caught.value).endswith('run such calls as they are: `compile="auto"`')
    value_and_grad = gs.value_and_grad(function, compile="auto")
    for x in (X, X * 1.5):
        value, d_x = value_and_grad(x)
        assert value == function(x)
        np.testing.assert_allclose(d_x, differences(function, x), rtol=1e-7, atol=1e-7)


def test_a_call_that_raises_returns_nothing():
    def smooth(x):
        return scipy.ndimage.gaussian_filter(x, 1.0) * x

    with pytest.raises(NoDerivativeError, match="out of the record of the run"):
        gs.jacobian(smooth, compile="auto")(np.ones(3))


STACK: list[float] = [1.0]
STATE = types.SimpleNamespace(k=1.0)
KEPT: collections.deque = collections.deque(maxlen=4)


def top():
    locals()  # is not compiled
    return STACK[-1] * STATE.k


def touch():
    if KEPT:
        KEPT[-1][0] = 50.0


class Pushed:
    def __enter__(self):
        STACK.append(3.0)

    def __exit__(self, *args):
        STACK.pop()


def pushed_and_popped(x):
    STACK.append(5.0)
    v = top()
    STACK.pop()
    return v * np.sum(x)


def pushed_in_a_loop(x):
    total = 0.0
    for i in range(2):
        STACK.append(2.0 + i)
        total = total + top()
    del STACK[1:]
    return total * np.sum(x)


def pushed_by_a_manager(x):
    with Pushed():
        return top() * np.sum(x)


def stored_and_restored(x):
    before = STATE.k
    STATE.k = 9.0
    v = top()
    STATE.k = before
    return v * np.sum(x)


def kept_and_changed(x):
    y = np.ones(3)
    KEPT.append(y)
    touch()
    return np.sum(y * x)


@pytest.mark.parametrize(
    "function",
    [
        *(pushed_and_popped, pushed_in_a_loop, pushed_by_a_manager, stored_and_restored),
        kept_and_changed,
    ],
)
def test_a_recorded_call_sees_what_is_changed_before_it(function):
    value_and_grad = gs.value_and_grad(function, compile="auto")
    for x in (X, X * 2.0, X):
        value, d_x = value_and_grad(x)
        assert value == function(x)
        np.testing.assert_allclose(d_x, differences(function, x), rtol=1e-6)
        assert STACK == [1.0]
        assert gs.jvp(function, (x,), (x,), compile="auto")[0] == function(x)


def around():
    k = 2.0

    def read(x):
        return np.sum(x) * k

    def put(value):
        nonlocal k
        k = value

    return read, put


read_around, put_around = around()


def set_around_a_call(x):
    put_around(3.0)
    first = read_around(x)
    put_around(2.0)
    return first + read_around(x)


def test_a_variable_around_that_a_recorded_call_sets_is_read_as_it_is_then():
    value_and_grad = gs.value_and_grad(set_around_a_call, compile="auto")
    for _ in range(4):
        assert value_and_grad(X)[0] == set_around_a_call(X)


class Title(str):
    def loud(self):
        return super().upper()


TITLE = Title("ab")


def test_a_text_of_a_class_is_one_where_its_method_is_recorded():
    def f(x):
        return len(TITLE.loud()) * x[0] + len(Title("abc").loud()) * x[1]

    value_and_grad = gs.value_and_grad(f, compile="auto")
    assert [value_and_grad(np.ones(2))[0] for _ in range(2)] == [5.0, 5.0]


def ones_by_names(n):
    return globals()["np"].ones(n)


def overwrites_a_recorded_result(x):
    weights = ones_by_names(len(x))
    before = np.sum(weights * x)
    struct.pack_into("d", weights, 0, 5.0)
    return before + np.sum(weights * x**2)


def test_code_in_c_that_writes_to_what_a_recorded_call_returned():
    x = np.array([0.7, 1.3, 0.4])
    gradient = gs.grad(overwrites_a_recorded_result, compile="auto")
    for _ in range(3):
        np.testing.assert_allclose(gradient(x), [1 + 10 * 0.7, 1 + 2 * 1.3, 1 + 2 * 0.4])


# -- calls that a run comes to, and does not tell of -----------------------------------------------


class Rows:
    """Gives numbers by code that is not compiled."""

    def __init__(self, *items):
        self.items = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        return float(json.loads(json.dumps(next(self.items))))

    def __enter__(self):
        return json.loads(json.dumps([2.0, 3.0]))

    def __exit__(self, *error):
        return json.loads("false")


def by_a_loop_over_rows(x):
    total = 0.0
    for row in csv.DictReader(io.StringIO("a,b\n1.5,2\n2.5,3\n")):
        total += float(row["a"])
    return np.sum(x * x) * total


def by_threads(x):
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(abs, [1.0, 2.0, -3.0]))
    return np.sum(x * x) * found[2]


def by_threads_of_no_block(x):
    return np.sum(x * x) * list(ThreadPoolExecutor().map(abs, [1.0, 2.0, -3.0]))[2]


def by_a_loop_over_an_iterator_of_the_user(x):
    total = 0.0
    for number in Rows(1.5, 2.5):
        total += number
    return np.sum(x * x) * total


def by_a_manager_of_the_user(x):
    with Rows() as numbers:
        return np.sum(x * x) * numbers[1]


def on_one_path(x):
    if x[0] > 0:
        with ThreadPoolExecutor() as pool:
            return np.sum(x * x) * sum(pool.map(abs, [1.0, 2.0, -3.0]))
    return np.sum(x)


UNTOLD = [
    *([by_a_loop_over_rows] if sys.version_info < (3, 13) else []),  # refused there: to be mended
    *(by_threads, by_threads_of_no_block, on_one_path),
    *(by_a_loop_over_an_iterator_of_the_user, by_a_manager_of_the_user),
]


@pytest.mark.parametrize("function", UNTOLD)
@pytest.mark.parametrize("mode", ["auto", "recorded"])
def test_a_call_of_which_no_run_tells_is_not_taken_for_one_that_is_not_made(function, mode):
    check_mode(mode, function, X)


@pytest.mark.parametrize("function", UNTOLD)
def test_the_same_by_its_vjp_and_jvp(function):
    for _ in range(3):
        value, pullback = gs.vjp(function, X, compile="auto")
        np.testing.assert_allclose(value, function(X))
        np.testing.assert_allclose(pullback(1.0)[0], differences(function, X), rtol=1e-5)
        tangent = gs.jvp(function, (X,), (W,), compile="auto")[1]
        np.testing.assert_allclose(tangent, differences(function, X) @ W, rtol=1e-5)
