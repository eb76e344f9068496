"""Ordinary differential equations."""

import math

import numpy as np

from tests.programs.registry import program


@program(1.0, 0.7, 10)
def explicit_euler(y, k, n):
    h = 0.1
    t = 0.0
    for _ in range(n):
        y = y + h * (-k * y + math.cos(t))
        t += h
    return y


@program(np.array([1.0, 0.5]), 1.2, 8)
def midpoint_lotka_volterra(y, a, n):
    def f(y):
        return np.array([a * y[0] - y[0] * y[1], -y[1] + 0.5 * y[0] * y[1]])

    h = 0.1
    for _ in range(n):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        y = y + h * k2
    return y


def rk4_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(np.array([1.0, 1.0, 1.0]), 10.0, 28.0, 8 / 3)
def lorenz_rk4(state, sigma, rho, beta):
    def lorenz(t, s):
        x, y, z = s
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    t, dt = 0.0, 0.01
    for i in range(8):
        state = rk4_step(lorenz, t, state, dt)
        t = t + dt
    return state


@program(np.array([2.0, 0.0]), 1.5)
def van_der_pol_trajectory(y0, mu):
    n = 10
    h = 0.1
    ys = np.zeros((n + 1, 2))
    ys[0] = y0
    for i in range(n):
        ys[i + 1] = rk4_step(
            lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]), i * h, ys[i], h
        )
    return ys


@program(1.0, 0.4)
def adaptive_step_heun(y, k):
    """Step size control by the difference of Euler and Heun."""
    t, h, tol = 0.0, 0.1, 1e-3
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = -k * y * y + math.sin(t)
        y_euler = y + h * k1
        k2 = -k * y_euler * y_euler + math.sin(t + h)
        y_heun = y + h * (k1 + k2) / 2
        err = abs(y_heun - y_euler)
        if err < tol:
            t += h
            y = y_heun
            h *= 1.5
        else:
            h *= 0.5
    return y


@program(np.array([1.0, 0.0]), 1.3)
def runge_kutta_fehlberg_tableau(y, w):
    A = [[], [1 / 4], [3 / 32, 9 / 32], [1932 / 2197, -7200 / 2197, 7296 / 2197]]
    b = [25 / 216, 0.0, 1408 / 2565, 2197 / 4104]
    h = 0.1
    for step in range(3):
        ks = []
        for row in A:
            yi = y
            for a, k in zip(row, ks):
                yi = yi + h * a * k
            ks.append(np.array([yi[1], -(w**2) * yi[0]]))
        for c, k in zip(b, ks):
            y = y + h * c * k
    return y


@program(0.5, 2.0)
def adams_bashforth(y0, r):
    f = lambda y: r * y * (1 - y)
    h = 0.1
    f_prev = f(y0)
    y = y0 + h * f_prev
    for _ in range(10):
        f_now = f(y)
        y = y + h * (1.5 * f_now - 0.5 * f_prev)
        f_prev = f_now
    return y


@program(np.array([0.3, 0.2]), np.array([[-1.0, 0.4], [0.2, -0.5]]))
def adams_bashforth_4_history(y, A):
    h = 0.05
    history = []
    for step in range(3):
        fy = A @ y + np.tanh(y)
        history.append(fy)
        y = y + h * fy
    for step in range(5):
        history.append(A @ y + np.tanh(y))
        y = y + h / 24 * (55 * history[-1] - 59 * history[-2] + 37 * history[-3] - 9 * history[-4])
    return y


@program(1.0, 3.0)
def backward_euler_newton(y, k):
    h = 0.2
    for n in range(5):
        z = y
        for it in range(20):
            g = z - y + h * k * z**3
            if abs(g) < 1e-13:
                break
            z = z - g / (1 + 3 * h * k * z**2)
        y = z
    return y


@program(
    np.array([1.0, 0.3, -0.2]),
    np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]),
)
def crank_nicolson_linear(u, K):
    h = 0.1
    left = np.eye(3) + h / 2 * K
    right = np.eye(3) - h / 2 * K
    for _ in range(4):
        u = np.linalg.solve(left, right @ u)
    return u


@program(1.0, 0.0, 1.7)
def leapfrog_oscillator(q, p, w):
    dt = 0.05
    p -= 0.5 * dt * w**2 * q
    for step in range(20):
        q += dt * p
        p -= dt * w**2 * q
    p += 0.5 * dt * w**2 * q
    return q, 0.5 * p**2 + 0.5 * w**2 * q**2


@program(0.99, 0.01, 0.5, 0.2)
def sir_epidemic(S, I, beta, gamma):
    R = 0.0
    infected = []
    for day in range(15):
        new = beta * S * I
        recovered = gamma * I
        S, I, R = S - new, I + new - recovered, R + recovered
        infected.append(I)
    return max(infected), R


