"""Robots, circuits and instruments as their programs are handed on: objects made in loops, states
that are read by index, tables that are bisected."""

import bisect
import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(53)
STEP = 0.1


class Curve:
    """A cubic spline, with its coefficients in growing lists."""

    def __init__(self, x, y):
        self.b, self.d = [], []
        self.x, self.count = x, len(x)
        h = np.diff(x)
        self.a = [value for value in y]
        self.c = np.linalg.solve(self.__matrix(h), self.__right_side(h))
        for i in range(self.count - 1):
            self.d.append((self.c[i + 1] - self.c[i]) / (3.0 * h[i]))
            rise = (self.a[i + 1] - self.a[i]) / h[i]
            self.b.append(rise - h[i] * (self.c[i + 1] + 2.0 * self.c[i]) / 3.0)

    def at(self, t):
        i = bisect.bisect(self.x, t) - 1
        dx = t - self.x[i]
        return self.a[i] + self.b[i] * dx + self.c[i] * dx**2.0 + self.d[i] * dx**3.0

    def __matrix(self, h):
        matrix = np.zeros((self.count, self.count))
        matrix[0, 0] = matrix[-1, -1] = 1.0
        for i in range(self.count - 2):
            matrix[i + 1, i : i + 3] = h[i], 2.0 * (h[i] + h[i + 1]), h[i + 1]
        return matrix

    def __right_side(self, h):
        right = np.zeros(self.count)
        for i in range(self.count - 2):
            before = (self.a[i + 1] - self.a[i]) / h[i]
            right[i + 1] = 3.0 * ((self.a[i + 2] - self.a[i + 1]) / h[i + 1] - before)
        return right


@program([-2.5, 0.0, 2.5, 5.0], [0.7, -6.0, 5.0, 6.5], order=1)
def path_by_two_curves(x, y):
    lengths = [math.hypot(dx, dy) for dx, dy in zip(np.diff(x), np.diff(y))]
    s = [0]
    s.extend(np.cumsum(lengths))
    along_x, along_y = Curve(s, x), Curve(s, y)
    places = [(along_x.at(t), along_y.at(t)) for t in (1.0, 7.5, 12.0)]
    return sum(px * py for px, py in places)


class Link:
    def __init__(self, row):
        self.row = row

    def frame(self):
        theta, alpha, a, d = self.row
        st, ct, sa, ca = math.sin(theta), math.cos(theta), math.sin(alpha), math.cos(alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, a * ct],
                [st, ct * ca, -ct * sa, a * st],
                [0, sa, ca, d],
                [0, 0, 0, 1],
            ]
        )


class Arm:
    def __init__(self, rows):
        self.links = []
        for i in range(len(rows)):
            self.links.append(Link(rows[i]))

    def hand(self):
        frame = np.identity(4)
        for link in self.links:
            frame = np.dot(frame, link.frame())
        return frame[:3, 3]

    def turn(self, by):
        for i in range(len(self.links)):
            self.links[i].row[0] += by[i]


@program([[0.1, -1.5, 0.1, 0.3], [1.5, 1.4, 0.0, 0.2], [0.3, -1.5, 0.2, 0.4]], order=1)
def arm_of_links_made_in_a_loop(rows):
    arm = Arm(rows)
    before = arm.hand()
    arm.turn([0.1, 0.2, before[0]])
    return arm.hand()


def motion_of(x, u):
    turned = np.array([[STEP * math.cos(x[2, 0]), 0], [STEP * math.sin(x[2, 0]), 0], [0.0, STEP]])
    return x + turned @ u


@program(rng.normal(size=(3, 2, 1)))
def extended_filter_with_stacked_history(readings):
    noise, jacobian = np.diag([0.1, 0.1, np.deg2rad(1.0)]) ** 2, np.eye(2, 3)
    x, p, u = np.zeros((3, 1)), np.eye(3), np.array([[1.0], [0.2]])
    history = x
    for z in readings:
        yaw, v = x[2, 0], u[0, 0]
        f = np.array(
            [[1, 0, -STEP * v * math.sin(yaw)], [0, 1, STEP * v * math.cos(yaw)], [0, 0, 1]]
        )
        x, p = motion_of(x, u), f @ p @ f.T + noise
        gain = p @ jacobian.T @ np.linalg.inv(jacobian @ p @ jacobian.T + np.eye(2))
        x = x + gain @ (z - jacobian @ x)
        p = (np.eye(len(x)) - gain @ jacobian) @ p
        history = np.hstack((history, x))
    return history


def transform_after(before, rotation, shift):
    size = rotation.shape[0]
    made = np.zeros((size + 1, size + 1))
    made[0:size, 0:size] = rotation
    made[0:size, size] = shift
    made[size, size] = 1.0
    return made if before is None else before @ made


