"""Learning as notebooks write it: parameters in dicts, caches, batches, printed losses."""

import math
from dataclasses import dataclass

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(21)
X = rng.normal(size=(6, 4))
LABELS = np.array([0, 2, 1, 1, 0, 2])
FLAGS = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])


def normal(*shape):
    return 0.5 * rng.normal(size=shape)


def softmax_rows(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z)), z


def relu(z):
    return np.maximum(0, z), z


@program(normal(15), X[:, :4].T, FLAGS.reshape(1, 6))
def layers_by_numbered_keys(flat, x, y):
    dims = [4, 3, 1]
    params, start = {}, 0
    for layer in range(1, len(dims)):
        size = dims[layer] * dims[layer - 1]
        weights = flat[start : start + size].reshape(dims[layer], dims[layer - 1])
        params["W" + str(layer)] = weights / np.sqrt(dims[layer - 1])
        params[f"b{layer}"] = np.zeros((dims[layer], 1))
        start += size
    caches, a = [], x
    for layer in range(1, len(dims)):
        W, b = params["W%d" % layer], params["b{}".format(layer)]
        assert W.shape == (dims[layer], dims[layer - 1])
        z = W.dot(a) + b
        a, cache = relu(z) if layer < len(dims) - 1 else sigmoid(z)
        caches.append((W, b, cache))
    cost = -(np.dot(y, np.log(a).T) + np.dot(1 - y, np.log(1 - a).T)) / y.shape[1]
    return np.squeeze(cost) + 0.01 * np.sum(caches[0][2] ** 2)


class TwoLayers:
    def __init__(self, W1, W2):
        self.params = {"W1": W1, "b1": np.zeros(W1.shape[1])}
        self.params.update(W2=W2, b2=np.zeros(W2.shape[1]))

    def loss(self, x, y=None, reg=0.0):
        W1, b1 = self.params["W1"], self.params["b1"]
        W2, b2 = self.params["W2"], self.params["b2"]
        n = x.shape[0]
        hidden = np.maximum(0, x.dot(W1) + b1)
        scores = hidden.dot(W2) + b2
        if y is None:
            return scores
        p = softmax_rows(scores)
        loss = -np.sum(np.log(p[range(n), list(y)])) / n
        loss += reg * sum(np.sum(w * w) for name, w in self.params.items() if name[0] == "W")
        d_scores = p.copy()
        d_scores[range(n), list(y)] -= 1
        d_scores /= n
        d_hidden = d_scores.dot(W2.T)
        d_hidden[hidden <= 0] = 0
        grads = {"W2": hidden.T.dot(d_scores), "b2": d_scores.sum(axis=0)}
        grads.update({"W1": x.T.dot(d_hidden), "b1": d_hidden.sum(axis=0)})
        return loss, grads

    def train(self, x, y, rate, steps, verbose=False):
        history = []
        for it in range(steps):
            batch = slice(it * 3, (it + 1) * 3)
            loss, grads = self.loss(x[batch], y[batch], reg=0.1)
            history.append(loss)
            for name in self.params:
                self.params[name] += -rate * grads[name]
            if verbose and it % 10 == 0:
                print("iteration %d / %d: loss %f" % (it, steps, loss))
        return history


@program(normal(4, 5), normal(5, 3), X, LABELS)
def two_layer_net_trained_on_batches(W1, W2, x, y):
    net = TwoLayers(W1, W2)
    history = net.train(x, y, 0.1, 2, verbose=True)
    return net.loss(x, y)[0] + sum(history)


@program(normal(4, 5), normal(5, 3), X, LABELS)
def normalized_layers_with_settings(W1, W2, x, y):
    settings = [{"mode": "train", "momentum": 0.8}]
    state = {}

    def normalize(x, param, eps=1e-5):
        momentum = param.get("momentum", 0.9)
        mean = state.get("mean", np.zeros(x.shape[1], dtype=x.dtype))
        if param["mode"] == "train":
            out = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps)
            state["mean"] = momentum * mean + (1 - momentum) * x.mean(axis=0)
        else:
            out = x - mean
        return out.astype(x.dtype, copy=False)

    h = x
    for i, W in enumerate([W1, W2]):
        h = h @ W
        if i < 1:
            h = np.tanh(normalize(h, settings[i]))
    settings[0]["mode"] = "test"
    p = softmax_rows(h)
    return -np.log(p[np.arange(len(y)), y]).mean() + normalize(x @ W1, settings[0]).sum()


