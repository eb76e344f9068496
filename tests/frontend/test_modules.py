"""What is looked up in modules, and among the built-in names, is what each call finds there."""

from __future__ import annotations

import builtins
import cmath
import collections
import copy
import functools
import heapq
import json
import operator
import os
import random
import statistics
import string
import struct
import sys
import time
import types
from unittest import mock

import numpy as np
import pytest

import gradscribe as gs

X = np.array([1.0, 2.0])
COMPILED = pytest.mark.parametrize("compile", [True, "auto", False])


@pytest.fixture
def tool(monkeypatch):
    """A module of the user's."""
    found = types.ModuleType("tool")
    found.rate, found.rows, found.scaled = 2.0, [1.0], lambda x: x * 2.0
    found.table = np.ones(2)
    monkeypatch.setitem(sys.modules, "tool", found)
    return found


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the user's with a `__getattr__`."""
    folder = tmp_path / "some_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "ASKED = []\n\n\ndef __getattr__(name):\n    ASKED.append(name)\n"
        "    if name == 'late':\n        return 3.0\n    raise AttributeError(name)\n"
    )
    (folder / "inner.py").write_text("rate = 2.0\n")
    (folder / "relative.py").write_text(
        "def scaled(x):\n    from . import inner\n    from .inner import rate\n"
        "    return x[0] * rate * inner.rate\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "some_package"]:
        del sys.modules[name]


def imports_a_number(x):
    from tool import rate

    return x[0] * rate


def imports_a_function(x):
    from tool import scaled as s

    return s(x)[1]


def imports_an_array(x):
    from tool import table

    return np.sum(x * table)


def imports_a_module(x):
    import tool as t

    return x[0] * t.rate


class Model:
    def imports(self, x):
        return imports_a_number(x)


def imports_in_a_method(x):
    return Model().imports(x)


CHANGES = {
    imports_a_number: ("rate", 5.0),
    imports_a_function: ("scaled", lambda x: x * 5.0),
    imports_an_array: ("table", np.full(2, 5.0)),
    imports_a_module: ("rate", 5.0),
    imports_in_a_method: ("rate", 5.0),
}


@COMPILED
@pytest.mark.parametrize("program", CHANGES, ids=lambda program: program.__name__)
def test_what_a_module_has_is_imported_at_each_call(program, compile, tool, monkeypatch):
    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == program(X)
    setattr(tool, *CHANGES[program])
    assert run(X)[0] == program(X)
    other = types.ModuleType("tool")
    other.rate, other.scaled, other.table = 7.0, lambda x: x * 7.0, np.full(2, 7.0)
    monkeypatch.setitem(sys.modules, "tool", other)
    assert run(X)[0] == program(X)


@COMPILED
def test_a_list_that_is_imported_is_the_list(compile, tool):
    def grown(x):
        from tool import rows

        rows.append(1.0)
        return x[0] * len(rows)

    run = gs.value_and_grad(grown, compile=compile)
    assert run(X)[0] == 2.0
    assert run(X)[0] == 3.0
    assert tool.rows == [1.0, 1.0, 1.0]


@COMPILED
def test_a_package_is_asked_for_what_is_imported_of_it(compile, package, monkeypatch):
    def parts(x):
        import some_package.inner as also
        from some_package import inner, late

        return x[0] * late * inner.rate * also.rate

    def missing(x):
        try:
            from some_package import never
        except ImportError:
            return x[0]
        return x[0] * never

    import some_package
    from some_package.relative import scaled

    for program, name, value in (
        (parts, "late", 5.0),
        (parts, "inner", types.SimpleNamespace(rate=7.0)),
        (missing, "never", 5.0),
        (scaled, "inner", types.SimpleNamespace(rate=7.0)),
    ):
        run = gs.value_and_grad(program, compile=compile)
        assert run(X)[0] == program(X)
        with monkeypatch.context() as patch:
            patch.setattr(some_package, name, value, raising=False)
            assert run(X)[0] == program(X)
        assert run(X)[0] == program(X)
    assert {*some_package.ASKED} <= {"late", "inner", "never", "__path__"}


@COMPILED
def test_a_module_that_is_no_attribute_of_its_package(compile, package, monkeypatch):
    import some_package

    def ghostly(x):
        from some_package import ghost

        return x[0] * ghost.rate

    ghost = types.ModuleType("some_package.ghost")
    ghost.rate = 3.0
    monkeypatch.setitem(sys.modules, "some_package.ghost", ghost)
    run = gs.value_and_grad(ghostly, compile=compile)
    assert run(X)[0] == 3.0
    monkeypatch.setattr(some_package, "ghost", types.SimpleNamespace(rate=5.0), raising=False)
    assert run(X)[0] == 5.0


@COMPILED
def test_the_getattr_of_a_module_is_asked_for_what_is_missing(compile, monkeypatch):
    asked = []
    lazy = types.ModuleType("lazy")
    lazy.__getattr__ = lambda name: asked.append(name) or 2.0

    def program(x):
        return x[0] * lazy.rate

    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == 2.0
    lazy.rate = 5.0
    assert run(X)[0] == 5.0
    del lazy.rate
    assert run(X)[0] == 2.0
    assert {*asked} == {"rate"}


@COMPILED
def test_an_attribute_that_a_module_has_only_later(compile, tool):
    def program(x):
        try:
            return x[0] * tool.later
        except AttributeError:
            return x[0]

    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == 1.0
    tool.later = 5.0
    assert run(X)[0] == 5.0


def imports_the_time(x):
    from time import time

    return x[0] * (1.0 if time() > 0 else 2.0)


NAMELESS = None
OPENED = mock.mock_open(mock.MagicMock(spec=open), read_data="ab")
REPLACED = [
    (time, "time", lambda x: x[0] * (1.0 if time.time() > 0 else 2.0), lambda: -1.0),
    (time, "time", imports_the_time, lambda: -1.0),
    (time, "time", imports_the_time, functools.partial(operator.neg, 1.0)),
    (time, "time", imports_the_time, mock.MagicMock(return_value=-1.0)),
    (time, "sleep", lambda x: (time.sleep(0), x[0])[1], mock.MagicMock()),
    (statistics, "fmean", lambda x: x[0] * float(statistics.fmean([1.0, 2.0])), lambda items: 7.0),
    (os, "getenv", lambda x: x[0] * len(os.getenv("HOME", "")), lambda *given: "xx"),
    (os.path, "exists", lambda x: x[0] * (1.0 if os.path.exists("/") else 2.0), lambda p: False),
    (json, "loads", lambda x: x[0] * float(json.loads("1.0")), lambda text: 5.0),
    (struct, "calcsize", lambda x: x[0] * float(struct.calcsize("d")), lambda text: 5),
    (copy, "copy", lambda x: np.sum(copy.copy(x)), lambda x: x * 2),
    (heapq, "nlargest", lambda x: heapq.nlargest(1, [x[0], x[1]])[0], lambda n, items: items),
    (functools, "reduce", lambda x: functools.reduce(max, [x[0], x[1]]), lambda f, items: items[0]),
    (operator, "mul", lambda x: operator.mul(x[0], x[1]), lambda a, b: a + b),
    (random, "gauss", lambda x: x[0] * (1.0 if random.gauss(0, 1) < 99 else 2.0), lambda *a: 100.0),
    (cmath, "exp", lambda x: x[0] * cmath.exp(0).real, lambda z: 2 + 0j),
    (string, "digits", lambda x: x[0] * len(string.digits), "12"),
    (sys, "maxsize", lambda x: x[0] * (1.0 if sys.maxsize > 5 else 2.0), 3),
    (os, "added", lambda x: x[0] * (os.added if hasattr(os, "added") else 2.0), 3.0),
    (builtins, "print", lambda x: (print(end=""), x[0])[1], lambda *given, **named: None),
    (builtins, "open", lambda x: x[0] * len(open(__file__).read()), OPENED),
    (builtins, "RATE", lambda x: x[0] * rate_or(2.0), 5.0),
]


def rate_or(otherwise):
    try:
        return RATE
    except NameError:
        return otherwise


@COMPILED
@pytest.mark.parametrize(
    ("owner", "name", "program", "replacement"), REPLACED, ids=[f"{r[1]}" for r in REPLACED]
)
def test_what_is_replaced_in_a_module_of_python(
    owner, name, program, replacement, compile, monkeypatch
):
    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == program(X)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, replacement, raising=False)
        found = run(X)[0]
        if isinstance(replacement, mock.Mock):
            replacement.assert_called_once()
            replacement.reset_mock()
        assert found == program(X)
        if isinstance(replacement, mock.Mock):
            replacement.reset_mock()
    assert run(X)[0] == program(X)


