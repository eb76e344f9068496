"""Gradients of ten programs of the library, as an expert writes them by hand.

`<program>_gradient` takes the arguments of the program and the cotangent of its result, and
returns the gradient with respect to all floating arguments. The bar is a person who cares for
memory as much as for brevity.
"""

import numpy as np


def horner_gradient(coefficients, x, d_result=1.0):
    partial = []
    result = 0.0
    for c in coefficients:
        partial.append(result)
        result = result * x + c

    d_coefficients = np.zeros_like(coefficients)
    d_x = 0.0
    for i in reversed(range(len(coefficients))):
        d_coefficients[i] = d_result
        d_x += d_result * partial[i]
        d_result = d_result * x
    return d_coefficients, d_x


def newton_square_root_gradient(a, x0, d_x=1.0):
    iterates = []
    x = x0
    for _ in range(6):
        iterates.append(x)
        x = 0.5 * (x + a / x)

    d_a = 0.0
    for x in reversed(iterates):
        d_quotient = 0.5 * d_x
        d_a += d_quotient / x
        d_x = d_quotient - d_quotient * a / x**2
    return d_a, d_x


def exponential_smoothing_gradient(x, alpha, d_y):
    y = np.zeros_like(x)
    y[0] = x[0]
    for n in range(1, len(x)):
        y[n] = alpha * x[n] + (1 - alpha) * y[n - 1]

    d_y = d_y.copy()
    d_x = np.zeros_like(x)
    d_alpha = 0.0
    for n in reversed(range(1, len(x))):
        d_x[n] = d_y[n] * alpha
        d_alpha += d_y[n] * (x[n] - y[n - 1])
        d_y[n - 1] += d_y[n] * (1 - alpha)
    d_x[0] = d_y[0]
    return d_x, d_alpha


def heat_explicit_gradient(u, r, steps, d_u):
    u = u.copy()
    curvatures = []
    for _ in range(steps):
        curvature = u[2:] - 2 * u[1:-1] + u[:-2]
        curvatures.append(curvature)
        u[1:-1] += r * curvature

    d_u = d_u.copy()
    d_r = 0.0
    for curvature in reversed(curvatures):
        d_inner = d_u[1:-1].copy()
        d_r += d_inner @ curvature
        d_u[2:] += r * d_inner
        d_u[1:-1] -= 2 * r * d_inner
        d_u[:-2] += r * d_inner
    return d_u, d_r


def upwind_advection_gradient(u, c, steps, d_u):
    slopes = []
    for _ in range(steps):
        slope = u[1:] - u[:-1]
        slopes.append(slope)
        u = u.copy()
        u[1:] -= c * slope
        u[0] = u[-1]

    d_u = d_u.copy()
    d_c = 0.0
    for slope in reversed(slopes):
        d_u[-1] += d_u[0]
        d_u[0] = 0.0
        d_slope = -c * d_u[1:]
        d_c -= d_u[1:] @ slope
        d_u[1:] += d_slope
        d_u[:-1] -= d_slope
    return d_u, d_c


def gauss_seidel_loops_gradient(b, sweeps, d_u):
    n, m = b.shape
    d_u = d_u.copy()
    d_b = np.zeros_like(b)
    for _ in range(sweeps):
        for i in reversed(range(1, n - 1)):
            for j in reversed(range(1, m - 1)):
                d = 0.25 * d_u[i, j]
                d_u[i, j] = 0.0
                d_u[i - 1, j] += d
                d_u[i + 1, j] += d
                d_u[i, j - 1] += d
                d_u[i, j + 1] += d
                d_b[i, j] -= d
    return d_b


def convolution_loops_gradient(x, h, d_y):
    n, m = len(x), len(h)
    d_x = np.zeros_like(x)
    d_h = np.zeros_like(h)
    for i in range(n):
        for j in range(m):
            d_x[i] += d_y[i + j] * h[j]
            d_h[j] += d_y[i + j] * x[i]
    return d_x, d_h


def de_casteljau_gradient(points, t, d_result):
    points = points.copy()
    n = len(points)
    overwritten = []
    for r in range(1, n):
        for i in range(n - r):
            overwritten.append(points[i].copy())
            points[i] = (1 - t) * points[i] + t * points[i + 1]

    d_points = np.zeros_like(points)
    d_points[0] = d_result
    d_t = 0.0
    for r in reversed(range(1, n)):
        for i in reversed(range(n - r)):
            points[i] = overwritten.pop()
            d_t += d_points[i] @ (points[i + 1] - points[i])
            d_points[i + 1] += t * d_points[i]
            d_points[i] *= 1 - t
    return d_points, d_t


def forward_algorithm_gradient(pi, A, B, d_result=1.0):
    obs = [0, 1, 1, 0, 1]
    n = len(pi)
    alpha = np.zeros((len(obs), n))
    total = np.zeros((len(obs), n))
    for s in range(n):
        alpha[0, s] = pi[s] * B[s, obs[0]]
    for t in range(1, len(obs)):
        for s in range(n):
            for r in range(n):
                total[t, s] += alpha[t - 1, r] * A[r, s]
            alpha[t, s] = total[t, s] * B[s, obs[t]]

    d_pi = np.zeros_like(pi)
    d_A = np.zeros_like(A)
    d_B = np.zeros_like(B)
    d_alpha = np.zeros_like(alpha)
    d_alpha[-1] = d_result / np.sum(alpha[-1])
    for t in reversed(range(1, len(obs))):
        for s in range(n):
            d_total = d_alpha[t, s] * B[s, obs[t]]
            d_B[s, obs[t]] += d_alpha[t, s] * total[t, s]
            for r in range(n):
                d_alpha[t - 1, r] += d_total * A[r, s]
                d_A[r, s] += d_total * alpha[t - 1, r]
    for s in range(n):
        d_pi[s] = d_alpha[0, s] * B[s, obs[0]]
        d_B[s, obs[0]] += d_alpha[0, s] * pi[s]
    return d_pi, d_A, d_B


def power_iteration_gradient(A, v, d_result=1.0):
    vectors = [v]
    norms = []
    for _ in range(30):
        w = A @ v
        norms.append(np.linalg.norm(w))
        v = w / norms[-1]
        vectors.append(v)

    d_A = d_result * np.outer(v, v)
    d_v = d_result * (A @ v + A.T @ v)
    for k in reversed(range(30)):
        v = vectors[k + 1]
        d_w = (d_v - (d_v @ v) * v) / norms[k]
        d_A += np.outer(d_w, vectors[k])
        d_v = A.T @ d_w
    return d_A, d_v
