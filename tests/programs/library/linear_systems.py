"""Direct solution of linear systems: elimination, factorizations, determinants."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(1)


A4 = rng.normal(size=(4, 4)) + 4 * np.eye(4)


B4 = rng.normal(size=(4, 4))


S4 = B4 @ B4.T + 3 * np.eye(4)


b4 = rng.normal(size=4)


P4 = A4[[2, 0, 3, 1]]


@program(A4, b4)
def gauss_elimination(A, b):
    """Elimination without pivoting, then back substitution."""
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= A[i, j] * x[j]
        x[i] = s / A[i, i]
    return x


@program(P4, b4)
def gauss_partial_pivoting(A, b):
    n = A.shape[0]
    M = np.zeros((n, n + 1))
    M[:, :n] = A
    M[:, n] = b
    for k in range(n):
        # find the pivot row
        p = k
        for i in range(k + 1, n):
            if abs(M[i, k]) > abs(M[p, k]):
                p = i
        if p != k:
            for j in range(k, n + 1):
                M[k, j], M[p, j] = M[p, j], M[k, j]
        for i in range(k + 1, n):
            m = M[i, k] / M[k, k]
            M[i, k:] = M[i, k:] - m * M[k, k:]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (M[i, n] - np.dot(M[i, i + 1 : n], x[i + 1 :])) / M[i, i]
    return x


@program(P4, b4)
def gauss_pivot_argmax(A, b):
    A, b = A.copy(), b.copy()
    n = b.size
    for k in range(n):
        p = np.argmax(np.abs(A[k:, k])) + k
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b


@program(A4.copy(), b4.copy())
def gauss_jordan_in_place(a, b):
    """Numerical-recipes style: both arguments are destroyed, b becomes the solution."""
    n = len(a)
    for i in range(n):
        pivot = a[i, i]
        a[i] /= pivot
        b[i] /= pivot
        for r in range(n):
            if r == i:
                continue
            f = a[r, i]
            a[r] -= f * a[i]
            b[r] -= f * b[i]
    return b


@program(P4)
def inverse_gauss_jordan(A):
    n = A.shape[0]
    aug = np.hstack((A, np.eye(n)))
    for col in range(n):
        piv = col + int(np.argmax(np.abs(aug[col:, col])))
        if piv != col:
            tmp = aug[col].copy()
            aug[col] = aug[piv]
            aug[piv] = tmp
        aug[col] = aug[col] / aug[col, col]
        for row in range(n):
            if row != col:
                aug[row] -= aug[row, col] * aug[col]
    return aug[:, n:]


@program(P4)
def determinant(A):
    """Determinant by elimination with row interchanges."""
    M = np.array(A)
    n = len(M)
    det = 1.0
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(M[i, k]))
        if M[p, k] == 0.0:
            return 0.0
        if p != k:
            for j in range(n):
                M[k, j], M[p, j] = M[p, j], M[k, j]
            det = -det
        det *= M[k, k]
        for i in range(k + 1, n):
            M[i, k:] -= M[i, k] / M[k, k] * M[k, k:]
    return det


def minor(M, i, j):
    rows = []
    for r in range(len(M)):
        if r != i:
            row = []
            for c in range(len(M)):
                if c != j:
                    row.append(M[r][c])
            rows.append(row)
    return rows


@program([[2.0, 1.0, 0.5], [0.3, 1.5, -0.7], [1.1, 0.2, 3.0]])
def laplace_expansion(M):
    if len(M) == 1:
        return M[0][0]
    if len(M) == 2:
        return M[0][0] * M[1][1] - M[0][1] * M[1][0]
    det = 0.0
    for j in range(len(M)):
        det += (-1) ** j * M[0][j] * laplace_expansion(minor(M, 0, j))
    return det


@program(A4, b4)
def doolittle_solve(A, b):
    n = len(A)
    L = np.eye(n)
    U = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            U[i, j] = A[i, j] - sum(L[i, k] * U[k, j] for k in range(i))
        for j in range(i + 1, n):
            L[j, i] = (A[j, i] - sum(L[j, k] * U[k, i] for k in range(i))) / U[i, i]
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[i] - sum(L[i, k] * y[k] for k in range(i))
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - sum(U[i, k] * x[k] for k in range(i + 1, n))) / U[i, i]
    return x


@program(A4)
def crout(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    U = np.identity(n)
    for j in range(n):
        for i in range(j, n):
            s = 0.0
            for k in range(j):
                s += L[i, k] * U[k, j]
            L[i, j] = A[i, j] - s
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j):
                s += L[j, k] * U[k, i]
            U[j, i] = (A[j, i] - s) / L[j, j]
    return L, U


@program(A4)
def lu_in_place(A):
    """Compact LU: multipliers below the diagonal (Golub & Van Loan, alg. 3.2.1)."""
    A = A.copy()
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def forward_substitution(L, b):
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    return x


def back_substitution(U, b):
    n = len(b)
    x = np.empty_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(U[i, i + 1 :], x[i + 1 :])) / U[i, i]
    return x


@program(S4)
def cholesky_scalar_loops(A):
    n = len(A)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += L[i, k] * L[j, k]
            if i == j:
                L[i, j] = math.sqrt(A[i, i] - s)
            else:
                L[i, j] = (A[i, j] - s) / L[j, j]
    return L


@program(S4, b4)
def cholesky_solve(A, b):
    n = A.shape[0]
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j])) / L[j, j]
    return back_substitution(L.T, forward_substitution(L, b))


@program(S4)
def cholesky_outer_product(A):
    """Right-looking, in place; the strict upper triangle is cleared at the end."""
    A = A.copy()
    n = A.shape[0]
    for k in range(n):
        A[k, k] = np.sqrt(A[k, k])
        A[k + 1 :, k] /= A[k, k]
        for j in range(k + 1, n):
            A[j:, j] -= A[j:, k] * A[j, k]
    return np.tril(A)


@program(S4, b4)
def ldl_quadratic_form(A, b):
    n = len(b)
    L = np.eye(n)
    d = np.zeros(n)
    for j in range(n):
        d[j] = A[j, j] - (L[j, :j] ** 2 * d[:j]).sum()
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - (L[i, :j] * L[j, :j] * d[:j]).sum()) / d[j]
    y = forward_substitution(L, b)
    return (y * y / d).sum()


@program(
    np.array([-1.0, -0.5, -0.8, -0.3]),
    np.array([3.0, 2.5, 2.8, 3.1, 2.2]),
    np.array([-0.7, -0.4, -0.9, -0.2]),
    np.array([1.0, 0.5, -0.3, 0.8, 2.0]),
)
def thomas(a, b, c, d):
    """Tridiagonal systems: a below, b on, c above the diagonal."""
    n = len(d)
    cp = np.zeros(n - 1)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n - 1):
        m = b[i] - a[i - 1] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    dp[n - 1] = (d[n - 1] - a[n - 2] * dp[n - 2]) / (b[n - 1] - a[n - 2] * cp[n - 2])
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@program(
    [-1.0, -0.5, -0.8, -0.3],
    [3.0, 2.5, 2.8, 3.1, 2.2],
    [-0.7, -0.4, -0.9, -0.2],
    [1.0, 0.5, -0.3, 0.8, 2.0],
)
def thomas_on_lists(lower, diag, upper, rhs):
    n = len(diag)
    diag = list(diag)
    rhs = list(rhs)
    for i in range(1, n):
        w = lower[i - 1] / diag[i - 1]
        diag[i] = diag[i] - w * upper[i - 1]
        rhs[i] = rhs[i] - w * rhs[i - 1]
    x = [0.0] * n
    x[-1] = rhs[-1] / diag[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (rhs[i] - upper[i] * x[i + 1]) / diag[i]
    return sum(v * v for v in x)


@program(rng.normal(size=(5, 2)), rng.normal(size=5))
def normal_equations_2x2(X, y):
    """Least squares with two unknowns by Cramer's rule."""
    a, b, c = 0.0, 0.0, 0.0
    p = q = 0.0
    for (u, v), t in zip(X, y):
        a += u * u
        b += u * v
        c += v * v
        p += u * t
        q += v * t
    det = a * c - b**2
    return (c * p - b * q) / det, (a * q - b * p) / det


