"""Linear algebra as it is handed on in lectures and notebooks: helpers that swap rows, lists of
lists, rotations, Krylov spaces, sparse rows."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(21)
square = rng.normal(size=(4, 4)) + 4 * np.eye(4)
spd = square @ square.T
rhs = rng.normal(size=4)


def swap_rows(v, i, j):
    if len(v.shape) == 1:
        v[i], v[j] = v[j], v[i]
    else:
        v[[i, j], :] = v[[j, i], :]


@program(square[[1, 0, 3, 2]], rhs)
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


@program(spd.tolist())
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


@program(square.tolist())
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


@program(spd)
def jacobi_rotations_by_helpers(a):
    """Nested helpers: one looks for the largest element off the diagonal, one rotates it away."""

    def largest(a):
        best = 0.0
        for i in range(len(a) - 1):
            for j in range(i + 1, len(a)):
                if abs(a[i, j]) >= best:
                    best = abs(a[i, j])
                    k = i
                    m = j
        return best, k, m

    def rotate(a, p, k, m):
        phi = (a[m, m] - a[k, k]) / (2.0 * a[k, m])
        t = 1.0 / (abs(phi) + math.sqrt(phi**2 + 1.0))
        if phi < 0.0:
            t = -t
        c = 1.0 / math.sqrt(t**2 + 1.0)
        s = t * c
        J = np.identity(len(a))
        J[k, k] = J[m, m] = c
        J[k, m], J[m, k] = s, -s
        a[:] = J.T @ a @ J
        p[:] = p @ J

    p = np.identity(len(a))
    for sweep in range(3):
        best, k, m = largest(a)
        if best < 1e-9:
            return np.diagonal(a), p
        rotate(a, p, k, m)
    print("no convergence yet")
    return np.diagonal(a), p


@program(spd)
def inverse_iteration_that_may_fail(a, shift=0.5, tol=1e-6):
    """Returns from inside of the loop, or not at all."""
    shifted = a - np.identity(len(a)) * shift
    x = np.array([0.3, -0.5, 0.7, 0.1])
    x = x / math.sqrt(np.dot(x, x))
    for i in range(60):
        old = x.copy()
        x = np.linalg.solve(shifted, x)
        length = math.sqrt(np.dot(x, x))
        x = x / length
        if np.dot(old, x) < 0.0:
            sign = -1.0
            x = -x
        else:
            sign = 1.0
        if math.sqrt(np.dot(old - x, old - x)) < tol:
            return shift + sign / length, x
    print("Inverse power method did not converge")


@program(np.array([1.0, 2.0, 1.0]), np.array([4.0, 5.0, 6.0, 5.0]), np.array([0.5, 1.0, 0.7]), rhs)
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


@program(square)
def givens_by_index_pairs(A):
    Q, R = np.identity(len(A)), np.copy(A)
    rows, columns = np.tril_indices(len(A), -1, len(A))
    for row, column in zip(rows, columns):
        if R[row, column] != 0:
            r = np.hypot(R[column, column], R[row, column])
            c, s = R[column, column] / r, -R[row, column] / r
            G = np.identity(len(A))
            G[[column, row], [column, row]] = c
            G[row, column] = s
            G[column, row] = -s
            R = np.dot(G, R)
            Q = np.dot(Q, G.T)
    return Q, R


class SparseRows:
    def __init__(self, data, columns, starts, shape):
        self.data = np.asarray(data, dtype=float)
        self.columns = np.asarray(columns)
        self.starts = np.asarray(starts)
        self.shape = shape

    @classmethod
    def from_dense(cls, A):
        data, columns, starts = [], [], [0]
        for row in A:
            for j, a in enumerate(row):
                if a != 0:
                    data.append(a)
                    columns.append(j)
            starts.append(len(data))
        return cls(data, columns, starts, A.shape)

    def __matmul__(self, x):
        y = np.zeros(self.shape[0])
        for i in range(self.shape[0]):
            start, end = self.starts[i], self.starts[i + 1]
            y[i] = np.dot(self.data[start:end], x[self.columns[start:end]])
        return y


@program(spd, rhs)
def sparse_steepest_descent(A, b):
    M = SparseRows.from_dense(A)
    x = np.zeros_like(b)
    for k in range(3):
        r = b - M @ x
        x += (r @ r) / (r @ (M @ r)) * r
    return x


@program(square[:3, :3].tolist())
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


@program(square + 5 * np.eye(4), rhs)
def jacobi_by_diagonals(A, b, tolerance=1e-10):
    D = np.diag(np.diag(A))
    rest = A - D
    x = np.zeros(len(b))
    inverse = np.diag(1 / np.diag(D))
    for i in range(25):
        following = np.dot(inverse, b - np.dot(rest, x))
        if np.linalg.norm(following - x) < tolerance:
            return following
        x = following
    return x
