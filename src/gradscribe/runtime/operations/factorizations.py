"""The table of eager operations, continued: inverses and factorizations of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.arrays import matrix_composites
from gradscribe.runtime.arrays.rows import BOTH, FUNCTION, OUT, operation
from gradscribe.runtime.arrays.size import returned
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.adaptors import enter_row
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap

_linalg: Any = np.linalg  # takes Tensors, too
_DET = enter_row(Operation("LinalgDet", np.linalg.det, saved=("A=0 result",)))
_HERMITIAN = Operation("Hermitian", matrix_composites.hermitian)
_INV = enter_row(Operation("LinalgInvEx", np.linalg.inv))
_MATRIX_POWER = Operation("LinalgMatrixPower", np.linalg.matrix_power, ("n",))
_CHOLESKY = Operation("Cholesky", matrix_composites.cholesky, ("upper",))
_CHOLESKY_INVERSE = Operation("CholeskyInverse", matrix_composites.cholesky_inverse, ("upper",))
_CHOLESKY_SOLVE = Operation("CholeskySolve", matrix_composites.cholesky_solve, ("upper",))
_LU = Operation("LinalgLuFactorEx", matrix_composites.lu)
_LU_SOLVE = Operation("LinalgLuSolve", matrix_composites.lu_solve)
_LOWER = Operation("LuUnpack", matrix_composites.unit_lower, ("count",))
_UPPER = Operation("LuUnpack", matrix_composites.upper, ("count",))
_MATRIX_EXP = Operation("LinalgMatrixExp", matrix_composites.matrix_exp, saved=("self=0",))
_HOUSEHOLDER = Operation("LinalgHouseholderProduct", matrix_composites.householder_product)
_PINV = enter_row(Operation("LinalgPinv", np.linalg.pinv, ("rcond",)))
_TRIANGULAR = Operation(
    "TriangularSolve", matrix_composites.triangular_solve, ("upper", "transpose", "unitriangular")
)
_Qr, _Svd = returned("qr", ("Q", "R")), returned("svd", ("U", "S", "V"))
_Geqrf, _Lu = returned("geqrf", ("a", "tau")), returned("lu_unpack", ("P", "L", "U"))
_Slogdet = returned("slogdet", ("sign", "logabsdet"))
_Triangular = returned("triangular_solve", ("solution", "cloned_coefficient"))


class LinAlgError(RuntimeError, np.linalg.LinAlgError):
    """A matrix that has no factorization of the kind that is wanted."""


LinAlgError.__module__, LinAlgError.__name__ = "gradscribe", "_LinAlgError"


def _check_square(input: Tensor, name: str) -> None:
    """Raise PyTorch's error for what is no square matrix, or stack of them."""
    shape = input.array.shape
    if len(shape) < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {shape[-2]} by "
            f"{shape[-1]} matrices"
        )


# --- determinants, inverses, powers -----------------------------------------------------------


@operation(BOTH, shapes="(…, n, n) -> (…)")
def det(input: Tensor) -> Tensor:
    """The determinant."""
    _check_square(input, "linalg.det")
    return apply(_DET, (input,))


@operation(
    BOTH | OUT, shapes="(…, n, n) -> (…), (…)", dtypes="that of input; the logarithm is real"
)
def slogdet(input: Tensor) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    _check_square(input, "linalg.slogdet")
    results: Any = _linalg.slogdet(input)
    return _Slogdet(*results)


