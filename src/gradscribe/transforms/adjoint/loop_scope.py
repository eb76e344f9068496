"""The mirror of a loop: the loop backwards.

It runs over the same iterables in the other direction, or over the number of trips made where
the loop could be left early. It carries

- the cotangents of the primal's carried values;
- an accumulator for the cotangent of every outer value that the body reads;
- for arrays that are restored, the array as it is after the mirrored trip.

What it needs of each trip besides comes from the records that the primal loop collects.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, IterableKind, LoopShape, Operation, Value, walk
from gradscribe.ir.types import Array, Sequence
from gradscribe.primitives.control import GET, LEN, SET
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, LENGTH, STORE
from gradscribe.transforms.adjoint.exits import cotangent_at_exit, is_made_at_exit
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.cotangents import (
    add,
    call,
    carried_type,
    constant,
    item_of,
    name_of,
    same_lengths,
    zero,
)
from gradscribe.transforms.storage import index_type


@dataclass
class _Iterable:
    kind: IterableKind
    operands: tuple[Value, ...]
    item: Value


@dataclass
class _Carried:
    """A value that the mirror carries: `finish` is given its result after the loop (`result`, where
    that is not of the parameter's type)."""

    parameter: Value
    initial: Value
    next: Callable[[], Value]
    finish: Callable[[Value], None]
    result: Value | None = None


class LoopScope(Scope):
    """The mirror of a loop's body, and what the mirrored loop runs over and carries."""

    def __init__(self, parent: Scope, loop: Operation) -> None:
        super().__init__(parent.context, loop.regions[0], Builder(parent.context.facts))
        self.parent: Scope = parent
        self.loop = loop
        self.shape: LoopShape = loop.attributes["shape"]
        self.count = len(self.shape.iterables)
        self.iterables: list[_Iterable] = []
        self.carried: list[_Carried] = []
        self.accumulators: dict[Value, _Carried] = {}
        self.untouched: set[Value] = set()
        self.records: dict[Value, _Iterable] = {}
        self.builder.location = parent.builder.location
        self.runs_to_the_end = self._runs_to_the_end()
        self._items: dict[int, Value] = {}
        self._index: Value | None = None

    # -- availability of primal values ---------------------------------------------------------

    def parameter(self, value: Value) -> Value:
        position = self.block.parameters.index(value)
        if position < self.count:
            return self.item(position)
        self.context.want(value)
        return self.export(value)

    def parameter_is_free(self, value: Value) -> bool:
        position = self.block.parameters.index(value)
        if position >= self.count:
            return False
        return not any(map(self.parent.effort, self._operands(position)))

    def export(self, value: Value) -> Value:
        self.context.kept.add(value)
        record = self.parent.primal(self.context.exports.record(self.loop, value))
        self.records[value] = self._run_over("collected", (record,), value)
        return self.records[value].item

    def item(self, position: int) -> Value:
        """The item of an iterable of the primal in the mirrored trip."""
        if position not in self._items:
            self._items[position] = self._new_item(position)
        return self._items[position]

    def _new_item(self, position: int) -> Value:
        kind, like = self.shape.iterables[position], self.block.parameters[position]
        operands = tuple(map(self.parent.primal, self._operands(position)))
        if self.runs_to_the_end:
            return self._run_over(kind, operands, like).item
        if kind == "range":
            if self.shape.reversed and getattr(operands[2].type, "value", None) != Affine.of(1):
                return self.export(like)
            return self._run_over(kind, self._trips_made(operands), like).item
        (container,) = operands
        if kind == "array":
            arguments = {"x": container, "index": (self.index(),)}
            return self.builder.call(GETITEM, arguments, name=like.name)
        item = self.builder.call(GET, {"x": container, "index": self.index()}, name=like.name)
        same_lengths(self.builder.facts, item, like)
        return item

    def _run_over(self, kind: IterableKind, operands: tuple[Value, ...], like: Value) -> _Iterable:
        iterable = _Iterable(kind, operands, Value(like.type, like.name))
        self.iterables.append(iterable)
        return iterable

    def _operands(self, position: int) -> tuple[Value, ...]:
        where = list(self.shape.iterable_slices())[position]
        return self.loop.operands[where]

    # -- trips -----------------------------------------------------------------------------------

    def _runs_to_the_end(self) -> bool:
        """Whether the trips are those of each of the iterables."""
        if self.shape.exits or self.shape.condition or not self.count:
            return False
        first, *others = [self._length_of(position) for position in range(self.count)]
        return self.shape.reversed or all(self._equal(first, other) for other in others)

    def _equal(self, a: Affine | Value | None, b: Affine | Value | None) -> bool:
        if isinstance(a, Affine) and isinstance(b, Affine):
            return self.context.facts.equal(a, b) is True
        return a is not None and a is b

    def _length_of(self, position: int) -> Affine | Value | None:
        """The length of an iterable, or the list that it is the length of; None if unknown."""
        facts, kind = self.context.facts, self.shape.iterables[position]
        operands = self._operands(position)
        type_ = operands[0].type
        if kind == "array" and isinstance(type_, Array):
            return facts.normalize(type_.dims[0])
        if kind == "sequence" and isinstance(type_, Sequence):
            return operands[0] if type_.length is None else facts.normalize(type_.length)
        start, stop, step = (getattr(operand.type, "value", None) for operand in operands)
        if (start, step) == (Affine.of(0), Affine.of(1)):
            definition = self.context.structure.definition.get(operands[1])
            if definition is not None and definition.primitive is LEN:
                counted = definition.operands[0]
                if isinstance(counted.type, Sequence) and counted.type.length is None:
                    return counted
            return facts.normalize(stop) if stop is not None else None
        return None

    def index(self) -> Value:
        """The number of the mirrored trip, which is that of the items of all iterables."""
        if self._index is None:
            self._index = self._new_index()
        return self._index

    def _new_index(self) -> Value:
        if self.runs_to_the_end:
            for position, kind in enumerate(self.shape.iterables):
                values = [getattr(o.type, "value", None) for o in self._operands(position)]
                if kind == "range" and (values[0], values[2]) == (Affine.of(0), Affine.of(1)):
                    return self.item(position)
            operands = self._range(constant(self.parent.builder, 0), self._length())
        else:
            operands = self._executed()
        return self._run_over("range", operands, Value(index_type(), "i")).item

    def _length(self) -> Value:
        """How many items the first iterable has."""
        (container,) = self._operands(0)
        builder = self.parent.builder
        if isinstance(container.type, Array):
            like = self.parent.primal(self.parent.shaped_like(container))
            return builder.call(LENGTH, {"x": like, "axis": 0})
        return builder.call(LEN, {"x": self.parent.primal(container)})

    def _executed(self) -> tuple[Value, ...]:
        """The numbers of the trips made, where the loop did not run to its end."""
        trips = self.parent.primal(self.context.exports.trips(self.loop))
        zero_ = constant(self.parent.builder, 0)
        if not self.shape.reversed:
            return self._range(zero_, trips)
        length = self._length()
        start = call(self.parent.builder, operator.sub, length, trips)
        return self._range(start, length)

    def _trips_made(self, operands: tuple[Value, ...]) -> tuple[Value, ...]:
        """The part of a range that the loop ran over."""
        start, stop, step = operands
        builder = self.parent.builder
        trips = self.parent.primal(self.context.exports.trips(self.loop))
        run = call(builder, operator.mul, trips, step)
        if self.shape.reversed:
            return call(builder, operator.sub, stop, run), stop, step
        return start, call(builder, operator.add, start, run), step

    def _range(self, start: Value, stop: Value) -> tuple[Value, ...]:
        return start, stop, constant(self.parent.builder, 1)

    # -- cotangents --------------------------------------------------------------------------------

    def incoming(self, value: Value) -> Value:
        """The accumulator of an outer value's cotangent."""
        initial, masked = self.parent.cotangent(value), self.context.masked
        parameter = Value(carried_type(value.type), name_of(value))
        if initial is None or initial in masked:
            masked.add(parameter)  # until a trip adds to all of it
        if initial is None:
            initial = zero(self.parent, value)
            self.untouched.add(value)

        def finish(result: Value) -> None:
            if self.cotangents[value] in masked:
                masked.add(result)
            self.parent.cotangents[value] = result

        self.accumulators[value] = _Carried(
            parameter, initial, lambda: self.cotangents[value], finish
        )
        self.cotangents[value] = parameter
        return parameter

    def is_first(self, value: Value) -> bool:
        """Whether nothing was added yet, in any trip, to the item of this trip in the cotangent
        (zeros) of an outer value: in the trips, only its items are used."""
        accumulator = self.accumulators.get(value)
        if value not in self.untouched or accumulator is None or self._is_used_whole(value):
            return False
        return self.cotangents[value] is accumulator.parameter

    def _is_used_whole(self, value: Value) -> bool:
        """Whether the trips use an array or list that they run over in other ways, too."""
        operands = self.loop.operands[: self.shape.iterable_operands]
        return operands.count(value) > 1 or any(_reads(r, value) for r in self.loop.regions)

    def carry_cotangents(self) -> bool:
        """Carry the cotangents of the primal's carried values; whether any has to be."""
        active, parent = self.context.active, self.parent
        finals = self.loop.results[: self.shape.carried]
        if not any(final in parent.cotangents for final in finals):
            return False
        initial = self.loop.operands[self.shape.iterable_operands :]
        for position, final in enumerate(finals):
            first, last = self.block.parameters[self.count + position], self.block.yields[position]
            given = parent.cotangents.get(final)
            if first not in active and (
                given is None or (last not in active and initial[position] not in active)
            ):
                continue
            if given is None:
                given = zero(parent, final)
            if is_made_at_exit(self.loop, position, self.context.structure):
                self.contribute(last, cotangent_at_exit(given, self._ended(), parent.builder))
                continue
            type_ = last.type if isinstance(final.type, Array) else final.type
            parameter = Value(carried_type(type_), name_of(final) or name_of(first))
            self._carry_cotangent(parameter, given, first, final, initial[position])
            if last in active:
                self.contribute(last, parameter)
        return True

    def _ended(self) -> set[Value]:
        """The flags that tell that the loop was not left, as the mirror around has them."""
        body, carried = self.block, self.shape.carried
        again = body.yields[carried]
        flags = (
            result
            for result, value in zip(self.loop.results, body.yields[:carried], strict=False)
            if value is again
        )
        return {known for flag in flags if (known := self.parent.known(flag)) is not None}

    def _carry_cotangent(
        self, parameter: Value, given: Value, first: Value, final: Value, initial: Value
    ) -> None:
        def following() -> Value:
            found = self.cotangents.get(first)
            return found if found is not None else zero(self, first)

        def finish(result: Value) -> None:
            if initial in self.context.active:
                if self.cotangents.get(first) in self.context.masked:
                    self.context.masked.add(result)
                self.parent.contribute(initial, result)

        type_ = initial.type if isinstance(parameter.type, Array) else final.type
        result = Value(carried_type(type_), parameter.name)
        self.carried.append(_Carried(parameter, given, following, finish, result))

    def scatter(self, position: int, cotangent: Value, scope: Scope) -> None:
        """Add the cotangent of an item to that of the array (or list) it was taken from."""
        (container,) = self._operands(position)
        total = scope.cotangent(container)
        assert total is not None
        is_first, index, builder = self.is_first(container), self.index(), scope.builder
        name = name_of(container)
        if isinstance(container.type, Array):
            primitive = STORE if is_first and total is self.cotangents[container] else ACCUMULATE
            path = ((GETITEM, {"index": (index,)}),)
            arguments = {"x": total, "value": cotangent, "path": path}
            changed = builder.call(primitive, arguments, name=name)
            if total in self.context.masked:
                self.context.masked.add(changed)
            scope.cotangents[container] = changed
            return
        if not is_first:
            like = self.block.parameters[position]
            cotangent = add(builder, item_of(builder, total, index, like), cotangent, like)
        arguments = {"x": total, "index": index, "value": cotangent}
        scope.cotangents[container] = builder.call(SET, arguments, name=name)

    def scatter_items(self) -> None:
        for position in range(self.count):
            item = self.block.parameters[position]
            cotangent = self.cotangents.pop(item, None)
            if cotangent is not None and self._operands(position)[0] in self.context.active:
                self.scatter(position, cotangent, self)

    # -- restored arrays ---------------------------------------------------------------------------

    def carry_restored(self) -> bool:
        """Carry the arrays whose stores in the loop are undone; whether there are any."""
        context, parent = self.context, self.parent
        initial = self.loop.operands[self.shape.iterable_operands :]
        found = False
        for position in range(self.shape.carried):
            final = self.loop.results[position]
            first, last = self.block.parameters[self.count + position], self.block.yields[position]
            if not context.is_restored(final) or context.structure.is_undefined(initial[position]):
                continue
            if not context.structure.stores_to(self.loop, context.structure.chain(final)):
                continue
            found = True
            if context.structure.entry(last, self.block) in self.block.parameters:
                self._carry_primal(first, last, parent.primal(final), initial[position])
        return found

    def _carry_primal(self, first: Value, last: Value, final: Value, initial: Value) -> None:
        """Carry a primal value backwards: in the mirror of a trip, its value after the trip."""
        parameter = Value(last.type, last.name or first.name)

        def finish(result: Value) -> None:
            self.parent.imported.setdefault(initial, result)

        self.carried.append(_Carried(parameter, final, lambda: self.primal(first), finish))
        self.imported.setdefault(last, parameter)

    def _carry_instead_of_recording(self) -> None:
        """Of a carried value, a trip reads the record both before and after it: the one after
        is the one before of the trip mirrored just now."""
        for position in range(self.shape.carried):
            first, last = self.block.parameters[self.count + position], self.block.yields[position]
            before, after = self.records.get(first), self.records.get(last)
            if before is None or after is None or before is after:
                continue
            final = self.parent.primal(self.loop.results[position])
            self.iterables.remove(after)
            del self.records[last]
            following = before.item
            self.carried.append(
                _Carried(after.item, final, lambda item=following: item, lambda result: None)  # type: ignore[misc]
            )

    # -- the mirrored loop -----------------------------------------------------------------------

    def close(self) -> None:
        """Append the mirrored loop to the mirror around it."""
        self.builder.location = self.parent.builder.location
        self.scatter_items()
        yields = [carried.next() for carried in self.carried]
        self._carry_instead_of_recording()
        yields += [carried.next() for carried in self.carried[len(yields) :]]
        carried_values = [*self.carried, *self.accumulators.values()]
        yields += [accumulator.next() for accumulator in self.accumulators.values()]
        if not any(iterable.kind != "collected" for iterable in self.iterables):
            self._count_trips()
        order = {"range": 0, "array": 1, "sequence": 1, "collected": 2}
        iterables = sorted(self.iterables, key=lambda iterable: order[iterable.kind])
        parameters = [i.item for i in iterables] + [c.parameter for c in carried_values]
        operands = [operand for iterable in iterables for operand in iterable.operands]
        operands += [carried.initial for carried in carried_values]
        results = [
            Value(c.parameter.type, c.parameter.name) if c.result is None else c.result
            for c in carried_values
        ]
        shape = LoopShape(
            tuple(iterable.kind for iterable in iterables),
            carried=len(carried_values),
            reversed=not self.shape.reversed,
        )
        body = Block(tuple(parameters), tuple(self.builder.operations), tuple(yields))
        self.parent.builder.emit_loop(shape, operands, [body], results)
        accumulated = results[len(self.carried) :]
        for accumulator, result in zip(self.accumulators.values(), accumulated, strict=True):
            accumulator.finish(result)
        for carried, result in zip(self.carried, results, strict=False):
            carried.finish(result)

    def _count_trips(self) -> None:
        """Make the loop run over something that takes no record."""
        if self.runs_to_the_end and self.shape.iterables[0] == "range":
            self.item(0)
        else:
            self.index()


def _reads(block: Block, value: Value) -> bool:
    """Whether anything in a block uses a value."""
    below = list(walk(block))
    yields = [block.yields, *(region.yields for o in below for region in o.regions)]
    return any(value in used for used in (*yields, *(o.operands for o in below)))
