"""Tables in dicts: by time, by pairs of indices, by group, by name, by species."""

import math
from enum import Enum

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(22)
x8 = rng.normal(size=8)


@program(rng.normal(size=4), rng.normal(size=5))
def warping_in_a_dict(a, b):
    table = {}
    for i in range(len(a)):
        table[(i, -1)] = float("inf")
    for j in range(len(b)):
        table[(-1, j)] = float("inf")
    table[(-1, -1)] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            best = min(table[(i - 1, j)], table[(i, j - 1)], table[(i - 1, j - 1)])
            table[(i, j)] = (a[i] - b[j]) ** 2 + best
    return np.sqrt(table[len(a) - 1, len(b) - 1])


@program(list(np.abs(rng.normal(size=8)) + 1), 0.7, 0.1, 0.9)
def seasonal_smoothing(series, alpha, beta, gamma):
    period = 4
    averages = [sum(series[period * j : period * (j + 1)]) / period for j in range(2)]
    seasonals = {}
    for i in range(period):
        seasonals[i] = sum(series[period * j + i] - averages[j] for j in range(2)) / 2
    result = []
    for i in range(len(series) + 3):
        if i == 0:
            smooth = series[0]
            trend = sum((series[k + period] - series[k]) / period for k in range(period)) / period
            result.append(series[0])
            continue
        if i >= len(series):
            ahead = i - len(series) + 1
            result.append(smooth + ahead * trend + seasonals[i % period])
        else:
            value = series[i]
            last, smooth = (
                smooth,
                alpha * (value - seasonals[i % period]) + (1 - alpha) * (smooth + trend),
            )
            trend = beta * (smooth - last) + (1 - beta) * trend
            seasonals[i % period] = gamma * (value - smooth) + (1 - gamma) * seasonals[i % period]
            result.append(smooth + trend + seasonals[i % period])
    return sum(result[-3:])


@program(np.sort(np.abs(x8)) + 0.1, np.array([1, 0, 1, 1, 0, 1, 1, 0]), np.abs(x8) + 0.5)
def survival_by_time(times, events, weights):
    S = 1.0
    survival = {}
    for number, t in enumerate(sorted(times)):
        at_risk = weights[number:].sum()
        died = weights[number] * events[number]
        S *= 1 - 0.5 * died / at_risk
        survival[number] = S
    return sum(survival.values())


@program(x8, np.array([3, 1, 3, 0, 1, 3, 0, 0]))
def spread_by_group(x, groups):
    members = {}
    for value, group in zip(x, groups):
        if group not in members:
            members[group] = []
        members[group].append(value)
    means = {}
    for group, values in members.items():
        means[group] = sum(values) / len(values)
    return sum((value - means[group]) ** 2 for value, group in zip(x, groups))


@program(x8)
def histogram_of_iterations(x):
    totals = {}
    for i in range(len(x)):
        try:
            totals[i * i % 5] += x[i]
        except KeyError:
            totals[i * i % 5] = x[i]
    return sum(v**3 for v in totals.values()) + len(totals)


@program(np.array([1.0, 0.5, 0.25]), {"forth": 0.8, "back": 0.1, "join": 0.3})
def reactions_by_species(c, k):
    index = {s: i for i, s in enumerate(["A", "B", "C"])}
    reactions = [
        ({"A": 1}, {"B": 1}, "forth"),
        ({"B": 1}, {"A": 1}, "back"),
        ({"A": 1, "B": 1}, {"C": 1}, "join"),
    ]
    for _ in range(3):
        change = np.zeros(3)
        for used, made, name in reactions:
            rate = k[name]
            for s, n in used.items():
                rate = rate * c[index[s]] ** n
            for s, n in used.items():
                change[index[s]] -= n * rate
            for s, n in made.items():
                change[index[s]] += n * rate
        c = c + 0.1 * change
    return c @ np.array([1, 2, 3])


@program(x8, 0.2)
def switch_with_hysteresis(x, threshold):
    state, visits, total = "low", {"low": 0, "high": 0}, 0.0
    for v in x:
        if state == "low" and v > threshold:
            state = "high"
        elif state == "high" and v < -threshold:
            state = "low"
        visits[state] += 1
        total += v * (2 if state == "high" else 0.5)
    return total / len(x) + visits["high"]


HEALTH = ("well", "ill")
SEEN = ("normal", "cold", "dizzy")


@program(
    {"well": 0.6, "ill": 0.4},
    {"well": {"well": 0.7, "ill": 0.3}, "ill": {"well": 0.4, "ill": 0.6}},
    {
        "well": {"normal": 0.5, "cold": 0.4, "dizzy": 0.1},
        "ill": {"normal": 0.1, "cold": 0.3, "dizzy": 0.6},
    },
)
def likeliest_path_by_names(start, step, emit):
    V = [{state: {"p": start[state] * emit[state][SEEN[0]], "from": None} for state in HEALTH}]
    for t in range(1, len(SEEN)):
        V.append({})
        for state in HEALTH:
            best, chosen = V[t - 1][HEALTH[0]]["p"] * step[HEALTH[0]][state], HEALTH[0]
            for before in HEALTH[1:]:
                p = V[t - 1][before]["p"] * step[before][state]
                if p > best:
                    best, chosen = p, before
            V[t][state] = {"p": best * emit[state][SEEN[t]], "from": chosen}
    likeliest = 0.0
    for entry in V[-1].values():
        if entry["p"] > likeliest:
            likeliest = entry["p"]
    return likeliest


