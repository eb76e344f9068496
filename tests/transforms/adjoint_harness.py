"""Check the adjoint of a Python function, as IR, against central differences.

The function is lowered, differentiated, simplified and split; all three ways to the gradient
(joined, `gradient`, `forward` then `adjoint`) are run by the interpreter of the tests.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe import frontend, primitives  # noqa: F401
from gradscribe.compiler.signatures import ArgumentTypes
from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.core import Function, Operation, walk
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.ir.types import is_differentiable
from gradscribe.ir.verifier import verify
from gradscribe.transforms.adjoint import Joined, differentiate
from gradscribe.transforms.adjoint.split import cut, simplify_joined
from gradscribe.transforms.passes.simplify import simplify
from tests.interpreter import run


def lowered(function: Any, *args: Any) -> Function:
    """The IR of a function without captured variables."""
    types = ArgumentTypes()
    names = function.__code__.co_varnames
    given = [types.add(n, a, f"a[{i}]") for i, (n, a) in enumerate(zip(names, args, strict=False))]

    def capture(name: str, value: Any) -> Any:
        raise AssertionError(f"{name} is captured")

    result = frontend.lower(function, given, Facts(types.samples), capture).function
    verify(result)
    return result


def active_leaves(function: Function, argnums: tuple[int, ...]) -> tuple[int, ...]:
    numbers = iter(range(len(function.body.parameters)))
    return tuple(
        number
        for position, parameter in enumerate(function.parameters)
        for leaf, number in zip(parameter.leaves, numbers)
        if position in argnums and is_differentiable(leaf.type)
    )


def joined_of(function: Any, *args: Any, argnums: tuple[int, ...] = (0,)) -> Joined:
    primal = simplify(lowered(function, *args))
    return differentiate(primal, active_leaves(primal, argnums), inline)


def split(joined: Joined) -> tuple[Function, Function, Function]:
    """Three functions of a joined one, all simplified: forward, adjoint (see `cut`), and

    gradient  (arguments, seeds) -> gradient, forward and adjoint in one
    """
    whole = joined.function
    name = f"{joined.name}_gradient"
    body = replace(whole.body, yields=joined.gradients)
    gradient = simplify_joined(
        replace(whole, name=name, body=body, result=joined.gradient), joined.seeds
    )
    return (*cut(joined), gradient)


def check_gradient(
    function: Any, *args: Any, argnums: tuple[int, ...] = (0,), rtol: float = 1e-6
) -> tuple[Function, Function, Function]:
    """Check all gradients of a function with one scalar result; the three split functions."""
    joined = joined_of(function, *args, argnums=argnums)
    verify(joined.function)
    functions = split(joined)
    for each in functions:
        verify(each)
    forward, adjoint, gradient = functions
    expected = function(*copy.deepcopy(args))
    result, record = run(forward, *copy.deepcopy(args))
    np.testing.assert_array_equal(result, expected)
    seeds = [1.0] * len(joined.seeds)
    found = {
        "joined": run(joined.function, *copy.deepcopy(args), *seeds)[1],
        "gradient": run(gradient, *copy.deepcopy(args), *seeds),
        "adjoint": run(adjoint, record, *seeds),
    }
    assert_matches_differences(function, args, argnums, found, rtol)
    return functions


def assert_matches_differences(
    function: Any, args: Any, argnums: tuple[int, ...], found: dict[str, Any], rtol: float
) -> None:
    """Compare along two random directions."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        gradients = next(iter(found.values()))
        parts = gradients if len(argnums) > 1 else (gradients,)
        directions = [
            [None if leaf is None else rng.normal(size=np.shape(leaf)) for leaf in flatten(part)[1]]
            for part in parts
        ]
        wanted = _difference(function, args, argnums, directions)
        for name, gradient in found.items():
            parts = gradient if len(argnums) > 1 else (gradient,)
            got = sum(
                float(np.sum(np.asarray(leaf) * v))
                for part, along in zip(parts, directions, strict=True)
                for leaf, v in zip(flatten(part)[1], along, strict=True)
                if leaf is not None
            )
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-7, err_msg=name)


def _difference(function: Any, args: Any, argnums: Any, directions: Any, h: float = 1e-5) -> float:
    def shifted(step: float) -> float:
        moved = copy.deepcopy(list(args))
        for position, along in zip(argnums, directions, strict=True):
            tree, leaves = flatten(moved[position])
            pairs = zip(leaves, along, strict=True)
            shifted_leaves = [a if v is None else a + step * v for a, v in pairs]
            moved[position] = unflatten(tree, iter(shifted_leaves))
        return float(function(*moved))

    near = (shifted(h) - shifted(-h)) / (2 * h)
    far = (shifted(2 * h) - shifted(-2 * h)) / (4 * h)
    return (4 * near - far) / 3


def loops(function: Function) -> list[Operation]:
    return [operation for operation in walk(function.body) if operation.primitive.name == "loop"]


def names(function: Function) -> Iterator[str]:
    """The primitives of a function's operations, in order."""
    return (operation.primitive.name for operation in walk(function.body))


def collected(function: Function) -> int:
    """How many values the loops of a function collect."""
    return sum(loop.attributes["shape"].collects for loop in loops(function))
