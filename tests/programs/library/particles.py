"""Physics: bodies, molecules, springs, rays, lattices, layers, qubits."""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(9)
pos = rng.normal(size=(4, 3))
vel = 0.1 * rng.normal(size=(4, 3))
mass = np.array([1.0, 0.5, 2.0, 0.8])


@program(pos, vel, mass)
def n_body_pairwise(x, v, m):
    x, v = x.copy(), v.copy()
    n = len(m)
    dt = 0.01
    for step in range(2):
        for i in range(n):
            for j in range(i + 1, n):
                d = x[i] - x[j]
                r3 = (d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.1) ** 1.5
                v[i] -= dt * m[j] * d / r3
                v[j] += dt * m[i] * d / r3
        for i in range(n):
            x[i] += dt * v[i]
    return x


@program(pos, mass)
def n_body_accelerations_broadcast(x, m):
    d = x[None, :, :] - x[:, None, :]
    r2 = np.sum(d**2, axis=-1) + 0.05
    return np.sum(m[None, :, None] * d / r2[:, :, None] ** 1.5, axis=1)


@program(pos, vel, mass)
def total_energy(x, v, m):
    kinetic = 0.5 * np.sum(m * np.sum(v**2, axis=1))
    potential = 0.0
    for i in range(len(m)):
        for j in range(i):
            potential -= m[i] * m[j] / np.sqrt(((x[i] - x[j]) ** 2).sum())
    return kinetic + potential


@program(1.1 * np.array([[0.0, 0, 0], [1.0, 0.1, 0], [0.2, 1.1, 0.1], [1.0, 1.0, 0.3]]))
def lennard_jones_cutoff(r, rc=1.4):
    energy = 0.0
    n = r.shape[0]
    shift = 4 * (rc**-12 - rc**-6)
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = r[i] - r[j]
            d2 = np.dot(d, d)
            if d2 > rc * rc:
                continue
            s6 = (1 / d2) ** 3
            energy += 4 * (s6 * s6 - s6) - shift
    return energy


@program(rng.uniform(0, 3, size=(4, 2)), 3.0)
def periodic_minimum_image(r, L):
    n = len(r)
    energy = 0.0
    forces = np.zeros_like(r)
    for i in range(n):
        for j in range(i + 1, n):
            d = r[i] - r[j]
            d = d - L * np.round(d / L)
            d2 = d @ d
            f = np.exp(-d2)
            energy += f
            forces[i] += 2 * f * d
            forces[j] -= 2 * f * d
    return energy, forces


def spring_forces(x, edges, rest, k):
    f = np.zeros_like(x)
    for (i, j), l0 in zip(edges, rest):
        d = x[j] - x[i]
        length = np.sqrt(np.sum(d * d))
        pull = k * (length - l0) * d / length
        f[i] += pull
        f[j] -= pull
    return f


@program(pos[:, :2].copy(), np.array([0.5, 0.7, 0.4, 1.0]), 2.0)
def velocity_verlet_springs(x, rest, k):
    edges = [(0, 1), (1, 2), (2, 3), (3, 0)]
    v = np.zeros_like(x)
    dt = 0.05
    f = spring_forces(x, edges, rest, k)
    for _ in range(3):
        v = v + 0.5 * dt * f
        x = x + dt * v
        f = spring_forces(x, edges, rest, k)
        v = v + 0.5 * dt * f
    return x, v


@program(np.array([0.3, 0.4]), np.array([0.1, 0.0]))
def double_pendulum(theta, omega):
    dt = 0.02
    for _ in range(5):
        t1, t2 = theta
        w1, w2 = omega
        d = t1 - t2
        den = 3 - math.cos(2 * d)
        a1 = (
            -3 * 9.81 * math.sin(t1)
            - 9.81 * math.sin(t1 - 2 * t2)
            - 2 * math.sin(d) * (w2**2 + w1**2 * math.cos(d))
        ) / den
        a2 = (2 * math.sin(d) * (2 * w1**2 + 2 * 9.81 * math.cos(t1) + w2**2 * math.cos(d))) / den
        omega = np.array([w1 + dt * a1, w2 + dt * a2])
        theta = theta + dt * omega
    return theta


