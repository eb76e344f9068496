"""Objects of the user's classes that are iterators: `__next__` and `StopIteration`."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees

x4 = np.array([0.7, 1.3, 2.1, 0.4])


class Down:
    """The numbers below n, downwards: how often it is asked is known."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Halves:
    """Halves of a number, as long as they are large: only the run tells how many."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.x < 0.1:
            raise StopIteration
        self.x = self.x / 2
        return self.x


class Numbered:
    """Pairs of a number and an item, from the start again for each `for`."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= len(self.items):
            raise StopIteration
        self.at += 1
        return self.at, self.items[self.at - 1]


class Decaying:
    """Its state goes on after what NumPy computes, which raises no `StopIteration`."""

    def __init__(self, items, count):
        self.items, self.left, self.scale = items, count, 1.0

    def __iter__(self):
        return self

    def __next__(self):
        if self.left <= 0 or np.max(self.items) > 5:
            raise StopIteration
        self.left -= 1
        self.scale = self.scale * 0.5 + np.mean(self.items)
        return self.scale


def counted(x):
    total = 0.0
    for i in Down(len(x)):
        total += x[i] * i
    return total


def with_else(x):
    total = 0.0
    for i in Down(3):
        total += x[i] * i
        if total > 100:
            break
    else:
        total *= x[0]
    return total


def nested(x):
    total = 0.0
    for a in Down(2):
        for b in Down(3):
            if b == 1:
                continue
            total += x[a] * x[b] * (b + 1)
    return total


def in_comprehensions(x):
    return sum(x[i] * i for i in Down(3)) + sum([half * half for half in Halves(x[0])])


class Doubled:
    """It never ends by itself."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        self.x = self.x * 2
        return self.x


def left_by_break(x):
    total = 0.0
    for item in Doubled(x[0]):
        total += item
        if total > 20:
            break
    return total


def by_hand(x):
    numbers = iter(Down(4))
    a, b = next(numbers), next(numbers)
    c = next(numbers, 7)
    ends = [next(numbers, 7), next(numbers, 9)]
    return x[a] * 10 + x[b] + sum(ends) * x[c]


def started_again(x):
    pairs, total = Numbered(x), 0.0
    for number, item in pairs:
        if item > 2:
            break
        total += number * item
    for _, item in pairs:
        total += item**2
    for place, (_, item) in enumerate(pairs):
        total += item**3 * place
    for (number, item), other in zip(Numbered(x), x, strict=True):
        total += item * other * number
    return total


def of_reductions(x):
    total = 0.0
    for scale in Decaying(x, 3):
        total = total * x[1] + scale
    return total


def caught_by_hand(x):
    halves, total = Halves(x[0] + x[2]), 0.0
    while True:
        try:
            half = next(halves)
        except StopIteration:
            break
        total += half * half
    return total


@pytest.mark.parametrize(
    "function",
    [
        counted,
        with_else,
        nested,
        in_comprehensions,
        left_by_break,
        by_hand,
        started_again,
        of_reductions,
        caught_by_hand,
    ],
)
def test_iterators_of_the_user(function) -> None:
    agrees(function, x4)


class Counting:
    """It counts how often it has ended, and goes on counting once it has."""

    def __init__(self, x):
        self.x, self.asked, self.ends = x, 0, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        if self.asked > 3:
            self.ends += 1
            raise StopIteration("no more")
        return self.x * self.asked


def ended_loop(x):
    items, total = Counting(x), 0.0
    for item in items:
        total += item
    else:
        total *= 2
    return total * (items.asked + items.ends)


def ended_list(x):
    items = Counting(x)
    return sum(list(items)) * items.asked


def ended_by_functions(x):
    items, more = Counting(x), Counting(x)
    found = [x]
    found.extend(more)
    return max(items) * items.asked + sum(found) * (more.asked + sum(sorted(Counting(x))))


def ended_array(x):
    items = Counting(2.0)
    return x * np.sum(np.fromiter(items, float)) * items.asked


def ended_by_hand(x):
    items, total = Counting(x), 0.0
    for _ in range(6):
        total += next(items, x * 7)
    return total * items.asked * items.ends


class Doubling:
    """It hands on the end of another iterator, and changes something after that alone."""

    def __init__(self, x):
        self.inner, self.count = Halves(x), 0

    def __iter__(self):
        return self

    def __next__(self):
        item = next(self.inner) * 2
        self.count += 1
        return item


def handed_on(x):
    items, total = Doubling(x), 0.0
    for item in items:
        total += item
    return total * items.count


@pytest.mark.parametrize(
    "function",
    [
        ended_loop,
        ended_list,
        ended_by_functions,
        ended_array,
        ended_by_hand,
        handed_on,
    ],
)
def test_what_changes_when_an_iterator_ends_is_kept(function) -> None:
    agrees(function, 0.7)


def reduced_and_filtered(x):
    state = Counting(x)
    found = functools.reduce(lambda total, item: total + item * state.asked, state, x)
    return found + sum(filter(None, Counting(x))) + sum(filter(lambda v: v > x, Counting(x)))


def chained(x):
    items = Counting(x)
    found = sum(itertools.chain(items, [x, items.asked], items))
    return found + sum(itertools.chain.from_iterable([Counting(x), Counting(x * x)]))


def accumulated_and_multiplied(x):
    items = Counting(x)
    found = sum(itertools.accumulate(items, lambda a, b: a + b * items.asked, initial=x))
    pairs = itertools.product(Counting(x), Counting(x), repeat=1)
    return found + sum(a * b for a, b in pairs) + sum(a for a, _ in itertools.product(items, [1]))


def one_iterator_twice(x):
    items, more, total = Down(7), Counting(x), 0.0
    for a, b, c in zip(items, items, items, strict=False):
        total += a + b * x + c * x * x
    total += sum(map(lambda a, b: a * b * more.asked, more, more))
    return total + items.n


def beside_others(x):
    items, total = Counting(x), 0.0
    for number, item in zip(range(2), items, strict=False):
        total += number * item
    total += next(items, 100.0)
    for item, other in zip(items, [x, 1.0], strict=False):
        total += item * other
    again = Counting(x)
    for item, other in zip(again, range(1, 4, 2), strict=False):
        total += item * other
    return total + next(again, x) * again.asked


def partly_taken(x):
    items = Counting(x)
    return sum(itertools.islice(items, 2)) * 10 + next(items)


def mapped_with_its_state(x):
    items, total = Counting(x), 0.0
    for item in map(lambda v: v * items.asked, items):
        total += item
    others = Counting(x)
    for item in (v * others.asked for v in others):
        total += item
    return total


@pytest.mark.parametrize(
    "function",
    [
        reduced_and_filtered,
        chained,
        accumulated_and_multiplied,
        one_iterator_twice,
        beside_others,
        partly_taken,
        mapped_with_its_state,
    ],
)
def test_functions_take_the_items_of_an_iterator_one_by_one(function) -> None:
    agrees(function, 0.7)


class Started:
    """It counts how often it is begun."""

    def __init__(self, x):
        self.x, self.begun = x, 0

    def __iter__(self):
        self.begun += 1
        return Counting(self.x)


def begun_once(x):
    items = Started(x)
    total = sum(filter(None, items)) + sum(itertools.chain(items, items)) + max(items)
    for _, item in zip(range(2), items, strict=False):
        total += item
    return total * items.begun


def test_an_iterable_is_begun_once_by_each_that_takes_its_items() -> None:
    agrees(begun_once, 0.7)


class Longer:
    """It has more items than its length says."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return 2

    def __getitem__(self, place):
        return self.items[place]


