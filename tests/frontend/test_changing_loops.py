"""Loops that change what they run over or make objects, and loops from object to object."""

from __future__ import annotations

import enum
import math

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

v4 = np.array([1.5, 0.3, 2.0, 0.7])


def grows(x):
    items, total = [x], 0.0
    for item in items:
        total += item
        if len(items) < 4:
            items.append(item * 2)
    return total


def grows_while_counted(x):
    items, total = [x], 0.0
    for k, item in enumerate(items):
        total += item * (k + 1)
        if k < 3:
            items.append(item * 2)
    return total


def shrinks(x):
    items, total = [x, 2 * x, 3 * x, 4 * x], 0.0
    for item in items:
        total += item
        if item < 2:
            items.pop(0)
    return total


def exits(x):
    items, total = [x, 2 * x, 3 * x, 4 * x], 0.0
    for item in items:
        if item > 5:
            continue
        total += item
        items.append(item + 1)
        if len(items) > 8:
            break
    else:
        total += 100
    return total


def stores_ahead(x):
    items, total = [x, 2 * x, 3 * x], 0.0
    for k, item in enumerate(items):
        if k + 1 < 3:
            items[k + 1] = item * 2
        total += item * (k + 1)
    return total


def stores_beside(x):
    items, factors, total = [x, 2 * x, 3 * x], [1.0, x, 2.0], 0.0
    for k, (item, factor) in enumerate(zip(items, factors, strict=True)):
        if k + 1 < 3:
            factors[k + 1] = item * factor
        total += item * factor
    return total


def stores_backwards(x):
    items, total = [x, 2 * x, 3 * x], 0.0
    for k, item in enumerate(reversed(items)):
        items[0] = item * 2
        total += item * (k + 1)
    return total


@pytest.mark.parametrize(
    "function",
    [
        grows,
        grows_while_counted,
        shrinks,
        exits,
        stores_ahead,
        stores_beside,
        stores_backwards,
    ],
)
def test_a_loop_sees_the_list_as_it_is(function) -> None:
    check(function, 1.6)


def worklist(weights):
    graph = [[1, 2], [3], [3], []]
    queue, seen, cost = [0], [True, False, False, False], 0.0
    for place in queue:
        cost += weights[place] ** 2
        for other in graph[place]:
            if not seen[other]:
                seen[other] = True
                queue.append(other)
    return cost


def lists_within_lists(weights):
    total, outer = 0.0, [0]
    for i in outer:
        if i < 2:
            outer.append(i + 1)
        inner = [i]
        for j in inner:
            if j < 3:
                inner.append(j + 1)
            total += weights[j] * (i + 1)
    return total


def halves(weights):
    stack, total = [(0, 4)], 0.0

    def push(low, high):
        if high - low > 1:
            stack.append((low, high))

    while stack:
        low, high = stack.pop()
        middle = (low + high) // 2
        total = total * 0.9 + weights[middle]
        push(low, middle)
        push(middle, high)
    return total


@pytest.mark.parametrize("function", [worklist, lists_within_lists, halves])
def test_a_list_of_what_is_to_be_done_grows(function) -> None:
    agrees(function, v4)


def grows_backwards(x):
    items = [x, 2 * x]
    for item in reversed(items):
        items.append(item)
    return sum(items)


def test_a_list_that_grows_is_not_run_over_backwards() -> None:
    with pytest.raises(errors.UnsupportedError, match="changes a list while"):
        gs.grad(grows_backwards)(1.5)


class Link:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


def linked(items):
    head = None
    for item in items:
        head = Link(item, head)
    total, count, link = 0.0, 1, head
    while link is not None:
        total += link.value * count
        count += 1
        link = link.following
    return total


def to_the_end(items):
    link = Link(items[0], Link(items[1], Link(items[2])))
    total = 0.0
    while link:
        if link.value < 1:
            total += 1.0
        total += link.value**2
        link = link.following
    else:
        total += 100
    return total


