"""Records of loops as arrays: which are, and what becomes of their uses."""

from __future__ import annotations

import ast
import textwrap

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.codegen.loops.rewriting import in_subset
from gradscribe.codegen.loops.slabs import in_slabs
from gradscribe.ir.types import Scalar, Tuple, Type
from tests.codegen.texts import unparsed

PUSHED = "steps = []\nfor {head}:\n    steps.append({item})\n    x = x * x\n"
FLOAT, PAIR = Scalar("float64"), Tuple((Scalar("float64"), Scalar("float64")))
POPPED = "for k in range(len(steps) - 1, -1, -1):\n    {taken} = steps[k]\n    f(k)\n"


def with_slabs(text: str, item: Type) -> str:
    """The statements, where `steps` is a record with items of this type."""
    function = ast.parse("def g():\n" + textwrap.indent(text, "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    changed = in_slabs(function, {"steps": item}, lambda name: ast.Name(f"np.{name}", ast.Load()))
    lines = unparsed(changed).splitlines()[1:]
    return textwrap.dedent("\n".join(lines))


@pytest.mark.parametrize(
    ("head", "made", "filled"),
    [
        ("_ in range(n)", "np.empty(max(n, 0))", "for k in range(n):\n    steps[k] = x"),
        (
            "i in range(a.shape[0])",
            "np.empty(a.shape[0])",
            "for i in range(a.shape[0]):\n    steps[i]",
        ),
        ("x in range(len(a))", "np.empty(len(a))", "for k, x in enumerate(range(len(a))):"),
        ("i in range(2, n, 3)", "np.empty(len(range(2, n, 3)))", "for k, i in enumerate(range(2,"),
    ],
)
def test_a_record_whose_length_is_known_is_an_array(head, made, filled):
    text = PUSHED.format(head=head, item="x") + POPPED.format(taken="y")
    found = with_slabs(text, FLOAT)
    assert found.startswith(f"steps = {made}\n{filled}")
    assert found.endswith(POPPED.format(taken="y").rstrip())


def test_a_record_of_several_numbers_has_a_row_for_each_iteration():
    text = PUSHED.format(head="_ in range(n)", item="(x, y)") + POPPED.format(taken="x, y")
    found = with_slabs(text, PAIR)
    assert "steps = np.empty((max(n, 0), 2))" in found
    assert "steps[k, 0], steps[k, 1] = (x, y)" in found
    assert "x, y = (steps[k, 0], steps[k, 1])" in found


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("steps = []\nwhile x < n:\n    steps.append(x)\n    x = x * x", FLOAT),
        ("steps = []\nfor i in range(n):\n    if i:\n        steps.append(x)", FLOAT),
        ("steps = []\nfor i in range(n):\n    if i:\n        break\n    steps.append(x)", FLOAT),
        ("steps = []\nfor i in range(n):\n    steps.append(x)\n    if i:\n        continue", FLOAT),
        ("steps = []\nfor i in range(n):\n    steps.append(x)\n    steps.append(i)", FLOAT),
        ("steps = []\nn = n + 1\nfor i in range(n):\n    steps.append(x)", FLOAT),
        ("steps = []\nfor i in range(count()):\n    steps.append(x)", FLOAT),
        ("steps = []\nfor i in range(n):\n    steps.append(x)\nreturn steps", FLOAT),
        ("steps = []\nfor i in range(n):\n    steps.append(x)\nx = steps.pop()", FLOAT),
        ("steps = []\nfor i in range(n):\n    steps.append(x)\nx = steps[0]", PAIR),
        ("steps = []\nfor i in range(n):\n    steps.append(x)", Scalar("complex128")),
    ],
)
def test_any_other_record_is_a_list(text, item):
    assert with_slabs(text, item) == text


def test_a_loop_inside_of_one_that_counts_by_k_counts_by_another():
    text = "for k in range(2):\n" + textwrap.indent(
        PUSHED.format(head="_ in range(n)", item="x"), "    "
    )
    assert "for k_1 in range(n):\n        steps[k_1] = x" in with_slabs(text, FLOAT)


def test_loops_one_after_the_other_count_by_the_same_variable():
    text = "for x in reversed(a):\n    f(x)\nfor x in reversed(b):\n    f(x)"
    function = ast.parse("def g():\n" + textwrap.indent(text, "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert ast.unparse(ast.fix_missing_locations(in_subset(function))).count("for k in") == 2


def mixed(x, n):
    """Its loops record floats, truth values and integers, of several loops and of none."""
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        if y > 0.5:
            y = y * y
        total = total * 0.5 + y * y
    for i in range(n, 0, -2):
        total = total * x[i % len(x)] + i
    for _ in range(n - 10):
        total = total * total
    return total


@pytest.mark.parametrize("n", [-3, 0, 1, 5, 12])
def test_native_records_are_those_of_numpy_s_tier(n):
    pytest.importorskip("numba")
    x = np.array([0.9, 0.2, 0.7, 0.4])
    native = gs.value_and_grad(mixed, jit=True)
    for found, expected in zip(native(x, n), gs.value_and_grad(mixed)(x, n), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert native.jit_report == "native"
    assert "np.empty(" in native.loops_source
