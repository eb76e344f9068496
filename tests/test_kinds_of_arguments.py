"""Arguments of classes of their own, and callables: another value is never taken for the first."""

import functools
import operator
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import gradscribe as gs


class Items(list):
    pass


class Pair(tuple):
    pass


class Name(str):
    pass


class Table(dict):
    pass


class Doubled(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, d_out):
        return d_out * 2


def size(*lengths):
    return gs.zeros(*lengths).shape


def twice(x):
    return x * 2


def thrice(x):
    return x * 3


CASES = {
    "OrderedDict": (
        lambda x, p: x * sum(list(p.values())),
        [OrderedDict(a=2.0), OrderedDict(a=2.0, b=3.0), OrderedDict(c=1.0)],
    ),
    "defaultdict": (
        lambda x, d: x * d.get("k", 1.0) * len(d) * (2 if "q" in d else 3),
        [defaultdict(int, k=2.0), defaultdict(int, q=3.0, z=1.0)],
    ),
    "Counter": (lambda x, c: x * c["a"], [Counter("aab"), Counter("abb")]),
    "dict": (lambda x, t: x * sum(t.values()), [Table(a=1.0), Table(a=1.0, b=4.0)]),
    "keys": (
        lambda x, t: x * (2 if isinstance(next(iter(t)), bool) else 3),
        [{1: 2.0}, {True: 2.0}],
    ),
    "list": (lambda x, p: x * len(p), [Items([1.0, "a"]), Items([1.0, "a", 2.0])]),
    "tuple": (lambda x, p: x * len(p), [Pair((1,)), Pair((1, 2))]),
    "Size": (
        lambda x, s: x.expand(s).sum() * s[-1] * len(s),
        [size(2, 3), size(2, 3, 4), size(5)],
    ),
    "bytes": (lambda x, m: x * x if m == b"square" else x, [b"square", b"none"]),
    "str": (lambda x, m: x * x if m == "square" else x, [Name("square"), Name("none")]),
    "lru_cache": (lambda x, h: h(x), [functools.lru_cache(twice), functools.lru_cache(thrice)]),
    "methodcaller": (
        lambda x, h: h(x),
        [operator.methodcaller("sin"), operator.methodcaller("cos")],
    ),
    "range": (lambda x, r: x * r.stop, [range(0, 3, 2), range(0, 4, 2)]),
    "deque": (lambda x, q: x * x if q else x * 3, [deque([1]), deque()]),
    "bytearray": (lambda x, q: x * x if q else x * 3, [bytearray(b"1"), bytearray()]),
    "frozenset": (lambda x, q: x * x if q else x * 3, [frozenset([1]), frozenset()]),
    "apply": (lambda x, h: h(x), [Doubled.apply, gs.tanh]),
}


@pytest.mark.parametrize("name", CASES)
def test_each_value_has_its_own_result(name):
    function, values = CASES[name]
    compiled = gs.differentiable(function)
    x = gs.tensor(2.0, requires_grad=True)
    for value in (*values, *values):
        expected, found = function(x, value), compiled(x, value)
        assert found.item() == pytest.approx(expected.item())
        outs = expected, found
        gradients = [gs.autograd.grad(out, x, retain_graph=True)[0].item() for out in outs]
        assert gradients[0] == pytest.approx(gradients[1])


def test_gradients_have_the_items_of_their_argument():
    square = gs.grad(lambda p: functools.reduce(operator.add, [v * v for v in p.values()]))
    assert dict(square(OrderedDict(a=2.0))) == {"a": 4.0}
    assert dict(square(OrderedDict(a=2.0, b=3.0))) == {"a": 4.0, "b": 6.0}


def test_the_truth_of_a_captured_container_is_asked_at_each_call():
    queue = deque([1])
    compiled = gs.differentiable(lambda x: x * x if queue else x * 3)
    x = gs.tensor(2.0, requires_grad=True)
    assert compiled(x).item() == 4
    queue.clear()
    assert compiled(x).item() == 6


def test_as_tensor_of_a_tensor_without_axes_is_itself():
    x = gs.tensor(2.0, requires_grad=True)
    gs.differentiable(lambda x: gs.as_tensor(x) * x)(x).backward()
    assert x.grad.item() == 4
