"""`collections.deque`, `collections.defaultdict`, `heapq`, `bisect`, `np.ndindex`,
`np.ndenumerate`."""

from __future__ import annotations

import bisect
import collections
import copy
import heapq
import math
from collections import Counter, defaultdict, deque

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from gradscribe.frontend.prelude import standard_functions
from gradscribe.frontend.structures import standard_classes
from tests.frontend.oracles import check

x4 = np.array([1.0, 2.5, 3.25, 4.0])


def moving_mean(x):
    window = deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v)
        total = total + sum(window) / len(window) + window[0] * window[-1]
    return total


def both_ends(x):
    queue = collections.deque(x)
    queue.rotate(1)
    queue.appendleft(x[0] * 2)
    queue.rotate(-2)
    first, last = queue.popleft(), queue.pop()
    queue.extendleft([first, last])
    queue.reverse()
    return first * last + queue[1] * sum(queue) + (first in queue)


def breadth_first(x):
    queue = deque([(0, 1.0)])
    total = 0.0
    while queue:
        i, weight = queue.popleft()
        total = total + weight * x[i]
        if i + 1 < len(x):
            queue.append((i + 1, weight * x[i]))
    return total


def copied_queue(x):
    queue = deque([x[0], x[1]], 2)
    other = queue.copy()
    other.append(x[2])
    queue.clear()
    return sum(other) * (1 + len(queue)) + other.index(x[1])


def groups(x):
    members = defaultdict(list)
    for i in range(len(x)):
        members[i % 2].append(x[i])
    return sum(sum(group) * k for k, group in members.items()) + sum(members[0]) * len(members)


def counts(x):
    found = defaultdict(int)
    for word in ["a", "b", "a"]:
        found[word] += 1
    return x[0] * found["a"] + x[1] * found["b"] + x[2] * found["c"] + len(found)


def sums_by_key(x):
    totals = defaultdict(float)
    for i, v in enumerate(x):
        totals[i % 3] += v * v
    return totals[0] * totals[1] + totals.get(7, 2.0) * (5 in totals)


def arrays_by_key(x):
    rows = defaultdict(lambda: np.zeros(2))
    for i in range(4):
        rows[i % 2][i // 2] += x[i] ** 2
    return (rows[0] * rows[1]).sum()


def dicts_made_of_them(x):
    words, totals = Counter(["ab", "cd", "ab"]), defaultdict(float)
    totals["ab"] += x[1]
    found = dict(words)
    found.update(totals)
    totals.update(words)
    return found["ab"] * found["cd"] * x[0] + totals.get("ab", x[2]) * x[3]


def what_they_are_given_is_checked(x):
    rates = defaultdict(lambda: x[0], a=x[1])
    try:
        return x[2] * len(defaultdict(x))
    except TypeError:
        pass
    try:
        return x[2] * len(deque([1, 2], -1))
    except ValueError:
        return rates["a"] * rates["b"]


def heap_sort(x):
    heap = []
    for v in x:
        heapq.heappush(heap, np.sin(v))
    total, k = 0.0, 1.0
    while heap:
        total = total + k * heapq.heappop(heap)
        k += 1
    return total


def heap_of_a_list(x):
    heap = [x[2], x[0], x[3], x[1]]
    heapq.heapify(heap)
    least = heapq.heapreplace(heap, least_of(heap) * 3)
    return least * heapq.heappushpop(heap, x[0] / 2) + heap[0] * heapq.heappop(heap)


def least_of(heap):
    return heap[0]


def shortest_path(x):
    edges = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(3, 3)], 3: []}
    distance = [float("inf")] * 4
    distance[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, e in edges[u]:
            longer = d + x[e]
            if longer < distance[v]:
                distance[v] = longer
                heapq.heappush(heap, (longer, v))
    return distance[3]


def over_indices(x):
    A = x.reshape(2, 2)
    total = 0.0
    for i, j in np.ndindex(2, 2):
        total += A[i, j] * A[j, i]
    for index in np.ndindex(A.shape):
        total += A[index] * index[1]
    for (i, j), v in np.ndenumerate(A):
        total += (i + 2 * j) * v * v
    return total


def stores_at_indices(x):
    A = np.outer(x, x).reshape(2, 2, 4).copy()
    for i, j, k in np.ndindex(*A.shape):
        A[i, j, k] *= i + j - k
    return (A**2).sum()


PROGRAMS = [
    moving_mean,
    both_ends,
    breadth_first,
    copied_queue,
    groups,
    counts,
    sums_by_key,
    arrays_by_key,
    dicts_made_of_them,
    what_they_are_given_is_checked,
    heap_sort,
    heap_of_a_list,
    shortest_path,
    over_indices,
    stores_at_indices,
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function) -> None:
    check(function, x4)


def test_their_class_is_that_of_the_library() -> None:
    def classes(x):
        queue, items = deque([x[0]]), defaultdict(list)
        return x[0] * isinstance(queue, deque) * isinstance(items, dict) * isinstance(queue, list)

    check(classes, x4)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: deque([x[0], x[1]]), "a `deque` cannot be returned"),
        (lambda x: defaultdict(float, {"a": x[0]}), "a `defaultdict` cannot be returned"),
    ],
)
def test_they_are_not_returned(function, what) -> None:
    with pytest.raises(errors.UnsupportedError, match=what):
        gs.vjp(function, x4)


