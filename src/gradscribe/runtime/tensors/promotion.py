"""The dtype of a result of operands of several dtypes, by PyTorch's rules.

Dtypes have categories: booleans, integers, floating numbers, complex ones. Python's numbers are
weaker than Tensors without axes, and those weaker than Tensors with axes: the weaker take part
only if their category is the highest. NumPy knows only the first of these steps and lets integers
widen floating numbers, so operands are converted before it sees them where it would differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.ir.probing import plain_number
from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.rows import FUNCTION, operation
from gradscribe.runtime.graph.modes import MODES
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap

_CATEGORIES = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def promote(first: dtypes.Dtype, second: dtypes.Dtype) -> dtypes.Dtype:
    """The least dtype that both convert to within their category."""
    if _CATEGORIES[first.kind] < _CATEGORIES[second.kind]:
        first, second = second, first
    if first.kind in "fc" and second.kind in "biu":
        return first
    return np.promote_types(first, second)


def promoted(first: Any, second: Any) -> tuple[Any, Any]:
    """Two operands (Tensors, arrays, numbers) of which NumPy's result has PyTorch's dtype."""
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        if type(second) in _NUMBERS:
            return _weighed(first, second), second
        if type(first) in _NUMBERS:
            return first, _weighed(second, first)
        return _without_numpy(first, second)
    if first.array.dtype is second.array.dtype or first.array.dtype == second.array.dtype:
        return first, second
    wanted = result_dtype(first, second)
    if np.result_type(first.array, second.array) == wanted:
        return first, second
    return converted(first, wanted), converted(second, wanted)


_NUMBERS = frozenset({int, float, bool, complex})


def multiple(input: Any, other: Any, alpha: Any) -> Any:
    """`alpha * other`, to be added to input; raises the errors for an alpha of a higher category
    than the result."""
    if not any(isinstance(operand, Tensor) for operand in (input, other)):
        return other if alpha == 1 else other * alpha
    dtype = result_dtype(input, other)
    if isinstance(alpha, bool) and dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    if isinstance(alpha, float) and dtype.kind not in "fc":
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if alpha == 1:
        return other
    if dtype.kind == "b" and isinstance(other, Tensor):
        return other & bool(alpha)
    return other * alpha


def _weighed(operand: Any, number: Any) -> Any:
    """What takes part with one of Python's numbers: a floating or complex one makes integers the
    default type."""
    return floating(operand) if type(number) in (float, complex) else operand


def _without_numpy(first: Any, second: Any) -> tuple[Any, Any]:
    """NumPy's numbers, and those of classes derived from Python's, are Python's here."""
    first, second = plain_number(first), plain_number(second)
    if type(first) in _NUMBERS or type(second) in _NUMBERS:
        return promoted(first, second)
    if isinstance(second, np.generic):
        return promoted(first, second.item())
    if isinstance(first, np.generic):
        return promoted(first.item(), second)
    return first, second


def divisible(first: Any, second: Any) -> tuple[Any, Any]:
    """Like `promoted`, of operands of a function whose results are floating numbers."""
    first, second = promoted(first, second)
    if _is_floating(first) or _is_floating(second):
        return first, second
    return floating(first), floating(second)


def divisible_arrays(first: Any, second: Any) -> tuple[Any, Any]:
    """Like `divisible`, both of the result's dtype, numbers as arrays: for functions on whose way
    NumPy would give each a dtype of its own."""
    pair = divisible(first, second)
    dtype = result_dtype(*pair)
    first, second = (
        converted(x, dtype) if isinstance(x, Tensor) else np.asarray(x, dtype) for x in pair
    )
    return first, second


def _is_floating(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        operand = operand.array
    if isinstance(operand, np.ndarray):
        return operand.dtype.kind in "fc"
    return isinstance(operand, (float, complex))


def alike(tensors: Any) -> Any:
    """Tensors, all of the dtype that their result has."""
    first, *rest = [getattr(tensor, "array", None) for tensor in tensors] or [None]
    if first is None or all(other is not None and other.dtype == first.dtype for other in rest):
        return tensors
    wanted = result_dtype(*tensors)
    return [converted(t, wanted) if isinstance(t, Tensor) else t for t in tensors]


def converted(operand: Tensor, dtype: dtypes.Dtype) -> Tensor:
    """The operand with elements of this dtype; without a node, where nothing asks for one."""
    if operand.array.dtype == dtype:
        return operand
    if operand.requires_grad or MODES:
        return operand.to(dtype)
    return wrap(operand.array.astype(dtype))


def result_dtype(*operands: Any) -> dtypes.Dtype:
    """The dtype of a result of these operands."""
    found: list[dtypes.Dtype | None] = [None, None, None]
    for operand in operands:
        rank, dtype = _strength(operand)
        known = found[rank]
        found[rank] = dtype if known is None else promote(known, dtype)
    result: dtypes.Dtype | None = None
    for weaker in reversed(found):
        if result is None or weaker is None:
            result = weaker if result is None else result
        elif _CATEGORIES[weaker.kind] > _CATEGORIES[result.kind]:
            is_complex = (result.kind, weaker.kind) == ("f", "c")
            result = promote(result, dtypes.complex64 if is_complex else weaker)
    assert result is not None
    return result


def _strength(operand: Any) -> tuple[int, dtypes.Dtype]:
    """2 for Tensors with axes, 1 for those without, 0 for numbers; and the dtype."""
    array: Array | None = operand.array if isinstance(operand, Tensor) else None
    if array is None and isinstance(operand, np.ndarray):
        array = operand
    if array is not None:
        return 1 + bool(array.ndim), array.dtype
    if isinstance(operand, (bool, np.bool_)):
        return 0, dtypes.bool_
    if isinstance(operand, (int, np.integer)):
        return 0, dtypes.int64
    default = dtypes.default()
    if isinstance(operand, (complex, np.complexfloating)) and not isinstance(operand, float):
        return 0, np.result_type(default, np.complex64)
    return 0, default


def floating(operand: Any) -> Any:
    """The operand; one of integers or booleans with the default floating type."""
    if isinstance(operand, Tensor) and operand.array.dtype.kind not in "fc":
        return wrap(operand.array.astype(dtypes.default()))
    return operand


def plain(operand: Any) -> Any:
    """The operand."""
    return operand


def summable(operand: Any) -> Any:
    """The operand; one of unsigned integers as int64, which sums are of."""
    if isinstance(operand, Tensor) and operand.array.dtype.kind == "u":
        return wrap(operand.array.astype(dtypes.int64))
    return operand


def only_floating(operand: Any, refusal: str) -> Any:
    """The operand; raises a refusal of integers and booleans."""
    if isinstance(operand, Tensor) and operand.array.dtype.kind not in "fc":
        raise RuntimeError(refusal.format(dtypes.scalar_name(operand.array.dtype)))
    return operand


def averageable(operand: Any) -> Any:
    """The operand, of which there is a mean."""
    return only_floating(
        operand,
        "mean(): could not infer output dtype. Input dtype must be either a floating point or "
        "complex dtype. Got: {}",
    )


@operation(FUNCTION, shapes="any")
def result_type(tensor1: Any, tensor2: Any) -> dtypes.PublicDtype:
    """The dtype of a result of two operands: Tensors or numbers."""
    return dtypes.PublicDtype(result_dtype(tensor1, tensor2))


@operation(FUNCTION, shapes="none")
def promote_types(type1: Any, type2: Any) -> dtypes.PublicDtype:
    """The dtype of a result of Tensors of these two."""
    return dtypes.PublicDtype(promote(dtypes.to_dtype(type1), dtypes.to_dtype(type2)))


@operation(FUNCTION, shapes="none")
def can_cast(from_: Any, to: Any) -> bool:
    """Whether a conversion stays within the category, or goes to a higher one."""
    source, target = dtypes.to_dtype(from_), dtypes.to_dtype(to)
    return _CATEGORIES[source.kind] <= _CATEGORIES[target.kind]
