"""Operations on arrays, as loops over elements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Function,
    Location,
    LoopShape,
    Operand,
    Operation,
    SliceOf,
    Value,
    map_operands,
    walk,
)
from gradscribe.ir.types import INT, Array, Scalar, Type
from gradscribe.primitives.control import CONSTANT, COPY, STOP_GRADIENT
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, LENGTH, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.kernels.elements import Elements
from gradscribe.transforms.kernels.indices import (
    Arithmetic,
    UnknownPartError,
    part_index,
)
from gradscribe.transforms.kernels.lengths import Lengths
from gradscribe.transforms.kernels.roots import STORES, Roots
from gradscribe.transforms.kernels.virtual import (
    VIEWS,
    Virtual,
    is_of_elements,
)

SUM, EMPTY, ZEROS = (PRIMITIVES[f] for f in (np.sum, np.empty, np.zeros))
_COPIES = frozenset({COPY, PRIMITIVES[np.copy]})

_BLOCK = 128
"""So many numbers are added up one after the other; then the sums of such blocks are."""

_NAMES = "ijklmn"


class NotLoopsError(Exception):
    """What is no loop over elements."""

    def __init__(self, what: str, location: Location | None) -> None:
        super().__init__(what)
        self.what = what
        self.location = location


def in_loops(function: Function) -> Function:
    """The function with loops in place of its operations on arrays; itself, where it has none.
    Raises a NotLoopsError where one cannot be a loop."""
    if not any(_is_of_arrays(operation) for operation in walk(function.body)):
        return function
    return _Lowering(function).function()


def _is_of_arrays(operation: Operation) -> bool:
    """Whether an operation computes, reads, stores or adds up many elements at once."""
    primitive, results = operation.primitive, operation.results
    if primitive in STORES:
        path = operation.attributes["path"]
        value = operation.operands[1]
        return (
            len(path) != 1 or isinstance(value.type, Array) or not _is_element(path[0], operation)
        )
    if primitive is SUM:
        return True
    is_array = len(results) == 1 and isinstance(results[0].type, Array)
    return is_array and is_of_elements(primitive)


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
        try:
            if primitive in (IF, LOOP):
                self._with_regions(operation)
            elif not _is_of_arrays(operation):
                self._append(operation)
            elif primitive in STORES:
                self._store(operation)
            elif primitive is SUM:
                self._sum(operation)
            else:
                result = operation.results[0]
                self._virtual[result] = operation
                self._now[result] = self._materialized(result)
                del self._virtual[result]
        except UnknownPartError:
            raise NotLoopsError("a part of an array", operation.location) from None

    def _append(self, operation: Operation) -> None:
        """An operation that stays; elements of what is not stored are computed."""
        first = operation.operands[0] if operation.operands else None
        if operation.primitive is LENGTH and first in self._virtual:
            assert first is not None
            self._now[operation.results[0]] = self._lengths.of(first, operation.attributes["axis"])
            return
        if operation.primitive is GETITEM and first in self._virtual:
            assert first is not None and isinstance(first.type, Array)
            numbers = [first, *map(self._number, operation.operands[1:])]
            items, rank = operation.attributes["index"], first.type.rank
            index = part_index(
                items, rank, (), numbers, self._numbers, self._lengths.axes_of(first)
            )
            self._now[operation.results[0]] = self._elements.of(first, index)
            return
        if operation.primitive in _COPIES and first in self._virtual:
            assert first is not None
            self._now[operation.results[0]] = self._materialized(first)
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
        array = self._stored(target)

        def stored(index: list[Value], current: Value) -> Value:
            element = self._elements.meeting(value, index, part.type)
            _, place = self._elements.place(part, index)
            return self._put(operation.primitive, current, element, place, target.name)

        self._now[operation.results[0]] = self._nest(part, array, stored)

    def _part(self, operation: Operation) -> Value:
        """What of an array is stored to: a view that is not stored itself."""
        target = operation.operands[0]
        part = Value(target.type)
        self._virtual[part] = Operation(STOP_GRADIENT, (target,), (part,), {"x": Operand(0)})
        for primitive, arguments in operation.attributes["path"]:
            if primitive not in VIEWS:
                raise UnknownPartError
            operands = (part, *operation.operands[1:])
            attributes = {"x": Operand(0), **arguments}
            types = _types_in(attributes, operands)
            type_ = primitive.type_rule(self._function.facts, primitive.callee, **types)
            if isinstance(type_, Scalar):
                type_ = Array(type_.dtype, ())
            part = Value(type_)
            self._virtual[part] = Operation(primitive, operands, (part,), attributes)
        return part

    def _reads_elsewhere(self, value: Value, target: Value, part: Value) -> bool:
        """Whether a value that is not stored reads elements of the memory that it is stored to,
        others than those that are stored: each may be stored before another is computed of it."""
        root, pending = self._roots.root(target), [value]
        stored = self._virtual[part]
        is_single = stored.primitive is GETITEM and self._virtual[stored.operands[0]].operands == (
            target,
        )
        while pending:
            operation = self._virtual[pending.pop()]
            is_same = (
                is_single
                and operation.primitive is GETITEM
                and operation.operands[0] not in self._virtual
                and len(operation.operands) == 1
                and operation.attributes["index"] == stored.attributes["index"]
                and operation.results[0].type is value.type
            )
            for operand in operation.operands:
                if not isinstance(operand.type, Array) or is_same:
                    continue
                if operand in self._virtual:
                    pending.append(operand)
                elif self._roots.root(operand) is root:
                    return True
        return False

    def _sum(self, operation: Operation) -> None:
        given = operation.attributes
        x = operation.operands[0]
        plain = given.get("dtype") is None and given.get("initial") is None
        if not plain or given.get("where", True) is not True or not isinstance(x.type, Array):
            raise NotLoopsError("a sum with options", operation.location)
        if x.type.dtype != "float64":
            raise NotLoopsError("a sum of other numbers than floats", operation.location)
        self._lengths.check(x, x)
        axis, result = given.get("axis"), operation.results[0]
        if axis is None and not given.get("keepdims", False):
            self._now[result] = self._total(x, [], self._zero())
        else:
            self._now[result] = self._sum_along(x, axis, result)

    def _sum_along(self, x: Value, axis: Any, result: Value) -> Value:
        """The sums along axes: of rows one by one, or row by row added to one."""
        assert isinstance(x.type, Array) and isinstance(result.type, Array)
        rank = x.type.rank
        given = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        summed = {n % rank for n in given}
        kept = [n for n in range(rank) if n not in summed]
        keeps = result.type.rank == rank and bool(summed)
        shape = tuple(
            self._numbers.number(1) if n in summed else self._lengths.of(x, n)
            for n in range(rank)
            if keeps or n not in summed
        )
        array = self._new_array(ZEROS, shape, result)

        def place(index: Sequence[Value]) -> list[Value]:
            if not keeps:
                return [index[n] for n in kept]
            return [self._numbers.number(0) if n in summed else index[n] for n in range(rank)]

        if rank - 1 not in summed:
            return self._nest(
                x,
                array,
                lambda index, now: self._put(
                    ACCUMULATE, now, self._elements.of(x, index), place(index), result.name
                ),
            )

        def rows(index: list[Value], current: Value) -> Value:
            axis = len(index)
            if axis == rank - 1:
                total = self._total(x, index, self._zero())
                return self._put(ACCUMULATE, current, total, place([*index, total]), result.name)
            length = self._lengths.of(x, axis)
            return self._loop(length, [current], lambda i, now: [rows([*index, i], now[0])])[0]

        return rows([], array)

    def _zero(self) -> Value:
        return self._builder.emit(CONSTANT, (), {"value": 0.0})

    def _total(self, x: Value, index: list[Value], total: Value) -> Value:
        """The sum of all elements whose index begins so, added to a number."""
        assert isinstance(x.type, Array)
        axis = len(index)
        if axis == x.type.rank:
            return self._numbers.apply(operator.add, total, self._elements.of(x, index))
        length = self._lengths.of(x, axis)
        if axis < x.type.rank - 1:
            return self._loop(
                length,
                [total],
                lambda i, now: [self._total(x, [*index, i], now[0])],
            )[0]

        def block(first: Value, now: list[Value]) -> list[Value]:
            last = self._numbers.apply(min, self._numbers.plus(first, _BLOCK), length)
            (part,) = self._loop(
                last,
                [self._zero()],
                lambda i, sums: [self._total(x, [*index, i], sums[0])],
                first=first,
            )
            return [self._numbers.apply(operator.add, now[0], part)]

        return self._loop(length, [total], block, step=_BLOCK)[0]

    def _number(self, value: Value) -> Value:
        return self._now.get(value, value)

    def _stored(self, value: Value) -> Value:
        """A value as it is now; one that is not stored is, from here on."""
        if value in self._virtual:
            self._now[value] = self._materialized(value)
            del self._virtual[value]
        return self._now.get(value, value)

    # -- memory ------------------------------------------------------------------------------

    def _materialized(self, value: Value) -> Value:
        """An array with the elements of a value."""
        assert isinstance(value.type, Array)
        self._lengths.check(value, value)
        lengths = tuple(self._lengths.of(value, axis) for axis in range(value.type.rank))
        new = self._new_array(EMPTY, lengths, value)

        def put(index: list[Value], current: Value) -> Value:
            return self._put(STORE, current, self._elements.of(value, index), index, value.name)

        return self._nest(value, new, put)

    def _new_array(self, primitive: Any, shape: tuple[Value, ...], like: Value) -> Value:
        """A new array of the type of a value."""
        assert isinstance(like.type, Array)
        arguments = {"shape": shape, "dtype": np.dtype(like.type.dtype).type}
        self._builder.call(primitive, arguments)
        new = Value(like.type, like.name)
        self._builder.operations[-1] = replace(self._builder.operations[-1], results=(new,))
        return new

    def _put(
        self, primitive: Any, array: Value, element: Value, place: Sequence[Value], name: str
    ) -> Value:
        path = ((GETITEM, {"index": tuple(place)}),)
        return self._builder.call(
            primitive, {"x": array, "value": element, "path": path}, name=name
        )

    def _nest(
        self, shaped: Value, array: Value, put: Callable[[list[Value], Value], Value]
    ) -> Value:
        """Loops over all indices of an array, which carry another one that is stored to."""
        assert isinstance(shaped.type, Array)

        def level(index: list[Value], current: Value) -> Value:
            if len(index) == shaped.type.rank:  # type: ignore[attr-defined]
                return put(index, current)
            length = self._lengths.of(shaped, len(index))
            return self._loop(length, [current], lambda i, now: [level([*index, i], now[0])])[0]

        return level([], array)

    def _loop(
        self,
        stop: Value,
        carried: list[Value],
        body: Callable[[Value, list[Value]], list[Value]],
        first: Value | None = None,
        step: int = 1,
    ) -> list[Value]:
        start = self._numbers.number(0) if first is None else first
        by = self._numbers.number(step)
        depth = self._builder.depth
        item = Value(
            replace(INT, value=Affine.of(Symbol(_NAMES[depth % len(_NAMES)], 0))),
        )
        types = [_as_numpy(value.type) for value in carried]
        parameters = [Value(t, v.name) for t, v in zip(types, carried, strict=True)]
        with self._lengths.block(), self._builder.block() as operations:
            yields = body(item, parameters)
        region = Block((item, *parameters), tuple(operations), tuple(yields))
        results = [Value(value.type, value.name) for value in parameters]
        shape = LoopShape(("range",), carried=len(carried))
        self._builder.emit_loop(shape, (start, stop, by, *carried), (region,), results)
        return results


def _as_numpy(type_: Type) -> Type:
    """The type of a number that is added up, which is NumPy's from the first addition on."""
    return replace(type_, weak=False) if isinstance(type_, Scalar) else type_


def _types_in(attributes: Any, operands: Sequence[Value]) -> Any:
    return map_operands(attributes, lambda operand: operands[operand.index].type)
