"""Generated programs as loops over elements compute what they do as NumPy's text.

IR and text run as Python here: that Numba does the same is tested beside `codegen/loops`.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import gradscribe as gs
from gradscribe import codegen
from gradscribe.codegen.load import execute
from gradscribe.codegen.loops import refusal
from gradscribe.codegen.loops.emit import render_loops
from gradscribe.codegen.loops.rewriting import FLOAT_POWER, FOREVER, POWER
from gradscribe.codegen.loops.simd import SIMD
from gradscribe.errors import GradscribeError
from gradscribe.ir.core import callees
from gradscribe.ir.verifier import verify
from gradscribe.transforms.kernels import NotLoopsError, in_loops
from gradscribe.transforms.passes.records.flatten_records import flatten_records
from tests.properties.grammar.programs import KINDS, arguments, compiled, programs
from tests.sampling import examples

OF_NUMPY = [k for k in KINDS if k not in ("scratch", "border", "references", "outside")]


@pytest.mark.parametrize("kind", OF_NUMPY)
@settings(
    max_examples=examples(12, 3),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_generated_programs_are_the_same_as_loops(kind, data):
    text, seed = data.draw(programs(kind)), data.draw(st.integers(0, 1000))
    args = arguments(seed)
    try:
        found = gs.differentiable(compiled(text)).specialize(*args, argnums=(0, 1, 2))
        bufferized = found.generated_gradient.bufferized
        loops = in_loops(bufferized)
    except (GradscribeError, NotLoopsError):
        reject()
    verify(loops)
    flat = flatten_records(loops)
    if callees(flat):
        reject()
    values, seeds = found._values(args, {}), found._default_seeds
    with np.errstate(all="ignore"):
        try:
            expected = found.generated_gradient.of_numpy(*values, *seeds)
        except Exception:
            reject()
        same(codegen.load(flat)(*values, *seeds), expected)
        if refusal(flat) is None:
            same(loops_as_python(flat)(*values, *seeds), expected)


def loops_as_python(function):
    """The text that native code is compiled from, as Python runs it."""
    rendered = render_loops(function)
    bindings = {**rendered.bindings, POWER: operator.pow, FLOAT_POWER: np.float_power}
    bindings |= {FOREVER: True, SIMD: np}
    return execute(rendered.text, "<loops>", bindings)[function.name]


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