@program([0, 2, 3, 1], [2, 3, 1, 4], np.zeros((3, 1)), normal(3, 5), normal(3, 3), normal(5, 3))
def character_model_in_dicts(inputs, targets, previous, Wxh, Whh, Why):
    xs, hs, ps = {}, {}, {}
    hs[-1] = np.copy(previous)
    loss = 0
    for t in range(len(inputs)):
        xs[t] = np.zeros((5, 1))
        xs[t][inputs[t]] = 1
        hs[t] = np.tanh(Wxh @ xs[t] + Whh @ hs[t - 1])
        y = Why @ hs[t]
        ps[t] = np.exp(y) / np.sum(np.exp(y))
        loss += -np.log(ps[t][targets[t], 0])
    d_next = np.zeros_like(hs[0])
    d_Whh = np.zeros_like(Whh)
    for t in reversed(range(len(inputs))):
        d_y = np.copy(ps[t])
        d_y[targets[t]] -= 1
        d_raw = (1 - hs[t] * hs[t]) * (Why.T @ d_y + d_next)
        d_Whh += d_raw @ hs[t - 1].T
        d_next = Whh.T @ d_raw
    return loss + np.sum(d_Whh**2)


@program(normal(3, 4), normal(4, 12), normal(4, 4))
def causal_heads_by_split(x, W, Wo):
    heads = list(map(lambda part: np.split(part, 2, axis=-1), np.split(x @ W, 3, axis=-1)))
    mask = (1 - np.tri(x.shape[0])) * -1e10
    out = [softmax_rows(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v for q, k, v in zip(*heads)]
    return np.sum((np.hstack(out) @ Wo) ** 2)


def waves(length, width):
    table = np.zeros((length, width))
    position = np.arange(length)[:, np.newaxis]
    rate = np.exp(np.arange(0, width, 2) * -(math.log(10000.0) / width))
    table[:, 0::2] = np.sin(position * rate)
    table[:, 1::2] = np.cos(position * rate)
    return table[np.newaxis]


class Heads:
    def __init__(self, count, weights):
        self.count = count
        for name, W in weights.items():
            setattr(self, name, W)

    def split(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, self.count, width // self.count).transpose(0, 2, 1, 3)

    def __call__(self, x, mask=None):
        q, k, v = (self.split(x @ W) for W in (self.query, self.key, self.value))
        scores = np.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask == 0, -1e9, scores)
        self.attention = softmax_rows(scores)
        return np.matmul(self.attention, v).transpose(0, 2, 1, 3).reshape(x.shape)


@program(normal(2, 3, 4), {"query": normal(4, 4), "key": normal(4, 4), "value": normal(4, 4)})
def heads_with_attributes_by_name(x, weights):
    heads = Heads(2, weights)
    y = heads(x + waves(3, 4), mask=np.tril(np.ones((3, 3))))
    return (y**2).mean() + heads.attention[0, 0, 2, 0]


def patch_indices(channels, height, width, size):
    i = np.repeat(np.arange(size), size)
    rows = np.tile(i, channels).reshape(-1, 1) + np.repeat(np.arange(height), width).reshape(1, -1)
    columns = np.tile(np.arange(size), size * channels).reshape(-1, 1)
    columns = columns + np.tile(np.arange(width), height).reshape(1, -1)
    return np.repeat(np.arange(channels), size * size).reshape(-1, 1), rows, columns


@program(normal(2, 2, 4, 4), normal(3, 2, 3, 3), normal(3))
def convolution_by_gathered_columns(x, w, b):
    n = x.shape[0]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="constant")
    k, i, j = patch_indices(2, 4, 4, 3)
    columns = padded[:, k, i, j].transpose(1, 2, 0).reshape(18, -1)
    out = np.maximum(0, w.reshape(3, -1).dot(columns) + b.reshape(-1, 1))
    back = np.zeros_like(padded)
    spread = w.reshape(3, -1).T.dot(out).reshape(18, -1, n).transpose(2, 0, 1)
    np.add.at(back, (slice(None), k, i, j), spread)
    return (out**2).sum() + np.sin(back[:, :, 1:-1, 1:-1]).sum()


