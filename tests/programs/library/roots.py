"""Roots of equations, minima, and fits by least squares."""

import math

import numpy as np

from tests.programs.registry import program


@program(2.0, 1.0)
def newton_square_root(a, x0):
    x = x0
    for _ in range(6):
        x = 0.5 * (x + a / x)
    return x


@program(0.4, 0.9)
def kepler_equation(e, M):
    """Eccentric anomaly by Newton's method."""
    E = M if e < 0.8 else math.pi
    delta = 1.0
    count = 0
    while abs(delta) > 1e-12 and count < 50:
        delta = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= delta
        count += 1
    return E


def newton(f, df, x, tol=1e-10, maxiter=20):
    for i in range(maxiter):
        fx = f(x)
        if abs(fx) < tol:
            return x
        x = x - fx / df(x)
    raise RuntimeError("no convergence")


@program(1.7, 0.6)
def newton_with_function_arguments(a, b):
    f = lambda x: x**3 - a * x - b
    df = lambda x: 3 * x**2 - a
    return newton(f, df, 2.0)


def bisect(f, lo, hi, tol):
    flo = f(lo)
    while hi - lo > tol:
        mid = (lo + hi) / 2
        fmid = f(mid)
        if flo * fmid <= 0:
            hi = mid
        else:
            lo, flo = mid, fmid
    return (lo + hi) / 2


@program(2.3)
def polished_bisection(c):
    """Bisection finds the bracket; one Newton step makes it exact and differentiable."""
    x = bisect(lambda x: math.exp(x) - c - x, 0.0, 3.0, 1e-4)
    return x - (math.exp(x) - c - x) / (math.exp(x) - 1)


@program(3.0)
def secant(a):
    def f(x):
        return math.cos(x) - x * a

    x0, x1 = 0.0, 1.0
    f0, f1 = f(x0), f(x1)
    n = 0
    while abs(f1) > 1e-9:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
        n += 1
        if n > 30:
            break
    return x1


@program(1.3, 0.2)
def regula_falsi(a, b):
    lo, hi = 0.0, 2.0
    flo = lo**3 + a * lo - 2 - b
    fhi = hi**3 + a * hi - 2 - b
    x = lo
    for _ in range(15):
        x = (lo * fhi - hi * flo) / (fhi - flo)
        fx = x**3 + a * x - 2 - b
        if fx < 0:
            lo, flo = x, fx
        else:
            hi, fhi = x, fx
    return x


@program(0.7)
def fixed_point(a):
    x = 0.5
    error = 1.0
    while error > 1e-11:
        x_new = math.cos(a * x)
        error = abs(x_new - x)
        x = x_new
    return x


@program(5.0)
def halley_cube_root(a):
    x = a
    for k in range(5):
        x3 = x * x * x
        x = x * (x3 + 2 * a) / (2 * x3 + a)
    return x


@program(0.8)
def steffensen(p):
    g = lambda x: math.exp(-p * x)
    x = 0.6
    for _ in range(4):
        y = g(x)
        z = g(y)
        denominator = z - 2 * y + x
        if abs(denominator) < 1e-12:
            return z
        x = x - (y - x) ** 2 / denominator
    return x


@program(
    np.array([1.2, 0.5]),
    1.5,
)
def newton_system(x, r):
    """Intersection of a circle and a hyperbola."""
    for _ in range(5):
        F = np.array([x[0] ** 2 + x[1] ** 2 - r**2, x[0] * x[1] - 0.6])
        J = np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]])
        x = x - np.linalg.solve(J, F)
    return x


@program(np.array([0.5, 0.5]), np.array([3.0, 1.0]))
def newton_system_cramer(x, target):
    for it in range(6):
        u, v = x
        f = np.exp(u) + v - target[0]
        g = u * v + v**3 - target[1]
        a, b, c, d = np.exp(u), 1.0, v, u + 3 * v * v
        det = a * d - b * c
        step = np.array([d * f - b * g, a * g - c * f]) / det
        x = x - step
        if np.abs(step).max() < 1e-12:
            break
    return x


@program(np.array([-1.0, 0.8]), 5.0)
def gradient_descent_rosenbrock(x, b):
    lr = 0.01
    for _ in range(10):
        g = np.array(
            [-2 * (1 - x[0]) - 4 * b * x[0] * (x[1] - x[0] ** 2), 2 * b * (x[1] - x[0] ** 2)]
        )
        x = x - lr * g
    return (1 - x[0]) ** 2 + b * (x[1] - x[0] ** 2) ** 2


