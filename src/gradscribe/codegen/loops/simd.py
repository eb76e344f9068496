"""Mathematics in loops that LLVM can make vector loops of, by functions that do not prevent that.

    for i in range(n):                          for i in range(n):
        y[i] = d[i] * np.exp(x[i])    becomes       y[i] = d[i] * simd.exp(x[i])

Such are innermost loops whose iterations do not wait for one another: each stores elements that no
other reads, and sums up nothing. In any other loop a call of the C library's is faster.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from types import ModuleType

import numpy as np

from gradscribe.codegen.loops.rewriting import FLOAT_POWER, is_call
from gradscribe.codegen.loops.vectorized import vectorized

SIMD = "simd"
"""The name of the module of such functions."""

NAMES = frozenset(
    {
        *("exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh"),
        *("sin", "cos", "tan", "arctan", "arctan2", "float_power"),
    }
)


@functools.cache
def simd() -> ModuleType:
    """The functions, compiled by Numba when they are first called."""
    module = ModuleType(SIMD)
    for ufunc, function in vectorized().items():
        setattr(module, ufunc.__name__, function)
    vars(module).update(float_power=vectorized()[np.power])
    return module


def with_simd(function: ast.FunctionDef, numpy: Callable[[str], ast.expr]) -> ast.FunctionDef:
    """The function with these in place of NumPy's, its statements changed in place."""
    spelled = {ast.unparse(numpy(name)): name for name in NAMES} | {FLOAT_POWER: "float_power"}
    for loop in ast.walk(function):
        if isinstance(loop, ast.For) and _is_parallel(loop):
            for node in ast.walk(loop):
                name = spelled.get(ast.unparse(node.func)) if isinstance(node, ast.Call) else None
                if name is not None:
                    node.func = ast.Attribute(ast.Name(SIMD, ast.Load()), name, ast.Load())  # type: ignore[attr-defined]
    return function


def _is_parallel(loop: ast.For) -> bool:
    """Whether an innermost loop has iterations that do not wait for one another."""
    if not is_call(loop.iter, "range") or not isinstance(loop.target, ast.Name):
        return False
    if all(isinstance(argument, ast.Constant) for argument in loop.iter.args):
        return False  # of few iterations
    if not all(isinstance(statement, (ast.Assign, ast.AugAssign)) for statement in loop.body):
        return False
    if not all(isinstance(_target(s), (ast.Name, ast.Subscript)) for s in loop.body):
        return False
    return not _is_carried(loop) and _stores_what_no_other_reads(loop)


def _target(statement: ast.stmt) -> ast.expr:
    assert isinstance(statement, (ast.Assign, ast.AugAssign))
    return statement.targets[0] if isinstance(statement, ast.Assign) else statement.target


def _is_carried(loop: ast.For) -> bool:
    """Whether an iteration reads a number that one before has given a name to."""
    every = {target.id for target in map(_target, loop.body) if isinstance(target, ast.Name)}
    given: set[str] = set()
    for statement in loop.body:
        target = _target(statement)
        read = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}  # type: ignore[attr-defined]
        is_name = isinstance(target, ast.Name)
        if isinstance(statement, ast.AugAssign) and is_name:
            read.add(target.id)  # type: ignore[attr-defined]
        if (read - given) & every:
            return True
        if is_name:
            given.add(target.id)  # type: ignore[attr-defined]
    return False


def _stores_what_no_other_reads(loop: ast.For) -> bool:
    """Whether arrays that are stored to are read at the same place only."""
    places: dict[str, set[str]] = {}
    for node in (node for statement in loop.body for node in ast.walk(statement)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            places.setdefault(node.value.id, set()).add(ast.unparse(node.slice))
    stored = (t.value for t in map(_target, loop.body) if isinstance(t, ast.Subscript))
    return all(isinstance(array, ast.Name) and len(places[array.id]) == 1 for array in stored)
