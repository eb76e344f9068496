"""Keys of dicts that have no text of their own: members of enumerations, dtypes, classes."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import gradscribe as gs
from tests.frontend.oracles import agrees

X = np.array([0.5, -1.5, 2.0])


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


FACTORS = {
    Mode.FAST: 2.0,
    Mode.SLOW: 3.0,
    np.dtype("float64"): np.array([1.0, 2.0, 3.0]),
    int: np.array([3.0, 2.0, 1.0]),
    (Mode.SLOW, np.dtype("int8")): 0.5,
    float("inf"): 1.5,
    "plain": 2.5,
}


def of_a_dict_outside(x, mode):
    y = x * FACTORS[x.dtype] * FACTORS[mode] + x**2 * FACTORS[int]
    return np.sum(y) * FACTORS[Mode.SLOW, np.dtype("int8")] * FACTORS[float("inf")]


def of_a_dict_made_inside(x, mode):
    parts = {Mode.FAST: x**2, x.dtype: np.sum(x), mode: x * 2}
    return parts[Mode.FAST] * parts[x.dtype] + parts[mode]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("function", [of_a_dict_outside, of_a_dict_made_inside])
def test_keys_without_text(function, mode):
    agrees(lambda x: function(x, mode), X)
    gs.testing.check_grad(lambda x: function(x, mode), X)


def test_a_changed_item_is_seen():
    weights = {Mode.FAST: 2.0}

    def weighted(x):
        return np.sum(x * weights[Mode.FAST])

    gradient = gs.grad(weighted)
    np.testing.assert_array_equal(gradient(X), [2.0, 2.0, 2.0])
    weights[Mode.FAST] = X
    np.testing.assert_array_equal(gradient(X), X)


def test_numbers_and_tuples_of_one_are_different_keys():
    """NumPy's numbers are equal to tuples of one that is equal to them."""

    def by_pairs(x, groups):
        sums = {}
        for value, group in zip(x, groups, strict=True):
            if group not in sums:
                sums[group,] = 0.0
            sums[group,] += value * value
        return sum(sums[key] for key in sums)

    def by_numbers(x, groups):
        sums = {group: value for group, value in zip(groups, x, strict=True)}
        return sums.get((1,), x[0]) * sums[1]

    groups = np.array([0, 1, 0])
    for function in (by_pairs, by_numbers):
        agrees(lambda x, function=function: function(x, groups), X)


def test_dicts_that_come_and_go_have_their_keys():
    def parts(table):
        return {Mode.SLOW: table[Mode.FAST] * table[np.dtype("float64")], np.dtype("int8"): 1.0}

    table = {np.dtype("float64"): X, Mode.FAST: 3.0}
    out, pull = gs.vjp(parts, table)
    assert list(out) == [Mode.SLOW, np.dtype("int8")]
    (gradient,) = pull({Mode.SLOW: np.ones(3), np.dtype("int8"): 0.0})
    assert list(gradient) == list(table)
    np.testing.assert_array_equal(gradient[np.dtype("float64")], [3.0, 3.0, 3.0])
    assert gradient[Mode.FAST] == np.sum(X)


def test_tensors_in_a_dict_are_stored_to():
    def stored(table):
        table[Mode.SLOW] = table[Mode.FAST] * 2
        table[Mode.FAST][0] = 5.0
        return (table[Mode.FAST] * table[Mode.SLOW]).sum()

    x = gs.tensor(X, requires_grad=True)
    table = {Mode.FAST: x * 1}
    gs.differentiable(stored)(table).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [10.0, *4 * X[1:]])
    np.testing.assert_array_equal(table[Mode.SLOW].detach().numpy(), 2 * X)


def test_errors_name_an_item_as_people_write_it():
    def stored(table, x):
        table[Mode.FAST][0] = 1.0
        return np.sum(table[Mode.FAST] * x)

    with pytest.raises(gs.errors.AliasingError, match=r"`table\[Mode.FAST\]` is stored to"):
        gs.grad(stored)({Mode.FAST: X}, X)


class Observer:
    def __init__(self, white):
        self.white = white


OBSERVERS = {"2 degrees": {"D65": Observer(np.array([0.95, 1.0, 1.09]))}}


def under_the_standard_light(x):
    return x / OBSERVERS["2 degrees"]["D65"].white


def test_an_attribute_below_a_key_that_is_no_name_has_a_name():
    agrees(under_the_standard_light, np.array([0.3, 0.4, 0.5]))


def united_with_another(x):
    table = dict(a=np.sin(x[1]), b=-0.75, c=0.5)
    other = {"a": np.sin(x[0]), "b": table["a"]}
    if 1 in {1, 2}:
        table, _ = [{"a": np.sin(x[2]), "b": -0.75}, other]
    for _ in [{0, 3}, {1, 2}]:
        table |= {"a": np.sin(x[1])}
    return table["a"] * table["b"] + len(table)


def test_a_dict_is_united_with_one_of_known_keys_in_a_loop():
    x = np.array([0.3, 0.4, 0.5])
    value, gradient = gs.value_and_grad(united_with_another)(x)
    assert value == united_with_another(x)
    np.testing.assert_allclose(gradient, [0.0, -0.75 * np.cos(0.4), 0.0])
