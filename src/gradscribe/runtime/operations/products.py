"""The table of eager operations, continued: products, and sums of products."""

from __future__ import annotations

import string
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.primitives.einsum import axes_of_view
from gradscribe.runtime.arrays import composites, dtypes
from gradscribe.runtime.arrays.explaining import without_matrix
from gradscribe.runtime.arrays.node_names import of_tensor
from gradscribe.runtime.arrays.rows import BOTH, EVERY, FUNCTION, IN_PLACE, METHOD, OUT, operation
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import shaping, viewing
from gradscribe.runtime.operations.adaptors import enter_row
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.agreement import (
    OF_MATRIX_AND_VECTOR,
    OF_STACKS,
    refuse_unlike,
    refuse_unlike_ends,
    refuse_unlike_inputs,
    refuse_unlike_terms,
)
from gradscribe.runtime.tensors.promotion import alike, floating, promoted, summable
from gradscribe.runtime.tensors.tensor import Tensor, rank_of

_ADDCMUL = Operation("Addcmul", composites.addcmul, saved=("tensor1=1 tensor2=2 value=3",))
_ADDCDIV = Operation("Addcdiv", composites.addcdiv, saved=("tensor1=1 tensor2=2 value=3",))
_LERP = Operation(
    "Lerp", composites.lerp, saved=("weight=2", "self=0 end=1 weight=2"), number=of_tensor(2)
)
_ADDMM_PLAIN = Operation(
    "Addmm", composites.plainly_added_product, saved=("alpha=4 beta=3 mat1=1 mat2=2",)
)


def _sum(name: str, factors: str, added: Any, alone: Any) -> tuple[Operation, Operation]:
    """The operations of `beta * input + alpha * product`; and for a beta of zero, where nothing of
    the input counts, not even a NaN. factors: as they are saved."""
    whole = Operation(name, added, saved=(f"alpha=4 beta=3 {factors}",))
    return whole, replace(whole, callee=alone)


_PRODUCTS = composites.added_product, composites.product_over
_SUMS = {
    "Addmm": _sum("Addmm", "mat1=1 mat2=2", *_PRODUCTS),
    "Addmv": _sum("Addmv", "mat=1 vec=2", *_PRODUCTS),
    "Addr": _sum("Addr", "vec1=1 vec2=2", composites.added_outer, composites.outer_over),
    "Baddbmm": _sum("Baddbmm", "batch1=1 batch2=2", *_PRODUCTS),
    "Addbmm": _sum(
        "Addbmm", "batch1=1 batch2=2", composites.added_products, composites.products_over
    ),
}
_EINSUM = Operation("Einsum", composites.einsum, ("subscripts",))
_KRON = enter_row(Operation("Kron", np.kron, saved=("self=0 other=1",)))
_TRACE = Operation("Trace", np.trace, saved=("sizes",), explain=without_matrix("trace"))
_COV = Operation("Cov", np.cov, ("ddof", "dtype"))
_CORRCOEF = Operation("Corrcoef", np.corrcoef, ("dtype",))
_CROSS = Operation("LinalgCross", composites.cross, ("axis",))


@operation(BOTH | IN_PLACE | OUT, shapes="(…), (…), (…) -> (…)")
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    input, tensor1, tensor2 = alike((input, tensor1, tensor2))
    return apply(_ADDCMUL, (input, tensor1, tensor2, value))


_INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
    "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
    "implemented as (input + value * (tensor1 / tensor2).trunc()).to(input.dtype) for integer "
    "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
    "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
    "dtypes."
)


@operation(BOTH | IN_PLACE | OUT, shapes="(…), (…), (…) -> (…)")
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    if not any(dtypes.is_differentiable(t.dtype) for t in (tensor1, tensor2)):
        raise RuntimeError(_INTEGER_ADDCDIV)
    input, tensor1, tensor2 = alike((input, tensor1, tensor2))
    return apply(_ADDCDIV, (input, tensor1, tensor2, value))


@operation(BOTH | IN_PLACE | OUT, shapes="(…), (…), (…) -> (…)")
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """From input (weight 0) to end (weight 1)."""
    refuse_unlike_ends(input, end, weight)
    return apply(_LERP, (input, end, weight))


def _added(name: str, operands: tuple[Tensor, Tensor, Tensor], beta: Any, alpha: Any) -> Tensor:
    """The sum of this name: `beta * input + alpha * product`."""
    with_input, without = _SUMS[name]
    if isinstance(beta, (int, float)) and beta == 0:
        return apply(without, (*operands, alpha))
    return apply(with_input, (*operands, beta, alpha))


@operation(BOTH | IN_PLACE | OUT, shapes="(n, m), (n, k), (k, m) -> (n, m)")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * mat1 @ mat2."""
    functions.check_matrices(mat1, mat2)
    refuse_unlike_terms(input, mat1, mat2)
    if type(beta) is int and type(alpha) is int and beta == alpha == 1:
        return apply(_ADDMM_PLAIN, (input, mat1, mat2))
    return _added("Addmm", (input, mat1, mat2), beta, alpha)


@operation(EVERY, shapes="(n), (n, k), (k) -> (n)")
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * mat @ vec."""
    refuse_unlike(OF_MATRIX_AND_VECTOR, input, mat, vec)
    return _added("Addmv", (input, mat, vec), beta, alpha)


