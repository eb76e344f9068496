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
