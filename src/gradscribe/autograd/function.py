"""`gs.autograd.function`: `Function` and the decorators of its methods."""

from typing import NoReturn

from gradscribe.runtime.absent import absent_from_functions
from gradscribe.runtime.graph.function_context import FunctionCtx
from gradscribe.runtime.graph.function_context import FunctionCtx as BackwardCFunction
from gradscribe.runtime.modes.function import (
    Function,
    FunctionMeta,
    InplaceFunction,
    once_differentiable,
)

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


def __getattr__(name: str) -> NoReturn:
    raise absent_from_functions(name)
