"""Recursions over tables: alignments, paths, hidden Markov models."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(7)
a5 = rng.normal(size=5)
b4 = rng.normal(size=4)
T3 = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5]])
E3 = np.array([[0.5, 0.5], [0.1, 0.9], [0.8, 0.2]])
pi3 = np.array([0.5, 0.3, 0.2])
observed = [0, 1, 1, 0, 1]


@program(a5, b4)
def dynamic_time_warping(s, t):
    n, m = len(s), len(t)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(s[i - 1] - t[j - 1])
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def softmin(a, b, c, gamma):
    z = np.array([-a / gamma, -b / gamma, -c / gamma])
    m = np.max(z)
    return -gamma * (np.log(np.sum(np.exp(z - m))) + m)


@program(a5, b4, 0.5)
def soft_dynamic_time_warping(x, y, gamma):
    n, m = x.shape[0], y.shape[0]
    R = np.ones((n + 1, m + 1)) * 1e6
    R[0, 0] = 0.0
    for j in range(1, m + 1):
        for i in range(1, n + 1):
            d = (x[i - 1] - y[j - 1]) ** 2
            R[i, j] = d + softmin(R[i - 1, j], R[i, j - 1], R[i - 1, j - 1], gamma)
    return R[n, m]


@program(rng.normal(size=(4, 5)), 0.8)
def needleman_wunsch(score, gap):
    n, m = score.shape
    F = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        F[i, 0] = -gap * i
    for j in range(m + 1):
        F[0, j] = -gap * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = F[i - 1, j - 1] + score[i - 1, j - 1]
            delete = F[i - 1, j] - gap
            insert = F[i, j - 1] - gap
            F[i, j] = max(match, delete, insert)
    return F[n, m]


@program(rng.normal(size=(4, 5)), 0.8)
def smith_waterman(score, gap):
    n, m = score.shape
    H = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            H[i, j] = max(
                0.0, H[i - 1, j - 1] + score[i - 1, j - 1], H[i - 1, j] - gap, H[i, j - 1] - gap
            )
            if H[i, j] > best:
                best = H[i, j]
    return best


@program(1.0, 1.2, 0.9)
def weighted_edit_distance(insert, delete, substitute):
    s, t = "kit", "site"
    previous = [j * insert for j in range(len(t) + 1)]
    for i, cs in enumerate(s, 1):
        current = [i * delete]
        for j, ct in enumerate(t, 1):
            change = previous[j - 1] + (0.0 if cs == ct else substitute)
            current.append(min(previous[j] + delete, current[j - 1] + insert, change))
        previous = current
    return previous[-1]


@program(np.array([1.0, 1.2, 0.9]))
def soft_edit_distance(costs):
    s, t = "abc", "acb"
    n, m = len(s), len(t)
    D = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        D[i, 0] = i * costs[1]
    for j in range(1, m + 1):
        D[0, j] = j * costs[0]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            sub = D[i - 1, j - 1]
            if s[i - 1] != t[j - 1]:
                sub += costs[2]
            D[i, j] = -np.logaddexp(
                -sub, np.logaddexp(-D[i - 1, j] - costs[1], -D[i, j - 1] - costs[0])
            )
    return D[-1, -1]


@program(pi3, T3, E3)
def forward_algorithm(pi, A, B):
    obs = [0, 1, 1, 0, 1]
    n = len(pi)
    alpha = np.zeros((len(obs), n))
    for s in range(n):
        alpha[0, s] = pi[s] * B[s, obs[0]]
    for t in range(1, len(obs)):
        for s in range(n):
            total = 0.0
            for r in range(n):
                total += alpha[t - 1, r] * A[r, s]
            alpha[t, s] = total * B[s, obs[t]]
    return np.log(np.sum(alpha[-1]))


@program(pi3, T3, E3, observed)
def forward_algorithm_scaled(pi, A, B, obs):
    alpha = pi * B[:, obs[0]]
    loglik = 0.0
    c = alpha.sum()
    alpha = alpha / c
    loglik += np.log(c)
    for o in obs[1:]:
        alpha = (alpha @ A) * B[:, o]
        c = alpha.sum()
        alpha = alpha / c
        loglik += np.log(c)
    return loglik


@program(np.log(pi3), np.log(T3), np.log(E3), np.array(observed))
def forward_algorithm_logs(log_pi, log_A, log_B, obs):
    alpha = log_pi + log_B[:, obs[0]]
    for o in obs[1:]:
        M = alpha[:, None] + log_A
        top = M.max(axis=0)
        alpha = top + np.log(np.exp(M - top).sum(axis=0)) + log_B[:, o]
    top = alpha.max()
    return top + np.log(np.exp(alpha - top).sum())


@program(pi3, T3, E3, observed)
def forward_backward_posteriors(pi, A, B, obs):
    T, n = len(obs), len(pi)
    alpha = np.zeros((T, n))
    beta = np.ones((T, n))
    alpha[0] = pi * B[:, obs[0]]
    for t in range(1, T):
        alpha[t] = (alpha[t - 1] @ A) * B[:, obs[t]]
    for t in range(T - 2, -1, -1):
        beta[t] = A @ (B[:, obs[t + 1]] * beta[t + 1])
    gamma = alpha * beta
    return gamma / gamma.sum(axis=1, keepdims=True)


@program(
    np.log(pi3),
    np.log(T3),
    np.log(E3),
    observed,
)
def viterbi(log_pi, log_A, log_B, obs):
    n = len(log_pi)
    T = len(obs)
    delta = np.zeros((T, n))
    back = np.zeros((T, n), dtype=int)
    delta[0] = log_pi + log_B[:, obs[0]]
    for t in range(1, T):
        for j in range(n):
            scores = delta[t - 1] + log_A[:, j]
            back[t, j] = np.argmax(scores)
            delta[t, j] = scores[back[t, j]] + log_B[j, obs[t]]
    state = int(np.argmax(delta[-1]))
    path = [state]
    for t in range(T - 1, 0, -1):
        state = back[t, state]
        path.append(state)
    path.reverse()
    total = log_pi[path[0]] + log_B[path[0], obs[0]]
    for t in range(1, T):
        total += log_A[path[t - 1], path[t]] + log_B[path[t], obs[t]]
    return total


@program(rng.uniform(1, 2, size=(4, 4)))
def minimum_path_sum(grid):
    n, m = grid.shape
    cost = grid.copy()
    for j in range(1, m):
        cost[0, j] += cost[0, j - 1]
    for i in range(1, n):
        cost[i, 0] += cost[i - 1, 0]
        for j in range(1, m):
            cost[i, j] += min(cost[i - 1, j], cost[i, j - 1])
    return cost[-1, -1]


@program(rng.uniform(1, 5, size=(4, 4)))
def floyd_warshall(W):
    D = W.copy()
    n = len(D)
    for i in range(n):
        D[i, i] = 0.0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
    return D


@program({"ab": 1.3, "bc": 0.7, "ac": 2.5, "cd": 1.1})
def bellman_ford_on_dicts(w):
    edges = [("a", "b", "ab"), ("b", "c", "bc"), ("a", "c", "ac"), ("c", "d", "cd")]
    dist = {"a": 0.0, "b": 1e9, "c": 1e9, "d": 1e9}
    for _ in range(3):
        for u, v, e in edges:
            if dist[u] + w[e] < dist[v]:
                dist[v] = dist[u] + w[e]
    return dist["d"]


@program(np.array([4.0, 2.0, 7.0, 1.5]), np.array([2, 1, 3, 2]))
def knapsack(values, weights):
    capacity = 5
    best = [0.0] * (capacity + 1)
    for i in range(len(values)):
        for c in range(capacity, weights[i] - 1, -1):
            candidate = best[c - weights[i]] + values[i]
            if candidate > best[c]:
                best[c] = candidate
    return best[capacity]


@program(rng.normal(size=(5, 3)), rng.normal(size=(3, 3)))
def linear_chain_crf(unary, pairwise):
    """Log partition function minus the score of a fixed labelling."""
    labels = [0, 2, 1, 1, 0]
    alpha = unary[0]
    for t in range(1, len(unary)):
        z = alpha[:, np.newaxis] + pairwise + unary[t][np.newaxis, :]
        alpha = np.log(np.sum(np.exp(z), axis=0))
    log_z = np.log(np.sum(np.exp(alpha)))
    score = 0.0
    for t, y in enumerate(labels):
        score += unary[t, y]
        if t > 0:
            score += pairwise[labels[t - 1], y]
    return log_z - score


@program(rng.normal(size=(6, 4)))
def ctc_loss(logits):
    target = [1, 3]
    blank = 0
    ext = [blank]
    for c in target:
        ext += [c, blank]
    p = np.exp(logits)
    p = p / p.sum(axis=1, keepdims=True)
    T, S = len(logits), len(ext)
    a = np.zeros((T, S))
    a[0, 0] = p[0, blank]
    a[0, 1] = p[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            total = a[t - 1, s]
            if s > 0:
                total += a[t - 1, s - 1]
            if s > 1 and ext[s] != blank and ext[s] != ext[s - 2]:
                total += a[t - 1, s - 2]
            a[t, s] = total * p[t, ext[s]]
    return -np.log(a[T - 1, S - 1] + a[T - 1, S - 2])


@program(np.array([3.0, 5.0, 2.0, 6.0]))
def matrix_chain(p):
    n = len(p) - 1
    m = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = math.inf
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if cost < best:
                    best = cost
            m[i, j] = best
    return m[0, n - 1]


def longest(values, i, memo):
    if i == 0:
        return values[0]
    if i in memo:
        return memo[i]
    best = max(longest(values, i - 1, memo), values[i] + 0.5 * longest(values, i - 1, memo))
    memo[i] = best
    return best


@program([0.5, -0.2, 1.3, 0.4])
def memoized_recursion(values):
    return longest(values, len(values) - 1, {})


@program(np.array([1.0, 0.9, 1.1]), 0.95)
def value_iteration(reward, gamma):
    P = np.array([[[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]],
                  [[0.2, 0.8, 0.0], [0.0, 0.3, 0.7], [0.5, 0.0, 0.5]]])  # fmt: skip
    V = np.zeros(3)
    for _ in range(5):
        Q = np.zeros((2, 3))
        for a in range(2):
            Q[a] = reward + gamma * P[a] @ V
        V = np.max(Q, axis=0)
    return V
