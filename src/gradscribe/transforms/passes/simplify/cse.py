"""Common subexpressions: which earlier operation has computed the same already.

Equal are operations of one primitive and callee with identical operands and equal static
arguments. Effects are never merged, and neither is what makes an array or list to be stored to
(zeros, copies, stores): a second fresh one is no dearer than the copy that sharing would cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradscribe.ir.core import CALL, Operation, Primitive, Value
from gradscribe.ir.types import Array, Sequence
from gradscribe.primitives import control, indexing, lists
from gradscribe.primitives.members import is_lookup
from gradscribe.primitives.raising import is_strict, may_raise

_NEVER_SHARED = frozenset(
    {
        CALL,
        control.UNDEF,
        *(lists.OPERATIONS - {control.GET}),
        control.COPY,
        control.ZEROS_LIKE,
        control.ADD_ITEMS,
        control.LENT,
        control.LENT_ITSELF,
        control.REREAD,
        control.STACK,
        indexing.STORE,
        indexing.ACCUMULATE,
    }
)


_TOLD = (FloatingPointError, RuntimeWarning)
"""What the program may be told as often as it comes."""


class Available:
    """The operations computed before the present one in this block and those around it.

    left: arrays of which each is one of its own. _managers: those around. _strict: these, where
    NumPy may raise, or tell the program, under one of them what it does not elsewhere: nothing is
    shared with what is computed under others.
    """

    def __init__(self, left: Set[Value]) -> None:
        self._left = left
        self._managers: list[Operation] = []
        self._strict: tuple[Operation, ...] = ()
        self._operations: dict[tuple[Any, ...], list[Operation]] = {}
        self._entered: list[list[Operation]] = []

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A nested block: what is computed in it is not available after it."""
        outer, self._entered = self._entered, []
        managers, strict = list(self._managers), self._strict
        yield
        self._managers, self._strict = managers, strict
        for same_key in self._entered:
            same_key.pop()
        self._entered = outer

    def find(
        self,
        primitive: Primitive,
        callee: Any,
        operands: tuple[Value, ...],
        attributes: Mapping[str, Any],
    ) -> Operation | None:
        """An earlier operation that is described so, if there is one."""
        key = (self._strict, *_key_of(primitive, callee, operands, attributes))
        for earlier in self._operations.get(key, ()):
            if same_attributes(dict(earlier.attributes), dict(attributes)):
                return earlier
        return None

    def find_or_add(self, operation: Operation) -> Operation | None:
        """An earlier equal operation; None, and the operation is entered, if there is none."""
        self._note_manager(operation)
        if not self._may_be_shared(operation) or (self._strict and may_raise(operation, _TOLD)):
            return None
        try:
            same_key = self._operations.setdefault((self._strict, *_key(operation)), [])
        except TypeError:  # a callee or a constant that cannot be hashed
            return None
        for earlier in same_key:
            if same_attributes(earlier.attributes, operation.attributes):
                return earlier
        same_key.append(operation)
        self._entered.append(same_key)
        return None

    def _may_be_shared(self, operation: Operation) -> bool:
        primitive = operation.primitive
        if primitive.in_order or primitive in _NEVER_SHARED or len(operation.results) != 1:
            return False
        if primitive is control.RUN:
            return is_lookup(operation)
        result = operation.results[0]
        if isinstance(result.type, (Array, Sequence)):
            if primitive is control.GET:  # an item that is changed is read where it is
                return False
            is_new = not primitive.view and result in self._left
            return not is_new and any(
                isinstance(value.type, (Array, Sequence)) for value in operation.operands
            )
        return True

    def _note_manager(self, operation: Operation) -> None:
        if operation.primitive is control.ENTER:
            self._managers.append(operation)
        elif operation.primitive is control.EXIT and self._managers:
            self._managers.pop()
        else:
            return
        self._strict = tuple(self._managers) if any(map(is_strict, self._managers)) else ()


def _key(operation: Operation) -> tuple[Any, ...]:
    if operation.primitive is control.CONSTANT:
        value = operation.attributes["value"]
        return (control.CONSTANT, type(value), value)
    return _key_of(operation.primitive, operation.callee, operation.operands, operation.attributes)


def _key_of(
    primitive: Primitive, callee: Any, operands: Iterable[Value], attributes: Mapping[str, Any]
) -> tuple[Any, ...]:
    """What equal operations have in common; of attributes, places that are numbers."""
    places = (item for item in attributes.values() if type(item) is tuple)
    numbers = (number for place in places for number in place if type(number) is int)
    return (primitive, callee, *operands, *numbers)


def same_attributes(a: Any, b: Any) -> bool:
    """Whether two attribute trees are equal, numbers with their type and the sign of zero."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_attributes(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same_attributes, a, b))
    if isinstance(a, (float, complex, np.generic)):
        return repr(a) == repr(b)
    return bool(a == b)