class Shorter(Longer):
    """It has fewer."""

    def __len__(self):
        return 4

    def __getitem__(self, place):
        if place >= 2:
            raise IndexError
        return self.items[place]


class Pairs:
    """It ends with the shorter of two arrays."""

    def __init__(self, items, others):
        self.items, self.others = items, others

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place], self.others[place]


def longer_than_its_length(x):
    total = 0.0
    for item in Longer([x, 2 * x, 3 * x]):
        total += item * item
    a, b, c = Longer([x, x, 5 * x])
    return total + a * b * c + sum(Longer(np.array([x, 2.0, 3.0])))


def shorter_than_its_length(x):
    total = 0.0
    for item in Shorter([x, 2 * x, 3 * x]):
        total += item * item
    return total + sum(Shorter([x, 2 * x, 3 * x]))


def longer_in_functions(x):
    total = sum(map(lambda v: v * v, Longer([x, 2 * x, 3 * x])))
    total += sum(a * b for a, b in zip(Longer([x, 2 * x, 3 * x]), [1.0, 2.0, 3.0], strict=False))
    total += functools.reduce(lambda a, b: a + b, Longer([x, 2 * x, 3 * x]), x)
    if any(v > 3 * x - 0.1 for v in Longer([x, 2 * x, 3 * x])):
        total += max(Longer([x, 2 * x, 3 * x])) + sorted(Longer([x, 2 * x, 3 * x]))[2]
    return total


def of_two_lengths(x):
    total = 0.0
    for a, b in Pairs(np.array([x, 2 * x, 3 * x]), np.array([x, x])):
        total += a * b
    for a, b in Pairs([x, 2 * x, 3 * x], [x, x]):
        total += a * b
    return total


@pytest.mark.parametrize(
    "function",
    [longer_than_its_length, shorter_than_its_length, longer_in_functions, of_two_lengths],
)
def test_items_by_number_end_at_an_index_error(function) -> None:
    agrees(function, 0.7)


def of_known_length(x):
    return sum(a * b for a, b in Pairs(x, x))


def test_items_that_end_at_their_length_are_counted() -> None:
    text = gs.differentiable(of_known_length).specialize(x4).forward_source
    assert "while" not in text and "try" not in text
