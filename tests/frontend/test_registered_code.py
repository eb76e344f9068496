"""Code that cannot be read may call functions that were handed to it long before the program runs:
what these change outside is not taken for unchanged."""

from __future__ import annotations

import datetime
import io
import logging
import pickle
import sqlite3
import weakref
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

X = np.array([1.0, 2.0, 3.0])
W = np.ones(3)
ITEMS = [1.0, 2.0]


class Box:
    rate = 1.0


BOX = Box()
DATABASE = sqlite3.connect(":memory:", check_same_thread=False)


def register(name: str, count: int = 0) -> Any:
    def entered(function: Any) -> Any:
        DATABASE.create_function(name, count, function)
        return function

    return entered


@register("idle", -1)
def idle(*_):
    return 1


@register("fill", 1)
def fill(value):
    W.fill(value)
    ITEMS[0] = BOX.rate = value
    return 1


def reset() -> None:
    W[:] = ITEMS[0] = BOX.rate = 1.0
    ITEMS[1:] = [2.0]


@pytest.fixture(autouse=True)
def _as_it_was() -> None:
    reset()


def run(text, *given):
    DATABASE.execute(f"select {text}", given).fetchall()


def reads_an_array(x):
    before = np.sum(W * x)
    run("fill(5.0)")
    return before + np.sum(W * x)


def reads_an_item(x):
    run("fill(5.0)")
    return ITEMS[0] * x[0]


def reads_an_attribute(x):
    run("fill(5.0)")
    return BOX.rate * x[0]


def reads_it_for_the_derivative_alone(x):
    total = np.sum(np.exp(W * x))
    run("fill(5.0)")
    return total


def reads_it_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total += W[i] * x[i]
        run("fill(5.0)")
    return total


CHANGED = [
    *(reads_an_array, reads_an_item, reads_an_attribute),
    *(reads_it_for_the_derivative_alone, reads_it_in_a_loop),
]


@pytest.mark.parametrize("function", CHANGED)
def test_what_has_changed_is_refused_where_the_program_runs(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="`execute` has changed what is read outside"):
        gs.grad(function)(X)
    reset()
    with pytest.raises(UnsupportedError, match="`execute` has changed what is read outside"):
        gs.jvp(function, (X,), (X,))


def reads_an_array_afterwards(x):
    run("fill(5.0)")
    return np.sum(W * x)


def test_an_array_that_is_read_after_the_call_is_what_it_is_then() -> None:
    np.testing.assert_array_equal(gs.grad(reads_an_array_afterwards)(X), [5.0] * 3)


def test_tensors_meet_arrays_as_they_were_at_the_beginning_which_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="`execute` has changed what is read outside"):
        gs.differentiable(reads_an_array_afterwards)(gs.tensor(X, requires_grad=True))


def stores_before(x):
    W[1] = 2.0
    run("fill(5.0)")
    return np.sum(W * x)


def stores_what_is_differentiated_before(x):
    ITEMS[0] = x[0]
    run("idle()")
    return ITEMS[0] * x[1]


def stores_in_a_loop(x):
    for i in range(3):
        run("idle()")
        ITEMS[0] = x[i]
    return ITEMS[0]


@pytest.mark.parametrize(
    "function", [stores_before, stores_what_is_differentiated_before, stores_in_a_loop]
)
def test_what_was_stored_outside_would_not_be_there_yet(function: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"may look for `.*` from outside, to which"):
        gs.grad(function)(X)


def changes_nothing(x):
    total = np.sum(W * x) * ITEMS[0]
    for i in range(3):
        run("idle()")
        total += W[i] * x[i] * BOX.rate
    return total * ITEMS[1]


def stores_afterwards(x):
    run("idle()")
    W[1] = 2.0
    ITEMS[0] = x[0]
    return np.sum(W * x) * ITEMS[0]


def stores_to_what_it_makes(x):
    w = np.ones(3)
    w[1] = 2.0
    run("idle()")
    return np.sum(w * x)