@operation(BOTH | IN_PLACE | OUT, shapes="(n, m), (n), (m) -> (n, m)")
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the outer product."""
    return _added("Addr", (input, vec1, vec2), beta, alpha)


@operation(BOTH | IN_PLACE | OUT, shapes="(b, n, m), (b, n, k), (b, k, m) -> (b, n, m)")
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta * input + alpha * the products of two stacks of matrices."""
    refuse_unlike(OF_STACKS, batch1, batch2)
    return _added("Baddbmm", (input, batch1, batch2), beta, alpha)


@operation(BOTH | IN_PLACE | OUT, shapes="(n, m), (b, n, k), (b, k, m) -> (n, m)")
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta * input + alpha * the sum of the products of two stacks of matrices."""
    return _added("Addbmm", (input, batch1, batch2), beta, alpha)


@operation(BOTH, shapes="(…), (…) -> ()", dtypes="floating")
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference."""
    return functions.norm(input - other, p)


@operation(FUNCTION, shapes="(…, n, k), (…, m, k) -> (…, n, m)")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The p-norms of the differences of all pairs of rows. compute_mode: as accurate in any."""
    return functions.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@operation(FUNCTION, shapes="as the subscripts say")
def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products, as the equation says; a view, if there is nothing to sum."""
    view = view_of_axes(equation, *operands)
    if view is not None:
        return view
    if not isinstance(equation, str):
        equation, operands = _as_equation((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    return apply(_EINSUM, operands, (equation,))


def view_of_axes(*given: Any) -> Tensor | None:
    """A view of the operand, if this call of `einsum` only names the axes of one anew: diagonals
    of those of one name, in another order."""
    if isinstance(given[0], Tensor) and len(given) in (2, 3):
        equation, (operand,) = _as_equation(given)
    elif len(given) == 2:
        equation, operand = given
        if isinstance(operand, (list, tuple)) and len(operand) == 1:
            (operand,) = operand
    else:
        return None
    if not isinstance(operand, Tensor):
        return None
    shape = operand.array.shape
    try:
        found = axes_of_view(equation, len(shape))  # type: ignore[no-untyped-call]
    except ValueError:
        return None  # the call that sums tells what is wrong
    if found is None or len({*zip(found[0], shape, strict=True)}) != len({*found[0]}):
        return None
    axes, result = list(found[0]), found[1]
    for axis in result:
        while axes.count(axis) > 1:
            first = axes.index(axis)
            second = axes.index(axis, first + 1)
            operand = viewing.movedim(viewing.diagonal(operand, 0, first, second), -1, first)
            del axes[second]
    return shaping.permute(operand, dims=tuple(map(axes.index, result)))


def _as_equation(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation, and the operands, of operands that are each followed by the numbers of their
    axes, and those of the result at the end."""

    def letters(numbers: Any) -> str:
        return "".join("..." if n is Ellipsis else string.ascii_letters[n] for n in numbers)

    terms = ",".join(map(letters, given[1::2]))
    result = f"->{letters(given[-1])}" if len(given) % 2 else ""
    return terms + result, given[: len(given) - len(given) % 2 : 2]


@operation(FUNCTION | OUT, shapes="(…, k), (k, …) -> (…, …), for each of the axes summed")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sum of products over axes of both."""
    refuse_unlike_inputs(a, b)
    return np.tensordot(a, b, dims)


@operation(FUNCTION, shapes="(n, k), (k, l), …, (…, m) -> (n, m)")
def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices."""
    product = matrices[0]
    for matrix in matrices[1:]:
        product = functions.mm(product, matrix)
    return product


@operation(BOTH | OUT, shapes="(…, 3), (…, 3) -> (…, 3)")
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The vector product along an axis of length three: the first one, if none is named."""
    if dim is not None or rank_of(input) != rank_of(other):
        return _cross(input, other, -1 if dim is None else dim)
    return _cross_along_first(input, other, [*range(rank_of(input) - 1)])


def _cross_along_first(input: Any, other: Any, axes: list[int]) -> Any:
    """The product along the first of these axes that is of length three, or the last one."""
    if not axes:
        return _cross(input, other, -1)
    if np.shape(input)[axes[0]] == 3:
        return _cross(input, other, axes[0])
    return _cross_along_first(input, other, axes[1:])


def _cross(input: Any, other: Any, axis: int) -> Any:
    return apply(_CROSS, promoted(input, other), (axis,))


@operation(BOTH, shapes="(n, samples) -> (n, n)")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of rows; fweights: how often each observation counts, aweights: how much."""
    if fweights is None and aweights is None:
        return apply(_COV, (input,), (correction, _precision(input)))
    covariances: Any = np.cov
    weights = {"fweights": fweights, "aweights": aweights}
    return functions.to_dtype(covariances(input, ddof=correction, **weights), _precision(input))


@operation(BOTH, shapes="(n, samples) -> (n, n)")
def corrcoef(input: Any) -> Any:
    """The correlations of rows."""
    return apply(_CORRCOEF, (input,), (_precision(input),))


def _precision(input: Any) -> Any:
    """The dtype of what is computed of the input: its own, if it is a floating one."""
    return floating(input).array.dtype if isinstance(input, Tensor) else None


@operation(BOTH | OUT, shapes="(…, n), (…, m) -> (…, n m), along each axis")
def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""
    return apply(_KRON, promoted(input, other))


@operation(METHOD, shapes="(n, m) -> ()")
def trace(input: Any) -> Any:
    """The sum of the diagonal of a matrix."""
    return apply(_TRACE, (summable(input),))
