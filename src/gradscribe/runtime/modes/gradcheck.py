"""`gradcheck` and `gradgradcheck`: backward, and forward mode, against central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.modes.jacobian_check import Check, GradcheckError, is_checked, outputs_of
from gradscribe.runtime.tensors.backward import as_tensors, grad
from gradscribe.runtime.tensors.creation import finished
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import shortened

Function = Callable[..., Any]


@shortened
def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of func's outputs with central differences of step eps.

    inputs: the arguments of func; those Tensors that require gradients are checked. Returns
    True; where they differ by more than atol + rtol * |numerical|, raises a GradcheckError, or
    returns False without raise_exception. check_forward_ad: compare tangents, too.
    check_undefined_grad: try outputs that get no gradient. nondet_tol: how much two runs may
    differ. fast_mode: compare each Jacobian along one random direction of the input and one of
    the output, in a number of calls of func that does not grow with their sizes. The other options
    of PyTorch's gradcheck are accepted and change nothing.
    """
    arguments = as_tensors(inputs) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_options(
        check_forward_ad, check_backward_ad, check_batched_grad, check_batched_forward_grad
    )
    check = Check(func, arguments, eps, atol, rtol, nondet_tol, fast_mode)
    try:
        check.run(check_backward_ad, check_forward_ad)
        if check_undefined_grad and check_forward_ad:
            check.missing_tangents()
        if check_undefined_grad and check_backward_ad:
            check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_options(forward: bool, backward: bool, batched: bool, batched_forward: bool) -> None:
    """Raise the errors for options that do not go together."""
    if not (forward or backward):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if batched and not backward:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if batched_forward and not forward:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )


@shortened
def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of func, as functions of its inputs and of those grad_outputs
    that require gradients (random numbers that do by default). The options are those of
    `gradcheck`."""
    arguments = as_tensors(inputs) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        seeds = [
            finished(generator.standard_normal(out.shape), out.dtype, requires_grad=True)
            for out in outputs_of(func(*arguments))
        ]
    else:
        seeds = list(as_tensors(grad_outputs))
    count = len(seeds)
    checked = [is_checked(value) for value in arguments]

    def gradients(*values: Any) -> tuple[Tensor, ...]:
        for value, requires_grad in zip(values, checked, strict=False):
            if requires_grad:
                value.requires_grad_()  # which a dual Tensor does not
        outputs = outputs_of(func(*values[:-count]))
        wanted = [v for v in values[:-count] if is_checked(v)]
        found = grad(outputs, wanted, values[-count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None and g.requires_grad)

    return gradcheck(
        gradients,
        (*arguments, *seeds),
        eps,
        atol,
        rtol,
        raise_exception,
        nondet_tol,
        check_undefined_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )
