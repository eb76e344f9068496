"""Forward mode through `if` and `loop`: tangents flow beside the values, by the same ways.

Each active result, carried value, item and record gets a second one for its tangent. Conditions,
exits and the number of trips stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Function,
    LoopShape,
    Operation,
    Value,
    item_type,
    walk,
)
from gradscribe.ir.types import Array, Collected, Scalar, Type, cotangent_type, is_differentiable
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.primitives.control import RAISE
from gradscribe.primitives.indexing import GETITEM
from gradscribe.transforms.cotangents import carried_type, joined_type, name_of
from gradscribe.transforms.tangent.widening import widened

if TYPE_CHECKING:
    from gradscribe.transforms.tangent import Tangent

Item = TypeVar("Item")


def recorded_values(function: Function) -> Iterator[Value]:
    """The results of regions that end up in the record that a function returns. They
    have tangents in any case: a zero can be made of a value only where it is defined."""
    made = {
        result: operation
        for operation in walk(function.body)
        if operation.primitive in (IF, LOOP)
        for result in operation.results
    }
    yields = function.body.yields
    pending = list(yields[len(yields) - function.record :])
    seen: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in made and value not in seen and is_differentiable(value.type):
            seen.add(value)
            yield value
            pending += _merged(made[value], value)


def _merged(operation: Operation, result: Value) -> list[Value]:
    """The values that a result of a region is, on one path or another."""
    position = operation.results.index(result)
    if operation.primitive is IF:
        return [region.yields[position] for region in operation.regions]
    shape: LoopShape = operation.attributes["shape"]
    body = operation.regions[0]
    if position >= shape.carried:
        return [body.yields[position + shape.exits]]
    return [operation.operands[shape.iterable_operands + position], body.yields[position]]


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
        shape: LoopShape = operation.attributes["shape"]
        body = operation.regions[0]
        self.tangent, self.operation, self.shape = tangent, operation, shape
        self.items = body.parameters[: len(shape.iterables)]
        self.parameters = body.parameters[len(shape.iterables) :]
        self.finals = operation.results[: shape.carried]
        self.records = operation.results[shape.carried :]
        active = tangent.active
        self.iterated = [item in active for item in self.items]
        self.carried = [
            parameter in active or final in active
            for parameter, final in zip(self.parameters, self.finals, strict=True)
        ]
        self.collected = [record in active for record in self.records]
        self.new_shape = replace(
            shape,
            iterables=(*shape.iterables, *_select(shape.iterables, self.iterated)),
            carried=shape.carried + sum(self.carried),
            collects=shape.collects + sum(self.collected),
        )

    def operands(self) -> tuple[Value, ...]:
        """The iterables and initial values; the items get their tangents."""
        tangent, operands = self.tangent, self.operation.operands
        initial = operands[self.shape.iterable_operands :]
        slices = _select(tuple(self.shape.iterable_slices()), self.iterated)
        iterables = [tangent.required(operands[where.start]) for where in slices]
        for item, iterable in zip(_select(self.items, self.iterated), iterables, strict=True):
            d_item = Value(_item_type(iterable.type, item), name_of(item))
            tangent.poles.merge(tangent.define(item, d_item), [iterable])
        return (
            *operands[: self.shape.iterable_operands],
            *iterables,
            *initial,
            *(
                widened(tangent, value, tangent.required(value), parameter.type)
                for value, parameter in zip(
                    _select(initial, self.carried),
                    _select(self.parameters, self.carried),
                    strict=True,
                )
            ),
        )

    def regions(self) -> tuple[Block, ...]:
        """The body with tangents, and the condition, which has none."""
        body, *condition = self.operation.regions
        tangent, last = self.tangent, self.shape.carried
        d_items = map(tangent.required, _select(self.items, self.iterated))
        initial = self.operation.operands[self.shape.iterable_operands :]
        d_parameters = self._carry(self.parameters, initial)
        following, elements = body.yields[:last], body.yields[last + self.shape.exits :]
        with _path(tangent) as operations:
            tangent.block(body)
            wanted = [*_select(following, self.carried), *_select(elements, self.collected)]
            types = [p.type for p in _select(self.parameters, self.carried)]
            types += map(item_type, _select(self.records, self.collected))
            d_yields = _required(tangent, operations, wanted, types)
        count = len(d_parameters)
        yields = (
            *following,
            *d_yields[:count],
            *body.yields[last : last + self.shape.exits],
            *elements,
            *d_yields[count:],
        )
        parameters = (*self.items, *d_items, *self.parameters, *d_parameters)
        return (
            Block(parameters, tuple(operations), yields),
            *(
                replace(
                    region,
                    parameters=(*region.parameters, *self._carry(region.parameters, initial)),
                )
                for region in condition
            ),
        )

    def results(self, body: Block) -> tuple[Value, ...]:
        """The results; finals and records get their tangents."""
        count = sum(self.collected)
        elements = body.yields[len(body.yields) - count :]
        d_records = [
            self.tangent.define(record, Value(Collected(element.type), name_of(record)))
            for record, element in zip(_select(self.records, self.collected), elements, strict=True)
        ]
        for d_record, element in zip(d_records, elements, strict=True):
            self.tangent.poles.merge(d_record, [element])
        following = self.operation.regions[0].yields[: self.shape.carried]
        return (*self.finals, *self._carry(self.finals, following), *self.records, *d_records)

    def _carry(self, values: Sequence[Value], given: Sequence[Value]) -> list[Value]:
        """Tangents for those of the carried values that have one. given: what they are, at the
        start or after the last trip."""
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
