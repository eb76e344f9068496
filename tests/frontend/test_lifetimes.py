"""What unread code has made lives as long as in Python: while a name has it, and no longer."""

from __future__ import annotations

import array
import ctypes
import io
import os
import tempfile
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

X = np.array([0.5, 1.2, 0.7])
PATH = os.path.join(tempfile.gettempdir(), f"lifetimes_{os.getpid()}.txt")


def number_in(path: Any) -> float:
    with open(path) as file:
        return float(file.read())


def save(text: Any) -> None:
    file = open(PATH, "w")
    file.write(text)


def closed_with_its_function(x):
    save("3.0")
    return number_in(PATH) * np.sum(x)


def closed_by_del(x):
    file = open(PATH, "w")
    file.write("4.0")
    del file
    return number_in(PATH) * np.sum(x)


def closed_by_another_value(x):
    file = open(PATH, "w")
    file.write("5.0")
    file = None
    return number_in(PATH) * np.sum(x)


def directory_that_lives(x):
    directory = tempfile.TemporaryDirectory()
    path = directory.name
    return (1.0 if os.path.exists(path) else 2.0) * np.sum(x)


def directory_that_is_gone(x):
    directory = tempfile.TemporaryDirectory()
    path = directory.name
    del directory
    return (1.0 if os.path.exists(path) else 2.0) * np.sum(x)


def locked(x):
    buffer = bytearray(8)
    view = memoryview(buffer)
    try:
        buffer.append(1)
    except BufferError:
        return 2 * np.sum(x)
    return np.sum(x)


def locked_by_an_array(x):
    numbers = array.array("d", [1.0])
    view = np.frombuffer(numbers)
    try:
        numbers.append(2.0)
    except BufferError:
        return 2 * np.sum(x)
    return np.sum(x)


def locked_by_a_stream(x):
    stream = io.BytesIO(b"abcdefgh")
    view = stream.getbuffer()
    try:
        stream.truncate(0)
    except BufferError:
        return 2 * np.sum(x)
    return np.sum(x)


def no_longer_locked(x):
    buffer = bytearray(8)
    view = memoryview(buffer)
    view = memoryview(b"ab")
    buffer.append(1)
    return np.sum(x) * len(buffer) * len(view)


def length_of(buffer: Any) -> int:
    view = memoryview(buffer)
    return len(view)


def not_locked_after_a_call(x):
    buffer = bytearray(8)
    length = length_of(buffer)
    buffer.append(1)
    return np.sum(x) * len(buffer) * length


def locked_in_each_iteration(x):
    buffer, total = bytearray(8), 0.0
    for _ in range(3):
        view = memoryview(buffer)
        total += len(view)
        view = None
        buffer.append(1)
    return np.sum(x) * len(buffer) * total


def two_names(x):
    buffer = bytearray(8)
    view = memoryview(buffer)
    other = view
    del view
    try:
        buffer.append(1)
    except BufferError:
        return 2 * np.sum(x) * len(other)
    return np.sum(x)


def written_in_a_loop(x):
    for k in range(3):
        file = open(PATH, "w")
        file.write(str(k))
    del file
    return number_in(PATH) * np.sum(x)


def let_go_in_a_branch(x):
    buffer = bytearray(8)
    view = memoryview(buffer)
    if x[0] > 0:
        del view
    buffer.append(1)
    return np.sum(x) * len(buffer)


def held_by_an_attribute(x):
    class Writer:
        def __init__(self):
            self.file = open(PATH, "w")

    writer = Writer()
    writer.file.write("3.0")
    writer = None
    return number_in(PATH) * np.sum(x)


def held_by_a_dict(x):
    files = {"a": open(PATH, "w")}
    files["a"].write("6.0")
    files.pop("a")
    return number_in(PATH) * np.sum(x)


def held_by_a_function(x):
    buffer = bytearray(8)

    def view_of():
        view = memoryview(buffer)
        return lambda: len(view)

    length = view_of()
    try:
        buffer.append(1)
    except BufferError:
        return 2 * length() * np.sum(x)
    return np.sum(x)


def held_by_a_list(x):
    buffer = bytearray(8)
    views = [memoryview(buffer)]
    try:
        buffer.append(1)
    except BufferError:
        views.clear()
        buffer.append(1)
        return 2 * len(buffer) * np.sum(x)
    return np.sum(x)


def held_by_what_a_loop_runs_over(x):
    buffer, total = bytearray(8), 0.0
    for view in [memoryview(buffer), memoryview(buffer)]:
        total += len(view)
        view.release()
    buffer.append(1)
    return np.sum(x) * len(buffer) * total


class Manager:
    def __init__(self, buffer):
        self.view = memoryview(buffer)

    def __enter__(self):
        return self.view

    def __exit__(self, *_):
        self.view = None


def held_by_a_manager(x):
    buffer = bytearray(8)
    with Manager(buffer) as view:
        length = len(view)
    view = None
    buffer.append(1)
    return np.sum(x) * len(buffer) * length


def size():
    return float(os.path.getsize(PATH))


def held_by_a_lambda(x):
    return np.sum(x) * (lambda file: float(file.write("3.0")) + size())(open(PATH, "w"))


def closed_before_what_its_function_gives(x):
    def make():
        file = opened_for("7.0")
        kept = [file.name]
        return lambda: len(kept) * size()

    return np.sum(x) * make()()


class Log:
    def __init__(self):
        self.file = open(PATH, "w")

    def put(self, text):
        self.file.write(text)
        return self


def closed_with_its_object(x):
    Log().put("ab").put("c")
    return np.sum(x) * size()


def opened_for(text):
    file = open(PATH, "w")
    file.write(text)
    return file


def size_now():
    found = size()
    found = found + 1.0
    return found


