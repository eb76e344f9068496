"""Root finding, minimizing and quadrature as they are handed on: helpers with early returns, None
where nothing is found, lists that are sorted by a key."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(22)


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


@program([1.0, 2.0, 0.5, 3.0])
def haar_by_slices(signal):
    output = [0.0] * len(signal)
    length = len(signal) >> 1
    while True:
        for i in range(length):
            output[i] = (signal[2 * i] + signal[2 * i + 1]) / 2
            output[length + i] = (signal[2 * i] - signal[2 * i + 1]) / 2
        if length == 1:
            return output
        signal = output[: length << 1]
        length >>= 1