@COMPILED
def test_a_module_of_python_that_is_replaced(compile, monkeypatch):
    def program(x):
        import time

        return x[0] * (1.0 if time.time() > 0 else 2.0)

    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == 1.0
    monkeypatch.setitem(sys.modules, "time", types.SimpleNamespace(time=lambda: -1.0))
    assert run(X)[0] == 2.0
    monkeypatch.setitem(sys.modules, "time", types.SimpleNamespace(time=lambda: 1.0))
    assert run(X)[0] == 1.0


@COMPILED
def test_what_is_found_in_libraries_is_known(compile):
    def program(x):
        from collections import Counter

        import numpy as np
        from scipy import special

        known = sys.version_info.major >= 3 and sys.float_info.epsilon < 1
        many = collections.Counter("aab")["a"] + Counter("aab")["a"]
        return np.sum(x) * special.expit(0.0) * (many if known else 1)

    assert gs.value_and_grad(program, compile=compile)(X)[0] == program(X)


@COMPILED
@pytest.mark.parametrize("value", [2.0, 5, np.full((), 2.0), (2.0, 3.0), [2.0, 3.0]], ids=repr)
def test_names_that_are_added_to_the_built_in_ones(value, compile, monkeypatch):
    def program(x):
        return x[0] * np.sum(ADDED)  # noqa: F821

    monkeypatch.setattr(builtins, "ADDED", value, raising=False)
    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == program(X)
    builtins.ADDED = value * 2
    assert run(X)[0] == program(X)