def swap_rows(v, i, j):
    if len(v.shape) == 1:
        v[i], v[j] = v[j], v[i]
    else:
        v[[i, j], :] = v[[j, i], :]


@program(A4[[1, 0, 3, 2]], b4)
def scaled_pivoting(a, b, tol=1.0e-12):
    """Elimination with scaled row pivoting; everything is changed in place."""
    n = len(b)
    s = np.zeros(n)
    for i in range(n):
        s[i] = max(np.abs(a[i, :]))
    for k in range(n - 1):
        p = np.argmax(np.abs(a[k:n, k]) / s[k:n]) + k
        if abs(a[p, k]) < tol:
            raise ValueError("Matrix is singular")
        if p != k:
            swap_rows(b, k, p)
            swap_rows(s, k, p)
            swap_rows(a, k, p)
        for i in range(k + 1, n):
            if a[i, k] != 0.0:
                factor = a[i, k] / a[k, k]
                a[i, k + 1 : n] = a[i, k + 1 : n] - factor * a[k, k + 1 : n]
                b[i] = b[i] - factor * b[k]
    b[n - 1] = b[n - 1] / a[n - 1, n - 1]
    for k in range(n - 2, -1, -1):
        b[k] = (b[k] - np.dot(a[k, k + 1 : n], b[k + 1 : n])) / a[k, k]
    return b


