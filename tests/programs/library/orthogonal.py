"""Orthogonal factorizations and eigenvalues."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(2)
A53 = rng.normal(size=(5, 3))
B4 = rng.normal(size=(4, 4))
S4 = np.diag([4.0, 2.5, 1.0, 0.3]) + 0.1 * (B4 + B4.T)
v4 = rng.normal(size=4)


@program(A53)
def classical_gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j]
        for i in range(j):
            R[i, j] = np.dot(Q[:, i], A[:, j])
            v = v - R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return Q, R


@program(A53)
def modified_gram_schmidt(A):
    V = A.copy()
    m, n = V.shape
    Q = np.empty((m, n))
    R = np.zeros((n, n))
    for i in range(n):
        R[i, i] = np.sqrt(np.sum(V[:, i] ** 2))
        Q[:, i] = V[:, i] / R[i, i]
        for j in range(i + 1, n):
            R[i, j] = Q[:, i] @ V[:, j]
            V[:, j] -= R[i, j] * Q[:, i]
    return Q, R


@program(A53)
def gram_schmidt_on_lists(A):
    basis = []
    for a in A.T:
        w = a
        for q in basis:
            w = w - np.dot(a, q) * q
        basis.append(w / np.sqrt(w @ w))
    return np.array(basis)


@program(A53)
def householder_qr(A):
    R = A.copy()
    m, n = R.shape
    Q = np.eye(m)
    for k in range(n):
        x = R[k:, k]
        e = np.zeros_like(x)
        e[0] = np.copysign(np.linalg.norm(x), -A[k, k])
        u = x - e
        v = u / np.linalg.norm(u)
        H = np.eye(m)
        H[k:, k:] -= 2.0 * np.outer(v, v)
        R = H @ R
        Q = Q @ H.T
    return Q, R


@program(A53, rng.normal(size=5))
def householder_least_squares(A, b):
    """Trefethen & Bau, algorithms 10.1 to 10.3."""
    A = A.copy()
    b = b.copy()
    _m, n = A.shape
    for k in range(n):
        v = A[k:, k].copy()
        sign = 1.0 if v[0] >= 0 else -1.0
        v[0] += sign * np.sqrt(np.sum(v * v))
        v /= np.sqrt(np.sum(v * v))
        A[k:, k:] -= 2 * np.outer(v, v @ A[k:, k:])
        b[k:] -= 2 * v * (v @ b[k:])
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def givens(a, b):
    if b == 0:
        return 1.0, 0.0
    if abs(b) > abs(a):
        t = -a / b
        s = 1 / np.sqrt(1 + t * t)
        return s * t, s
    t = -b / a
    c = 1 / np.sqrt(1 + t * t)
    return c, c * t


@program(A53)
def givens_qr(A):
    R = A.copy()
    m, n = R.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            c, s = givens(R[i - 1, j], R[i, j])
            upper = c * R[i - 1] - s * R[i]
            lower = s * R[i - 1] + c * R[i]
            R[i - 1] = upper
            R[i] = lower
    return R[:n]


@program(S4, v4)
def power_iteration(A, v):
    for _ in range(30):
        w = A @ v
        v = w / np.linalg.norm(w)
    return v @ A @ v


@program(S4, v4)
def power_iteration_until_converged(A, v, tol=1e-9):
    lam = 0.0
    v = v / np.sqrt(v @ v)
    while True:
        w = A.dot(v)
        new = v.dot(w)
        v = w / np.sqrt(w.dot(w))
        if abs(new - lam) < tol:
            return new
        lam = new


@program(S4, v4, 2.0)
def inverse_iteration(A, v, shift):
    M = A - shift * np.eye(len(A))
    for _ in range(6):
        v = np.linalg.solve(M, v)
        v = v / np.linalg.norm(v)
    return v @ (A @ v)


@program(S4, v4)
def rayleigh_quotient_iteration(A, v):
    n = A.shape[0]
    identity = np.eye(n)
    v = v / np.linalg.norm(v)
    mu = v @ A @ v
    for k in range(3):
        w = np.linalg.solve(A - mu * identity, v)
        v = w / np.linalg.norm(w)
        mu = v @ A @ v
    return mu


@program(S4)
def deflated_eigenvalues(A):
    """The two largest eigenvalues, by power iteration and deflation."""
    B = A.copy()
    n = len(B)
    values = np.zeros(2)
    for k in range(2):
        v = np.ones(n) / np.sqrt(n)
        for _ in range(25):
            v = B @ v
            v /= np.sqrt(np.sum(v**2))
        values[k] = v @ B @ v
        B = B - values[k] * np.outer(v, v)
    return values


@program(S4)
def jacobi_rotations(A):
    """Cyclic Jacobi method for the eigenvalues of a symmetric matrix."""
    A = A.copy()
    n = A.shape[0]
    for sweep in range(2):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-14:
                    continue
                theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = np.cos(theta), np.sin(theta)
                for k in range(n):
                    akp, akq = A[k, p], A[k, q]
                    A[k, p] = c * akp - s * akq
                    A[k, q] = s * akp + c * akq
                for k in range(n):
                    apk, aqk = A[p, k], A[q, k]
                    A[p, k] = c * apk - s * aqk
                    A[q, k] = s * apk + c * aqk
    return np.diag(A)


@program(S4, 6)
def unshifted_qr_algorithm(A, steps):
    for _ in range(steps):
        Q, R = np.linalg.qr(A)
        A = R @ Q
    return np.diagonal(A)


@program(S4, v4)
def lanczos(A, v):
    m = 3
    alpha = np.zeros(m)
    beta = np.zeros(m)
    q_prev = np.zeros_like(v)
    q = v / np.linalg.norm(v)
    b = 0.0
    for j in range(m):
        z = A @ q
        alpha[j] = q @ z
        z = z - alpha[j] * q - b * q_prev
        b = np.linalg.norm(z)
        beta[j] = b
        q_prev, q = q, z / b
    return alpha, beta


@program(A53 @ A53.T @ A53, 4)
def orthogonal_iteration(X, steps):
    """Newton-Schulz iteration for the polar factor."""
    X = X / np.sqrt((X**2).sum())
    for _ in range(steps):
        X = 1.5 * X - 0.5 * X @ (X.T @ X)
    return X


@program(
    rng.normal(size=(4, 4)),
)
def hessenberg(A):
    H = np.array(A, copy=True)
    n = H.shape[0]
    for k in range(n - 2):
        v = H[k + 1 :, k].copy()
        v[0] += np.sign(v[0]) * np.linalg.norm(v)
        v = v / np.linalg.norm(v)
        H[k + 1 :, k:] -= 2.0 * np.outer(v, v @ H[k + 1 :, k:])
        H[:, k + 1 :] -= 2.0 * np.outer(H[:, k + 1 :] @ v, v)
    return H


@program(S4)
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


@program(S4)
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


@program(B4)
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
