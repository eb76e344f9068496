"""Iterators, generators and loops that are refused."""

from __future__ import annotations

import functools
import itertools
import pickle

import numpy as np

from tests.refused import refused

ITEMS = np.linspace(0.5, 2.0, 4)


@refused("the generator `halves` has no end", 2.0)
def generator_without_end(x):
    for half in halves(x):
        if half < 1e-3:
            return half


def halves(x):
    while True:
        x = x / 2
        yield x


@refused("this loop changes what the generator `weighted` reads", ITEMS)
def generator_of_what_changes(x):
    weight = 1.0

    def weighted():
        for v in x:
            yield weight * v

    for v in weighted():
        weight = weight * v
    return weight


@refused("`filter` changes what others read, or has effects", ITEMS)
def filter_that_counts(x):
    seen = [0.0]

    def noted(v):
        seen.append(v)
        return v > 1

    return sum(v * seen[-1] for v in filter(noted, x))


@refused("an exception that is handled may come while this takes in items, one by one", ITEMS)
def list_that_an_exception_leaves_half_extended(x):
    def checked(v):
        if v > 1:
            raise ValueError
        return v

    found = []
    try:
        found.extend(map(checked, x))
    except ValueError:
        pass
    return sum(found)


@refused("these items change the list or dict that they are put into", ITEMS)
def list_that_its_items_extend(x):
    found = [1.0]

    def noted(v):
        found.append(v)
        return v

    found += map(noted, x)
    return sum(found)


@refused("`flat` of an array cannot be an item of this list", ITEMS)
def elements_in_a_list(x):
    return [(v * x).flat for v in x][int(x[0])][0]


@refused("`product` of so many iterables", ITEMS)
def product_of_four(x):
    return sum(a * b * c * d for a, b, c, d in itertools.product(x, repeat=4))


@refused("`permutations` of so many items", np.ones(12))
def all_permutations(x):
    return sum(p[0] for p in itertools.permutations(x))


@refused("an array without axes has no indices", np.array(2.0))
def indices_of_a_number(x):
    return sum(x[i] for i in np.ndindex(x.shape))


@refused("this may have no items", ITEMS)
def reduced_without_a_start(x):
    return functools.reduce(lambda a, b: a * b, x[x > 1])


@refused("the number of items is not known when the function is compiled", ITEMS)
def unpacked_items(x):
    return max(*itertools.takewhile(lambda v: v < 1, x))


class Doubled:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        self.x = self.x * 2
        return self.x


@refused("the iterator `Doubled` has no end", 2.0)
def iterator_without_end(x):
    for k, item in enumerate(Doubled(x)):
        if k > 2:
            return item


@refused("this loop takes the items of what has no end", 2.0)
def list_without_end(x):
    return sum([x * i for i in itertools.count()])


@refused("this object cannot be iterated over", 2.0)
def loop_over_an_object(x):
    total = 0.0
    for v in Pair():
        total += v * x
    return total


@refused("this always raises TypeError: 'Pair' object is not iterable", 2.0)
def generator_over_an_object(x):
    return sum(v * x for v in Pair())


class Pair:
    first = 1.0


@refused("this value cannot be iterated over", 2.0)
def loop_over_a_number(x):
    total = 0.0
    for v in x:
        total += v
    return total


@refused("`zip_longest` of so many iterables", ITEMS)
def three_zipped_to_the_longest(x):
    rows = itertools.zip_longest(x, x[1:], x[2:], fillvalue=0.0)
    return sum(a * b * c for a, b, c in rows)


@refused("an array without axes has no items", np.array(2.0))
def unpacked_number(x):
    a, b = x
    return a * b


@refused("`reversed` of an iterator", ITEMS)
def reversed_zip(x):
    total = 0.0
    for a, b in reversed(zip(x, x)):
        total = total * a + b
    return total


@refused("this may change the size of the set that a loop runs over", 2.0)
def set_that_grows(x):
    numbers = {1, 2}
    for number in numbers:
        numbers.add(number + 5)
    return x * len(numbers)


@refused("this loop changes the size of the dict that it runs over", 2.0)
def dict_that_grows(x):
    found = {"a": x}
    for key in found:
        found[key + "b"] = x
    return found["a"]