@COMPILED
def test_a_list_among_the_built_in_names_is_the_list(compile, monkeypatch):
    def program(x):
        ADDED.append(1.0)  # noqa: F821
        return x[0] * len(ADDED)  # noqa: F821

    monkeypatch.setattr(builtins, "ADDED", [1.0], raising=False)
    run = gs.value_and_grad(program, compile=compile)
    assert run(X)[0] == 2.0
    assert run(X)[0] == 3.0


@pytest.mark.parametrize("compile", [True, "auto", False])
def test_a_module_without_a_name(compile):
    """Such is what cffi makes of a library."""
    nameless = types.ModuleType("nameless")
    nameless.rate = 2.0
    del nameless.__name__

    def program(x):
        return np.sum(x) * nameless.rate

    assert gs.value_and_grad(program, compile=compile)(X)[0] == program(X)
    program.__globals__["NAMELESS"] = nameless
    assert gs.value_and_grad(in_a_variable, compile=compile)(X)[0] == in_a_variable(X)


def in_a_variable(x):
    return np.sum(x) * NAMELESS.rate


@pytest.mark.parametrize("compile", [True, "auto", False])
def test_a_class_that_tells_its_own_attributes(compile):
    class Told:
        rate = 2.0

        @property
        def __dict__(self):
            return {"rate": 2.0}

    told = Told()
    run = gs.value_and_grad(lambda x: np.sum(x) * told.rate, compile=compile)
    assert run(X)[0] == np.sum(X) * 2.0
