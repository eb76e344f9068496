"""Kalman filters, Gaussian processes, chains with given draws."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(8)


x10 = rng.normal(size=10)


@program(np.array([0.4, -0.2]), x10, 0.8)
def autoregressive_likelihood(phi, y, sigma):
    p = len(phi)
    ll = 0.0
    for t in range(p, len(y)):
        mean = 0.0
        for k in range(p):
            mean += phi[k] * y[t - 1 - k]
        ll += -0.5 * math.log(2 * math.pi * sigma**2) - (y[t] - mean) ** 2 / (2 * sigma**2)
    return ll


@program(np.array([0.1, 0.3, 0.5]), x10)
def garch_likelihood(theta, returns):
    omega, alpha, beta = theta
    h = np.var(returns)
    ll = 0.0
    for r in returns:
        ll -= 0.5 * (np.log(h) + r * r / h)
        h = omega + alpha * r * r + beta * h
    return ll


@program(np.array([0.0, 1.0]), x10, 0.1, 0.5)
def kalman_filter(state, observations, q, r):
    F = np.array([[1.0, 1.0], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    P = np.eye(2)
    Q = q * np.eye(2)
    ll = 0.0
    for z in observations:
        state = F @ state
        P = F @ P @ F.T + Q
        S = (H @ P @ H.T)[0, 0] + r
        e = z - (H @ state)[0]
        K = (P @ H.T)[:, 0] / S
        state = state + K * e
        P = P - np.outer(K, H @ P)
        ll += -0.5 * (np.log(2 * np.pi * S) + e**2 / S)
    return ll


@program(x10, 0.3, 0.6)
def kalman_smoother_scalar(y, q, r):
    n = len(y)
    m, P = np.zeros(n), np.zeros(n)
    mp, Pp = np.zeros(n), np.zeros(n)
    mean, var = 0.0, 1.0
    for t in range(n):
        mp[t], Pp[t] = 0.9 * mean, 0.81 * var + q
        k = Pp[t] / (Pp[t] + r)
        mean = mp[t] + k * (y[t] - mp[t])
        var = (1 - k) * Pp[t]
        m[t], P[t] = mean, var
    s = m.copy()
    for t in range(n - 2, -1, -1):
        g = 0.9 * P[t] / Pp[t + 1]
        s[t] = m[t] + g * (s[t + 1] - mp[t + 1])
    return s


@program(
    np.array([0.5, 0.2]),
    np.linspace(0, 1, 5),
    np.array([0.1, 0.5, 0.3, -0.2, 0.4]),
)
def gaussian_process_likelihood(theta, x, y):
    ell, noise = np.exp(theta[0]), np.exp(theta[1])
    n = len(x)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            K[i, j] = np.exp(-0.5 * ((x[i] - x[j]) / ell) ** 2)
            if i == j:
                K[i, j] += noise
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ alpha - np.sum(np.log(np.diag(L))) - n / 2 * np.log(2 * np.pi)


@program(0.7, 0.3, np.linspace(0, 1, 5), np.array([0.1, 0.5, 0.3, -0.2, 0.4]))
def gaussian_process_own_cholesky(ell, noise, x, y):
    K = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / ell**2) + noise * np.eye(len(x))
    n = len(x)
    z = y.copy()
    logdet = 0.0
    for j in range(n):
        K[j, j] = np.sqrt(K[j, j] - K[j, :j] @ K[j, :j])
        z[j] = (z[j] - K[j, :j] @ z[:j]) / K[j, j]
        logdet += np.log(K[j, j])
        for i in range(j + 1, n):
            K[i, j] = (K[i, j] - K[i, :j] @ K[j, :j]) / K[j, j]
    return 0.5 * z @ z + logdet


@program(np.array([0.3, -0.5]), rng.normal(size=(6, 2)), rng.uniform(size=6))
def metropolis_fixed_draws(x, steps, u):
    """A chain with given proposals; the path is differentiated, the decisions are not."""
    log_density = lambda z: -0.5 * np.sum(z**2) - 0.1 * np.sum(z**4)
    accepted = 0
    total = np.zeros(2)
    for step, v in zip(steps, u):
        proposal = x + 0.5 * step
        if np.log(v) < log_density(proposal) - log_density(x):
            x = proposal
            accepted += 1
        total += x
    return total / len(steps)


STEP = 0.1


def motion_of(x, u):
    turned = np.array([[STEP * math.cos(x[2, 0]), 0], [STEP * math.sin(x[2, 0]), 0], [0.0, STEP]])
    return x + turned @ u


@program(rng.normal(size=(3, 2, 1)))
def extended_filter_with_stacked_history(readings):
    noise, jacobian = np.diag([0.1, 0.1, np.deg2rad(1.0)]) ** 2, np.eye(2, 3)
    x, p, u = np.zeros((3, 1)), np.eye(3), np.array([[1.0], [0.2]])
    history = x
    for z in readings:
        yaw, v = x[2, 0], u[0, 0]
        f = np.array(
            [[1, 0, -STEP * v * math.sin(yaw)], [0, 1, STEP * v * math.cos(yaw)], [0, 0, 1]]
        )
        x, p = motion_of(x, u), f @ p @ f.T + noise
        gain = p @ jacobian.T @ np.linalg.inv(jacobian @ p @ jacobian.T + np.eye(2))
        x = x + gain @ (z - jacobian @ x)
        p = (np.eye(len(x)) - gain @ jacobian) @ p
        history = np.hstack((history, x))
    return history
