"""Attaches operators and methods to Tensor: the same functions as in the `gs` namespace.

Imported once, by the package; everything here stands above `tensor.py`, which therefore cannot
name it in the class body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime import own_methods
from gradscribe.runtime.arrays.rows import AXES, CAST, IN_PLACE, MAIN, METHOD, ROW_OF
from gradscribe.runtime.operations import (  # noqa: F401  their rows
    activations,
    calculus,
    complex_numbers,
    distinct,
    elementwise,
    factorizations,
    gathering,
    inplace,
    joining,
    ordering,
    products,
    rearranging,
    reductions,
    scattering,
    shaping,
    slices,
    special,
    strides,
    viewing,
    windows,
)
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations.launcher_text import OPERATOR, REFLECTED, Form
from gradscribe.runtime.operations.launching import launched
from gradscribe.runtime.operations.spellings import public, spelled
from gradscribe.runtime.tensors import (  # noqa: F401  their rows
    constants,
    creation,
    promotion,
    queries,
    randomness,
    sharing,
)
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import shorten, shortened

Function = Callable[..., Any]

_OPERATORS: dict[str, Function] = {
    "add": elementwise.add,
    "sub": elementwise.sub,
    "mul": elementwise.mul,
    "truediv": functions.div,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "pow": elementwise.pow,
    "matmul": functions.matmul,
    "lshift": elementwise.bitwise_left_shift,
    "rshift": elementwise.bitwise_right_shift,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
}
"""Binary operators: each has a reflected and an in-place form."""

_COMPARISONS: dict[str, Function] = {
    "lt": elementwise.lt,
    "le": elementwise.le,
    "gt": elementwise.gt,
    "ge": elementwise.ge,
    "eq": elementwise.eq,
    "ne": elementwise.ne,
}

_UNARY: dict[str, Function] = {
    "neg": elementwise.neg,
    "pos": functions.positive,
    "abs": elementwise.abs,
    "invert": elementwise.bitwise_not,
}

_ARRAYS = (Tensor, np.ndarray)
_OPERANDS = (*_ARRAYS, int, float, complex, np.generic)


def _operands_of(function: Function) -> tuple[type, ...]:
    """What may stand beside a Tensor in an operator."""
    return _ARRAYS if function is functions.matmul else _OPERANDS


def _operator(function: Function) -> Function:
    operands = _operands_of(function)

    def method(self: Tensor, other: Any) -> Any:
        try:
            return function(self, other) if isinstance(other, operands) else NotImplemented
        except Exception as error:
            shorten(error)
            raise

    return _launched(method, OPERATOR, function)


def _reflected(function: Function) -> Function:
    operands = _operands_of(function)

    def method(self: Tensor, other: Any) -> Any:
        try:
            return function(other, self) if isinstance(other, operands) else NotImplemented
        except Exception as error:
            shorten(error)
            raise

    return _launched(method, REFLECTED, function)


def _launched(method: Function, form: Form, function: Function) -> Function:
    launcher = ROW_OF[function].launcher
    return method if launcher is None else launched(method, form, launcher[1])


def _in_place(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return inplace.update(self, function, *args, **kwargs)

    return method


def _in_place_operator(function: Function) -> Function:
    operands = _operands_of(function)

    def method(self: Tensor, other: Any) -> Any:
        if not isinstance(other, operands):
            return NotImplemented
        try:
            return inplace.update(self, function, other)
        except Exception as error:
            shorten(error)
            raise

    return method


def _in_place_cast(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return inplace.assign(self, function(self, *args, **kwargs))

    return method


def _in_place_axes(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        try:
            return inplace.rearrange(self, function, *args, **kwargs)
        except RuntimeError as error:
            name = f"{function.__name__}()"
            if not str(error).startswith(name):
                raise
            raise RuntimeError(str(error).replace(name, f"{function.__name__}_()")) from None

    return method


_FORMS = {IN_PLACE: _in_place, CAST: _in_place_cast, AXES: _in_place_axes}


def attach() -> None:
    """Give Tensor its operators and methods."""
    for row in MAIN:
        if METHOD in row.spelling:
            for name in row.names():
                setattr(Tensor, name, public(row))
    attribute: object
    for name in ("size", "stride"):
        setattr(Tensor, name, spelled(getattr(Tensor, name)))
    for name, attribute in own_methods.METHODS.items():
        setattr(Tensor, name, attribute if name.startswith("__") else spelled(attribute))
    for row in MAIN:
        for form, made in _FORMS.items():
            if form in row.spelling:
                for name in row.changing_names():
                    method = shortened(made(vars(Tensor)[name]))
                    setattr(Tensor, f"{name}_", _named(method, f"{name}_"))
    for name, function in _OPERATORS.items():
        setattr(Tensor, f"__{name}__", _named(_operator(function), f"__{name}__"))
        reflected = (_operator if _commutes(function) else _reflected)(function)
        setattr(Tensor, f"__r{name}__", _named(reflected, f"__r{name}__"))
        setattr(Tensor, f"__i{name}__", _named(_in_place_operator(function), f"__i{name}__"))
    for name, function in _COMPARISONS.items():
        setattr(Tensor, f"__{name}__", _named(_operator(function), f"__{name}__"))
    for name, function in _UNARY.items():
        setattr(Tensor, f"__{name}__", spelled(function))
    for name, dtype in own_methods.CONVERSIONS.items():
        setattr(Tensor, name, _named(own_methods.conversion(dtype), name))


def _commutes(function: Function) -> bool:
    """Whether the node of an operator has the Tensor for its first input, wherever it stands."""
    launcher = ROW_OF[function].launcher
    return launcher is not None and launcher[1].commutes


def _named(function: Function, name: str) -> Function:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    return function


attach()