@operation(BOTH, shapes="(…, n, n) -> (…)")
def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant, NaN where that is negative."""
    _check_square(input, "logdet")
    sign, size = slogdet(input)
    return functions.where(sign.array < 0, np.nan, size)


@operation(BOTH | OUT, shapes="(…, n, n) -> (…, n, n)")
def inverse(input: Tensor) -> Tensor:
    """The inverse matrix."""
    _check_square(input, "linalg.inv")
    try:
        return apply(_INV, (input,))
    except np.linalg.LinAlgError:
        which, place = first_failure(singular_infos(input.array))
        raise LinAlgError(
            f"linalg.inv: {which}The diagonal element {place} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        ) from None


def first_failure(infos: Array) -> tuple[str, int]:
    """Which matrix of a stack is the first that an operation failed for, as errors name it, and
    what is told of it."""
    place = int(np.argmax(infos.ravel() > 0))
    return f"(Batch element {place}): " if infos.ndim else "", int(infos.ravel()[place])


def singular_infos(matrices: Array) -> Array:
    """For each matrix which element, from 1, of the diagonal of its upper factor is zero; 0 for
    those that have an inverse."""
    return _infos(matrices, np.linalg.inv, _zero_pivot)


def indefinite_infos(matrices: Array) -> Array:
    """For each matrix the order of the first leading minor that is not positive-definite; 0 for
    positive-definite ones."""
    return _infos(matrices, np.linalg.cholesky, _bad_minor)


def _infos(matrices: Array, attempt: Any, explain: Any) -> Array:
    stack = matrices.reshape(-1, *matrices.shape[-2:])
    infos = np.zeros(len(stack), np.int32)
    for place, matrix in enumerate(stack):
        try:
            attempt(matrix)
        except np.linalg.LinAlgError:
            infos[place] = explain(matrix)
    shaped: Array = infos.reshape(matrices.shape[:-2])
    return shaped


def without_failures(input: Tensor, infos: Array) -> tuple[Tensor, Any]:
    """The matrices, unit ones in the place of those that an operation fails for; and what makes
    results of these NaN."""
    bad = infos[..., None, None] > 0
    unit = wrap(np.eye(input.array.shape[-1], dtype=input.array.dtype))

    def marked(result: Tensor) -> Tensor:
        found: Tensor = functions.where(wrap(bad), np.nan, result)
        return found

    return functions.where(wrap(bad), unit, input), marked


def _zero_pivot(matrix: Array) -> int:
    """Which element, from 1, of the diagonal of an upper factor is zero."""
    place = int(_zero_pivots(lu(wrap(matrix))[0].array))
    return place or matrix.shape[-1]


def _zero_pivots(factors: Array) -> Array:
    """For each upper factor the first zero of its diagonal, from 1; 0 for those without."""
    zeros = np.diagonal(factors, axis1=-2, axis2=-1) == 0
    first = np.argmax(zeros, axis=-1) if zeros.shape[-1] else 0
    return np.where(zeros.any(-1), first + 1, 0).astype(np.int32)


@operation(BOTH | OUT, shapes="(…, n, n) -> (…, n, n)")
def matrix_power(input: Tensor, n: int) -> Tensor:
    """A product of so many copies of a matrix."""
    _check_square(input, "linalg.matrix_power")
    return apply(_MATRIX_POWER, (input,), (n,))


@operation(BOTH, shapes="(…, n, m) -> (…, m, n)")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The Moore-Penrose pseudoinverse."""
    return apply(_PINV, (input,), (rcond,))


@operation(BOTH, shapes="(…, n, n) -> (…, n, n)")
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of a square matrix."""
    _check_square(input, "linalg.matrix_exp")
    return apply(_MATRIX_EXP, (input,))


# --- factors ----------------------------------------------------------------------------------


def _asymmetry(array: Array, upper: bool) -> Array:
    """What one triangle, mirrored, is more than the mean of a matrix and its adjoint."""
    read = np.triu(array) if upper else np.tril(array)
    strict = np.triu(read, 1) if upper else np.tril(read, -1)
    whole = np.where(np.eye(array.shape[-1], dtype=bool), read.real, read)
    whole = whole + np.conj(np.swapaxes(strict, -1, -2))
    difference: Array = whole - (array + np.conj(np.swapaxes(array, -1, -2))) / 2
    return difference


def hermitian(input: Tensor, upper: bool = False) -> Tensor:
    """One triangle of a matrix, mirrored; both take part evenly in derivatives."""
    return apply(_HERMITIAN, (input, _asymmetry(input.array, upper)))


@operation(BOTH | OUT, shapes="(…, n, n) -> (…, n, n)")
def cholesky(input: Tensor, upper: bool = False, *, name: str = "cholesky") -> Tensor:
    """The lower (or upper) triangular factor of a positive-definite matrix."""
    _check_square(input, name)
    try:
        return apply(_CHOLESKY, (input, _asymmetry(input.array, upper)), (upper,))
    except np.linalg.LinAlgError:
        which, order = first_failure(indefinite_infos(input.array))
        raise LinAlgError(
            f"{name}: {which}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        ) from None


def _bad_minor(matrix: Array) -> int:
    """The order of the first leading minor that is not positive-definite."""
    for order in range(1, len(matrix)):
        if not np.linalg.eigvalsh(matrix[:order, :order])[0] > 0:
            return order
    return len(matrix)


def _unread(input: Tensor, upper: bool) -> Array:
    """The triangle of a factor that is not read."""
    return np.tril(input.array, -1) if upper else np.triu(input.array, 1)


@operation(BOTH | OUT, shapes="(…, n, n) -> (…, n, n)")
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix that has this Cholesky factor."""
    _check_square(input, "cholesky_inverse")
    return apply(_CHOLESKY_INVERSE, (input, _unread(input, upper)), (upper,))


