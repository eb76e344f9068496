"""Polynomials, splines and curves."""

import math

import numpy as np

from tests.programs.registry import program

x5 = np.array([0.0, 0.4, 1.1, 1.5, 2.2])
y5 = np.array([1.0, 0.3, -0.2, 0.8, 1.1])


@program(np.array([1.0, -2.0, 0.5, 3.0]), 0.7)
def horner(coefficients, x):
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


@program([2.0, -1.0, 0.5], 1.3)
def horner_with_derivative(p, x):
    value = p[-1]
    slope = 0.0
    for c in p[-2::-1]:
        slope = slope * x + value
        value = value * x + c
    return value, slope


@program(x5, y5, 0.9)
def neville(xs, ys, x):
    n = len(xs)
    p = ys.copy()
    for m in range(1, n):
        for i in range(n - m):
            p[i] = ((x - xs[i + m]) * p[i] + (xs[i] - x) * p[i + 1]) / (xs[i] - xs[i + m])
    return p[0]


@program(x5, y5, 0.9)
def newton_divided_differences(xs, ys, x):
    n = len(xs)
    table = np.zeros((n, n))
    table[:, 0] = ys
    for j in range(1, n):
        for i in range(n - j):
            table[i, j] = (table[i + 1, j - 1] - table[i, j - 1]) / (xs[i + j] - xs[i])
    result = table[0, n - 1]
    for k in range(n - 2, -1, -1):
        result = result * (x - xs[k]) + table[0, k]
    return result


@program(x5, y5, 0.9)
def lagrange(xs, ys, x):
    total = 0.0
    for i in range(len(xs)):
        term = ys[i]
        for j in range(len(xs)):
            if i != j:
                term *= (x - xs[j]) / (xs[i] - xs[j])
        total += term
    return total


@program(x5, y5, 0.9)
def barycentric(xs, ys, x):
    n = len(xs)
    w = np.ones(n)
    for j in range(n):
        for k in range(n):
            if k != j:
                w[j] /= xs[j] - xs[k]
    t = w / (x - xs)
    return np.sum(t * ys) / np.sum(t)


@program(x5, y5, np.array([0.2, 0.5, 1.3, 2.0]))
def natural_cubic_spline(x, y, xq):
    n = len(x) - 1
    h = x[1:] - x[:-1]
    alpha = np.zeros(n)
    for i in range(1, n):
        alpha[i] = 3 / h[i] * (y[i + 1] - y[i]) - 3 / h[i - 1] * (y[i] - y[i - 1])
    l = np.ones(n + 1)
    mu = np.zeros(n + 1)
    z = np.zeros(n + 1)
    for i in range(1, n):
        l[i] = 2 * (x[i + 1] - x[i - 1]) - h[i - 1] * mu[i - 1]
        mu[i] = h[i] / l[i]
        z[i] = (alpha[i] - h[i - 1] * z[i - 1]) / l[i]
    b, c, d = np.zeros(n), np.zeros(n + 1), np.zeros(n)
    for j in range(n - 1, -1, -1):
        c[j] = z[j] - mu[j] * c[j + 1]
        b[j] = (y[j + 1] - y[j]) / h[j] - h[j] * (c[j + 1] + 2 * c[j]) / 3
        d[j] = (c[j + 1] - c[j]) / (3 * h[j])
    out = np.zeros(len(xq))
    for q, t in enumerate(xq):
        j = 0
        while j < n - 1 and t > x[j + 1]:
            j += 1
        dt = t - x[j]
        out[q] = y[j] + b[j] * dt + c[j] * dt**2 + d[j] * dt**3
    return out


@program(x5, y5, 1.3)
def linear_interpolation(x, y, q):
    for i in range(len(x) - 1):
        if x[i] <= q <= x[i + 1]:
            w = (q - x[i]) / (x[i + 1] - x[i])
            return (1 - w) * y[i] + w * y[i + 1]
    return 0.0


@program(
    x5,
    y5,
    np.array([0.2, 1.7]),
)
def interpolation_by_searchsorted(x, y, q):
    i = np.searchsorted(x, q) - 1
    w = (q - x[i]) / (x[i + 1] - x[i])
    return (1 - w) * y[i] + w * y[i + 1]


@program(np.array([0.5, 1.0, -0.3, 0.2]), 0.4)
def clenshaw(c, x):
    b1, b2 = 0.0, 0.0
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = 2 * x * b1 - b2 + c[k], b1
    return x * b1 - b2 + c[0]


@program(0.3, 5)
def legendre_recurrence(x, n):
    if n == 0:
        return 1.0
    p0, p1 = 1.0, x
    for k in range(1, n):
        p0, p1 = p1, ((2 * k + 1) * x * p1 - k * p0) / (k + 1)
    return p1


