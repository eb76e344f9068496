"""Containers as leaves plus structure."""

from collections import namedtuple
from dataclasses import dataclass

import pytest

from gradscribe.ir.trees import LEAF, Constant, Node, count_leaves, flatten, tree_text, unflatten

Pair = namedtuple("Pair", "a b")


@dataclass
class Layer:
    w: object
    b: object


@pytest.mark.parametrize(
    ("value", "leaves"),
    [
        (1.0, [1.0]),
        ((), []),
        ((1, [2, (3,)]), [1, 2, 3]),
        ({"b": 1, "a": {"c": 2}}, [1, 2]),
        (Pair(1, (2, 3)), [1, 2, 3]),
        ([Layer(1, Pair(2, 3))], [1, 2, 3]),
    ],
)
def test_there_and_back(value, leaves):
    tree, found = flatten(value)
    assert found == leaves
    assert count_leaves(tree) == len(leaves)
    back = unflatten(tree, iter(found))
    assert back == value and type(back) is type(value)


def test_a_leaf_may_be_a_container():
    tree, leaves = flatten(([1, 2], 3), is_leaf=lambda value: isinstance(value, list))
    assert leaves == [[1, 2], 3]
    assert tree == Node(tuple, (LEAF, LEAF))


def test_constants_are_part_of_the_structure():
    tree = Node(tuple, (LEAF, Constant("mean"), LEAF))
    assert count_leaves(tree) == 2
    assert unflatten(tree, iter([1, 2])) == (1, "mean", 2)


def test_structures_are_compared_by_value():
    assert flatten({"a": 1})[0] == flatten({"a": 2})[0]
    assert flatten({"a": 1})[0] != flatten({"b": 1})[0]
    assert hash(flatten([1, (2,)])[0]) == hash(flatten([1, (2,)])[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "a"),
        ((), "()"),
        ((1,), "(a,)"),
        ([1, (2, 3)], "[a, (b, c)]"),
        ({"x": 1, 2: [3]}, "{'x': a, 2: [b]}"),
        (Pair(1, Layer(2, 3)), "Pair(a=a, b=Layer(w=b, b=c))"),
    ],
)
def test_text(value, text):
    assert tree_text(flatten(value)[0], iter("abc")) == text


def test_constants_show_their_value():
    assert tree_text(Node(tuple, (LEAF, Constant("mean"))), iter("a")) == "(a, 'mean')"
