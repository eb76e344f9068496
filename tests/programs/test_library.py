"""The library of programs: each means what plain Python says, and its derivatives are right.

By name: `pytest tests/programs/test_library.py -k thomas`.
"""

from __future__ import annotations

import ast
import re

import pytest

import gradscribe as gs
from tests.programs.registry import Program, load, same
from tests.sampling import is_one_in, one_in

PROGRAMS = load()
SHAPE_CHECKS = 2
"""How many run-time questions about a shape all emitted gradients together may ask: two in a
recursion that halves its arrays, where the answer is another one for grids of four points."""


SECOND_ORDER = 3
"""Of so many programs in a sampled run, one is checked to the second order."""


EACH = pytest.mark.parametrize("program", one_in(6, PROGRAMS.values()), ids=lambda p: p.name)


def test_the_library_is_large() -> None:
    assert len(PROGRAMS) >= 150


@EACH
def test_value_is_that_of_plain_python(program: Program) -> None:
    program.check_value()


@EACH
def test_the_stepwise_adjoint_computes_the_same(program: Program) -> None:
    found = gs.differentiable(program.function).specialize(*program.args())
    result, record = found.forward(*program.args())
    seeds, adjoint = found.seeds_of(result), found.generated_adjoint
    assert same(adjoint.stepwise.function(record, *seeds), adjoint.callable(record, *seeds))


@EACH
def test_derivatives_of_both_modes_and_orders_agree(program: Program) -> None:
    program.check_derivatives(program.order if is_one_in(SECOND_ORDER, program.name) else 1)


def shape_checks(source: str) -> list[str]:
    """The conditions in a text that ask whether an axis was broadcast."""
    tests = [
        ast.unparse(node.test)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.IfExp, ast.If))
    ]
    return [test for test in tests if re.search(r"\.shape\[\d+\] == 1$", test)]


def test_emitted_gradients_hardly_ask_for_shapes() -> None:
    found = {
        program.name: asked
        for program in one_in(12, PROGRAMS.values())
        if (asked := shape_checks(program.gradient_source()))
    }
    assert sum(map(len, found.values())) <= SHAPE_CHECKS, found