@program(0.8, np.array([0.1, 0.4, 0.2]))
def pendulum_shooting(slope, target):
    """Residuals of a boundary value problem at three times."""
    theta, omega = 0.0, slope
    dt = 0.05
    residual = np.zeros(3)
    k = 0
    for step in range(1, 16):
        omega = omega - dt * np.sin(theta)
        theta = theta + dt * omega
        if step % 5 == 0:
            residual[k] = theta - target[k]
            k += 1
    return residual


@program(np.array([0.5, -0.3]), np.array([0.9, 0.2, -0.4, 0.6]))
def neural_ode(y, w):
    W = w.reshape(2, 2)
    h = 0.25
    for _ in range(4):
        k1 = np.tanh(W @ y)
        k2 = np.tanh(W @ (y + h * k1))
        y = y + h * (k1 + k2) / 2
    return np.sum(y**2)


@program(10.0, 0.47)
def projectile_until_landing(v0, drag):
    """A stopping time that depends on the data; the last step is cut at the ground."""
    x, y = 0.0, 0.0
    vx, vy = v0 * math.cos(0.8), v0 * math.sin(0.8)
    dt = 0.05
    while True:
        speed = math.sqrt(vx * vx + vy * vy)
        vx -= dt * 0.05 * drag * speed * vx
        vy -= dt * (9.81 + 0.05 * drag * speed * vy)
        if y + dt * vy < 0 and vy < 0:
            s = -y / vy
            return x + s * vx
        x += dt * vx
        y += dt * vy


@program([0.2, 0.1, -0.1], 0.5)
def reaction_network(rates, x):
    """Concentrations in a dict, by name."""
    c = {"A": 1.0, "B": x, "C": 0.0}
    for _ in range(10):
        flux_1 = abs(rates[0]) * c["A"]
        flux_2 = abs(rates[1]) * c["B"]
        c["A"] += 0.1 * (-flux_1)
        c["B"] += 0.1 * (flux_1 - flux_2)
        c["C"] += 0.1 * (flux_2 + rates[2] * c["C"])
    return c["C"] ** 2 + c["B"]


@program(
    np.array([1.0, 0.0, 0.0]),
    np.array([0.3, -0.2, 0.5]),
)
def rotation_quaternion(v, omega):
    q = np.array([1.0, 0.0, 0.0, 0.0])
    dt = 0.1
    for _ in range(5):
        w, x, y, z = q
        a, b, c = omega
        dq = 0.5 * np.array(
            [
                -x * a - y * b - z * c,
                w * a + y * c - z * b,
                w * b - x * c + z * a,
                w * c + x * b - y * a,
            ]
        )
        q = q + dt * dq
        q = q / np.sqrt(np.sum(q**2))
    s, u = q[0], q[1:]
    return v + 2 * np.cross(u, np.cross(u, v) + s * v)


class Solver:
    """The right-hand side is wrapped, so that it may give a list or a number."""

    def __init__(self, f):
        self.f = lambda u, t: np.asarray(f(u, t), float)

    def start(self, U0):
        if isinstance(U0, (float, int)):
            self.equations = 1
        else:
            U0 = np.asarray(U0)
            self.equations = U0.size
        self.U0 = U0

    def solve(self, points, terminate=None):
        if terminate is None:
            terminate = lambda u, t, step: False
        self.t = np.asarray(points)
        shape = self.t.size if self.equations == 1 else (self.t.size, self.equations)
        self.u = np.zeros(shape)
        self.u[0] = self.U0
        for k in range(self.t.size - 1):
            self.k = k
            self.u[k + 1] = self.advance()
            if terminate(self.u, self.t, self.k + 1):
                break
        return self.u[: k + 2], self.t[: k + 2]

    def advance(self):
        raise NotImplementedError


class Midpoint(Solver):
    def advance(self):
        u, f, k, t = self.u, self.f, self.k, self.t
        dt = t[k + 1] - t[k]
        half = u[k] + dt / 2 * f(u[k], t[k])
        return u[k] + dt * f(half, t[k] + dt / 2)


@program(2.0)
def solver_hierarchy_oscillator(omega):
    solver = Midpoint(lambda u, t: [u[1], -(omega**2) * u[0]])
    solver.start([1.0, 0.0])
    return solver.solve(np.linspace(0, 2, 7))[0][-1]


@program(0.9, 1.0)
def solver_hierarchy_stops_early(rate, start):
    solver = Midpoint(lambda u, t: rate * u * (1 - u / 10))
    solver.start(start)
    return solver.solve(np.linspace(0, 4, 9), lambda u, t, step: u[step] > 4.0)[0]
