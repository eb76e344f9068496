"""Forward mode through `if` and `loop`: tangents flow beside the values, by the same ways.

Each active result, carried value, item and record gets a second one for its tangent. Conditions,
exits and the number of iterations stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Function,
    Operation,
    Value,
    item_type,
    walk,
)
from gradscribe.ir.flow import Loop, sources
from gradscribe.ir.types import Array, Collected, Scalar, Type, cotangent_type, is_differentiable
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.primitives.control import RAISE
from gradscribe.primitives.indexing import GETITEM
from gradscribe.transforms.derivatives.cotangents import carried_type, joined_type, name_of
from gradscribe.transforms.tangent.widening import widened

if TYPE_CHECKING:
    from gradscribe.transforms.tangent import Tangent

Item = TypeVar("Item")


def recorded_values(function: Function, recorded: Iterable[Value]) -> Iterator[Value]:
    """The results of regions that end up among those that are recorded. They have tangents
    in any case: a zero can be made of a value only where it is defined."""
    made = {
        result: operation
        for operation in walk(function.body)
        if operation.primitive in (IF, LOOP)
        for result in operation.results
    }
    pending = list(recorded)
    seen: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in made and value not in seen and is_differentiable(value.type):
            seen.add(value)
            yield value
            pending += sources(made[value], value)


def tangent_if(tangent: Tangent, operation: Operation) -> None:
    """Append an `if` that yields the tangents of its active results as well."""
    active = [result in tangent.active for result in operation.results]
    blocks = []
    for region in operation.regions:
        with tangent.located(operation), _path(tangent) as operations:
            tangent.block(region)
            types = [result.type for result in _select(operation.results, active)]
            d_yields = _required(tangent, operations, _select(region.yields, active), types)
        blocks.append(Block((), tuple(operations), (*region.yields, *d_yields)))
    count = len(operation.results)
    d_results = []
    for position, result in enumerate(_select(operation.results, active)):
        sides = [block.yields[count + position] for block in blocks]
        d_result = Value(joined_type(result, sides), name_of(result))
        d_results.append(tangent.define(result, d_result))
        yields = (_select(region.yields, active)[position] for region in operation.regions)
        tangent.poles.merge(d_result, list(map(tangent.of, yields)))
    tangent.builder.append(
        replace(operation, results=(*operation.results, *d_results), regions=tuple(blocks))
    )


@contextmanager
def _path(tangent: Tangent) -> Iterator[list[Operation]]:
    """A block that is run on some paths: what it enforces on lengths is not believed on others."""
    with tangent.builder.facts.scope(), tangent.builder.block() as operations:
        yield operations


def _required(
    tangent: Tangent, operations: list[Operation], values: Sequence[Value], types: Sequence[Type]
) -> list[Value]:
    """The tangents of values at the end of a block, as of values of these types; a `raise` stays
    its last operation."""
    last = operations.pop() if operations and operations[-1].primitive is RAISE else None
    tangents = [
        _numbered(tangent, widened(tangent, value, tangent.required(value), type_), type_)
        for value, type_ in zip(values, types, strict=True)
    ]
    if last is not None:
        operations.append(last)
    return tangents


def _numbered(tangent: Tangent, given: Value, type_: Type) -> Value:
    """The tangent of a number, taken out of the array without axes that a rule may give."""
    if isinstance(type_, Scalar) and isinstance(given.type, Array) and not given.type.dims:
        return tangent.builder.call(GETITEM, {"x": given, "index": ()})
    return given


def tangent_loop(tangent: Tangent, operation: Operation) -> None:
    """Append a loop that carries, consumes and collects tangents as well."""
    with tangent.located(operation):
        loop = _Loop(tangent, operation)
        operands = loop.operands()
        regions = loop.regions()
        results = loop.results(regions[0])
    tangent.builder.append(
        replace(
            operation,
            operands=operands,
            results=results,
            attributes={**operation.attributes, "shape": loop.new_shape},
            regions=regions,
        )
    )


class _Loop:
    """A loop and its tangent, part by part.

    iterated, carried, collected: whether the items, carried values and records have tangents.
    """

    def __init__(self, tangent: Tangent, operation: Operation) -> None:
        self.tangent, self.loop = tangent, (loop := Loop(operation))
        shape, active = loop.shape, tangent.active
        self.iterated = [item in active for item in loop.items]
        self.carried = [c.parameter in active or c.result in active for c in loop.carried]
        self.collected = [record in active for record in loop.collected]
        self.new_shape = replace(
            shape,
            iterables=(*shape.iterables, *_select(shape.iterables, self.iterated)),
            carried=shape.carried + sum(self.carried),
            collects=shape.collects + sum(self.collected),
        )

    def operands(self) -> tuple[Value, ...]:
        """The iterables and initial values; the items get their tangents."""
        tangent, iterables = self.tangent, []
        for _, operands, item in _select(self.loop.iterated, self.iterated):
            iterables.append(iterable := tangent.required(operands[0]))
            d_item = Value(_item_type(iterable.type, item), name_of(item))
            tangent.poles.merge(tangent.define(item, d_item), [iterable])
        return (
            *self.loop.iterables,
            *iterables,
            *self.loop.initial,
            *(
                widened(tangent, c.initial, tangent.required(c.initial), c.parameter.type)
                for c in _select(self.loop.carried, self.carried)
            ),
        )

    def regions(self) -> tuple[Block, ...]:
        """The body with tangents, and the condition, which has none."""
        tangent, loop = self.tangent, self.loop
        d_items = map(tangent.required, _select(loop.items, self.iterated))
        d_parameters = self._carry(loop.parameters, loop.initial)
        elements = _select(loop.elements, self.collected)
        with _path(tangent) as operations:
            tangent.block(loop.body)
            wanted = [*_select(loop.following, self.carried), *elements]
            types = [p.type for p in _select(loop.parameters, self.carried)]
            types += map(item_type, _select(loop.collected, self.collected))
            d_yields = _required(tangent, operations, wanted, types)
        count = len(d_parameters)
        yields = (
            *loop.following,
            *d_yields[:count],
            *loop.exits,
            *loop.elements,
            *d_yields[count:],
        )
        parameters = (*loop.items, *d_items, *loop.parameters, *d_parameters)
        return (
            Block(parameters, tuple(operations), yields),
            *(
                replace(
                    region,
                    parameters=(*region.parameters, *self._carry(region.parameters, loop.initial)),
                )
                for region in loop.operation.regions[1:]
            ),
        )

    def results(self, body: Block) -> tuple[Value, ...]:
        """The results; finals and records get their tangents."""
        loop, count = self.loop, sum(self.collected)
        recorded = _select(loop.collected, self.collected)
        elements = body.yields[len(body.yields) - count :]
        d_records = [
            self.tangent.define(record, Value(Collected(element.type), name_of(record)))
            for record, element in zip(recorded, elements, strict=True)
        ]
        for d_record, element in zip(d_records, elements, strict=True):
            self.tangent.poles.merge(d_record, [element])
        d_results = self._carry(loop.results, loop.following)
        return (*loop.results, *d_results, *loop.collected, *d_records)

    def _carry(self, values: Sequence[Value], given: Sequence[Value]) -> list[Value]:
        """Tangents for those of the carried values that have one. given: what they are, at the
        start or after the last iteration."""
        tangents = []
        for value, source in zip(
            _select(values, self.carried), _select(given, self.carried), strict=True
        ):
            tangents.append(Value(carried_type(value.type), name_of(value)))
            self.tangent.poles.merge(tangents[-1], [self.tangent.of(source)])
            self.tangent.define(value, tangents[-1])
        return tangents


def _item_type(iterable: Type, item: Value) -> Type:
    """The type of the items of a tangent that is iterated over."""
    if isinstance(iterable, (Collected, SequenceType)):
        return cotangent_type(iterable.item)
    return cotangent_type(item.type)


def _select(items: Sequence[Item], keep: Sequence[bool]) -> list[Item]:
    return [item for item, kept in zip(items, keep, strict=True) if kept]
