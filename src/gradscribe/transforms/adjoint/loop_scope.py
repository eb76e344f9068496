"""The mirror of a loop: the loop backwards (its iterations: `iterations`). It carries

- the cotangents of the primal's carried values;
- an accumulator for the cotangent of every outer value that the body reads;
- for arrays that are restored, the array as it is after the mirrored iteration.

What it needs of each iteration besides comes from the records that the primal loop collects. The
adjoint of an adjoint meets loops that consume records, too: their mirrors collect the cotangents
of the items, and those are what the mirrors of the loops that made the records consume.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from gradscribe.ir.core import Block, LoopShape, Operation, Value, walk
from gradscribe.ir.flow import Carried, Iterated
from gradscribe.ir.types import BOOL, Array, Collected, Sequence, Type
from gradscribe.primitives.control import SET
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.transforms.adjoint.exits import cotangent_at_exit, is_made_at_exit
from gradscribe.transforms.adjoint.iterations import IterationScope
from gradscribe.transforms.adjoint.projection import zero
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.derivatives.cotangents import (
    add,
    carried_type,
    constant,
    item_of,
    name_of,
)


@dataclass
class _Carried:
    """A value that the mirror carries: `finish` is given its result after the loop (`result`, where
    that is not of the parameter's type)."""

    parameter: Value
    initial: Value
    next: Callable[[], Value]
    finish: Callable[[Value], None]
    result: Value | None = None


class LoopScope(IterationScope):
    """The mirror of a loop's body, and what the mirrored loop runs over and carries."""

    def __init__(self, parent: Scope, loop: Operation) -> None:
        super().__init__(parent, loop)
        self.carried: list[_Carried] = []
        self.accumulators: dict[Value, _Carried] = {}
        self.flags: list[_Carried] = []
        self.untouched: set[Value] = set()
        self.records: dict[Value, Iterated] = {}
        self.collected: dict[Value, Value] = {}
        self._records_of = self._items_of_records()
        self._given: set[Value] = set()

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
        return not any(map(self.parent.effort, self.operands_of(position)))

    def export(self, value: Value) -> Value:
        self.context.kept.add(value)
        record = self.parent.primal(self.context.exports.record(self.loop, value))
        self.records[value] = self.run_over("collected", (record,), value)
        return self.records[value].item

    # -- cotangents --------------------------------------------------------------------------------

    def incoming(self, value: Value) -> Value:
        """The accumulator of an outer value's cotangent."""
        initial, masked = self.parent.cotangent(value), self.context.masked
        parameter = Value(carried_type(value.type), name_of(value))
        if initial is None or initial in masked:
            masked.add(parameter)  # until an iteration adds to all of it
        if initial is None:
            initial = zero(self.parent, value)
            self.untouched.add(value)
            present: Value | None = self._nothing_yet()
        else:
            present = self.parent.presence(value)
        if present is not None:
            flag, self.parent.presences[value] = self._carry_presence(value, present)
            self.presences[value] = flag

        def finish(result: Value) -> None:
            if self.cotangents[value] in masked:
                masked.add(result)
            self.parent.cotangents[value] = result

        self.accumulators[value] = _Carried(
            parameter, initial, lambda: self.cotangents[value], finish
        )
        self.cotangents[value] = parameter
        return parameter

    def _nothing_yet(self) -> Value | None:
        """The flag of a cotangent that nothing has contributed to; None where nobody asks."""
        return constant(self.parent.builder, False) if self.context.asks_presence else None

    def _carry_presence(self, value: Value, present: Value) -> tuple[Value, Value]:
        """Carry the flag of a cotangent, which is that of `value` after an iteration is mirrored;
        as it is in the iteration, and after the loop."""
        parameter, result = Value(BOOL), Value(BOOL)

        def following() -> Value:
            found = self.presences.get(value)
            is_there = value in self.cotangents
            return constant(self.builder, is_there) if found is None else found

        self.flags.append(_Carried(parameter, present, following, _ignored, result))
        return parameter, result

    def is_first(self, value: Value) -> bool:
        """Whether nothing was added yet, in any iteration, to the item of this iteration in the
        cotangent (zeros) of an outer value: in the iterations, only its items are used."""
        accumulator = self.accumulators.get(value)
        if value not in self.untouched or accumulator is None or self._is_used_whole(value):
            return False
        return self.cotangents[value] is accumulator.parameter

    def _is_used_whole(self, value: Value) -> bool:
        """Whether the iterations use an array or list that they run over in other ways, too."""
        return self.parts.iterables.count(value) > 1 or any(
            _reads(r, value) for r in self.loop.regions
        )

    def carry_cotangents(self) -> bool:
        """Carry the cotangents of the primal's carried values; whether any has to be."""
        active, parent = self.context.active, self.parent
        if not any(result in parent.cotangents for result in self.loop.results):
            return False
        self._consume_cotangents()
        for position, primal in enumerate(self.parts.carried):
            initial, first, last, final, _ = primal
            given = parent.cotangents.get(final)
            if first not in active and (
                given is None or (last not in active and initial not in active)
            ):
                continue
            present = self._nothing_yet() if given is None else parent.presence(final)
            if given is None:
                given = zero(parent, final)
            if is_made_at_exit(self.loop, position, self.context.structure):
                with self.context.handing_on(present):
                    self.contribute(last, cotangent_at_exit(given, self._ended(), parent.builder))
                continue
            type_ = _of_length(final.type, first.type)
            type_ = last.type if isinstance(final.type, Array) else type_
            parameter = Value(carried_type(type_), name_of(final) or name_of(first))
            after: Value | None = None
            if present is not None or first in self.context.uncertain:
                present = present or constant(parent.builder, True)
                present, after = self._carry_presence(first, present)
            self._carry_cotangent(parameter, given, primal, after)
            if last in active:
                with self.context.handing_on(present):
                    self.contribute(last, parameter)
        return True

    def _ended(self) -> set[Value]:
        """The flags that tell that the loop was not left, as the mirror around has them."""
        exits = self.parts.exits
        flags = (carried.result for carried in self.parts.carried if carried.following in exits)
        return {known for flag in flags if (known := self.parent.known(flag)) is not None}

    def _carry_cotangent(
        self, parameter: Value, given: Value, primal: Carried, present: Value | None
    ) -> None:
        """present: the flag that tells whether there is a cotangent after the loop."""
        initial, first, _, final, _ = primal

        def following() -> Value:
            found = self.cotangents.get(first)
            return found if found is not None else zero(self, first)

        def finish(result: Value) -> None:
            if initial in self.context.active:
                if self.cotangents.get(first) in self.context.masked:
                    self.context.masked.add(result)
                with self.context.handing_on(present):
                    self.parent.contribute(initial, result)

        type_ = _of_length(final.type, initial.type)
        type_ = initial.type if isinstance(parameter.type, Array) else type_
        result = Value(carried_type(type_), parameter.name)
        self.carried.append(_Carried(parameter, given, following, finish, result))

    def scatter(self, position: int, cotangent: Value, scope: Scope) -> None:
        """Add the cotangent of an item to that of the array (or list) it was taken from."""
        (container,) = self.operands_of(position)
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
            scope.renew(container, changed)
            return
        if not is_first:
            like = self.block.parameters[position]
            cotangent = add(builder, item_of(builder, total, index, like), cotangent, like)
        arguments = {"x": total, "index": index, "value": cotangent}
        scope.renew(container, builder.call(SET, arguments, name=name))

    def scatter_items(self) -> None:
        for position in range(self.count):
            item = self.block.parameters[position]
            cotangent = self.cotangents.pop(item, None)
            if cotangent is None or cotangent in self._given:
                continue
            if self.operands_of(position)[0] not in self.context.active:
                continue
            if self.shape.iterables[position] == "collected":
                self._collect(position, cotangent)
            else:
                self.scatter(position, cotangent, self)

    # -- records: what a loop consumed, its mirror collects, and conversely ------------------------

    def _items_of_records(self) -> dict[Value, Value]:
        """The records that the primal consumes, by their items; of each, one item."""
        iterated = [i for i in self.parts.iterated if i.kind == "collected"]
        found = {record: item for _, (record,), item in iterated}
        return {item: record for record, item in found.items()}

    def _consume_cotangents(self) -> None:
        """Give what the primal collects in an iteration the element of its record's cotangent."""
        for value, record in self.parts.records:
            given = self.parent.cotangents.get(record)
            if given is not None and value in self.context.active:
                self.contribute(value, self._element(given, value))

    def _collect(self, position: int, cotangent: Value) -> None:
        """Collect the cotangent of an item of a record: those of all iterations are the
        record's."""
        (record,) = self.operands_of(position)
        other = self.collected.get(record)
        if other is not None:
            cotangent = add(self.builder, other, cotangent, self.block.parameters[position])
        self.collected[record] = cotangent

    def cotangent(self, value: Value) -> Value | None:
        """Of an item of a record that has a cotangent already: at first, that one's element."""
        found = super().cotangent(value)
        if found is None and value in self._records_of:
            total = self.parent.cotangent(self._records_of[value])
            if total is not None:
                found = self.cotangents[value] = self._element(total, value)
                self._given.add(found)
        return found

    def _element(self, record: Value, like: Value) -> Value:
        """The element of this iteration of a record of cotangents."""
        assert isinstance(record.type, Collected)
        element = Value(record.type.item, name_of(like))
        if record in self.context.masked:
            self.context.masked.add(element)
        self.iterables.append(Iterated("collected", (record,), element))
        return element

    # -- restored arrays ---------------------------------------------------------------------------

    def carry_restored(self) -> bool:
        """Carry the arrays whose stores in the loop are undone; whether there are any."""
        context, parent = self.context, self.parent
        found = False
        for initial, first, last, final, _ in self.parts.carried:
            if not context.is_restored(final) or context.structure.is_undefined(initial):
                continue
            if not context.structure.stores_to(self.loop, context.structure.chain(final)):
                continue
            found = True
            if context.structure.entry(last, self.block) in self.block.parameters:
                self._carry_primal(first, last, parent.primal(final), initial)
        return found

    def _carry_primal(self, first: Value, last: Value, final: Value, initial: Value) -> None:
        """Carry a primal value backwards: in the mirror of an iteration, its value after the
        iteration."""
        parameter = Value(last.type, last.name or first.name)

        def finish(result: Value) -> None:
            self.parent.imported.setdefault(initial, result)

        self.carried.append(_Carried(parameter, final, lambda: self.primal(first), finish))
        self.imported.setdefault(last, parameter)

    def _carry_instead_of_recording(self) -> None:
        """Of a carried value, an iteration reads the record both before and after it: the one after
        is the one before of the iteration mirrored just now."""
        for _, first, last, result, _ in self.parts.carried:
            before, after = self.records.get(first), self.records.get(last)
            if before is None or after is None or before is after:
                continue
            final = self.parent.primal(result)
            self.iterables.remove(after)
            del self.records[last]
            following = functools.partial(_same, before.item)
            self.carried.append(_Carried(after.item, final, following, lambda result: None))

    # -- the mirrored loop -----------------------------------------------------------------------

    def close(self) -> None:
        """Append the mirrored loop to the mirror around it."""
        self.builder.location = self.parent.builder.location
        self.scatter_items()
        self._find_missing()
        yields = [carried.next() for carried in self.carried]
        self._carry_instead_of_recording()
        yields += [carried.next() for carried in self.carried[len(yields) :]]
        carried_values = [*self.carried, *self.accumulators.values(), *self.flags]
        yields += [carried.next() for carried in (*self.accumulators.values(), *self.flags)]
        if not any(iterable.kind != "collected" for iterable in self.iterables):
            self._count_iterations()
        order = {"range": 0, "array": 1, "sequence": 1, "collected": 2}
        iterables = sorted(self.iterables, key=lambda iterable: order[iterable.kind])
        parameters = [i.item for i in iterables] + [c.parameter for c in carried_values]
        operands = [operand for iterable in iterables for operand in iterable.operands]
        operands += [carried.initial for carried in carried_values]
        results = [
            Value(c.parameter.type, c.parameter.name) if c.result is None else c.result
            for c in carried_values
        ]
        yields += self.collected.values()
        records = [Value(Collected(d.type), name_of(r)) for r, d in self.collected.items()]
        shape = LoopShape(
            tuple(iterable.kind for iterable in iterables),
            carried=len(carried_values),
            collects=len(records),
            reversed=not self.shape.reversed,
        )
        body = Block(tuple(parameters), tuple(self.builder.operations), tuple(yields))
        self.parent.builder.emit_loop(shape, operands, [body], [*results, *records])
        accumulated = results[len(self.carried) :]
        for accumulator, result in zip(self.accumulators.values(), accumulated, strict=False):
            accumulator.finish(result)
        for carried, result in zip(self.carried, results, strict=False):
            carried.finish(result)
        for (record, element), result in zip(self.collected.items(), records, strict=True):
            self.parent.cotangents[record] = result
            if element in self.context.masked:
                self.context.masked.add(result)

    def _find_missing(self) -> None:
        """Note which of the carried cotangents an iteration may leave none of."""
        if self.context.asks_presence:
            self.context.missing.update(
                first
                for first in self.parts.parameters
                if first not in self.cotangents or self.presences.get(first) is not None
            )

    def _count_iterations(self) -> None:
        """Make the loop run over something that takes no record."""
        if self.runs_to_the_end and self.shape.iterables[0] == "range":
            self.item(0)
        else:
            self.index()


def _of_length(type_: Type, like: Type) -> Type:
    """The type of a list with the length of another one; other types as they are."""
    if isinstance(type_, Sequence) and isinstance(like, Sequence):
        return replace(type_, length=like.length)
    return type_


def _same(value: Value) -> Value:
    return value


def _ignored(result: Value) -> None:
    pass


def _reads(block: Block, value: Value) -> bool:
    """Whether anything in a block uses a value."""
    below = list(walk(block))
    yields = [block.yields, *(region.yields for o in below for region in o.regions)]
    return any(value in used for used in (*yields, *(o.operands for o in below)))
