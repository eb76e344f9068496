"""The operators of `RecordedArray` and `RecordedNumber`: Python's, as NumPy has them.

An operand that is no number, array or list is asked itself, where Python or NumPy would ask it.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

import numpy as np

from gradscribe.frontend.structures import protocols
from gradscribe.ir.deferring import asks_right_operand
from gradscribe.ir.overlaps import copied
from gradscribe.ir.probing import in_class, module_of_class
from gradscribe.recording import operations, protocol, stores
from gradscribe.recording.arrays import RecordedArray, RecordedNumber
from gradscribe.recording.levels import plain
from gradscribe.recording.operations import run

BOTH = (RecordedArray, RecordedNumber)

OPERATORS: dict[str, Any] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
}
COMPARISONS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
UNARY: dict[str, Any] = {"neg": operator.neg, "pos": operator.pos, "abs": abs}

Recorded = Any
"""A `RecordedArray` or `RecordedNumber`."""

Array = Any
"""A `RecordedArray`."""


def _is_operand(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.ndarray, np.generic, list, tuple))


def _not_computed(name: str, function: Any, self: Recorded, other: Any) -> Any:
    """`NotImplemented`, by which Python asks the right operand; refused where NumPy does not."""
    present = plain(self._present())
    own = in_class(type(other), name)
    is_of_python = module_of_class(type(other)) == "builtins"  # a text knows no numbers
    is_of_numpy = isinstance(present, (np.ndarray, np.generic))
    if is_of_python and is_of_numpy:
        function(present, other)  # raises what NumPy raises of it
    if is_of_python or not is_of_numpy or own in (None, in_class(object, name)):
        return NotImplemented
    if asks_right_operand(type(other), of_array=isinstance(present, np.ndarray)):
        return NotImplemented
    raise protocols.not_asked(type(other), name)


def _binary(name: str, function: Any, *, reflected: bool) -> Any:
    asked = f"__r{name}__"

    def method(self: Recorded, other: Any) -> Any:
        if not _is_operand(other) or (
            isinstance(other, (list, tuple)) and isinstance(self, (float, complex))
        ):
            return NotImplemented if reflected else _not_computed(asked, function, self, other)
        if not reflected and (own := _preferred(asked, self, other)) is not None:
            found = own(other, self)
            if found is not NotImplemented:
                return found
        if isinstance(other, (list, tuple)):
            other = np.asarray(other)
        return run(function, (other, self) if reflected else (self, other))

    return method


def _preferred(name: str, self: Recorded, other: Any) -> Any:
    """The reflected operator of a right operand that Python asks first: where the operand's class
    is derived from that of the left one, and has its own."""
    cls = type(other)
    is_plain = cls in (int, float, np.float64) or cls in BOTH
    if is_plain or type(self) is RecordedArray or not issubclass(cls, self.__class__):
        return None
    own = in_class(cls, name)
    return own if type(own) is FunctionType else None


def _comparison(reflected: str, function: Any) -> Any:
    def method(self: Recorded, other: Any) -> Any:
        present = plain(self._present())
        if _is_operand(other):
            return function(present, operations.uncovered(other))
        if isinstance(present, np.ndarray) and _is_told_apart_by_numpy(other, reflected):
            return function(present, other)
        return _not_computed(reflected, function, self, other)

    return method


def _is_told_apart_by_numpy(other: Any, name: str) -> bool:
    """Whether NumPy compares each element with an object, which has no such method of its own:
    `x != None` is an array."""
    is_of_python = module_of_class(type(other)) == "builtins"
    return is_of_python or in_class(type(other), name) in (None, in_class(object, name))


def _in_place(name: str, function: Any) -> Any:
    in_place = getattr(operator, f"i{name}")

    def method(self: Array, other: Any) -> Any:
        if not _is_operand(other):
            if in_class(type(other), "__array_ufunc__", self) is None:
                what = f"operand '{type(other).__name__}' does not support ufuncs"
                raise TypeError(f"{what} (__array_ufunc__=None)")
            return NotImplemented
        if isinstance(other, (list, tuple)):
            other = np.asarray(other)

        def computed() -> Any:
            try:
                return run(function, (self, other))
            except Exception:  # of the program, which may raise anything
                in_place(
                    copied(plain(self._present())), operations.uncovered(other)
                )  # in its own words
                raise

        return protocol.storing_all(computed, lambda found: stores.update(self, found))

    return method


def attach() -> None:
    """Give the classes their operators."""
    for cls in BOTH:
        for name, function in OPERATORS.items():
            setattr(cls, f"__{name}__", _binary(name, function, reflected=False))
            setattr(cls, f"__r{name}__", _binary(name, function, reflected=True))
        for name, function in COMPARISONS.items():
            reflected = {"l": "g", "g": "l"}.get(name[0], name[0]) + name[1:]
            setattr(cls, f"__{name}__", _comparison(f"__{reflected}__", function))
        for name, function in UNARY.items():
            setattr(cls, f"__{name}__", lambda self, f=function: run(f, (self,)))
        cls.__divmod__ = lambda self, other: (self // other, self % other)  # type: ignore
        cls.__rdivmod__ = lambda self, other: (other // self, other % self)  # type: ignore
    for name, function in OPERATORS.items():
        setattr(RecordedArray, f"__i{name}__", _in_place(name, function))
