"""Loops, one in another, and the arrays that they fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Block, LoopShape, Primitive, Value
from gradscribe.ir.types import INT, Array, Scalar, Type
from gradscribe.primitives.indexing import GETITEM
from gradscribe.transforms.kernels.indices import Arithmetic
from gradscribe.transforms.kernels.lengths import Lengths

_NAMES = "ijklmn"


class Nests:
    """Builds loops over the elements of arrays."""

    def __init__(self, numbers: Arithmetic, lengths: Lengths) -> None:
        self._numbers = numbers
        self._builder = numbers.builder
        self._lengths = lengths

    def new_array(self, primitive: Primitive, shape: tuple[Value, ...], like: Value) -> Value:
        """A new array of the type of a value."""
        assert isinstance(like.type, Array)
        arguments = {"shape": shape, "dtype": np.dtype(like.type.dtype).type}
        self._builder.call(primitive, arguments)
        new = Value(like.type, like.name)
        self._builder.operations[-1] = replace(self._builder.operations[-1], results=(new,))
        return new

    def put(
        self, primitive: Primitive, array: Value, element: Value, place: Sequence[Value], name: str
    ) -> Value:
        """Store an element, or add to one."""
        path = ((GETITEM, {"index": tuple(place)}),)
        return self._builder.call(
            primitive, {"x": array, "value": element, "path": path}, name=name
        )

    def over(
        self, shaped: Value, array: Value, put: Callable[[list[Value], Value], Value]
    ) -> Value:
        """Loops over all indices of an array, which carry another one that is stored to."""
        assert isinstance(shaped.type, Array)
        rank = shaped.type.rank

        def level(index: list[Value], current: Value) -> Value:
            if len(index) == rank:
                return put(index, current)
            length = self._lengths.of(shaped, len(index))
            return self.loop(length, [current], lambda i, now: [level([*index, i], now[0])])[0]

        return level([], array)

    def loop(
        self,
        stop: Value,
        carried: list[Value],
        body: Callable[[Value, list[Value]], list[Value]],
        first: Value | None = None,
        step: int = 1,
    ) -> list[Value]:
        """A loop over a range, which carries values; what they are after it."""
        start = self._numbers.number(0) if first is None else first
        by = self._numbers.number(step)
        depth = self._builder.depth
        item = Value(
            replace(INT, value=Affine.of(Symbol(_NAMES[depth % len(_NAMES)], 0))),
        )
        types = [_as_numpy(value.type) for value in carried]
        parameters = [Value(t, v.name) for t, v in zip(types, carried, strict=True)]
        with self._lengths.block(), self._builder.block() as operations:
            yields = body(item, parameters)
        region = Block((item, *parameters), tuple(operations), tuple(yields))
        results = [Value(value.type, value.name) for value in parameters]
        shape = LoopShape(("range",), carried=len(carried))
        self._builder.emit_loop(shape, (start, stop, by, *carried), (region,), results)
        return results


def _as_numpy(type_: Type) -> Type:
    """The type of a number that is added up, which is NumPy's from the first addition on."""
    return replace(type_, weak=False) if isinstance(type_, Scalar) else type_
