"""`map`, `reduce` and `itertools` on run-time sequences, written in Python (see `prelude`)."""

from __future__ import annotations

from typing import Any

END: Any = object()
"""Stands for the item of an iterator that has none left."""


class NumberedItems:
    """What `iter` gives of an object that has `__getitem__`, and no `__iter__`."""

    def __init__(self, owner: Any) -> None:
        self.owner, self.place = owner, 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        try:
            item = self.owner[self.place]
        except IndexError:
            raise StopIteration from None
        self.place += 1
        return item


def next_or_end(iterator: Any) -> Any:
    """`next(iterator)`, or END where the method `__next__` itself raises StopIteration."""
    return next(iterator)


def taken(iterator: Any) -> Any:
    items: list[Any] = []
    while True:
        try:
            item = next_or_end(iterator)
        except StopIteration:
            return items
        if item is END:
            return items
        items.append(item)


def next_or(iterator: Any, default: Any) -> Any:
    try:
        item = next_or_end(iterator)
    except StopIteration:
        return default
    return default if item is END else item


def may_go_on(items: Any, place: int) -> bool:
    """Whether there is an item at this place of a sequence; an iterator says so when it is asked
    for one."""
    return place < len(items)


def item_in_turn(items: Any, place: int) -> Any:
    """The item at a place of a sequence; of an iterator the next one, or END."""
    return items[place]


def twos_in_turns(function: Any, first: Any, second: Any) -> Any:
    made: list[Any] = []
    while True:
        if not may_go_on(first, len(made)):
            return made
        try:
            one = item_in_turn(first, len(made))
        except StopIteration:
            return made
        if one is END:
            return made
        if not may_go_on(second, len(made)):
            return made
        try:
            two = item_in_turn(second, len(made))
        except StopIteration:
            return made
        if two is END:
            return made
        made.append(function(one, two))


def threes_in_turns(function: Any, first: Any, second: Any, third: Any) -> Any:
    made: list[Any] = []
    while True:
        if not may_go_on(first, len(made)):
            return made
        try:
            one = item_in_turn(first, len(made))
        except StopIteration:
            return made
        if one is END:
            return made
        if not may_go_on(second, len(made)):
            return made
        try:
            two = item_in_turn(second, len(made))
        except StopIteration:
            return made
        if two is END:
            return made
        if not may_go_on(third, len(made)):
            return made
        try:
            three = item_in_turn(third, len(made))
        except StopIteration:
            return made
        if three is END:
            return made
        made.append(function(one, two, three))


def row(*items: Any) -> Any:
    return items


def first_in_turns(items: Any, count: int) -> Any:
    made: list[Any] = []
    while len(made) < count:
        try:
            item = next_or_end(items)
        except StopIteration:
            return made
        if item is END:
            return made
        made.append(item)
    return made


def mapped(function: Any, items: Any) -> Any:
    return [function(item) for item in items]


def star_mapped(function: Any, rows: Any) -> Any:
    return [function(*row) for row in rows]


def filtered(function: Any, items: Any) -> Any:
    return [item for item in items if function(item)]


def reduced(function: Any, items: Any, total: Any) -> Any:
    for item in items:
        total = function(total, item)
    return total


def accumulated(function: Any, items: Any, total: Any) -> Any:
    totals = [total]
    for item in items:
        total = function(total, item)
        totals.append(total)
    return totals


def chained(lists: Any) -> Any:
    return [item for part in lists for item in part]


def pairs(first: Any, second: Any) -> Any:
    return [(a, b) for a in first for b in second]


def triples(first: Any, second: Any, third: Any) -> Any:
    return [(a, b, c) for a in first for b in second for c in third]


def combined(items: Any) -> Any:
    return [(items[i], items[j]) for i in range(len(items)) for j in range(i + 1, len(items))]


def pairwise(items: Any) -> Any:
    return zip(items[:-1], items[1:], strict=True)  # noqa: RUF007  (this is it)


def same(function: Any) -> Any:
    return function


def transposed(vjp: Any, rule: Any, zero: Any, active: Any, tangents: Any) -> Any:
    """The tangent that an adjoint rule, which is linear in the cotangent, implies."""

    def cotangents(d_out: Any) -> Any:
        given = rule(d_out=d_out)
        if not isinstance(given, tuple):
            given = (given,)
        return tuple([given[i] for i in active])

    return vjp(cotangents, zero)[1](tangents)[0]
