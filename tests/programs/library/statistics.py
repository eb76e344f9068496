"""Estimation: moments, regressions, mixtures, filters, processes."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(8)


x10 = rng.normal(size=10)


X = rng.normal(size=(8, 3))


y8 = rng.normal(size=8)


@program(x10)
def welford(data):
    n = 0
    mean = 0.0
    M2 = 0.0
    for x in data:
        n += 1
        delta = x - mean
        mean += delta / n
        M2 += delta * (x - mean)
    return mean, M2 / (n - 1)


@program(x10)
def moments(x):
    m = np.mean(x)
    c = x - m
    s2 = np.mean(c**2)
    return np.mean(c**3) / s2**1.5, np.mean(c**4) / s2**2 - 3


@program(X)
def covariance_loops(X):
    n, p = X.shape
    mean = np.zeros(p)
    for row in X:
        mean += row
    mean /= n
    C = np.zeros((p, p))
    for i in range(p):
        for j in range(i, p):
            s = 0.0
            for k in range(n):
                s += (X[k, i] - mean[i]) * (X[k, j] - mean[j])
            C[i, j] = C[j, i] = s / (n - 1)
    return C


@program(x10, np.abs(x10) * 2)
def binned_means_by_masks(values, positions):
    edges = [0.0, 1.0, 2.0, 6.0]
    means = np.zeros(3)
    for b in range(3):
        mask = (positions >= edges[b]) & (positions < edges[b + 1])
        if mask.any():
            means[b] = values[mask].mean()
    return means


@program(x10)
def grouped_sums(values):
    groups = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 1])
    sums = np.zeros(3)
    for g, v in zip(groups, values):
        sums[g] += v
    return sums**2


@program(x10)
def group_means_by_integer_store(values):
    groups = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 1])
    totals = np.zeros(3)
    np.add.at(totals, groups, values**2)
    return totals / np.bincount(groups)


@program(x10)
def winsorized(x):
    y = x.copy()
    y[y > 1.0] = 1.0
    y[y < -0.7] = -0.7
    return (y**2).sum()


@program(x10)
def huber_by_mask(r):
    delta = 0.6
    small = np.abs(r) <= delta
    loss = np.empty_like(r)
    loss[small] = 0.5 * r[small] ** 2
    loss[~small] = delta * (np.abs(r[~small]) - 0.5 * delta)
    return loss.sum()


@program(x10, np.arange(10.0))
def simple_linear_regression(y, x):
    n = len(x)
    sx = sum(x)
    sy = sum(y)
    sxx = sxy = 0.0
    for i in range(n):
        sxx += x[i] ** 2
        sxy += x[i] * y[i]
    slope = (n * sxy - sx * sy) / (n * sxx - sx**2)
    intercept = (sy - slope * sx) / n
    r = y - (intercept + slope * x)
    return slope, intercept, np.sum(r**2)


@program(
    np.array([0.1, -0.2, 0.3]),
    X,
    (y8 > 0).astype(float),
)
def logistic_regression_newton(w, X, t):
    for _ in range(2):
        p = 1 / (1 + np.exp(-X @ w))
        g = X.T @ (p - t)
        H = X.T @ (X * (p * (1 - p))[:, None]) + 0.1 * np.eye(3)
        w = w - np.linalg.solve(H, g)
    return w


@program(np.array([0.1, -0.2, 0.3]), X, y8, 0.1)
def lasso_coordinate_descent(w, X, y, lam):
    w = w.copy()
    _n, p = X.shape
    for sweep in range(3):
        for j in range(p):
            r = y - X @ w + X[:, j] * w[j]
            rho = X[:, j] @ r
            z = np.sum(X[:, j] ** 2)
            if rho < -lam:
                w[j] = (rho + lam) / z
            elif rho > lam:
                w[j] = (rho - lam) / z
            else:
                w[j] = 0.0
    return w


@program(X, y8, 0.5)
def ridge_by_cholesky(X, y, lam):
    p = X.shape[1]
    A = X.T @ X + lam * np.eye(p)
    b = X.T @ y
    for j in range(p):
        for k in range(j):
            A[j, j] -= A[j, k] ** 2
        A[j, j] = math.sqrt(A[j, j])
        for i in range(j + 1, p):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
    for i in range(p):
        for k in range(i):
            b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    return np.sum(b**2)


@program(np.array([-1.0, 1.0]), np.array([0.5, 0.7]), np.array([0.4, 0.6]), x10)
def em_step_one_dimension(mu, sigma, weight, x):
    K, n = len(mu), len(x)
    resp = np.zeros((n, K))
    for k in range(K):
        resp[:, k] = (
            weight[k]
            / (sigma[k] * np.sqrt(2 * np.pi))
            * np.exp(-0.5 * ((x - mu[k]) / sigma[k]) ** 2)
        )
    resp /= resp.sum(axis=1)[:, None]
    Nk = resp.sum(axis=0)
    mu_new = resp.T @ x / Nk
    sigma_new = np.empty(K)
    for k in range(K):
        sigma_new[k] = np.sqrt(np.sum(resp[:, k] * (x - mu_new[k]) ** 2) / Nk[k])
    return mu_new, sigma_new, Nk / n


@program(rng.normal(size=(2, 3)), np.array([0.3, -0.1]), X)
def gmm_diagonal_log_likelihood(means, logits, X):
    lse = np.log(np.exp(logits[0]) + np.exp(logits[1]))
    total = 0.0
    for x in X:
        terms = []
        for k in range(2):
            d = x - means[k]
            terms.append(logits[k] - lse - 0.5 * d @ d)
        m = max(terms)
        total += m + np.log(sum(np.exp(t - m) for t in terms))
    return total


@program(rng.normal(size=(2, 3)), X)
def k_means_step(centers, X):
    labels = np.zeros(len(X), dtype=int)
    for i, x in enumerate(X):
        best = np.inf
        for k, c in enumerate(centers):
            d = np.sum((x - c) ** 2)
            if d < best:
                best = d
                labels[i] = k
    new = centers.copy()
    for k in range(len(centers)):
        members = X[labels == k]
        if len(members) > 0:
            new[k] = members.mean(axis=0)
    inertia = 0.0
    for i in range(len(X)):
        inertia += np.sum((X[i] - new[labels[i]]) ** 2)
    return inertia


@program(
    np.array([0.3, 1.2]),
    np.array([[0.5, 1.0], [1.0, 0.8], [1.5, 2.0]]),
)
def poisson_regression(beta, data):
    ll = 0.0
    for x, count in data:
        rate = math.exp(beta[0] + beta[1] * x)
        ll += count * math.log(rate) - rate - math.lgamma(count + 1)
    return ll


@program(x10, 0.4)
def kernel_density(samples, h):
    grid = np.linspace(-2, 2, 5)
    density = np.zeros(len(grid))
    for i, g in enumerate(grid):
        for s in samples:
            u = (g - s) / h
            if abs(u) < 3:
                density[i] += np.exp(-0.5 * u * u)
    return density / (len(samples) * h * np.sqrt(2 * np.pi))


@program(
    np.array([0.5, 1.5, 1.0]),
    rng.normal(size=(5, 2)),
)
def mahalanobis_distances(theta, X):
    a, b, c = theta
    S = np.array([[a + 1, 0.2 * c], [0.2 * c, b]])
    Si = np.linalg.inv(S)
    d = X - X.mean(axis=0)
    return np.einsum("ij,jk,ik->i", d, Si, d)


@program(x10)
def trimmed_mean(x):
    s = np.sort(x)
    k = len(s) // 5
    return s[k:-k].mean()


@program(np.abs(x10) + 0.1)
def gini(x):
    n = len(x)
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += abs(x[i] - x[j])
    return total / (2 * n**2 * x.mean())


@program(np.array([0.2, 0.5, 0.3]), np.array([0.3, 0.3, 0.4]))
def divergences(p, q):
    m = 0.5 * (p + q)
    kl = lambda a, b: np.sum(a * np.log(a / b))
    return {"kl": kl(p, q), "js": 0.5 * kl(p, m) + 0.5 * kl(q, m)}


@program(np.array([5.0, 3.0, 6.0, 2.0]), np.array([1, 1, 0, 1]), 0.4)
def cox_partial_likelihood(times, event, beta):
    x = np.array([0.3, -0.5, 0.8, 0.1])
    ll = 0.0
    for i in range(len(times)):
        if event[i]:
            risk = 0.0
            for j in range(len(times)):
                if times[j] >= times[i]:
                    risk += np.exp(beta * x[j])
            ll += beta * x[i] - np.log(risk)
    return ll


def shrink(rho, threshold):
    if rho < -threshold:
        return rho + threshold
    elif rho > threshold:
        return rho - threshold
    else:
        return 0


@program(rng.normal(size=(6, 3)), rng.normal(size=6), 0.1, order=1)
def lasso_by_coordinates(X, y, threshold):
    """The helper gives an array of one element, or the number 0."""
    theta = np.zeros((X.shape[1], 1))
    y = y.reshape(-1, 1)
    X = X / np.linalg.norm(X, axis=0)
    for sweep in range(3):
        for j in range(X.shape[1]):
            column = X[:, j].reshape(-1, 1)
            rho = column.T @ (y - X @ theta + theta[j] * column)
            theta[j] = shrink(rho, threshold)
    return theta.flatten()


def one_entropy(distances, beta):
    weights = np.exp(-distances.copy() * beta)
    total = sum(weights)
    return np.log(total) + beta * np.sum(distances * weights) / total, weights / total


@program(rng.normal(size=(4, 2)), order=1)
def neighbours_by_bisected_widths(x):
    n = x.shape[0]
    squares = np.sum(np.square(x), 1)
    distances = np.add(np.add(-2 * np.dot(x, x.T), squares).T, squares)
    chances, beta = np.zeros((n, n)), np.ones((n, 1))
    for i in range(n):
        low, high = -np.inf, np.inf
        others = np.concatenate((np.r_[0:i], np.r_[i + 1 : n]))
        entropy, row = one_entropy(distances[i, others], beta[i])
        for _ in range(3):
            if entropy > 0.5:
                low = beta[i].copy()
                beta[i] = beta[i] * 2.0 if high == np.inf else (beta[i] + high) / 2.0
            else:
                high = beta[i].copy()
                beta[i] = beta[i] / 2.0 if low == -np.inf else (beta[i] + low) / 2.0
            entropy, row = one_entropy(distances[i, others], beta[i])
        chances[i, others] = row
    return chances


@program(rng.normal(size=(6, 2)))
def classes_apart_by_unzipped_columns(x):
    labels = [0, 1, 0, 1, 1, 0]
    scores = {}
    for label in sorted(set(labels)):
        rows = [row for row, known in zip(x, labels) if known == label]
        moments = [(sum(c) / len(c), np.var(c) + 0.1) for c in zip(*rows)]
        scores[label] = [
            sum(-0.5 * (v - m) ** 2 / s - 0.5 * np.log(s) for v, (m, s) in zip(row, moments))
            for row in x
        ]
    return np.array(scores[0]) - np.array(scores[1])
