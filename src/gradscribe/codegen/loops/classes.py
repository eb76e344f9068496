"""Whether a number is Python's or NumPy's, where the types tell only that it may be NumPy's.

The type of a number that is Python's on one path, and NumPy's on another, is NumPy's. Native code
has one kind of number; a result is given the class that the NumPy tier gives it (NumPy's, where it
is that on some paths: of a loop, say, that may run no time).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from enum import Flag, auto
from typing import Any

from gradscribe.codegen.loops.lists import OF_LISTS, put_together
from gradscribe.ir.core import IF, LOOP, Block, Function, LoopShape, Operation, Value
from gradscribe.ir.types import Collected, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.control import (
    CONSTANT,
    GET,
    ITEM,
    PUSH,
    STACK_POP,
    TUPLE,
)


class Classes(Flag):
    """The classes that a number may have at run time."""

    NONE = 0
    PYTHON = auto()
    NUMPY = auto()


_OF_OPERANDS = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow),
        *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow),
        *(operator.neg, operator.pos, abs, min, max),
    }
)
"""Functions whose result is Python's where all operands are."""
_OF_PYTHON = frozenset(f for f in vars(math).values() if callable(f))


def classes_of_results(function: Function) -> list[Classes]:
    """For each leaf of the result, the classes that it may have, or its items."""
    found = _Found()
    for parameter in function.body.parameters:
        found.add(parameter, _declared(parameter.type))
        if isinstance(parameter.type, Sequence):
            found.add((parameter, "item"), _declared(parameter.type.item))
    while True:
        before = dict(found.of)
        found.block(function.body)
        if before == found.of:
            return [found.of_result(value) for value in function.body.yields]


def _declared(type_: Type) -> Classes:
    if isinstance(type_, Scalar) and type_.weak:
        return Classes.PYTHON
    return Classes.NUMPY


class _Found:
    """What is known so far: it grows until nothing new is found."""

    def __init__(self) -> None:
        self.of: dict[Any, Classes] = {}

    def add(self, value: Any, classes: Classes) -> None:
        self.of[value] = self.of.get(value, Classes.NONE) | classes

    def get(self, value: Any) -> Classes:
        return self.of.get(value, Classes.NONE)

    def of_result(self, value: Value) -> Classes:
        """The classes of a number, or of the numbers in a list."""
        return self.get((value, "item") if isinstance(value.type, Sequence) else value)

    def block(self, block: Block) -> None:
        for operation in block.operations:
            if operation.primitive is IF:
                self._if(operation)
            elif operation.primitive is LOOP:
                self._loop(operation)
            else:
                self._single(operation)

    def _if(self, operation: Operation) -> None:
        for region in operation.regions:
            self.block(region)
            self._join(operation.results, region.yields)

    def _join(self, targets: Iterable[Value], sources: Iterable[Value]) -> None:
        for target, source in zip(targets, sources, strict=True):
            self._copy(source, target)

    def _copy(self, source: Value, target: Value) -> None:
        """What is known of a value, and of its items, for another."""
        self.add(target, self.get(source))
        self._copy_items(source.type, source, target)

    def _copy_items(self, type_: Type, source: Any, target: Any) -> None:
        if isinstance(type_, Tuple):
            for number, item in enumerate(type_.items):
                self.add((target, number), self.get((source, number)))
                self._copy_items(item, (source, number), (target, number))
        elif isinstance(type_, (Collected, Sequence)):
            self.add((target, "item"), self.get((source, "item")))
            self._copy_items(type_.item, (source, "item"), (target, "item"))

    def _loop(self, operation: Operation) -> None:
        shape: LoopShape = operation.attributes["shape"]
        body = operation.regions[0]
        items = body.parameters[: len(shape.iterables)]
        carried = body.parameters[len(shape.iterables) :]
        for kind, part, item in zip(shape.iterables, shape.iterable_slices(), items, strict=True):
            source = operation.operands[part][0]
            if kind in ("collected", "sequence"):
                self.add(item, self.get((source, "item")))
                self._copy_items(item.type, (source, "item"), item)
            else:
                self.add(item, _declared(item.type))
        self._join(carried, operation.operands[shape.iterable_operands :])
        if shape.condition:
            self._join(operation.regions[1].parameters, carried)
            self.block(operation.regions[1])
        self.block(body)
        self._join(carried, body.yields[: shape.carried])
        self._join(operation.results[: shape.carried], carried)
        collected = body.yields[len(body.yields) - shape.collects :] if shape.collects else ()
        for record, value in zip(operation.results[shape.carried :], collected, strict=True):
            self.add((record, "item"), self.get(value))
            self._copy_items(value.type, value, (record, "item"))

    def _single(self, operation: Operation) -> None:
        primitive, operands = operation.primitive, operation.operands
        if primitive is PUSH:
            stack, value = operands
            self.add((stack, "item"), self.get(value))
            self._copy_items(value.type, value, (stack, "item"))
            return
        result = operation.results[0]
        if primitive in OF_LISTS:
            self._list(operation, result)
        elif primitive is STACK_POP:
            self.add(result, self.get((operands[0], "item")))
            self._copy_items(result.type, (operands[0], "item"), result)
        elif primitive is TUPLE:
            for number, operand in enumerate(operands):
                self.add((result, number), self.get(operand))
                self._copy_items(operand.type, operand, (result, number))
        elif primitive is ITEM:
            place = (operands[0], operation.attributes["position"])
            self.add(result, self.get(place))
            self._copy_items(result.type, place, result)
        elif isinstance(result.type, Sequence):
            self.add((result, "item"), _declared(result.type.item))
        else:
            self.add(result, self._of_call(operation))

    def _list(self, operation: Operation, result: Value) -> None:
        """What a list holds is what it has held, and what is put into it."""
        if operation.primitive is GET:
            source = (operation.operands[0], "item")
            self.add(result, self.get(source))
            self._copy_items(result.type, source, result)
            return
        for value, is_list in put_together(operation):
            if is_list:
                self._copy(value, result)
            else:
                self.add((result, "item"), self.get(value))
                self._copy_items(value.type, value, (result, "item"))

    def _of_call(self, operation: Operation) -> Classes:
        callee, result = operation.callee, operation.results[0]
        if operation.primitive is CONSTANT:
            return _declared(result.type)
        if _is_in(callee, _OF_PYTHON):
            return Classes.PYTHON
        if _is_in(callee, _OF_OPERANDS):
            found = [self.get(operand) for operand in operation.operands]
            if Classes.NONE in found:
                return Classes.NONE
            if any(each is Classes.NUMPY for each in found):
                return Classes.NUMPY
            either = any(Classes.NUMPY in each for each in found)
            return Classes.PYTHON | Classes.NUMPY if either else Classes.PYTHON
        return _declared(result.type)


def _is_in(callee: Any, functions: frozenset[Any]) -> bool:
    try:
        return callee in functions
    except TypeError:
        return False
