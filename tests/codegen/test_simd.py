"""Which loops call mathematics that vectorizes."""

from __future__ import annotations

import ast
import textwrap

import pytest

pytest.importorskip("numba")

from gradscribe.codegen.loops.simd import with_simd


def changed(text):
    function = ast.parse("def g():\n" + textwrap.indent(text, "    ")).body[0]

    def numpy(name):
        return ast.parse(f"np.{name}", mode="eval").body

    return "simd." in ast.unparse(ast.fix_missing_locations(with_simd(function, numpy)))


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = np.exp(x[i])",
        "y[i] += np.exp(x[i + 1])",
        "t = np.exp(x[i])\n    y[i] = t * t",
        "t = np.exp(x[i])\n    t *= 2\n    y[i] = t",
        "y[i, j] = np.exp(y[i, j])",
    ],
)
def test_iterations_that_do_not_wait(body):
    assert changed(f"for i in range(n):\n    {body}")


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(n):\n    total += np.exp(x[i])",
        "for i in range(n):\n    y[i + 1] = np.exp(y[i])",
        "for i in range(n):\n    t = np.exp(t)\n    y[i] = t",
        "for i in range(n):\n    y[i] = np.exp(t)\n    t = y[i]",
        "for i in range(4):\n    y[i] = np.exp(x[i])",
        "for i in range(n):\n    if x[i] > 0:\n        y[i] = np.exp(x[i])",
        "for i in range(n):\n    a, b = np.exp(x[i]), 1\n    y[i] = a",
        "for a in rows:\n    y[0] = np.exp(a)",
        "while c:\n    y[0] = np.exp(x[0])",
        "for i in range(n):\n    y[i] = other.exp(x[i])",
    ],
)
def test_any_other_loop_calls_numpy_s(text):
    assert not changed(text)
