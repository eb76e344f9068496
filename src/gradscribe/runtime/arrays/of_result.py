"""Derivatives that are functions of an operation's result: what `relu` and `softmax` keep.

The compiled adjoint of a composite keeps what its statements need, operands among them. Of these
operations the gradient is a function of the cotangent and the result alone, which is then all that
their nodes keep, and all that must not be changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from gradscribe.runtime.arrays import composites
from gradscribe.runtime.arrays.eager_operation import Operation


def sigmoid_backward(d_out: Any, out: Any) -> Any:
    """The gradient of `sigmoid`."""
    return d_out * (1 - out) * out


def rsqrt_backward(d_out: Any, out: Any) -> Any:
    """The gradient of `rsqrt`."""
    return -0.5 * d_out * (out * out * out)


def threshold_backward(d_out: Any, out: Any) -> Any:
    """The gradient of `relu`."""
    return np.where(out <= 0, 0, d_out)


def softmax_backward(d_out: Any, out: Any, axis: Any) -> Any:
    """The gradient of `softmax`."""
    weighted = d_out * out
    return weighted - out * np.sum(weighted, axis=axis, keepdims=True)


def log_softmax_backward(d_out: Any, out: Any, axis: Any) -> Any:
    """The gradient of `log_softmax`."""
    return d_out - np.exp(out) * np.sum(d_out, axis=axis, keepdims=True)


BACKWARDS: dict[Any, Callable[..., Any]] = {
    composites.relu: threshold_backward,
    composites.rsqrt: rsqrt_backward,
    composites.sigmoid: sigmoid_backward,
    composites.softmax: softmax_backward,
    composites.log_softmax: log_softmax_backward,
}
"""The gradient of each composite, of its cotangent, its result and its static arguments."""


class OfResult:
    """The `Derivatives` (see `kernel.py`) of an operation on one Tensor by its result."""

    active = outputs = record_outputs = (0,)
    record_inputs: tuple[int, ...] = ()
    higher_inputs: tuple[int, ...] = ()
    keeps_values = is_leaf = True
    linear = has_given_rules = has_choices = False
    by_operations = None
    reads = active

    def __init__(self, operation: Operation, static: tuple[Any, ...]) -> None:
        self.name = operation.name
        self._operation = operation
        self._static = static
        self._backward = BACKWARDS[operation.callee]

    def forward(self, *leaves: Any) -> tuple[tuple[Any, ...], Any]:
        """The result, which is also all that is kept."""
        out = np.asarray(self._operation.call(leaves, self._static))
        return (out,), (out,)

    def adjoint(self, record: Any, *cotangents: Any) -> Sequence[Any]:
        """The gradient of the operand."""
        (out,) = record
        gradient = self._backward(cotangents[0], out, *self._static)
        return (np.asarray(gradient, out.dtype),)

    flow = adjoint

    def primal_call(self, leaves: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function itself, and its arguments."""
        return self._operation.callee, (*leaves, *self._static)

    def _never_asked(self, *_: Any) -> NoReturn:
        """Of what an operation has that is run by generated code: this is no such."""
        raise NotImplementedError(f"the derivatives of {self.name} are operations on Tensors")

    order = stepwise = primal = of_outputs = _never_asked
    gradient = tangent = stepwise_primal = reached = property(_never_asked)


def derivatives_of_result(
    operation: Operation, static: tuple[Any, ...], leaves: Sequence[Any]
) -> OfResult | None:
    """The derivatives of an operation by its result, if there are such."""
    if operation.callee not in BACKWARDS or len(leaves) != 1 or leaves[0].dtype.kind != "f":
        return None
    return OfResult(operation, static)
