"""Simplification keeps what random programs compute, and comes to an end."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from gradscribe import primitives  # noqa: F401
from gradscribe.ir.core import Function, walk
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import Collected
from gradscribe.ir.verifier import verify
from gradscribe.transforms.passes.simplify import simplify
from tests.interpreter import run
from tests.transforms.random_programs import random_arguments, random_function

SIZE = 120
"""Larger programs take the interpreter long: their loops are nested three deep."""


def returning_all(function: Function) -> Function:
    """The function that returns the last values that it computes, so that much is live."""
    values = [
        result
        for operation in function.body.operations
        for result in operation.results
        if not isinstance(result.type, Collected)
    ][-8:]
    body = replace(function.body, yields=tuple(values))
    return replace(function, body=body, result=Node(tuple, (LEAF,) * len(values)))


def assert_same(a: Any, b: Any) -> None:
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif a is not b:  # what is undefined is one object
        np.testing.assert_allclose(a, b, rtol=1e-12)


@given(st.randoms(use_true_random=False), st.booleans())
def test_random_programs_keep_their_meaning(random: Random, all_live: bool):
    function = random_function(random, 8)
    if all_live:
        function = returning_all(function)
    assume(len(list(walk(function.body))) <= SIZE)
    result = simplify(function)
    verify(result)
    with np.errstate(all="ignore"):
        assert_same(run(result, *random_arguments()), run(function, *random_arguments()))


@given(st.randoms(use_true_random=False))
def test_nothing_is_left_to_simplify(random: Random):
    result = simplify(returning_all(random_function(random, 8)))
    assert simplify(result) is result
