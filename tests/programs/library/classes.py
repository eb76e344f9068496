"""Classes of the user: objects that compute, trees, records of state."""

import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from tests.programs.registry import program

x6 = np.linspace(0.3, 1.8, 6)


@dataclass
class Oscillator:
    mass: float
    stiffness: float
    damping: float = 0.1
    history: list[float] = field(default_factory=list)

    @property
    def omega(self):
        return math.sqrt(self.stiffness / self.mass)

    def energy(self, q, p):
        return 0.5 * p * p / self.mass + 0.5 * self.stiffness * q * q

    def run(self, q, p, steps, dt=0.1):
        for _ in range(steps):
            p -= dt * (self.stiffness * q + self.damping * p)
            q += dt * p / self.mass
            self.history.append(self.energy(q, p))
        return q, p


@program(1.2, 0.8)
def simulation_object(mass, stiffness):
    model = Oscillator(mass, stiffness)
    q, p = model.run(1.0, 0.0, 5)
    return q + p + sum(model.history) * model.omega


class Layer:
    scale = 0.5

    def forward(self, x):
        raise NotImplementedError


class Affine(Layer):
    def __init__(self, w, b):
        super().__init__()
        self.w = w
        self.b = b

    def forward(self, x):
        return self.scale * self.w * x + self.b


class Squash(Layer):
    def forward(self, x):
        return np.tanh(self.scale * x)


@program(x6, 1.3, 0.2)
def inheritance_and_lists_of_objects(x, w, b):
    layers = [Affine(w, b), Squash(), Affine(b, w)]
    for layer in layers:
        x = layer.forward(x)
    return x.sum()


class Matrix2:
    def __init__(self, a, b, c, d):
        self.items = [[a, b], [c, d]]

    def __getitem__(self, ij):
        i, j = ij
        return self.items[i][j]

    def __matmul__(self, other):
        p, q = self.items, other.items
        return Matrix2(
            p[0][0] * q[0][0] + p[0][1] * q[1][0],
            p[0][0] * q[0][1] + p[0][1] * q[1][1],
            p[1][0] * q[0][0] + p[1][1] * q[1][0],
            p[1][0] * q[0][1] + p[1][1] * q[1][1],
        )

    @classmethod
    def rotation(cls, angle):
        return cls(math.cos(angle), -math.sin(angle), math.sin(angle), math.cos(angle))

    @staticmethod
    def identity():
        return Matrix2(1.0, 0.0, 0.0, 1.0)


@program(0.3, 2.0)
def own_matrix_class(angle, s):
    M = Matrix2.identity()
    for k in range(3):
        M = M @ Matrix2.rotation(angle) @ Matrix2(s, 0.1, 0.0, 1 / s)
    return M[0, 0] + M[1, 1] * M[0, 1]


@dataclass
class Node:
    value: float
    left: Optional["Node"] = None
    right: Optional["Node"] = None


def tree_sum(node, discount):
    if node is None:
        return 0.0
    return node.value**2 + discount * (
        tree_sum(node.left, discount) + tree_sum(node.right, discount)
    )


@program(Node(1.0, Node(0.5, Node(0.2)), Node(-0.7, None, Node(0.4))), 0.9)
def recursion_over_a_tree(root, discount):
    return tree_sum(root, discount)


State = namedtuple("State", "position velocity")


def advance(state: State, force: Callable[[float], float], dt: float = 0.1) -> State:
    v = state.velocity + dt * force(state.position)
    return state._replace(position=state.position + dt * v, velocity=v)


@program(State(1.0, 0.2), 0.8)
def namedtuple_states(state, k):
    for _ in range(5):
        state = advance(state, lambda q: -k * q)
    return state.position * state.velocity
