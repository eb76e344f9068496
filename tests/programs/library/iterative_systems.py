"""Iterative solution of linear systems."""

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(1)


A4 = rng.normal(size=(4, 4)) + 4 * np.eye(4)


B4 = rng.normal(size=(4, 4))


S4 = B4 @ B4.T + 3 * np.eye(4)


b4 = rng.normal(size=4)


@program(A4, b4, 8)
def jacobi_splitting(A, b, iterations):
    D = np.diag(A)
    R = A - np.diagflat(D)
    x = np.zeros_like(b)
    for _ in range(iterations):
        x = (b - np.dot(R, x)) / D
    return x


@program(S4, b4)
def gauss_seidel_to_tolerance(A, b, tol=1e-10):
    n = len(b)
    x = np.zeros(n)
    for it in range(200):
        x_old = x.copy()
        for i in range(n):
            s1 = np.dot(A[i, :i], x[:i])
            s2 = np.dot(A[i, i + 1 :], x_old[i + 1 :])
            x[i] = (b[i] - s1 - s2) / A[i, i]
        if np.linalg.norm(x - x_old) < tol:
            break
    return x


@program(S4, b4, 1.1)
def sor(A, b, omega):
    x = np.zeros(len(b))
    for _ in range(12):
        for i in range(len(b)):
            sigma = 0.0
            for j in range(len(b)):
                if j != i:
                    sigma += A[i, j] * x[j]
            x[i] = (1 - omega) * x[i] + omega * (b[i] - sigma) / A[i, i]
    return np.sum(x**2)


@program(S4, b4)
def conjugate_gradient(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for k in range(3):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < 1e-12:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x


@program(S4, b4, 5)
def steepest_descent(A, b, steps):
    x = np.zeros(b.shape[0])
    history = []
    for _ in range(steps):
        r = b - A.dot(x)
        x = x + r.dot(r) / r.dot(A.dot(r)) * r
        history.append(0.5 * x.dot(A.dot(x)) - b.dot(x))
    return history[-1], x


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


@program(S4, b4)
def sparse_steepest_descent(A, b):
    M = SparseRows.from_dense(A)
    x = np.zeros_like(b)
    for k in range(3):
        r = b - M @ x
        x += (r @ r) / (r @ (M @ r)) * r
    return x


@program(A4 + 5 * np.eye(4), b4)
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