def held_by_the_rest_of_a_statement(x):
    both = [opened_for("3.0"), size_now()]
    return both[1] * np.sum(x)


def given_by_a_lambda(x):
    file = (lambda: opened_for("3.0"))()
    before = size()
    file = None
    return (before + number_in(PATH)) * np.sum(x)


def let_go_where_a_loop_is_left(x):
    try:
        for file in [opened_for("3.0")]:
            raise KeyError(3)
    except KeyError:
        file = None
    return number_in(PATH) * np.sum(x)


PROGRAMS = [
    *(closed_with_its_function, closed_by_del, closed_by_another_value, directory_that_lives),
    *(directory_that_is_gone, locked, locked_by_an_array, locked_by_a_stream, no_longer_locked),
    *(not_locked_after_a_call, locked_in_each_iteration, two_names, written_in_a_loop),
    *(let_go_in_a_branch, held_by_an_attribute, held_by_a_dict, held_by_a_function),
    *(held_by_a_list, held_by_what_a_loop_runs_over, held_by_a_manager),
    *(held_by_a_lambda, held_by_the_rest_of_a_statement, given_by_a_lambda),
    *(let_go_where_a_loop_is_left, closed_before_what_its_function_gives, closed_with_its_object),
]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_objects_live_while_a_name_has_them(program):
    expected = program(X)
    value, gradient = gs.value_and_grad(program)(X)
    assert value == expected
    np.testing.assert_allclose(gradient, np.full(3, expected / np.sum(X)))


def test_a_callback_has_a_variable_of_its_own():
    callback = ctypes.CFUNCTYPE(None)

    def program(x):
        first = callback(lambda: None)
        address = ctypes.cast(first, ctypes.c_void_p)
        second = callback(lambda: None)
        second()
        return np.sum(x) if address else x[0]

    gradient = gs.grad(program)
    gradient(X)
    source = gradient.source.replace("lambda :", "lambda:")
    assert "    first = CFunctionType(lambda: None)\n" in source
    assert "    second = CFunctionType(lambda: None)\n" in source


def test_what_a_list_keeps_lives_to_the_end_of_the_function():
    callback = ctypes.CFUNCTYPE(None)

    def program(x):
        kept = []
        for _ in range(2):
            called = callback(lambda: None)
            kept.append(called)
        return np.sum(x)

    gradient = gs.grad(program)
    gradient(X)
    assert "        kept.append(called)\n" in gradient.source


def test_names_that_loops_swap_keep_their_objects():
    def program(x):
        first, second = memoryview(b"a"), memoryview(b"bc")
        for _ in range(3):
            first, second = second, first
        del second
        return len(first) * np.sum(x)

    assert gs.grad(program)(X).tolist() == [2.0] * 3


class Counting(io.RawIOBase):
    """A file that counts in an array what it is given."""

    def __init__(self, counts):
        self.counts = counts

    def writable(self):
        return True

    def write(self, data):
        self.counts[0] += len(data)
        return len(data)


def written_by_del(x):
    counts = np.zeros(2)
    file = io.BufferedWriter(Counting(counts))
    file.write(b"abc")
    before = counts[0]
    del file
    return np.sum(x) * (counts[0] + 10.0 * before)


def written_by_the_end_of_a_function(x):
    counts = np.ones(1)

    def save(text):
        file = io.BufferedWriter(Counting(counts))
        file.write(text)

    save(b"ab")
    return np.sum(x) * counts[0]


def written_in_a_loop(x):
    counts = np.zeros(1)
    total = 0.0
    for _ in range(3):
        file = io.BufferedWriter(Counting(counts))
        file.write(b"ab")
        total = 10.0 * total + counts[0]
    return np.sum(x) * total


def written_by_another_value(x):
    counts = np.zeros(1)
    file = io.TextIOWrapper(io.BufferedWriter(Counting(counts)))
    file.write("abcd")
    before = counts[0]
    file = None
    return np.sum(x) * (counts[0] - before)


@pytest.mark.parametrize(
    "program",
    [
        written_by_del,
        written_by_the_end_of_a_function,
        written_in_a_loop,
        written_by_another_value,
    ],
)
def test_what_an_object_writes_when_it_ends_is_written(program):
    value, gradient = gs.value_and_grad(program)(X)
    assert value == program(X)
    np.testing.assert_allclose(gradient, program(X) / np.sum(X))


def test_what_an_object_may_write_when_it_ends_has_no_derivative():
    def program(x):
        counts = x.copy()
        file = io.BufferedWriter(Counting(counts))
        file.write(b"abc")
        del file
        return counts[0]

    with pytest.raises(gs.errors.CompiledCodeError):
        gs.grad(program)(X)


def test_what_is_asked_of_files_has_a_type():
    def program(x):
        if os.path.exists(PATH) and os.path.getmtime(PATH) > 0.0:
            return np.sum(x) * os.path.getsize(PATH)
        return x[0]

    gradient = gs.grad(program)
    save("12345")
    np.testing.assert_array_equal(gradient(X), np.full(3, 5.0))
    assert "is_unchanged" not in gradient.source
    os.remove(PATH)
    np.testing.assert_array_equal(gradient(X), [1.0, 0.0, 0.0])


def test_an_object_of_two_names_ends_with_the_last_of_them() -> None:
    def function(x, n):
        kept = {1, 2}
        changed, _ = [kept, kept]
        for _ in range(n):
            for _ in range(n):
                changed |= {4}
                kept = kept
        return np.sum(x**2) * len(kept) + len(changed)

    value, gradient = gs.value_and_grad(function)(np.ones(2), 2)
    assert value == function(np.ones(2), 2)
    assert gradient.tolist() == [6.0, 6.0]
