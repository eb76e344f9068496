"""Networks that are trained: gradients by hand, batches, optimizers with state, printed losses."""

from collections import OrderedDict

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(21)
X = rng.normal(size=(6, 4))
LABELS = np.array([0, 2, 1, 1, 0, 2])


def normal(*shape):
    return 0.5 * rng.normal(size=shape)


def softmax_rows(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


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
