"""Which keys are in a list, as far as the path to an operation tells.

Keys are numbers, texts and tuples of them. A list that has one more is another value: what is known
of a list stays true of it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from gradscribe.ir.core import IF, LOOP, Block, Function, Method, Operand, Operation, Value
from gradscribe.ir.flow import Iterated, Loop, sources
from gradscribe.ir.types import Never, Opaque, Scalar, Sequence, Tuple, Type
from gradscribe.primitives.control import APPEND, CONSTANT, GET, ITEM, LIST, POP, RAISE, RUN, TUPLE
from gradscribe.primitives.lists import DELETE

INDEX = Method("index")
"""Where in a list a key is."""

_PARTS = (Value, int, float, complex, str, bytes, type(None))
"""What keys are made of."""


def is_lookup(operation: Operation) -> bool:
    """Whether an operation asks if, or where, a key is in a list."""
    return (
        operation.primitive is RUN
        and (operation.callee is operator.contains or operation.callee == INDEX)
        and len(operation.attributes["args"]) == 2
        and bool(operation.operands)
        and are_keys(operation.operands[0].type)
    )


def are_keys(type_: Type) -> bool:
    """Whether what is in a list can be the key of a dict, and equal where it is equal there."""
    return isinstance(type_, Sequence) and (isinstance(type_.item, Never) or _is_key(type_.item))


def _is_key(type_: Type) -> bool:
    if isinstance(type_, Tuple):
        return all(map(_is_key, type_.items))
    return isinstance(type_, Scalar) or (isinstance(type_, Opaque) and type_.cls in (str, bytes))


class Members:
    """definitions: what makes each value. iterated: what each item of a loop is from. grown: for a
    list that is another with more at its end, that one. fresh: the lists that are another with a
    key that was not in it.
    """

    def __init__(self, function: Function) -> None:
        self.definitions: dict[Value, Operation] = {}
        self.iterated: dict[Value, Iterated] = {}
        self.grown: dict[Value, Value] = {}
        self.fresh: set[Value] = set()
        self._carried: dict[Value, tuple[Value, Value]] = {}
        self._told: _Told = {}
        self._define(function.body)
        self._body = function.body

    def _define(self, block: Block) -> None:
        for operation in block.operations:
            for region in operation.regions:
                self._define(region)
            self.definitions.update(dict.fromkeys(operation.results, operation))
            if operation.primitive is LOOP:
                self._define_loop(Loop(operation))
            elif operation.primitive is APPEND:
                self.grown[operation.result] = operation.operands[0]
            elif operation.primitive is IF:
                for result in operation.results:
                    then, otherwise = sources(operation, result)
                    before = set(self._history(then))
                    common = next((v for v in self._history(otherwise) if v in before), None)
                    if common is not None:
                        self.grown[result] = common

    def _define_loop(self, loop: Loop) -> None:
        self.iterated.update((iterated.item, iterated) for iterated in loop.iterated)
        for carried in loop.carried:
            made = carried.initial, carried.following
            self._carried.update(dict.fromkeys(carried.names, made))
            if carried.parameter in self._history(carried.following):
                self.grown.update(dict.fromkeys(carried.names, carried.initial))

    def _history(self, keys: Value) -> Iterator[Value]:
        """The list, and the shorter ones that it was before."""
        yield keys
        while keys in self.grown:
            keys = self.grown[keys]
            yield keys

    def operations(self) -> Iterator[Operation]:
        """All operations, each while what is known where it stands is told."""
        return self._along(self._body)

    def _along(self, block: Block) -> Iterator[Operation]:
        before = self._told
        for operation in block.operations:
            is_added = operation.primitive is APPEND
            if is_added and self.has(operation.operands[0], self.key_of(operation)) is False:
                self.fresh.update(operation.results)
            yield operation
            told = self._told
            for region, taken in zip(operation.regions, (True, False), strict=False):
                if operation.primitive is IF:
                    self._told = told | self._tells(operation.operands[0], taken)
                yield from self._along(region)
            self._told = told
            if operation.primitive is IF and _raises(operation.regions[0]):
                self._told = told | self._tells(operation.operands[0], False)
        self._told = before

    def _tells(self, condition: Value, holds: bool) -> _Told:
        made = self.definitions.get(condition)
        while made is not None and made.callee is operator.not_:
            made, holds = self.definitions.get(made.operands[0]), not holds
        if made is None or not (is_lookup(made) and made.callee is operator.contains):
            return {}
        return {(made.operands[0], self.key_of(made)): holds}

    def key_of(self, operation: Operation) -> Any:
        """The key that is looked up, or appended, as what it is made of."""
        is_added = operation.primitive is APPEND
        item = operation.attributes["value"] if is_added else operation.attributes["args"][1]
        return self._key(operation, item)

    def _key(self, operation: Operation, item: Any) -> Any:
        value = operation.operands[item.index] if isinstance(item, Operand) else item
        made = self.definitions.get(value) if isinstance(value, Value) else None
        if made is not None and made.primitive is TUPLE:
            operation, value = made, made.attributes["items"]
        if made is not None and made.primitive is CONSTANT:
            value = made.attributes["value"]
        if isinstance(value, tuple):
            parts = tuple(self._key(operation, part) for part in value)
            return self._taken_apart(parts) or parts
        if value != value:
            return object()
        return value if isinstance(value, _PARTS) else object()  # like no other

    def _taken_apart(self, parts: tuple[Any, ...]) -> Value | None:
        """The tuple that these are the parts of, if they are."""
        made = [self.definitions.get(part) for part in parts if isinstance(part, Value)]
        owners = {part.operands[0] for part in made if part is not None and part.primitive is ITEM}
        positions = [part and part.attributes.get("position") for part in made]
        if len(owners) != 1 or positions != list(range(len(parts))):
            return None
        owner = owners.pop()
        is_whole = isinstance(owner.type, Tuple) and len(owner.type.items) == len(parts)
        return owner if is_whole else None

    def has(self, keys: Value, key: Any) -> bool | None:
        """Whether a key is in a list; None where that is not known."""
        told = self._told.get((keys, key))
        if told is None and any(self._got(before, key) for before in self._history(keys)):
            return True
        return told

    def _got(self, keys: Value, key: Any) -> bool:
        """Whether a key is known to be in a list by what is told of this very one, or made it."""
        if self._told.get((keys, key)) or self.source(key) is keys:
            return True
        made = self.definitions.get(keys)
        if made is not None and made.primitive is IF:
            condition = made.operands[0]
            return all(
                self._told_by(condition, taken, side, key)
                for side, taken in zip(sources(made, keys), (True, False), strict=True)
            )
        return self._is_added(keys, key)

    def _told_by(self, condition: Value, holds: bool, keys: Value, key: Any) -> bool:
        """Whether a key is in a list where a condition holds, or does not."""
        told = self._tells(condition, holds)
        return any(told.get((v, key)) or self._is_added(v, key) for v in self._history(keys))

    def _is_added(self, keys: Value, key: Any) -> bool:
        made = self.definitions.get(keys)
        return made is not None and made.primitive is APPEND and self.key_of(made) == key

    def source(self, key: Any) -> Value | None:
        """The list that a key was got from."""
        if key in self.iterated and self.iterated[key].kind == "sequence":
            return self.iterated[key].operands[0]
        made = self.definitions.get(key) if isinstance(key, Value) else None
        return made.operands[0] if made is not None and made.primitive is GET else None

    def is_among(self, keys: Value, key: Any) -> bool:
        """Whether a key was got from a list, or from what it was before."""
        source = self.source(key)
        return source is not None and source in self._history(keys)

    def are_distinct(self, keys: Value) -> bool:
        """Whether no key is twice in a list: it began with one at most, and got those alone that
        were not in it."""
        seen: set[Value] = set()
        pending = [keys]
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in self._carried:
                pending += self._carried[value]
                continue
            made = self.definitions.get(value)
            if made is None:
                return False
            if made.primitive is LIST and len(made.attributes["items"]) < 2:
                continue
            if made.primitive in (POP, DELETE) or value in self.fresh:
                pending.append(made.operands[0])
            elif made.primitive is IF:
                pending += sources(made, value)
            else:
                return False
        return True


_Told = dict[tuple[Value, Any], bool]
"""Of lists and keys, whether the one is in the other."""


def _raises(block: Block) -> bool:
    """Whether nothing is done after this block."""
    return bool(block.operations) and block.operations[-1].primitive is RAISE
