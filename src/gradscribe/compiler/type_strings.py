"""Type strings, as in `f.specialize("float64[:, :]", "int")`.

    type   = "float" | "int" | "complex"                     a Python number
           | dtype                                           a NumPy scalar
           | dtype "[" axis { "," axis } "]"                 an array
           | "list[" type "]" | "tuple[" type { "," type } "]"
    axis   = ":" | "1" | "0"                                 longer than one, or that length

A type string is read as an example of a value of that type, which is then typed as any other
argument, except that nothing is assumed from its lengths.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradscribe.errors import ArgumentError

_PYTHON_NUMBERS: dict[str, Any] = {"float": 1.0, "int": 2, "complex": 1j}
_FORM = re.compile(r"\s*([a-z]+[0-9]*)\s*(?:\[(.*)\])?\s*", re.DOTALL)
_BEGINNING = re.compile(r"\s*([a-z]+[0-9]*)\s*(?:\[|$)")
_AXES = {":": 2, "1": 1, "0": 0}
_AN_ARRAY = re.compile(r"\w+\s*\[[\s01,]*:[\s:01,]*\]")


def is_type_string(text: str) -> bool:
    """Whether a string is meant as a type (other strings are arguments themselves): one that
    begins like one and is malformed is refused by `example`."""
    form = _BEGINNING.match(text)
    if form is None:
        return False
    if _AN_ARRAY.fullmatch(text):
        return True
    name = form[1]
    return name in ("list", "tuple", *_PYTHON_NUMBERS) or _dtype(name) is not None


def example(text: str) -> Any:
    """A value of the type that the string names."""
    form = _FORM.fullmatch(text)
    if form is None or not is_type_string(text):
        raise ArgumentError(
            f"{text!r} is not a type", 'write for example "float64[:, :]", "float" or "list[int]"'
        )
    name, inside = form[1], form[2]
    if name == "list":
        return [example(inside or "")] * 2
    if name == "tuple":
        return tuple(map(example, _split(inside or "")))
    if inside is None:
        return _scalar_example(name)
    if _dtype(name) is None:
        raise ArgumentError(
            f"{text!r}: there is no numeric dtype {name!r}",
            'write for example "float64[:]", "int64[:, :]" or "complex128[:]"',
        )
    axes = [_AXES.get(axis.strip()) for axis in _split(inside)]
    if None in axes:
        raise ArgumentError(
            f"{text!r}: an axis is `:` (longer than one), `1` or `0`",
            "leave the lengths out: code is compiled for arrays of any length",
        )
    return np.ones([length for length in axes if length is not None], _dtype(name))


def _scalar_example(name: str) -> Any:
    if name in _PYTHON_NUMBERS:
        return _PYTHON_NUMBERS[name]
    if name == "bool":
        raise ArgumentError(
            "a flag is part of the specialization, so `bool` alone does not say enough",
            "pass True or False",
        )
    dtype = _dtype(name)
    assert dtype is not None
    return dtype.type(1)


def _dtype(name: str) -> np.dtype[Any] | None:
    try:
        dtype = np.dtype({"float": "float64", "int": "int64"}.get(name, name))
    except TypeError:
        return None
    return dtype if dtype.kind in "biufc" else None


def _split(text: str) -> list[str]:
    """Split at commas that stand outside of brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]] if text.strip() else []
