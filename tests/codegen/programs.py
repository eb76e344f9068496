"""User programs to text, for tests: lowered, simplified, bufferized, emitted."""

from __future__ import annotations

import textwrap
from types import FunctionType
from typing import Any

import numpy as np

from gradscribe import codegen, frontend, primitives  # noqa: F401
from gradscribe.compiler.signatures import ArgumentTypes
from gradscribe.ir.core import Function
from gradscribe.ir.lengths import Facts
from gradscribe.transforms.passes.bufferize import bufferize
from gradscribe.transforms.passes.simplify import simplify


def compiled(function: FunctionType, *args: Any) -> Function:
    """The function for arguments of these types, as codegen gets it."""
    types = ArgumentTypes()
    names = function.__code__.co_varnames
    given = [types.add(n, a, "test") for n, a in zip(names, args, strict=False)]

    def capture(name: str, value: Any) -> frontend.Argument:
        raise AssertionError(f"{name} is captured")

    lowered = frontend.lower(function, given, Facts(types.samples), capture)
    return bufferize(simplify(lowered.function))


def text_of(function: FunctionType, *args: Any) -> str:
    """The emitted text, after checking that it computes the same as the function."""
    ir = compiled(function, *args)
    text = codegen.emit(ir)
    found = codegen.load(ir, text)(*map(copied, args))
    np.testing.assert_equal(found, function(*map(copied, args)))
    return text


def copied(value: Any) -> Any:
    return value.copy() if isinstance(value, (np.ndarray, list, dict)) else value


def block(text: str) -> str:
    """A literal block of source, without its margin."""
    return textwrap.dedent(text).lstrip("\n")