@program(normal(4), X, X @ np.ones(4))
def printed_descent_with_patience(w, x, y):
    best_loss, best_w, waited, costs = np.inf, None, 0, []
    for epoch in range(5):
        residual = x @ w - y
        w = w - 0.1 * 2 * x.T @ residual / len(y)
        cost = np.squeeze(np.mean(residual**2, keepdims=True))
        costs.append(cost)
        if epoch % 2 == 0:
            print("cost after epoch {}: {:.4f}".format(epoch, cost))
        if cost < best_loss - 1e-4:
            best_loss, best_w, waited = cost, w.copy(), 0
        else:
            waited += 1
            if waited >= 2:
                break
    return np.sum(best_w**2) + costs[-1]


class Adam:
    def __init__(self, params, rate=0.1, beta1=0.9, beta2=0.999):
        self.rate, self.beta1, self.beta2 = rate, beta1, beta2
        self.m = {name: np.zeros_like(p) for name, p in params.items()}
        self.v = {name: np.zeros_like(p) for name, p in params.items()}
        self.t = 0

    def update(self, params, grads):
        self.t += 1
        for name in params.keys():
            self.m[name] = self.beta1 * self.m[name] + (1 - self.beta1) * grads[name]
            self.v[name] = self.beta2 * self.v[name] + (1 - self.beta2) * grads[name] ** 2
            m = self.m[name] / (1 - self.beta1**self.t)
            v = self.v[name] / (1 - self.beta2**self.t)
            params[name] = params[name] - self.rate * m / (np.sqrt(v) + 1e-3)
        return params


@program({"W": normal(4, 2), "b": normal(2)}, X, normal(6, 2))
def adam_over_a_dict(params, x, y):
    optimizer = Adam(params)
    for _ in range(3):
        error = x @ params["W"] + params["b"] - y
        grads = {"W": 2 * x.T @ error / len(x), "b": 2 * error.mean(axis=0)}
        params = optimizer.update(params, grads)
    return np.mean((x @ params["W"] + params["b"] - y) ** 2)


def momentum(rate, mass=0.9):
    def start(params):
        return params, [np.zeros_like(p) for p in params]

    def update(grads, state):
        params, velocity = state
        velocity = [mass * v + g for v, g in zip(velocity, grads)]
        return [p - rate * v for p, v in zip(params, velocity)], velocity

    return start, update, lambda state: state[0]


@program([normal(4, 2), normal(2)], X, normal(6, 2))
def momentum_by_closures(params, x, y):
    start, update, params_of = momentum(0.1)
    state = start(params)
    for _ in range(3):
        W, b = params_of(state)
        error = x @ W + b - y
        state = update([x.T @ error / len(x), error.mean(0)], state)
    W, b = params_of(state)
    return np.sum((x @ W + b - y) ** 2)


@program(normal(4, 3), normal(3, 4))
def skip_grams_over_a_vocabulary(W1, W2):
    words = ["we", "like", "deep", "nets", "like", "we"]
    vocabulary = sorted(set(words))
    index = {word: i for i, word in enumerate(vocabulary)}
    tokens = [index[word] for word in words]
    loss, pairs = 0, 0
    for i in range(len(tokens)):
        for j in range(max(0, i - 2), min(len(tokens), i + 3)):
            if i == j:
                continue
            u = W1[tokens[i]] @ W2
            loss -= u[tokens[j]] - np.log(np.sum(np.exp(u)))
            pairs += 1
    return loss / pairs


ACTIVATIONS = {"relu": lambda z: np.maximum(0, z), "tanh": np.tanh, "none": lambda z: z}


@program([normal(4, 5), normal(5, 3), normal(3, 1)], X)
def activations_by_name(weights, x):
    cache = {"A0": x}
    for i, (W, kind) in enumerate(zip(weights, ["relu", "tanh", "none"])):
        cache[f"Z{i + 1}"] = cache[f"A{i}"] @ W
        cache[f"A{i + 1}"] = ACTIVATIONS[kind](cache[f"Z{i + 1}"])
    return cache[f"A{len(weights)}"].mean()


