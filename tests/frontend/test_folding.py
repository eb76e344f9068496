"""Calls of pure functions are carried out when the function is compiled; no others are."""

from __future__ import annotations

import cmath
import codecs
import datetime
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import check

x4 = np.array([1.0, 2.5, 3.0, 4.0])
SCALE = 3.0


def texts(x):
    return x[0] * len("a,b".split(",")) * int("101", 2) * ord("a") * float(str(3))


def integers(x):
    return x[0] * (5).bit_length() * int.from_bytes(b"a", "big") * len(bin(6)) * divmod(7, 2)[1]


def lengths_of_run_time(x):
    total = 0.0
    for k in range(len(x).bit_length()):
        total = total + x[k]
    return total


def bits_in_reverse(x):
    bits = len(x).bit_length() - 1
    total = 0.0
    for i in range(len(x)):
        j = int(format(i, f"0{bits}b")[::-1], 2)
        total = total + i * x[j]
    return total


def library_functions_of_integers(x):
    total = 0.0
    for k in range(1, len(x)):
        total = total + cmath.phase(cmath.exp(2j * cmath.pi / (k + 2))) * x[k] ** 2
    return total


def windows(x):
    w = np.hamming(4)
    w[0] = w[0] + 2.0
    return np.sum(w * x)


def limits(x):
    return x[0] * np.finfo(x.dtype).eps + x[1] * np.iinfo(np.int16).max


def changed_lists(x):
    parts = "3,1,2".split(",")
    other = parts
    parts.append("7")
    other.sort()
    parts[1] = "5"
    del other[0]
    return x[0] * len(parts) * float(other[0]) + x[1] * float(parts[-1])


def keys(x):
    totals = dict.fromkeys("abc", 0.0)
    totals["a"] = totals["a"] + x[0] * x[1]
    return sum(totals.values())


@pytest.mark.parametrize(
    "function",
    [
        texts,
        integers,
        lengths_of_run_time,
        bits_in_reverse,
        library_functions_of_integers,
        windows,
        changed_lists,
        limits,
        keys,
    ],
)
def test_values(function) -> None:
    check(function, x4)


def test_the_environment_is_read_by_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x):
        return float(os.environ.get("GRADSCRIBE_TEST_SCALE", "2")) * x[0] ** 2

    derivative = gs.grad(scaled)
    assert derivative(x4)[0] == 4.0
    monkeypatch.setenv("GRADSCRIBE_TEST_SCALE", "5")
    assert derivative(x4)[0] == 10.0


def test_clocks_are_read_by_each_call() -> None:
    def stamped(x):
        return x[0] ** 2 + 0.0 * float(datetime.datetime.now().timestamp())

    def ticks(x):
        return x[0] ** 2 * (time.perf_counter_ns() > 0)

    assert "now()" in gs.differentiable(stamped).specialize(x4).forward_source
    assert gs.grad(ticks)(x4)[0] == 2.0


def test_files_are_read_by_each_call(tmp_path: Path) -> None:
    path = str(tmp_path / "scale.txt")

    def scaled(x):
        with open(path) as file:
            k = float(file.read())
        return k * x[0] ** 2

    derivative = gs.grad(scaled)
    Path(path).write_text("2")
    assert derivative(x4)[0] == 4.0
    Path(path).write_text("5")
    assert derivative(x4)[0] == 10.0


def test_settings_of_numpy_stay_as_they_are() -> None:
    def quiet(x):
        np.seterr(divide="ignore")
        return np.sum(1.0 / x)

    before = np.geterr()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert gs.grad(quiet)(np.array([0.0, 1.0]))[1] == -1.0
    finally:
        np.seterr(**before)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: x[0] * globals()["SCALE"], "`globals` is not supported"),
        (lambda x: x[0] * len(locals()), "`locals` is not supported"),
        (lambda x: x[0] * len(vars()), "`vars` is not supported"),
        (lambda x: x[0] * len(dir()), "`dir` is not supported"),
        (lambda x: x[0] * ("SCALE" in globals()), "`globals` is not supported"),
        (lambda x: eval("x[0] * 2"), "`eval` is not supported"),
        (lambda x: x[0] * eval("SCALE"), "`eval` is not supported"),
        (lambda x: x[0] if exec("x = x * 3") is None else x[1], "`exec` is not supported"),
        (lambda x: x[0] * hash("a"), "`hash` is not supported"),
        (lambda x: x[0] * id("a"), "`id` is not supported"),
    ],
)
def test_what_depends_on_more_than_its_arguments_is_refused(function, what) -> None:
    with pytest.raises(errors.UnsupportedError, match=what):
        gs.grad(function)(x4)


CALLS, OWN = [0.0], "of_this_test"


def noted(text, errors="strict"):
    CALLS[0] += 1.0
    return b"", len(text)


def found(name):
    return codecs.CodecInfo(noted, noted, name=name) if name == OWN else None


@pytest.fixture
def own_codec():
    codecs.register(found)
    codecs.register_error(OWN, lambda error: noted("") and ("", error.end))
    yield
    codecs.unregister(found)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: "abc".encode(OWN),
        lambda x: b"abc".decode(encoding=OWN),
        lambda x: "\xe9".encode("ascii", OWN),
        lambda x: "\xe9".encode("ascii", errors=OWN),
        lambda x: str(b"abc", OWN),
        lambda x: bytes("abc", OWN),
        lambda x: str.encode("abc", OWN),
        lambda x: str(x[0]).encode(OWN),
        lambda x: "abc".encode(OWN if x[0] > 0 else "utf-8"),
        lambda x: list(map("abc".encode, [OWN])),
        lambda x: codecs.encode("abc", OWN),
        lambda x: Path("missing").read_text(encoding=OWN),
    ],
)
def test_codecs_of_the_programs_own_are_refused(call, own_codec):
    def program(x):
        call(x)
        return np.sum(x) * CALLS[0]

    with pytest.raises(errors.UnsupportedError, match="names is not Python's own"):
        gs.grad(program)(x4)
    assert CALLS == [0.0]


def test_codecs_of_python_are_known():
    def program(x):
        first = len(b"abc") + len("\xe9".encode()) + len("\xe9a".encode("ascii", "ignore"))
        second = len(b"ab".decode("latin-1", errors="replace")) + len(str(b"ab", "utf_8"))
        return (first + second + len(bytes("abc", "utf-16"))) * x[0]

    check(program, x4)
