"""`torchlike.linalg`: linear algebra on Tensors, under PyTorch's names and with its arguments.

The derivatives are those of `numpy.linalg` and of the functions of `gs` beside it; here stand only
the spellings.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.rows import FUNCTION, OUT
from gradscribe.runtime.arrays.size import returned
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import elementwise, factorizations, products, reductions, shaping
from gradscribe.runtime.operations.factorizations import LinAlgError as LinAlgError
from gradscribe.runtime.operations.spellings import publish
from gradscribe.runtime.operations.viewing import diagonal as _diagonal
from gradscribe.runtime.tensors.tensor import Tensor, wrap
from gradscribe.torchlike.norms import LINALG, matrix_norm
from gradscribe.torchlike.ranks import matrix_rank, pinv

_numpy: Any = np.linalg  # takes Tensors, too
_Eig = returned("linalg_eig", ("eigenvalues", "eigenvectors"))
_Eigh = returned("linalg_eigh", ("eigenvalues", "eigenvectors"))
_Svd, _Qr = returned("linalg_svd", ("U", "S", "Vh")), returned("linalg_qr", ("Q", "R"))
_Lu, _Slogdet = (
    returned("linalg_lu", ("P", "L", "U")),
    returned("linalg_slogdet", ("sign", "logabsdet")),
)
_LuFactor = returned("linalg_lu_factor", ("LU", "pivots"))
_LuFactorEx = returned("linalg_lu_factor_ex", ("LU", "pivots", "info"))
_CholeskyEx = returned("linalg_cholesky_ex", ("L", "info"))
_InvEx, _SolveEx = (returned(f"linalg_{name}", (first, "info")) for name, first in (
    ("inv_ex", "inverse"), ("solve_ex", "result")
))  # fmt: skip
_Lstsq = returned("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))

matmul = LINALG.also("matmul", functions.matmul)
matrix_exp = LINALG.also("matrix_exp", factorizations.matrix_exp, FUNCTION)
matrix_power = LINALG.also("matrix_power", factorizations.matrix_power)
det = LINALG.also("det", factorizations.det)
inv = LINALG.also("inv", factorizations.inverse)
householder_product = LINALG.also("householder_product", factorizations.orgqr)


# --- products ---------------------------------------------------------------------------------


@LINALG.operation(FUNCTION | OUT, shapes="(…, 3), (…, 3) -> (…, 3)")
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector product along an axis."""
    if len(input.shape) != len(other.shape):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    lengths = input.shape[dim], other.shape[dim]
    if lengths != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {lengths[0]} and "
            f"{lengths[1]}"
        )
    return products.cross(input, other, dim)  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(…, n), (…, n) -> (…)")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of conj(x) * y along an axis."""
    return reductions.sum(elementwise.mul(x.conj(), y), dim)


@LINALG.operation(FUNCTION | OUT, shapes="(n, k), (k, l), …, (…, m) -> (n, m)")
def multi_dot(tensors: Any) -> Tensor:
    """The product of matrices, in the cheapest order; the first and the last may be vectors."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    return _numpy.multi_dot(list(tensors))  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(…, n) -> (…, n, N)")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers of the elements, from 0 up to N - 1, along a new last axis."""
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    exponents = wrap(np.arange(count))
    return elementwise.pow(shaping.unsqueeze(x, -1), exponents)


@LINALG.operation(shapes="(…, n, m) -> (…, k)")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The elements where two indices are equal, or an offset apart."""
    return _diagonal(A, offset, dim1, dim2)


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…)")
def cond(A: Tensor, p: Any = None) -> Tensor:
    """How much an error of the right side may grow in a solution: the norm of A times that of its
    inverse; infinite, where there is none."""
    if len(A.shape) < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        values = svdvals(A)
        first, last = values[..., 0], values[..., -1]
        return functions.div(last, first) if p == -2 else functions.div(first, last)
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.cond(ord={p}): A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices"
        )
    inverse, infos = inv_ex(A)
    conditions = elementwise.mul(matrix_norm(A, p), matrix_norm(inverse, p))
    if not np.any(infos.array):
        return conditions
    return functions.where(infos > 0, np.inf, conditions)  # type: ignore[no-any-return]


# --- determinants, inverses, solutions --------------------------------------------------------


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…), (…)")
def slogdet(A: Tensor) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    return _Slogdet(*factorizations.slogdet(A))


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n, n), (…)")
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and zeros; for a matrix that has none NaN, and which pivot of it is zero."""
    return _InvEx(*_with_infos(inv, A, factorizations.singular_infos, check_errors))


