"""Physics and geometry as they are handed on: solver classes, bodies in lists, fields whose
borders are set by helpers, polygons in lists."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(23)
field = rng.uniform(1, 1.2, size=(5, 5))


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


class Body:
    def __init__(self, pos, vel, mass, name=""):
        self.pos = np.array(pos, dtype=float)
        self.vel = np.array(vel, dtype=float)
        self.mass = mass
        self.name = name
        self.force = np.zeros(2)
        self.trail = []

    def attraction(self, other):
        d = other.pos - self.pos
        r = np.linalg.norm(d)
        if r == 0:
            return np.zeros(2)
        return self.mass * other.mass / r**3 * d

    def update(self, dt):
        self.vel += self.force / self.mass * dt
        self.pos += self.vel * dt
        self.trail.append(self.pos.copy())

    @property
    def kinetic(self):
        return 0.5 * self.mass * np.dot(self.vel, self.vel)


def attract_and_move(bodies, dt):
    for b in bodies:
        b.force[:] = 0
        for other in bodies:
            if other is not b:
                b.force += b.attraction(other)
    for b in bodies:
        b.update(dt)


@program([1.0, 0.2], [0.1, 2.0])
def bodies_that_attract(p, v):
    bodies = []
    bodies.append(Body([0, 0], [0, 0], 10.0, "sun"))
    bodies.append(Body(p, v, 1.0, name="earth"))
    time = 0.0
    while time < 0.05:
        attract_and_move(bodies, 0.02)
        time += 0.02
    return sum(b.kinetic for b in bodies), bodies[1].trail[-1]


@program(rng.normal(size=(3, 3)), np.array([[20.0], [10.0], [5.0]]), order=1)
def energy_with_upper_triangle(pos, mass):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    inverse = np.sqrt((x.T - x) ** 2 + (y.T - y) ** 2 + (z.T - z) ** 2)
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]
    return np.sum(np.sum(np.triu(-(mass * mass.T) * inverse, 1)))


def border(N, kind, x):
    for i in range(1, N + 1):
        if kind == 1:
            x[0, i] = -x[1, i]
        else:
            x[0, i] = x[1, i]
        x[N + 1, i] = -x[N, i] if kind == 1 else x[N, i]
        x[i, 0] = -x[i, 1] if kind == 2 else x[i, 1]
        x[i, N + 1] = -x[i, N] if kind == 2 else x[i, N]
    x[0, 0] = 0.5 * (x[1, 0] + x[0, 1])
    x[N + 1, N + 1] = 0.5 * (x[N, N + 1] + x[N + 1, N])


def relaxation(N, kind, x, x0, a, c):
    for k in range(2):
        neighbours = x[:N, 1:-1] + x[2:, 1:-1] + x[1:-1, :N] + x[1:-1, 2:]
        x[1 : N + 1, 1 : N + 1] = (x0[1 : N + 1, 1 : N + 1] + a * neighbours) / c
        border(N, kind, x)


def carry(N, kind, d, d0, u, v, dt):
    for i in range(1, N + 1):
        for j in range(1, N + 1):
            x = i - dt * N * u[i, j]
            y = j - dt * N * v[i, j]
            if x < 0.5:
                x = 0.5
            if x > N + 0.5:
                x = N + 0.5
            y = min(max(y, 0.5), N + 0.5)
            i0, j0 = int(x), int(y)
            s, t = x - i0, y - j0
            d[i, j] = (1 - s) * ((1 - t) * d0[i0, j0] + t * d0[i0, j0 + 1]) + s * (
                (1 - t) * d0[i0 + 1, j0] + t * d0[i0 + 1, j0 + 1]
            )
    border(N, kind, d)


@program(field, 0.1 * field, 0.3 * rng.normal(size=(5, 5)), 0.3 * rng.normal(size=(5, 5)))
def density_step_of_a_game(x, source, u, v, N=3, dt=0.1, diffusion=0.01):
    """The two fields change places between helpers that write to their arguments."""
    x[0 : N + 2, 0 : N + 2] += dt * source[0 : N + 2, 0 : N + 2]
    source, x = x, source
    a = dt * diffusion * N * N
    relaxation(N, 0, x, source, a, 1 + 4 * a)
    source, x = x, source
    carry(N, 0, x, source, u, v, dt)
    return x


def inner_laplacian(Z):
    up, left = Z[0:-2, 1:-1], Z[1:-1, 0:-2]
    down, right = Z[2:, 1:-1], Z[1:-1, 2:]
    return (up + left + down + right - 4 * Z[1:-1, 1:-1]) / 0.01


@program(field, 0.5 * field, 2.8e-4)
def turing_with_neumann_borders(U, V, a):
    dt = 0.001
    for i in range(2):
        dU, dV = inner_laplacian(U), inner_laplacian(V)
        u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
        U[1:-1, 1:-1], V[1:-1, 1:-1] = (
            u + dt * (a * dU + u - u**3 - v - 0.005),
            v + dt * (5e-3 * dV + u - v) / 0.1,
        )
        for Z in (U, V):
            Z[0, :] = Z[1, :]
            Z[-1, :] = Z[-2, :]
            Z[:, 0] = Z[:, 1]
            Z[:, -1] = Z[:, -2]
    return U + V


@program(field, 0.3 * field, 0.035)
def reaction_through_views(u0, v0, feed):
    n = len(u0)
    U, V = np.zeros((n + 2, n + 2)), np.zeros((n + 2, n + 2))
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    u[...] = u0
    v[...] = v0
    for i in range(2):
        Lu = U[0:-2, 1:-1] + U[1:-1, 0:-2] - 4 * U[1:-1, 1:-1] + U[1:-1, 2:] + U[2:, 1:-1]
        Lv = V[0:-2, 1:-1] + V[1:-1, 0:-2] - 4 * V[1:-1, 1:-1] + V[1:-1, 2:] + V[2:, 1:-1]
        reaction = u * v * v
        u += 0.16 * Lu - reaction + feed * (1 - u)
        v += 0.08 * Lv + reaction - (feed + 0.06) * v
    return V


@program(1.0)
def wave_with_recorder(amplitude):
    """A callback keeps the states, and says when it has seen enough."""
    seen = []

    def action(u, n):
        seen.append(u.copy())
        if n >= 3:
            return True

    x = np.linspace(0, 1, 9)
    before = amplitude * np.sin(np.pi * x)
    u = before.copy()
    for n in range(6):
        following = np.zeros_like(u)
        for i in range(1, len(u) - 1):
            following[i] = 2 * u[i] - before[i] + 0.5 * (u[i - 1] - 2 * u[i] + u[i + 1])
        if action(u, n):
            break
        before[:], u[:] = u, following
    return np.array(seen)


@program([[0.0, 0.0], [2.0, 0.1], [2.1, 2.0], [0.1, 1.9]])
def centroid_of_point_lists(points):
    area = x = y = 0
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        cross = x0 * y1 - x1 * y0
        area += cross / 2
        x += (x0 + x1) * cross
        y += (y0 + y1) * cross
    return x / (6 * area), y / (6 * area)


class Rotor:
    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    @classmethod
    def about(cls, axis, angle):
        s = math.sin(angle / 2) / math.sqrt(sum(a * a for a in axis))
        return cls(math.cos(angle / 2), *(a * s for a in axis))

    def __mul__(self, other):
        if isinstance(other, Rotor):
            a, b = self, other
            return Rotor(
                a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
                a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
            )
        return Rotor(self.w * other, self.x * other, self.y * other, self.z * other)

    __rmul__ = __mul__

    def conjugate(self):
        return Rotor(self.w, -self.x, -self.y, -self.z)

    def __abs__(self):
        return math.sqrt(self.w**2 + self.x**2 + self.y**2 + self.z**2)

    def __truediv__(self, s):
        return self * (1 / s)

    def rotate(self, v):
        r = self * Rotor(0, *v) * self.conjugate()
        return r.x, r.y, r.z


@program(0.6, [1.0, 0.5, 0.2])
def rotation_by_quaternions(angle, v):
    q = Rotor.about((1.0, 2.0, 0.5), angle)
    doubled = 2 * q * q
    return (doubled / abs(doubled)).rotate(v), abs(doubled)


@program(np.array([0.0, 0.3, 0.7, 1.0]), 2.0)
def finite_elements_with_gauss_points(nodes, k):
    n = len(nodes)
    K, F = np.zeros((n, n)), np.zeros((n, 1))
    points, weights = np.array([-1 / np.sqrt(3), 1 / np.sqrt(3)]), [1.0, 1.0]
    for e in range(n - 1):
        dofs = [e, e + 1]
        ends = nodes[dofs]
        h = ends[1] - ends[0]
        stiffness, load = np.zeros((2, 2)), np.zeros((2, 1))
        for q in range(2):
            N = np.array([[0.5 * (1 - points[q]), 0.5 * (1 + points[q])]])
            B = np.array([[-1 / h, 1 / h]])
            stiffness += k * B.T @ B * h / 2 * weights[q]
            load += N.T * np.sin(N @ ends) * h / 2 * weights[q]
        for a in range(2):
            F[dofs[a]] += load[a]
            for b in range(2):
                K[dofs[a], dofs[b]] += stiffness[a, b]
    for fixed in (0, n - 1):
        K[fixed, :] = 0
        K[:, fixed] = 0
        K[fixed, fixed] = 1
        F[fixed] = 0
    return np.linalg.solve(K, F).flatten()


@program(3.0, 2.0)
def chained_beam_elements(EI, L):
    l = L / 3
    K, F = np.zeros((8, 8)), np.zeros(8)
    k = (
        EI
        / l**3
        * np.array(
            [
                [12, 6 * l, -12, 6 * l],
                [6 * l, 4 * l**2, -6 * l, 2 * l**2],
                [-12, -6 * l, 12, -6 * l],
                [6 * l, 2 * l**2, -6 * l, 4 * l**2],
            ]
        )
    )
    for e in range(3):
        s = slice(2 * e, 2 * e + 4)
        K[s, s] += k
        F[s] += l / 2 * np.array([1, l / 6, 1, -l / 6])
    d = np.linalg.solve(K[2:, 2:], F[2:])
    return np.concatenate(([0, 0], d))[::2]
