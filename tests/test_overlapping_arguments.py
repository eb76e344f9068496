"""Arguments that are stored to share no memory with others: what a call compares for that."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.compiler.stored import refuse_overlap
from gradscribe.errors import AliasingError


def refused(leaves, stored, distinct=()):
    """The numbers of the two leaves that are refused, if any are."""
    lowered = SimpleNamespace(stored=stored, unclear=(), distinct=distinct, grown=())
    try:
        refuse_overlap([f"{number}" for number in range(len(leaves))], leaves, lowered)
    except AliasingError as error:
        return tuple(map(int, error.what.split("`")[1::2]))
    return None


def arrays_in(leaf):
    if isinstance(leaf, (list, tuple)):
        return [array for item in leaf for array in arrays_in(item)]
    return [leaf] if isinstance(leaf, np.ndarray) else []


def expected(leaves, stored):
    """The same by comparing each with each."""
    arrays = list(map(arrays_in, leaves))
    for target in stored:
        for other, parts in enumerate(arrays):
            shared = any(np.shares_memory(a, b) for a in arrays[target] for b in parts)
            if other != target and shared:
                return target, other
    return None


def drawn(rng, bases):
    base = rng.choice(bases)
    kind = rng.random()
    if kind < 0.3:
        return [drawn(rng, bases) for _ in range(rng.randrange(3))]
    if kind < 0.4:
        return tuple(drawn(rng, bases) for _ in range(rng.randrange(3)))
    if kind < 0.5:
        return rng.choice([2.0, np.zeros(3), base])
    if base.ndim == 1:
        return base[rng.randrange(8) : rng.randrange(9)]
    step = rng.choice([1, 2, -1])
    return base[rng.randrange(3) : rng.randrange(7) : step, rng.randrange(3) : rng.randrange(7)]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_pair_that_shares_memory_is_refused(seed):
    rng = random.Random(seed)
    for _ in range(200):
        bases = [np.zeros((6, 6)) for _ in range(4)]
        if rng.random() < 0.5:
            bases.append(np.frombuffer(bytearray(64)))
        leaves = [drawn(rng, bases) for _ in range(rng.randrange(1, 6))]
        stored = [number for number in range(len(leaves)) if rng.random() < 0.4]
        assert refused(leaves, stored) == expected(leaves, stored)


def test_a_list_that_is_given_twice_is_refused():
    items = [1.0, 2.0]
    assert refused([items, np.zeros(2), items], [0]) == (0, 2)


def test_items_that_share_memory_are_refused_where_each_is_stored_to():
    x = np.zeros(4)
    assert refused([[x[:3], x[2:]]], [0], [0]) == (0,)


@pytest.mark.parametrize("foreign", [False, True])
def test_arrays_that_lie_apart_are_not_compared(monkeypatch, foreign):
    """So a call of a function with a hundred captured arrays takes no ten thousand comparisons."""
    asked = []
    monkeypatch.setattr(np, "shares_memory", lambda *pair, **_: asked.append(pair))
    leaves = [np.zeros(50) for _ in range(200)]
    if foreign:
        leaves.append(np.frombuffer(bytearray(80)))
    assert refused(leaves, range(130)) is None
    assert not asked


@pytest.mark.parametrize("seen_as", [lambda a: a, np.asarray, lambda a: a[1:]])
def test_two_maps_of_one_file_share_memory(tmp_path, seen_as):
    path = tmp_path / "numbers"
    np.arange(4.0).tofile(path)
    first, second = (np.memmap(path, dtype=float, mode="r+", shape=(4,)) for _ in range(2))
    tail = np.memmap(path, dtype=float, mode="r+", shape=(2,), offset=16)

    def given(x, a, b):
        a[-1] = 5.0
        return np.sum(b) * np.sum(x)

    def captured(x):
        first[-1] = 5.0
        return np.sum(second) * np.sum(x)

    x = np.ones(2)
    for other in (second, tail):
        with pytest.raises(AliasingError, match="shares memory with `b`"):
            gs.grad(given)(x, seen_as(first), other)
        with pytest.raises(AliasingError, match="shares memory with another"):
            gs.grad(given, compile=False)(x, seen_as(first), other)
    with pytest.raises(AliasingError, match="`first` is stored to, and shares memory"):
        gs.grad(captured)(x)
    np.testing.assert_array_equal(gs.grad(given)(x, first[:2], tail), [5.0, 5.0])
