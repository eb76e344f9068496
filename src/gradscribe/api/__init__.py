"""The public functions: `differentiable` and the functional transforms.

The transforms take plain or decorated functions and plain values in any nesting of tuples,
lists, dicts and dataclasses, return plain values in the same nesting, and never change the
arrays that they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.api import (
    function_calls,
    jacobians,
    stopping,
    tensors_in_compiled_code,
    transform_calls,
    wrappers,
)
from gradscribe.api.differentiable import DifferentiableFunction, differentiable
from gradscribe.api.directional import hvp, jvp, vjp
from gradscribe.api.functional import Argnums, Gradient
from gradscribe.api.jacobians import hessian, jacfwd, jacobian, jacrev
from gradscribe.api.own_operations import primitive
from gradscribe.api.recorded_transforms import Compile, compiles
from gradscribe.api.tracing import trace
from gradscribe.compiler.specialization import Specialization
from gradscribe.frontend.state.dependencies import WRAPPERS
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.primitives.control import STOP_GRADIENT
from gradscribe.primitives.registry import register
from gradscribe.recording.arrays import stopped
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import refuse_endless, shortened

__all__ = [
    "DifferentiableFunction",
    "Specialization",
    "differentiable",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "primitive",
    "stop_gradient",
    "trace",
    "value_and_grad",
    "vjp",
]


@shortened
def grad(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Gradient:
    """The gradient of a scalar function, as a function of the same arguments.

    argnums: the argument, or (then the result is a tuple) the arguments, to differentiate.
    has_aux: the function returns (value, aux); its gradient then returns (gradient, aux).

    >>> grad(lambda x: x**2)(3.0)
    6.0

    `.source` of the result is the generated code of its latest call. `grad(grad(f))` is
    compiled, too. Raises an `UnsupportedError` for what cannot be compiled, when called.

    compile=False runs the function as it is, on arrays that record NumPy's calls: slower, and there
    is no source, but any Python will do. compile="auto" does that for the calls that cannot be
    compiled, and compiles the rest; `.report` says which calls. jit=True runs the generated code as
    native code (with Numba), where it is loops over numbers and elements of arrays, and as it is
    elsewhere: see `.jit_report`. All transforms take `compile` and `jit`.
    """
    chosen = compiles(function, compile, jit)
    return Gradient(function, argnums, has_aux=has_aux, compiles=chosen, jit=jit)


@shortened
def value_and_grad(
    function: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Gradient:
    """Like `grad`, returning (value, gradient); with has_aux, ((value, aux), gradient)."""
    chosen = compiles(function, compile, jit)
    return Gradient(function, argnums, has_aux=has_aux, with_value=True, compiles=chosen, jit=jit)


def stop_gradient(x: Any) -> Any:
    """x itself (numbers and arrays in any nesting), through which nothing is differentiated."""
    try:
        tree, leaves = flatten(x)
    except RecursionError as error:
        refuse_endless(error)
        raise
    cut = [leaf.detach() if isinstance(leaf, Tensor) else stopped(leaf) for leaf in leaves]
    return unflatten(tree, iter(cut))


WRAPPERS[DifferentiableFunction] = ("__gradscribe_function__", ())
transform_calls.enter(grad, value_and_grad)
jacobians.enter()
function_calls.enter()
tensors_in_compiled_code.enter()
register(STOP_GRADIENT, (stop_gradient,), ())
stopping.enter(stop_gradient)
wrappers.enter()
