"""`gs.trace`: what one run of a function did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.api.differentiable import DifferentiableFunction
from gradscribe.compiler import target_of
from gradscribe.runtime.graph.trace import Graph, traced
from gradscribe.tracebacks import shortened


@shortened
def trace(function: Callable[..., Any], *args: Any, **keywords: Any) -> Graph:
    """Run a function once on these arguments, compiled, and return what it executed: the
    operations, the branch taken at every `if`, the iterations of every loop.

    >>> def power(x, n):
    ...     for _ in range(n):
    ...         x = x * x
    ...     return x
    >>> print(trace(power, 2.0, 3))
    run of power
    for _ in range(n):                        3 iterations
        iterations 1 to 3
            x = x * x                         float
    return x                                  float

    `.to_dot()` draws it. Raises an `UnsupportedError` for what cannot be compiled.
    """
    if isinstance(function, DifferentiableFunction):
        function = function.__gradscribe_function__
    target = target_of(function)
    primal, matched = target.program.find(target.values(args, keywords))
    leaves = primal.layout.plain(primal.layout.leaves(matched))
    active = primal.active_leaves(None)
    derivatives = primal.effectful_specialization(active).derivatives
    return traced(*derivatives.primal_call(leaves))
