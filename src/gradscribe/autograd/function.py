"""`gs.autograd.function`: `Function` and the decorators of its methods."""

from gradscribe.runtime.graph.function import (
    Function,
    FunctionMeta,
    InplaceFunction,
    once_differentiable,
)
from gradscribe.runtime.graph.function_context import FunctionCtx
from gradscribe.runtime.graph.function_context import FunctionCtx as BackwardCFunction

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]
