"""Lists of keys that are written as dicts, from each key to its place.

A dict whose keys are computed is lowered as the list of its keys and that of its items. Where all
that is done with the keys is to append one that is not there, to ask whether one is there, to look
for the place of one that is and to run over them, the list is written as a dict, in which that
takes no search:

    if (i, j) in t:
        held[t[i, j]] = c
    else:
        t[i, j] = len(t)
        held.append(c)
"""

from __future__ import annotations

from collections.abc import Iterator

from gradscribe.ir.core import IF, LOOP, Function, Operation, Value, walk
from gradscribe.ir.flow import Loop
from gradscribe.primitives.control import APPEND, LEN, LIST
from gradscribe.primitives.members import INDEX, Members, are_keys, is_lookup


def key_lists(function: Function) -> frozenset[Value]:
    """The values that are such lists."""
    if not any(is_lookup(operation) for operation in walk(function.body)):
        return frozenset()
    lists = _Lists(function)
    for operation in lists.members.operations():
        lists.note(operation)
    lists.others.update(function.body.parameters, function.body.yields)
    return frozenset(lists.found())


class _Lists:
    """joined: for each value, one that it is the same list as. made: the lists of one key, or none.
    searched: those in which a place is looked for. others: what anything else is done with.
    members: which keys are in which list."""

    def __init__(self, function: Function) -> None:
        self.joined: dict[Value, Value] = {}
        self.made: set[Value] = set()
        self.searched: set[Value] = set()
        self.others: set[Value] = set()
        self.members = Members(function)

    def note(self, operation: Operation) -> None:
        first, rest = operation.operands[:1], operation.operands[1:]
        if operation.primitive is LIST and len(operation.attributes["items"]) < 2:
            self.made.update(operation.results)
            self.others.update(operation.operands)
        elif operation.primitive is APPEND:
            if operation.result not in self.members.fresh:  # it may be there twice
                self.others.update(first)
            self._join(first[0], operation.result)
            self.others.update(rest)
        elif is_lookup(operation):
            self.others.update(rest)
            if operation.callee == INDEX:
                is_there = self.members.has(first[0], self.members.key_of(operation))
                # or else lists and dicts raise other errors
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
        for kind, operands, _ in Loop(operation).iterated:
            known.update(operands if kind == "sequence" else ())
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
        others.update(self._root(value) for value in values if not are_keys(value.type))
        wanted = set(map(self._root, self.searched)) & set(map(self._root, self.made))
        return (value for value in values if self._root(value) in wanted - others)
