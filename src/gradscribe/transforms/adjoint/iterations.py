"""The iterations of a mirrored loop: what it runs over, in the other direction.

It runs over the same iterables, or over the number of iterations made where the loop could be left
early; a loop that consumes records runs over those and over what the loop that collected them ran
over, each of one length.
"""

from __future__ import annotations

import operator

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import IterableKind, Operation, Value
from gradscribe.ir.flow import Iterated, Loop
from gradscribe.ir.types import Array, Sequence
from gradscribe.primitives.control import GET, LEN
from gradscribe.primitives.indexing import GETITEM, LENGTH
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.building import index_type
from gradscribe.transforms.derivatives.cotangents import call, constant, same_lengths


class IterationScope(Scope):
    """The mirror of a loop's body, as far as it concerns the iterations."""

    def __init__(self, parent: Scope, loop: Operation) -> None:
        super().__init__(parent.context, loop.regions[0], Builder(parent.context.facts))
        self.parent: Scope = parent
        self.loop = loop
        self.parts = Loop(loop)
        self.shape = self.parts.shape
        self.count = len(self.shape.iterables)
        self.iterables: list[Iterated] = []
        self.builder.location = parent.builder.location
        self.runs_to_the_end = self._runs_to_the_end()
        self._items: dict[int, Value] = {}
        self._index: Value | None = None

    def item(self, position: int) -> Value:
        """The item of an iterable of the primal in the mirrored iteration."""
        if position not in self._items:
            self._items[position] = self._new_item(position)
        return self._items[position]

    def _new_item(self, position: int) -> Value:
        kind, like = self.shape.iterables[position], self.block.parameters[position]
        operands = tuple(map(self.parent.primal, self.operands_of(position)))
        if self.runs_to_the_end:
            return self.run_over(kind, operands, like).item
        if kind == "range":
            if self.shape.reversed and getattr(operands[2].type, "value", None) != Affine.of(1):
                return self.export(like)
            return self.run_over(kind, self._iterations_made(operands), like).item
        (container,) = operands
        if kind == "array":
            arguments = {"x": container, "index": (self.index(),)}
            return self.builder.call(GETITEM, arguments, name=like.name)
        item = self.builder.call(GET, {"x": container, "index": self.index()}, name=like.name)
        same_lengths(self.builder.facts, item, like)
        return item

    def run_over(self, kind: IterableKind, operands: tuple[Value, ...], like: Value) -> Iterated:
        iterable = Iterated(kind, operands, Value(like.type, like.name))
        self.iterables.append(iterable)
        return iterable

    def operands_of(self, position: int) -> tuple[Value, ...]:
        return self.parts.iterated[position].operands

    # -- iterations
    # -----------------------------------------------------------------------------------

    def _runs_to_the_end(self) -> bool:
        """Whether the iterations are those of each of the iterables."""
        if self.shape.exits or self.shape.condition or not self.count:
            return False
        if "collected" in self.shape.iterables:
            return True
        first, *others = [self._length_of(position) for position in range(self.count)]
        return self.shape.reversed or all(self._equal(first, other) for other in others)

    def _equal(self, a: Affine | Value | None, b: Affine | Value | None) -> bool:
        if isinstance(a, Affine) and isinstance(b, Affine):
            return self.context.facts.equal(a, b) is True
        return a is not None and a is b

    def _length_of(self, position: int) -> Affine | Value | None:
        """The length of an iterable, or the list that it is the length of; None if unknown."""
        facts, kind = self.context.facts, self.shape.iterables[position]
        operands = self.operands_of(position)
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
        """The number of the mirrored iteration, which is that of the items of all iterables."""
        if self._index is None:
            self._index = self._new_index()
        return self._index

    def _new_index(self) -> Value:
        if self.runs_to_the_end:
            for position, kind in enumerate(self.shape.iterables):
                values = [getattr(o.type, "value", None) for o in self.operands_of(position)]
                if kind == "range" and (values[0], values[2]) == (Affine.of(0), Affine.of(1)):
                    return self.item(position)
            operands = self._range(constant(self.parent.builder, 0), self._length())
        else:
            operands = self._executed()
        return self.run_over("range", operands, Value(index_type(), "i")).item

    def _length(self) -> Value:
        """How many items the first iterable that is no range has, or the first range."""
        kinds, builder = self.shape.iterables, self.parent.builder
        position = next((n for n in range(self.count) if kinds[n] != "range"), None)
        if position is None:
            start, stop, step = map(self.parent.primal, self.operands_of(0))
            backwards = call(builder, operator.sub, start, stop)
            return call(builder, operator.neg, call(builder, operator.floordiv, backwards, step))
        (container,) = self.operands_of(position)
        if isinstance(container.type, Array):
            like = self.parent.primal(self.parent.shaped_like(container))
            return builder.call(LENGTH, {"x": like, "axis": 0})
        return builder.call(LEN, {"x": self.parent.primal(container)})

    def _executed(self) -> tuple[Value, ...]:
        """The numbers of the iterations made, where the loop did not run to its end."""
        iterations = self.parent.primal(self.context.exports.iterations(self.loop))
        zero_ = constant(self.parent.builder, 0)
        if not self.shape.reversed:
            return self._range(zero_, iterations)
        length = self._length()
        start = call(self.parent.builder, operator.sub, length, iterations)
        return self._range(start, length)

    def _iterations_made(self, operands: tuple[Value, ...]) -> tuple[Value, ...]:
        """The part of a range that the loop ran over."""
        start, stop, step = operands
        builder = self.parent.builder
        iterations = self.parent.primal(self.context.exports.iterations(self.loop))
        run = call(builder, operator.mul, iterations, step)
        if self.shape.reversed:
            return call(builder, operator.sub, stop, run), stop, step
        return start, call(builder, operator.add, start, run), step

    def _range(self, start: Value, stop: Value) -> tuple[Value, ...]:
        return start, stop, constant(self.parent.builder, 1)