@program(np.cumsum(0.2 * np.ones((5, 2)), axis=0) ** 1.1)
def rope_constraints(p):
    """Position based dynamics: links are projected one after the other, in place."""
    p = p.copy()
    for iteration in range(3):
        p[0] = 0.0
        for i in range(len(p) - 1):
            d = p[i + 1] - p[i]
            length = math.sqrt(d[0] ** 2 + d[1] ** 2)
            correction = 0.5 * (length - 0.3) / length * d
            p[i] += correction
            p[i + 1] -= correction
    return p


@dataclass
class Particle:
    x: float
    v: float
    m: float = 1.0

    def kinetic(self):
        return 0.5 * self.m * self.v**2

    def kick(self, f, dt):
        self.v += f / self.m * dt

    def drift(self, dt):
        self.x += self.v * dt


@program(0.0, 1.0, 2.0)
def dataclass_particles(x, v, m):
    a = Particle(x, v, m)
    b = Particle(1.0, 0.0)
    for _ in range(5):
        f = b.x - a.x - 1.0
        a.kick(f, 0.1)
        b.kick(-f, 0.1)
        for p in (a, b):
            p.drift(0.1)
    return a.kinetic() + b.kinetic()


Vec = namedtuple("Vec", ["x", "y", "z"])


def sub(a, b):
    return Vec(a.x - b.x, a.y - b.y, a.z - b.z)


def dot(a, b):
    return a.x * b.x + a.y * b.y + a.z * b.z


@program(Vec(0.0, 0.1, -3.0), 1.0, 0.2)
def ray_sphere(origin, radius, tilt):
    direction = Vec(math.sin(tilt), 0.0, math.cos(tilt))
    center = Vec(0.0, 0.0, 0.0)
    oc = sub(origin, center)
    b = dot(oc, direction)
    c = dot(oc, oc) - radius**2
    disc = b * b - c
    if disc < 0:
        return 0.0
    t = -b - math.sqrt(disc)
    hit = Vec(origin.x + t * direction.x, origin.y + t * direction.y, origin.z + t * direction.z)
    normal = sub(hit, center)
    light = Vec(0.5, 0.7, -0.5)
    return max(0.0, dot(normal, light)) / radius


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def norm(self):
        return math.sqrt(self.dot(self))


@program(0.3, 1.2)
def vectors_with_operators(a, b):
    p = Vector(a, b)
    q = Vector(1.0, a * b)
    r = p + (q - p) * 0.25
    return r.norm + p.dot(q)


@program(np.array([0.1, 0.5]), np.array([[0.0, 2.0], [1.0, 3.0]]), np.array([0.5, 0.7]))
def ray_march_circles(origin, centers, radii):
    """Sphere tracing against a signed distance field."""
    p = origin
    d = np.array([0.2, 1.0]) / np.sqrt(1.04)
    travelled = 0.0
    for _ in range(40):
        dist = np.inf
        for c, r in zip(centers, radii):
            delta = p - c
            s = np.sqrt(delta @ delta) - r
            dist = min(dist, s)
        if dist < 1e-3 or travelled > 10:
            break
        travelled = travelled + dist
        p = p + dist * d
    return travelled


@program(rng.choice([-1.0, 1.0], size=(4, 4)), 0.7, 0.2)
def ising_energy(spins, J, h):
    n, m = spins.shape
    E = 0.0
    for i in range(n):
        for j in range(m):
            E -= J * spins[i, j] * (spins[(i + 1) % n, j] + spins[i, (j + 1) % m])
            E -= h * spins[i, j]
    return E


@program(0.6, rng.uniform(size=20))
def ising_metropolis_reweighting(beta, u):
    """Accept or reject by given numbers; the log weights of the path are differentiated."""
    s = np.ones((3, 3), dtype=int)
    logw = 0.0
    k = 0
    for step in range(10):
        i, j = step % 3, (step * 2) % 3
        nn = s[(i + 1) % 3, j] + s[i - 1, j] + s[i, (j + 1) % 3] + s[i, j - 1]
        dE = 2 * s[i, j] * nn
        p = math.exp(-beta * dE) if dE > 0 else 1.0
        if u[k] < p:
            s[i, j] = -s[i, j]
            logw += math.log(p)
        else:
            logw += math.log(1 - p)
        k += 1
    return logw


