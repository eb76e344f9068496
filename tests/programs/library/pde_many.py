"""Stencils in two and three dimensions."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(4)
f = rng.normal(size=(6, 6))
u0 = rng.normal(size=(6, 5))
u3 = rng.normal(size=(4, 4, 4))


@program(f, 3)
def jacobi_poisson(b, sweeps):
    p = np.zeros_like(b)
    for it in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            pn[2:, 1:-1] + pn[:-2, 1:-1] + pn[1:-1, 2:] + pn[1:-1, :-2] - b[1:-1, 1:-1]
        ) / 4
        p[0, :] = 0
        p[-1, :] = p[-2, :]
        p[:, 0] = p[:, 1]
        p[:, -1] = 1
    return p


@program(f, 2)
def gauss_seidel_loops(b, sweeps):
    n, m = b.shape
    u = np.zeros((n, m))
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - b[i, j])
    return u


@program(f, 1.4, 2)
def sor_with_residual_norm(b, omega, sweeps):
    n = b.shape[0]
    u = np.zeros_like(b)
    norms = []
    for _ in range(sweeps):
        res = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                r = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j] - b[i, j]
                u[i, j] += omega * r / 4
                res += r * r
        norms.append(np.sqrt(res))
    return norms[-1]


@program(f, 2)
def red_black_loops(b, sweeps):
    n = len(b)
    u = np.zeros((n, n))
    for _ in range(sweeps):
        for color in range(2):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    if (i + j) % 2 == color:
                        u[i, j] = (
                            u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - b[i, j]
                        ) / 4
    return np.sum(u * u)


@program(f, 2)
def red_black_strided(b, sweeps):
    u = np.zeros_like(b)
    for _ in range(sweeps):
        for s in (0, 1):
            for i in range(1, 5):
                start = 1 + (i + s) % 2
                u[i, start:-1:2] = 0.25 * (
                    u[i - 1, start:-1:2]
                    + u[i + 1, start:-1:2]
                    + u[i, start - 1 : -2 : 2]
                    + u[i, start + 1 :: 2]
                    - b[i, start:-1:2]
                )
    return u


def laplacian(u):
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]


@program(u0, 0.1, 4)
def heat_with_laplacian_helper(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * laplacian(u)
    return u


@program(u0, 0.05, 2)
def heat_two_dimensions_all_loops(u, r, steps):
    nx, ny = u.shape
    un = np.copy(u)
    for t in range(steps):
        for i in range(1, nx - 1):
            for j in range(1, ny - 1):
                un[i][j] = u[i][j] + r * (
                    u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1] - 4 * u[i][j]
                )
        u = un.copy()
    return u


@program(np.abs(u0) + 1, np.abs(u0) * 0.2, 0.06)
def gray_scott(U, V, F):
    U, V = U.copy(), V.copy()
    for _ in range(3):
        Lu = laplacian(U)
        Lv = laplacian(V)
        u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
        uvv = u * v * v
        u += 0.1 * Lu - 0.1 * uvv + F * (1 - u)
        v += 0.05 * Lv + 0.1 * uvv - (F + 0.06) * v
        for Z in (U, V):
            Z[0, :] = Z[1, :]
            Z[-1, :] = Z[-2, :]
            Z[:, 0] = Z[:, 1]
            Z[:, -1] = Z[:, -2]
    return np.sum(V)


def apply_boundary(u):
    u[0, :] = u[1, :]
    u[-1, :] = u[-2, :]
    u[:, 0] = 0.0
    u[:, -1] = 1.0


def diffuse(u, new, k):
    new[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )


@program(u0, 0.1)
def helpers_change_their_arguments(u, k):
    u = u.copy()
    new = u.copy()
    for _ in range(3):
        diffuse(u, new, k)
        apply_boundary(new)
        u, new = new, u
    return u


def solve_rows(u, r):
    """One implicit sweep along the first axis, each line a tridiagonal system."""
    n, m = u.shape
    out = np.zeros((n, m))
    for j in range(m):
        c = np.zeros(n)
        d = np.zeros(n)
        c[0] = -r / (1 + 2 * r)
        d[0] = u[0, j] / (1 + 2 * r)
        for i in range(1, n):
            w = 1 + 2 * r + r * c[i - 1]
            c[i] = -r / w
            d[i] = (u[i, j] + r * d[i - 1]) / w
        out[n - 1, j] = d[n - 1]
        for i in range(n - 2, -1, -1):
            out[i, j] = d[i] - c[i] * out[i + 1, j]
    return out


@program(u0, 0.4)
def alternating_directions(u, r):
    for _ in range(2):
        u = solve_rows(u, r)
        u = solve_rows(u.T, r).T
    return u


@program(u3, 0.1, 3)
def diffusion_three_dimensions(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1, 1:-1] += k * (
            u[2:, 1:-1, 1:-1]
            + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:]
            + u[1:-1, 1:-1, :-2]
            - 6 * u[1:-1, 1:-1, 1:-1]
        )
    return u


@program(u3)
def seidel_three_dimensions(u):
    u = u.copy()
    nx, ny, nz = u.shape
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for k in range(1, nz - 1):
                s = 0.0
                for di, dj, dk in [
                    (1, 0, 0),
                    (-1, 0, 0),
                    (0, 1, 0),
                    (0, -1, 0),
                    (0, 0, 1),
                    (0, 0, -1),
                ]:
                    s += u[i + di, j + dj, k + dk]
                u[i, j, k] = s / 6
    return np.sum(u**3)


@program(u0, np.full((6, 5), 0.3), np.full((6, 5), -0.2))
def advection_two_dimensions(q, u, v):
    q = q.copy()
    for n in range(3):
        qn = q.copy()
        q[1:, 1:] = (
            qn[1:, 1:]
            - 0.5 * u[1:, 1:] * (qn[1:, 1:] - qn[1:, :-1])
            - 0.5 * v[1:, 1:] * (qn[1:, 1:] - qn[:-1, 1:])
        )
        q[0, :] = 1
        q[:, 0] = 1
    return q


@program(u0, 0.4)
def wave_two_dimensions(u, c):
    u_old = u.copy()
    for _ in range(4):
        u_new = 2 * u - u_old
        u_new[1:-1, 1:-1] += c**2 * laplacian(u)
        u_old = u
        u = u_new
    return np.sum(u**2)


@program(u0, 0.5)
def perona_malik(image, kappa):
    image = image.copy()
    for _ in range(3):
        north = np.zeros_like(image)
        north[1:] = image[:-1] - image[1:]
        south = np.zeros_like(image)
        south[:-1] = image[1:] - image[:-1]
        east = np.zeros_like(image)
        east[:, :-1] = image[:, 1:] - image[:, :-1]
        west = np.zeros_like(image)
        west[:, 1:] = image[:, :-1] - image[:, 1:]
        total = 0
        for d in (north, south, east, west):
            total = total + np.exp(-((d / kappa) ** 2)) * d
        image += 0.2 * total
    return image


@program(f)
def game_of_life_smooth(grid):
    """Periodic neighbour sums by index arithmetic."""
    n, m = grid.shape
    new = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s = 0.0
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    if a == 0 and b == 0:
                        continue
                    s += grid[(i + a) % n, (j + b) % m]
            new[i, j] = np.tanh(s - 2) * grid[i, j]
    return new


@program(f, 0.3)
def total_variation_denoising(image, lam):
    u = image
    for _ in range(4):
        dx = u[1:, :] - u[:-1, :]
        dy = u[:, 1:] - u[:, :-1]
        gx = dx / np.sqrt(dx**2 + 0.1)
        gy = dy / np.sqrt(dy**2 + 0.1)
        g = u - image
        g = g.copy()
        g[1:, :] += lam * gx
        g[:-1, :] -= lam * gx
        g[:, 1:] += lam * gy
        g[:, :-1] -= lam * gy
        u = u - 0.2 * g
    return u


concentration = rng.uniform(1, 1.2, size=(5, 5))


def inner_laplacian(Z):
    up, left = Z[0:-2, 1:-1], Z[1:-1, 0:-2]
    down, right = Z[2:, 1:-1], Z[1:-1, 2:]
    return (up + left + down + right - 4 * Z[1:-1, 1:-1]) / 0.01


@program(concentration, 0.5 * concentration, 2.8e-4)
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


@program(concentration, 0.3 * concentration, 0.035)
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


@program(rng.random((4, 5)) + 1.0, order=1)
def first_arrivals_by_sweeps(slowness):
    n, m = slowness.shape
    times = np.full((n, m), 1e3)
    times[1, 2] = 0.0
    for down, right in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        for i in range(n)[::down]:
            for j in range(m)[::right]:
                a = min(times[i - 1, j] if i > 0 else 1e3, times[i + 1, j] if i < n - 1 else 1e3)
                b = min(times[i, j - 1] if j > 0 else 1e3, times[i, j + 1] if j < m - 1 else 1e3)
                f = slowness[i, j]
                if abs(a - b) >= f:
                    arrival = min(a, b) + f
                else:
                    arrival = (a + b + math.sqrt(2 * f * f - (a - b) ** 2)) / 2
                if arrival < times[i, j]:
                    times[i, j] = arrival
    return times