@refused("this part of a range is not supported", ITEMS, 2)
def part_of_a_range(x, n):
    return sum(x[i] for i in range(len(x))[n:])


@refused("how often this is repeated is not known", ITEMS)
def tuple_repeated(x):
    return sum((x[0],) * int(x[1]))


@refused("`next` of what is no iterator", 2.0)
def next_of_a_list(x):
    return next([x])


@refused("`next` of what may have no items", ITEMS)
def next_of_a_filtered_array(x):
    return next(iter(x[x > 1]))


@refused("`next` of what is taken from the last item to the first", ITEMS)
def next_of_pairs_backwards(x):
    return next(zip(x, reversed([x[0], x[1]])))[1]


@refused("the items of this iterator may have been taken before", ITEMS)
def zip_taken_twice(x):
    pairs = zip(x, x[1:])
    products = sum(a * b for a, b in pairs)
    return products + sum(a - b for a, b in pairs)


@refused("a loop takes the items of an iterator that is made before it", ITEMS, 3)
def zip_taken_in_a_loop(x, n):
    pairs = zip(x, x[1:])
    total = 0.0
    for _ in range(n):
        total = total + sum(a * b for a, b in pairs)
    return total


@refused("NumPy takes no iterator", ITEMS)
def array_of_an_iterator(x):
    return np.sum(np.array(map(abs, x)))


@refused("`iter` with a value to stop at is not supported", ITEMS)
def items_until_a_value(x):
    values = list(x)
    return sum(iter(values.pop, 0.5))


@refused("this changes a list while a loop runs over it", ITEMS)
def list_changed_in_its_loop(x):
    found = list(x)
    for k, v in enumerate(reversed(found)):
        found.append(v)
    return sum(found)


@refused("the number of items is not known", ITEMS)
def unpacked_count(x):
    a, _ = itertools.count()
    return a * x[0]


@refused("this iterator cannot be a run-time value here", ITEMS)
def length_of_an_iterator(x):
    return x[0] * len(zip(x, x))


@refused("what this loop binds its names to is of another kind after each iteration", ITEMS)
def list_that_gets_deeper(x):
    found = []
    while True:
        found = [found, None]
        break
    return found


@refused("this list grows for ever", ITEMS)
def list_that_grows_for_ever(x):
    found = [x[0]]
    for k, v in enumerate(found):
        found.append(v / 2)
    return found[-1]


@refused("an iterator that has given items is given to code that cannot be read", ITEMS)
def iterator_of_which_items_are_taken(x):
    rest = iter([1.0, 2.0, 3.0])
    first = next(rest)
    return first * len(pickle.dumps(rest)) * x[0]


@refused("the list changes after `reversed` has counted its items", np.ones(3))
def grown_while_reversed(x):
    items = [1.0, x[0]]
    backwards = reversed(items)
    items.append(x[1])
    return sum(v * i for i, v in zip(range(9), backwards))


TAKEN = [0.0]


def counted(v):
    TAKEN[0] += 1.0
    return v


@refused(
    "items that change something when they are taken are left out by `zip`, which takes one more",
    ITEMS,
)
def one_item_more_than_of_another(x):
    return sum(a * b for a, b in zip(map(counted, x), x[:2])) + TAKEN[0]


@refused(
    "an iterator changes something that is read later, and then ends by an IndexError, or by a "
    "StopIteration that comes from elsewhere, from a loop or from a `try`",
    2.0,
)
def iterator_that_counts_before_another_one_ends(x):
    class Threefold:
        def __init__(self, x):
            self.x, self.left, self.asked = x, 3, 0

        def __iter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left -= 1
            return self.x

    class Counted(Threefold):
        def __next__(self):
            self.asked += 1
            return super().__next__()

    counted, total = Counted(x), 0.0
    for item in counted:
        total += item
    return total * counted.asked


@refused(
    "an iterator of a user's class is taken beside others that compute their items, or beside too "
    "many",
    2.0,
)
def zip_of_an_iterator_and_a_map(x):
    return sum(item * other for item, other in zip(Doubled(x), map(abs, [x, -x]), strict=False))