@program(
    rng.uniform(0, 6, size=(3, 3)),
)
def xy_model(theta):
    e = 0.0
    for shift, axis in ((1, 0), (1, 1)):
        e -= np.sum(np.cos(theta - np.roll(theta, shift, axis=axis)))
    return e


@program(0.9)
def transfer_matrix_ising(beta):
    T = np.array([[np.exp(beta), np.exp(-beta)], [np.exp(-beta), np.exp(beta)]])
    M = np.eye(2)
    for _ in range(6):
        M = M @ T
    return np.log(np.trace(M))


@program(1.0, 0.6, 0.3)
def central_orbit(r, v, e):
    x = np.array([r, 0.0])
    u = np.array([0.0, v])
    angle = 0.0
    for _ in range(12):
        u = u - 0.05 * x / np.linalg.norm(x) ** 3
        x_new = x + 0.05 * u
        angle += math.atan2(x[0] * x_new[1] - x[1] * x_new[0], x @ x_new)
        x = x_new
    return angle + e * np.hypot(*x)


@program(np.array([0.2, -0.1, 0.4]), 0.5)
def bouncing_balls(height, restitution):
    h = height + 1.0
    v = np.zeros_like(h)
    for step in range(12):
        v = v - 0.05 * 9.81
        h = h + 0.05 * v
        below = h < 0
        h = np.where(below, -restitution * h, h)
        v = np.where(below, -restitution * v, v)
    return h


@program(np.array([1.5, 1.33, 1.0]), 0.3)
def snell_layers(n, angle):
    s = math.sin(angle)
    path = 0.0
    for a, b in zip(n[:-1], n[1:]):
        s = s * a / b
        if abs(s) >= 1:
            return path
        path += s / math.sqrt(1 - s * s)
    return path


def quad_energy(points, masses, depth):
    """Recursion over halves, as a tree code does."""
    if len(points) <= 1:
        return 0.0
    half = len(points) // 2
    left, right = points[:half], points[half:]
    ml, mr = masses[:half], masses[half:]
    cl = (left * ml[:, None]).sum(axis=0) / ml.sum()
    cr = (right * mr[:, None]).sum(axis=0) / mr.sum()
    d = cl - cr
    own = -ml.sum() * mr.sum() / np.sqrt(d @ d + 0.01)
    return own + quad_energy(left, ml, depth + 1) + quad_energy(right, mr, depth + 1)


@program(pos, mass)
def tree_code(x, m):
    return quad_energy(x, m, 0)


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


@program([100.0, 20.0, 500.0], [500.0, 1000.0], 0.5)
def impedance_of_layers_from_below(resistivity, thickness, frequency):
    mu, n = 4 * math.pi * 1e-7, len(resistivity)
    w = 2 * math.pi * frequency
    impedances = list(range(n))
    impedances[n - 1] = math.sqrt(w * mu * resistivity[n - 1] / 2)
    for j in range(n - 2, -1, -1):
        inner = math.sqrt(w * mu / resistivity[j]) * resistivity[j]
        below = (inner - impedances[j + 1]) / (inner + impedances[j + 1])
        below *= math.exp(-2 * thickness[j] * math.sqrt(w * mu / resistivity[j]))
        impedances[j] = inner * (1 - below) / (1 + below)
    return impedances[0] ** 2 / (mu * w)


@program(0.3, 0.4, 0.5)
def circuit_of_rotations(a, b, c):
    def rotation(t):
        return np.array([[np.cos(t / 2), -np.sin(t / 2)], [np.sin(t / 2), np.cos(t / 2)]])

    x, z = np.array([[0.0, 1], [1, 0]]), np.diag([1.0, -1.0])
    state = np.zeros(4)
    state[0] = 1
    state = np.kron(rotation(a), rotation(b)) @ state
    state = np.eye(4)[[0, 1, 3, 2]] @ state
    state = np.kron(np.eye(2), rotation(c)) @ state
    return state @ (0.5 * np.kron(z, z) - 0.3 * np.kron(x, np.eye(2))) @ state
