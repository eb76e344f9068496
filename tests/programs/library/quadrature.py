"""Integrals."""

import math

import numpy as np

from tests.programs.registry import program


@program(0.2, 1.7, 8)
def trapezoid(a, b, n):
    h = (b - a) / n
    s = 0.5 * (math.sin(a) + math.sin(b))
    for i in range(1, n):
        s += math.sin(a + i * h)
    return s * h


@program(0.2, 1.7, 0.8)
def simpson(a, b, k):
    n = 10
    h = (b - a) / n
    total = math.exp(-k * a**2) + math.exp(-k * b**2)
    for i in range(1, n):
        x = a + i * h
        if i % 2 == 0:
            total += 2 * math.exp(-k * x**2)
        else:
            total += 4 * math.exp(-k * x**2)
    return total * h / 3


@program(0.1, 1.3, 4)
def romberg(a, b, levels):
    f = lambda x: 1.0 / (1.0 + x * x)
    R = np.zeros((levels, levels))
    h = b - a
    R[0, 0] = 0.5 * h * (f(a) + f(b))
    for i in range(1, levels):
        h /= 2
        s = 0.0
        for k in range(1, 2**i, 2):
            s += f(a + k * h)
        R[i, 0] = 0.5 * R[i - 1, 0] + h * s
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[levels - 1, levels - 1]


@program(0.0, 2.0, 1.4)
def gauss_legendre(a, b, w):
    nodes = [-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526]
    weights = [0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538]
    mid, half = (a + b) / 2, (b - a) / 2
    return half * sum(c * math.cos(w * (mid + half * t)) for t, c in zip(nodes, weights))


def adaptive(f, a, b, fa, fm, fb, whole, tol, depth):
    m = 0.5 * (a + b)
    flm = f(0.5 * (a + m))
    frm = f(0.5 * (m + b))
    left = (m - a) / 6 * (fa + 4 * flm + fm)
    right = (b - m) / 6 * (fm + 4 * frm + fb)
    delta = left + right - whole
    if depth <= 0 or abs(delta) < 15 * tol:
        return left + right + delta / 15
    return adaptive(f, a, m, fa, flm, fm, left, tol / 2, depth - 1) + adaptive(
        f, m, b, fm, frm, fb, right, tol / 2, depth - 1
    )


@program(0.1, 2.0, 3.0)
def adaptive_simpson(a, b, k):
    def f(x):
        return math.sin(k * x) * math.sqrt(x)

    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    whole = (b - a) / 6 * (fa + 4 * fm + fb)
    return adaptive(f, a, b, fa, fm, fb, whole, 1e-4, 6)


@program(np.array([0.5, 1.5, 0.3]), np.random.default_rng(0).uniform(size=(20, 3)))
def monte_carlo_integral(a, draws):
    total = 0.0
    for u in draws:
        total += math.exp(-np.dot(a, u * u))
    return total / len(draws)


@program(1.2, 0.7)
def double_integral(p, q):
    n = 6
    xs = np.linspace(0, 1, n + 1)
    total = 0.0
    for i, x in enumerate(xs):
        wx = 0.5 if i in (0, n) else 1.0
        for j, y in enumerate(xs):
            wy = 0.5 if j == 0 or j == n else 1.0
            total += wx * wy * np.exp(-p * x * y) * np.cos(q * (x - y))
    return total / n**2


@program(np.array([0.0, 0.3, 0.7, 1.2, 1.4]), np.array([1.0, 1.2, 0.8, 0.5, 0.6]))
def trapezoid_of_samples(x, y):
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1])) / 2


@program(np.array([0.0, 0.3, 0.7, 1.2, 1.4]), np.array([1.0, 1.2, 0.8, 0.5, 0.6]))
def cumulative_integral(x, y):
    result = [0.0]
    for i in range(1, len(x)):
        result.append(result[-1] + 0.5 * (y[i] + y[i - 1]) * (x[i] - x[i - 1]))
    return np.array(result)


