"""Functions of the standard library and of NumPy that change what they are given."""

from __future__ import annotations

import bisect
import operator
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors

X = np.array([1.0, 2.0, 3.0])


def added(x):
    s = x * 1
    operator.iadd(s, x)
    return (s * s).sum()


def multiplied(x):
    s = operator.imul(x * 1, x)
    return (s * s).sum()


def inserted(x):
    s = list(x)
    bisect.insort(s, x[0] / 2)
    return s[0] * s[1]


def inserted_numbers(x):
    q: list[int] = []
    bisect.insort(q, 3)
    bisect.insort_left(q, 1)
    return q[0] * x.sum() + q[1]


def deleted(x):
    s = list(x)
    operator.delitem(s, 0)
    return s[0] * s[1]


def set_item(x):
    s = x * 1
    operator.setitem(s, 0, 2.0)
    return (s * x).sum()


def drawn_into(x):
    s = x * 1
    np.random.default_rng(1).random(out=s)
    np.random.default_rng(2).standard_normal(out=s[1:])
    return (s * x).sum()


def shuffled(x):
    s = x * 1
    np.random.default_rng(1).shuffle(s)
    return (s * x).sum()


def permuted(x):
    rows = np.random.RandomState(0).permutation(np.outer(x, x))
    return (rows[0] * np.random.default_rng(3).permutation(x)).sum()


@pytest.mark.parametrize(
    "function",
    [
        added,
        multiplied,
        inserted,
        inserted_numbers,
        deleted,
        set_item,
        drawn_into,
        shuffled,
        permuted,
    ],
)
def test_changes_are_seen(function: Any) -> None:
    assert gs.vjp(function, X)[0] == function(X.copy())
    gs.testing.check_grad(function, X)


@pytest.mark.parametrize(
    "change",
    [
        lambda s, x: np.ndarray.__setitem__(s, 0, 2.0),
        lambda s, x: np.ndarray.__iadd__(s, x),
        lambda s, x: np.random.default_rng(1).permuted(s, out=s),
    ],
)
def test_changes_that_cannot_be_followed_are_refused(change: Any) -> None:
    def function(x):
        s = x * 1
        change(s, x)
        return (s * x).sum()

    with pytest.raises(errors.UnsupportedError):
        gs.vjp(function, X)
