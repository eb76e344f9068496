"""Iterators and generators that are refused."""

from __future__ import annotations

import numpy as np

from tests.refused import refused

ITEMS = np.linspace(0.5, 2.0, 4)


@refused("`next` of what is no iterator", 2.0)
def next_of_a_list(x):
    return next([x])


@refused("`next` of what may have no items", ITEMS)
def next_of_a_filtered_array(x):
    return next(iter(x[x > 1]))


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


@refused("`enumerate` of a range with steps is not supported", ITEMS)
def enumerated_range(x):
    return sum(k * x[i] for k, i in enumerate(range(0, len(x), 2)))
