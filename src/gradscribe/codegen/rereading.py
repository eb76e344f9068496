"""Elements of arrays read twice, where that turns a store into an in-place operation.

    t = A[i]                            undo.append(A[i])
    undo.append(t)          becomes     A[i] *= x
    A[i] = t * x

    t = A[i] / 9.0                      A[i] /= 9.0
    A[i] = t                becomes     A[j] += A[i]
    A[j] += t

An element is as cheap to read as a variable is to keep, and this is how people write it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradscribe.codegen.uses import IN_PLACE
from gradscribe.ir.core import Operand, Operation, Value, map_operands
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.indexing import GETITEM, READS, STORE


def reread(operations: list[Operation], reads: Counter[Value]) -> list[Operation]:
    """The operations of a block with such reads added. reads: how often values are read."""
    rereading = _Rereading(operations, reads)
    for index, operation in enumerate(operations):
        if operation.primitive is STORE:
            rereading.visit(index, operation)
    return rereading.result()


class _Rereading:
    def __init__(self, operations: list[Operation], reads: Mapping[Value, int]) -> None:
        self._operations = list(operations)
        self._reads = reads
        self._producer = {o.results[0]: n for n, o in enumerate(operations) if len(o.results) == 1}
        self._before: dict[int, list[Operation]] = {}

    def visit(self, index: int, store: Operation) -> None:
        """Look at the store `A[p] = f(A[p], …)` at index."""
        place = self._producer.get(store.operands[1])
        if place is None or not self._operations[place].operands:
            return
        changed = self._operations[place]
        before = self._producer.get(changed.operands[0])
        if before is None or changed.result.name:
            return
        old = self._operations[before]
        if not _reads_place_of(old, store) or old.result.name:
            return
        if self._reads[old.result] == 2:
            self._replace(place, old.result, replace(old, results=(Value(old.result.type),)))
        if self._reads[changed.result] == 2 and _keeps(store):
            reader = self._reader(index, store, changed.result)
            if reader is not None:
                self._replace(reader, changed.result, _element(store, changed.result))

    def _reader(self, index: int, store: Operation, value: Value) -> int | None:
        """The operation after a store that reads the stored value while the array is as it is."""
        for number in range(index + 1, len(self._operations)):
            operation = self._operations[number]
            if value in operation.operands:
                return number
            if operation.regions:
                return None
            if operation.primitive in IN_PLACE and operation.operands[0] is store.result:
                return None
        return None

    def _replace(self, index: int, value: Value, read: Operation) -> None:
        """Let the operation at index read anew what it has as value."""
        operation = self._operations[index]
        operands = tuple(read.result if v is value else v for v in operation.operands)
        self._operations[index] = replace(operation, operands=operands)
        self._before.setdefault(index, []).append(read)

    def result(self) -> list[Operation]:
        return [
            operation
            for index, own in enumerate(self._operations)
            for operation in (*self._before.get(index, ()), own)
        ]


def _reads_place_of(read: Operation, store: Operation) -> bool:
    """Whether an operation reads the elements that a store, of the same array, changes."""
    path = store.attributes["path"]
    if read.primitive not in READS or len(path) != 1 or path[0][0] is not read.primitive:
        return False
    if read.operands[0] is not store.operands[0]:
        return False
    here = map_operands(read.attributes["index"], lambda o: read.operands[o.index])
    there = map_operands(path[0][1]["index"], lambda o: store.operands[o.index])
    return bool(here == there)


def _keeps(store: Operation) -> bool:
    """Whether the array holds the very value that is stored in one of its elements."""
    array, value = (operand.type for operand in store.operands[:2])
    if not isinstance(array, Array) or not isinstance(value, Scalar):
        return False
    (_, arguments), *_ = store.attributes["path"]
    one_element = len(arguments["index"]) == array.rank and all(
        isinstance(item, (int, Operand)) for item in arguments["index"]
    )
    return one_element and array.dtype == value.dtype and not value.weak


def _element(store: Operation, value: Value) -> Operation:
    """The operation that reads what was just stored."""
    operands: list[Value] = [store.result]

    def numbered(operand: Operand) -> Any:
        operands.append(store.operands[operand.index])
        return Operand(len(operands) - 1)

    (_, arguments), *_ = store.attributes["path"]
    index = map_operands(arguments["index"], numbered)
    return Operation(
        GETITEM,
        tuple(operands),
        (Value(value.type),),
        {"x": Operand(0), "index": index},
        (),
        store.location,
    )
