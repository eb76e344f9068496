"""Partial differential equations in one dimension, by differences and by finite elements."""

import numpy as np

from tests.programs.registry import program

x = np.linspace(0.0, 1.0, 9)
bump = np.exp(-30 * (x - 0.4) ** 2) + 0.1 * x


@program(bump, 0.2, 5)
def heat_explicit(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(bump, 0.2, 5)
def heat_two_buffers_loops(u0, r, steps):
    n = u0.shape[0]
    u = u0.copy()
    new = np.empty(n)
    for t in range(steps):
        for i in range(1, n - 1):
            new[i] = u[i] + r * (u[i + 1] - 2 * u[i] + u[i - 1])
        new[0] = 0.0
        new[n - 1] = new[n - 2]
        u, new = new, u
    return u


@program(bump, 1.3, 3)
def heat_implicit_thomas(u, r, steps):
    n = len(u)
    for _ in range(steps):
        a = -r * np.ones(n)
        b = (1 + 2 * r) * np.ones(n)
        c = -r * np.ones(n)
        b[0] = b[-1] = 1.0
        c[0] = a[-1] = 0.0
        d = u.copy()
        for i in range(1, n):
            w = a[i] / b[i - 1]
            b[i] -= w * c[i - 1]
            d[i] -= w * d[i - 1]
        u = np.zeros(n)
        u[-1] = d[-1] / b[-1]
        for i in range(n - 2, -1, -1):
            u[i] = (d[i] - c[i] * u[i + 1]) / b[i]
    return u


@program(bump, 0.6, 4)
def upwind_advection(u, c, steps):
    for _ in range(steps):
        u_new = u.copy()
        u_new[1:] = u[1:] - c * (u[1:] - u[:-1])
        u_new[0] = u_new[-1]
        u = u_new
    return u


@program(bump, np.where(x > 0.5, -0.4, 0.5), 4)
def upwind_variable_velocity(u, a, steps):
    n = len(u)
    for _ in range(steps):
        un = u.copy()
        for i in range(1, n - 1):
            if a[i] > 0:
                u[i] = un[i] - a[i] * (un[i] - un[i - 1])
            else:
                u[i] = un[i] - a[i] * (un[i + 1] - un[i])
    return u


@program(bump, 0.5, 4)
def lax_friedrichs(u, nu, steps):
    for _ in range(steps):
        up = np.roll(u, -1)
        um = np.roll(u, 1)
        u = 0.5 * (up + um) - 0.5 * nu * (up - um)
    return u


@program(bump, 0.5, 4)
def lax_wendroff_periodic(u, nu, steps):
    n = u.size
    for _ in range(steps):
        v = np.zeros(n)
        for i in range(n):
            left, right = u[i - 1], u[(i + 1) % n]
            v[i] = u[i] - nu / 2 * (right - left) + nu**2 / 2 * (right - 2 * u[i] + left)
        u = v
    return u


@program(1 + bump, 0.01)
def burgers_viscous(u, nu):
    dx, dt = 0.125, 0.02
    u = u.copy()
    for n in range(6):
        un = u.copy()
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - un[:-2])
            + nu * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        )
        u[0] = (
            un[0]
            - un[0] * dt / dx * (un[0] - un[-2])
            + nu * dt / dx**2 * (un[1] - 2 * un[0] + un[-2])
        )
        u[-1] = u[0]
    return u


def godunov_flux(ul, ur):
    if ul > ur:
        s = 0.5 * (ul + ur)
        return 0.5 * ul**2 if s > 0 else 0.5 * ur**2
    if ul > 0:
        return 0.5 * ul**2
    if ur < 0:
        return 0.5 * ur**2
    return 0.0


@program(bump - 0.33, 4)
def burgers_godunov(u, steps):
    n = len(u)
    u = u.copy()
    flux = np.zeros(n - 1)
    for _ in range(steps):
        for i in range(n - 1):
            flux[i] = godunov_flux(u[i], u[i + 1])
        for i in range(1, n - 1):
            u[i] -= 0.2 * (flux[i] - flux[i - 1])
    return u