@program(np.array([[0.0, 0.0], [0.5, 1.5], [1.5, 1.0], [2.0, 0.0]]), 0.3)
def de_casteljau(points, t):
    points = points.copy()
    n = len(points)
    for r in range(1, n):
        for i in range(n - r):
            points[i] = (1 - t) * points[i] + t * points[i + 1]
    return points[0]


@program([(0.0, 0.0), (0.5, 1.5), (1.5, 1.0), (2.0, 0.0)], 0.3)
def bezier_recursive(points, t):
    if len(points) == 1:
        return points[0]
    left = bezier_recursive(points[:-1], t)
    right = bezier_recursive(points[1:], t)
    return ((1 - t) * left[0] + t * right[0], (1 - t) * left[1] + t * right[1])


def b_spline_basis(i, k, t, knots):
    if k == 0:
        return 1.0 if knots[i] <= t < knots[i + 1] else 0.0
    left = right = 0.0
    if knots[i + k] > knots[i]:
        left = (t - knots[i]) / (knots[i + k] - knots[i]) * b_spline_basis(i, k - 1, t, knots)
    if knots[i + k + 1] > knots[i + 1]:
        right = (
            (knots[i + k + 1] - t)
            / (knots[i + k + 1] - knots[i + 1])
            * b_spline_basis(i + 1, k - 1, t, knots)
        )
    return left + right


@program(np.array([0.4, 1.2, -0.7, 0.9]), 0.37)
def cox_de_boor(control, t):
    knots = [0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0]
    value = 0.0
    for i in range(len(control)):
        value += control[i] * b_spline_basis(i, 2, t, knots)
    return value


@program(np.arange(12.0).reshape(3, 4) ** 1.3, 1.3, 0.6)
def bilinear(image, u, v):
    i, j = int(u), int(v)
    du, dv = u - i, v - j
    return (
        image[i, j] * (1 - du) * (1 - dv)
        + image[i + 1, j] * du * (1 - dv)
        + image[i, j + 1] * (1 - du) * dv
        + image[i + 1, j + 1] * du * dv
    )


@program(np.array([0.1, 0.9, 0.4, 0.7, 0.3]), 2.6)
def catmull_rom(p, u):
    i = math.floor(u)
    t = u - i
    i0, i1, i2, i3 = max(i - 1, 0), i, min(i + 1, len(p) - 1), min(i + 2, len(p) - 1)
    a = -0.5 * p[i0] + 1.5 * p[i1] - 1.5 * p[i2] + 0.5 * p[i3]
    b = p[i0] - 2.5 * p[i1] + 2 * p[i2] - 0.5 * p[i3]
    c = -0.5 * p[i0] + 0.5 * p[i2]
    return ((a * t + b) * t + c) * t + p[i1]


@program(np.array([1.0, 0.5, -0.2]), np.array([2.0, 0.3]))
def polynomial_product(p, q):
    r = np.zeros(len(p) + len(q) - 1)
    for i in range(len(p)):
        for j in range(len(q)):
            r[i + j] += p[i] * q[j]
    return r


@program(np.array([0.3, -0.5, 0.8]), np.array([0.1, 0.6]))
def pade_quotient(p, q):
    x = 0.7
    num = 0
    for k, c in enumerate(p):
        num += c * x**k
    den = 1
    for k, c in enumerate(q, start=1):
        den += c * x**k
    return num / den


@program(np.linspace(0.1, 0.9, 6))
def shanks_transformation(terms):
    partial = np.cumsum((-1.0) ** np.arange(len(terms)) * terms**2)
    S = partial
    while len(S) >= 3:
        S = (S[2:] * S[:-2] - S[1:-1] ** 2) / (S[2:] + S[:-2] - 2 * S[1:-1])
    return S[-1]


@program([0.0, 1.0, 2.5, 3.0], [1.0, 3.0, 2.0, 1.5], 1.3)
def spline_that_may_miss(x, y, at):
    """Natural cubic spline on lists; None outside of the knots."""
    n = len(x) - 1
    h = [x[i + 1] - x[i] for i in range(n)]
    slopes = [0] + [
        3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1]) for i in range(1, n)
    ]
    lower, mu, z = [1], [0], [0]
    for i in range(1, n):
        lower.append(2 * (x[i + 1] - x[i - 1]) - h[i - 1] * mu[i - 1])
        mu.append(h[i] / lower[i])
        z.append((slopes[i] - h[i - 1] * z[i - 1]) / lower[i])
    z.append(0)
    c, b, d = [0] * (n + 1), [0] * n, [0] * n
    for j in range(n - 1, -1, -1):
        c[j] = z[j] - mu[j] * c[j + 1]
        b[j] = (y[j + 1] - y[j]) / h[j] - h[j] * (c[j + 1] + 2 * c[j]) / 3
        d[j] = (c[j + 1] - c[j]) / (3 * h[j])
    for i in range(n):
        if x[i] <= at <= x[i + 1]:
            t = at - x[i]
            return y[i] + b[i] * t + c[i] * t**2 + d[i] * t**3
    return None
