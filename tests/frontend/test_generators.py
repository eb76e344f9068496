"""Functions with `yield`."""

from __future__ import annotations

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

v4 = np.array([1.5, 0.3, 2.2, 0.7])
ITEMS = [1.5, 0.3, 2.2, 0.7]


def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def euler(slope, y, dt, n):
    for k in range(n):
        y = y + dt * slope(y)
        yield k * dt, y


def small(items):
    for item in items:
        if item > 2:
            return
        yield item


def joined(*lists):
    for items in lists:
        yield from items


def batches(x, n):
    for i in range(0, len(x), n):
        yield x[i : i + n]


def by_pairs(x):
    total = sum(x[i] * x[j] ** 2 for i, j in pairs(len(x)))
    for i, j in pairs(len(x)):
        total = total * 0.9 + x[i] * x[j]
    return total


def in_steps(x):
    total = 0.0
    for t, y in euler(lambda v: -v * v, x, 0.1, 5):
        total += t * y.sum()
    return total


def in_batches(x):
    weight = 1.0
    for batch in batches(x, 2):
        weight = weight - 0.1 * (weight * batch).sum()
    return weight


def nested(x):
    def squares():
        for v in x:
            yield v * v

    items = list(squares())
    return items[0] * items[2] + max(squares())


def copies(x):
    def states():
        state = x * 1.0
        for k in range(3):
            state[0] += k
            yield state.copy()

    total = 0.0
    for state in states():
        total = total * 0.5 + state[0] * state[1]
    return total


@pytest.mark.parametrize("function", [by_pairs, in_steps, in_batches, nested, copies])
def test_items_of_arrays(function) -> None:
    agrees(function, v4)


def left_by_return(x):
    return sum(v * v for v in small(x)) + sum(a * b for a, b in zip(small(x), x))


def from_others(x):
    total = sum(v * k for k, v in enumerate(joined(x, x[1:], [2.0])))
    return total + sum(k * v for k, v in enumerate(sorted(joined(x))))


class Bag:
    def __init__(self, items):
        self.items = list(items)

    def __iter__(self):
        yield from self.items

    def large(self):
        for item in self:
            if item > 1:
                yield item


def of_objects(x):
    return sum(Bag(x)) * sum(Bag(x).large())


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.value
        if self.right is not None:
            yield from self.right


def of_a_tree(x):
    tree = Tree(x[0], Tree(x[1]), Tree(x[0] * x[1], Tree(2.0)))
    return sum(value * (k + 1) for k, value in enumerate(tree))


@pytest.mark.parametrize("function", [left_by_return, from_others, of_objects, of_a_tree])
def test_items_of_lists(function) -> None:
    check(function, ITEMS)


# -- refusals --------------------------------------------------------------------------------------


def one_state(x):
    state = x * 1.0
    yield state
    state[0] = 5.0
    yield state


class Model:
    rate = 1.0

    def rates(self, n):
        for _ in range(n):
            yield self.rate


MODEL = Model()


def changes_an_attribute(x):
    total = 0.0
    for rate in MODEL.rates(3):
        total += rate * x[0]
        MODEL.rate = 2.0
    return total


def changes_an_array(x):
    values = x * 1.0

    def items():
        for i in range(4):
            yield values[i]

    total = 0.0
    for item in items():
        total += item
        values[3] = total
    return total


def sends(x):
    def accumulate():
        total = 0.0
        for _ in range(5):
            total += yield total

    items = accumulate()
    next(items)
    return items.send(x[0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum(state.sum() for state in one_state(x)),
        changes_an_attribute,
        changes_an_array,
        sends,
    ],
)
def test_what_is_computed_in_turns_is_refused(function) -> None:
    with pytest.raises(errors.UnsupportedError):
        gs.grad(function)(v4)


class Kept:
    def __init__(self, a, v):
        self.a, self.v, self.seen = a, v, [a]

    def step(self):
        self.a += np.sin(self.v[2])
        return self.a * self.seen[-1]


def left_early_beside_a_handler(x, A):
    y = 1.0 * x
    kept = Kept(np.sin(A[1, 0]), y * 1.0)
    first = kept.a * kept.seen[-1] + sum(kept.seen)
    other = np.tanh(np.sum(y) * np.max(y) + (np.sum(A[0]) - np.mean(kept.v)))
    try:

        def items(u, v, k):
            for _ in range(k):
                if 2 - v[1] <= u:
                    return
                yield u

        for _ in items(kept.a, y, 2):
            pass
    except (ValueError, KeyError):
        more = Kept(np.sin(y[2]), y * 1.0)
        other = more.step() + sum(more.seen)
    return first + kept.a + other + np.sum(y * y) + np.sum(np.sin(A))


def test_items_may_be_in_one_of_two_lists() -> None:
    x, A = np.linspace(0.4, 1.3, 5), np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    tensors = [gs.tensor(given, requires_grad=True) for given in (x, A)]
    with pytest.raises(gs.errors.AliasingError, match="number"):
        gs.differentiable(left_early_beside_a_handler)(*tensors)
