"""`autograd.functional`: Jacobians, Hessians and their products of functions of Tensors.

Every function takes a function of Tensors and its inputs (one Tensor or a tuple), and returns
Tensors nested like those. With create_graph the results can be differentiated again. strict
refuses inputs that an output does not depend on, whose derivative is zeros otherwise.
"""

from __future__ import annotations

from typing import Any

from gradscribe.runtime.graph.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from gradscribe.runtime.modes.differentiated_call import (
    DifferentiatedCall,
    Function,
    OneOrMore,
    as_tuple,
    gradients,
    is_single,
    with_zeros,
)
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import shortened


@shortened
def vjp(
    func: Function,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`(func(*inputs), v J)`; v may be left out where func returns a single element."""
    with enable_grad():
        call = DifferentiatedCall("vjp", inputs, create_graph, strict)
        call.run(func)
        weights = call.vector(v, call.outputs, call.many_outputs)
        if weights is None and not is_single(call.outputs):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single "
                "Tensor with a single element."
            )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        product = call.gradients(call.outputs, call.inputs, weights, "gradient")
    return call.result(call.outputs, call.many_outputs), call.result(product, call.many_inputs)


@shortened
def jvp(
    func: Function,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`(func(*inputs), J v)`; v may be left out where there is a single input element."""
    with enable_grad():
        call = DifferentiatedCall("jvp", inputs, create_graph, strict)
        direction = call.direction(v)
        call.run(func)
        product = call.forward_products(call.outputs, direction)
    return call.result(call.outputs, call.many_outputs), call.result(product, call.many_outputs)


@shortened
def jacobian(
    func: Function,
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each output by each input, of shape `output.shape + input.shape`: a
    Tensor, or a tuple over the outputs, the inputs, or both, where those are tuples.

    strategy: "forward-mode" computes it column by column, and wants vectorize. Of complex outputs
    only vectorize gives one: by each strategy what a single unit seed gives, which is the complex
    derivative of holomorphic functions in forward mode, and its conjugate in reverse mode;
    `gs.jacobian` gives the whole.
    """
    _check_strategy(strategy, create_graph, strict, vectorize)
    with enable_grad():
        call = DifferentiatedCall("jacobian", inputs, create_graph, strict)
        call.run(func)
        if not vectorize:
            call.check_real()
        of_outputs = call.columns() if strategy == "forward-mode" else call.rows()
        parts = tuple(call.result(row, call.many_inputs) for row in of_outputs)
    return parts if call.many_outputs else parts[0]


@shortened
def hessian(
    func: Function,
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with a single element: a Tensor of shape
    `input.shape * 2`, or for a tuple of inputs a tuple of tuples of those."""
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    is_tuple, _ = as_tuple(inputs, "inputs", "hessian")

    def gradient(*arguments: Tensor) -> Any:
        call = DifferentiatedCall("hessian", arguments, True, strict)
        call.run(func)
        call.check_scalar()
        found = gradients(call.outputs, call.inputs, None, True)
        whole = with_zeros(found, call.inputs)
        call.check_first_order(whole)
        return whole if is_tuple else whole[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


@shortened
def vhp(
    func: Function,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`(func(*inputs), v H)` for the Hessian H of a function with a single element."""
    with enable_grad():
        call = DifferentiatedCall("vhp", inputs, create_graph, strict)
        direction = call.direction(v)
        call.run(func)
        call.check_scalar()
        first = call.first_order()
    with set_grad_enabled(create_graph or is_grad_enabled()):
        product = call.gradients(first, call.inputs, direction, "jacobian")
    return call.result(call.outputs, call.many_outputs), call.result(product, call.many_inputs)


@shortened
def hvp(
    func: Function,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """`(func(*inputs), H v)`; slower than `vhp`, to which it is equal where H is symmetric."""
    with enable_grad():
        call = DifferentiatedCall("hvp", inputs, create_graph, strict)
        direction = call.direction(v)
        call.run(func)
        call.check_scalar()
        first = call.first_order()
        product = call.forward_products(first, direction)
    return call.result(call.outputs, call.many_outputs), call.result(product, call.many_inputs)


def _check_strategy(strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode" and (create_graph or strict):
        option = "create_graph" if create_graph else "strict"
        raise (NotImplementedError if create_graph else RuntimeError)(
            f'torch.autograd.functional.jacobian: `{option}=True` and `strategy="forward-mode"` '
            f"are not supported together (yet). Please either set `{option}=False` or "
            '`strategy="reverse-mode"`.'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            "only implemented for `vectorize=True`."
        )
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )
