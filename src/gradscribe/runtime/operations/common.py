"""The table of eager operations, continued: products, and functions whose arguments need more than
a spelling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.explaining import product
from gradscribe.runtime.arrays.floating_point_errors import silent, tell_of_imaginary_part
from gradscribe.runtime.arrays.memory_formats import arranged, laid_out_as, preserve_format
from gradscribe.runtime.arrays.node_names import alone, of_tensor
from gradscribe.runtime.arrays.operand_checks import (
    divisor,
    not_clamped,
    not_implemented,
)
from gradscribe.runtime.arrays.rows import BOTH, EVERY, FUNCTION, IN_PLACE, MAIN, OUT, operation
from gradscribe.runtime.operations.adaptors import (
    axes_of,
    binary,
    enter_row,
)
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.elementwise import abs, mul, sub, true_divide
from gradscribe.runtime.operations.launcher_text import BINARY
from gradscribe.runtime.operations.reductions import NAMED, amax, amin
from gradscribe.runtime.operations.shaping import permute, reshape
from gradscribe.runtime.tensors.agreement import (
    refuse_unlike_factors,
    refuse_unlike_inputs,
)
from gradscribe.runtime.tensors.promotion import (
    alike,
    floating,
    only_floating,
    promoted,
    result_dtype,
)
from gradscribe.runtime.tensors.tensor import Tensor, rank_of, wrap

# --- linear algebra ---------------------------------------------------------------------------

_FACTORS = "(n), (n) -> ()"
dot = binary(
    "dot",
    "The sum of the products of two vectors",
    Operation("Dot", np.dot, saved=("self=0? tensor=1?",), explain=product),
    BOTH | OUT,
    check=refuse_unlike_factors,
    shapes=_FACTORS,
)
inner = binary(
    "inner",
    "The sum of the products along the last axes",
    Operation("Dot", np.inner, saved=("self=0? tensor=1?",), explain=product),
    BOTH | OUT,
    check=refuse_unlike_inputs,
    shapes="(…, n), (…, n) -> (…, …)",
)
vdot = binary(
    "vdot",
    "The sum of the products of the conjugate of a vector and another",
    Operation("Vdot", np.vdot, saved=("self=0 other=1",)),
    BOTH | OUT,
    check=refuse_unlike_factors,
    shapes=_FACTORS,
)
enter_row(Operation("Outer", np.outer))

_MATMULS = {
    (2, 2): Operation("Mm", np.matmul, saved=("self=0? mat2=1?",), explain=product),
    (2, 1): Operation("Mv", np.matmul, saved=("self=0? vec=1?",), explain=product),
    (1, 1): Operation("Dot", np.matmul, saved=("self=0? tensor=1?",), explain=product),
    (3, 3): Operation("Bmm", np.matmul, saved=("self=0? mat2=1?",), explain=product),
}
_MATMUL = enter_row(Operation("Matmul", np.matmul, explain=product))


@operation(
    BOTH | OUT,
    launcher=(BINARY, _MATMUL),
    shapes="(…, n, k), (…, k, m) -> (…, n, m); a vector, (k), lacks its axis in the result",
)
def matmul(input: Any, other: Any) -> Tensor:
    """The matrix product, by NumPy's rules for one, two and more axes."""
    refuse_unlike_factors(input, other)
    return apply(_MATMULS.get((rank_of(input), rank_of(other)), _MATMUL), (input, other))


@operation(BOTH | OUT, aliases=("ger",), shapes="(n), (m) -> (n, m)")
def outer(input: Any, vec2: Any) -> Tensor:
    """The products of all pairs of elements of two vectors."""
    for name, vector in (("self", input), ("vec2", vec2)):
        if rank_of(vector) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {rank_of(vector)}-D")
    return mul(reshape(input, (-1, 1)), vec2)


def check_matrices(first: Any, second: Any) -> None:
    """Raise PyTorch's error for what cannot be multiplied as two matrices."""
    if rank_of(first) != 2:
        raise RuntimeError("self must be a matrix")
    if rank_of(second) != 2:
        raise RuntimeError("mat2 must be a matrix")
    (rows, inner), (inner_2, columns) = first.array.shape, second.array.shape
    if inner != inner_2:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {inner_2}x{columns})"
        )


@operation(BOTH | OUT, shapes="(n, k), (k, m) -> (n, m)")
def mm(input: Any, mat2: Any) -> Tensor:
    """The product of two matrices."""
    check_matrices(input, mat2)
    refuse_unlike_factors(input, mat2)
    return apply(_MATMULS[2, 2], (input, mat2))


@operation(BOTH | OUT, shapes="(n, k), (k) -> (n)")
def mv(input: Any, vec: Any) -> Tensor:
    """The product of a matrix and a vector."""
    ranks = rank_of(input), rank_of(vec)
    if ranks != (2, 1):
        first = ranks[0] - 1 if ranks[0] == 2 else 1
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {first}, {ranks[0]}, {ranks[1]}"
        )
    refuse_unlike_factors(input, vec)
    return apply(_MATMULS[2, 1], (input, vec))


@operation(BOTH | OUT, shapes="(b, n, k), (b, k, m) -> (b, n, m)")
def bmm(input: Any, mat2: Any) -> Tensor:
    """The products of two stacks of matrices."""
    for name, operand in (("batch1", input), ("batch2", mat2)):
        if rank_of(operand) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    refuse_unlike_factors(input, mat2)
    return apply(_MATMULS[3, 3], (input, mat2))


# --- the rest ---------------------------------------------------------------------------------

_CLONE = enter_row(Operation("Clone", composites.clone))
_WHERE = enter_row(Operation("Where", np.where, wraps_numbers=True, saved=("condition=0",)))
_WHOLE_TIMES = Operation("DivTrunc", composites.whole_times, differentiable=False, check=divisor())
_CLAMP = Operation(
    "Clamp",
    np.clip,
    ("min", "max"),
    run=np.clip,
    check=not_clamped,
    number=alone,
    saved=("", "self=0 min:min max:max"),
)
_CLAMP_BY_TENSORS = replace(_CLAMP, parameters=(), run=None, saved=("self=0 min=1 max=2",))
_CLAMP_BY_MIN = replace(_CLAMP_BY_TENSORS, callee=composites.at_least, run=np.maximum)
_CLAMP_BY_MAX = replace(_CLAMP_BY_TENSORS, callee=composites.at_most, run=np.minimum)
_AT_LEAST = Operation(
    "ClampMin",
    composites.at_least,
    run=np.maximum,
    number=of_tensor(1),
    saved=("self=0 min=1",) * 2,
)
_AT_MOST = Operation(
    "ClampMax",
    composites.at_most,
    run=np.minimum,
    number=of_tensor(1),
    saved=("self=0 max=1",) * 2,
)
_FLOORED = Operation("DivMode", np.floor_divide, node="Div", number=2, wraps_numbers=True)
_TRUNCATED = replace(_FLOORED, callee=composites.truncated_quotient)
_NORM = Operation(
    "LinalgVectorNorm",
    np.linalg.norm,
    ("ord", "axis", "keepdims"),
    saved=(f"ord:ord {NAMED} self=0 result",),
)
_ROUND = enter_row(Operation("Round", np.round, ("decimals",), check=not_implemented("round")))
_LOGIT = Operation("Logit", composites.logit, ("eps",), saved=("eps:eps self=0",))
_NAN_TO_NUM = Operation("NanToNum", np.nan_to_num, ("nan", "posinf", "neginf"), saved=("self=0",))
_TO_COPY = Operation("ToCopy", composites.to_dtype, ("dtype",))


@operation(
    FUNCTION | OUT,
    shapes="(…), (…), (…) -> (…); of a condition alone, an index of n integers for each axis",
    dtypes="that which condition's two values promote to",
)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Elements of input where the condition holds, else of other."""
    if input is None:
        return tuple(wrap(index) for index in np.nonzero(_plain(condition)))
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        dtype = result_dtype(input, other)
        input, other = np.asarray(input, dtype), np.asarray(other, dtype)
    return apply(_WHERE, (_plain(condition), *promoted(input, other)))


@operation(BOTH, shapes="(…) -> (…)")
def positive(input: Tensor) -> Tensor:
    """The Tensor itself."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@operation(BOTH, shapes="(…) -> (…)")
def clone(input: Any, *, memory_format: Any = None) -> Tensor:
    """A copy."""
    return laid_out(apply(_CLONE, (input,)), input, memory_format)


def laid_out(copy: Tensor, input: Any, memory_format: Any) -> Tensor:
    """The copy in a format, or as what it is of lies in memory."""
    if memory_format is not None and memory_format is not preserve_format:
        copy.array = arranged(copy.array, memory_format)
    elif isinstance(input, Tensor):
        copy.array = laid_out_as(input.array, copy.array)
    return copy


@operation(
    BOTH | IN_PLACE | OUT,
    aliases=("divide",),
    launcher=MAIN.rows["true_divide"].launcher,
    shapes="(…), (…) -> (…)",
    dtypes="floating, where no rounding_mode is named",
)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient. rounding_mode: "floor" or "trunc" for a whole number of times."""
    if rounding_mode is None:
        return true_divide(input, other)
    if rounding_mode == "floor":
        return apply(_FLOORED, promoted(input, other))
    if rounding_mode != "trunc":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    if result_dtype(input, other).kind in "iu":
        return apply(_WHOLE_TIMES, promoted(input, other))
    return apply(_TRUNCATED, promoted(input, other))


@operation(FUNCTION, shapes="(…), (…) -> (…)")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return sub(other, input, alpha=alpha)


@operation(EVERY, aliases=("clip",), shapes="(…), with bounds that broadcast -> (…)")
def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """The elements limited to [min, max]; numbers, Tensors or None."""
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if min is None:
            return apply(_CLAMP_BY_MAX, alike((input, max)))
        if max is None:
            return apply(_CLAMP_BY_MIN, alike((input, min)))
        return apply(_CLAMP_BY_TENSORS, alike((input, min, max)))
    if isinstance(min, float) or isinstance(max, float):
        input = floating(input)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return apply(_CLAMP, (input,), (min, max))


@operation(EVERY, shapes="(…), (…) -> (…)")
def clamp_min(input: Any, min: Any) -> Tensor:
    """The elements, but min at least."""
    return apply(_AT_LEAST, _bounded(input, min))


@operation(EVERY, shapes="(…), (…) -> (…)")
def clamp_max(input: Any, max: Any) -> Tensor:
    """The elements, but max at most."""
    return apply(_AT_MOST, _bounded(input, max))


def _bounded(input: Any, bound: Any) -> Sequence[Any]:
    """A Tensor and its bound, of one dtype."""
    if not isinstance(bound, Tensor):
        return (floating(input) if isinstance(bound, float) else input), bound
    operands: Sequence[Any] = alike((input, bound))
    return operands


@operation(EVERY, shapes="(…) -> (…)", dtypes="floating also of integers")
def logit(input: Any, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), x first limited to [eps, 1 - eps]."""
    return apply(_LOGIT, (floating(input),), (eps,))


@operation(EVERY, shapes="(…) -> (…)")
def nan_to_num(
    input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """The elements, with numbers in place of NaN and infinities."""
    return apply(_NAN_TO_NUM, (input,), (0.0 if nan is None else nan, posinf, neginf))


@operation(
    BOTH | OUT,
    shapes="(…) -> (), or (…) without the axes named, which keepdim keeps with length 1",
    dtypes="floating; real also of complex elements",
)
def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The p-norm of the elements, along the named axes or of all."""
    input = only_floating(
        input,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
    )
    input = input if dtype is None else to_dtype(input, dtype)
    axis = axes_of(input, dim)
    keepdim = keepdim and input.array.ndim > 0
    if p in (2, "fro", None):
        return apply(_NORM, (input,), (None, axis, keepdim))
    if p in (math.inf, -math.inf):
        return (amax if p > 0 else amin)(abs(input), dim, keepdim)
    if axis is None and p != "nuc":
        whole = apply(_NORM, (reshape(input, -1),), (p, 0, False))
        return reshape(whole, (1,) * input.array.ndim) if keepdim else whole
    if p == "nuc" or not isinstance(axis, tuple):
        return apply(_NORM, (input,), (p, axis, keepdim))
    rank = input.array.ndim
    kept = tuple(a for a in range(rank) if a not in axis and a - rank not in axis)
    lengths = tuple(input.array.shape[a] for a in kept)
    rows = reshape(permute(input, (*kept, *axis)), (*lengths, -1))
    result = apply(_NORM, (rows,), (p, len(kept), False))
    shape = tuple(n if a in kept else 1 for a, n in enumerate(input.array.shape))
    return reshape(result, shape) if keepdim else result


@operation(EVERY, shapes="(…) -> (…)")
def round(input: Any, *, decimals: int = 0) -> Tensor:
    """Rounded to so many decimals."""
    return apply(_ROUND, (input,), (decimals,))


@silent
def to_dtype(input: Tensor, dtype: Any) -> Tensor:
    """The elements converted to a dtype; the Tensor itself if it has that already."""
    dtype = dtypes.to_dtype(dtype)
    if input.array.dtype == dtype:
        return input
    if input.array.dtype.kind == "c" and dtype.kind not in "cb":
        tell_of_imaginary_part()
        input = input.real
    if not dtypes.is_differentiable(dtype):
        return wrap(input.array.astype(dtype))
    return apply(_TO_COPY, (input,), (dtype,))


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value
