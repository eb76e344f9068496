"""Several records of one loop, which one other loop consumes, become one of tuples."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.ir.core import LOOP, Function, walk
from gradscribe.ir.verifier import verify
from gradscribe.transforms.adjoint.split import simplify_joined
from gradscribe.transforms.passes.records.pack_records import pack_records
from tests.programs.targets.inplace import cholesky_logdet

x5 = np.linspace(0.5, 1.5, 5)


def joined(function, *args) -> Function:
    stages = gs.differentiable(function).specialize(*args, argnums=0).stages
    return simplify_joined(stages.joined.function, stages.joined.seeds)


def collected(function: Function) -> list[list[str]]:
    """For each loop, the types of what it collects."""
    loops = [operation for operation in walk(function.body) if operation.primitive is LOOP]
    return [
        [repr(r.type.item) for r in loop.results[loop.attributes["shape"].carried :]]
        for loop in loops
        if loop.attributes["shape"].collects
    ]


def squash(x, n):
    for _ in range(n):
        y = np.tanh(x)
        x = x * y
    return np.sum(x)


def test_records_of_one_loop_become_one_of_tuples() -> None:
    before = joined(squash, x5, 3)
    after = pack_records(before)
    verify(after)
    assert collected(before) == [["float64[x:0]", "float64[x:0]"]]
    assert collected(after) == [["(float64[x:0], float64[x:0])"]]


def nested(x, n):
    total = 0.0
    for _ in range(n):
        for v in x:
            w = np.exp(v)
            total = np.sin(total * w) + np.cos(total)
    return total


def test_records_of_an_inner_loop_are_packed_where_they_are_made() -> None:
    after = pack_records(joined(nested, x5, 3))
    verify(after)
    inner = "(float64, float64)"
    assert collected(after) == [[f"collected[{inner}]"], [inner]]


def test_what_undoes_several_stores_is_not_packed() -> None:
    function = joined(cholesky_logdet, np.eye(4))
    assert pack_records(function) is function


def single(x, n):
    for _ in range(n):
        x = np.sin(x)
    return np.sum(x)


def test_a_single_record_stays_as_it_is() -> None:
    function = joined(single, x5, 3)
    assert pack_records(function) is function
