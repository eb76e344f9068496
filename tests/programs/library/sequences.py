"""Machine learning over sequences: recurrent networks and attention."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(10)


X = rng.normal(size=(5, 3))


Y = rng.normal(size=(5, 2))


def normal(*shape):
    return 0.5 * rng.normal(size=shape)


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def softmax(z, axis=-1):
    e = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@program(
    normal(4, 4),
    normal(4, 3),
    normal(4),
    list(normal(5, 3)),
    normal(4),
)
def vanilla_rnn(Wh, Wx, b, xs, h):
    hs = {}
    hs[-1] = h
    for t in range(len(xs)):
        hs[t] = np.tanh(Wh @ hs[t - 1] + Wx @ xs[t] + b)
    return np.sum(hs[len(xs) - 1] ** 2)


@program(normal(3, 5), normal(5, 5), normal(5, 3), [0, 2, 1, 1, 0])
def character_rnn_loss(Wxh, Whh, Why, text):
    """After min-char-rnn: one-hot inputs, loss summed over the steps."""
    h = np.zeros(5)
    loss = 0
    for t in range(len(text) - 1):
        x = np.zeros(3)
        x[text[t]] = 1
        h = np.tanh(x @ Wxh + h @ Whh)
        y = h @ Why
        p = np.exp(y) / np.sum(np.exp(y))
        loss += -np.log(p[text[t + 1]])
    return loss


@program(normal(12, 6), normal(12), normal(4, 3))
def lstm_slices(W, b, xs):
    H = 3
    h, c = np.zeros(H), np.zeros(H)
    for x in xs:
        z = W @ np.concatenate([x, h]) + b
        i = sigmoid(z[:H])
        f = sigmoid(z[H : 2 * H])
        o = sigmoid(z[2 * H : 3 * H])
        g = np.tanh(z[3 * H :])
        c = f * c + i * g
        h = o * np.tanh(c)
    return h.sum()


def lstm_cell(x, state, params):
    h, c = state
    gates = x @ params["Wx"] + h @ params["Wh"] + params["b"]
    i, f, g, o = np.split(gates, 4)
    c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return h, (h, c)


@program(
    {"Wx": normal(3, 8), "Wh": normal(2, 8), "b": normal(8)},
    normal(4, 3),
)
def lstm_with_cell_function(params, xs):
    state = (np.zeros(2), np.zeros(2))
    outputs = []
    for x in xs:
        y, state = lstm_cell(x, state, params)
        outputs.append(y)
    return np.stack(outputs)


@program(normal(3, 3, 4), normal(3, 4, 4), normal(5, 3))
def gru(W, U, xs):
    h = np.zeros(4)
    for x in xs:
        z = sigmoid(x @ W[0] + h @ U[0])
        r = sigmoid(x @ W[1] + h @ U[1])
        n = np.tanh(x @ W[2] + (r * h) @ U[2])
        h = (1 - z) * n + z * h
    return h


@program(normal(4, 3), normal(4, 3), normal(4, 2))
def attention(Q, K, V):
    d = Q.shape[-1]
    scores = Q @ K.T / np.sqrt(d)
    weights = softmax(scores)
    return weights @ V


@program(
    normal(4, 6),
    normal(6, 18),
    normal(6, 6),
)
def causal_multi_head_attention(x, Wqkv, Wo, heads=2):
    n, d = x.shape
    qkv = x @ Wqkv
    q, k, v = qkv[:, :d], qkv[:, d : 2 * d], qkv[:, 2 * d :]
    dh = d // heads
    out = np.zeros((n, d))
    mask = np.triu(np.ones((n, n)), 1) * -1e9
    for h in range(heads):
        s = slice(h * dh, (h + 1) * dh)
        a = softmax(q[:, s] @ k[:, s].T / math.sqrt(dh) + mask)
        out[:, s] = a @ v[:, s]
    return out @ Wo


@program(normal(4, 4), normal(4, 4), normal(4, 4), normal(4, 4))
def attention_by_loops(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    out = []
    for i in range(len(x)):
        scores = []
        for j in range(i + 1):
            scores.append(q[i] @ k[j])
        scores = np.array(scores)
        w = np.exp(scores - np.max(scores))
        w = w / np.sum(w)
        acc = np.zeros(4)
        for j in range(i + 1):
            acc = acc + w[j] * v[j]
        out.append(acc)
    return np.array(out)


@program(normal(5, 3), normal(3), np.array([1, 4, 1, 0]))
def embedding_bag(table, w, ids):
    total = np.zeros(3)
    for i in ids:
        total += table[i]
    return sigmoid(total / len(ids) @ w)


@program(normal(5, 3), normal(5, 3))
def skip_gram_negative_sampling(center, context):
    pairs = [(0, 1, [2, 3]), (1, 2, [4, 0]), (3, 4, [1, 1])]
    loss = 0.0
    for c, o, negatives in pairs:
        loss -= np.log(sigmoid(center[c] @ context[o]))
        for n in negatives:
            loss -= np.log(sigmoid(-center[c] @ context[n]))
    return loss


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
    out = [softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v for q, k, v in zip(*heads)]
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
        self.attention = softmax(scores)
        return np.matmul(self.attention, v).transpose(0, 2, 1, 3).reshape(x.shape)


@program(normal(2, 3, 4), {"query": normal(4, 4), "key": normal(4, 4), "value": normal(4, 4)})
def heads_with_attributes_by_name(x, weights):
    heads = Heads(2, weights)
    y = heads(x + waves(3, 4), mask=np.tril(np.ones((3, 3))))
    return (y**2).mean() + heads.attention[0, 0, 2, 0]


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
