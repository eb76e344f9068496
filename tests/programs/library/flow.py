"""Fluids: several fields, helpers that change their arguments, multigrid."""

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(5)
u5 = 0.3 * rng.normal(size=(5, 5))
v5 = 0.3 * rng.normal(size=(5, 5))
h9 = 1 + 0.2 * np.sin(np.linspace(0, 6, 9))


@program(h9, 0.1 * np.cos(np.linspace(0, 3, 9)), 4)
def shallow_water_lax(h, hu, steps):
    g = 9.81
    lam = 0.02
    h, hu = h.copy(), hu.copy()
    for _ in range(steps):
        flux_h = hu
        flux_hu = hu**2 / h + 0.5 * g * h**2
        h_new, hu_new = h.copy(), hu.copy()
        h_new[1:-1] = 0.5 * (h[2:] + h[:-2]) - lam * (flux_h[2:] - flux_h[:-2])
        hu_new[1:-1] = 0.5 * (hu[2:] + hu[:-2]) - lam * (flux_hu[2:] - flux_hu[:-2])
        h, hu = h_new, hu_new
    return h, hu


@program(1 + np.abs(u5), u5, v5)
def shallow_water_two_dimensions(h, u, v):
    dt, g = 0.05, 1.0
    h, u, v = h.copy(), u.copy(), v.copy()
    for _ in range(2):
        u[:, 1:-1] -= dt * g * (h[:, 2:] - h[:, :-2]) / 2
        v[1:-1, :] -= dt * g * (h[2:, :] - h[:-2, :]) / 2
        div = np.zeros_like(h)
        div[:, 1:-1] += (u[:, 2:] * h[:, 2:] - u[:, :-2] * h[:, :-2]) / 2
        div[1:-1, :] += (v[2:, :] * h[2:, :] - v[:-2, :] * h[:-2, :]) / 2
        h -= dt * div
    return np.sum(h**2) + np.sum(u * u + v * v)


def build_up_b(b, u, v, dt, dx):
    b[1:-1, 1:-1] = (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx))
        - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dx) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx)) ** 2
    )
    return b


def pressure_poisson(p, dx, b):
    pn = np.empty_like(p)
    for q in range(3):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]
        ) / 4 - dx**2 / 4 * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


@program(u5, v5, 0.1)
def cavity_flow(u, v, nu):
    """Step 11 of `12 steps to Navier-Stokes`, on a small grid."""
    dt, dx, rho = 0.01, 0.5, 1.0
    u, v = u.copy(), v.copy()
    p = np.zeros_like(u)
    b = np.zeros_like(u)
    for n in range(2):
        un = u.copy()
        vn = v.copy()
        b = build_up_b(b, u, v, dt, dx)
        p = pressure_poisson(p, dx, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - dt / (2 * rho * dx) * (p[2:, 1:-1] - p[:-2, 1:-1])
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
    return u, v, p


def set_bnd(kind, x):
    if kind == 1:
        x[0, :] = -x[1, :]
        x[-1, :] = -x[-2, :]
    else:
        x[0, :] = x[1, :]
        x[-1, :] = x[-2, :]
    if kind == 2:
        x[:, 0] = -x[:, 1]
        x[:, -1] = -x[:, -2]
    else:
        x[:, 0] = x[:, 1]
        x[:, -1] = x[:, -2]


def project(u, v, p, div):
    div[1:-1, 1:-1] = -0.5 * (u[2:, 1:-1] - u[:-2, 1:-1] + v[1:-1, 2:] - v[1:-1, :-2])
    p[:] = 0
    set_bnd(0, div)
    for _ in range(3):
        p[1:-1, 1:-1] = (
            div[1:-1, 1:-1] + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]
        ) / 4
        set_bnd(0, p)
    u[1:-1, 1:-1] -= 0.5 * (p[2:, 1:-1] - p[:-2, 1:-1])
    v[1:-1, 1:-1] -= 0.5 * (p[1:-1, 2:] - p[1:-1, :-2])
    set_bnd(1, u)
    set_bnd(2, v)


def advect(kind, d, d0, u, v, dt):
    n = d.shape[0] - 2
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            x = min(max(i - dt * u[i, j], 0.5), n + 0.5)
            y = min(max(j - dt * v[i, j], 0.5), n + 0.5)
            i0, j0 = int(x), int(y)
            s, t = x - i0, y - j0
            d[i, j] = (1 - s) * ((1 - t) * d0[i0, j0] + t * d0[i0, j0 + 1]) + s * (
                (1 - t) * d0[i0 + 1, j0] + t * d0[i0 + 1, j0 + 1]
            )
    set_bnd(kind, d)