def _with_infos(attempt: Any, A: Tensor, infos_of: Any, check_errors: bool) -> tuple[Any, Tensor]:
    """What an attempt makes of matrices, and zeros; where it fails, NaN, and what is told of each
    matrix. check_errors: it may not fail."""
    try:
        return attempt(A), wrap(np.zeros(A.shape[:-2], np.int32))
    except LinAlgError:
        if check_errors:
            raise
    infos = infos_of(A.array)
    others, marked = factorizations.without_failures(A, infos)
    return marked(attempt(others)), wrap(infos)


def _is_vector(A: Tensor, B: Tensor) -> bool:
    """Whether B has a vector for each matrix."""
    return len(B.shape) == 1 or (len(A.shape) - 1 == len(B.shape) and B.shape == A.shape[:-1])


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n), (…, n, k) or (…, n) -> that of B")
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of A @ X = B, or of X @ A = B."""
    factorizations._check_square(A, "linalg.solve")
    try:
        return _solved(A, B, left)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "torch.linalg.solve: The solver failed because the input matrix is singular."
        ) from None


def _solved(A: Tensor, B: Tensor, left: bool) -> Tensor:
    if not left:
        transposed = _solved(A.mT, B if _is_vector(A, B) else B.mT, True)
        return transposed if _is_vector(A, B) else transposed.mT
    if _is_vector(A, B):
        column = _numpy.solve(A, shaping.unsqueeze(B, -1))
        return shaping.squeeze(column, -1)
    return _numpy.solve(A, B)  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n), (…, n, k) or (…, n) -> that of B, (…)")
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve`, and zeros; for equations of a singular matrix NaN, and which pivot of it is zero."""
    vector = _is_vector(A, B)
    right = shaping.unsqueeze(B, -1 if left else -2) if vector else B

    def attempt(A: Tensor) -> Tensor:
        return solve(A, right, left=left)

    result, infos = _with_infos(attempt, A, factorizations.singular_infos, check_errors)
    return _SolveEx(shaping.squeeze(result, -1 if left else -2) if vector else result, infos)


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n), (…, n, k) -> (…, n, k)")
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X of A @ X = B, or of X @ A = B, where one triangle of A is read."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    return factorizations.triangular_solve(B, A, upper, False, unitriangular)[0]  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(first ind axes, others) -> (others, first ind axes)")
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse under `tensordot` of ind axes."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    lengths = math.prod(A.shape[ind:]), math.prod(A.shape[:ind])
    if lengths[0] != lengths[1]:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {lengths[0]} != {lengths[1]}"
        )
    return _numpy.tensorinv(A, ind)  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(axes of B, others), (axes of B) -> (others)")
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X of tensordot(A, X) = B; the axes `dims` of A are moved to its end first."""
    return _numpy.tensorsolve(A, B, dims)  # type: ignore[no-any-return]


@LINALG.operation(
    FUNCTION | OUT, shapes="(…, n, m), (…, n, k) -> (…, m, k), (…, k), (…), (…, min(n, m))"
)
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """X of the least ‖A @ X - B‖, the sums of squares that are left, ranks, singular values."""
    if len(A.shape) < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    rows, columns = A.shape[-2:]
    vector = _is_vector(A, B)
    right = shaping.unsqueeze(B, -1) if vector else B
    solution = functions.matmul(pinv(A, rcond), right)
    rank = matrix_rank(A)
    residuals = wrap(np.zeros(0, A.array.dtype))
    if rows > columns and bool(reductions.all(elementwise.eq(rank, columns))):
        left = elementwise.sub(functions.matmul(A, solution), right)
        residuals = reductions.sum(elementwise.square(elementwise.abs(left)), -2)
    nothing = wrap(np.zeros(0, elementwise.abs(A).array.dtype))
    values = svdvals(A).detach() if driver in ("gelsd", "gelss") else nothing
    ranks = rank if driver in ("gelsy", "gelsd", "gelss", None) else wrap(np.zeros(0, np.int64))
    return _Lstsq(shaping.squeeze(solution, -1) if vector else solution, residuals, ranks, values)


# --- factors ----------------------------------------------------------------------------------


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n, n)")
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower (or upper) triangular factor of a positive-definite matrix."""
    return factorizations.cholesky(A, upper, name="linalg.cholesky")


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n, n), (…)")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky`, and zeros; for a matrix that has no factor NaN, and the order of its first minor
    that is not positive-definite."""

    def attempt(A: Tensor) -> Tensor:
        return cholesky(A, upper=upper)

    return _CholeskyEx(*_with_infos(attempt, A, factorizations.indefinite_infos, check_errors))


@LINALG.operation(
    FUNCTION | OUT,
    shapes="(…, n, m) -> (…, n, k), (…, k, m); k is min(n, m), or n of the complete one",
)
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """An orthogonal matrix and an upper triangular one; mode: "reduced", "complete", or "r"."""
    if mode == "r":
        return _Qr(wrap(np.zeros(0, A.array.dtype)), _numpy.qr(A, "r"))
    if mode not in ("reduced", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    return _Qr(*factorizations.qr_factors(A, mode))


@LINALG.operation(
    FUNCTION | OUT,
    shapes="(…, n, m) -> (…, n, n), (…, k), (…, m, m); or k = min(n, m) columns and rows",
)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """U, the singular values, and V.mH, of which A is the product."""
    return _Svd(*factorizations.svd_factors(A, full_matrices))


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…, min(n, m))")
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, the greatest first."""
    return _numpy.svdvals(A)  # type: ignore[no-any-return]


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n), (…, n, n)")
def eig(A: Tensor) -> Any:
    """The eigenvalues and eigenvectors, complex ones."""
    factorizations._check_square(A, "linalg.eig")
    _check_finite(A)
    return _Eig(*_numpy.eig(_complex(A)))


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n)")
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues, complex ones."""
    factorizations._check_square(A, "linalg.eigvals")
    _check_finite(A)
    return _numpy.eigvals(_complex(A))  # type: ignore[no-any-return]


def _check_finite(A: Tensor) -> None:
    if not np.all(np.isfinite(A.array)):
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")


def _complex(A: Tensor) -> Tensor:
    return functions.to_dtype(A, np.result_type(A.array.dtype, np.complex64))


def _is_upper(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "U"


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n), (…, n, n)")
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is read."""
    factorizations._check_square(A, "linalg.eigh")
    return _Eigh(*_numpy.eigh(factorizations.hermitian(A, _is_upper(UPLO))))


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n) -> (…, n)")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a Hermitian matrix, of which one triangle is read."""
    factorizations._check_square(A, "linalg.eigvalsh")
    return _numpy.eigvalsh(factorizations.hermitian(A, _is_upper(UPLO)))  # type: ignore[no-any-return]


