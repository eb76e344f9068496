"""Compiles modules of functions with Numba, with instructions of LLVM for the operations.

Numba is optional, and slow to import: it is imported when functions are compiled.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gradscribe.codegen.loops.vectorized.intrinsics import intrinsics
from gradscribe.codegen.loops.vectorized.operations import in_type_of


def compiled(modules: Iterable[ModuleType]) -> dict[Callable[..., Any], Any]:
    """For each function of the modules, one that Numba compiles, and inlines where it is called.

    A module comes after those that it imports functions from, and a function after those that it
    calls. One without parameters is called here: its result is a constant of those that call it.
    """
    compile_ = _compiler()
    made: dict[Callable[..., Any], Any] = intrinsics()
    for module in modules:
        names = {name: _in_native_code(made, value) for name, value in vars(module).items()}
        for function in _functions(module):
            if function not in made:
                made[function] = compile_(_copy(function, names))
            names[function.__name__] = made[function]
    return made


def of_numbers(function: Any, count: int, made: dict[Callable[..., Any], Any]) -> Any:
    """A compiled function of float64, for floats of 32 bits and integers, too."""
    in_type = made[in_type_of]
    if count == 1:
        return _compiler()(lambda x: in_type(function(np.float64(x)), x))
    return _compiler()(lambda x, y: in_type(function(np.float64(x), np.float64(y)), x + y))


def _compiler() -> Any:
    """Numba's decorator, with options that those of a caller do not change."""
    numba: Any = importlib.import_module("numba")
    return numba.njit(error_model="numpy", fastmath=False, boundscheck=False, forceinline=True)


def _copy(function: FunctionType, names: dict[str, Any]) -> Callable[..., Any]:
    """The function with these names for its globals, or with its constant result."""
    if function.__code__.co_argcount:
        return FunctionType(function.__code__, names, function.__name__)
    constant = function()
    return lambda: constant


def _in_native_code(made: dict[Callable[..., Any], Any], value: Any) -> Any:
    return made.get(value, value) if isinstance(value, FunctionType) else value


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield value
