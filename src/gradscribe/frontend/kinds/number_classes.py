"""Of which classes a number may be where the program runs, and whether an array may hold integers.

Branches and loops hand on what they are given, as it is: `1 if c else x[0]` has the type float64,
and may be an int. What asks for the class of a number (`isinstance`, `type`, `hasattr`) is known
when the function is compiled only where all classes agree of which it may be. An array that is made
of such numbers has the dtype that they give it, and cuts off what is stored to it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import gast
import numpy as np

from gradscribe.frontend.state.flow import CHANGING
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.ir.core import CALL, IF, LOOP, Operation, Value
from gradscribe.ir.flow import Loop, sources
from gradscribe.ir.types import Array, Opaque, Scalar, is_complex
from gradscribe.primitives.control import APPEND, EFFECT, RUN, UNDEF
from gradscribe.primitives.eigenvalues import as_complex
from gradscribe.primitives.registry import PRIMITIVES

Classes = frozenset[type]

_PLAIN = (bool, int, float, complex)
_NUMPY = (np.int64, np.int32, np.float64, np.float32, np.complex128, np.complex64)
_ARITHMETIC = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv}
    | {operator.mod, operator.pow, operator.neg, operator.pos, operator.abs, abs, pow, round}
    | {sum}
)
_HANDING_ON = frozenset({min, max})
"""Functions that give one of their operands as it is."""

_INTEGERS = (int, np.integer, np.bool_)
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
    return search(lowering, value)


def search(lowering: Lowering, value: Value) -> Classes:
    """`possible`, in library code, too."""
    return _Search(lowering).settled(value)


def may_hold_integers(lowering: Lowering, array: Value) -> bool:
    """Whether an array that has a floating dtype as far as types tell may be one of integers."""
    is_of_user = bool(lowering.frames) and not lowering.frames[0].is_of_package  # it is no rule
    return is_of_user and _may_be_integers(_Search(lowering).settled(array))


def are_several(lowering: Lowering, value: Value) -> bool:
    """Whether a number is of several classes, or an array of integers or floats, on paths that the
    program has; whether a complex one may be real, as eigenvalues are by their values (and what is
    computed of them)."""
    is_of_user = bool(lowering.frames) and not lowering.frames[0].is_of_package
    if not is_of_user or not isinstance(value.type, (Scalar, Array)) or not _is_floating(value):
        return False
    if is_complex(value.type) and not lowering.frame.is_of_package:
        return _are_complex_by_value(lowering)
    return len(_Search(lowering, doubts=False).settled(value)) > 1


def _are_complex_by_value(lowering: Lowering) -> bool:
    made = map(lowering.builder.definition, lowering.builder.values)
    return any(each is not None and each.primitive is PRIMITIVES[as_complex] for each in made)


def any_several(lowering: Lowering) -> bool:
    """Whether a number in the current statement may be of several classes; one that has no name,
    if any number of the program may be."""
    statement = lowering.frame.statement
    below = [] if statement is None else [*gast.walk(statement)]
    names = [lowering.frame.names.get(n.id) for n in below if isinstance(n, gast.Name)]
    if any(are_several(lowering, item) for item in names if isinstance(item, Value)):
        return True
    has_others = statement is None or sum(isinstance(n, gast.Call) for n in below) > 1
    values = lowering.builder.values if has_others else ()
    return any(are_several(lowering, value) for value in values if isinstance(value.type, Scalar))


def refuse_several(lowering: Lowering, node: Any, classes: Iterable[type]) -> NoReturn:
    """Refuse what depends on the class of a number that may be of several."""
    *first, last = sorted(f"`{cls.__name__}`" for cls in classes)
    lowering.unsupported(
        node,
        f"the class of a number that may be {', '.join(first)} or {last} here",
        "make it one of them on every path, as by `float(…)`, or ask by `isinstance`",
    )


def refuse_dtype(lowering: Lowering, node: Any) -> NoReturn:
    """Refuse what depends on the dtype of what may be of several."""
    lowering.unsupported(
        node,
        "the dtype of what may be integers or floats, or real or complex numbers, is not known "
        "when the function is compiled",
        "make it of one dtype on every path, as by `np.array(…, dtype=float)`",
    )


class _Search:
    """Of which classes numbers may be, and the items of arrays and of lists that arrays are made
    of; in rounds: in each, what has been found before is what a loop hands on to its next
    iteration.

    doubts: whether a number of which nothing is known is taken to be of any class below its type.
    carried: of the parameters of loops that have been lowered, where their values are from.
    """

    def __init__(self, lowering: Lowering, doubts: bool = True) -> None:
        self.lowering = lowering
        self.doubts = doubts
        self.carried: dict[Value, tuple[Value, ...]] = {}
        self.found: dict[Value, Classes] = {}
        self.seen: set[Value] = set()

    def settled(self, value: Value) -> Classes:
        """What is found of a value when a round finds nothing new."""
        while True:
            before = dict(self.found)
            self.seen.clear()
            found = self.of(value)
            if self.found == before:
                return found

    def of(self, value: Value) -> Classes:
        if value not in self.seen:
            self.seen.add(value)
            self.found[value] = self.found.get(value, frozenset()) | self._of(value)
        return self.found.get(value, frozenset())

    def _all(self, values: Iterable[Value]) -> Classes:
        return frozenset[type]().union(*map(self.of, values))

    def _of(self, value: Value) -> Classes:
        operation = self.lowering.builder.definition(value)
        if isinstance(value.type, Array) and np.dtype(value.type.dtype).kind in "biu":
            return frozenset({np.int64})
        if value in self.carried:
            return self._all(self.carried[value])
        if operation is None:
            return self._of_parameter(value)
        if operation.primitive is UNDEF:
            return frozenset()
        if operation.primitive is LOOP:
            for carried in Loop(operation).carried:
                self.carried[carried.parameter] = carried.initial, carried.following
        if operation.primitive in (IF, LOOP):
            return self._all(sources(operation, value))
        if isinstance(value.type, Scalar):
            return self._of_number(operation, value.type)
        return _ANY if self._may_be_made_of_integers(operation) else _FLOATS

    def _of_parameter(self, value: Value) -> Classes:
        """What is given, or what a loop that is being lowered carries or runs over. An array is
        taken for what it is in the first iteration, until another iteration shows that it is
        not."""
        loops = self.lowering.loops
        if isinstance(value.type, Scalar):
            is_input = value in self.lowering.outside.leaves
            return _own(value.type) if is_input else self._unknown(value.type)
        if value in loops.rows:
            return self.of(loops.rows[value])
        if value not in loops.carried:
            return _FLOATS
        entry, number, initial = loops.carried[value]
        if _may_be_integers(self.of(initial)) or not entry.without_integers.assume(number):
            return _ANY
        return _FLOATS

    def _of_number(self, operation: Operation, type_: Scalar) -> Classes:
        """Of arithmetic, what it gives of each class; of other operations their type tells, unless
        what they are given may be of several."""
        callee, operands = operation.callee, operation.operands
        if operation.primitive is CALL or any(map(_is_container, operands)):
            return self._unknown(type_)
        numbers = [o for o in operands if not (_is_opaque(o) or _is_container(o))]
        classes = [self.of(operand) for operand in numbers]
        if callee in _HANDING_ON:
            return frozenset[type]().union(*classes)
        is_of_numbers = all(isinstance(operand.type, Scalar) for operand in operands)
        if is_of_numbers and (callee in _ARITHMETIC or isinstance(callee, np.ufunc)):
            return self._of_arithmetic(callee, classes, type_)
        return _own(type_) if all(len(each) < 2 for each in classes) else _below(type_)

    def _unknown(self, type_: Scalar) -> Classes:
        return _below(type_) if self.doubts else _own(type_)

    def _of_arithmetic(self, callee: Any, classes: list[Classes], type_: Scalar) -> Classes:
        if not all(classes) or not _is_divided(classes):
            return _own(type_)
        combined = [*itertools.islice(itertools.product(*classes), _MOST + 1)]
        if len(combined) > _MOST:
            return _below(type_)
        found = frozenset(cls for each in combined for cls in _results(callee, each))
        return found & _below(type_) or _below(type_)

    def _may_be_made_of_integers(self, operation: Operation) -> bool:
        """Whether what makes an array, or a list that one is made of, may give integers."""
        operands = operation.operands
        if operation.primitive is APPEND:
            return any(_may_be_integers(self.of(operand)) for operand in operands)
        if operation.primitive in CHANGING:
            return _may_be_integers(self.of(operands[0]))
        if _makes_floats(operation):
            return False
        given = [operand for operand in operands if not _is_opaque(operand)]
        return bool(given) and all(_may_be_integers(self.of(operand)) for operand in given)


_FLOATS: Classes = frozenset({np.float64})
_ANY: Classes = frozenset({np.float64, np.int64})


def _may_be_integers(classes: Classes) -> bool:
    return any(issubclass(cls, _INTEGERS) for cls in classes)


def _is_divided(classes: list[Classes]) -> bool:
    return any(len(each) > 1 for each in classes)


def _results(callee: Any, classes: tuple[type, ...]) -> Iterator[type]:
    """The classes that a function gives of numbers of these classes, of either sign."""
    with np.errstate(all="ignore"):
        for signs in itertools.product((1, -1), repeat=len(classes)):
            try:
                yield type(callee(*(cls(sign) for cls, sign in zip(classes, signs, strict=True))))
            except (TypeError, ValueError):
                yield object


def _own(type_: Scalar) -> Classes:
    return frozenset({class_of_type(type_)})


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


def _is_opaque(value: Value) -> bool:
    return isinstance(value.type, Opaque)


def _makes_floats(operation: Operation) -> bool:
    """Whether an operation gives a dtype that does not depend on what numbers it is given."""
    callee = operation.callee
    if operation.primitive in (EFFECT, RUN, CALL) or operation.attributes.get("dtype") is not None:
        return True
    if not any(_is_floating(operand) for operand in operation.operands):
        return True
    if isinstance(callee, np.ufunc) and callee.signature is None and callee.nin < 3:
        with np.errstate(all="ignore"):
            return bool(np.asarray(callee(*[1] * callee.nin)).dtype.kind == "f")
    return callee is operator.truediv


def _is_floating(value: Value) -> bool:
    if isinstance(value.type, (Scalar, Array)):
        return np.dtype(value.type.dtype).kind in "fc"
    return not isinstance(value.type, Opaque)