@program(np.abs(u5), u5, v5)
def stable_fluids(density, u, v):
    """Stam's solver: projection and semi-Lagrangian advection, everything in place."""
    u, v, density = u.copy(), v.copy(), density.copy()
    p, div = np.zeros_like(u), np.zeros_like(u)
    project(u, v, p, div)
    u0, v0, old = u.copy(), v.copy(), density.copy()
    advect(0, density, old, u0, v0, 0.3)
    return density


def smooth(u, f, h, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])


def residual(u, f, h):
    r = np.zeros_like(u)
    for i in range(1, len(u) - 1):
        r[i] = f[i] + (u[i - 1] - 2 * u[i] + u[i + 1]) / h**2
    return r


def v_cycle(u, f, h):
    if len(u) <= 3:
        u[1] = 0.5 * (u[0] + u[2] + h * h * f[1])
        return u
    smooth(u, f, h, 2)
    r = residual(u, f, h)
    coarse = r[::2].copy()
    coarse[1:-1] = 0.25 * (r[1:-2:2] + 2 * r[2:-1:2] + r[3::2])
    e = v_cycle(np.zeros_like(coarse), coarse, 2 * h)
    u[::2] += e
    u[1::2] += 0.5 * (e[:-1] + e[1:])
    smooth(u, f, h, 2)
    return u


@program(np.sin(np.linspace(0, 3, 9)))
def multigrid_recursive(f):
    u = np.zeros_like(f)
    for _ in range(2):
        u = v_cycle(u, f, 1 / 8)
    return u


@program(np.sin(np.linspace(0, 3, 9)))
def two_grid(f):
    h = 1 / 8
    u = np.zeros(9)
    for _ in range(2):
        smooth(u, f, h, 2)
        r = residual(u, f, h)
        rc = np.zeros(5)
        for i in range(1, 4):
            rc[i] = (r[2 * i - 1] + 2 * r[2 * i] + r[2 * i + 1]) / 4
        ec = np.zeros(5)
        smooth(ec, rc, 2 * h, 10)
        for i in range(4):
            u[2 * i] += ec[i]
            u[2 * i + 1] += 0.5 * (ec[i] + ec[i + 1])
        smooth(u, f, h, 2)
    return np.max(np.abs(residual(u, f, h)))


@program(
    rng.normal(size=(4, 4)),
    0.2,
)
def lattice_boltzmann_d1q3(rho, u):
    """Collide and stream, distributions as an array of three fields."""
    w = np.array([2 / 3, 1 / 6, 1 / 6])
    c = np.array([0, 1, -1])
    density = np.abs(rho[0]) + 1
    fs = np.zeros((3, 4))
    for i in range(3):
        fs[i] = w[i] * density * (1 + 3 * c[i] * u)
    for _ in range(3):
        total = fs.sum(axis=0)
        velocity = (fs[1] - fs[2]) / total
        for i in range(3):
            eq = (
                w[i]
                * total
                * (1 + 3 * c[i] * velocity + 4.5 * (c[i] * velocity) ** 2 - 1.5 * velocity**2)
            )
            fs[i] = fs[i] - 0.8 * (fs[i] - eq)
        fs[1] = np.roll(fs[1], 1)
        fs[2] = np.roll(fs[2], -1)
    return fs


@program(0.1 * u5 + 1, 0.3)
def darcy_harmonic_means(k, source):
    n = k.shape[0]
    p = np.zeros((n, n))
    for _ in range(3):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                te = 2 * k[i, j] * k[i, j + 1] / (k[i, j] + k[i, j + 1])
                tw = 2 * k[i, j] * k[i, j - 1] / (k[i, j] + k[i, j - 1])
                tn = 2 * k[i, j] * k[i + 1, j] / (k[i, j] + k[i + 1, j])
                ts = 2 * k[i, j] * k[i - 1, j] / (k[i, j] + k[i - 1, j])
                p[i, j] = (
                    te * p[i, j + 1]
                    + tw * p[i, j - 1]
                    + tn * p[i + 1, j]
                    + ts * p[i - 1, j]
                    + source
                ) / (te + tw + tn + ts)
    return p


density = rng.uniform(1, 1.2, size=(5, 5))


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


@program(density, 0.1 * density, 0.3 * rng.normal(size=(5, 5)), 0.3 * rng.normal(size=(5, 5)))
def density_step_of_a_game(x, source, u, v, N=3, dt=0.1, diffusion=0.01):
    """The two fields change places between helpers that write to their arguments."""
    x[0 : N + 2, 0 : N + 2] += dt * source[0 : N + 2, 0 : N + 2]
    source, x = x, source
    a = dt * diffusion * N * N
    relaxation(N, 0, x, source, a, 1 + 4 * a)
    source, x = x, source
    carry(N, 0, x, source, u, v, dt)
    return x
