"""Machine learning: dense, convolutional, graph and flow networks, their losses."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(10)


X = rng.normal(size=(5, 3))


Y = rng.normal(size=(5, 2))


def normal(*shape):
    return 0.5 * rng.normal(size=shape)


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def relu(z):
    return np.maximum(z, 0)


def softmax(z, axis=-1):
    e = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@program([(normal(3, 4), normal(4)), (normal(4, 2), normal(2))], X, Y)
def mlp_list_of_layers(params, x, y):
    h = x
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    out = h @ W + b
    return np.mean((out - y) ** 2)


@program({"W1": normal(4, 3), "b1": normal(4), "W2": normal(2, 4), "b2": normal(2)}, X[0], Y[0])
def mlp_dict_of_parameters(p, x, y):
    z1 = p["W1"].dot(x) + p["b1"]
    a1 = sigmoid(z1)
    z2 = p["W2"].dot(a1) + p["b2"]
    loss = 0.5 * np.sum((z2 - y) ** 2)
    for name, value in p.items():
        if name.startswith("W"):
            loss += 0.01 * np.sum(value**2)
    return loss


@program(normal(3, 4), normal(4, 2), X, np.array([0, 1, 1, 0, 1]))
def cross_entropy_indexing(W1, W2, x, labels):
    h = relu(x @ W1)
    logits = h @ W2
    p = softmax(logits)
    n = len(labels)
    return -np.sum(np.log(p[np.arange(n), labels])) / n


@program(normal(3, 2), X, [0, 1, 1, 0, 1])
def cross_entropy_loop(W, x, labels):
    loss = 0.0
    for xi, c in zip(x, labels):
        z = xi @ W
        m = z.max()
        loss += m + np.log(np.sum(np.exp(z - m))) - z[c]
    return loss / len(labels)


class Dense:
    def __init__(self, W, b, activation=None):
        self.W, self.b = W, b
        self.activation = activation

    def __call__(self, x):
        z = x @ self.W + self.b
        return z if self.activation is None else self.activation(z)


class Sequential:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@program(normal(3, 4), normal(4), normal(4, 2), normal(2), X)
def sequential_of_layer_objects(W1, b1, W2, b2, x):
    model = Sequential(Dense(W1, b1, np.tanh), Dense(W2, b2))
    return np.sum(model(x) ** 2)


@program(normal(3, 3), X)
def composed_by_reduce(W, x):
    layers = [lambda h: h @ W, np.tanh, lambda h: h - h.mean(axis=0), sigmoid]
    return reduce(lambda h, layer: layer(h), layers, x).sum()


@program(normal(6, 6), normal(3, 3))
def convolution_layer_loops(image, kernel):
    H, W = image.shape
    padded = np.zeros((H + 2, W + 2))
    padded[1:-1, 1:-1] = image
    out = np.zeros((H, W))
    for i in range(H):
        for j in range(W):
            for a in range(3):
                for b in range(3):
                    out[i, j] += padded[i + a, j + b] * kernel[a, b]
    return relu(out).sum()


@program(normal(2, 2, 6, 6), normal(3, 2, 3, 3), normal(3))
def convolution_channels(x, w, b):
    N, _C, H, W = x.shape
    F, _, k, _ = w.shape
    out = np.zeros((N, F, H - k + 1, W - k + 1))
    for n in range(N):
        for f in range(F):
            for i in range(H - k + 1):
                for j in range(W - k + 1):
                    out[n, f, i, j] = np.sum(x[n, :, i : i + k, j : j + k] * w[f]) + b[f]
    return np.tanh(out).sum()


@program(
    normal(1, 6, 6),
    normal(2, 1, 3, 3),
)
def convolution_kernel_shift(x, w):
    """The loop runs over the kernel, each iteration a slice of the whole image."""
    F, _C, k, _ = w.shape
    H, W = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.zeros((F, H, W))
    for di in range(k):
        for dj in range(k):
            patch = x[:, di : di + H, dj : dj + W]
            out += np.tensordot(w[:, :, di, dj], patch, axes=1)
    return (out**2).mean()


@program(normal(4, 6))
def max_pooling_loops(x):
    H, W = x.shape
    out = np.zeros((H // 2, W // 2))
    for i in range(H // 2):
        for j in range(W // 2):
            out[i, j] = np.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return (out**2).sum()


@program(normal(4, 6))
def max_pooling_scalar(x):
    H, W = x.shape
    total = 0.0
    for i in range(0, H, 2):
        for j in range(0, W, 2):
            best = x[i, j]
            for di in range(2):
                for dj in range(2):
                    if x[i + di, j + dj] > best:
                        best = x[i + di, j + dj]
            total += best**2
    return total


@program(normal(4, 6))
def max_pooling_reshape(x):
    H, W = x.shape
    return (x.reshape(H // 2, 2, W // 2, 2).max(axis=(1, 3)) ** 2).sum()


@program(normal(6, 3), np.array([1.0, 1.2, 0.8]), normal(3))
def batch_norm_training(x, gamma, beta):
    mu = x.mean(axis=0)
    var = x.var(axis=0)
    xhat = (x - mu) / np.sqrt(var + 1e-5)
    running = {"mean": 0.1 * mu, "var": 0.1 * var}
    out = gamma * xhat + beta
    return np.sum(out**3) + running["mean"].sum() + running["var"].sum()


@program(normal(4, 5), np.ones(5), normal(5))
def layer_norm(x, g, b):
    out = np.empty_like(x)
    for i in range(len(x)):
        m = np.mean(x[i])
        s = np.std(x[i])
        out[i] = g * (x[i] - m) / (s + 1e-5) + b
    return np.sum(np.tanh(out))


@program(
    normal(5, 3),
    normal(3),
    np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]]),
)
def graph_network(x, w, adjacency):
    n = x.shape[0]
    h = x
    neighbours = {0: [1, 2], 1: [0, 3], 2: [0], 3: [1, 4], 4: [3]}
    for layer in range(2):
        new = np.zeros_like(h)
        for i in range(n):
            for j in neighbours[i]:
                new[i] += h[j] / len(neighbours[i])
        h = np.tanh(h + new)
    return h @ w


@program(normal(2, 5), X[:, :2].copy(), normal(5))
def radial_basis_network(centers, x, weights):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(centers.shape[1]):
            out[i] += weights[j] * np.exp(-np.sum((x[i] - centers[:, j]) ** 2))
    return out


@program(normal(3), X, np.sign(Y[:, 0]))
def svm_hinge(w, x, y):
    loss = 0.5 * np.dot(w, w)
    for i in range(len(y)):
        margin = y[i] * np.dot(w, x[i])
        if margin < 1:
            loss += 1 - margin
    return loss


@program(normal(3, 2), X, Y, 0.1)
def unrolled_momentum_training(W, x, y, lr):
    velocity = np.zeros_like(W)
    for epoch in range(3):
        error = x @ W - y
        grad = 2 * x.T @ error / len(x)
        velocity = 0.9 * velocity - lr * grad
        W = W + velocity
    return np.mean((x @ W - y) ** 2)


@program(normal(3), X, Y[:, 0], 0.05)
def unrolled_adam(w, x, y, lr):
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t in range(1, 4):
        g = x.T @ (x @ w - y)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        m_hat = m / (1 - 0.9**t)
        v_hat = v / (1 - 0.99**t)
        w = w - lr * m_hat / (np.sqrt(v_hat) + 1e-8)
    return np.sum((x @ w - y) ** 2)


@dataclass
class Config:
    rate: float = 0.5
    steps: int = 3
    kind: str = "gelu"


@program(normal(3), Config())
def configured_activation(x, config):
    for _ in range(config.steps):
        if config.kind == "gelu":
            x = 0.5 * x * (1 + np.tanh(0.8 * (x + 0.04 * x**3)))
        elif config.kind == "silu":
            x = x * sigmoid(x)
        else:
            raise ValueError(config.kind)
        x = x * (1 - config.rate) + config.rate
    return x


@program(normal(4, 3), rng.uniform(size=(4, 3)))
def dropout_with_given_draws(x, u):
    keep = 0.8
    mask = (u < keep) / keep
    return np.sum((x * mask) ** 2)


@program(normal(4), normal(4, 2), normal(2), rng.normal(size=(3, 2)))
def variational_autoencoder(x, We, be, noise):
    mu = x @ We + be
    logvar = 0.1 * (x @ We) ** 2
    total = 0.0
    for e in noise:
        z = mu + np.exp(0.5 * logvar) * e
        recon = np.tanh(z @ We.T)
        total += np.sum((recon - x) ** 2)
    kl = -0.5 * np.sum(1 + logvar - mu**2 - np.exp(logvar))
    return total / len(noise) + kl


@program(normal(6, 2), 1.0)
def contrastive_loss(z, temperature):
    z = z / np.sqrt(np.sum(z**2, axis=1, keepdims=True))
    n = len(z)
    loss = 0.0
    for i in range(n):
        pos = i + 1 if i % 2 == 0 else i - 1
        num = np.exp(z[i] @ z[pos] / temperature)
        den = 0.0
        for j in range(n):
            if j == i:
                continue
            den += np.exp(z[i] @ z[j] / temperature)
        loss -= np.log(num / den)
    return loss / n


@program(normal(3, 4), normal(4, 3), X)
def residual_blocks_with_closures(W1, W2, x):
    def block(scale):
        def apply(h):
            return h + scale * (relu(h @ W1) @ W2)

        return apply

    blocks = [block(0.5), block(0.25)]
    for b in blocks:
        x = b(x)
    return x.sum()


@program(normal(7, 2), normal(2), 0.2)
def decision_tree_soft(x, w, threshold):
    def leaf(i):
        return 0.3 * i - 0.5

    def node(v, depth, index):
        if depth == 0:
            return leaf(index)
        p = sigmoid(v @ w - threshold * depth)
        return p * node(v, depth - 1, 2 * index) + (1 - p) * node(v, depth - 1, 2 * index + 1)

    return np.array([node(v, 2, 1) for v in x])


def sigmoid_and_input(z):
    return 1 / (1 + np.exp(-z)), z


def relu_and_input(z):
    return np.maximum(0, z), z


@program(normal(15), normal(4, 6), np.array([[1.0, 0.0, 1.0, 1.0, 0.0, 0.0]]))
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
        a, cache = relu_and_input(z) if layer < len(dims) - 1 else sigmoid_and_input(z)
        caches.append((W, b, cache))
    cost = -(np.dot(y, np.log(a).T) + np.dot(1 - y, np.log(1 - a).T)) / y.shape[1]
    return np.squeeze(cost) + 0.01 * np.sum(caches[0][2] ** 2)


@program(normal(4, 5), normal(5, 3), normal(6, 4), np.array([0, 2, 1, 1, 0, 2]))
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
    p = softmax(h)
    return -np.log(p[np.arange(len(y)), y]).mean() + normalize(x @ W1, settings[0]).sum()


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


ACTIVATIONS = {"relu": lambda z: np.maximum(0, z), "tanh": np.tanh, "none": lambda z: z}


@program([normal(4, 5), normal(5, 3), normal(3, 1)], normal(6, 4))
def activations_by_name(weights, x):
    cache = {"A0": x}
    for i, (W, kind) in enumerate(zip(weights, ["relu", "tanh", "none"])):
        cache[f"Z{i + 1}"] = cache[f"A{i}"] @ W
        cache[f"A{i + 1}"] = ACTIVATIONS[kind](cache[f"Z{i + 1}"])
    return cache[f"A{len(weights)}"].mean()


@program(normal(2, 4, 4), normal(2, 4, 4), normal(6, 4))
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
        weights = softmax(np.array(scores))
        out.append(np.sum([w * h[o] for w, o in zip(weights, others)], axis=0))
    return np.tanh(np.array(out)).sum()


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
