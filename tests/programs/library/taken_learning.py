"""Learning as it is found in books and repositories: layers that keep what backward needs,
optimisers that keep state on the layers, parameters in nested dicts, caches in tuples."""

from collections import OrderedDict

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(47)


def logistic(z):
    return 1.0 / (1.0 + np.exp(-z))


class SizedNetwork:
    """Layers by a list of sizes; gradients of all weights by hand, from behind."""

    def __init__(self, sizes):
        draws = np.random.default_rng(3)
        self.depth = len(sizes)
        self.biases = [np.zeros((n, 1)) for n in sizes[1:]]
        self.weights = [draws.normal(size=(n, m)) for m, n in zip(sizes[:-1], sizes[1:])]

    def outputs(self, x):
        inputs, sums = [x], []
        for b, w in zip(self.biases, self.weights):
            sums.append(np.dot(w, inputs[-1]) + b)
            inputs.append(logistic(sums[-1]))
        return inputs, sums

    def gradients(self, x, y):
        d_biases = [np.zeros(b.shape) for b in self.biases]
        d_weights = [np.zeros(w.shape) for w in self.weights]
        inputs, sums = self.outputs(x)
        delta = (inputs[-1] - y) * logistic(sums[-1]) * (1 - logistic(sums[-1]))
        d_biases[-1] = delta
        d_weights[-1] = np.dot(delta, inputs[-2].transpose())
        for layer in range(2, self.depth):
            slope = logistic(sums[-layer]) * (1 - logistic(sums[-layer]))
            delta = np.dot(self.weights[-layer + 1].transpose(), delta) * slope
            d_biases[-layer] = delta
            d_weights[-layer] = np.dot(delta, inputs[-layer - 1].transpose())
        return d_biases, d_weights

    def learn(self, batch, rate):
        total_b = [np.zeros(b.shape) for b in self.biases]
        total_w = [np.zeros(w.shape) for w in self.weights]
        for x, y in batch:
            d_biases, d_weights = self.gradients(x, y)
            total_b = [t + d for t, d in zip(total_b, d_biases)]
            total_w = [t + d for t, d in zip(total_w, d_weights)]
        self.weights = [w - rate / len(batch) * t for w, t in zip(self.weights, total_w)]
        self.biases = [b - rate / len(batch) * t for b, t in zip(self.biases, total_b)]


@program(rng.normal(size=(3, 1)), 0.5, order=1)
def network_by_sizes(x, rate):
    network = SizedNetwork([3, 4, 2])
    data = [(x, np.array([[1.0], [0.0]])), (x**2, np.array([[0.0], [1.0]])), (np.sin(x), 0.5)]
    for epoch in range(2):
        batches = [data[k : k + 2] for k in range(0, len(data), 2)]
        for batch in batches:
            network.learn(batch, rate)
        print("epoch {} done".format(epoch))
    return np.sum(network.outputs(x)[0][-1])


class Dense:
    def __init__(self, inputs, units):
        self.weights = 0.1 * np.random.default_rng(inputs).normal(size=(inputs, units))
        self.bias = np.zeros((1, units))

    def forward(self, x):
        self.x = x
        self.out = np.dot(x, self.weights) + self.bias

    def backward(self, d_out):
        self.d_weights = np.dot(self.x.T, d_out)
        self.d_bias = np.sum(d_out, axis=0, keepdims=True)
        self.d_x = np.dot(d_out, self.weights.T)


class Rectifier:
    def forward(self, x):
        self.x = x
        self.out = np.maximum(0, x)

    def backward(self, d_out):
        self.d_x = d_out.copy()
        self.d_x[self.x <= 0] = 0


class RootMeanSquares:
    """State is kept on the layers, which have none at first."""

    def __init__(self, rate, decay=0.01):
        self.rate, self.decay, self.steps = rate, decay, 0

    def update(self, layer):
        if not hasattr(layer, "squares"):
            layer.squares = np.zeros_like(layer.weights)
        layer.squares = 0.9 * layer.squares + 0.1 * layer.d_weights**2
        rate = self.rate / (1.0 + self.decay * self.steps)
        layer.weights += -rate * layer.d_weights / (np.sqrt(layer.squares) + 1e-3)
        layer.bias -= rate * layer.d_bias


@program(rng.normal(size=(5, 2)), 0.05, np.array([0, 1, 2, 1, 0]), order=1)
def layers_with_state_of_the_optimiser(x, rate, labels):
    first, rectifier, last = Dense(2, 6), Rectifier(), Dense(6, 3)
    optimiser = RootMeanSquares(rate)
    for epoch in range(3):
        first.forward(x)
        rectifier.forward(first.out)
        last.forward(rectifier.out)
        shifted = np.exp(last.out - np.max(last.out, axis=1, keepdims=True))
        scores = shifted / np.sum(shifted, axis=1, keepdims=True)
        loss = np.mean(-np.log(np.clip(scores[range(len(x)), labels], 1e-7, 1 - 1e-7)))
        accuracy = np.mean(np.argmax(scores, axis=1) == labels)
        if not epoch % 2:
            print(f"epoch: {epoch}, acc: {accuracy:.3f}, " + f"loss: {loss:.3f}")
        d_scores = scores.copy()
        d_scores[range(len(x)), labels] -= 1
        last.backward(d_scores / len(x))
        rectifier.backward(last.d_x)
        first.backward(rectifier.d_x)
        optimiser.update(first)
        optimiser.update(last)
        optimiser.steps += 1
    return loss


def normalized(x, gamma, beta, eps=1e-5):
    centered = x - np.mean(x, axis=-1, keepdims=True)
    return gamma * centered / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps) + beta


