"""Sets of integers: their items in Python's order."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

KEYS = [3, 1, 20, 3, 7]
GRAPH = [[1, 2], [0, 3], [0], [1]]
v4 = np.array([1.5, 0.3, 2.0, 0.7])


def grown(keys, x):
    seen = set()
    for key in keys:
        seen.add(key)
    return sum(key * x for key in seen) + len(seen)


def in_its_order(keys, x):
    total = 0.0
    for key in set(keys):
        total = total * 0.5 + x * key
    return total


def in_order(keys, x):
    return sum(x**key for key in sorted({key % 4 for key in keys})) * max(set(keys))


def of_pairs(keys, x):
    pairs = set()
    for key in keys:
        pairs.add((key % 2, key))
    return sum(a * x + b for a, b in sorted(pairs))


def combined(keys, x):
    first, second = set(keys), {key % 5 for key in keys}
    second.update([1, 40])
    both = first.union(second)
    both.add(11)
    either = first | second
    either -= {20}
    return (
        sum(x**key for key in sorted(first & second))
        + sum(both)
        + sum(either) * x
        + len(second.difference(first))
    )


def taken(keys, x):
    left, total = set(keys), 0.0
    while left:
        total = total * 0.5 + x * left.pop()
    return total


@pytest.mark.parametrize("function", [grown, in_its_order, in_order, of_pairs, combined, taken])
def test_items_of_a_set(function) -> None:
    check(function, KEYS, 1.1)


def breadth_first(graph, weights):
    seen, frontier, depth, cost = {0}, [0], 0, 0.0
    while frontier:
        following = []
        for place in frontier:
            cost += weights[place] ** 2 * (depth + 1)
            for other in graph[place]:
                if other not in seen:
                    seen.add(other)
                    following.append(other)
        frontier = following
        depth += 1
    return cost + sum(seen) * weights[0]


def depth_first(graph, weights):
    seen = set()

    def visit(place):
        seen.add(place)
        total = weights[place] ** 2
        for other in graph[place]:
            if other not in seen:
                total += 0.5 * visit(other)
        return total

    return visit(0)


@pytest.mark.parametrize("function", [breadth_first, depth_first])
def test_a_graph_is_walked_through(function) -> None:
    agrees(function, GRAPH, v4)


class Node:
    def __init__(self, value, *following):
        self.value, self.following = value, list(following)


def _nodes(a, b):
    last = Node(b)
    return Node(a, last, Node(a * b, last))


def visited_once(a, b):
    seen = set()

    def total(node):
        if node in seen:
            return 0.0
        seen.add(node)
        return node.value**2 + sum(total(other) for other in node.following)

    return total(_nodes(a, b)) + len(seen)


def visited_by_a_stack(a, b):
    first, total = _nodes(a, b), 0.0
    seen, stack = {first}, [first]
    while stack:
        node = stack.pop()
        total = total * 0.5 + node.value**2
        for other in node.following:
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return total


def objects_in_a_set(a, b):
    first, second = Node(a), Node(b)
    nodes = {first, second, first}
    nodes.discard(second)
    nodes.update([second, first])
    return sum(node.value for node in nodes) * len(nodes)


class Number:
    """A number that knows what it was made of, and how to hand its gradient on."""

    def __init__(self, value, made_of=()):
        self.value, self.gradient, self.made_of = value, 0.0, made_of
        self.hand_on = lambda: None

    def __add__(self, other):
        out = Number(self.value + other.value, (self, other))

        def hand_on():
            self.gradient += out.gradient
            other.gradient += out.gradient

        out.hand_on = hand_on
        return out

    def __mul__(self, other):
        out = Number(self.value * other.value, (self, other))

        def hand_on():
            self.gradient += other.value * out.gradient
            other.gradient += self.value * out.gradient

        out.hand_on = hand_on
        return out

    def backward(self):
        order, seen = [], set()

        def visit(number):
            if number not in seen:
                seen.add(number)
                for other in number.made_of:
                    visit(other)
                order.append(number)

        visit(self)
        self.gradient = 1.0
        for number in reversed(order):
            number.hand_on()


def a_tape_of_its_own(a, b):
    x, y = Number(a), Number(b)
    h = x * y
    z = h * h + x * h + y
    z.backward()
    return x.gradient + y.gradient * z.value


@pytest.mark.parametrize(
    "function", [visited_once, visited_by_a_stack, objects_in_a_set, a_tape_of_its_own]
)
def test_a_set_of_objects(function) -> None:
    check(function, 1.5, 0.7)


def other_items_later(keys, x):
    seen, total = {0}, 0.0
    for key in keys:
        for item in seen:
            total += x * item
        seen.add(x * key)
    return total


def by_another_name(keys, x):
    seen = set(keys)
    other = seen if x > 1 else set(keys)
    other.add(x * 9)
    return sum(seen) * x


def in_a_recursion(keys, x):
    seen = set(keys)

    def go(k):
        seen.add(k * x)
        return 0.0 if k == 0 else go(k - 1)

    return go(2) + sum(seen) * x


@pytest.mark.parametrize("function", [other_items_later, by_another_name, in_a_recursion])
def test_what_is_differentiated_is_not_taken_from_a_set(function) -> None:
    with pytest.raises(errors.UnsupportedError):
        gs.grad(function, argnums=1)(KEYS, 1.5)


class Counted:
    def __hash__(self) -> int:
        CALLS[0] += 1.0
        return 1


class Letter(enum.Enum):
    A = 1

    def __hash__(self) -> int:
        CALLS[0] += 1.0
        return 1


class Compared:
    def __eq__(self, other: object) -> bool:
        return True


class Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name


CALLS, COUNTED, COMPARED, NAMED = [0.0], Counted(), Compared(), Named("a")
ONES, LETTERS = frozenset([1]), {"a": 1.0}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (COUNTED in ONES) * x + CALLS[0],
        lambda x: (COUNTED in {COUNTED, 1}) * x,
        lambda x: len({COUNTED}) * x,
        lambda x: (Letter.A in ONES) * x,
        lambda x: {Letter.A: x}[Letter.A],
        lambda x: (Letter.A in LETTERS) * x,
    ],
)
def test_a_hash_that_changes_something_is_refused(function) -> None:
    with pytest.raises(errors.UnsupportedError, match=r"`__hash__` of .*, which may change"):
        gs.grad(function)(1.5)
    assert CALLS == [0.0]


def test_an_object_without_a_hash_is_in_no_set() -> None:
    with pytest.raises(errors.UnsupportedError, match="unhashable type: 'Compared'"):
        gs.grad(lambda x: (COMPARED in ONES) * x)(1.5)


def test_objects_with_a_hash_of_their_own_are_in_sets() -> None:
    def program(x: float) -> float:
        return len({NAMED, Named("a"), Named("b")}) * x + (Named("b") in {NAMED}) * x

    assert gs.grad(program)(1.5) == 2.0
