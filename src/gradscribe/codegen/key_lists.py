"""Lists of keys that are written as dicts, from each key to its place.

A dict whose keys are computed is lowered as the list of its keys and that of its items. Where all
that is done with the keys is to append one that is not there, to ask whether one is there and to
look for the place of one that is, the list is written as a dict, in which that takes no search:

    if (i, j) in t:
        held[t[i, j]] = c
    else:
        t[i, j] = len(t)
        held.append(c)
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from gradscribe.ir.core import IF, LOOP, Block, Function, Method, Operand, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.ir.types import Never, Opaque, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.control import APPEND, LEN, LIST, RAISE, RUN, TUPLE

_INDEX = Method("index")


def key_lists(function: Function) -> frozenset[Value]:
    """The values that are such lists."""
    lists = _Lists()
    lists.visit(function.body, {})
    lists.others.update(function.body.parameters, function.body.yields)
    return frozenset(lists.found())


_PARTS = (Value, int, float, complex, str, bytes, type(None))
"""What keys are made of."""

_Known = dict[tuple[Value, Any], bool]
"""Of lists and keys, whether the one is in the other where an operation stands."""


class _Lists:
    """joined: for each value, one that it is the same list as. made: the lists of one key, or none.
    searched: those in which a place is looked for. others: what anything else is done with.
    definition: what makes each value."""

    def __init__(self) -> None:
        self.joined: dict[Value, Value] = {}
        self.made: set[Value] = set()
        self.searched: set[Value] = set()
        self.others: set[Value] = set()
        self.definition: dict[Value, Operation] = {}

    def visit(self, block: Block, known: _Known) -> None:
        for operation in block.operations:
            self._note(operation, known)
            self.definition.update(dict.fromkeys(operation.results, operation))
            sides = [known] * len(operation.regions)
            if operation.primitive is IF:
                condition = operation.operands[0]
                sides = [known | self._told(condition, taken) for taken in (True, False)]
            for region, inside in zip(operation.regions, sides, strict=True):
                self.visit(region, inside)
            if operation.primitive is IF and _raises(operation.regions[0]):
                known = sides[1]

    def _told(self, condition: Value, taken: bool) -> _Known:
        """What is known where a condition holds, or does not."""
        made = self.definition.get(condition)
        while made is not None and made.callee is operator.not_:
            made, taken = self.definition.get(made.operands[0]), not taken
        if made is None or made.callee is not operator.contains:
            return {}
        return {(made.operands[0], self._key(made, made.attributes["args"][1])): taken}

    def _key(self, operation: Operation, item: Any) -> Any:
        """A key, as what it is made of."""
        value = operation.operands[item.index] if isinstance(item, Operand) else item
        made = self.definition.get(value) if isinstance(value, Value) else None
        if made is not None and made.primitive is TUPLE:
            operation, value = made, made.attributes["items"]
        if isinstance(value, tuple):
            return tuple(self._key(operation, part) for part in value)
        return value if isinstance(value, _PARTS) else object()  # like no other

    def _note(self, operation: Operation, known: _Known) -> None:
        first, rest = operation.operands[:1], operation.operands[1:]
        if operation.primitive is LIST and len(operation.attributes["items"]) < 2:
            self.made.update(operation.results)
            self.others.update(operation.operands)
        elif operation.primitive is APPEND:
            key = self._key(operation, operation.attributes["value"])
            if known.get((first[0], key)) is not False:  # it may be there twice
                self.others.update(first)
            self._join(first[0], operation.result)
            self.others.update(rest)
        elif operation.primitive is RUN and operation.callee in (operator.contains, _INDEX):
            self.others.update(rest)
            if operation.callee == _INDEX:
                key = self._key(operation, operation.attributes["args"][1])
                is_there = known.get((first[0], key))  # or else lists and dicts raise other errors
                (self.searched if is_there else self.others).update(first)
        elif operation.primitive is IF:
            for result, *sides in zip(
                operation.results, *(region.yields for region in operation.regions), strict=True
            ):
                for side in sides:
                    self._join(result, side)
        elif operation.primitive is LOOP:
            self._note_loop(operation)
        elif operation.primitive is not LEN:
            self.others.update(operation.operands, operation.results)

    def _note_loop(self, operation: Operation) -> None:
        carried = Loop(operation).carried
        for one in carried:
            for value in (one.parameter, one.following, one.result):
                self._join(one.initial, value)
        known = {value for one in carried for value in one}
        given = (*operation.operands, *operation.results, *operation.regions[0].yields)
        self.others.update(value for value in given if value not in known)
        for region in operation.regions[1:]:
            self.others.update(region.yields)

    def _join(self, a: Value, b: Value) -> None:
        a, b = self._root(a), self._root(b)
        if a is not b:
            self.joined[a] = b

    def _root(self, value: Value) -> Value:
        while value in self.joined:
            value = self.joined[value]
        return value

    def found(self) -> Iterator[Value]:
        values = {*self.joined, *self.joined.values(), *self.made}
        others = set(map(self._root, self.others))
        others.update(self._root(value) for value in values if not _are_keys(value.type))
        wanted = set(map(self._root, self.searched)) & set(map(self._root, self.made))
        return (value for value in values if self._root(value) in wanted - others)


def _raises(block: Block) -> bool:
    return bool(block.operations) and block.operations[-1].primitive is RAISE


def _are_keys(type_: Type) -> bool:
    """Whether what is in a list can be the key of a dict, and equal where it is equal there."""
    return isinstance(type_, Sequence) and (isinstance(type_.item, Never) or _is_key(type_.item))


def _is_key(type_: Type) -> bool:
    if isinstance(type_, Tuple):
        return all(map(_is_key, type_.items))
    return isinstance(type_, Scalar) or (isinstance(type_, Opaque) and type_.cls in (str, bytes))