@program(np.array([1.0, 2.0, -0.5]))
def backtracking_line_search(x):
    def f(x):
        return np.sum(x**4) + np.sum(x**2)

    for _ in range(4):
        g = 4 * x**3 + 2 * x
        step = 1.0
        while f(x - step * g) > f(x) - 0.1 * step * np.sum(g**2):
            step *= 0.5
        x = x - step * g
    return f(x)


@program(1.9)
def golden_section_then_newton(a):
    phi = (math.sqrt(5) - 1) / 2
    f = lambda x: (x - a) ** 2 + math.sin(x)
    lo, hi = 0.0, 4.0
    c = hi - phi * (hi - lo)
    d = lo + phi * (hi - lo)
    while hi - lo > 1e-3:
        if f(c) < f(d):
            hi = d
        else:
            lo = c
        c = hi - phi * (hi - lo)
        d = lo + phi * (hi - lo)
    x = (lo + hi) / 2
    for _ in range(3):
        x -= (2 * (x - a) + math.cos(x)) / (2 - math.sin(x))
    return x


@program(
    np.array([1.0, -6.3, 11.2, -6.1]),
)
def durand_kerner(coefficients):
    """All roots of a cubic at once; returns the sum of their squared moduli."""
    roots = np.array([(0.4 + 0.9j) ** k for k in range(3)])
    for _ in range(12):
        for i in range(3):
            value = coefficients[0] + 0j
            for c in coefficients[1:]:
                value = value * roots[i] + c
            denominator = 1.0 + 0j
            for j in range(3):
                if j != i:
                    denominator = denominator * (roots[i] - roots[j])
            roots[i] = roots[i] - value / denominator
    return np.sum(np.abs(roots) ** 2)


@program(
    np.array([0.3, -0.4]),
    np.array([[2.0, 0.3], [0.3, 1.0]]),
)
def gauss_newton_curve_fit(p, W):
    t = np.linspace(0, 1, 5)
    data = np.exp(0.5 * t) + 0.2 * t
    for _ in range(4):
        e = np.exp(p[0] * t)
        r = e + p[1] * t - data
        J = np.column_stack((t * e, t))
        p = p - np.linalg.solve(J.T @ J + 0.01 * W, J.T @ r)
    return p


def halve(f, a, b, tol):
    m = (a + b) / 2
    if np.abs(f(m)) < tol:
        return m
    elif np.sign(f(a)) == np.sign(f(m)):
        return halve(f, m, b, tol)
    elif np.sign(f(b)) == np.sign(f(m)):
        return halve(f, a, m, tol)


@program(1.0, 2.1)
def recursive_bisection(a, b):
    return halve(lambda x: x**3 - 2, a, b, 1e-2) * a


def ridders(f, a, b, tol=1.0e-9):
    fa = f(a)
    if fa == 0.0:
        return a
    fb = f(b)
    if fb == 0.0:
        return b
    before = a
    for i in range(30):
        c = 0.5 * (a + b)
        fc = f(c)
        s = math.sqrt(fc**2 - fa * fb)
        if s == 0.0:
            return None
        dx = (c - a) * fc / s
        if fa - fb < 0.0:
            dx = -dx
        x = c + dx
        fx = f(x)
        if i > 0:
            if abs(x - before) < tol * max(abs(x), 1.0):
                return x
        before = x
        if np.sign(fc) == np.sign(fx):
            if np.sign(fa) != np.sign(fx):
                b, fb = x, fx
            else:
                a, fa = x, fx
        else:
            a, b, fa, fb = c, x, fc, fx
    return None


@program(2.0, order=1)
def ridders_cube_root(c):
    return ridders(lambda x: x**3 - c, 0.0, 3.0)


@program(-1.0, 0.1)
def bracket_a_minimum(x1, h):
    def f(x):
        return x**4 - 3 * x + 1

    f1, x2 = f(x1), x1 + h
    f2 = f(x2)
    if f2 > f1:
        h = -h
        x2 = x1 + h
        f2 = f(x2)
        if f2 > f1:
            return x2, x1 - h
    for i in range(100):
        h = 1.618033989 * h
        x3 = x2 + h
        f3 = f(x3)
        if f3 > f2:
            return x1, x3
        x1, x2 = x2, x3
        f1, f2 = f2, f3
    print("no bracket found")


