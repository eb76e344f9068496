"""The oracles that a program of the frontend's tests has to pass (DESIGN §10)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import gradscribe as gs
from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.core import Function
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.ir.types import is_differentiable
from gradscribe.ir.verifier import verify
from gradscribe.transforms import adjoint, tangent
from gradscribe.transforms.passes.simplify import simplify
from tests.frontend.test_programs import lowered
from tests.frontend.test_programs import same as same_values
from tests.interpreter import run
from tests.sampling import is_one_in


def check(function: Any, *args: Any, order: int = 2) -> None:
    """The IR, and the compiled forward, compute what plain Python does, bit for bit; the modes
    agree with each other and with differences; the caller's arguments stay as they are. The
    rules of the IR, and the second order, are checked of some functions in a sampled run."""
    kept = copy.deepcopy(args)
    whole = is_one_in(4, function.__qualname__)
    with np.errstate(all="ignore"):
        expected = function(*copy.deepcopy(args))
        if whole:
            _check_ir(function, args, expected)
        found, _ = gs.vjp(function, *args)
        _assert_equal(found, expected)
        _assert_equal(gs.jvp(function, args, _zeros(args))[0], expected)
        gs.testing.check_grad(function, *args, order=order if whole else 1)
    _assert_equal(args, kept)


def _check_ir(function: Any, args: Any, expected: Any) -> None:
    made = lowered(function, *args)
    primal = made.function
    _verify(primal)
    if made.captures:  # they would have to be given, too
        return
    interpreted = run(primal, *copy.deepcopy(args))
    assert same_values(interpreted, expected), f"{interpreted!r} is not {expected!r}"


def _verify(primal: Function) -> None:
    """The types of the primal, and of its derivatives as they are first written, are right."""
    verify(primal)
    leaves = primal.body.parameters
    active = tuple(i for i, leaf in enumerate(leaves) if is_differentiable(leaf.type))
    if active:
        simple = simplify(primal)
        verify(adjoint.differentiate(simple, active, inline).function)
        verify(tangent.differentiate(simple, active, inline))


def _zeros(args: Any) -> Any:
    tree, leaves = flatten(args)
    zeros = [np.zeros_like(a) if isinstance(a, np.ndarray) else type(a)(0) for a in leaves]
    return unflatten(tree, iter(zeros))


def _assert_equal(found: Any, expected: Any) -> None:
    for a, b in zip(flatten(found)[1], flatten(expected)[1], strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)


def agrees(function: Callable[..., Any], *args: Any, differences: bool = True) -> None:
    """Check the compiled primal bit for bit, and all derivatives. differences: whether the
    program is the derivative of what it computes (not where it cuts derivatives)."""
    expected = function(*copy.deepcopy(args))
    compiled = gs.differentiable(function).specialize(*args)
    found = compiled.forward(*copy.deepcopy(args))[0]
    assert same_values(found, expected), f"{found!r} is not {expected!r}"
    if differences:
        order = 2 if is_one_in(4, function.__qualname__) else 1
        gs.testing.check_grad(function, *args, order=order)
    tensors_agree(function, *args)


def tensors_agree(function: Callable[..., Any], *args: Any) -> None:
    """Check `backward` on array arguments against `grad`."""
    chosen = [i for i, arg in enumerate(args) if _is_floating_array(arg)]
    if not chosen:
        return
    tensors = [
        gs.tensor(arg, requires_grad=True) if i in chosen else copy.deepcopy(arg)
        for i, arg in enumerate(args)
    ]
    result = gs.differentiable(function)(*tensors)
    if isinstance(result, gs.Tensor) and result.requires_grad and not result.shape:
        result.backward()
        expected = gs.grad(function, argnums=tuple(chosen))(*args)
        for number, gradient in zip(chosen, expected, strict=True):
            given = tensors[number].grad
            zero = np.zeros_like(gradient) if given is None else given.numpy()
            np.testing.assert_allclose(zero, gradient, rtol=1e-12, atol=1e-14)


def _is_floating_array(value: Any) -> bool:
    _, leaves = flatten(value)
    return isinstance(value, np.ndarray) and leaves[0].dtype.kind == "f"
