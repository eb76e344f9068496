"""Emitted gradients beside those that an expert writes: the same numbers, few more statements."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.programs.experts import handwritten
from tests.programs.registry import load
from tests.programs.test_targets import leaves, statements

MOST = 1.5
"""How many statements emitted code may have for one of the expert's."""

PROGRAMS = load()
EXPERTS = {
    name.removesuffix("_gradient"): function
    for name, function in vars(handwritten).items()
    if name.endswith("_gradient")
}

_each = pytest.mark.parametrize("name", EXPERTS)


def seed_of(name: str) -> Any:
    """A cotangent of the program's result."""
    out = PROGRAMS[name].function(*PROGRAMS[name].args())
    drawn = np.random.default_rng(0).normal(size=np.shape(out))
    return drawn if np.ndim(out) else float(drawn)


@_each
def test_gradient_equals_the_experts(name: str) -> None:
    program, expert = PROGRAMS[name], EXPERTS[name]
    d_out = seed_of(name)
    found = gs.differentiable(program.function).specialize(*program.args())
    ours = found.gradient(*program.args(), d_out=d_out)
    for a, b in zip(leaves(ours), leaves(expert(*program.args(), d_out)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@_each
def test_emitted_code_has_few_more_statements_than_the_experts(name: str) -> None:
    ours = statements(PROGRAMS[name].gradient_source())
    experts = statements(inspect.getsource(EXPERTS[name]))
    assert ours <= MOST * experts, f"{ours} statements for {experts}"