def affine(x, w, b):
    return x @ w + b


def heads_of(x, qkv, out, count):
    parts = np.split(affine(x, **qkv), 3, axis=-1)
    parts = list(map(lambda part: np.split(part, count, axis=-1), parts))
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    outputs = []
    for q, k, v in zip(*parts):
        scores = np.exp(q @ k.T / np.sqrt(q.shape[-1]) + mask)
        outputs.append(scores / np.sum(scores, axis=-1, keepdims=True) @ v)
    return affine(np.hstack(outputs), **out)


def block_of(x, heads, dense, norm, count):
    x = x + heads_of(normalized(x, **norm), **heads, count=count)
    return x + affine(np.tanh(affine(x, **dense["up"])), **dense["down"])


def random_affine(inputs, outputs):
    return {"w": rng.normal(size=(inputs, outputs)) * 0.4, "b": np.zeros(outputs)}


SMALL_MODEL = {
    "tokens": rng.normal(size=(5, 4)),
    "places": rng.normal(size=(6, 4)),
    "blocks": [
        {
            "heads": {"qkv": random_affine(4, 12), "out": random_affine(4, 4)},
            "dense": {"up": random_affine(4, 5), "down": random_affine(5, 4)},
            "norm": {"gamma": np.ones(4), "beta": np.zeros(4)},
        }
        for _ in range(2)
    ],
}


@program([1, 3, 2, 0], SMALL_MODEL, order=1)
def model_of_nested_dicts(words, model):
    given, wanted = words[:-1], words[1:]
    x = model["tokens"][given] + model["places"][range(len(given))]
    for block in model["blocks"]:
        x = block_of(x, **block, count=2)
    logits = x @ model["tokens"].T
    scores = np.exp(logits) / np.sum(np.exp(logits), axis=-1, keepdims=True)
    return np.mean(-np.log(scores[range(len(wanted)), wanted]))


def entropy_of(y, t):
    if y.ndim == 1:
        t, y = t.reshape(1, t.size), y.reshape(1, y.size)
    if t.size == y.size:
        t = t.argmax(axis=1)
    count = y.shape[0]
    return -np.sum(np.log(y[np.arange(count), t] + 1e-7)) / count


@program(rng.normal(size=(4, 3)), np.array([0, 2, 1, 1]))
def loss_of_labels_or_rows(x, t):
    y = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    return entropy_of(y, t) + entropy_of(y**2, np.eye(3, dtype=int)[[1, 0, 2, 1]])


class Momentum:
    def __init__(self, rate=0.1, momentum=0.9):
        self.rate, self.momentum, self.velocity = rate, momentum, None

    def update(self, parameters, gradients):
        if self.velocity is None:
            self.velocity = {}
            for key, value in parameters.items():
                self.velocity[key] = np.zeros_like(value)
        for key in parameters.keys():
            step = self.rate * gradients[key]
            self.velocity[key] = self.momentum * self.velocity[key] - step
            parameters[key] += self.velocity[key]


@program(rng.normal(size=(2, 3)), rng.normal(size=(4, 2)), order=1)
def ordered_layers_run_backwards(w, x):
    parameters = {"W": w, "b": np.zeros(3)}
    momentum = Momentum()
    for _ in range(3):
        layers = OrderedDict()
        layers["affine"] = lambda v: np.dot(v, parameters["W"]) + parameters["b"]
        layers["squash"] = np.tanh
        y, kept = x, []
        for layer in layers.values():
            y = layer(y)
            kept.append(y)
        kept.reverse()
        d = (kept[0] - 0.5) * (1 - kept[0] ** 2)
        momentum.update(parameters, {"W": x.T.dot(d), "b": d.sum(axis=0)})
    return np.sum(parameters["W"] ** 2) + parameters["b"][0]


def one_entropy(distances, beta):
    weights = np.exp(-distances.copy() * beta)
    total = sum(weights)
    return np.log(total) + beta * np.sum(distances * weights) / total, weights / total


@program(rng.normal(size=(4, 2)), order=1)
def neighbours_by_bisected_widths(x):
    n = x.shape[0]
    squares = np.sum(np.square(x), 1)
    distances = np.add(np.add(-2 * np.dot(x, x.T), squares).T, squares)
    chances, beta = np.zeros((n, n)), np.ones((n, 1))
    for i in range(n):
        low, high = -np.inf, np.inf
        others = np.concatenate((np.r_[0:i], np.r_[i + 1 : n]))
        entropy, row = one_entropy(distances[i, others], beta[i])
        for _ in range(3):
            if entropy > 0.5:
                low = beta[i].copy()
                beta[i] = beta[i] * 2.0 if high == np.inf else (beta[i] + high) / 2.0
            else:
                high = beta[i].copy()
                beta[i] = beta[i] / 2.0 if low == -np.inf else (beta[i] + low) / 2.0
            entropy, row = one_entropy(distances[i, others], beta[i])
        chances[i, others] = row
    return chances


@program(rng.normal(size=(6, 2)))
def classes_apart_by_unzipped_columns(x):
    labels = [0, 1, 0, 1, 1, 0]
    scores = {}
    for label in sorted(set(labels)):
        rows = [row for row, known in zip(x, labels) if known == label]
        moments = [(sum(c) / len(c), np.var(c) + 0.1) for c in zip(*rows)]
        scores[label] = [
            sum(-0.5 * (v - m) ** 2 / s - 0.5 * np.log(s) for v, (m, s) in zip(row, moments))
            for row in x
        ]
    return np.array(scores[0]) - np.array(scores[1])
