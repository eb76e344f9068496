"""Dtypes inside compiled code: the default one, and PyTorch's promotion, where the types of all
operands are known: an operand whose dtype NumPy would let decide otherwise is converted.

A Tensor without axes is a NumPy number there, weaker than one with axes.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import same, spelled
from gradscribe.frontend.calls import application
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds import static_values, tensors
from gradscribe.frontend.memory import outside
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, TupleOf
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar
from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.operations import adaptors
from gradscribe.runtime.tensors import promotion


def _promoted(lowering: Lowering, node: Any, first: Any, second: Any) -> Any:
    """Two operands of which NumPy's result has PyTorch's dtype."""
    samples = [_sample(lowering, operand) for operand in (first, second)]
    if None in samples or not _has_tensor(lowering, first, second):
        return TupleOf((first, second))
    wanted = promotion.result_dtype(*samples)
    if np.result_type(*samples) == wanted:
        return TupleOf((first, second))
    return TupleOf(
        tuple(
            operand if _is_weak(lowering, operand) else _converted(lowering, node, operand, wanted)
            for operand in (first, second)
        )
    )


def _multiple(lowering: Lowering, node: Any, input: Any, other: Any, alpha: Any) -> Any:
    """`alpha * other`."""
    return lowering.call(node, Static(operator.mul), (other, alpha), {})


def _divisible(lowering: Lowering, node: Any, first: Any, second: Any) -> Any:
    """Two operands of a function whose results are floating numbers."""
    first, second = _promoted(lowering, node, first, second).items
    kinds = [getattr(_sample(lowering, o), "dtype", np.dtype("f8")).kind for o in (first, second)]
    if all(kind in "biu" for kind in kinds):
        first = _floating(lowering, node, first)
        second = _floating(lowering, node, second)
    return TupleOf((first, second))


def _floating(lowering: Lowering, node: Any, operand: Any) -> Any:
    """The operand; a Tensor of integers or booleans with the default floating type."""
    return _of_kinds(lowering, node, operand, "biu", dtypes.default())


def _summable(lowering: Lowering, node: Any, operand: Any) -> Any:
    """The operand; a Tensor of unsigned integers as int64."""
    return _of_kinds(lowering, node, operand, "u", dtypes.int64)


def _of_kinds(lowering: Lowering, node: Any, operand: Any, kinds: str, dtype: dtypes.Dtype) -> Any:
    sample = _sample(lowering, operand)
    is_array = isinstance(sample, np.ndarray) and _has_tensor(lowering, operand)
    if not is_array or sample.dtype.kind not in kinds:
        return operand
    return _converted(lowering, node, operand, dtype)


def _converted(lowering: Lowering, node: Any, operand: Any, dtype: dtypes.Dtype) -> Any:
    type_ = lowering.value(operand).type
    if getattr(type_, "dtype", "") == dtype.name:
        return operand
    if not isinstance(type_, Array):
        return lowering.call(node, Static(dtype.type), (operand,), {})
    converted = application.apply_method(lowering, node, operand, "astype", (Static(dtype),), {})
    return spelled(lowering, node, converted, "tensor")


def _sample(lowering: Lowering, operand: Any) -> Any:
    """An array or a number of the type of an operand; None for what is neither."""
    if isinstance(operand, Static):
        return operand.value if isinstance(operand.value, (bool, int, float, complex)) else None
    if not isinstance(operand, (Ref, Value)):
        return None
    type_ = lowering.value(operand).type
    if isinstance(type_, Array):
        return np.empty((1,) * type_.rank, type_.dtype)
    if not isinstance(type_, Scalar):
        return None
    number = np.empty((), type_.dtype)
    return number.item() if type_.weak else number


def _is_weak(lowering: Lowering, operand: Any) -> bool:
    return not isinstance(_sample(lowering, operand), np.ndarray)


def _has_tensor(lowering: Lowering, *operands: Any) -> bool:
    return any(
        isinstance(operand, Ref) and tensors.is_tensor(lowering, operand) for operand in operands
    )


def default_dtype(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    return outside.external(
        lowering, dtypes.default(), AccessPath(vars(dtypes)).item("_default"), "dtype"
    )


def dtype_of(lowering: Lowering, node: Any, item: Any, /) -> Any:
    default_dtype(lowering, node)
    return Static(dtypes.to_dtype(static_values.object_of(lowering, node, item)))


HANDLERS: dict[Any, Handler] = {
    dtypes.default: default_dtype,
    dtypes.get_default_dtype: default_dtype,
    dtypes.to_dtype: dtype_of,
    promotion.promoted: _promoted,
    promotion.multiple: _multiple,
    promotion.divisible: _divisible,
    promotion.floating: _floating,
    promotion.summable: _summable,
    promotion.alike: same,
    adaptors.without_empty: same,
    promotion.averageable: same,
    promotion.only_floating: same,
}

PROMOTIONS = dict.fromkeys(
    (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow),
    _promoted,
) | {operator.truediv: _divisible}
"""What is done to the operands of an operator, one of which is a Tensor."""