@program(S4.tolist())
def cholesky_of_row_lists(A):
    """Each row of the factor goes by two names, one of them in a loop over a slice."""
    L = [[0.0] * len(A) for _ in range(len(A))]
    for i, (source, row) in enumerate(zip(A, L)):
        for j, other in enumerate(L[: i + 1]):
            rest = source[j] - sum(row[k] * other[k] for k in range(j))
            row[j] = math.sqrt(rest) if i == j else rest / other[j]
    return L


def pivot_order(m):
    n = len(m)
    P = [[float(i == j) for i in range(n)] for j in range(n)]
    for j in range(n):
        row = max(range(j, n), key=lambda i: abs(m[i][j]))
        if row != j:
            P[j], P[row] = P[row], P[j]
    return P


def product(A, B):
    columns = list(zip(*B))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in A]


@program(A4.tolist())
def doolittle_with_permutation(A):
    n = len(A)
    L = [[0.0] * n for _ in range(n)]
    U = [[0.0] * n for _ in range(n)]
    PA = product(pivot_order(A), A)
    for j in range(n):
        L[j][j] = 1.0
        for i in range(j + 1):
            U[i][j] = PA[i][j] - sum(U[k][j] * L[i][k] for k in range(i))
        for i in range(j, n):
            L[i][j] = (PA[i][j] - sum(U[k][j] * L[i][k] for k in range(j))) / U[j][j]
    return L, U


@program(np.array([1.0, 2.0, 1.0]), np.array([4.0, 5.0, 6.0, 5.0]), np.array([0.5, 1.0, 0.7]), b4)
def tridiagonal_by_mapped_copies(a, b, c, d):
    n = len(d)
    lower, diagonal, upper, right = map(np.array, (a, b, c, d))
    for i in range(1, n):
        m = lower[i - 1] / diagonal[i - 1]
        diagonal[i] = diagonal[i] - m * upper[i - 1]
        right[i] = right[i] - m * right[i - 1]
    x = diagonal
    x[-1] = right[-1] / diagonal[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (right[i] - upper[i] * x[i + 1]) / diagonal[i]
    return x


@program(A4[:3, :3].tolist())
def determinant_by_minors(A):
    if len(A) == 2:
        return A[0][0] * A[1][1] - A[1][0] * A[0][1]
    total = 0
    for column in range(len(A)):
        below = A[1:]
        for i in range(len(below)):
            below[i] = below[i][:column] + below[i][column + 1 :]
        total += (-1) ** (column % 2) * A[0][column] * determinant_by_minors(below)
    return total


@program([[1.0, 2.0, -1.0, -4.0], [2.0, 3.0, -1.0, -11.0], [-2.0, 0.0, -3.0, 22.0]], order=1)
def echelon_form_on_rows(rows):
    lead = 0
    for r in range(len(rows)):
        if lead >= len(rows[0]):
            return rows
        i = r
        while rows[i][lead] == 0:
            i += 1
            if i == len(rows):
                return rows
        rows[i], rows[r] = rows[r], rows[i]
        first = rows[r][lead]
        rows[r] = [value / first for value in rows[r]]
        for i in range(len(rows)):
            if i != r:
                first = rows[i][lead]
                rows[i] = [v - first * w for w, v in zip(rows[r], rows[i])]
        lead += 1
    return rows
