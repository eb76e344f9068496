"""Operations on arrays, as loops over elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Function,
    Operand,
    Operation,
    SliceOf,
    Value,
    map_operands,
    walk,
)
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import COPY
from gradscribe.primitives.indexing import GETITEM, LENGTH, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.kernels.elements import Elements
from gradscribe.transforms.kernels.errors import NotLoopsError
from gradscribe.transforms.kernels.fusion import fused
from gradscribe.transforms.kernels.indices import (
    Arithmetic,
    index_of_base,
    is_known_part,
)
from gradscribe.transforms.kernels.lengths import Lengths
from gradscribe.transforms.kernels.nests import Nests
from gradscribe.transforms.kernels.reductions import REDUCTIONS, Reductions
from gradscribe.transforms.kernels.roots import STORES, Roots
from gradscribe.transforms.kernels.virtual import (
    VIEWS,
    Virtual,
    is_elementwise,
)

EMPTY = PRIMITIVES[np.empty]
ARRAY = PRIMITIVES[np.array]
_COPIES = frozenset({COPY, PRIMITIVES[np.copy], ARRAY})


def in_loops(function: Function) -> Function:
    """The function with loops in place of its operations on arrays; itself, where it has none.
    Raises a NotLoopsError where one cannot be a loop."""
    if not any(_is_of_arrays(operation) for operation in walk(function.body)):
        return function
    return fused(_Lowering(function).function())


def _is_of_arrays(operation: Operation) -> bool:
    """Whether an operation computes, reads, stores or adds up many elements at once."""
    primitive, results = operation.primitive, operation.results
    if primitive in STORES:
        path = operation.attributes["path"]
        value = operation.operands[1]
        return (
            len(path) != 1 or isinstance(value.type, Array) or not _is_element(path[0], operation)
        )
    if primitive in REDUCTIONS or primitive in _COPIES:
        return isinstance(operation.operands[0].type, Array)
    return len(results) == 1 and is_elementwise(operation)


def _is_element(step: Any, operation: Operation) -> bool:
    primitive, arguments = step
    array = operation.operands[0].type
    if primitive is not GETITEM or not isinstance(array, Array):
        return False
    items = arguments["index"] if isinstance(arguments["index"], tuple) else (arguments["index"],)
    plain = not any(i is None or i is Ellipsis or isinstance(i, SliceOf) for i in items)
    return plain and len(items) == array.rank


class _Lowering:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._builder = Builder(function.facts)
        self._numbers = Arithmetic(self._builder)
        self._roots = Roots(function)
        self._virtual = Virtual(function, self._roots).made
        self._now: dict[Value, Value] = {}
        self._lengths = Lengths(self._numbers, self._virtual, self._now)
        self._elements = Elements(self._numbers, self._lengths, self._virtual, self._now)
        self._nests = Nests(self._numbers, self._lengths)
        self._reductions = Reductions(self._numbers, self._lengths, self._elements, self._nests)

    def function(self) -> Function:
        body = self._block(self._function.body)
        return replace(self._function, body=body)

    def _block(self, block: Block) -> Block:
        with self._lengths.block(), self._builder.block() as operations:
            for operation in block.operations:
                self._builder.location = operation.location
                self._operation(operation)
            yields = tuple(self._stored(value) for value in block.yields)
        return Block(block.parameters, tuple(operations), yields)

    # -- operations --------------------------------------------------------------------------

    def _operation(self, operation: Operation) -> None:
        primitive = operation.primitive
        if len(operation.results) == 1 and operation.results[0] in self._virtual:
            return
        if primitive in (IF, LOOP):
            self._with_regions(operation)
        elif not _is_of_arrays(operation):
            self._append(operation)
        elif primitive in STORES:
            self._store(operation)
        elif primitive in REDUCTIONS:
            self._now[operation.results[0]] = self._reductions.of(operation)
        elif primitive in _COPIES:
            self._copy(operation)
        else:
            result = operation.results[0]
            self._virtual[result] = operation
            self._now[result] = self._materialized(result)
            del self._virtual[result]

    def _copy(self, operation: Operation) -> None:
        """The elements of an array as a new one."""
        x, result = operation.operands[0], operation.results[0]
        if x.type is not result.type or operation.attributes.get("optional"):
            raise NotLoopsError("`array` that converts", operation.location)
        self._now[result] = self._materialized(x, result.name)

    def _append(self, operation: Operation) -> None:
        """An operation that stays; elements of what is not stored are computed."""
        first = operation.operands[0] if operation.operands else None
        if operation.primitive is LENGTH and first in self._virtual:
            assert first is not None
            self._now[operation.results[0]] = self._lengths.of(first, operation.attributes["axis"])
            return
        is_number = bool(operation.results) and isinstance(operation.results[0].type, Scalar)
        if operation.primitive is GETITEM and first in self._virtual and is_number:
            assert first is not None and isinstance(first.type, Array)
            numbers = [first, *map(self._number, operation.operands[1:])]
            length = self._lengths.axes_of(first)
            index = index_of_base(operation, (), numbers, self._numbers, length)
            self._now[operation.results[0]] = self._elements.of(first, index)
            return
        operands = tuple(self._stored(operand) for operand in operation.operands)
        self._builder.append(replace(operation, operands=operands))

    def _with_regions(self, operation: Operation) -> None:
        given = tuple(self._stored(operand) for operand in operation.operands)
        regions = tuple(self._block(region) for region in operation.regions)
        self._builder.append(replace(operation, operands=given, regions=regions))

    def _store(self, operation: Operation) -> None:
        target, value = operation.operands[:2]
        part = self._part(operation)
        if value in self._virtual and self._reads_elsewhere(value, target, part):
            self._now[value] = self._materialized(value)
            del self._virtual[value]
        self._lengths.check(value, part)
        base = self._elements.base_of(part)
        array = self._stored(base)

        def stored(index: list[Value], current: Value) -> Value:
            element = self._elements.meeting(value, index, part.type)
            _, place = self._elements.place(part, index)
            return self._nests.put(operation.primitive, current, element, place, target.name)

        changed = self._nests.over(part, array, stored)
        self._now[operation.results[0]] = changed if base is target else self._stored(target)

    def _part(self, operation: Operation) -> Value:
        """What of an array is stored to: a view, which is made where it is not known where its
        elements are."""
        part, facts = operation.operands[0], self._function.facts
        for primitive, arguments in operation.attributes["path"]:
            operands = (part, *operation.operands[1:])
            attributes = {"x": Operand(0), **arguments}
            types = _types_in(attributes, operands)
            type_ = primitive.type_rule(facts, primitive.callee, **types)
            if isinstance(type_, Scalar):
                type_ = Array(type_.dtype, ())
            part = Value(type_, part.name)
            view = Operation(primitive, operands, (part,), attributes)
            is_known = primitive is not GETITEM or not type_.rank or is_known_part(view, facts)
            if primitive in VIEWS and is_known:
                self._virtual[part] = view
            elif primitive.view:
                self._append(view)
            else:
                raise NotLoopsError("a part of an array", operation.location)
        return part

    def _reads_elsewhere(self, value: Value, target: Value, part: Value) -> bool:
        """Whether a value that is not stored reads elements of the memory that it is stored to,
        others than those that are stored: each may be stored before another is computed of it."""
        root, pending = self._roots.root(target), [(value, True)]
        stored = self._virtual.get(part)
        while pending:
            read, is_direct = pending.pop()
            operation = self._virtual[read]
            is_direct = is_direct and read.type is value.type
            for operand in operation.operands:
                if operand in self._virtual:
                    pending.append((operand, is_direct and operation.primitive not in VIEWS))
                elif isinstance(operand.type, Array) and self._roots.root(operand) is root:
                    is_same = is_direct and operand is target
                    if not is_same or not _is_same_part(operation, stored, target, part):
                        return True
        return False

    def _number(self, value: Value) -> Value:
        return self._now.get(value, value)

    def _stored(self, value: Value) -> Value:
        """A value as it is now; one that is not stored is, from here on: a view as a view."""
        operation = self._virtual.get(value)
        if operation is not None and operation.primitive in VIEWS:
            del self._virtual[value]
            self._append(operation)
        elif operation is not None:
            self._now[value] = self._materialized(value)
            del self._virtual[value]
        return self._now.get(value, value)

    # -- memory ------------------------------------------------------------------------------

    def _materialized(self, value: Value, name: str = "") -> Value:
        """An array with the elements of a value."""
        assert isinstance(value.type, Array)
        self._lengths.check(value, value)
        lengths = tuple(self._lengths.of(value, axis) for axis in range(value.type.rank))
        name = name or value.name
        new = self._nests.new_array(EMPTY, lengths, Value(value.type, name))

        def put(index: list[Value], current: Value) -> Value:
            element = self._elements.of(value, index)
            return self._nests.put(STORE, current, element, index, name)

        return self._nests.over(value, new, put)


def _is_same_part(read: Operation, stored: Operation | None, target: Value, part: Value) -> bool:
    """Whether an operation reads of an array, at each place, the element that is stored there."""
    if part is target:
        return read.primitive not in VIEWS
    return (
        stored is not None
        and stored.operands[0] is target
        and read.primitive is GETITEM is stored.primitive
        and len(read.operands) == 1
        and read.attributes["index"] == stored.attributes["index"]
    )


def _types_in(attributes: Any, operands: Sequence[Value]) -> Any:
    return map_operands(attributes, lambda operand: operands[operand.index].type)
