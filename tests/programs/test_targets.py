"""The target functions: emitted code reads like the expert's, and computes the same."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradscribe.ir.trees import flatten
from tests.programs.golden import FOLDER, PROGRAMS, Program

MOST = 1.3
"""How many statements emitted code may have for one of the expert's."""

_each = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


def statements(source: str) -> int:
    """The statements of the functions in a text, without docstrings and the `def`s."""
    return sum(
        not _is_docstring(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef)
    )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def leaves(value: Any) -> Iterator[Any]:
    return (leaf for leaf in flatten(value)[1] if leaf is not None)


@_each
def test_emitted_source_is_the_golden_text(program: Program) -> None:
    assert program.source() == (FOLDER / f"{program.name}.txt").read_text()


@_each
def test_emitted_code_has_few_more_statements_than_the_experts(program: Program) -> None:
    found = program.specialization()
    emitted = [found.gradient_source]
    if len(program.expert) == 2:
        emitted = [found.forward_source, found.adjoint_source]
    ours = sum(map(statements, emitted))
    experts = sum(statements(inspect.getsource(function)) for function in program.expert)
    assert ours <= MOST * experts, f"{ours} statements for {experts}"


@_each
def test_gradient_equals_the_experts(program: Program) -> None:
    def fresh() -> list[Any]:
        return [a.copy() if isinstance(a, np.ndarray) else a for a in program.args]

    found = program.specialization()
    if len(program.expert) == 2:
        forward, adjoint = program.expert
        expected = adjoint(forward(*fresh())[1], 1.0)
    else:
        expected = program.expert[0](*fresh())
    _, record = found.forward(*program.args)
    for gradient in (found.gradient(*program.args), found.adjoint(record, 1.0)):
        for a, b in zip(leaves(gradient), leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@_each
def test_emitted_code_calls_no_helper(program: Program) -> None:
    names = {
        node.id
        for node in ast.walk(ast.parse(program.source()))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert not {name for name in names if name.startswith(("gs", "gradscribe", "_unbroadcast"))}


def test_seidel_records_no_array_element() -> None:
    (program,) = [p for p in PROGRAMS if p.name == "seidel"]
    assert ".append(" not in program.source()


def test_cholesky_records_only_overwritten_elements() -> None:
    (program,) = [p for p in PROGRAMS if p.name == "cholesky_logdet"]
    A = program.args[0]
    n = len(A)
    _, record = program.specialization().forward(A)
    (stack,) = [entry for entry in record if isinstance(entry, list)]
    assert all(np.ndim(entry) == 0 for entry in stack)
    assert len(stack) <= 2 * n + n * (n - 1)
