"""Derivatives of eager operations in operations on Tensors, for backwards that are recorded.

Where a graph of the backward itself is wanted, the gradient of an operation with a rule here is
computed with other eager operations, so its graph is made of their nodes. It leads to what the
derivative reads, to operands, the cotangent or the operation's own result (`exp`), and to nothing
else: what a second derivative does not depend on stays unused. The formulas are those of the
compiled adjoints, in the order of operations that PyTorch records. Operations without a rule, and
complex ones, are differentiated again as compiled code (`operation.HigherNode`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradscribe.runtime import composites, functions, shaping
from gradscribe.runtime.eager import Operation, apply
from gradscribe.runtime.gathering import masked_fill
from gradscribe.runtime.kernel import signature
from gradscribe.runtime.recorded_backward import RecordedCall
from gradscribe.runtime.tensor import Tensor

Partial = Callable[[RecordedCall], Any]
Gradient = Callable[[RecordedCall, int], Any]


Fits = Callable[[Sequence[tuple[int, ...]]], bool]


class Rule(NamedTuple):
    """The gradients of the operands. parameters: the static arguments that they know of; fits:
    whether they hold for operands of these shapes."""

    gradient: Gradient
    parameters: frozenset[str]
    fits: Fits | None


def rule_of(operation: Operation, static: Sequence[Any], leaves: Sequence[Any]) -> Gradient | None:
    """The rule for a call of an operation, if it has one."""
    rule = _RULES.get(operation.name) or _RULES.get(operation.callee)
    if rule is None or not rule.parameters.issuperset(operation.parameters[: len(static)]):
        return None
    signatures = [signature(leaf) for leaf in leaves]
    if any(dtype.kind == "c" for _, dtype in signatures):
        return None
    if rule.fits is not None and not rule.fits([shape for shape, _ in signatures]):
        return None
    return rule.gradient


def _rule(*partials: Partial | None, parameters: str = "", fits: Fits | None = None) -> Rule:
    """A rule of one partial derivative for each operand."""

    def gradient(call: RecordedCall, position: int) -> Any:
        partial = partials[position]
        assert partial is not None
        return partial(call)

    return Rule(gradient, frozenset(parameters.split()), fits)


# --- shapes -----------------------------------------------------------------------------------


def _axes(call: RecordedCall) -> tuple[int, ...]:
    """The axes of a reduction, counted from the front; none where it is over all."""
    axis = call.static.get("axis")
    named = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(a % len(call.shape(0)) for a in named))


def _kept(call: RecordedCall, reduced: Tensor) -> Any:
    """What a reduction gave, with the axes that it was over."""
    if not call.static.get("keepdims"):
        for axis in _axes(call):
            reduced = reduced.unsqueeze(axis)
    return reduced


def _spread(call: RecordedCall) -> Any:
    """The cotangent of a reduction along the axes that it was over."""
    return shaping.expand(_kept(call, call.grad), call.shape(0))


def _count(call: RecordedCall) -> int:
    """How many elements each result of a reduction was made of."""
    shape = call.shape(0)
    return math.prod(shape[axis] for axis in _axes(call) or range(len(shape)))


def _moved_back(call: RecordedCall) -> Any:
    order = call.static.get("axes")
    if order is None:
        return call.grad.t() if call.grad.ndim <= 2 else shaping.transpose(call.grad)
    return call.grad.permute(*np.argsort([axis % len(order) for axis in order]).tolist())


def _with_axes(call: RecordedCall) -> Any:
    """The cotangent with the axes of length one that were taken away."""
    shape = call.shape(0)
    named = _axes(call) if call.static.get("axis") is not None else range(len(shape))
    grad = call.grad
    for axis in named:
        if shape[axis] == 1:
            grad = grad.unsqueeze(axis)
    return grad


def _joined(call: RecordedCall, position: int) -> Any:
    """The part of the cotangent of a concatenation that belongs to an operand."""
    axis = call.static.get("axis", 0)
    shapes = [call.shape(before) for before in range(position + 1)]
    lengths = [math.prod(shape) if axis is None else shape[axis] for shape in shapes]
    part = call.grad.narrow(axis or 0, sum(lengths[:-1]), lengths[-1])
    return shaping.reshape(part, shapes[-1]) if axis is None else part


def _stacked(call: RecordedCall, position: int) -> Any:
    return call.grad.select(call.static.get("axis", 0), position)


def _rolled_back(call: RecordedCall) -> Any:
    shift = call.static["shift"]
    back = tuple(-s for s in shift) if isinstance(shift, tuple) else -shift
    return call.grad.roll(back, call.static["axis"])


def _summed_over_copies(call: RecordedCall) -> Any:
    """The cotangent of what was repeated along axes."""
    times = call.static["reps"]
    lengths = (1,) * (len(times) - len(call.shape(0))) + call.shape(0)
    split = [length for pair in zip(times, lengths, strict=True) for length in pair]
    summed = shaping.reshape(call.grad, tuple(split)).sum(tuple(range(0, len(split), 2)))
    return summed if lengths == call.shape(0) else shaping.reshape(summed, call.shape(0))


def _summed_back(call: RecordedCall) -> Any:
    axis = call.static["axis"]
    if axis is None:
        return shaping.reshape(call.grad.flip(0).cumsum(0).flip(0), call.shape(0))
    return call.grad.flip(axis).cumsum(axis).flip(axis)


# --- elements ---------------------------------------------------------------------------------


def _of_power(call: RecordedCall) -> Any:
    """By the base, of a power with a number for its exponent."""
    exponent = call[1]
    if isinstance(exponent, Tensor):
        positive = call[0].pow(exponent - (exponent != 0).to(exponent.dtype))
        return call.grad * (exponent * positive)
    if exponent == 0:
        return call.grad * 0
    return call.grad * (call[0].pow(exponent - 1) * exponent)


def _of_exponent(call: RecordedCall) -> Any:
    base, exponent = call[0], call[1]
    if not isinstance(base, Tensor) and base > 0:
        return call.grad * (call.result * math.log(base))
    constant = (base == 0) & (exponent >= 0)  # 0 ** y is 0 for y > 0
    logarithm = base.log() if isinstance(base, Tensor) else float(np.log(np.float64(base)))
    return call.grad * functions.where(constant, 0.0, call.result * logarithm)


def _of_quotient(call: RecordedCall) -> Any:
    return -call.grad * ((call[0] / call[1]) / call[1])


def _within(call: RecordedCall) -> Any:
    """The cotangent where the elements were within their limits."""
    low, high = call.static.get("min"), call.static.get("max")
    inside = np.ones(call.shape(0), np.bool_)
    if low is not None:
        inside &= call[0].array >= low
    if high is not None:
        inside &= call[0].array <= high
    return functions.where(inside, call.grad, 0.0)


def _above(call: RecordedCall, other: int) -> Any:
    """The cotangent of a maximum where one operand is above the other; half of it where they are
    equal."""
    return _ahead(call.grad, call[1 - other] == call[other], call[1 - other] < call[other])


def _below(call: RecordedCall, other: int) -> Any:
    return _ahead(call.grad, call[1 - other] == call[other], call[1 - other] > call[other])


def _ahead(grad: Tensor, equal: Any, behind: Any) -> Tensor:
    return masked_fill(functions.where(equal, grad / 2, grad), behind, 0.0)


def _evenly(call: RecordedCall) -> Any:
    """The cotangent of an extremum, shared by the elements that are equal to it."""
    chosen = call[0].detach() == call.result.detach()
    return chosen * (call.grad / chosen.sum())


def _from_mean(call: RecordedCall, grad: Tensor) -> Any:
    """The gradient of a variance."""
    x, axes = call[0], _axes(call)
    center = x.mean(axes, keepdim=True) if axes else x.mean()
    return (_kept(call, grad) * (2.0 / (_count(call) - call.static.get("ddof", 0)))) * (x - center)


def _of_deviation(call: RecordedCall) -> Any:
    flat = call.result.detach() == 0
    return _from_mean(call, masked_fill(call.grad / (call.result * 2), flat, 0.0))


def _of_logsumexp(call: RecordedCall) -> Any:
    return _kept(call, call.grad) * (call[0] - _kept(call, call.result)).exp()


# --- gradients that PyTorch has operations of their own for -------------------------------------


def _sigmoid_backward(d_out: Any, out: Any) -> Any:
    return d_out * (1 - out) * out


def _tanh_backward(d_out: Any, out: Any) -> Any:
    return d_out * (1 - out * out)


def _threshold_backward(d_out: Any, out: Any) -> Any:
    return np.where(out <= 0, 0, d_out)


def _softmax_backward(d_out: Any, out: Any, axis: Any) -> Any:
    weighted = d_out * out
    return weighted - out * np.sum(weighted, axis=axis, keepdims=True)


def _log_softmax_backward(d_out: Any, out: Any, axis: Any) -> Any:
    return d_out - np.exp(out) * np.sum(d_out, axis=axis, keepdims=True)


def _own(name: str, callee: Callable[..., Any], *parameters: str) -> Rule:
    """The rule of an operation whose gradient is one operation, on the cotangent and the result."""
    operation = Operation(name, callee, parameters)
    return _rule(
        lambda call: apply(
            operation, (call.grad, call.result), tuple(call.static[p] for p in parameters)
        ),
        parameters=" ".join(parameters),
    )


# --- products ---------------------------------------------------------------------------------

_MATRIX: dict[tuple[int, int], tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {
    (2, 2): (lambda g, y: g.mm(y.t()), lambda g, x: x.t().mm(g)),
    (2, 1): (lambda g, y: g.outer(y), lambda g, x: x.t().mv(g)),
    (1, 1): (lambda g, y: g * y, lambda g, x: g * x),
    (3, 3): (lambda g, y: g.bmm(y.transpose(1, 2)), lambda g, x: x.transpose(1, 2).bmm(g)),
}
"""By the ranks of the factors of a matrix product: the gradient of each, of the other."""


def _are_matrices(shapes: Sequence[tuple[int, ...]]) -> bool:
    return len(shapes) == 2 and (len(shapes[0]), len(shapes[1])) in _MATRIX


def _are_added_to_matrices(shapes: Sequence[tuple[int, ...]]) -> bool:
    return _are_matrices(shapes[1:3])


def _of_product(call: RecordedCall, position: int, first: int = 0) -> Any:
    """The gradient of a factor of a matrix product; first: the position of the first factor."""
    ranks = len(call.shape(first)), len(call.shape(first + 1))
    other = call[first + 1 - position]
    return _MATRIX[ranks][position](call.grad, other)


def _of_added_product(call: RecordedCall, position: int) -> Any:
    """The gradients of beta * x + alpha * (first @ second)."""
    factor = call[4 if position else 3]
    grad = _of_product(call, position - 1, first=1) if position else call.grad
    return grad if isinstance(factor, (int, float)) and factor == 1 else grad * factor


_REDUCED = "axis keepdims"

_RULES: dict[Any, Rule] = {
    np.add: _rule(lambda c: c.grad, lambda c: c.grad),
    np.subtract: _rule(lambda c: c.grad, lambda c: -c.grad),
    np.multiply: _rule(lambda c: c.grad * c[1], lambda c: c.grad * c[0]),
    np.true_divide: _rule(lambda c: c.grad / c[1], _of_quotient),
    np.negative: _rule(lambda c: -c.grad),
    np.power: _rule(_of_power, _of_exponent),
    np.square: _rule(lambda c: c.grad * (c[0] * 2)),
    np.absolute: _rule(lambda c: c.grad * c[0].sgn()),
    np.reciprocal: _rule(lambda c: -c.grad * (c.result * c.result)),
    np.sqrt: _rule(lambda c: c.grad / (2 * c.result)),
    composites.rsqrt: _rule(lambda c: -0.5 * c.grad * c.result.pow(3)),
    np.exp: _rule(lambda c: c.grad * c.result),
    np.exp2: _rule(lambda c: c.grad * c.result * math.log(2)),
    np.expm1: _rule(lambda c: c.grad * (c.result + 1)),
    np.log: _rule(lambda c: c.grad / c[0]),
    np.log2: _rule(lambda c: c.grad / (c[0] * math.log(2))),
    np.log10: _rule(lambda c: c.grad / (c[0] * math.log(10))),
    np.log1p: _rule(lambda c: c.grad / (c[0] + 1)),
    np.sin: _rule(lambda c: c.grad * c[0].cos()),
    np.cos: _rule(lambda c: c.grad * -c[0].sin()),
    np.tan: _rule(lambda c: c.grad * (c.result.pow(2) + 1)),
    np.arcsin: _rule(lambda c: c.grad * (-c[0] * c[0] + 1).rsqrt()),
    np.arccos: _rule(lambda c: c.grad * -((-c[0] * c[0] + 1).rsqrt())),
    np.arctan: _rule(lambda c: c.grad / (c[0] * c[0] + 1)),
    np.sinh: _rule(lambda c: c.grad * c[0].cosh()),
    np.cosh: _rule(lambda c: c.grad * c[0].sinh()),
    np.tanh: _own("TanhBackward", _tanh_backward),
    composites.sigmoid: _own("SigmoidBackward", _sigmoid_backward),
    composites.relu: _own("ThresholdBackward", _threshold_backward),
    composites.softmax: _own("SoftmaxBackwardData", _softmax_backward, "axis"),
    composites.log_softmax: _own("LogSoftmaxBackwardData", _log_softmax_backward, "axis"),
    composites.clone: _rule(lambda c: c.grad),
    composites.to_dtype: _rule(lambda c: c.grad, parameters="dtype"),
    np.where: _rule(
        None,
        lambda c: functions.where(c[0], c.grad, 0.0),
        lambda c: functions.where(c[0], 0.0, c.grad),
    ),
    "MaskedFill": _rule(
        None,
        lambda c: functions.where(c[0], c.grad, 0.0),
        lambda c: masked_fill(c.grad, c[0], 0.0),
    ),
    np.maximum: _rule(lambda c: _above(c, 1), lambda c: _above(c, 0)),
    np.minimum: _rule(lambda c: _below(c, 1), lambda c: _below(c, 0)),
    np.clip: _rule(_within, parameters="min max", fits=lambda shapes: len(shapes) == 1),
    np.sum: _rule(_spread, parameters=_REDUCED),
    np.mean: _rule(lambda c: _spread(c) / _count(c), parameters=_REDUCED),
    np.max: _rule(_evenly),
    np.min: _rule(_evenly),
    np.var: _rule(lambda c: _from_mean(c, c.grad), parameters=f"{_REDUCED} ddof"),
    np.std: _rule(_of_deviation, parameters=f"{_REDUCED} ddof"),
    composites.logsumexp: _rule(_of_logsumexp, parameters=_REDUCED),
    np.cumsum: _rule(_summed_back, parameters="axis"),
    np.matmul: Rule(_of_product, frozenset(), _are_matrices),
    np.dot: Rule(_of_product, frozenset(), lambda s: _are_matrices(s) and len(s[0]) == 1),
    composites.added_product: Rule(_of_added_product, frozenset(), _are_added_to_matrices),
    np.reshape: _rule(lambda c: shaping.reshape(c.grad, c.shape(0)), parameters="shape"),
    np.broadcast_to: _rule(lambda c: c.grad, parameters="shape"),
    np.transpose: _rule(_moved_back, parameters="axes"),
    np.swapaxes: _rule(
        lambda c: c.grad.transpose(c.static["axis1"], c.static["axis2"]), parameters="axis1 axis2"
    ),
    np.expand_dims: _rule(lambda c: c.grad.squeeze(c.static["axis"]), parameters="axis"),
    np.squeeze: _rule(_with_axes, parameters="axis"),
    composites.flip: _rule(lambda c: c.grad.flip(c.static["axis"]), parameters="axis"),
    np.roll: _rule(_rolled_back, parameters="shift axis"),
    np.tile: _rule(_summed_over_copies, parameters="reps"),
    np.tril: _rule(lambda c: c.grad.tril(c.static.get("k", 0)), parameters="k"),
    np.triu: _rule(lambda c: c.grad.triu(c.static.get("k", 0)), parameters="k"),
    np.concatenate: Rule(_joined, frozenset({"axis"}), None),
    np.stack: Rule(_stacked, frozenset({"axis"}), None),
}
"""The rule of each callee, or of the operation of a name. `c` is the recorded call."""
