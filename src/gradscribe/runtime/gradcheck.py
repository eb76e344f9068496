"""`gradcheck` and `gradgradcheck`: backward against central differences.

For each input that requires a gradient and each output, the whole Jacobian is computed twice:
numerically, column by column, and by backward, row by row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.backward import as_tensors, grad
from gradscribe.runtime.creation import finished
from gradscribe.runtime.tensor import Array, Tensor, wrap

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """Backward and finite differences do not agree."""


def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    **_: Any,
) -> bool:
    """Compare the gradients of func's outputs with central differences of step eps.

    inputs: the arguments of func; those Tensors that require gradients are checked. Returns
    True; where they differ by more than atol + rtol * |numerical|, raises a GradcheckError, or
    returns False without raise_exception.
    """
    arguments = as_tensors(inputs) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        _check(func, arguments, eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


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
    **_: Any,
) -> bool:
    """`gradcheck` of the gradients of func, as functions of its inputs and of grad_outputs
    (random numbers by default)."""
    arguments = as_tensors(inputs) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        seeds = [
            finished(generator.standard_normal(out.shape), out.dtype, requires_grad=True)
            for out in _outputs(func(*arguments))
        ]
    else:
        seeds = [seed.detach().requires_grad_() for seed in as_tensors(grad_outputs)]
    count = len(seeds)

    def gradients(*values: Any) -> tuple[Tensor, ...]:
        outputs = _outputs(func(*values[:-count]))
        wanted = [v for v in values[:-count] if _is_checked(v)]
        found = grad(outputs, wanted, values[-count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None and g.requires_grad)

    return gradcheck(gradients, (*arguments, *seeds), eps, atol, rtol, raise_exception, nondet_tol)


def _is_checked(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _outputs(result: Any) -> tuple[Tensor, ...]:
    """The differentiable outputs."""
    items = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(i for i in items if isinstance(i, Tensor) and i.requires_grad)


def _check(
    func: Function,
    arguments: Sequence[Any],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
) -> None:
    checked = [value for value in arguments if _is_checked(value)]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, "
            "but none of the them have requires_grad=True."
        )
    for position, value in enumerate(checked):
        if value.array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{position} requires gradient and is not a double precision floating "
                "point or complex. This check will likely fail if all the inputs are not of "
                "double precision floating point or complex. ",
                stacklevel=4,
            )
        value.retain_grad()
    outputs = _outputs(func(*arguments))
    for number, output in enumerate(outputs):
        analytical = _analytical(output, checked)
        again = _analytical(output, checked)
        for position, value in enumerate(checked):
            numerical = _numerical(func, arguments, value, number, eps)
            found = analytical[position]
            if not np.allclose(found, again[position], rtol=0, atol=nondet_tol, equal_nan=True):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient."
                )
            if not np.allclose(found, numerical, rtol=rtol, atol=atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {number} with respect to input {position},\n"
                    f"numerical:{wrap(numerical)!r}\nanalytical:{wrap(found)!r}\n"
                )


def _analytical(output: Tensor, inputs: Sequence[Tensor]) -> list[Array]:
    """For each input the Jacobian, of shape (input elements, output elements), by backward."""
    jacobians = [np.zeros((i.array.size, output.array.size), output.dtype) for i in inputs]
    for column in range(output.array.size):
        seed = np.zeros_like(output.array)
        seed.flat[column] = 1
        found = grad(output, inputs, wrap(seed), retain_graph=True, allow_unused=True)
        for jacobian, gradient in zip(jacobians, found, strict=True):
            if gradient is not None:
                jacobian[:, column] = gradient.array.ravel()
    return jacobians


def _numerical(
    func: Function, arguments: Sequence[Any], value: Tensor, number: int, eps: float
) -> Array:
    """The Jacobian of one output with respect to one input by central differences."""

    def output() -> Array:
        return _outputs(func(*arguments))[number].array.astype(np.float64).ravel()

    rows = []
    elements = value.array.reshape(-1)
    writable = np.shares_memory(elements, value.array)
    for i in range(value.array.size):
        place = np.unravel_index(i, value.array.shape)
        present = value.array[place]
        sides = []
        for step in (eps, -eps):
            value.array[place] = present + step
            sides.append(output())
        value.array[place] = present
        rows.append((sides[0] - sides[1]) / (2 * eps))
    del writable
    return np.array(rows).reshape(value.array.size, -1)
