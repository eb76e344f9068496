"""Arrays of which each element is read in the iteration that stores it, as numbers.

    t = np.empty(n)
    for i in range(n):              for i in range(n):
        t[i] = x[i] * y[i]    ->        z[i] = x[i] * y[i] + z[i]
        z[i] = t[i] + z[i]

An element that has just been stored is what was stored; an array that nothing reads is not made.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Function,
    LoopShape,
    Operand,
    Operation,
    Value,
    substituted,
    walk,
)
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import ASSERT
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, LENGTH, STORE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.kernels.roots import STORES, Roots

_ADD = PRIMITIVES[operator.add]
_NEW = frozenset({PRIMITIVES[np.empty], PRIMITIVES[np.zeros]})


def contracted(function: Function, same: Mapping[Symbol, Affine]) -> Function:
    """The function with fewer arrays. same: the symbols that loops that are one now had each."""
    body = _Forwarding(Roots(function), same).block(function.body)
    function = replace(function, body=body)
    body = _without(function.body, _unread(function))
    return replace(function, body=_used_only(body))


class _Forwarding:
    """What an element that has just been stored, and the length of a new array, are known to be."""

    def __init__(self, roots: Roots, same: Mapping[Symbol, Affine]) -> None:
        self._roots = roots
        self._same = same
        self._now: dict[Value, Value] = {}

    def block(self, block: Block) -> Block:
        stored: dict[Value, tuple[Any, Value]] = {}
        operations: list[Operation] = []
        for operation in block.operations:
            (operation,) = substituted(Block((), (operation,), ()), self._now).operations
            if operation.regions:
                regions = tuple(map(self.block, operation.regions))
                operation = replace(operation, regions=regions)
            found = self._forwarded(operation, stored)
            if found is not None:
                self._now[operation.results[0]] = found
                continue
            if operation.primitive in STORES:
                self._store(operation, stored, operations)
            else:
                operations.append(operation)
        yields = tuple(self._now.get(y, y) for y in block.yields)
        return _without_superseded(Block(block.parameters, tuple(operations), yields), self.place)

    def _store(
        self,
        operation: Operation,
        stored: dict[Value, tuple[Any, Value]],
        operations: list[Operation],
    ) -> None:
        """Note what is stored; what is added to an element that has just been stored is the sum."""
        index = self.place(operation)
        array, value = operation.operands[:2]
        before = stored.get(array)
        is_sum = operation.primitive is ACCUMULATE and before is not None and before[0] == index
        if before is not None and is_sum and _has_dtype_of(array, before[1], value):
            given = {"x": Operand(0), "y": Operand(1)}
            total = Value(_element_type(array))
            added = Operation(_ADD, (before[1], value), (total,), given, callee=operator.add)
            operations.append(replace(added, location=operation.location))
            operands = (array, total, *operation.operands[2:])
            operation = replace(operation, primitive=STORE, operands=operands)
        if operation.primitive is STORE and index is not None:
            stored[operation.results[0]] = (index, operation.operands[1])
        operations.append(operation)

    def place(self, operation: Operation) -> Any:
        """The place that a store stores to, in a form that is equal where places are."""
        path = operation.attributes["path"]
        is_element = len(path) == 1 and path[0][0] is GETITEM
        return self._place(path[0][1]["index"], operation) if is_element else None

    def _forwarded(
        self, operation: Operation, stored: Mapping[Value, tuple[Any, Value]]
    ) -> Value | None:
        """What a read, or a length, is known to be."""
        if operation.primitive is LENGTH:
            made = self._roots.origin(operation.operands[0])
            if made is None or made.primitive not in _NEW:
                return None
            shape = made.attributes["shape"]
            items = shape if isinstance(shape, tuple) else (shape,)
            item = items[operation.attributes["axis"]]
            if not isinstance(item, Operand):
                return None
            return self._now.get(made.operands[item.index], made.operands[item.index])
        if operation.primitive is not GETITEM or operation.operands[0] not in stored:
            return None
        index, value = stored[operation.operands[0]]
        is_same_type = value.type == operation.results[0].type
        place = self._place(operation.attributes["index"], operation)
        return value if is_same_type and place is not None and place == index else None

    def _place(self, index: Any, operation: Operation) -> Any:
        """An index in a form that is equal where the places are; None where that is not known."""
        items = index if isinstance(index, tuple) else (index,)
        found = []
        for item in items:
            if isinstance(item, Operand):
                value = operation.operands[item.index]
                known = getattr(value.type, "value", None)
                is_known = isinstance(known, Affine)
                found.append(known.substitute(self._same) if is_known else value)  # type: ignore[union-attr]
            elif isinstance(item, int):
                found.append(item)
            else:
                return None
        return tuple(found)


def _element_type(array: Value) -> Scalar:
    assert isinstance(array.type, Array)
    return Scalar(array.type.dtype, weak=False)


def _has_dtype_of(array: Value, *numbers: Value) -> bool:
    """Whether numbers can be stored in an array, and added up, without a conversion."""
    dtype = _element_type(array).dtype
    return all(getattr(number.type, "dtype", None) == dtype for number in numbers)


def _without_superseded(block: Block, place: Callable[[Operation], Any]) -> Block:
    """The block without stores to an element whose only use is the next store to it."""
    uses = Counter(_all_used(block))
    made = {o.results[0]: o for o in block.operations if o.primitive is STORE}
    gone: set[Value] = set()
    operations: list[Operation] = []
    for operation in block.operations:
        while operation.primitive is STORE:
            before = made.get(operation.operands[0])
            if before is None or uses[before.results[0]] != 1 or place(before) is None:
                break
            if place(before) != place(operation):
                break
            gone.add(before.results[0])
            operation = replace(operation, operands=(before.operands[0], *operation.operands[1:]))
        operations.append(operation)
    kept = tuple(o for o in operations if gone.isdisjoint(o.results))
    return replace(block, operations=kept)


def _unread(function: Function) -> set[Value]:
    """The values that are new arrays which are stored to only."""
    roots = Roots(function)
    read = {roots.root(value) for value in _read(function.body)}
    read |= {roots.root(value) for value in function.body.yields}
    found = set()
    for operation in walk(function.body):
        values = [v for region in operation.regions for v in region.parameters]
        for value in (*operation.results, *values):
            made = roots.origin(value) if isinstance(value.type, Array) else None
            if made is not None and made.primitive in _NEW and roots.root(value) not in read:
                found.add(value)
    return found


def _read(block: Block) -> Iterator[Value]:
    """The arrays that are read, or given to something else than a store."""
    for operation in block.operations:
        if operation.primitive is LOOP:
            shape: LoopShape = operation.attributes["shape"]
            yield from operation.operands[: shape.iterable_operands]
            yield from operation.regions[0].yields[shape.carried :]
            if shape.condition:
                yield from operation.regions[1].yields
        elif operation.primitive is IF:
            yield operation.operands[0]
            for region in operation.regions:
                yield from region.yields
        elif operation.primitive in STORES:
            yield from operation.operands[1:]
        else:
            yield from operation.operands
        for region in operation.regions:
            yield from _read(region)


def _without(block: Block, unread: set[Value]) -> Block:
    """The block without all that makes, or stores to, these arrays."""
    operations = []
    for operation in block.operations:
        if operation.primitive is LOOP:
            operation = _loop_without(operation, unread)
        elif operation.results and operation.results[0] in unread:
            continue
        regions = tuple(_without(region, unread) for region in operation.regions)
        operations.append(replace(operation, regions=regions))
    return replace(block, operations=tuple(operations))


def _loop_without(operation: Operation, unread: set[Value]) -> Operation:
    shape: LoopShape = operation.attributes["shape"]
    first = shape.iterable_operands
    kept = [n for n in range(shape.carried) if operation.results[n] not in unread]
    if len(kept) == shape.carried:
        return operation
    items, carried = len(shape.iterables), shape.carried

    def of(values: tuple[Value, ...], start: int) -> tuple[Value, ...]:
        chosen = (values[start + n] for n in kept)
        return (*values[:start], *chosen, *values[start + carried :])

    body, *condition = operation.regions
    body = Block(of(body.parameters, items), body.operations, of(body.yields, 0))
    condition = [replace(each, parameters=of(each.parameters, 0)) for each in condition]
    return replace(
        operation,
        operands=of(operation.operands, first),
        results=of(operation.results, 0),
        attributes={**operation.attributes, "shape": replace(shape, carried=len(kept))},
        regions=(body, *condition),
    )


def _used_only(block: Block) -> Block:
    """The block without numbers that nothing uses, and loops that do nothing."""
    while True:
        used = set(_all_used(block))
        kept = _with_used(block, used)
        if sum(1 for _ in walk(kept)) == sum(1 for _ in walk(block)):
            return kept
        block = kept


def _all_used(block: Block) -> Iterator[Value]:
    yield from block.yields
    for operation in block.operations:
        yield from operation.operands
        for region in operation.regions:
            yield from _all_used(region)


def _with_used(block: Block, used: set[Value]) -> Block:
    operations = []
    for operation in block.operations:
        regions = tuple(_with_used(region, used) for region in operation.regions)
        operation = replace(operation, regions=regions) if regions else operation
        is_empty = operation.primitive is LOOP and not operation.results
        is_empty = is_empty and not any(r.operations for r in regions)
        is_unused = operation.primitive is LENGTH or operation.primitive is GETITEM
        is_unused = is_unused or not _matters(operation)
        is_unused = is_unused and not any(result in used for result in operation.results)
        if not is_empty and not (is_unused and operation.results):
            operations.append(operation)
    return replace(block, operations=tuple(operations))


def _matters(operation: Operation) -> bool:
    """Whether an operation does more than to give a result."""
    primitive = operation.primitive
    arrays = any(isinstance(r.type, Array) for r in operation.results)
    return bool(operation.regions) or arrays or primitive.effect or primitive is ASSERT