@program(normal(4, 2), 0.9)
def policy_gradient_in_a_corridor(theta, discount):
    draws = np.random.default_rng(3)
    total = 0.0
    for _ in range(2):
        s, steps, done = 0, 0, False
        log_p, rewards = [], []
        while not done and steps < 6:
            p = softmax_rows(theta[s])
            a = 0 if draws.random() < 0.5 else 1
            log_p.append(np.log(p[a]))
            s = max(0, s - 1) if a == 0 else s + 1
            done = s == 3
            rewards.append(1.0 if done else -0.1)
            steps += 1
        G, returns = 0, []
        for r in rewards[::-1]:
            G = r + discount * G
            returns.insert(0, G)
        for lp, G in zip(log_p, returns):
            total += -lp * G
    return total


@program(normal(2, 4, 4), normal(2, 4, 4), X)
def coupling_flow(S, T, x):
    log_det = np.zeros(x.shape[0])
    z = x
    for mask, s_w, t_w in zip([np.array([1.0, 0, 1, 0]), np.array([0, 1.0, 0, 1])], S, T):
        kept = z * mask
        s = np.tanh(kept @ s_w) * (1 - mask)
        z = kept + (1 - mask) * (z * np.exp(s) + kept @ t_w)
        log_det += s.sum(axis=-1)
    prior = -0.5 * np.sum(z**2 + np.log(2 * np.pi), axis=1)
    return -(prior + log_det).mean()


@program(normal(5, 3), normal(3, 2), normal(4))
def graph_attention(x, W, a):
    neighbours = {0: [0, 1, 4], 1: [0, 1, 2], 2: [1, 2, 3], 3: [2, 3, 4], 4: [0, 3, 4]}
    h = x @ W
    out = []
    for node, others in neighbours.items():
        scores = []
        for other in others:
            e = np.concatenate([h[node], h[other]]) @ a
            scores.append(e if e > 0 else 0.2 * e)
        weights = softmax_rows(np.array(scores))
        out.append(np.sum([w * h[o] for w, o in zip(weights, others)], axis=0))
    return np.tanh(np.array(out)).sum()


@program(normal(3, 4), normal(4))
def greedy_values(rewards, values):
    chances = np.random.default_rng(0).dirichlet(np.ones(4), size=(4, 3))
    while True:
        q = rewards.T + 0.9 * chances @ values
        new = q.max(axis=1)
        change = np.max(np.abs(new - values))
        values = new
        if change < 0.5:
            break
    policy = np.argmax(q, axis=1)
    return values.sum() + q[range(4), policy].sum()


class Pole:
    gravity, cart, pole, length, tau = 9.8, 1.0, 0.1, 0.5, 0.02

    def __init__(self, force=10.0):
        self.force = force
        self.state = None

    def reset(self, seed=None):
        draws = np.random.default_rng(seed)
        self.state = draws.uniform(low=-0.05, high=0.05, size=(4,))
        return np.array(self.state)

    def step(self, u):
        assert self.state is not None, "reset first"
        x, v, angle, spin = self.state
        force = self.force * np.tanh(u)
        total, moment = self.cart + self.pole, self.pole * self.length
        push = (force + moment * np.square(spin) * np.sin(angle)) / total
        turn = (self.gravity * np.sin(angle) - np.cos(angle) * push) / (
            self.length * (4.0 / 3.0 - self.pole * np.square(np.cos(angle)) / total)
        )
        move = push - moment * turn * np.cos(angle) / total
        self.state = (x + self.tau * v, v + self.tau * move, angle + self.tau * spin,
                      spin + self.tau * turn)  # fmt: skip
        done = bool(abs(angle) > 0.2)
        return np.array(self.state, dtype=np.float64), 1.0 - angle**2, done, {}


@program(normal(4), 8.0)
def balanced_pole(w, force):
    env = Pole(force)
    obs, total = env.reset(seed=0), 0
    for _ in range(8):
        obs, reward, done, _info = env.step(w @ obs)
        total += reward
        if done:
            break
    return total


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