@operation(BOTH | OUT, shapes="(…, n, k), (…, n, n) -> (…, n, k)")
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solution of the equations of the matrix that has a Cholesky factor, input2."""
    return apply(_CHOLESKY_SOLVE, (input, input2, _unread(input2, upper)), (upper,))


@operation(
    BOTH | OUT, shapes="(…, n, m) -> (…, n, k), (…, k, m); k is min(n, m), or n where not some"
)
def qr(input: Tensor, some: bool = True) -> Any:
    """An orthogonal matrix and an upper triangular one, of which the matrix is the product."""
    return _Qr(*qr_factors(input, "reduced" if some else "complete"))


def qr_factors(input: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    """Both factors. Those of a matrix with more columns than rows are those of its first columns;
    the other ones are multiplied by what they are made orthogonal with."""
    rows, columns = input.array.shape[-2:]
    if rows >= columns:
        q, r = _linalg.qr(input, mode)
        return q, r
    q, r = _linalg.qr(input[..., :rows], "reduced")
    return q, shaping.cat((r, q.mH @ input[..., rows:]), -1)


@operation(
    BOTH | OUT, shapes="(…, n, m) -> (…, n, k), (…, k), (…, m, k); k is min(n, m), where some"
)
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition, U diag(S) V.H."""
    array = input.array
    if not compute_uv:
        rows, columns = array.shape[-2:]
        values: Any = _linalg.svd(input, compute_uv=False)
        left, right = (np.zeros((*array.shape[:-2], n, n), array.dtype) for n in (rows, columns))
        return _Svd(wrap(left), values, wrap(right))
    u, s, vh = svd_factors(input, not some)
    return _Svd(u, s, vh.mH)