def test_heaps_are_those_of_the_library() -> None:
    rng = np.random.default_rng(0)
    for size in range(12):
        items = rng.integers(0, 6, size).tolist()
        own, other = list(items), list(items)
        standard_functions.heapify(own)
        heapq.heapify(other)
        assert own == other
        for item in rng.integers(0, 6, 4).tolist():
            standard_functions.heappush(own, item)
            heapq.heappush(other, item)
            assert own == other
            pushed = standard_functions.heappushpop(own, 3), heapq.heappushpop(other, 3)
            assert own == other
            replaced = standard_functions.heapreplace(own, 2), heapq.heapreplace(other, 2)
            assert own == other
            for a, b in (pushed, replaced):
                assert a == b
        while other:
            assert standard_functions.heappop(own) == heapq.heappop(other)
            assert own == other


def between(xs, ys, x):
    i = bisect.bisect(xs, x) - 1
    j = bisect.bisect_left(xs, x, 1)
    return ys[i] + (x - xs[i]) * (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) * ys[j]


@pytest.mark.parametrize("kind", [list, np.array])
def test_places_are_found_by_bisection(kind):
    check(between, kind([0.0, 1.0, 2.0, 3.0]), [1.0, 2.0, 4.0, 8.0], 1.3)


def test_queues_are_those_of_the_library() -> None:
    for maxlen in (None, 0, 1, 3):
        own, other = standard_classes.Queue([1, 2, 3, 4], maxlen), deque([1, 2, 3, 4], maxlen)
        for change in (
            lambda q: q.append(5),
            lambda q: q.appendleft(6),
            lambda q: q.extendleft([7, 8]),
            lambda q: q.rotate(2),
            lambda q: q.rotate(-1),
            lambda q: q.reverse(),
        ):
            change(own)
            change(other)
            assert own.held == list(other)


def counted_text(text, x):
    counts = Counter(text)
    total = -sum((n / len(text)) ** x * math.log(n / len(text)) for n in counts.values())
    first, second = counts.most_common(2)
    return total + counts[first[0]] * x + second[1] + counts["?"]


def counted_numbers(keys, x):
    counts = Counter(keys)
    ((key, most),) = counts.most_common(1)
    counts.update([5, 5])
    return x**key * most + sum(n * x for n in counts.values()) + counts.total() + (9 in counts)


def counted_one_by_one(keys, x):
    counts = Counter()
    for key in keys:
        counts[key] += 1
    return sum(n * x**key for key, n in sorted(counts.items())) + counts[77]


def summed_by_key(keys, x):
    sums = Counter()
    for key in keys:
        sums[key] += x * x
    return sums[1] + sums[2] * x


def counted_arrays(x):
    held = np.ones(4)
    counts = Counter(a=held)
    held[1] = x[0]
    counts.update({"a": x, "b": x[2]})
    held[2] = x[1]
    return np.sum(counts["a"] * x) * counts["b"]


def counts_of_counters(x):
    counts = Counter(Counter(a=x[0]))
    for i in range(3):
        counts.update({"a": x[i]})
    return counts["a"] * x[3]


def test_a_counter_counts() -> None:
    check(counted_text, "abracadabra", 1.5)
    for of_arrays in (counted_arrays, counts_of_counters):
        check(of_arrays, x4)
    for function in (counted_numbers, counted_one_by_one, summed_by_key):
        check(function, [1, 2, 2, 3, 3, 3], 1.5)


def weighted(items):
    total = 0.0
    for position, value in enumerate(items.values()):
        total = total + (position + 1) * value
    return total


def moved_to_each_end(x):
    items = collections.OrderedDict(a=x[0], b=x[1], c=x[2])
    items.move_to_end("a")
    items.move_to_end("c", last=False)
    return weighted(items) * (list(items) == ["c", "b", "a"])


def moved_on_one_path(x):
    items = collections.OrderedDict(a=x[0], b=x[1], c=x[2])
    if x[0] > 0:
        items.move_to_end("a")
    else:
        items.move_to_end("c", False)
    return weighted(items)


