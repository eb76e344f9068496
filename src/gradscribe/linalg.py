"""`gs.linalg`: linear algebra on Tensors, under PyTorch's names and with its arguments.

The derivatives are those of `numpy.linalg` and of the functions of `gs` beside it; here stand only
the spellings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.runtime.functions import common as functions
from gradscribe.runtime.functions import factorizations, products, shaping
from gradscribe.runtime.functions.factorizations import LinAlgError as LinAlgError
from gradscribe.runtime.functions.viewing import diagonal as _diagonal
from gradscribe.runtime.tensors.size import returned
from gradscribe.runtime.tensors.tensor import Tensor, wrap

# fmt: off
__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh",
    "eigvals", "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power",
    "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex",
    "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot",
    "vector_norm",
]
# fmt: on

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

matmul = functions.matmul
matrix_exp = factorizations.matrix_exp
matrix_power = factorizations.matrix_power
det = factorizations.det
inv = factorizations.inverse
householder_product = factorizations.orgqr


# --- products ---------------------------------------------------------------------------------


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


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of conj(x) * y along an axis."""
    return functions.sum(functions.mul(x.conj(), y), dim)


def multi_dot(tensors: Any) -> Tensor:
    """The product of matrices, in the cheapest order."""
    return _numpy.multi_dot(list(tensors))  # type: ignore[no-any-return]


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers of the elements, from 0 up to N - 1, along a new last axis."""
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    exponents = wrap(np.arange(count))
    return functions.pow(shaping.unsqueeze(x, -1), exponents)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The elements where two indices are equal, or an offset apart."""
    return _diagonal(A, offset, dim1, dim2)


# --- norms ------------------------------------------------------------------------------------


def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The p-norm of the elements along some axes, or of all."""
    if ord == 0:
        counted = functions.ne(x, 0).to(x.abs().dtype if dtype is None else dtype)
        return functions.sum(counted, dim, keepdim)
    rank = len(x.shape)
    if dim is None and keepdim:
        dim = tuple(range(rank))
    return functions.norm(x, ord, dim, keepdim, dtype)


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """A norm of matrices: "fro", "nuc", or inf, -inf, 1, -1, 2, -2."""
    if len(A.shape) < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    matrices = A if dtype is None else functions.to_dtype(A, dtype)
    return _numpy.norm(matrices, ord, tuple(dim), keepdim)  # type: ignore[no-any-return]


def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of vectors or, along two axes, of matrices."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    many = isinstance(dim, (tuple, list))
    if (many and len(dim) == 2) or (dim is None and len(A.shape) == 2) or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if dim is None and len(A.shape) > 2:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{len(A.shape)}D."
        )
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """How much an error of the right side may grow in a solution: the norm of A times that of its
    inverse."""
    if p is None or p in (2, -2):
        values = svdvals(A)
        first, last = values[..., 0], values[..., -1]
        return functions.div(last, first) if p == -2 else functions.div(first, last)
    return functions.mul(matrix_norm(A, p), matrix_norm(inv(A), p))


# --- determinants, inverses, solutions --------------------------------------------------------


def slogdet(A: Tensor) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    return _Slogdet(*factorizations.slogdet(A))


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and zeros: a matrix that has none is refused."""
    return _InvEx(inv(A), wrap(np.zeros(A.shape[:-2], np.int32)))


def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """The Moore-Penrose pseudoinverse: singular values up to max(atol, rtol * the greatest) count
    as 0."""
    rows, columns = A.shape[-2:]
    if 0 in (rows, columns):
        return shaping.transpose(A, -2, -1).clone()
    if hermitian:
        A = factorizations.hermitian(A)
    least = _threshold(A, rcond, atol, rtol)
    return _numpy.pinv(A, least if np.ndim(least) else float(least))  # type: ignore[no-any-return]


