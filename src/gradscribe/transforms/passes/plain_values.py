"""Operations that stand for a value with derivatives of its own, once no more are taken.

Assumes a function that is differentiated no further. Guarantees the same results: what only told
of a derivative (what was saved for it, what the value was before) is read no more, nor computed
for that; the values themselves stand in their place, also in what stored one to where it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradscribe.ir.core import Block, Function, Operation, Value, map_operands, walk
from gradscribe.primitives.control import GIVEN, KEPT, STOP_GRADIENT
from gradscribe.primitives.indexing import STORE
from gradscribe.transforms.passes.simplify.dce import eliminate_dead_code

_WITH_DERIVATIVE = frozenset({GIVEN, KEPT})
_HANDING_ON = _WITH_DERIVATIVE | {STOP_GRADIENT}


def plain_values(function: Function) -> Function:
    """The function with just the values in the place of such operations."""
    if not any(operation.primitive in _WITH_DERIVATIVE for operation in walk(function.body)):
        return function
    made = _HandingOn(function)
    return eliminate_dead_code(replace(function, body=made.block(function.body)))


class _HandingOn:
    def __init__(self, function: Function) -> None:
        self._stands_for: dict[Value, Value] = {}
        self._definition: dict[Value, Operation] = {}
        self._named: dict[Value, str] = {}
        for operation in walk(function.body):
            if operation.primitive in _HANDING_ON:
                value = self._value(operation.operands[0])
                self._stands_for[operation.result] = value
                if not value.name:
                    self._named.setdefault(value, operation.result.name)

    def block(self, block: Block) -> Block:
        operations = []
        for operation in block.operations:
            made = self._operation(operation)
            if made is not None:
                operations.append(made)
        return replace(
            block, operations=tuple(operations), yields=tuple(map(self._value, block.yields))
        )

    def _value(self, value: Value) -> Value:
        while value in self._stands_for:
            value = self._stands_for[value]
        return value

    def _operation(self, operation: Operation) -> Operation | None:
        """The operation on the values; None for one that makes no other."""
        if operation.primitive in _HANDING_ON:
            return None
        operands = tuple(map(self._value, operation.operands))
        regions = tuple(map(self.block, operation.regions))
        operation = replace(operation, operands=operands, regions=regions)
        if operation.primitive is STORE and self._stores_to_its_place(operation):
            self._stands_for[operation.result] = operands[0]
            return None
        results = tuple(map(self._renamed, operation.results))
        operation = replace(operation, results=results)
        self._definition.update(dict.fromkeys(results, operation))
        return operation

    def _renamed(self, value: Value) -> Value:
        """The value, with the name of what stood for it."""
        name = self._named.get(value, "")
        if not name:
            return value
        named = self._stands_for[value] = Value(value.type, name)
        return named

    def _stores_to_its_place(self, store: Operation) -> bool:
        """Whether what is stored is what was read from that very place."""
        x, value = store.operands[0], store.operands[store.attributes["value"].index]
        for primitive, arguments in reversed(store.attributes["path"]):
            read = self._definition.get(value)
            if read is None or read.primitive is not primitive:
                return False
            first = next(iter(read.attributes))
            taken = {name: item for name, item in read.attributes.items() if name != first}
            if _known(taken, read) != _known(arguments, store):
                return False
            value = read.operands[0]
        return value is x


def _known(arguments: Any, operation: Operation) -> Any:
    """Arguments of an operation, with its operands in them."""
    return map_operands(arguments, lambda operand: operation.operands[operand.index])
