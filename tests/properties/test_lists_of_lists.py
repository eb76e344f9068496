"""Random programs over a list of lists of arrays: items are read, replaced, swapped, added, taken
and stored to, by several names. The compiled value and gradient are right, or refused."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError, InternalError
from tests.sampling import RUN, examples

FORMS = [
    "[[x * (j + k * 0.5) for j in range(n)] for k in range(n)]",
    "[[x * (j + 1.0), x * (j + 1.5)] for j in range(n)]",
]


def program(draw: random.Random) -> str:
    """The text of a function `f(x, n, i)`."""
    lines, arrays, rows = [], list[str](), list[str]()

    def index() -> str:
        return draw.choice(["0", "1", "-1", "n - 1", "n - 2", "i"])

    def row() -> str:
        return draw.choice([f"table[{index()}]", *rows])

    def place() -> str:
        return f"{row()}[{index()}]"

    def array() -> str:
        return draw.choice([place(), place(), *arrays])

    def named(names: list[str], text: str) -> str:
        names.append(f"{'a' if names is arrays else 'r'}{len(names)}")
        return f"{names[-1]} = {text}"

    statements = [
        lambda: named(arrays, array()),
        lambda: named(arrays, f"x * {len(lines)}.0"),
        lambda: named(arrays, f"{row()}.pop()"),
        lambda: named(rows, f"table[{index()}]"),
        lambda: f"{place()} = {array()}",
        lambda: f"{place()}, {place()} = {array()}, {array()}",
        lambda: f"table[{index()}] = {row()}",
        lambda: f"table[{index()}], table[{index()}] = {row()}, {row()}",
        lambda: f"{row()}.append({array()})",
        lambda: f"{row()}.insert({draw.choice('01')}, {array()})",
        lambda: f"{row()}.reverse()",
        lambda: f"{row()}[:] = [{array()}, x * 2.0]",
        lambda: f"{row()}[0:1] = [{array()}]",
        lambda: f"{array()}[0] = {len(lines) + 3}.0",
        lambda: f"{array()}[0] = {len(lines) + 3}.0",
    ]
    for _ in range(draw.randint(2, 7)):
        lines.append(draw.choice(statements)())
    total = "sum((p + 1.0) * (q + 2.0) * np.sum(v * x) for p, row in enumerate(table) "
    lines.append(f"total = {total}for q, v in enumerate(row))")
    lines += [f"total += {k + 7}.0 * np.sum({name} * x)" for k, name in enumerate(arrays)]
    lines += [f"total += {k + 3}.0 * np.sum({name}[0] * x)" for k, name in enumerate(rows)]
    body = "".join(f"    {line}\n" for line in [f"table = {draw.choice(FORMS)}", *lines])
    return f"def f(x, n, i):\n{body}    return total\n"


@pytest.mark.parametrize("number", range(examples(800, 60)))
def test_values_and_gradients_are_right(number: int) -> None:
    text = program(random.Random(1000 * RUN.seed + number))
    name = f"<a list of lists, {text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), scope)
    f, x = scope["f"], np.array([1.0, 2.0, 3.0])
    try:
        expected = f(x, 3, 1)
    except IndexError:
        return
    try:
        value, gradient = gs.value_and_grad(f)(x, 3, 1)
    except InternalError:
        raise
    except GradscribeError:
        return
    assert value == pytest.approx(expected), text
    step = 1e-6 * np.eye(3)
    differences = [(f(x + e, 3, 1) - f(x - e, 3, 1)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-3, err_msg=text)
