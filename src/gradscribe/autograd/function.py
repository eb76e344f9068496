"""`gs.autograd.function`: `Function` and the decorators of its methods."""

from gradscribe.runtime.function import Function, once_differentiable
from gradscribe.runtime.function_node import FunctionNode as FunctionCtx

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
