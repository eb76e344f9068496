"""Generated programs: the compiled primal is plain Python, and both modes agree.

Oracles (DESIGN §10): the compiled forward equals plain Python bit for bit, arguments stay
unchanged, ⟨u, J v⟩ = ⟨Jᵀ u, v⟩ to 1e-10, and the Hessian, as tangent of the gradient, is
symmetric: ⟨w, H v⟩ = ⟨v, H w⟩. None needs a step size.

The suite runs 500 programs of each kind, `make fuzz` ten times as many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import gradscribe as gs
from tests.properties.generator import LENGTH, ROWS, Features, arguments, compiled, programs

KINDS = {
    "straight": Features(stores=True),
    "branches": Features(branches=True),
    "loops": Features(branches=True, loops=True),
    "everything": Features(branches=True, loops=True, stores=True, lists=True),
}


def plain(function: Any, args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return function(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])


def inner(a: Any, b: Any) -> float:
    return sum(float(np.sum(np.multiply(x, y))) for x, y in zip(a, b, strict=True))


def close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= 1e-10 * max(1.0, abs(a), abs(b), scale)


def check(text: str, seed: int) -> None:
    program = compiled(text)
    args = arguments(seed)
    expected = plain(program, args)
    rng = np.random.default_rng(seed + 1)
    v, w = (
        (rng.normal(size=LENGTH), rng.normal(size=(ROWS, LENGTH)), float(rng.normal()))
        for _ in range(2)
    )
    function = gs.differentiable(program)
    try:
        compiled_for = function.specialize(*args, argnums=(0, 1, 2))
    except gs.errors.AliasingError:
        reject()
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
    for a, b in zip(kept, args, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="an argument was changed")


def check_second_order(program: Any, args: Any, v: Any, w: Any) -> None:
    x, A, s, n = args

    def of_three(x: Any, A: Any, s: Any) -> Any:
        return program(x, A, s, n)

    hv, hw = gs.hvp(of_three, (x, A, s), v), gs.hvp(of_three, (x, A, s), w)
    scale = sum(float(np.sum(np.abs(np.multiply(a, b)))) for a, b in zip(hv, w, strict=True))
    assert close(inner(w, hv), inner(v, hw), scale), "the Hessian is not symmetric"


def same_bits(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_generated_programs_are_differentiated_correctly(kind: str) -> None:
    @settings(
        max_examples=5 * settings.default.max_examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    @given(programs(KINDS[kind]), st.integers(0, 1000))
    def run(text: str, seed: int) -> None:
        check(text, seed)

    run()