@program(2.5)
def tanh_sinh(k):
    h = 0.25
    total = 0.0
    for i in range(-10, 11):
        t = i * h
        u = 0.5 * math.pi * math.sinh(t)
        x = math.tanh(u)
        w = 0.5 * math.pi * math.cosh(t) / math.cosh(u) ** 2
        total += w * math.exp(-k * (1 + x))
    return h * total


@program(np.array([1.0, 0.4, -0.2]))
def clenshaw_curtis(c):
    n = 8
    theta = np.pi * np.arange(n + 1) / n
    f = c[0] + c[1] * np.cos(theta) + np.exp(c[2] * np.cos(theta))
    total = 0.0
    for k in range(n + 1):
        w = 0.0
        for j in range(1, n // 2 + 1):
            bj = 1.0 if 2 * j == n else 2.0
            w += bj / (4 * j * j - 1) * math.cos(2 * j * k * math.pi / n)
        ck = 1.0 if k in (0, n) else 2.0
        total += ck / n * (1 - w) * f[k]
    return total


@program(1.1, 0.3)
def richardson_derivative(x, h):
    def central(h):
        return (math.sin(x + h) - math.sin(x - h)) / (2 * h)

    D = [[central(h)]]
    for i in range(1, 4):
        h = h / 2
        row = [central(h)]
        for j in range(1, i + 1):
            row.append(row[j - 1] + (row[j - 1] - D[i - 1][j - 1]) / (4**j - 1))
        D.append(row)
    return D[-1][-1]


@program(0.9)
def series_until_small(x):
    """Bessel function J0 by its power series."""
    term = 1.0
    total = 1.0
    k = 1
    while abs(term) > 1e-16:
        term *= -(x * x / 4) / (k * k)
        total += term
        k += 1
    return total


@program(0.6, 1.4)
def elliptic_by_agm(k, scale):
    a, b = 1.0, math.sqrt(1 - k * k)
    while abs(a - b) > 1e-13:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return scale * math.pi / (2 * a)


def romberg_integral(f, a, b, tol=1.0e-6):
    def refine(old, k):
        if k == 1:
            return (f(a) + f(b)) * (b - a) / 2.0
        n = 2 ** (k - 2)
        h = (b - a) / n
        x = a + h / 2.0
        total = 0.0
        for i in range(n):
            total = total + f(x)
            x = x + h
        return (old + h * total) / 2.0

    r = np.zeros(21)
    r[1] = refine(0.0, 1)
    before = r[1]
    for k in range(2, 21):
        r[k] = refine(r[k - 1], k)
        for j in range(k - 1, 0, -1):
            const = 4.0 ** (k - j)
            r[j] = (const * r[j + 1] - r[j]) / (const - 1.0)
        if abs(r[1] - before) < tol * max(abs(r[1]), 1.0):
            return r[1], 2 ** (k - 1)
        before = r[1]
    print("Romberg quadrature did not converge")


@program(0.0, 1.5)
def romberg_in_place(a, b):
    I, panels = romberg_integral(lambda x: 2.0 * x**2 * math.cos(x**2), a, b)
    print("panels: %d, integral: %.6f" % (panels, I))
    return I


@program(0.0, 1.5, 2.0)
def simpson_recursive(a, b, k):
    def f(x):
        return math.sin(k * x) / (1 + x * x)

    def rule(a, fa, b, fb):
        m = (a + b) / 2
        fm = f(m)
        return m, fm, abs(b - a) / 6 * (fa + 4 * fm + fb)

    def recurse(a, fa, b, fb, eps, whole, m, fm):
        lm, flm, left = rule(a, fa, m, fm)
        rm, frm, right = rule(m, fm, b, fb)
        delta = left + right - whole
        if abs(delta) <= eps * 15:
            return left + right + delta / 15
        return recurse(a, fa, m, fm, eps / 2, left, lm, flm) + recurse(
            m, fm, b, fb, eps / 2, right, rm, frm
        )

    fa, fb = f(a), f(b)
    m, fm, whole = rule(a, fa, b, fb)
    return recurse(a, fa, b, fb, 1e-6, whole, m, fm)
