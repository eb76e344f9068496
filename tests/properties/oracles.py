"""What must hold for every program (DESIGN §10).

The compiled forward equals plain Python bit for bit, arguments stay unchanged,
⟨u, J v⟩ = ⟨Jᵀ u, v⟩ to 1e-10, and the Hessian, as tangent of the gradient, is symmetric:
⟨w, H v⟩ = ⟨v, H w⟩; `backward` through Tensors gives the same. None of these needs a step size.
Programs that call compiled code, and programs of references, are held against finite differences,
too (tests/border).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import reject

import gradscribe as gs
from gradscribe.errors import AliasingError
from tests.border.verdicts import function_of, is_checked_at_run_time, verdict
from tests.properties.grammar.border import IMPORTS
from tests.properties.grammar.programs import arguments, compiled
from tests.properties.grammar.writer import LENGTH, ROWS


def plain(function: Any, args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return function(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])


def inner(a: Any, b: Any) -> float:
    return sum(float(np.sum(np.multiply(x, y))) for x, y in zip(a, b, strict=True))


def close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= 1e-10 * max(1.0, abs(a), abs(b), scale)


def check(kind: str, text: str, seed: int) -> None:
    """Hold a program of this kind against its oracles; `UnsupportedError` where the compiler
    refuses it."""
    if kind in ("scratch", "border"):
        check_border(kind, text, seed)
    elif kind in ("references", "outside"):
        check_references(text, seed)
    else:
        check_program(text, seed)


def check_border(kind: str, text: str, seed: int) -> None:
    """A program that calls compiled code: refused may be one only where active values go in, or
    where Tensors are changed in place under several names, or when it runs, by what the generated
    code checks."""
    try:
        found = verdict(lambda: function_of(IMPORTS + text), arguments(seed))
    except (ValueError, ArithmeticError):  # plain Python raises: nothing can be said
        reject()
    assert found.kind in ("right", "refused"), found.detail
    if found.kind == "right":
        return
    assert found.error is not None
    if is_checked_at_run_time(found.error):
        raise found.error
    others = [outcome for mode, outcome in found.modes.items() if mode != "Tensors"]
    aliases = isinstance(found.error, AliasingError) and set(others) == {"right"}
    assert kind == "border" or aliases, found.detail
    raise found.error


def check_references(text: str, seed: int) -> None:
    """A program whose names share objects: right or refused."""
    found = verdict(lambda: function_of(text), arguments(seed))
    assert found.kind in ("right", "refused"), found.detail
    if found.error is not None:
        raise found.error


def check_program(text: str, seed: int) -> None:
    program = compiled(text)
    args = arguments(seed)
    expected = plain(program, args)
    rng = np.random.default_rng(seed + 1)
    v, w = (
        (rng.normal(size=LENGTH), rng.normal(size=(ROWS, LENGTH)), float(rng.normal()))
        for _ in range(2)
    )
    function = gs.differentiable(program)
    compiled_for = function.specialize(*args, argnums=(0, 1, 2))
    kept = [np.copy(a) for a in args]
    out, record = compiled_for.forward(*args)
    assert same_bits(out, expected), f"forward gives {out!r}, plain Python {expected!r}"
    gradients = compiled_for.adjoint(record, 1.0)
    again = compiled_for.adjoint(record, 1.0)
    joined = compiled_for.gradient(*args)
    for a, b, c in zip(gradients, again, joined, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="the adjoint changed its record")
        np.testing.assert_allclose(a, c, rtol=1e-12, atol=1e-13)
    _, tangent = compiled_for.tangent(*args, *v)
    scale = sum(float(np.sum(np.abs(np.multiply(x, y)))) for x, y in zip(gradients, v, strict=True))
    assert close(float(tangent), inner(gradients, v), scale), "forward and reverse mode differ"
    check_second_order(program, args, v, w)
    check_tensors(function, args, gradients)
    for a, b in zip(kept, args, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="an argument was changed")


def check_second_order(program: Any, args: Any, v: Any, w: Any) -> None:
    x, A, s, n = args

    def of_three(x: Any, A: Any, s: Any) -> Any:
        return program(x, A, s, n)

    hv, hw = gs.hvp(of_three, (x, A, s), v), gs.hvp(of_three, (x, A, s), w)
    scale = sum(float(np.sum(np.abs(np.multiply(a, b)))) for a, b in zip(hv, w, strict=True))
    assert close(inner(w, hv), inner(v, hw), scale), "the Hessian is not symmetric"


def check_tensors(function: Any, args: Any, gradients: Any) -> None:
    """`s` is a Tensor, too, unless the program changes it in place in a way that is refused."""
    try:
        check_call_with_tensors(function, args, gradients, 3)
    except gs.errors.AliasingError:
        check_call_with_tensors(function, args, gradients, 2)


def check_call_with_tensors(function: Any, args: Any, gradients: Any, count: int) -> None:
    """Called with Tensors that are no leaves, the function leaves in them what it leaves in
    arrays, and `backward` brings the same gradients to the leaves."""
    changed = [np.copy(a) for a in args[:2]]
    expected = plain(function.__wrapped__, args)
    with np.errstate(all="ignore"):
        function.__wrapped__(*changed, *args[2:])
    leaves = [gs.tensor(a, requires_grad=True) for a in args[:count]]
    x, A, *rest = (leaf * 1.0 for leaf in leaves)
    out = function(x, A, *rest, *args[count:])
    assert same_bits(out.detach().numpy(), expected), "a call with Tensors gives another value"
    for given, array in zip((x, A), changed, strict=True):
        np.testing.assert_array_equal(given.detach().numpy(), array, err_msg="stores are lost")
    out.backward()
    for leaf, gradient in zip(leaves, gradients, strict=False):
        found = np.zeros_like(gradient) if leaf.grad is None else leaf.grad.numpy()
        np.testing.assert_allclose(found, gradient, rtol=1e-10, atol=1e-11)


def same_bits(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()