@pytest.mark.parametrize("function", [changes_nothing, stores_afterwards, stores_to_what_it_makes])
def test_calls_that_change_nothing_stop_nothing(function: Any) -> None:
    def plain(x: Any) -> Any:
        reset()
        return function(x)

    expected = [(plain(X + d) - plain(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    reset()
    np.testing.assert_allclose(gs.grad(function)(X), expected, rtol=1e-6)


@register("put", 1)
def put(value):
    W[0] = ITEMS[0] = value
    return 1


def goes_through_an_array(x):
    before = W[0]
    run("put(?)", float(x[0]))
    return before + W[0] * x[1]


def goes_through_a_list(x):
    run("put(?)", float(x[0]))
    return ITEMS[0] * x[1]


@pytest.mark.parametrize("function", [goes_through_an_array, goes_through_a_list])
def test_what_is_differentiated_is_not_lost_where_it_was_there_before(function: Any) -> None:
    gradient = gs.grad(function)
    for _ in range(2):
        with pytest.raises(UnsupportedError):
            gradient(X)
        put(X[0])


@register("failing")
def failing():
    ITEMS[0] += 1.0
    raise ValueError


def goes_on_after_an_exception(x):
    before = ITEMS[0] * x[0]
    try:
        run("failing()")
    except sqlite3.OperationalError:
        pass
    return before + ITEMS[0] * x[1]


def test_what_a_call_has_changed_that_raised_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="a call that raises has changed what is read"):
        gs.grad(goes_on_after_an_exception)(X)


def bumped() -> Any:
    count = 1.0

    def bump() -> None:
        nonlocal count
        count += 1.0

    return bump, lambda: count


bump, counted = bumped()


def add() -> None:
    W[0] += 1.0


class Looked:
    def __init__(self, look: Any) -> None:
        self.look = look

    def __index__(self) -> int:
        self.look()
        return 1

    def __length_hint__(self) -> int:
        self.look()
        return 1

    def __repr__(self) -> str:
        self.look()
        return ""

    def __reduce__(self) -> Any:
        self.look()
        return dict, ()


class Zone(datetime.tzinfo):
    def utcoffset(self, when: Any) -> Any:
        add()
        return datetime.timedelta(0)


ADDING, BUMPING = Looked(add), Looked(bump)
WHEN = datetime.datetime(2020, 1, 1, tzinfo=Zone())


def by_an_index(x):
    total = 0.0
    for i in range(3):
        total += W[0] * x[i]
        hex(ADDING)
    return total


def by_a_text(x):
    total = 0.0
    for i in range(3):
        total += W[0] * x[i]
        repr([ADDING])
    return total


def by_a_pickle(x):
    total = 0.0
    for i in range(3):
        total += W[0] * x[i]
        pickle.dumps(ADDING)
    return total


def by_a_time_zone(x):
    total = W[0] * x[0]
    WHEN.utcoffset()
    return total + W[0] * x[1]


def of_a_variable_around(x):
    total = counted() * x[0]
    hex(BUMPING)
    return total + counted() * x[1]


@pytest.mark.parametrize(
    "function", [by_an_index, by_a_text, by_a_pickle, by_a_time_zone, of_a_variable_around]
)
def test_methods_that_built_in_functions_call_change_what_is_read(function: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"has changed what is read|both read and changed"):
        gs.grad(function)(X)


def finalized(x):
    w, box = np.ones(3), Box()
    weakref.finalize(box, w.fill, 5.0)
    del box
    return np.sum(w * x)


def told_by_a_reference(x):
    w, box = np.ones(3), Box()
    reference = weakref.ref(box, lambda _: w.fill(5.0))
    box = None
    return np.sum(w * x) + (reference is None)


def waits_for_another(x):
    w = np.ones(3)
    reference = weakref.ref(BOX, lambda _: w.fill(5.0))
    return np.sum(w * x) + (reference is None)


def test_functions_that_wait_for_the_end_of_an_object_are_refused() -> None:
    for function in (finalized, told_by_a_reference):
        with pytest.raises(UnsupportedError, match="tells how long an object"):
            gs.grad(function)(X)
    np.testing.assert_array_equal(gs.grad(waits_for_another)(X), [1.0] * 3)


class _Counting:
    def __init__(self):
        self.count, self.text = 0.0, ""

    def write(self, text):
        self.count += 1.0
        self.text += text


def test_what_is_printed_is_written_by_the_file_it_is_printed_to():
    file = _Counting()

    def function(x):
        print("a", {"b": 2}, file=file, sep="-")
        return np.sum(x) * file.count

    assert gs.grad(function)(np.ones(2)).tolist() == [4.0, 4.0]
    assert file.text == "a-{'b': 2}\n"
    text = io.StringIO()
    gs.grad(lambda x: print([x[0]], {"s": x[1]}, file=text, end="") or x[0])(np.array([1.0, 2.0]))
    assert text.getvalue() == f"{[np.float64(1.0)]} { ({'s': np.float64(2.0)}) }"


def test_after_writing_to_a_file_of_python_nothing_is_asked(tmp_path):
    weights, path = np.ones(2), tmp_path / "log"

    def function(x, path):
        with open(path, "a") as file:
            file.write("seen\n")
        return np.sum(x * weights)

    gradient = gs.grad(function)
    assert gradient(np.ones(2), str(path)).tolist() == [1.0, 1.0]
    assert path.read_text() == "seen\n"
    assert "is_unchanged" not in gradient.source


@pytest.mark.parametrize("times", [1, 2])
def test_what_was_read_before_such_a_call_is_differentiated_in_all_modes(times):
    weights, database = np.array([2.0, 3.0]), sqlite3.connect(":memory:")

    def function(x):
        total = 0.0
        scaled = weights * x
        for _ in range(times):
            total = total + np.sum(scaled * x)
            database.execute("select ?", (float(total),))
        return total

    x = np.array([0.5, -1.0])
    assert gs.grad(function)(x).tolist() == (2 * times * weights * x).tolist()
    assert gs.jvp(function, (x,), (x,))[1] == np.sum(2 * times * weights * x * x)
    tensor = gs.tensor(x, requires_grad=True)
    gs.differentiable(function)(tensor).backward()
    assert tensor.grad.tolist() == (2 * times * weights * x).tolist()
    assert weights.tolist() == [2.0, 3.0]


def test_what_a_handler_gives_to_such_code_may_be_what_is_read():
    weights, database = np.array([2.0, 3.0]), sqlite3.connect(":memory:")
    database.create_function("store", 1, lambda number: weights.__setitem__(0, number) or 1.0)

    class Storing(logging.Handler):
        def emit(self, record):
            database.execute("select store(?)", (float(record.args[0][0]),)).fetchone()

    log = logging.Logger("storing")
    log.addHandler(Storing())

    def function(x):
        log.info("%s", x)
        return np.sum(weights * x)

    x = np.array([2.0, 3.0])  # so that what is stored is what was there
    for run in (lambda: gs.grad(function)(x), lambda: gs.jvp(function, (x,), (x,))):
        with pytest.raises(gs.errors.NoDerivativeError):
            run()


class Plain:
    pass


OUTSIDE = Plain()


def held_weakly(x):
    held, item = weakref.WeakSet(), Plain()
    held.add(item)
    return len(held) * np.sum(x)


def gone_after_del(x):
    item = Plain()
    reference = weakref.ref(item)
    del item
    return (2.0 if reference() is None else 1.0) * np.sum(x)


def gone_after_rebinding(x):
    y = np.ones(3)
    reference = weakref.ref(y)
    total = np.sum(y * x)
    y = np.zeros(3)
    return total * (3.0 if reference() is None else 1.0) + np.sum(y)


def slot_of_references(x):
    return (2.0 if Plain().__weakref__ is None else 1.0) * np.sum(x)


def known_object(x):
    return (2.0 if weakref.ref(OUTSIDE)() is OUTSIDE else 1.0) * np.sum(x)


@pytest.mark.parametrize(
    "program", [held_weakly, gone_after_del, gone_after_rebinding, slot_of_references, known_object]
)
def test_how_long_objects_live_is_known_in_recorded_runs_alone(program):
    x = np.array([0.5, 1.2, 0.7])
    slope = program(np.ones(3)) / 3.0
    assert gs.grad(program, compile=False)(x).tolist() == [slope] * 3
    if program is known_object:
        assert gs.grad(program)(x).tolist() == [slope] * 3
    else:
        with pytest.raises(gs.errors.UnsupportedError, match="tells how long an object"):
            gs.grad(program)(x)