@LINALG.operation(
    FUNCTION | OUT, shapes="(…, n, m) -> (…, n, n), (…, n, k), (…, k, m); k is min(n, m)"
)
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation, a lower and an upper triangular matrix, of which A is the product."""
    return _Lu(*factorizations.lu_unpack(*factorizations.lu(A, pivot)))


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…, n, m), (…, min(n, m))")
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows that were exchanged (from 1)."""
    factors, pivots, infos = factorizations.lu(A, pivot, True)
    if np.any(infos.array):
        which, place = factorizations.first_failure(infos.array)
        raise RuntimeError(
            f"torch.linalg.lu_factor: {which}U[{place},{place}] is zero and using it on lu_solve "
            "would result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    return _LuFactor(factors, pivots)


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, m) -> (…, n, m), (…, min(n, m)), (…)")
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor`, and zeros; for a singular matrix which pivot of it is zero."""
    return _LuFactorEx(*factorizations.lu(A, pivot, True))


@LINALG.operation(FUNCTION | OUT, shapes="(…, n, n), (…, n), (…, n, k) -> (…, n, k)")
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """X of A @ X = B (or X @ A = B; of the adjoint of A), of which `lu_factor` has the factors."""
    if left and not adjoint:
        return factorizations.lu_solve(B, LU, pivots)
    P, L, U = factorizations.lu_unpack(LU, pivots)
    whole = functions.matmul(functions.matmul(P, L), U)
    return solve(whole.mH if adjoint else whole, B, left=left)


__all__ = ["LinAlgError", *publish(LINALG, globals())]
