"""Active is what depends on an active argument and reaches a differentiable result."""

from __future__ import annotations

import operator

import numpy as np

from gradscribe.ir.core import LoopShape
from gradscribe.ir.types import FLOAT, INT, Scalar
from gradscribe.transforms.analyses.activity import active_values
from tests.handmade import Hand, vector

STRONG = Scalar("float64", weak=False)


def named(values):
    return {value.name for value in values if value.name}


def test_varied_and_useful():
    hand = Hand()
    x, y = hand.parameter("x", vector(3)), hand.parameter("y", vector(3))
    a = hand.op(operator.mul, x, y, name="a")
    hand.op(np.tanh, a, name="useless")
    b = hand.op(np.tanh, y, name="constant")
    c = hand.op(operator.add, a, b, name="c")
    assert named(active_values(hand.function("f", c), frozenset([0]))) == {"x", "a", "c"}


def test_comparisons_cut():
    hand = Hand()
    x = hand.parameter("x", vector(3))
    mask = hand.op(operator.gt, x, hand.constant(0.0), name="mask")
    y = hand.op(operator.mul, mask, hand.constant(2.0), name="y")
    assert active_values(hand.function("f", y), frozenset([0])) == set()


def test_integers_are_never_active():
    hand = Hand()
    n = hand.parameter("n", INT)
    y = hand.op(operator.mul, n, hand.constant(2.0), name="y")
    assert active_values(hand.function("f", y), frozenset([0])) == set()


def test_activity_goes_round_a_loop():
    """In iteration one `b` is constant; from iteration three on it depends on x."""
    hand = Hand()
    x = hand.parameter("x", FLOAT)
    bounds = [hand.constant(0), hand.constant(5), hand.constant(1)]
    start = [hand.constant(1.0), hand.constant(1.0)]

    def body(i, a, b):
        return [hand.op(operator.mul, x, a, name="a_next"), a]

    _, b = hand.loop(
        LoopShape(("range",), carried=2),
        [*bounds, *start],
        [("i", INT), ("a", STRONG), ("b", STRONG)],
        body,
        [("a_last", STRONG), ("b_last", STRONG)],
    )
    active = named(active_values(hand.function("f", b), frozenset([0])))
    assert active == {"x", "a", "a_next", "b_last"}


def test_conditions_are_not_followed():
    hand = Hand()
    x = hand.parameter("x", FLOAT)
    condition = hand.op(operator.gt, x, hand.constant(0.0))
    (y,) = hand.branch(
        condition, lambda: hand.constant(1.0), lambda: hand.constant(2.0), [("y", FLOAT)]
    )
    assert active_values(hand.function("f", y), frozenset([0])) == set()