@pytest.mark.parametrize("function", [linked, to_the_end])
def test_links_are_followed(function) -> None:
    check(function, [1.5, 0.3, 2.0])


class Shape(enum.Enum):
    CIRCLE = "c"
    SQUARE = "s"

    def area(self, r):
        return math.pi * r * r if self is Shape.CIRCLE else r * r


_MISSING = object()


def _scaled(x, factor=_MISSING):
    return x if factor is _MISSING else x * factor


def identities(x):
    areas = Shape.CIRCLE.area(x) * Shape("s").area(x) + sum(shape.area(x) for shape in Shape)
    return areas + _scaled(x) + _scaled(x, 2.0)


def test_an_object_is_itself_in_its_methods() -> None:
    check(identities, 1.5)


# -- slices of lists ------------------------------------------------------------------------------


def rows_of_slice(a):
    rows = [[x, 2 * x] for x in a]
    for row in rows:
        for other in rows[:2]:
            row[0] = row[0] * other[0]
    return rows


def test_a_store_to_a_row_is_seen_by_a_loop_over_a_slice_of_the_rows():
    check(rows_of_slice, [1.0, 2.0, 3.0])


def triangle(A):
    L = [[0.0] * len(A) for _ in range(len(A))]
    for i, (Ai, Li) in enumerate(zip(A, L)):
        for j, Lj in enumerate(L[: i + 1]):
            s = sum(Li[k] * Lj[k] for k in range(j))
            Li[j] = (Ai[i] - s) ** 0.5 if i == j else (Ai[j] - s) / Lj[j]
    return L


def test_rows_known_by_two_names_are_one():
    check(triangle, [[4.0, 1.0, 0.5], [1.0, 5.0, 1.5], [0.5, 1.5, 6.0]])


def arrays_of_slice(a):
    parts = [np.array([x, 2 * x]) for x in a]
    for part in parts:
        for other in parts[-2:]:
            part[0] = part[0] + other[0] * other[1]
    return parts


def test_slices_with_negative_bounds_are_run_over_item_by_item():
    check(arrays_of_slice, [1.0, 2.0, 3.0])


def restructured(a):
    rows = [[x, 2 * x] for x in a]
    for row in rows:
        for other in rows[:2]:
            row[0] = row[0] * other[0]
            rows[1] = [1.0, 1.0]
    return rows


def test_a_list_that_gets_other_items_while_a_slice_of_it_is_run_over_is_refused():
    with pytest.raises(gs.errors.AliasingError):
        gs.vjp(restructured, [1.0, 2.0, 3.0])


# -- objects that loops make ----------------------------------------------------------------------


class Joint:
    def __init__(self, length, angle):
        self.length = length
        self.angle = angle
        self.turns = 0

    def turn(self, by):
        self.angle += by
        self.turns += 1


def arm(lengths, angles, n):
    joints = []
    for i in range(n):
        joints.append(Joint(lengths[i], angles[i]))
    others = [Joint(length, 0.1) for length in lengths]
    for joint in joints:
        joint.turn(0.1 * joint.length)
    for i in range(len(others)):
        for j in range(i + 1, len(others)):
            others[i].turn(others[j].length * joints[i].angle)
    x = total = 0.0
    for joint in joints + others:
        total += joint.angle
        x += joint.length * np.cos(total)
    return x


def test_objects_are_made_in_a_loop_over_as_many_items_as_there_are():
    check(arm, np.array([1.0, 0.8, 0.5]), [0.1, 0.2, 0.3], 3)


def test_a_loop_that_makes_objects_is_compiled_for_each_number_of_iterations():
    gradient = gs.grad(arm)
    for n in (2, 3):
        lengths, angles = np.linspace(0.5, 1, n), [0.1 * i for i in range(n)]
        step = gs.jvp(arm, (lengths, angles, n), (np.ones(n), [None] * n, None))[1]
        np.testing.assert_allclose(gradient(lengths, angles, n).sum(), step)
