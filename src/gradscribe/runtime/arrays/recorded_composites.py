"""Backwards of operations that are made of others, as one operation on cotangent and result.

What compiled code makes of their parts would be recorded as a graph of parts; these are the nodes
that PyTorch users know. The formulas are the parts' derivatives in terms of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.runtime.arrays import composites, of_result
from gradscribe.runtime.arrays.eager_operation import Operation


def backward_of(operation: Operation, static: tuple[Any, ...]) -> Operation | None:
    """The backward of a call of an operation, of its cotangent and its result, if there is one."""
    own = _BACKWARDS.get(operation.callee)
    if own is None or own.parameters != operation.parameters[: len(static)]:
        return None
    return own


_BACKWARDS: dict[Callable[..., Any], Operation] = {
    composites.sigmoid: Operation("SigmoidBackward", of_result.sigmoid_backward, ()),
    composites.relu: Operation("ThresholdBackward", of_result.threshold_backward, ()),
    composites.rsqrt: Operation("RsqrtBackward", of_result.rsqrt_backward, ()),
    composites.softmax: Operation("SoftmaxBackwardData", of_result.softmax_backward, ("axis",)),
    composites.log_softmax: Operation(
        "LogSoftmaxBackwardData", of_result.log_softmax_backward, ("axis",)
    ),
}
