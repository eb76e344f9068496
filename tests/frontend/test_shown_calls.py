"""Calls that only show something, and run code of the user's in doing so."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from gradscribe.testing import check_grad

X = np.array([1.0, 2.0])
COUNTS: list[float] = []
LIMITS = [1.0]
WEIGHTS = np.array([3.0, 4.0])


class Counter:
    n = 0.0


class Count(Counter):
    def __repr__(self):
        self.n += 1.0
        return f"<{self.n}>"


class Name(Counter):
    def __repr__(self):
        return f"<{self.n}>"


COUNTER, COUNT, NAME = Counter(), Count(), Name()


class Keeps(logging.Handler):
    last: Any = 0.0

    def emit(self, record):
        self.last = record.args[0] if record.args else record.getMessage()


class Counts(logging.Handler):
    def emit(self, record):
        COUNTS.append(1.0)


class CountsInside(logging.Handler):
    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def emit(self, record):
        self.counter.n += 1.0


class Reads(logging.Handler):
    def emit(self, record):
        self.seen = LIMITS[0]


class Adapter(logging.LoggerAdapter):
    def process(self, message, keywords):
        COUNTS.append(1.0)
        return message, keywords


def counting_filter(record):
    COUNTS.append(1.0)
    return True


def logger(*handlers: logging.Handler) -> logging.Logger:
    made = logging.Logger("own")
    for handler in handlers or (logging.StreamHandler(io.StringIO()),):
        made.addHandler(handler)
    return made


KEEPER = Keeps()
KEEPING = logger(KEEPER)
COUNTING = logger(Counts())
COUNTING_INSIDE = logger(CountsInside(COUNTER))
READING = logger(Reads())
PLAIN = logger()
FILTERING = logger()
FILTERING.addFilter(counting_filter)
ADAPTED = Adapter(PLAIN, {})


def kept(x):
    KEEPING.info("loss %f", np.sum(x**2))
    return KEEPER.last * x[0]


def kept_as_text(x):
    KEEPING.info(f"{np.sum(x**2)}")
    return float(KEEPER.last) * x[0]


def counted(x):
    COUNTING.info("step")
    return len(COUNTS) * np.sum(x)


def counted_after(x):
    count = len(COUNTS)
    COUNTING.info("step")
    return count * np.sum(x)


def counted_inside(x):
    COUNTING_INSIDE.info("step")
    return COUNTER.n * np.sum(x)


def overwritten(x):
    COUNTING_INSIDE.info("step")
    COUNTER.n = 3.0
    return np.sum(x)


def stored_before(x):
    LIMITS[0] = 7.0
    READING.info("step")
    return np.sum(x)


def filtered(x):
    FILTERING.warning("x = %s", x)
    return len(COUNTS) * np.sum(x)


def adapted(x):
    ADAPTED.warning("x = %s", x)
    return len(COUNTS) * np.sum(x)


def text_that_counts(x):
    PLAIN.info("%s", COUNT)
    return COUNT.n * np.sum(x)


def text_that_is_made(x):
    str(COUNT)
    return COUNT.n * np.sum(x)


SHOWING = (
    *(kept, kept_as_text, counted, counted_after, counted_inside, overwritten, stored_before),
    *(filtered, adapted, text_that_counts, text_that_is_made),
)


def modes(f: Callable[..., Any]) -> Iterator[Callable[[], Any]]:
    yield lambda: gs.value_and_grad(f)(X.copy())
    yield lambda: gs.jvp(f, (X.copy(),), (np.ones(2),))
    yield lambda: gs.differentiable(f)(gs.tensor(X.copy(), requires_grad=True))


def check_refused(f: Callable[..., Any]) -> None:
    for run in modes(f):
        with pytest.raises(UnsupportedError, match="is both read and changed"):
            run()


@pytest.mark.parametrize("f", SHOWING)
def test_what_code_that_sees_a_record_may_change_is_refused(f: Any) -> None:
    check_refused(f)


def warned(x):
    warnings.warn("strange", stacklevel=1)
    return len(COUNTS) * np.sum(x)


def divided(x):
    np.array([0.0]) / np.array([0.0])
    return len(COUNTS) * np.sum(x)


def printed(x):
    print("x is", x)
    return len(COUNTS) * np.sum(x)


def counting(*given: Any, **keywords: Any) -> None:
    COUNTS.append(1.0)


class Stream:
    def write(self, text):
        COUNTS.append(1.0)

    def flush(self):
        pass


@pytest.mark.parametrize("f", [warned, divided])
def test_what_shows_warnings_may_change(f: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(warnings, "showwarning", counting)
    check_refused(f)


def test_what_floating_point_errors_call_may_change() -> None:
    before = np.seterrcall(counting)
    try:
        with np.errstate(all="call"):
            check_refused(divided)
    finally:
        np.seterrcall(before)


def test_what_a_stream_may_change(monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "stdout", Stream())
    check_refused(printed)


def test_what_records_go_through_is_a_condition_of_each_call() -> None:
    log = logger()

    def f(x):
        log.info("step %s", x)
        return COUNTER.n * np.sum(x)

    COUNTER.n = 2.0
    gradient = gs.grad(f)
    assert gradient(X).tolist() == [2.0, 2.0]
    log.addHandler(CountsInside(COUNTER))
    with pytest.raises(UnsupportedError, match="`COUNTER` from outside is both read and changed"):
        gradient(X)


def test_what_shows_warnings_of_numpy_may_change(monkeypatch: Any) -> None:
    monkeypatch.setattr(warnings, "showwarning", counting)
    with (
        np.errstate(all="ignore"),
        pytest.raises(UnsupportedError, match="`COUNTS` from outside is both read and"),
    ):
        gs.grad(divided)(X)


def test_what_nothing_depends_on_is_shown_to_handlers_of_the_users() -> None:
    def f(x):
        y = x * WEIGHTS
        history = []
        for i in range(2):
            KEEPING.info("%s of %s", y, history)
            history.append(np.sum(y) * i)
            y = y * x
        COUNTING.info("end")
        KEEPING.info("%s %s", NAME, {"y": y})
        return np.sum(y) + history[-1]

    COUNTS.clear()
    value, _ = gs.value_and_grad(f)(X)
    assert value == f(X)
    assert len(COUNTS) == 2
    assert KEEPER.last is NAME
    check_grad(f, X)


def test_an_array_that_a_handler_keeps_is_that_of_the_program() -> None:
    def f(x):
        y = np.zeros(2)
        KEEPING.info("%s", y)
        y[0] = 5.0
        COUNTING.info("end")
        return np.sum(x * y)

    assert gs.grad(f)(X).tolist() == [5.0, 0.0]
    assert KEEPER.last.tolist() == [5.0, 0.0]


class Changes(logging.Handler):
    def emit(self, record):
        record.args[0].append(1.0)


def test_a_list_that_a_handler_changes_is_refused() -> None:
    log = logger(Changes())

    def f(x):
        items = [1.0]
        log.info("%s %s", items, 0)
        return np.sum(x) * len(items)

    with pytest.raises(UnsupportedError, match="changes what `info` is given to show"):
        gs.grad(f)(X)


def test_the_text_with_handlers_of_the_standard_library() -> None:
    def f(x):
        PLAIN.info("x = %s", x)
        warnings.warn("strange", stacklevel=1)
        print(x)
        return np.sum(x * x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradient = gs.grad(f)
        gradient(X)
    assert "    PLAIN.info('x = %s', x)\n" in gradient.source.replace('"', "'")
    assert "    warn('strange', stacklevel=1)\n" in gradient.source.replace('"', "'")
    assert "    print(x)\n" in gradient.source


# -- exceptions and warnings of the user's ---------------------------------------------------------


class Inits(Exception):
    def __init__(self, text):
        COUNTER.n += 1.0


class Listed(Exception):
    def __init__(self, text):
        super().__init__(text)
        COUNTS.append(1.0)


class Made(Exception):
    def __new__(cls, text):
        COUNTER.n += 1.0
        return super().__new__(cls, text)


class Told(Exception):
    def __str__(self):
        COUNTER.n += 1.0
        return "told"


class Coded(Exception):
    def __init__(self, code, text="code"):
        self.code = code
        super().__init__(f"{text} {code}")


class Warns(UserWarning):
    def __init__(self, text):
        COUNTER.n += 1.0
        super().__init__(text)


def raised(x):
    try:
        raise Inits("a")
    except Inits:
        return COUNTER.n * np.sum(x)


def raised_under_a_condition(x):
    try:
        if x[0] > 0:
            raise Made("a")
    except Made:
        pass
    return COUNTER.n * np.sum(x)


def listed(x):
    try:
        if x[0] > 0:
            raise Listed("a")
    except Listed:
        pass
    return len(COUNTS) * np.sum(x)


def told(x):
    try:
        if x[0] > 0:
            raise Told("a")
    except Told as error:
        print(f"{error}")
    return COUNTER.n * np.sum(x)


def read_before(x):
    n = COUNTER.n
    try:
        if x[0] > 0:
            raise Made("a")
    except Made:
        pass
    return n * np.sum(x)


def category(x):
    warnings.warn("a", Warns, stacklevel=1)
    return COUNTER.n * np.sum(x)


def warning(x):
    warnings.warn(Warns("a"), stacklevel=1)
    return COUNTER.n * np.sum(x)


@pytest.mark.parametrize(
    "f", [raised, raised_under_a_condition, listed, told, read_before, category, warning]
)
def test_what_making_an_exception_may_change_is_refused(f: Any) -> None:
    check_refused(f)


def test_exceptions_that_only_hold_what_they_are_given() -> None:
    def f(x):
        try:
            if x[0] > 0:
                raise Coded(3)
        except Coded as error:
            print(error)
            return COUNTER.n * np.sum(x**2)
        return np.sum(x)

    COUNTER.n = 2.0
    assert gs.grad(f)(X).tolist() == [4.0, 8.0]
    check_grad(f, X)


def test_effects_of_making_an_exception_happen_once() -> None:
    def f(x):
        try:
            if x[0] > 0:
                raise Inits("a")
        except Inits:
            return np.sum(x**3)
        return np.sum(x)

    for run in (*modes(f), lambda: gs.hessian(f)(X), lambda: gs.vjp(f, X)[1](1.0)):
        COUNTER.n = 0.0
        run()
        assert COUNTER.n == 1.0