def moved_in_turns(x):
    items = collections.OrderedDict()
    for i in range(7):
        items[i % 3] = x[i % 4] * i
    for key in (1, 0):
        items.move_to_end(key, last=key == 0)
    return weighted(items)


def moved_under_an_equal_key(x):
    items = collections.OrderedDict([(1, x[0]), (2, x[1])])
    items.move_to_end(True)
    return weighted(items) * (list(items)[-1] is not True)


def moved_and_missing(x):
    items = collections.OrderedDict(a=x[0])
    try:
        items.move_to_end("b")
    except KeyError:
        return x[1] * 5
    return x[0]


def moved_in_copies(x):
    items = collections.OrderedDict(a=x[0], b=x[1])
    total = weighted(items)
    for other in (items.copy(), copy.copy(items), copy.deepcopy(items), items | {"b": x[2]}):
        other.move_to_end("a")
        total = total * weighted(other)
    return total + weighted(items)


@pytest.mark.parametrize(
    "function",
    [moved_to_each_end, moved_on_one_path, moved_in_turns, moved_under_an_equal_key,
     moved_and_missing, moved_in_copies],
)  # fmt: skip
def test_items_of_an_ordered_dict_are_moved_to_its_ends(function) -> None:
    check(function, x4)


def test_an_ordered_dict_is_told_from_a_dict() -> None:
    def told(x):
        items, computed = collections.OrderedDict(a=x[0]), collections.OrderedDict()
        for i in range(len(x)):
            computed[i % 2] = x[i]
        ordered = isinstance(items, collections.OrderedDict) and type(items) is not dict
        plain = type(dict(items)) is dict and type(dict(computed)) is dict
        return x[0] * ordered * plain * isinstance(computed, collections.OrderedDict)

    check(told, x4)


def test_a_dict_has_no_end_to_move_items_to() -> None:
    def moved(x):
        items = {"a": x[0]}
        items.move_to_end("a")
        return items["a"]

    with pytest.raises(gs.errors.UnsupportedError, match="`move_to_end` is not supported"):
        gs.grad(moved)(x4)


def first_in(x):
    items = collections.OrderedDict(a=x[0], b=x[1])
    try:
        return items.popitem(last=False)[1]
    except TypeError:
        return x[0] * 5


def inserted(x):
    items = collections.deque(x)
    try:
        items.insert(0, x[1])
    except AttributeError:
        return x[0] * 5
    return items[0]


def equal(x):
    return x[0] if collections.deque([1]) == collections.deque([1]) else x[1]


def equal_counts(x):
    return x[0] if collections.Counter(a=1, b=0) == collections.Counter(a=1) else x[1]


@pytest.mark.parametrize("function", [first_in, inserted, equal, equal_counts])
def test_what_only_the_class_of_python_has_is_refused_and_raises_nothing(function):
    with pytest.raises(gs.errors.UnsupportedError, match="is not supported"):
        gs.grad(function)(np.array([2.0, 3.0]))


def test_containers_are_not_none():
    gradient = gs.grad(lambda x: x[0] if collections.deque([1]) == None else x[1])
    assert gradient(np.array([2.0, 3.0])).tolist() == [0, 1]


def ordered_items(x):
    return {"one": collections.OrderedDict(a=x[0], b=x[1] * x[1]), "two": x[0]}


def test_an_ordered_dict_is_given_back_as_one():
    result, pullback = gs.vjp(ordered_items, np.array([2.0, 3.0]))
    assert result == ordered_items([2.0, 3.0])
    assert type(result["one"]) is collections.OrderedDict
    (cotangent,) = pullback({"one": {"a": 1.0, "b": 1.0}, "two": 1.0})
    assert cotangent.tolist() == [2, 6]


def test_an_ordered_dict_is_written_as_one():
    def function(x):
        return x[0] if str(collections.OrderedDict(a=1)).startswith("Ordered") else x[1]

    assert gs.grad(function)(np.array([2.0, 3.0])).tolist() == [1, 0]


def test_a_container_has_the_attributes_of_its_class_alone():
    def function(x):
        made = [collections.deque(), collections.Counter(), collections.defaultdict(float)]
        return x[0] if any(hasattr(each, "held") for each in made) else x[1]

    assert gs.grad(function)(np.array([2.0, 3.0])).tolist() == [0, 1]


def test_an_attribute_that_a_container_does_not_have_is_not_stored():
    def function(x):
        queue = collections.deque()
        try:
            queue.cost = x[0]
        except AttributeError:
            return x[1]
        return queue.cost

    with pytest.raises(errors.UnsupportedError, match="`cost` of a deque made in the function"):
        gs.grad(function)(np.array([2.0, 3.0]))