@program(np.array([-0.5, 0.8]))
def trust_region_dogleg(x, eta=0.15, radius=1.0):
    def f(x):
        return (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2

    def gradient(x):
        u = x[1] - x[0] ** 2
        return np.array([-2 * (1 - x[0]) - 40 * x[0] * u, 20 * u])

    def hessian(x):
        return np.array([[2 - 40 * (x[1] - 3 * x[0] ** 2), -40 * x[0]], [-40 * x[0], 20.0]])

    def step(g, B, radius):
        newton = -np.linalg.inv(B) @ g
        if np.linalg.norm(newton) <= radius:
            return newton
        steepest = -(g @ g) / (g @ B @ g) * g
        length = np.linalg.norm(steepest)
        if length >= radius:
            return radius * steepest / length
        d = newton - steepest
        a, b, c = d @ d, 2 * d @ steepest, steepest @ steepest - radius**2
        return steepest + (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a) * d

    for _ in range(3):
        g, B = gradient(x), hessian(x)
        p = step(g, B, radius)
        ratio = (f(x) - f(x + p)) / (-(g @ p) - 0.5 * p @ B @ p)
        if ratio < 0.25:
            radius = 0.25 * radius
        elif ratio > 0.75 and np.isclose(np.linalg.norm(p), radius):
            radius = min(2 * radius, 3.0)
        if ratio > eta:
            x = x + p
    return x


@program(
    np.linspace(0.2, 3, 8), 2 * np.exp(-np.linspace(0.2, 3, 8)) + 0.3, np.array([1.0, 0.5, 0.1])
)
def marquardt_decay_fit(x, y, p0):
    def model(p):
        return p[0] * np.exp(-p[1] * x) + p[2]

    def jacobian(p):
        J = np.zeros((len(x), len(p)))
        J[:, 0] = np.exp(-p[1] * x)
        J[:, 1] = -p[0] * x * np.exp(-p[1] * x)
        J[:, 2] = 1
        return J

    p, damping = p0.copy(), 1e-2
    cost = 0.5 * np.sum((y - model(p)) ** 2)
    for k in range(4):
        J, r = jacobian(p), y - model(p)
        H = np.dot(J.T, J)
        step = np.linalg.solve(H + damping * np.diag(np.diag(H)), np.dot(J.T, r))
        cost_there = 0.5 * np.sum((y - model(p + step)) ** 2)
        if cost_there < cost:
            p, cost = p + step, cost_there
            damping /= 10
        else:
            damping *= 10
    return p


@program(np.array([0.4, 0.5]), 1.0)
def simplex_on_arrays(x0, a):
    def f(p):
        return (p[0] - a) ** 2 + 2 * (p[1] - p[0] ** 2) ** 2

    n = len(x0)
    corners = np.zeros((n + 1, n), dtype=x0.dtype)
    corners[0] = x0
    for k in range(n):
        y = np.array(x0, copy=True)
        y[k] = 1.05 * y[k] if y[k] != 0 else 0.00025
        corners[k + 1] = y
    values = np.array([f(corner) for corner in corners])
    order = np.argsort(values)
    values, corners = values[order], corners[order]
    for iteration in range(6):
        centre = np.mean(corners[:-1], axis=0)
        reflected = 2 * centre - corners[-1]
        at = f(reflected)
        shrinks = False
        if at < values[0]:
            expanded = 3 * centre - 2 * corners[-1]
            if f(expanded) < at:
                corners[-1], values[-1] = expanded, f(expanded)
            else:
                corners[-1], values[-1] = reflected, at
        elif at < values[-2]:
            corners[-1], values[-1] = reflected, at
        else:
            contracted = 0.5 * (centre + corners[-1])
            if f(contracted) < values[-1]:
                corners[-1], values[-1] = contracted, f(contracted)
            else:
                shrinks = True
        if shrinks:
            for j in range(1, n + 1):
                corners[j] = corners[0] + 0.5 * (corners[j] - corners[0])
                values[j] = f(corners[j])
        order = np.argsort(values)
        values, corners = values[order], corners[order]
    return corners[0], np.min(values)