def svd_factors(input: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The three factors."""
    u, s, vh = _linalg.svd(input, full_matrices=full_matrices)
    return u, s, vh


@operation(BOTH, shapes="(…, n, m) -> (…, n, m), (…, min(n, m))")
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Both triangular factors in one matrix, and the rows that were exchanged (from 1)."""
    array = input.array
    order = np.broadcast_to(np.arange(array.shape[-2]), array.shape[:-1]).copy()
    count = min(array.shape[-2:])
    pivots = np.zeros((*array.shape[:-2], count), np.int32)
    pivots[...] = np.arange(1, count + 1)
    if pivot:
        _choose_pivots(array, order, pivots)
    factors = apply(_LU, (input.take_along_dim(wrap(order[..., None]), -2),))
    infos = wrap(np.asarray(_zero_pivots(factors.array)))
    return (factors, wrap(pivots), infos) if get_infos else (factors, wrap(pivots))


def _choose_pivots(matrices: Array, order: Array, pivots: Array) -> None:
    """Partial pivoting: the order of rows, and what each column's row was exchanged with."""
    for place in np.ndindex(matrices.shape[:-2]):
        rest = matrices[place].copy()
        for k in range(pivots.shape[-1]):
            column = rest[k:, k]
            best = k + int(np.argmax(np.abs(column.real) + np.abs(column.imag)))
            pivots[place][k] = best + 1
            for rows in (rest, order[place]):
                rows[[k, best]] = rows[[best, k]]
            if rest[k, k] != 0:
                rest[k + 1 :, k] /= rest[k, k]
                rest[k + 1 :, k + 1 :] -= np.outer(rest[k + 1 :, k], rest[k, k + 1 :])


def _order_of(pivots: Array, length: int) -> Array:
    """The order of rows after these exchanges."""
    order: Array = np.broadcast_to(np.arange(length), (*pivots.shape[:-1], length)).copy()
    for place in np.ndindex(pivots.shape[:-1]):
        rows = order[place]
        for k, other in enumerate(pivots[place] - 1):
            rows[[k, other]] = rows[[other, k]]
    return order


@operation(BOTH | OUT, shapes="(…, n, k), (…, n, n), (…, n) -> (…, n, k)")
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution of the equations of the matrix that `lu` has factored."""
    stack = np.broadcast_shapes(LU_data.array.shape[:-2], b.array.shape[:-2])
    order = _order_of(LU_pivots.array, LU_data.array.shape[-1])[..., None]
    order = np.broadcast_to(order, (*stack, *order.shape[-2:]))
    exchanged = shaping.expand(b, (*stack, *b.array.shape[-2:])).take_along_dim(wrap(order), -2)
    return apply(_LU_SOLVE, (LU_data, exchanged))


@operation(
    FUNCTION | OUT, shapes="(…, n, m), (…, k) -> (…, n, n), (…, n, k), (…, k, m); k is min(n, m)"
)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """The permutation, the lower and the upper factor of what `lu` gives."""
    rows, columns = LU_data.array.shape[-2:]
    count = min(rows, columns)
    nothing = wrap(np.zeros(0, LU_data.array.dtype))
    permutation, lower, upper = nothing, nothing, nothing
    if unpack_pivots:
        order = _order_of(LU_pivots.array, rows)
        permutation = wrap(np.swapaxes(np.eye(rows, dtype=LU_data.array.dtype)[order], -1, -2))
    if unpack_data:
        lower, upper = apply(_LOWER, (LU_data,), (count,)), apply(_UPPER, (LU_data,), (count,))
    return _Lu(permutation, lower, upper)


@operation(BOTH | OUT, shapes="(…, n, k), (…, n, n) -> (…, n, k), (…, n, n)")
def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """The solution of triangular equations, and a copy of the coefficients."""
    solution = apply(_TRIANGULAR, (A, b), (upper, transpose, unitriangular))
    return _Triangular(solution, A.clone())


@operation(BOTH | OUT, shapes="(…, n, m) -> (…, n, m), (…, min(n, m))")
def geqrf(input: Tensor) -> Any:
    """The QR decomposition as LAPACK gives it: R above Householder vectors, and their factors."""
    if input.requires_grad:
        raise NotImplementedError("the derivative for 'geqrf' is not implemented.")
    raw, factors = np.linalg.qr(input.array, "raw")
    return _Geqrf(wrap(np.ascontiguousarray(np.swapaxes(raw, -1, -2))), wrap(factors))


@operation(BOTH | OUT, shapes="(…, n, m), (…, k) -> (…, n, m)")
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """The first columns of the product of Householder reflections, as `geqrf` gives them."""
    if input.array.shape[-2] < input.array.shape[-1]:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    return apply(_HOUSEHOLDER, (input, input2))


@operation(BOTH | OUT, shapes="(…, n, k), (…, k), (…, n, m) -> (…, n, m)")
def ormqr(
    input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of a matrix and the reflections that `geqrf` gives."""
    rows, columns = input.array.shape[-2:]
    if rows < columns:
        input = input[..., :rows]
    if rows > columns:
        padding = np.zeros((*input.array.shape[:-1], rows - columns), input.array.dtype)
        input = shaping.cat((input, wrap(padding)), -1)
    q = orgqr(input, input2)
    q = q.mH if transpose else q
    return q @ input3 if left else input3 @ q
