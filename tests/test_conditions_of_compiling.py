"""The garbage collector and the stack while a function is compiled."""

import gc
import statistics
import sys
import time

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.compiler.conditions import compiling


def test_all_is_as_it_was_after_compiling():
    limit = sys.getrecursionlimit()
    assert gc.isenabled()
    assert gs.grad(lambda x: x * x)(3.0) == 6.0
    assert gc.isenabled()
    with pytest.raises(gs.errors.UnsupportedError):
        gs.grad(lambda x: (yield x))(3.0)
    assert gc.isenabled()
    assert sys.getrecursionlimit() == limit


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        assert gs.grad(lambda x: x * x + 1)(3.0) == 6.0
        assert not gc.isenabled()
    finally:
        gc.enable()


def many_returns(count):
    """A function that leaves early at so many places."""
    lines = ["def table(x, k):"]
    for i in range(count):
        lines += [f"    if k == {i}:", f"        return {i} * x * x"]
    return "\n".join([*lines, "    return x", ""])


def test_a_hundred_early_returns(tmp_path, monkeypatch):
    (tmp_path / "tables.py").write_text(many_returns(100))
    monkeypatch.syspath_prepend(tmp_path)
    from tables import table

    assert gs.grad(table)(3.0, 70) == 420.0
    assert gs.grad(table)(3.0, 200) == 1.0
    assert gs.grad(table)(np.float64(2.0), 99) == 396.0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames were not kept in chunks")
def test_calls_are_as_fast_at_any_depth_of_the_stack():
    """At the edge of a chunk of CPython's stack a call took a hundred times longer."""

    def nothing():
        pass

    def calls():
        start = time.perf_counter()
        for _ in range(200):
            nothing()
        return time.perf_counter() - start

    def at_depth(depth):
        return at_depth(depth - 1) if depth else calls()

    @compiling
    def fastest_at_each_depth():
        return [min(at_depth(depth) for _ in range(9)) for depth in range(300)]

    times = fastest_at_each_depth()
    assert max(times) < 10 * statistics.median(times)