@program([0.01, 0.015, 0.02, 0.022])
def discount_curve_by_bootstrap(par_rates):
    factors = []
    for rate in par_rates:
        annuity = sum(factors)
        factors.append((1 - rate * annuity) / (1 + rate))
    zeros = [-math.log(df) / (i + 1) for i, df in enumerate(factors)]
    curve = dict(zip(range(1, 5), zeros))

    def at(t):
        low = int(t)
        return (1 - (t - low)) * curve[low] + (t - low) * curve[low + 1]

    return zeros[-1] + at(2.5)


class Drag(Enum):
    LINEAR = 1
    QUADRATIC = 2


@program(np.array([0.1, -0.2, 0.3]), 0.5)
def drag_of_each_kind(v, c):
    def drag(v, kind=Drag.LINEAR):
        if kind == Drag.LINEAR:
            return -c * v
        if kind is Drag.QUADRATIC:
            return -c * v * np.abs(v)
        raise NotImplementedError(kind)

    for kind in Drag:
        v = v + 0.1 * drag(v, kind=kind)
    return (v**2).sum()


@program(100.0, 0.2, 0.05, 95.0)
def crank_nicolson_with_diagonals(S0, sigma, r, K):
    M, N, S_max = 6, 3, 200.0
    dt = 1.0 / N
    grid = np.zeros((M + 1, N + 1))
    S = np.linspace(0, S_max, M + 1)
    grid[:, -1] = np.maximum(S - K, 0)
    grid[-1, :-1] = (S_max - K) * np.exp(-r * dt * (N - np.arange(N)))
    i = np.arange(M)
    low = 0.25 * dt * (sigma**2 * i**2 - r * i)
    mid = -dt * 0.5 * (sigma**2 * i**2 + r)
    high = 0.25 * dt * (sigma**2 * i**2 + r * i)
    left = np.diag(1 - mid[1:M]) - np.diag(low[2:M], -1) - np.diag(high[1 : M - 1], 1)
    right = np.diag(1 + mid[1:M]) + np.diag(low[2:M], -1) + np.diag(high[1 : M - 1], 1)
    for j in reversed(range(N)):
        grid[1:M, j] = np.linalg.solve(left, np.dot(right, grid[1:M, j + 1]))
    k = 2
    part = (S0 - S[k]) / (S[k + 1] - S[k])
    return (1 - part) * grid[k, 0] + part * grid[k + 1, 0]


@program(np.abs(rng.normal(size=(4, 4))) + 0.1, 0.5)
def transport_by_diagonals(cost, reg):
    K = np.exp(-cost / reg)
    a, b = np.ones(4) / 4, np.array([0.1, 0.2, 0.3, 0.4])
    u = np.ones(4)
    for _ in range(8):
        v = b / (K.T @ u)
        u = a / (K @ v)
    return np.sum(np.diag(u) @ K @ np.diag(v) * cost)


@program({"H": 0.6, "L": 0.4}, {"H": {"a": 0.2, "c": 0.8}, "L": {"a": 0.6, "c": 0.4}})
def likeliest_states_with_predecessors(start, emission):
    seen, states = ("a", "c", "c"), ("H", "L")
    moves = {"H": {"H": 0.7, "L": 0.3}, "L": {"H": 0.4, "L": 0.6}}
    table = [{}]
    for s in states:
        table[0][s] = {"chance": start[s] * emission[s][seen[0]], "from": None}
    for t in range(1, len(seen)):
        table.append({})
        for s in states:
            best, origin = table[t - 1][states[0]]["chance"] * moves[states[0]][s], states[0]
            for other in states[1:]:
                chance = table[t - 1][other]["chance"] * moves[other][s]
                if chance > best:
                    best, origin = chance, other
            table[t][s] = {"chance": best * emission[s][seen[t]], "from": origin}
    return max(entry["chance"] for entry in table[-1].values())


@program([30.0, 21.0, 29.0, 31.0, 40.0, 48.0], 0.7, 0.03, 0.9, order=1)
def seasons_kept_in_a_dict(series, alpha, beta, gamma):
    period, result = 2, []
    seasons = {}
    for i in range(period):
        seasons[i] = sum(series[i::period]) / 3 - sum(series) / len(series)
    for i in range(len(series) + 2):
        if i == 0:
            smooth, trend = series[0], (series[2] - series[0]) / period
            result.append(series[0])
            continue
        if i >= len(series):
            ahead = i - len(series) + 1
            result.append(smooth + ahead * trend + seasons[i % period])
        else:
            value = series[i]
            last, smooth = (
                smooth,
                alpha * (value - seasons[i % period]) + (1 - alpha) * (smooth + trend),
            )
            trend = beta * (smooth - last) + (1 - beta) * trend
            seasons[i % period] = gamma * (value - smooth) + (1 - gamma) * seasons[i % period]
            result.append(smooth + trend + seasons[i % period])
    return result
