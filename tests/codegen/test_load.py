"""Generated functions are ordinary functions to Python's tools, and see only what they name."""

from __future__ import annotations

import gc
import inspect
import linecache
import math
import traceback

import numpy as np
import pytest

from gradscribe import primitives  # noqa: F401
from gradscribe.codegen import emit, load, render
from gradscribe.ir.core import Function
from gradscribe.ir.types import FLOAT
from tests.handmade import Hand


def logarithm(name: str = "f") -> Function:
    ir = Hand()
    x = ir.parameter("x", FLOAT)
    return ir.function(name, ir.op(np.tanh, ir.op(math.tanh, x, name="y")), x)


def test_source_is_found_by_inspect() -> None:
    function = logarithm()
    assert inspect.getsource(load(function)) == emit(function)


def test_traceback_shows_the_line() -> None:
    with pytest.raises(TypeError) as raised:
        load(logarithm())("text")
    assert "y = math.tanh(x)" in "".join(traceback.format_exception(raised.value))


def test_namespace_holds_what_is_named_and_nothing_else() -> None:
    assert dict(render(logarithm()).bindings) == {"np": np, "math": math}


def test_lines_are_forgotten_with_the_function() -> None:
    loaded = load(logarithm())
    filename = loaded.__code__.co_filename
    assert filename in linecache.cache
    del loaded
    gc.collect()  # the function is in its own namespace
    assert filename not in linecache.cache


def test_defaults_are_given_as_source() -> None:
    text = emit(logarithm(), {"x": "1.0"})
    assert text.startswith("def f(x=1.0):\n")


def test_a_parameter_may_have_the_name_of_a_module() -> None:
    ir = Hand()
    x = ir.parameter("np", FLOAT)
    function = ir.function("f", ir.op(np.tanh, x))
    assert load(function)(0.5) == np.tanh(0.5)
