"""Idioms of numerical programs: texts that show values, states with names, other spellings."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees, check

x4 = np.array([0.5, -1.5, 2.0, 0.25])
A34 = np.linspace(-1.0, 2.0, 12).reshape(3, 4) ** 3
w3 = np.array([0.7, 1.3, 0.9])


# -- texts ----------------------------------------------------------------------------------


def shows_progress(x, n):
    for i in range(n):
        x = np.tanh(x) * 1.5
        if i % 2 == 0:
            print("iteration %d / %d: loss %f" % (i, n, x.sum()))
            print("cost after {}: {:.3f}, {name}".format(i, np.squeeze(x.sum()), name=n))
            print("mean %.2f" % x.mean(), ", ".join(["%.1f" % v for v in x]))
    return x.sum()


def test_texts_that_show_values_are_no_obstacle(capsys: pytest.CaptureFixture[str]) -> None:
    check(shows_progress, x4, 3)
    shown = capsys.readouterr().out.splitlines()
    assert shown[:6] == shown[6:12]


def key_by_percent(p):
    total = 0.0
    for i in (1, 2):
        total += p["W%d" % i].sum() * p["%s%d" % ("b", i)] + p["W{}".format(i)][0]
    return total


def test_a_text_of_known_parts_is_a_key() -> None:
    check(key_by_percent, {"W1": x4, "W2": x4 * 2, "b1": 0.5, "b2": 2.0})


# -- parts ----------------------------------------------------------------------------------


def heads(x):
    qkv = np.split(x, 2, axis=-1)
    first, second = [np.split(part, 2, axis=-1) for part in qkv]
    left, right = np.split(second[0], [1], -2)
    return (first[0] * first[1]).sum() + left.sum() * right.sum()


def test_split_counts_axes_from_the_end_too() -> None:
    check(heads, A34)


def uneven(x):
    try:
        a, b = np.split(x, 2)
    except ValueError:
        return x.sum()
    return (a * b).sum()


def test_split_into_unequal_parts_raises_as_in_numpy() -> None:
    check(uneven, A34)
    check(uneven, A34[:2])


# -- states with names ------------------------------------------------------------------------


def hysteresis(x, threshold):
    state = "low"
    counts = {"low": 0, "high": 0}
    total = 0.0
    for v in x:
        if state == "low" and v > threshold:
            state = "high"
        elif state == "high" and v < -threshold:
            state = "low"
        counts[state] += 1
        total += v * (2 if state == "high" else 0.5)
    return total + counts["high"]


def test_a_state_machine_has_as_many_states_as_it_names() -> None:
    check(hysteresis, x4, 0.2)


def reaction_rates(c, k):
    index = {"A": 0, "B": 1, "C": 2}
    reactions = [({"A": 1}, {"B": 1}), ({"B": 1}, {"A": 1}), ({"A": 1, "B": 1}, {"C": 1})]
    for _ in range(2):
        change = np.zeros(3)
        for number, (reactants, products) in enumerate(reactions):
            rate = k[number]
            for name, order in reactants.items():
                rate = rate * c[index[name]] ** order
                change[index[name]] -= rate
            for name in products:
                change[index[name]] += rate
        c = c + 0.1 * change
    return (c**2).sum()


def test_dicts_of_other_keys_in_each_iteration_of_an_inner_loop() -> None:
    check(reaction_rates, np.array([1.0, 0.5, 0.25]), np.array([0.8, 0.1, 0.3]))


# -- arrays without axes ----------------------------------------------------------------------


def costs_without_axes(x, n):
    costs = []
    for _ in range(n):
        x = np.tanh(x) * 1.5
        costs.append(np.squeeze(np.sum(x**2, keepdims=True)))
    return costs[-1] * costs[0] + costs[-1]


def test_lists_of_arrays_without_axes_have_derivatives() -> None:
    check(costs_without_axes, A34, 3)


def renamed_sum(x):
    c = x[0:1].reshape(())
    c = c + 1
    return c * x[0]


def test_a_sum_under_the_name_of_an_array_without_axes_does_not_change_it() -> None:
    check(renamed_sum, x4)


def test_equal_strings_are_one_kind() -> None:
    from gradscribe.frontend.values.values import Static

    def value(text: Any) -> Static:
        return Static(text)

    assert hash(value("".join(["lo", "w"]))) == hash(value("low"))
    assert value("".join(["lo", "w"])) == value("low")
    assert value(1) != value(True)


# -- dicts with computed keys ------------------------------------------------------------------


def states_by_time(W, xs):
    hs = {}
    hs[-1] = np.zeros(len(W))
    for t in range(len(xs)):
        hs[t] = np.tanh(W @ hs[t - 1] + xs[t])
    return hs[len(xs) - 1].sum() + hs[0][0]


def table_by_pairs(a, b):
    table = {}
    for i in range(len(a)):
        table[i, -1] = float("inf")
    for j in range(len(b)):
        table[-1, j] = float("inf")
    table[-1, -1] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            best = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
            table[i, j] = (a[i] - b[j]) ** 2 + best
    return table[len(a) - 1, len(b) - 1]


def grouped(x, keys):
    sums, counts = {}, {}
    for v, k in zip(x, keys):
        if k in sums:
            sums[k] += v
        else:
            sums[k] = v
        counts[k] = counts.get(k, 0) + 1
    return sum((s / counts[k]) ** 2 for k, s in sums.items()) + len(sums)


def grouped_by_exceptions(x):
    d = {}
    for i in range(len(x)):
        try:
            d[i // 2] += x[i]
        except KeyError:
            d[i // 2] = x[i]
    return sum(v**2 for v in d.values())


def one_hot_columns(W, inputs):
    xs = {}
    s = 0
    for t in range(len(inputs)):
        xs[t] = np.zeros((4, 1))
        xs[t][inputs[t]] = 1
        s += (W @ xs[t]).sum() * (t + 1)
    return s**2


def stored_through_an_item(x):
    d = {}
    for i in range(len(x)):
        d[i] = x * i
    w = d[2]
    w[0] = 5.0
    return (d[2] * d[3]).sum()


def appended_to_items(x):
    groups = {i: [] for i in range(3)}
    for i in range(len(x)):
        groups[i % 3].append(x[i])
    return sum(sum(groups[i]) ** 2 for i in range(3))


def taken_out(x, n):
    d = {}
    for i in range(n):
        d[i * i] = x[i] ** 2
    del d[1]
    first = d.pop(0)
    return first * sum(d.values()) + d.setdefault(7, x[0])


class Recorder:
    def __init__(self, w):
        self.w = w
        self.cache = {}

    def run(self, x):
        for i in range(len(x)):
            self.cache[i] = np.tanh(self.w * x[i])
        return sum(self.cache[i] for i in range(len(x)))


def recorded(w, x):
    return Recorder(w).run(x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (states_by_time, (np.eye(3) + 0.5, A34.T)),
        (table_by_pairs, (x4, x4[:3] * 2)),
        (grouped, (x4, np.array([3, 1, 3, 1]))),
        (grouped_by_exceptions, (x4,)),
        (one_hot_columns, (A34, [0, 2, 3, 1])),
        (stored_through_an_item, (x4,)),
        (appended_to_items, (x4,)),
        (taken_out, (x4, 4)),
        (recorded, (0.7, x4)),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_dicts_with_computed_keys(function: Any, args: tuple[Any, ...]) -> None:
    agrees(function, *args)


def updated_copy(x):
    held = {}
    for i in range(len(x)):
        held[i] = x[i] ** 2
    copied = dict(held)
    for i in range(len(x)):
        copied[i] += held[i] * x[0]
    held.update({0: x[1], 7: x[2]})
    return sum(k * v for k, v in copied.items()) + held[0] * held[7]


def test_dicts_with_computed_keys_are_copied_and_updated():
    agrees(updated_copy, np.array([1.0, 2.0, 3.0]))


def test_a_computed_key_that_is_missing_raises_as_in_python() -> None:
    def missing(x, n):
        d = {}
        for i in range(n):
            d[i] = x[i]
        return d[n]

    with pytest.raises(KeyError):
        gs.vjp(missing, x4, 3)


def test_a_dict_with_computed_keys_is_not_returned() -> None:
    def by_number(x):
        d = {}
        for i in range(len(x)):
            d[i] = x[i]
        return d

    with pytest.raises(gs.errors.UnsupportedError, match="keys are computed cannot be returned"):
        gs.vjp(by_number, x4)


# -- sets, enumerations, empty sums --------------------------------------------------------------


class Drag(Enum):
    LINEAR = 1
    QUADRATIC = 2


def every_member(v, c):
    for mode in Drag:
        v = v - c * (v if mode is Drag.LINEAR else v * np.abs(v))
    return (v**2).sum()


def vocabulary(x):
    words = ["i", "like", "i", "fly"]
    index = {word: i for i, word in enumerate(sorted(set(words)))}
    return sum(x[index[word]] ** 2 for word in words) * len(set(words))


def bootstrapped(rates):
    factors = []
    for rate in rates:
        annuity = sum(factors)
        factors.append((1 - rate * annuity) / (1 + rate))
    return factors[-1]


def tridiagonal(a, b):
    M = -np.diag(a[1:], -1) + np.diag(1 + b) - np.diag(a[:-1], 1)
    return np.linalg.solve(M, b)[0]


def jittered(x):
    rng = np.random.default_rng(0)
    return (x + rng.uniform(low=-0.05, high=0.05, size=(4,))).prod()


def converted_without_copy(v):
    w = v * 2
    u = w.astype(v.dtype, copy=False)
    u[0] = 3.0
    z = w.astype(np.float64, copy=True)
    z[1] = 5.0
    return (u * w * z).sum()


def between_whole_numbers(y):
    return np.interp(np.linspace(0.1, 2.7, 5), np.arange(4), y).prod()


def copied_rows(A):
    d = list(map(lambda row: list(map(lambda a: a * 2, row)), A))
    return d[0][1] * max(max(row) for row in d) + sorted(sorted(row)[0] for row in d)[1]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (copied_rows, (A34,)),
        (between_whole_numbers, (x4,)),
        (every_member, (x4, 0.3)),
        (vocabulary, (x4,)),
        (bootstrapped, ([0.01, 0.015, 0.02],)),
        (tridiagonal, (x4 / 5, x4 + 2)),
        (jittered, (x4,)),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_small_idioms(function: Any, args: tuple[Any, ...]) -> None:
    agrees(function, *args)


def test_astype_may_leave_the_array_as_it_is() -> None:
    check(converted_without_copy, x4)


# -- choices before poles --------------------------------------------------------------------------


def truncated_variance(v, z):
    S = np.ones(len(v))
    for i in range(2):
        positive = np.maximum(v, 0)
        S = S * np.exp(np.sqrt(positive * 0.1) * z[i])
        v = v + 0.5 * (0.2 - positive) * 0.1
    return S.sum()


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize(
    "root",
    [
        lambda v: np.sqrt(np.maximum(v, 0) * 2.0).sum(),
        lambda v: np.sqrt(np.clip(v, 0, 9)).sum(),
        lambda v: np.sqrt(np.where(v > 0, v, 0)).sum(),
        lambda v: np.log(1 - np.minimum(v, 1)[v < 1]).sum() + np.arcsin(np.clip(v, -1, 1)).sum(),
    ],
    ids=["maximum", "clip", "where", "minimum"],
)
def test_what_a_choice_leaves_out_has_no_derivative_even_at_a_pole(root: Any) -> None:
    gs.testing.check_grad(root, np.array([0.5, -1.5, 2.0, 0.25]), order=1)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_variances_that_are_cut_off_at_zero() -> None:
    v = np.array([0.04, -0.1, 0.2])
    gs.testing.check_grad(truncated_variance, v, A34[:2, :3])


# -- other spellings ------------------------------------------------------------------------------


def options_of_array(w: Any) -> Any:
    copied, same = np.array(w, copy=True), np.array(w, copy=None)
    copied[0] = 1.0
    row = np.array(w, ndmin=2)
    return np.sum(copied * same * row) + np.array(w[0] * 2, ndmin=1)[0]


def methods_of_the_class(w: Any) -> Any:
    values: list[Any] = []
    copied = np.ndarray.copy(w)
    copied[0] = 2.0
    list.append(values, w[1] ** 2)
    return np.ndarray.sum(copied * w) + values[0]


def reductions_by_a_ufunc(w: Any) -> Any:
    rows = np.logaddexp.reduce(w.reshape(3, 1) * w, axis=1)
    return np.logaddexp.reduce(rows) * np.hypot.reduce(rows)


@pytest.mark.parametrize(
    "function", [options_of_array, methods_of_the_class, reductions_by_a_ufunc]
)
def test_other_spellings(function: Any) -> None:
    check(function, w3)


# -- arrays that are joined by an index -----------------------------------------------------------


def joined_by_index(x, y, n):
    total = np.r_[x, y[0], 0.5, 1:3] @ np.arange(7.0)
    for i in range(n):
        total += np.sum(x[np.r_[0:i, i + 1 : n]] * i)
    columns = np.c_[x, y, np.ones(3)]
    return total + np.sum(columns @ np.r_[0:1:3j]) + np.r_[[0.0], x[:2]][1]


def test_arrays_are_joined_by_index():
    check(joined_by_index, np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), 3)


def test_numbers_that_would_take_the_type_of_arrays_are_not_joined_with_them():
    with pytest.raises(gs.errors.UnsupportedError, match="numbers beside arrays of this type"):
        gs.vjp(lambda x: np.r_[x, 1.0], np.ones(2, np.float32))