def minmod(a, b):
    return np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


@program(bump, 0.4)
def muscl_advection(u, c):
    for _ in range(4):
        slope = np.zeros_like(u)
        slope[1:-1] = minmod(u[1:-1] - u[:-2], u[2:] - u[1:-1])
        face = u + 0.5 * (1 - c) * slope
        u = u.copy()
        u[1:] -= c * (face[1:] - face[:-1])
    return u


@program(bump, 0.8, 6)
def wave_leapfrog(u0, courant, steps):
    c2 = courant**2
    u_prev = u0.copy()
    u = u0.copy()
    u[1:-1] = u0[1:-1] + 0.5 * c2 * (u0[2:] - 2 * u0[1:-1] + u0[:-2])
    u[0] = u[-1] = 0.0
    for n in range(steps):
        u_next = np.zeros_like(u)
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + c2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_prev, u = u, u_next
    return u


@program(bump, np.zeros(9), 5)
def wave_three_buffers_rotated(u, source, steps):
    a = u.copy()
    b = u.copy()
    c = np.zeros_like(u)
    for t in range(steps):
        for i in range(1, len(u) - 1):
            c[i] = 2 * b[i] - a[i] + 0.5 * (b[i + 1] - 2 * b[i] + b[i - 1]) + source[i]
        a, b, c = b, c, a
    return np.sum(b**2)


@program(bump, 0.5)
def telegraph_staggered(E, sigma):
    """Yee's scheme in one dimension."""
    E = E.copy()
    H = np.zeros(len(E) - 1)
    for n in range(6):
        H += 0.5 * (E[1:] - E[:-1])
        E[1:-1] += 0.5 * (H[1:] - H[:-1]) - 0.1 * sigma * E[1:-1]
        E[2] += np.exp(-((n - 3.0) ** 2) / 2)
    return E, H


@program(
    bump,
    np.linspace(1.0, 2.0, 8),
)
def variable_coefficient_diffusion(u, k):
    u = u.copy()
    n = u.shape[0]
    for _ in range(4):
        flux = -k * np.diff(u)
        u[1 : n - 1] -= 0.1 * (flux[1:] - flux[:-1])
        u[0] -= 0.2 * flux[0]
        u[-1] += 0.2 * flux[-1]
    return u


@program(bump, 0.04)
def korteweg_de_vries(u, dt):
    n = len(u)
    up = u.copy()
    for _ in range(3):
        un = u.copy()
        for i in range(2, n - 2):
            un[i] = (
                up[i]
                - dt * (u[i + 1] + u[i] + u[i - 1]) * (u[i + 1] - u[i - 1])
                - dt * (u[i + 2] - 2 * u[i + 1] + 2 * u[i - 1] - u[i - 2])
            )
        up = u
        u = un
    return u


@program(np.abs(bump), 0.3)
def fisher_kpp(u, r):
    lap = np.zeros_like(u)
    for _ in range(6):
        lap[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
        u = u + 0.2 * lap + r * u * (1 - u)
        u[0] = 1.0
        u[-1] = 0.0
    return u


@program(bump, 0.1)
def schroedinger_split(psi0, V):
    """Real and imaginary parts are stepped in turn (Visscher)."""
    R = psi0.copy()
    I = np.zeros_like(psi0)
    for _ in range(4):
        R[1:-1] -= 0.1 * (0.5 * (I[2:] - 2 * I[1:-1] + I[:-2]) - V * I[1:-1])
        I[1:-1] += 0.1 * (0.5 * (R[2:] - 2 * R[1:-1] + R[:-2]) - V * R[1:-1])
    return np.sum(R**2 + I**2 * x)


@program(bump, 0.5, 4)
def finite_volume_with_ghost_cells(u, c, steps):
    n = len(u)
    g = np.zeros(n + 2)
    g[1:-1] = u
    for _ in range(steps):
        g[0] = g[-2]
        g[-1] = g[1]
        g[1:-1] -= c * (g[1:-1] - g[:-2])
    return g[1:-1]


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