@program(rng.normal(size=(2, 4)) * 3, order=1)
def points_matched_until_error_settles(points):
    moved = np.array([[0.99 * x - 0.1 * y, 0.1 * x + 0.99 * y] for x, y in points.T]).T + 0.1
    transform, previous, count = None, np.inf, 0
    while count < 3:
        count += 1
        error = sum(np.linalg.norm(points - moved, axis=0))
        m, n = np.mean(points, axis=1), np.mean(moved, axis=1)
        u, _, vh = np.linalg.svd((moved - n[:, np.newaxis]) @ (points - m[:, np.newaxis]).T)
        rotation = (u @ vh).T
        moved = rotation @ moved + (m - rotation @ n)[:, np.newaxis]
        transform = transform_after(transform, rotation, m - rotation @ n)
        if previous - error < 0:
            break
        previous = error
    return transform[0:-1, -1]


@program([[0.0, 0.1], [1.0, 0.2], [2.0, 0.4], [2.5, 1.0], [2.0, 2.0]], 0.4, 0.1, order=1)
def path_smoothed_until_it_rests(path, pull, smooth):
    made = [list(point) for point in path]
    change = 1.0
    while change >= 0.3:
        change = 0.0
        for i in range(1, len(path) - 1):
            for j in range(len(path[0])):
                old = made[i][j]
                made[i][j] += pull * (path[i][j] - made[i][j])
                made[i][j] += smooth * (made[i - 1][j] + made[i + 1][j] - 2.0 * made[i][j])
                change += abs(old - made[i][j])
    return made


class Section:
    """A filter of order two, with constructors by name."""

    def __init__(self, b, a):
        self.b, self.a = b, a
        self.x1 = self.x2 = self.y1 = self.y2 = 0.0

    @classmethod
    def low_pass(cls, frequency, q, rate):
        w = 2 * math.pi * frequency / rate
        alpha, c = math.sin(w) / (2 * q), math.cos(w)
        return cls([(1 - c) / 2, 1 - c, (1 - c) / 2], [1 + alpha, -2 * c, 1 - alpha])

    def process(self, x):
        (b0, b1, b2), (a0, a1, a2) = self.b, self.a
        y = (b0 * x + b1 * self.x1 + b2 * self.x2 - a1 * self.y1 - a2 * self.y2) / a0
        self.x2, self.x1 = self.x1, x
        self.y2, self.y1 = self.y1, y
        return y


@program(rng.normal(size=6), 800.0, order=1)
def sections_made_for_each_pole(signal, frequency):
    count = 3
    sections = [Section.low_pass(frequency, 0.5 + 0.3 * k, 8000) for k in range(count)]
    made = []
    for sample in signal:
        for section in sections:
            sample = section.process(sample)
        made.append(sample)
    return np.array(made)


@program(np.linspace(0.01, 0.99, 7), 0.12, 0.23, 0.5, 0.21)
def envelope_by_pieces(t, attack, decay, sustain, release):
    end = t[-1] + 0.02
    return np.piecewise(
        t,
        [t < attack, (t >= attack) & (t < attack + decay), t >= end - release],
        [
            lambda t: t / attack,
            lambda t: 1 - (1 - sustain) * (t - attack) / decay,
            lambda t: sustain * (end - t) / release,
            sustain,
        ],
    )


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


@program([[1.0, 2.0, -1.0, -4.0], [2.0, 3.0, -1.0, -11.0], [-2.0, 0.0, -3.0, 22.0]], order=1)
def echelon_form_on_rows(rows):
    lead = 0
    for r in range(len(rows)):
        if lead >= len(rows[0]):
            return rows
        i = r
        while rows[i][lead] == 0:
            i += 1
            if i == len(rows):
                return rows
        rows[i], rows[r] = rows[r], rows[i]
        first = rows[r][lead]
        rows[r] = [value / first for value in rows[r]]
        for i in range(len(rows)):
            if i != r:
                first = rows[i][lead]
                rows[i] = [v - first * w for w, v in zip(rows[r], rows[i])]
        lead += 1
    return rows


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


@program(np.array([0.1, -0.2, 1.5]), np.array([0.01, 0.02, 0.03]))
def pole_with_conditional_rewards(weights, start):
    state, late, total = tuple(start), None, 0.0
    for _ in range(6):
        x, speed, angle = state
        force = 5.0 * np.tanh(weights @ np.array(state))
        state = (
            x + 0.1 * speed,
            speed + 0.1 * force,
            angle + 0.1 * (9.8 * math.sin(angle) - force),
        )
        fallen = bool(state[2] < -0.2 or state[2] > 0.2)
        if not fallen:
            total += 1.0 - 0.1 * angle**2
        elif late is None:
            late = 0
            total += 1.0
        else:
            late += 1
            break
    return total + state[2] ** 2


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
