"""`itertools` and `statistics`."""

from __future__ import annotations

import itertools
import operator
import statistics

import numpy as np
import pytest

from tests.frontend.oracles import agrees, check

ITEMS = [1.5, 0.3, 2.2, 0.7]
v4 = np.array(ITEMS)


def rows_of_two(x):
    total = sum(a * b for a, b in itertools.combinations_with_replacement(x, 2))
    total += sum(a * b * b for a, b in itertools.permutations(x, 2))
    return total + sum(x[i] * x[j] for i, j in itertools.combinations(range(len(x)), 2))


def rows_of_three(x):
    return sum(a * b * c * c for a, b, c in itertools.combinations(x, 3))


def all_orders(x):
    best = 1e9
    for order in itertools.permutations(range(len(x))):
        cost = 0.0
        for a, b in itertools.pairwise(order):
            cost += (x[a] - x[b]) ** 2 * (a + 1)
        best = min(best, cost)
    return best


def parts(x):
    taken = sum(a * a for a in itertools.takewhile(lambda v: v < 2.0, x))
    dropped = sum(a**3 for a in itertools.dropwhile(lambda v: v < 2.0, x))
    others = sum(a * 2 for a in itertools.filterfalse(lambda v: v > 1, x))
    return taken * dropped + others + sum(itertools.compress(x, [1, 0, 1, 1]))


def side_by_side(x):
    longest = sum(a * b for a, b in itertools.zip_longest(x, x[1:], fillvalue=1.0))
    first, second = itertools.tee(x)
    next(second)
    return longest + sum(p * q for p, q in zip(first, second))


def groups(x):
    total = 0.0
    for is_large, group in itertools.groupby(x, key=lambda v: v > 1):
        total += max(group) ** 2 * (1 + is_large)
    for label, group in itertools.groupby(zip([0, 0, 1, 1], x), key=operator.itemgetter(0)):
        total += sum(v for _, v in group) ** 2 * (label + 1)
    return total


def without_end(x):
    total, term = 0.0, 1.0
    for k in itertools.count(1):
        term *= x[0] / k
        if term < 1e-6:
            break
        total += term
    for n, v in enumerate(itertools.cycle(x)):
        if n > 5:
            break
        total += v * n
    for a in map(lambda n: n * x[0], itertools.count()):
        if a > 5.0:
            break
        total += a
    return total


def zipped_with_what_has_no_end(x):
    numbered = zip(x, itertools.count(1, 2), itertools.cycle([1.0, x[0]]))
    total = sum(a * k * c for a, k, c in numbered)
    total += sum(v * a for v, a in zip(itertools.repeat(x[0], 3), x))
    total += sum(v * n for v, n in zip(x, map(lambda n: n * x[1], itertools.count(2))))
    return total + sum(map(operator.mul, x, itertools.repeat(2.0)))


def some_of_what_has_no_end(x):
    total = sum(x[0] * i for i in itertools.islice(itertools.count(3), 2))
    total += sum(itertools.islice(map(lambda i: x[1] * i, itertools.count(1, 2)), 1, 5, 2))
    for i, (k, factor) in itertools.islice(
        enumerate(zip(itertools.count(5), itertools.cycle([1.0, x[0]]))), len(x)
    ):
        total += x[i] * k * factor
    return total + sum(x[0] * i for i in itertools.islice(range(10**12), 2, 4))


def next_of_what_has_no_end(x):
    numbers, factors = itertools.count(1), itertools.cycle([x[0], x[2]])
    total = x[next(numbers)] * next(factors) * next(factors) * next(factors)
    return total + sum(v * n for v, n in zip(x, numbers))


@pytest.mark.parametrize(
    "function",
    [
        some_of_what_has_no_end,
        next_of_what_has_no_end,
        rows_of_two,
        rows_of_three,
        all_orders,
        parts,
        side_by_side,
        groups,
        without_end,
        zipped_with_what_has_no_end,
    ],
)
def test_itertools(function) -> None:
    check(function, ITEMS)


def weighted_orders(x):
    return sum(a + 2 * b for a, b, c in itertools.permutations(x, None))


def test_permutations_are_of_all_items_where_no_number_is_given():
    check(weighted_orders, np.array([0.5, 1.5, 2.5]))


def run_lengths(keys, x):
    return sum(x**key * len(list(group)) for key, group in itertools.groupby(keys))


def test_groups_of_numbers() -> None:
    check(run_lengths, [1, 1, 2, 3, 3], 1.5)


def means(x):
    return statistics.mean(x) * statistics.geometric_mean(x) + statistics.harmonic_mean(x)


def deviations(x):
    scale = statistics.stdev(x) + statistics.pstdev(x)
    third = sum(((v - statistics.mean(x)) / scale) ** 3 for v in x)
    return third + statistics.variance(x) * statistics.pvariance(x)


def of_what_is_computed(x):
    squares = statistics.mean(v * v for v in x)
    return squares + statistics.stdev([v for v in x if v > 0.5]) + statistics.mean((x[0], x[1]))


@pytest.mark.parametrize("function", [means, deviations, of_what_is_computed])
def test_statistics(function) -> None:
    check(function, ITEMS)
    agrees(function, v4)


def test_the_deviation_of_equal_numbers_has_no_slope() -> None:
    check(lambda x: statistics.pstdev([x, x]) + x, 2.0)
