"""The lengths of arrays as numbers, of those that are not stored as well."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Operand, Operation, SliceOf, Value
from gradscribe.ir.types import Array
from gradscribe.primitives.control import ASSERT
from gradscribe.primitives.indexing import GETITEM, LENGTH
from gradscribe.transforms.kernels.indices import Arithmetic, explicit, is_from_end
from gradscribe.transforms.kernels.virtual import VIEWS


class Lengths:
    """The lengths of the arrays of a function.

    virtual: the operations of those that are not stored. now: what stands for the others.
    """

    def __init__(
        self,
        numbers: Arithmetic,
        virtual: Mapping[Value, Operation],
        now: Mapping[Value, Value],
    ) -> None:
        self._numbers = numbers
        self._virtual = virtual
        self._now = now
        self._known: dict[tuple[Value, int], Value] = {}

    @contextmanager
    def block(self) -> Iterator[None]:
        """A nested block, whose numbers are not there after it."""
        known = dict(self._known)
        yield
        self._known = known

    def _now_of(self, value: Value) -> Value:
        return self._now.get(value, value)

    def axes_of(self, value: Value) -> Callable[[int], Value]:
        return lambda axis: self.of(value, axis)

    def of(self, value: Value, axis: int) -> Value:
        """The length of an axis as a number."""
        key = (value, axis)
        if key not in self._known:
            self._known[key] = self._new_length(value, axis)
        return self._known[key]

    def _new_length(self, value: Value, axis: int) -> Value:
        assert isinstance(value.type, Array)
        wanted = value.type.dims[axis]
        if wanted.known is not None:
            return self._numbers.number(wanted.known)
        operation = self._virtual.get(value)
        if operation is None:
            return self._numbers.builder.call(
                LENGTH, {"x": self._now.get(value, value), "axis": axis}
            )
        is_part = operation.primitive in VIEWS
        if operation.primitive is GETITEM:
            return self._length_of_part(operation, axis)
        for operand in operation.operands:
            if not isinstance(operand.type, Array):
                continue
            aligned = axis - value.type.rank + operand.type.rank
            for own, length in enumerate(operand.type.dims):
                difference = (wanted - length).known
                if is_part and self._numbers.builder.facts.agree(wanted, length):
                    difference = 0
                if not is_part:
                    difference = 0 if own == aligned and length.known != 1 else None
                if difference is not None:
                    return self._numbers.plus(self.of(operand, own), difference)
        raise AssertionError("an elementwise result has the length of an operand")

    def _length_of_part(self, operation: Operation, axis: int) -> Value:
        """The length of an axis of a known part."""
        base = operation.operands[0]
        assert isinstance(base.type, Array)
        own, result = -1, -1
        for item in explicit(operation.attributes["index"], base.type.rank):
            own += item is not None
            result += item is None or isinstance(item, SliceOf)
            if result == axis:
                break
        if not isinstance(item, SliceOf):
            return self._numbers.number(1)
        length = self.of(base, own)
        if item.step == -1:
            return length
        start, stop = item.start or 0, item.stop
        if isinstance(start, int) and (stop is None or is_from_end(stop)):
            less = (stop or 0) - start
            return self._up_to_end(length, less, item.step or 1, base.type.dims[own])
        numbers = [self._now_of(operand) for operand in operation.operands]
        first, last = (
            numbers[end.index] if isinstance(end, Operand) else self._numbers.number(end)
            for end in (start, stop if stop is not None else 0)
        )
        return self._numbers.apply(operator.sub, length if stop is None else last, first)

    def _up_to_end(self, length: Value, less: int, step: int, whole: Affine) -> Value:
        """The length of a slice that leaves out a known number of elements, at least none."""
        found = self._numbers.plus(length, less)
        least = (whole + less).minimum
        if least is None or least < 0:
            found = self._numbers.apply(max, found, self._numbers.number(0))
        if step == 1:
            return found
        rounded = self._numbers.plus(found, step - 1)
        return self._numbers.apply(operator.floordiv, rounded, self._numbers.number(step))

    def check(self, value: Value, shaped: Value) -> None:
        """Let the loops over all elements begin only where the operands have as many, along each
        axis that is not known to have: elsewhere NumPy may broadcast it."""
        assert isinstance(shaped.type, Array)
        if isinstance(value.type, Array):
            missing = shaped.type.rank - value.type.rank
            for axis, length in enumerate(value.type.dims):
                whole = shaped.type.dims[axis + missing]
                if length.known == 1 or self._numbers.builder.facts.agree(length, whole):
                    continue
                given, wanted = self.of(value, axis), self.of(shaped, axis + missing)
                condition = self._numbers.apply(operator.eq, given, wanted)
                self._numbers.builder.call(ASSERT, {"condition": condition, "message": None})
        operation = self._virtual.get(value)
        for operand in () if operation is None else operation.operands:
            if isinstance(operand.type, Array):
                is_part = operation is not None and operation.primitive in VIEWS
                self.check(operand, operand if is_part else value)
