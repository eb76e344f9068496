"""Policies and the values of what they lead to."""

import math

import numpy as np

from tests.programs.registry import program

rng = np.random.default_rng(21)


def normal(*shape):
    return 0.5 * rng.normal(size=shape)


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@program(normal(4, 2), 0.9)
def policy_gradient_in_a_corridor(theta, discount):
    draws = np.random.default_rng(3)
    total = 0.0
    for _ in range(2):
        s, steps, done = 0, 0, False
        log_p, rewards = [], []
        while not done and steps < 6:
            p = softmax(theta[s])
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
