"""Lists, dicts and tuples: what their methods, operators and items do is what Python does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.frontend.oracles import agrees, check

x3 = np.array([0.5, -1.5, 2.0])
A34 = np.linspace(-1.0, 2.0, 12).reshape(3, 4)


def filled(x, n):
    out = [0.0] * n
    out[0] = x[0]
    for i in range(1, n):
        out[i] = out[i - 1] * 0.9 + x[i % 3]
    return out[-1] * out[n // 2]


def inserted_and_popped(xs):
    ys = list(xs)
    ys.insert(0, xs[0] * 2)
    ys.insert(2, 5.0)
    a = ys.pop(1)
    ys.reverse()
    return sum(y * i for i, y in enumerate(ys)) * a


def queue(xs, w):
    waiting = [x for x in xs]
    total = 0.0
    while waiting:
        v = waiting.pop(0)
        total += v * w
        if v > 1.6:
            waiting.append(v * 0.5)
    return total


def stack(xs, w):
    waiting = xs[:]
    total = 0.0
    while len(waiting) > 0:
        v = waiting.pop()
        total += v * v * w
    return total


def sorting(xs):
    ys = sorted(xs)
    zs = sorted(xs, reverse=True)
    ws = sorted(xs, key=lambda v: -v * v)
    return ys[0] * 2 + zs[0] * 3 + ws[1] * ws[2]


def sorted_pairs(xs):
    s = sorted([(v * v, i) for i, v in enumerate(xs)])
    return sorted([xs[0], xs[1], xs[2]])[0] * s[0][0] * s[1][1]


def sorted_in_place(xs):
    ys = xs[:]
    ys.sort(key=lambda v: -v)
    return ys[0] - ys[1] * ys[2]


def bubble_sorted(xs):
    L = xs[:]
    for i in range(len(L)):
        for j in range(len(L) - 1):
            if L[j] > L[j + 1]:
                L[j], L[j + 1] = L[j + 1], L[j]
    return L[0] + 2 * L[1] + L[2] * L[2]


def extremes(xs):
    return min(xs) * max(xs) + max(xs, key=lambda v: abs(v - 2.1))


def largest_array(xs):
    best = max(xs, key=lambda v: np.sum(v))
    return np.sum(best**2)


def largest_or_default(xs):
    return max([x * x for x in xs if x > 10], default=3.0) * xs[0]


def slices(xs):
    a, b, c, d, e = xs[1:], xs[:-1], xs[::2], xs[::-1], xs[:]
    e[0] = 10.0
    return sum(u * v for u, v in zip(a, b)) + c[1] * d[0] + xs[0] * e[1]


def slices_at_run_time(xs, k):
    return sum(xs[:k]) * sum(xs[k:]) + sum(xs[-k:])


def zipped_with_reversed(xs):
    return sum(a * b * b for a, b in zip(xs, reversed(xs)))


def joined(xs):
    ys = xs + [5.0] + [x * 2 for x in xs]
    return sum(y * i for i, y in enumerate(ys))


def extended(xs):
    ys = [0.5]
    ys.extend(xs)
    ys += [x * x for x in xs]
    ys.extend(x + 1 for x in xs)
    return sum(y * i for i, y in enumerate(ys))


def starred(xs):
    a, *rest = xs
    b = [*rest, a, *rest]
    return a * sum(rest) + b[1] * b[2]


def dict_methods(d):
    e = {**d, "c": d["a"] * d["b"]}
    e.update({"a": e["c"] * 2})
    e["d"] = e.get("z", 1.5) * e["a"]
    q = e.pop("b")
    s = e.setdefault("k", q * q)
    for k in e:
        q += e[k]
    if "a" in d and "zz" not in d:
        q *= 2
    del e["k"]
    return q + s + len(e)


def parameters(p, x):
    return np.sum(np.tanh(x @ p["w"])) + sum(np.sum(v**2) for v in p.values())


def as_list(x):
    ys = x.tolist()
    return ys[0] * ys[1] + sum(ys)


def list_of_array(x):
    a, b = list(x), tuple(x)
    return a[0] * a[1] + b[2] * len(b)


def rows_of_array(A):
    rows = list(A)
    return sum(np.sum(r * i) for i, r in enumerate(rows))


def deleted(xs):
    ys = xs[:]
    del ys[0]
    ys.append(xs[0] * xs[1])
    del ys[-1]
    del ys[:1]
    return sum(ys) * 2


def deleted_at_run_time(xs, i):
    ys = xs[:]
    del ys[i]
    v = ys.pop(i)
    ys.insert(i, v * v)
    ys[i] *= 3
    return sum(y * k for k, y in enumerate(ys, 1))


def two_names_of_one_list(x):
    a = [x[0]]
    b = a
    b.append(x[1])
    c = list(a)
    c.append(x[2] * 5)
    return sum(a) * sum(b) + sum(c)


def one_row_twice(x):
    row = [0.0, 0.0]
    T = [row, row]
    T[0][0] = x[0]
    return T[1][0] * 3 + row[0]


def one_array_twice(x):
    y = x * 2
    L = [y, y]
    L[0][1] = 7.0 * x[0]
    return np.sum(L[1] ** 2)


def grown_and_stacked(x, n):
    hs = [x]
    for i in range(n):
        hs.append(np.sin(hs[-1]) * hs[i])
    return np.sum(np.stack(hs) * np.arange(n + 1.0)[:, None])


def appended_under_a_condition(x, n):
    positive, negative = [], []
    for i in range(n):
        v = x[i % 3] * (i + 1)
        if v > 0:
            positive.append(v)
        else:
            negative.append(v)
            negative.append(v * 2)
    return sum(positive) * sum(negative) + len(positive)


def ragged(L):
    return sum(sum(r) * len(r) for r in L)


def list_of_tuples(L):
    return sum(a * np.sum(b * b) for a, b in L)


def flags(x):
    found = [v > 0 for v in x]
    return x[0] * any(found) + x[1] * all(found) + sum(found) * x[2]


def nested_dict(x):
    d = {"a": {"w": x * 2, "b": x[0]}, "b": [x, x * 3]}
    d["a"]["w"][0] = 5.0
    d["b"][1] = d["b"][1] * d["a"]["b"]
    return np.sum(d["a"]["w"]) * np.sum(d["b"][1])


def list_replaced_in_a_loop(x, n):
    ps = [x, x * 2]
    for k in range(n):
        ps = [p - 0.1 * p**2 for p in ps]
    return np.sum(ps[0]) * np.sum(ps[1])


def loop_over_floats(xs):
    total = 0.0
    for x in xs:
        if x > 1.5:
            total += np.sin(x)
        else:
            total += x
    return total * np.array(xs).sum()


def static_set(xs):
    keep = {0, 2}
    return sum(x for i, x in enumerate(xs) if i in keep)


def swapped(x):
    L = [x[0], x[1], x[2]]
    i, j = 0, 2
    L[i], L[j] = L[j], L[i]
    return L[0] * 2 + L[2]


def repeated_array(x, A):
    return np.sum(np.array([x] * 3) * A[:, :3])


def table(x):
    n = len(x)
    T = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            T[i][j] = x[i] * x[j]
            if i > 0:
                T[i][j] += T[i - 1][j]
    return T[n - 1][n - 1] * T[1][0]


def alignment(a, b):
    n, m = len(a), len(b)
    D = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i][j] = min(D[i - 1][j], D[i][j - 1], D[i - 1][j - 1]) + abs(a[i - 1] - b[j - 1])
    return D[n][m]


def elimination(A, b):
    A = [list(row) for row in A]
    n = len(b)
    for k in range(n):
        p = max(range(k, n), key=lambda r: abs(A[r][k]))
        A[k], A[p] = A[p], A[k]
        for i in range(k + 1, n):
            m = A[i][k] / A[k][k]
            for j in range(k, n):
                A[i][j] -= m * A[k][j]
    result = b[0]
    for k in range(n):
        result *= A[k][k]
    return result


def row_by_name(x, n):
    T = [[0.0] * 3 for _ in range(n)]
    for i in range(n):
        row = T[i]
        for j in range(3):
            row[j] = x[j] * (i + 1)
        if i > 0:
            row[0] += T[i - 1][1]
    return T[n - 1][0] * T[0][2]


def grouped(x, n):
    groups = [[] for _ in range(2)]
    for i in range(n):
        groups[i % 2].append(x[i % 3] * i)
    return sum(groups[0]) * sum(groups[1]) + len(groups[0])


def arrays_changed_through_their_list(ps, x):
    ps = [p.copy() for p in ps]
    for p in ps:
        p -= 0.1 * p**2
    ps[0][1, 2] = x[0] * 3
    for i, p in enumerate(ps):
        p[0] *= x[1] * (i + 1)
    return sum(np.sum(p * p) for p in ps)


def items_replaced_while_iterated(xs):
    L = list(xs)
    for i, x in enumerate(L):
        L[i] = x * x
        if i + 1 < len(L):
            L[i + 1] += L[i]
    return sum(L)


def integers_among_floats(x, n):
    L = [x]
    for i in range(n):
        L.append(len(L))
    L[1] = x * 3
    return sum(L) * x


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (table, (x3,)),
        (alignment, (x3, x3[::-1] * 2)),
        (row_by_name, (x3, 3)),
        (grouped, (x3, 5)),
        (arrays_changed_through_their_list, ([A34, A34 * 2], x3)),
        (items_replaced_while_iterated, ([0.5, 1.5, -0.5],)),
        (integers_among_floats, (1.5, 3)),
        (filled, (x3, 20)),
        (inserted_and_popped, ([1.0, 2.0, 3.0],)),
        (queue, ([1.0, 2.0, 3.5], 1.5)),
        (stack, ([1.0, 2.0, 3.0], 1.5)),
        (sorting, ([3.0, 1.0, 2.0],)),
        (sorting, (x3,)),
        (sorted_pairs, ([0.5, -1.5, 2.0, 0.3],)),
        (sorted_in_place, ([3.0, 1.0, 2.0],)),
        (bubble_sorted, ([3.0, 1.0, 2.0],)),
        (extremes, ([3.0, 1.0, 2.0],)),
        (largest_array, ([x3, x3 * 2, x3 - 1],)),
        (largest_or_default, ([1.0, 2.0],)),
        (largest_or_default, ([1.0, 12.0],)),
        (slices, ([1.0, 2.0, 3.0, 4.0],)),
        (slices_at_run_time, ([1.0, 2.0, 3.0, 4.0], 2)),
        (zipped_with_reversed, ([1.0, 2.0, 3.0],)),
        (joined, ([1.0, 2.0, 3.0],)),
        (extended, ([1.0, 2.0, 3.0],)),
        (starred, ([1.0, 2.0, 3.0],)),
        (dict_methods, ({"a": 1.0, "b": 2.0},)),
        (parameters, ({"w": A34, "b": x3}, x3)),
        (as_list, (x3,)),
        (list_of_array, (x3,)),
        (rows_of_array, (A34,)),
        (deleted, ([1.0, 2.0, 3.0],)),
        (deleted_at_run_time, ([1.0, 2.0, 3.0], 1)),
        (two_names_of_one_list, (x3,)),
        (one_row_twice, (x3,)),
        (one_array_twice, (x3,)),
        (grown_and_stacked, (x3, 5)),
        (appended_under_a_condition, (x3, 5)),
        (ragged, ([[1.0, 2.0], [3.0]],)),
        (list_of_tuples, ([(1.0, x3), (2.0, x3 * 3)],)),
        (flags, (x3,)),
        (nested_dict, (x3,)),
        (list_replaced_in_a_loop, (x3, 3)),
        (loop_over_floats, ([1.0, 2.0, 3.0],)),
        (static_set, ([1.0, 2.0, 3.0],)),
        (swapped, (x3,)),
        (repeated_array, (x3, A34)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_containers_are_pythons(function: Any, args: Any) -> None:
    check(function, *args)


def row_kept_outside(x):
    row = [0.0, x[0]]
    T = []
    for _ in range(3):
        T.append(row)
    T[0][0] = x[1]
    return T[2][0] + row[1]


def row_changed_after_append(x, n):
    row = [x[0]]
    T = []
    for _ in range(n):
        T.append(row)
    row.append(x[1])
    return sum(T[0])


def array_in_two_lists(x, n):
    one = [x * i for i in range(n)]
    two = one[:]
    one[0][0] = 5.0
    return np.sum(two[0])


def item_of_a_changed_list(x, n):
    L = [x * i for i in range(n)]
    p = L[0]
    L.reverse()
    p[0] = 5.0
    return np.sum(L[0])


def descent(a, b, c, n):
    ps = [a, b, c]
    for _ in range(n):
        slopes = [np.sin(p) + p for p in ps]
        for p, g in zip(ps, slopes, strict=True):
            p -= 0.1 * g
        for i in range(len(ps)):
            ps[i] = ps[i] - 0.01 * slopes[i]
    return np.sum(ps[0]) + 2 * np.sum(ps[1]) + np.sum(ps[2] ** 2)


def row_at_run_time(a, b, k):
    rows = [a * 1, b * 1]
    first = rows[0]
    rows[k][0] = 3.0 * first[1]
    return np.sum(first * rows[1])


def rows_with_names(a, b, n):
    a = a * 1
    rows = [a, b * 1]
    for i in range(n):
        rows[i][0] *= rows[i - 1][1]
    return np.sum(a) + 2 * np.sum(rows[1])


def rows_of_an_argument(rows, k):
    for row in rows:
        row *= 2
    rows[k][1] += rows[0][0]
    return np.sum(rows[0]) + np.prod(rows[1])


def literal_table(x, n):
    T = [[0.0, 1.0], [x[0], 0.0]]
    for i in range(n):
        T[i % 2][(i + 1) % 2] += x[i % 3] * (i + 1)
    T[0][0] = T[1][0] * 3
    return T[0][0] + T[1][0] * T[0][1]


def buckets(x):
    found = [[], [], []]
    for i in range(len(x)):
        found[i % 2].append(x[i] ** 2)
    return sum(found[0]) * sum(found[1]) + len(found[2])


def grown_from_its_last(a, b, n):
    L = [a * 1]
    for i in range(n):
        L.append(L[-1] * b)
        L[i][0] *= 2
    L[1][1] += L[2][0]
    return sum(np.sum(v) for v in L)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (descent, (x3, x3 * 2, x3 + 1, 3)),
        (row_at_run_time, (x3, x3 + 1, 0)),
        (row_at_run_time, (x3, x3 + 1, 1)),
        (rows_with_names, (x3, x3 + 1, 2)),
        (rows_of_an_argument, ([x3, x3 + 1], 1)),
        (literal_table, (x3, 3)),
        (buckets, (x3,)),
        (grown_from_its_last, (x3, x3 + 1, 3)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_items_of_a_list_are_changed_each_for_itself(function: Any, args: Any) -> None:
    check(function, *args)


def keys_of_one_path(x, limit):
    found = {"b": x[0]}
    if x[0] > limit:
        found["a"] = x[1]
    if "a" in found:
        found["b"] = found["b"] * 3.0
    return sum(found.values()) * len(found)


def key_deleted_on_one_path(x, limit):
    found = {"b": x[0], "a": x[1]}
    if x[0] > limit:
        del found["a"]
    return sum(found.values()) * len(found)


def visited(x, start):
    following = [[1, 2], [2], [0]]
    seen, waiting, total = {start}, [start], 0.0
    while waiting:
        i = waiting.pop()
        total += x[i] ** 2 * len(seen)
        for j in following[i]:
            if j not in seen:
                seen.add(j)
                waiting.append(j)
    return total


def each_once(x):
    seen = set()
    total = 0.0
    for i in [0, 1, 1, 2, 0]:
        if i not in seen:
            seen.add(i)
            total += x[i] ** 2
    return total * len(seen)


def named_in_a_test(x):
    total, i = 0.0, 0
    while (v := x[i]) < 1.5:
        total += v
        i += 1
        if v < -1.0:
            continue
        total *= 2.0
    return total + v


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (keys_of_one_path, (x3, 0.0)),
        (keys_of_one_path, (x3, 1.0)),
        (key_deleted_on_one_path, (x3, 0.0)),
        (key_deleted_on_one_path, (x3, 1.0)),
        (visited, (x3, 0)),
        (visited, (x3, 2)),
        (each_once, (x3,)),
        (named_in_a_test, (x3,)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_keys_and_sets_that_differ_from_path_to_path(function: Any, args: Any) -> None:
    agrees(function, *args)


def test_an_argument_list_that_holds_one_array_twice_is_refused_at_the_call() -> None:
    gradient = gs.grad(rows_of_an_argument)
    gradient([x3, x3 + 1], 1)
    for second in (x3, x3[:]):
        with pytest.raises(errors.AliasingError, match="two of its items share memory"):
            gradient([x3, second], 1)


def test_items_of_an_argument_list_that_share_one_element_are_refused_at_the_call() -> None:
    row = np.arange(5.0)
    with pytest.raises(errors.AliasingError, match="two of its items share memory"):
        gs.grad(rows_of_an_argument)([row[:3], row[2:]], 1)


def two_in_each_iteration(x):
    items = []
    for i in range(3):
        items.append(x * i)
        items.append(x)
    return sum(items) * len(items)


def test_a_list_that_grows_by_two_has_twice_the_length() -> None:
    agrees(two_in_each_iteration, 2.0)


def added_to_each(rows, v):
    for row in rows:
        row += v
    return np.sum(rows[0] * rows[1])


def added_and_replaced(rows, v):
    for row in rows:
        row += v
    rows[0] = v
    return np.sum(rows[0])


def test_items_of_a_list_of_tensors_are_changed_in_place() -> None:
    v = gs.tensor(x3, requires_grad=True)
    rows = [gs.tensor(x3), gs.tensor(x3 + 1)]
    first, second = rows
    result = gs.differentiable(added_to_each)(rows, v)
    assert rows[0] is first and rows[1] is second
    np.testing.assert_array_equal(first.detach().numpy(), x3 * 2)
    (result + first.sum()).backward()
    np.testing.assert_allclose(v.grad.numpy(), 4 * x3 + 2)


def test_a_list_of_tensors_that_is_changed_with_its_items_is_refused() -> None:
    v = gs.tensor(x3, requires_grad=True)
    with pytest.raises(errors.AliasingError, match="changes a list and items of it"):
        gs.differentiable(added_and_replaced)([gs.tensor(x3)], v)


def tuple_swapped_in_a_loop(a, b, n):
    a, b = a * 1, b * 1
    pair = (a, b)
    for _ in range(n):
        pair = (pair[1], pair[0])
        pair[0][0] = 5 * pair[1][1]
    return np.sum(a) + 2 * np.sum(b)


def list_of_an_outer_array(a, b, n):
    b = b * 1
    L = [a * 1, a * 2]
    for _ in range(n):
        L = [b for _ in range(n)]
    L[0][0] = 5.0
    return np.sum(b)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (row_kept_outside, (x3,)),
        (tuple_swapped_in_a_loop, (x3, x3, 20)),
        (list_of_an_outer_array, (x3, x3, 3)),
        (row_changed_after_append, (x3, 3)),
        (array_in_two_lists, (x3, 3)),
        (item_of_a_changed_list, (x3, 3)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_ambiguous_items_are_refused(function: Any, args: Any) -> None:
    with pytest.raises(errors.AliasingError, match="may share memory"):
        gs.grad(function)(*args)


def changed_while_iterated(xs):
    L = [x for x in xs]
    for x in L:
        if x > 100:
            L.append(x)
    return sum(L)


def test_a_list_may_grow_while_a_loop_runs_over_it() -> None:
    check(changed_while_iterated, [1.0, 2.0])


def test_nested_items_are_changed_in_place() -> None:
    source = gs.differentiable(table).specialize(x3).gradient_source
    assert ".copy()" not in source.partition("d_T")[2]


def last_of_what_there_is(x: Any) -> Any:
    kept: list[Any] = []
    total = 0.0
    for v in x:
        if kept:
            total += kept[-1] * v
        kept.append(v)
    return total


def kept_in_order(x: Any) -> Any:
    kept: list[Any] = []
    for v in x:
        if not kept or v > kept[-1]:
            kept.append(v)
        else:
            kept[-1] = kept[-1] * v
    return sum(kept) * len(kept)


def monotone_stack(x: Any) -> Any:
    stack: list[Any] = []
    total = 0.0
    for v in x:
        while stack and stack[-1] > v:
            total += stack.pop() * v
        stack.append(v)
    return total + sum(stack) * len(stack)


def taken_of_an_empty_list(x: Any) -> Any:
    kept: list[Any] = []
    total = 0.0
    for i in range(3):
        if x[0] > 1.0:
            total += kept[-1]
        total += x[i]
    return total


@pytest.mark.parametrize(
    "function", [last_of_what_there_is, kept_in_order, monotone_stack, taken_of_an_empty_list]
)
def test_a_list_that_is_empty_at_first_is_read_where_it_is_not(function: Any) -> None:
    check(function, np.array([0.7, 1.3, 0.4, 2.1]))


def test_an_item_of_a_list_that_stays_empty_raises_as_in_python() -> None:
    with pytest.raises(IndexError, match="list index out of range"):
        gs.grad(taken_of_an_empty_list)(np.array([1.7, 1.3, 0.4, 2.1]))


def first_and_rest_of_a_list(x):
    first, *rest = [v for v in x if v > 0.6]
    return first * len(rest) + sum(rest) ** 2


def middle_of_a_list(x):
    first, *middle, last = [v for v in x if v > 0.6]
    return first * len(middle) * last + sum(middle) ** 2


def sorted_by_parts(items):
    if len(items) < 2:
        return items
    pivot, *rest = items
    below, above = [v for v in rest if v < pivot], [v for v in rest if v >= pivot]
    return sorted_by_parts(below) + [pivot] + sorted_by_parts(above)


def ends_of_sorted_parts(x):
    ordered = sorted_by_parts([v * (-1) ** i for i, v in enumerate(x)])
    return ordered[0] * ordered[1] + ordered[-1] ** 2


@pytest.mark.parametrize(
    "function", [first_and_rest_of_a_list, middle_of_a_list, ends_of_sorted_parts]
)
def test_starred_targets_take_lists_of_any_length(function):
    x = np.array([0.5, 0.9, 1.3, 1.7, 2.0])
    assert gs.vjp(function, x)[0] == function(x)
    gs.testing.check_grad(function, x)


@pytest.mark.parametrize("function", [first_and_rest_of_a_list, middle_of_a_list])
def test_starred_targets_raise_for_short_lists(function):
    with pytest.raises(ValueError, match="not enough values to unpack"):
        gs.vjp(function, np.zeros(3))


def columns_of_rows(x):
    rows = [(v, v * 2) for v in x if v > 0.6]
    first, second = zip(*rows)
    return sum(first) * second[0]


def trajectory(x):
    path, y = [], x[0]
    for i in range(len(x)):
        y = y + x[i] ** 2
        path.append((i, y, x[i]))
    steps, heights, given = zip(*path)
    return np.array(heights) @ np.array(given) + np.sum(np.array(steps) * np.array(given))


def each_column(x):
    total = 0.0
    for column in zip(*[(v, np.sin(v)) for v in x if v > 1]):
        total += sum(column) ** 2
    return total


def mapped_columns(x):
    values, squares = map(np.array, zip(*[(v, v * v) for v in x if v > 0.6]))
    return values @ squares


@pytest.mark.parametrize("function", [columns_of_rows, trajectory, each_column, mapped_columns])
def test_rows_are_zipped_to_columns(function):
    x = np.array([0.5, 0.9, 1.3, 1.7, 2.0])
    assert gs.vjp(function, x)[0] == function(x)
    gs.testing.check_grad(function, x)


def test_no_rows_have_no_columns():
    with pytest.raises(ValueError, match="no rows"):
        gs.vjp(columns_of_rows, np.zeros(3))


def lists_added(x, n):
    start = [x[0]]
    rows = sum([[v * k for v in x] for k in range(n)], start)
    return sum(v * v for v in rows) + len(rows) * len(start) * x[1]


@pytest.mark.parametrize("n", [0, 3])
def test_sum_adds_lists_to_the_one_that_it_starts_from(n):
    agrees(lists_added, x3, n)


def not_found(x):
    try:
        [1.0].index(2.0)
    except ValueError as error:
        print(error)
    try:
        [x, 1.0].index(7.0)
    except ValueError as error:
        print(error)
    try:
        [x].remove(7.0)
    except ValueError as error:
        print(error)
    return x * 2


def out_of_range(x):
    items = [x]
    try:
        items[3]
    except IndexError as error:
        print(error)
    try:
        items.pop(3)
    except IndexError as error:
        print(error)
    try:
        [].pop()
    except IndexError as error:
        print(error)
    return items[0] * 2


@pytest.mark.parametrize("f", [not_found, out_of_range])
def test_errors_of_lists_have_the_texts_that_python_gives_them(f, capsys):
    f(2.0)
    expected = capsys.readouterr().out
    assert len(expected.splitlines()) == 3
    for run in (
        lambda: gs.value_and_grad(f)(2.0),
        lambda: gs.jvp(f, (2.0,), (1.0,)),
        lambda: gs.differentiable(f)(gs.tensor(2.0, requires_grad=True)),
    ):
        run()
        assert capsys.readouterr().out == expected
    check(f, 2.0)


def of_numpys_numbers(x):
    total, held = 0.0, {0: x[0]}
    for key in (np.int64(0), np.int64(2), np.float64(1.0), np.bool_(True)):
        if key in [0, 2]:
            total += x[0]
        total += x[1] * [0, 2, 1].count(key) + (x[2] if key in (0, 2, 1) else 0.0)
        held[2] = x[1]
        held[int(key)] = x[2]
        if key in held:
            held.pop(key)
    return total + sum(held.values())


def test_numbers_of_numpy_are_among_equal_ones():
    check(of_numpys_numbers, np.array([1.1, 1.2, 1.3]))


def of_keys_of_two_kinds(x):
    held = {(0, 0): x[0], 1: x[1]}
    first = held.pop(np.int64(1), x[2])
    held[2] = x[2]
    del held[np.int64(2)]
    return first * held.pop((0, 0)) + len(held)


def test_a_number_of_numpy_is_taken_out_beside_tuples():
    check(of_keys_of_two_kinds, np.array([1.1, 1.2, 1.3]))


def of_squares_and_signs(x):
    squares = [(number * number, number > 0) for number in x.tolist()]
    total = 0.0
    for square, is_positive in squares:
        total += square if is_positive else 2 * square
    return total


def test_bools_of_python_stand_beside_numbers_in_a_list():
    check(of_squares_and_signs, np.array([1.1, -1.2, 1.3]))
