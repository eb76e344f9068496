"""What values are in the specializing call, where that follows from what it is given and reads.

Comes in: numbers, arrays, and what holds them. Goes out: what they are, computed by the operations
that make them, as far as these are NumPy's or Python's own and have little to do.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ListRef, Ref, Static, TupleOf
from gradscribe.ir.core import Method, Operation, Value, map_operands
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Array
from gradscribe.primitives.applying import apply, item_at, stored_at
from gradscribe.primitives.contracts import contract_of
from gradscribe.primitives.control import CONSTANT, COPY, ITEM, LENT, RUN, STOP_GRADIENT
from gradscribe.primitives.indexing import GATHER, GETITEM, STORE

MOST_ITEMS = 4096
"""Functions of arrays that have more take too long to be called when a program is compiled."""

_MOST_OPERATIONS = 64
_SAME = frozenset({COPY, LENT, STOP_GRADIENT})
_CALLEES = {GETITEM: item_at, GATHER: item_at, STORE: stored_at}
_NUMBERS = (bool, int, float, complex, np.generic)


class NotKnownError(Exception):
    """It is not known what a value is."""


class KnownValues:
    """Finds what values are. of_call: in the specializing call, or what stands for that; else in
    each call."""

    def __init__(self, lowering: Lowering, of_call: bool) -> None:
        self._lowering = lowering
        self._found: dict[Value, Any] = {**lowering.samples, **lowering.inputs} if of_call else {}
        self._left = _MOST_OPERATIONS

    def of(self, item: FrontendValue) -> Any:
        """What an item of the frontend is: what a call may be given in its place. Raises a
        `NotKnownError`."""
        if isinstance(item, Static):
            return item.value
        items = known_items(self._lowering, item)
        if items is not None:
            given = list(map(self.of, items))
            return given if isinstance(item, ListRef) else self._tuple(item, given)
        if isinstance(item, (Ref, ListRef, Value)):
            return copy.deepcopy(self._value(self._lowering.value(item)))
        raise NotKnownError

    @staticmethod
    def _tuple(item: FrontendValue, items: list[Any]) -> tuple[Any, ...]:
        if not isinstance(item, TupleOf) or item.cls is not tuple:
            raise NotKnownError
        return tuple(items)

    def _value(self, value: Value) -> Any:
        found = self._found.get(value)
        if found is None:
            made = self._lowering.builder.definition(value)
            self._left -= 1
            if made is None or self._left < 0 or not self._is_small(value):
                raise NotKnownError
            found = self._found[value] = self._result(made)
        return found

    def _result(self, made: Operation) -> Any:
        primitive = made.primitive
        if primitive is CONSTANT:
            return made.attributes["value"]
        callee = _CALLEES.get(primitive, made.callee)
        is_plain = primitive in (*_SAME, ITEM) or _only_computes(callee)
        if made.regions or primitive.in_order or not is_plain:
            raise NotKnownError
        operands = [self._value(operand) for operand in made.operands]
        if primitive in _SAME:
            return operands[0]
        if primitive is ITEM:
            return operands[0][made.attributes["position"]]
        try:
            found = (self._run if primitive is RUN else apply)(made, callee, operands)
        except Exception:
            raise NotKnownError from None
        if not isinstance(found, (*_NUMBERS, np.ndarray, tuple)):
            raise NotKnownError
        return found

    @staticmethod
    def _run(made: Operation, callee: Any, operands: list[Any]) -> Any:
        if not contract_of(callee).computes:
            raise NotKnownError
        args, keywords = map_operands(
            (made.attributes["args"], made.attributes["keywords"]), lambda o: operands[o.index]
        )
        return callee(*args, **keywords)

    def _is_small(self, value: Value) -> bool:
        dims = value.type.dims if isinstance(value.type, Array) else ()
        likely = self._lowering.builder.facts.likely
        return math.prod(likely(dim) or 0 for dim in dims) <= MOST_ITEMS


def _only_computes(callee: Any) -> bool:
    """Whether this is a function of NumPy's or Python's own, or a method of an array."""
    module = str(probe(callee, "__module__") or "").partition(".")[0]
    is_own = module in ("numpy", "math", "operator", "_operator")
    return is_own or callee in _CALLEES.values() or isinstance(callee, (np.ufunc, Method))
