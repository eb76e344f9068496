"""Recorded calls as calls that are differentiated.

Comes in: a function with calls of `Recorded` functions (operations `effect`), and its active
leaves. Goes out: the same function, in which each of those calls that depends on an active leaf,
and that a differentiable result depends on, keeps a pullback, and its result is `given` as a
function of the arguments that it depends on so. The others stay calls of the user's function.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, Operand, Operation, Value, walk
from gradscribe.ir.types import Array, Opaque, Scalar, Tuple, is_differentiable
from gradscribe.primitives.argument_trees import leaves_of
from gradscribe.primitives.control import EFFECT, GIVEN, ITEM, TUPLE
from gradscribe.primitives.observed import Steps
from gradscribe.primitives.recorded_functions import (
    Differentiated,
    NotRecordedError,
    Recorded,
    Rules,
)
from gradscribe.transforms.analyses.opacity import Dependences


def with_pullbacks(function: Function, active_leaves: Sequence[int]) -> Function:
    """The function with pullbacks of its recorded calls; itself, where it has none."""
    calls = [o for o in walk(function.body) if is_recorded(o)]
    if not calls:
        return function
    dependences = Dependences(function)
    varied, useful = dependences.varied(active_leaves), dependences.useful
    changed = {o for o in calls if o.result in useful and not varied.isdisjoint(o.operands)}
    if not changed:
        return function
    return replace(function, body=_Rewriting(function, changed, varied).block(function.body))


def is_recorded(operation: Operation) -> bool:
    """Whether an operation is the call of a function that runs recorded."""
    return operation.primitive is EFFECT and isinstance(operation.callee, Recorded)


class _Rewriting:
    def __init__(self, function: Function, calls: set[Operation], varied: set[Hashable]) -> None:
        self._facts = function.facts
        self._calls = calls
        self._varied = varied

    def block(self, block: Block) -> Block:
        operations = [new for o in block.operations for new in self._operation(o)]
        return replace(block, operations=tuple(operations))

    def _operation(self, operation: Operation) -> Iterator[Operation]:
        if operation in self._calls:
            yield from self._with_pullback(operation)
        elif operation.regions:
            yield replace(operation, regions=tuple(map(self.block, operation.regions)))
        else:
            yield operation

    def _with_pullback(self, operation: Operation) -> Sequence[Operation]:
        call, whole = operation.callee, operation.result
        results = [s for s, type_ in leaves_of_type(whole.type) if is_differentiable(type_)]
        if not results:
            return [operation]
        builder = Builder(self._facts)
        builder.location = operation.location
        active = self._active(operation)
        callee = Differentiated(call, list(active.values()), results)
        attributes = {**operation.attributes, "type": Tuple((whole.type, Opaque()))}
        pair = builder.emit(EFFECT, operation.operands, attributes, callee=callee)
        value = builder.emit(ITEM, (pair,), {"x": Operand(0), "position": 0})
        name = f"{call.__name__}_pullback"
        saved = builder.emit(ITEM, (pair,), {"x": Operand(0), "position": 1}, name=name)
        inputs = tuple(active)
        chosen = [_item(builder, value, steps) for steps in results]
        together = chosen[0] if len(chosen) == 1 else _tuple(builder, chosen)
        given = builder.call(
            GIVEN,
            {"value": together, "inputs": inputs, "saved": (saved,), "rules": Rules(call.__name__)},
        )
        found = {
            steps: given if len(results) == 1 else _item(builder, given, (number,))
            for number, steps in enumerate(results)
        }
        made = _rebuilt(builder, value, found, ())
        return _renamed(builder.operations, made, whole)

    def _active(self, operation: Operation) -> dict[Value, list[Steps]]:
        """The arguments that a derivative passes by, and where each of them stands."""
        attributes = operation.attributes
        tree = (attributes["args"], attributes["keywords"])
        found: dict[Value, list[Steps]] = {}
        for steps, leaf in leaves_of(tree, lambda item: isinstance(item, Operand)):
            value = operation.operands[leaf.index] if isinstance(leaf, Operand) else None
            if value is None or value not in self._varied:
                continue
            if not isinstance(value.type, (Array, Scalar)):
                name = operation.callee.__name__
                what = f"`{name}` is given what is differentiated in a list or an object"
                raise NotRecordedError(what, "", operation.location)
            found.setdefault(value, []).append(steps)
        return found


def leaves_of_type(type_: Any, here: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """The types in nested tuples, and where they stand."""
    if isinstance(type_, Tuple):
        for number, item in enumerate(type_.items):
            yield from leaves_of_type(item, (*here, number))
    else:
        yield here, type_


def _item(builder: Builder, value: Value, steps: Steps) -> Value:
    for position in steps:
        value = builder.emit(ITEM, (value,), {"x": Operand(0), "position": position})
    return value


def _tuple(builder: Builder, items: Sequence[Value]) -> Value:
    return builder.call(TUPLE, {"items": tuple(items)})


def _rebuilt(builder: Builder, value: Value, found: dict[Steps, Value], here: Steps) -> Value:
    """The result, with the values that have derivatives in place of these."""
    if here in found:
        return found[here]
    if not isinstance(value.type, Tuple) or not any(s[: len(here)] == here for s in found):
        return value
    items = [
        _rebuilt(builder, _item(builder, value, (i,)), found, (*here, i))
        for i in range(len(value.type.items))
    ]
    return _tuple(builder, items)


def _renamed(operations: Sequence[Operation], made: Value, wanted: Value) -> list[Operation]:
    """The operations, with one value as another."""
    return [
        replace(
            o,
            operands=tuple(wanted if v is made else v for v in o.operands),
            results=tuple(wanted if v is made else v for v in o.results),
        )
        for o in operations
    ]
