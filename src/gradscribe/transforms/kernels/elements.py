"""The elements of arrays as numbers, of those that are not stored as well."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.core import Block, Operation, Value, map_operands
from gradscribe.ir.types import Array, Scalar
from gradscribe.primitives.control import STOP_GRADIENT
from gradscribe.primitives.indexing import GETITEM
from gradscribe.transforms.kernels.indices import Arithmetic, index_of_base
from gradscribe.transforms.kernels.lengths import Lengths
from gradscribe.transforms.kernels.virtual import MOVEAXIS, POWER, SWAPAXES, VIEWS, WHERE


class Elements:
    """The elements of the arrays of a function.

    virtual: the operations of those that are not stored. now: what stands for the others, and for
    numbers.
    """

    def __init__(
        self,
        numbers: Arithmetic,
        lengths: Lengths,
        virtual: Mapping[Value, Operation],
        now: Mapping[Value, Value],
    ) -> None:
        self._numbers = numbers
        self._lengths = lengths
        self._virtual = virtual
        self._now = now

    def _number(self, value: Value) -> Value:
        return self._now.get(value, value)

    def of(self, x: Value, index: Sequence[Value]) -> Value:
        """The element of an array at an index."""
        operation = self._virtual.get(x)
        if operation is None:
            array = self._now.get(x, x)
            return self._numbers.builder.call(GETITEM, {"x": array, "index": tuple(index)})
        primitive = operation.primitive
        if primitive in VIEWS:
            return self.of(*self.place(x, index))
        elements = [self.meeting(o, index, x.type) for o in operation.operands]
        if primitive is WHERE:
            assert isinstance(x.type, Array)
            return self._chosen(x.type.dtype, *elements)
        if primitive is POWER:
            return self._power(*elements)
        callee = operation.callee if callable(operation.callee) else primitive.callee
        return self._numbers.builder.call(
            primitive,
            _with_operands(operation, elements),
            callee=callee,
        )

    def _power(self, x: Value, y: Value) -> Value:
        """NumPy's `x ** y`, which raises nothing."""
        known = getattr(y.type, "value", None)
        if known is not None and known.known == 2 and getattr(x.type, "dtype", "") == "float64":
            return self._numbers.apply(np.square, x)
        return self._numbers.apply(np.float_power, x, y)

    def base_of(self, x: Value) -> Value:
        """The stored array that a view is of."""
        operation = self._virtual.get(x)
        is_view = operation is not None and operation.primitive in VIEWS
        return self.base_of(operation.operands[0]) if is_view else x  # type: ignore[union-attr]

    def place(self, x: Value, index: Sequence[Value]) -> tuple[Value, list[Value]]:
        """Where an element of a view is, in what it is a view of."""
        operation = self._virtual.get(x)
        if operation is None or operation.primitive not in VIEWS:
            return x, list(index)
        first = operation.operands[0]
        if operation.primitive is GETITEM:
            operands = [first, *map(self._number, operation.operands[1:])]
            length = self._lengths.axes_of(first)
            index = index_of_base(operation, index, operands, self._numbers, length)
        elif operation.primitive is not STOP_GRADIENT:
            index = _permuted(operation, index)
        return self.place(first, index)

    def meeting(self, operand: Value, index: Sequence[Value], type_: Any) -> Value:
        """The element of an operand, or the number, that meets the element at an index."""
        if not isinstance(operand.type, Array):
            return self._number(operand)
        missing = len(index) - operand.type.rank
        place = []
        for axis, length in enumerate(operand.type.dims):
            whole = type_.dims[axis + missing]
            if length.known == 1 and whole.known != 1:
                place.append(self._numbers.number(0))
            else:
                place.append(index[axis + missing])
        return self.of(operand, place)

    def _chosen(self, dtype: str, condition: Value, x: Value, y: Value) -> Value:
        x, y = (self._converted(value, dtype) for value in (x, y))
        result = self._numbers.builder.named(Scalar(dtype, weak=False))
        then, otherwise = Block((), (), (x,)), Block((), (), (y,))
        self._numbers.builder.emit_if(condition, then, otherwise, (result,))
        return result

    def _converted(self, value: Value, dtype: str) -> Value:
        """A number of this dtype."""
        if dtype != "float64" or getattr(value.type, "dtype", dtype) == dtype:
            return value
        known = getattr(value.type, "value", None)
        if known is not None and known.known is not None:
            return self._numbers.number(float(known.known))
        return self._numbers.apply(operator.mul, value, self._numbers.number(1.0))


def _permuted(operation: Operation, index: Sequence[Value]) -> list[Value]:
    """The index, in the base, of an element of a transpose."""
    given, rank = operation.attributes, len(index)
    if operation.primitive is SWAPAXES:
        a, b = given["axis1"] % rank, given["axis2"] % rank
        order = [b if n == a else a if n == b else n for n in range(rank)]
    elif operation.primitive is MOVEAXIS:
        order = _moved(given["source"], given["destination"], rank)
    else:
        axes = given.get("axes")
        order = list(range(rank))[::-1] if axes is None else [axis % rank for axis in axes]
    found = list(index)
    for place, axis in enumerate(order):
        found[axis] = index[place]
    return found


def _moved(source: Any, destination: Any, rank: int) -> list[int]:
    """The order of the axes after `moveaxis`."""
    given = [(a if isinstance(a, tuple) else (a,)) for a in (source, destination)]
    sources, destinations = ([axis % rank for axis in axes] for axes in given)
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return order


def _with_operands(operation: Operation, elements: Sequence[Value]) -> dict[str, Any]:
    return {
        name: map_operands(item, lambda operand: elements[operand.index])
        for name, item in operation.attributes.items()
    }