def _threshold(A: Tensor, rcond: Any, atol: Any, rtol: Any) -> Any:
    """The ratio to the greatest singular value up to which others count as 0."""
    relative = rtol if rcond is None else rcond
    array = A.array
    if relative is None:
        no_atol = atol is None or not np.any(_plain(atol))
        relative = max(array.shape[-2:]) * np.finfo(array.dtype).eps if no_atol else 0.0
    if atol is None:
        return _plain(relative)
    greatest = np.linalg.norm(array, 2, (-2, -1))
    return np.maximum(_plain(atol) / np.maximum(greatest, 1e-300), _plain(relative))


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _is_vector(A: Tensor, B: Tensor) -> bool:
    """Whether B has a vector for each matrix."""
    return len(B.shape) == 1 or (len(A.shape) - 1 == len(B.shape) and B.shape == A.shape[:-1])


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


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve`, and zeros: equations without a solution are refused."""
    return _SolveEx(solve(A, B, left=left), wrap(np.zeros(A.shape[:-2], np.int32)))


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X of A @ X = B, or of X @ A = B, where one triangle of A is read."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    return factorizations.triangular_solve(B, A, upper, False, unitriangular)[0]  # type: ignore[no-any-return]


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse under `tensordot` of ind axes."""
    return _numpy.tensorinv(A, ind)  # type: ignore[no-any-return]


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X of tensordot(A, X) = B; the axes `dims` of A are moved to its end first."""
    return _numpy.tensorsolve(A, B, dims)  # type: ignore[no-any-return]


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
    if rows > columns and bool(functions.all(functions.eq(rank, columns))):
        left = functions.sub(functions.matmul(A, solution), right)
        residuals = functions.sum(functions.square(functions.abs(left)), -2)
    nothing = wrap(np.zeros(0, functions.abs(A).array.dtype))
    values = svdvals(A).detach() if driver in ("gelsd", "gelss") else nothing
    ranks = rank if driver in ("gelsy", "gelsd", "gelss", None) else wrap(np.zeros(0, np.int64))
    return _Lstsq(shaping.squeeze(solution, -1) if vector else solution, residuals, ranks, values)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """How many singular values are above max(atol, rtol * the greatest)."""
    array = factorizations.hermitian(A).array if hermitian else A.array
    values = np.linalg.svd(array, compute_uv=False)
    greatest = np.max(values, axis=-1, initial=0.0)
    relative = _plain(rtol)
    if tol is not None:
        least = np.asarray(_plain(tol))
    else:
        has_atol = atol is not None and np.any(_plain(atol))
        if relative is None:
            relative = 0.0 if has_atol else max(A.shape[-2:]) * np.finfo(values.dtype).eps
        absolute = 0.0 if atol is None else _plain(atol)
        least = np.maximum(absolute, relative * greatest)
    counts = np.sum(values > np.asarray(least)[..., None], axis=-1, dtype=np.int64)
    return wrap(np.asarray(counts))


# --- factors ----------------------------------------------------------------------------------


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower (or upper) triangular factor of a positive-definite matrix."""
    return factorizations.cholesky(A, upper, name="linalg.cholesky")


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky`, and zeros: what has no factor is refused."""
    return _CholeskyEx(cholesky(A, upper=upper), wrap(np.zeros(A.shape[:-2], np.int32)))


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


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """U, the singular values, and V.mH, of which A is the product."""
    return _Svd(*factorizations.svd_factors(A, full_matrices))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, the greatest first."""
    return _numpy.svdvals(A)  # type: ignore[no-any-return]


def eig(A: Tensor) -> Any:
    """The eigenvalues and eigenvectors, complex ones."""
    factorizations._check_square(A, "linalg.eig")
    return _Eig(*_numpy.eig(_complex(A)))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues, complex ones."""
    factorizations._check_square(A, "linalg.eigvals")
    return _numpy.eigvals(_complex(A))  # type: ignore[no-any-return]


def _complex(A: Tensor) -> Tensor:
    return functions.to_dtype(A, np.result_type(A.array.dtype, np.complex64))


def _is_upper(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "U"


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is read."""
    factorizations._check_square(A, "linalg.eigh")
    return _Eigh(*_numpy.eigh(factorizations.hermitian(A, _is_upper(UPLO))))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a Hermitian matrix, of which one triangle is read."""
    factorizations._check_square(A, "linalg.eigvalsh")
    return _numpy.eigvalsh(factorizations.hermitian(A, _is_upper(UPLO)))  # type: ignore[no-any-return]


def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation, a lower and an upper triangular matrix, of which A is the product."""
    return _Lu(*factorizations.lu_unpack(*factorizations.lu(A, pivot)))


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows that were exchanged (from 1)."""
    return _LuFactor(*factorizations.lu(A, pivot))


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor`, and zeros."""
    return _LuFactorEx(*factorizations.lu(A, pivot, True))


def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """X of A @ X = B (or X @ A = B; of the adjoint of A), of which `lu_factor` has the factors."""
    if left and not adjoint:
        return factorizations.lu_solve(B, LU, pivots)
    P, L, U = factorizations.lu_unpack(LU, pivots)
    whole = functions.matmul(functions.matmul(P, L), U)
    return solve(whole.mH if adjoint else whole, B, left=left)
