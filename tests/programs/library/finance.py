"""Prices, rates and portfolios."""

import math
from dataclasses import dataclass

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(11)


def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


@program(100.0, 105.0, 0.03, 0.25, 1.5)
def black_scholes_call(S, K, r, sigma, T):
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return S * norm_cdf(d1) - K * math.exp(-r * T) * norm_cdf(d2)


@program(100.0, 105.0, 0.03, 0.25, "put")
def black_scholes_by_kind(S, K, r, sigma, kind):
    T = 1.0
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    if kind == "call":
        return S * norm_cdf(d1) - K * np.exp(-r * T) * norm_cdf(d2)
    elif kind == "put":
        return K * np.exp(-r * T) * norm_cdf(-d2) - S * norm_cdf(-d1)
    raise ValueError(f"unknown kind {kind!r}")


@program(8.0, 100.0, 100.0)
def implied_volatility(price, S, K):
    sigma = 0.3
    for _ in range(20):
        d1 = (math.log(S / K) + 0.5 * sigma**2) / sigma
        value = S * norm_cdf(d1) - K * norm_cdf(d1 - sigma)
        vega = S * math.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi)
        step = (value - price) / vega
        sigma -= step
        if abs(step) < 1e-14:
            break
    return sigma


@program(100.0, 102.0, 0.04, 0.3, 1.0, 6)
def binomial_tree_american_put(S, K, r, sigma, T, n):
    dt = T / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    q = (math.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)
    values = np.zeros(n + 1)
    for j in range(n + 1):
        values[j] = max(K - S * u**j * d ** (n - j), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = disc * (q * values[j + 1] + (1 - q) * values[j])
            exercise = K - S * u**j * d ** (i - j)
            values[j] = max(hold, exercise)
    return values[0]


@program(100.0, 101.0, 0.2)
def binomial_tree_vectorized(S, K, sigma):
    n = 5
    u = np.exp(sigma * np.sqrt(1 / n))
    d = 1 / u
    p = (1 - d) / (u - d)
    prices = S * d ** np.arange(n, -1, -1.0) * u ** np.arange(0, n + 1, 1.0)
    V = np.maximum(prices - K, 0)
    for _ in range(n):
        V = p * V[1:] + (1 - p) * V[:-1]
    return V[0]


def tree_price(S, u, d, p, depth, K):
    if depth == 0:
        return max(S - K, 0.0)
    return p * tree_price(S * u, u, d, p, depth - 1, K) + (1 - p) * tree_price(
        S * d, u, d, p, depth - 1, K
    )


@program(100.0, 0.2)
def binomial_tree_recursive(S, sigma):
    u = math.exp(sigma / 2)
    d = 1 / u
    return tree_price(S, u, d, (1 - d) / (u - d), 4, 99.0)


@program(100.0, 0.2, 0.02, rng.normal(size=(6, 4)))
def monte_carlo_asian(S0, sigma, r, Z):
    n_paths, n_steps = Z.shape
    dt = 1.0 / n_steps
    payoff = 0.0
    for i in range(n_paths):
        S = S0
        average = 0.0
        for j in range(n_steps):
            S *= math.exp((r - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * Z[i, j])
            average += S
        average /= n_steps
        payoff += max(average - 100.0, 0.0)
    return math.exp(-r) * payoff / n_paths


@program(100.0, 0.3, rng.normal(size=(8, 5)))
def monte_carlo_barrier_vectorized(S0, sigma, Z):
    dt = 0.2
    S = np.full(len(Z), S0)
    alive = np.ones(len(Z), dtype=bool)
    for t in range(Z.shape[1]):
        S = S * np.exp(-0.5 * sigma**2 * dt + sigma * np.sqrt(dt) * Z[:, t])
        alive &= S < 150.0
    return np.mean(np.where(alive, np.maximum(S - 95.0, 0.0), 0.0))


@program(100.0, np.array([0.2, 1.5, 0.25, 0.2, -0.6]), rng.normal(size=(5, 4, 2)))
def heston_paths(S0, theta, draws):
    v0, kappa, mean, xi, rho = theta
    dt = 0.1
    total = 0.0
    for path in draws:
        S, v = S0, v0
        for z1, z2 in path:
            vp = max(v, 0.0)
            w = rho * z1 + math.sqrt(1 - rho**2) * z2
            S = S * math.exp(-0.5 * vp * dt + math.sqrt(vp * dt) * z1)
            v = v + kappa * (mean - vp) * dt + xi * math.sqrt(vp * dt) * w
        total += max(S - 100.0, 0.0)
    return total / len(draws)


@program(0.05, 0.04, 10)
def bond_price(y, coupon, n):
    price = 0.0
    for t in range(1, n + 1):
        price += 100 * coupon / (1 + y) ** t
    return price + 100 / (1 + y) ** n


@program(98.0, 0.04)
def yield_to_maturity(price, coupon):
    times = [1, 2, 3, 4, 5]
    y = 0.05
    for _ in range(8):
        f = sum(100 * coupon * (1 + y) ** -t for t in times) + 100 * (1 + y) ** -5 - price
        df = sum(-t * 100 * coupon * (1 + y) ** (-t - 1) for t in times) - 500 * (1 + y) ** -6
        y = y - f / df
    return y


@program(
    np.array([0.02, 0.025, 0.03, 0.032]),
)
def bootstrap_curve(swap_rates):
    discount = []
    for n, s in enumerate(swap_rates):
        annuity = sum(discount)
        discount.append((1 - s * annuity) / (1 + s))
    zero = []
    for t, d in enumerate(discount, start=1):
        zero.append(-math.log(d) / t)
    return np.array(zero)


@program({"level": 0.03, "slope": -0.01, "curvature": 0.005}, 1.8)
def nelson_siegel(p, tau):
    total = 0.0
    for T in (0.5, 1.0, 2.0, 5.0):
        e = math.exp(-T / tau)
        load = (1 - e) / (T / tau)
        rate = p["level"] + p["slope"] * load + p["curvature"] * (load - e)
        total += (rate - 0.025) ** 2
    return 1e4 * total


@program(
    np.array([0.3, 0.5, 0.2]), np.array([0.05, 0.08, 0.03]), np.diag([0.04, 0.09, 0.01]) + 0.005
)
def portfolio_sharpe(w, mu, Sigma):
    w = w / w.sum()
    ret = w @ mu
    risk = np.sqrt(w @ Sigma @ w)
    return (ret - 0.01) / risk


@program(np.diag([0.04, 0.09, 0.01]) + 0.005, np.array([0.3, 0.4, 0.3]))
def risk_parity_iterations(Sigma, budget):
    w = np.ones(3)
    for _ in range(6):
        for i in range(3):
            c = 0.0
            for j in range(3):
                if j != i:
                    c += Sigma[i, j] * w[j]
            w[i] = (-c + np.sqrt(c * c + 4 * Sigma[i, i] * budget[i])) / (2 * Sigma[i, i])
    return w / np.sum(w)


@program(rng.normal(0.001, 0.02, size=12), 0.5)
def drawdown_penalty(returns, penalty):
    wealth = 1.0
    peak = 1.0
    worst = 0.0
    for r in returns:
        wealth *= 1 + r
        peak = max(peak, wealth)
        worst = max(worst, (peak - wealth) / peak)
    return wealth - penalty * worst


@program(0.04, 0.3, 0.05, 0.01, rng.normal(size=8))
def vasicek_discount(r, kappa, theta, sigma, z):
    integral = 0.0
    for e in z:
        integral += r * 0.25
        r += kappa * (theta - r) * 0.25 + sigma * 0.5 * e
    return math.exp(-integral)


@program(200_000.0, 0.045, 24)
def mortgage_schedule(principal, rate, months):
    m = rate / 12
    payment = principal * m / (1 - (1 + m) ** -months)
    balance = principal
    interest_paid = 0.0
    while balance > 1000.0:
        interest = balance * m
        interest_paid += interest
        balance -= payment - interest
    return interest_paid


@program(np.linspace(80.0, 120.0, 9), 0.2, 0.03)
def implicit_option_grid(S, sigma, r):
    """Black-Scholes equation backwards in time, Thomas solve in each step."""
    n = len(S)
    dt = 0.25
    V = np.maximum(S - 101.0, 0.0)
    for _ in range(3):
        a, b, c = np.zeros(n), np.ones(n), np.zeros(n)
        for i in range(1, n - 1):
            h = S[i + 1] - S[i]
            diff = 0.5 * sigma**2 * S[i] ** 2 / h**2
            drift = 0.5 * r * S[i] / h
            a[i] = -dt * (diff - drift)
            b[i] = 1 + dt * (2 * diff + r)
            c[i] = -dt * (diff + drift)
        d = V.copy()
        for i in range(1, n):
            m = a[i] / b[i - 1]
            b[i] = b[i] - m * c[i - 1]
            d[i] = d[i] - m * d[i - 1]
        V[-1] = d[-1] / b[-1]
        for i in range(n - 2, -1, -1):
            V[i] = (d[i] - c[i] * V[i + 1]) / b[i]
    return V


@program(np.array([100.0, 95.0]), 0.4, rng.normal(size=(6, 2)))
def basket_option_correlated(S, rho, Z):
    L = np.array([[1.0, 0.0], [rho, np.sqrt(1 - rho**2)]])
    total = 0.0
    for z in Z:
        w = L @ z
        terminal = S * np.exp(-0.02 + 0.2 * w)
        total += max(terminal.mean() - 96.0, 0.0)
    return total / len(Z)


@program(100.0, 0.25, rng.normal(size=(6, 3)))
def longstaff_schwartz_fixed_rule(S0, sigma, Z):
    """Early exercise at a boundary: each path is left when it pays."""
    total = 0.0
    for path in Z:
        S = S0
        for t, z in enumerate(path):
            S = S * math.exp(-0.5 * sigma**2 / 3 + sigma * math.sqrt(1 / 3) * z)
            if S < 90.0 - 3 * t:
                total += 100.0 - S
                break
        else:
            total += max(100.0 - S, 0.0)
    return total / len(Z)


@dataclass
class Variance:
    pull: float = 2.0
    mean: float = 0.04
    vol: float = 0.3
    rho: float = -0.7
    start: float = 0.04


@program(Variance(), 100.0, 0.02)
def heston_with_full_truncation(p, S0, r):
    draws = np.random.default_rng(42)
    n, m, dt = 5, 6, 0.2
    Z1 = draws.standard_normal((n, m))
    Z2 = p.rho * Z1 + np.sqrt(1 - p.rho**2) * draws.standard_normal((n, m))
    S, v = np.full(m, S0), np.ones(m) * p.start
    for i in range(n):
        positive = np.maximum(v, 0)
        S *= np.exp((r - 0.5 * positive) * dt + np.sqrt(positive * dt) * Z1[i])
        v += p.pull * (p.mean - positive) * dt + p.vol * np.sqrt(positive * dt) * Z2[i]
    return np.exp(-r) * np.mean(np.maximum(S - 100, 0))
