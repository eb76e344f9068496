"""Of which classes a number may be where the program runs, and whether an array may hold integers.

Branches and loops hand on what they are given, as it is: `1 if c else x[0]` has the type float64,
and may be an int. What asks for the class of a number (`isinstance`, `type`, `hasattr`) is known
when the function is compiled only where all classes agree of which it may be. An array that is made
of such numbers has the dtype that they give it, and cuts off what is stored to it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np

from gradscribe.frontend.flow import CHANGING
from gradscribe.frontend.lowering import Lowering
from gradscribe.ir.core import CALL, IF, LOOP, Operation, Value
from gradscribe.ir.flow import Loop, sources
from gradscribe.ir.types import Array, Opaque, Scalar
from gradscribe.primitives.control import APPEND, EFFECT, LIST, RUN, UNDEF

Classes = frozenset[type]
Found = TypeVar("Found", bool, Classes)

_PLAIN = (bool, int, float, complex)
_NUMPY = (np.int64, np.int32, np.float64, np.float32, np.complex128, np.complex64)
_ARITHMETIC = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv}
    | {operator.mod, operator.pow, operator.neg, operator.pos, operator.abs, abs, pow, round}
    | {min, max, sum}
)
_MOST = 64
"""More combinations of classes are not tried."""


def class_of_type(type_: Scalar) -> type:
    """The class that a number of this type has, unless it is handed on as another one."""
    dtype = np.dtype(type_.dtype)
    if not type_.weak:
        return dtype.type
    return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind]


def possible(lowering: Lowering, value: Value) -> Classes:
    """The classes of which a number may be."""
    if lowering.frame.is_of_package:
        assert isinstance(value.type, Scalar)
        return frozenset({class_of_type(value.type)})
    return _possible(lowering, value)


def _possible(lowering: Lowering, value: Value) -> Classes:
    return _settled(_Search(lowering), value)


class _Rounds(Generic[Found]):
    """A search in rounds: in each, what has been found before is what a loop hands on to its next
    trip.

    carried: of the parameters of loops that have been lowered, where their values are from.
    nothing: what is known of a value before anything is found of it.
    """

    nothing: Found

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.carried: dict[Value, list[Value]] = {}
        self.found: dict[Value, Found] = {}
        self.seen: set[Value] = set()

    def of(self, value: Value) -> Found:
        if value not in self.seen:
            self.seen.add(value)
            self.found[value] = self.found.get(value, self.nothing) | self._of(value)
        return self.found.get(value, self.nothing)

    def _of(self, value: Value) -> Found:
        raise NotImplementedError

    def _handed_on(self, loop: Operation, result: Value) -> list[Value]:
        """What a loop may give as one of its results."""
        for carried in Loop(loop).carried:
            self.carried[carried.parameter] = [carried.initial, carried.following]
        return [*sources(loop, result)]


def _settled(search: _Rounds[Found], value: Value) -> Found:
    while True:
        before = dict(search.found)
        search.seen.clear()
        found = search.of(value)
        if search.found == before:
            return found


class _Search(_Rounds[Classes]):
    """One for the classes of a number."""

    nothing = frozenset()

    def _all(self, values: Iterable[Value]) -> Classes:
        return frozenset().union(*map(self.of, values))

    def _of(self, value: Value) -> Classes:
        if not isinstance(type_ := value.type, Scalar):
            return frozenset()
        operation = self.lowering.builder.definition(value)
        if value in self.carried:
            return self._all(self.carried[value])
        if operation is None:
            is_input = value in self.lowering.outside.leaves
            return frozenset({class_of_type(type_)}) if is_input else _below(type_)
        if operation.primitive is UNDEF:
            return frozenset()
        position = operation.results.index(value)
        if operation.primitive is IF:
            return self._all(region.yields[position] for region in operation.regions)
        if operation.primitive is LOOP:
            if position >= operation.attributes["shape"].carried:
                return _below(type_)
            return self._all(self._handed_on(operation, value))
        if operation.primitive is CALL or any(map(_is_container, operation.operands)):
            return _below(type_)
        return self._of_operation(operation, type_)

    def _of_operation(self, operation: Operation, type_: Scalar) -> Classes:
        """Of arithmetic of numbers, what it gives of each class; of other operations, their type
        tells."""
        callee = operation.callee
        is_arithmetic = callee in _ARITHMETIC or isinstance(callee, np.ufunc)
        if not is_arithmetic or not operation.operands:
            return frozenset({class_of_type(type_)})
        classes = [self.of(operand) for operand in operation.operands]
        if all(len(each) == 1 for each in classes) or not all(classes):
            return frozenset({class_of_type(type_)})
        combined = [*itertools.islice(itertools.product(*classes), _MOST + 1)]
        if len(combined) > _MOST:
            return _below(type_)
        return frozenset(_result(callee, each) for each in combined) or _below(type_)


def _result(callee: Any, classes: Iterable[type]) -> type:
    with np.errstate(all="ignore"):
        try:
            return type(callee(*(cls(1) for cls in classes)))
        except TypeError:
            return object


def _below(type_: Scalar) -> Classes:
    """All that may be handed on as a number of a type."""
    own = class_of_type(type_)
    if np.dtype(type_.dtype).kind == "b":
        return frozenset({own})
    classes = _PLAIN if type_.weak else (*_PLAIN, *_NUMPY)
    return frozenset({own, *(c for c in classes if _fits(np.dtype(c), np.dtype(type_.dtype)))})


def _fits(narrow: np.dtype[Any], wide: np.dtype[Any]) -> bool:
    return np.promote_types(narrow, wide) == wide


def _is_container(value: Value) -> bool:
    return not isinstance(value.type, (Scalar, Array, Opaque))


def may_hold_integers(lowering: Lowering, array: Value) -> bool:
    """Whether an array that has a floating dtype as far as types tell may be one of integers."""
    is_of_user = bool(lowering.frames) and not lowering.frames[0].is_of_package  # it is no rule
    return is_of_user and _settled(_IntegerSearch(lowering), array)


class _IntegerSearch(_Rounds[bool]):
    """Whether numbers, and the items of arrays and lists, may be integers."""

    nothing = False

    def _of(self, value: Value) -> bool:
        if isinstance(value.type, Scalar):
            return any(issubclass(c, _INTEGERS) for c in _possible(self.lowering, value))
        if isinstance(value.type, Array) and np.dtype(value.type.dtype).kind in "biu":
            return True
        if value in self.carried:
            return any(map(self.of, self.carried[value]))
        operation = self.lowering.builder.definition(value)
        if operation is None:
            return self._of_parameter(value)
        if operation.primitive is IF:
            position = operation.results.index(value)
            return any(self.of(region.yields[position]) for region in operation.regions)
        if operation.primitive is LOOP:
            return any(map(self.of, self._handed_on(operation, value)))
        if operation.primitive is LIST:
            return bool(operation.operands) and all(map(self.of, operation.operands))
        if operation.primitive is APPEND:
            return any(map(self.of, operation.operands))
        if operation.primitive in CHANGING:
            return self.of(operation.operands[0])
        if _makes_floats(operation):
            return False
        return bool(operation.operands) and all(map(self.of, operation.operands))

    def _of_parameter(self, value: Value) -> bool:
        """What a loop that is being lowered carries: as in its first trip, until another trip shows
        that it is not."""
        if value not in self.lowering.loops.carried:
            return False
        entry, number, initial = self.lowering.loops.carried[value]
        return self.of(initial) or not entry.without_integers.assume(number)


_INTEGERS = (int, np.integer)


def _makes_floats(operation: Operation) -> bool:
    """Whether an operation gives a dtype that does not depend on what numbers it is given."""
    callee = operation.callee
    if operation.primitive in (EFFECT, RUN, CALL) or operation.attributes.get("dtype") is not None:
        return True
    if not any(_is_floating(operand) for operand in operation.operands):
        return True
    if isinstance(callee, np.ufunc) and callee.nin < 3:
        with np.errstate(all="ignore"):
            return bool(np.asarray(callee(*[1] * callee.nin)).dtype.kind == "f")
    return callee is operator.truediv


def _is_floating(value: Value) -> bool:
    if isinstance(value.type, (Scalar, Array)):
        return np.dtype(value.type.dtype).kind in "fc"
    return not isinstance(value.type, Opaque)
