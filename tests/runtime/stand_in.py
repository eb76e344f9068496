"""A compiler of a dozen operations, by hand, so that the runtime can be tested on its own.

Each rule gives the cotangents of all operands in terms of linear maps, products, powers and
exponentials. On `Dual` numbers, nested, the same rules give every higher order.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.ir.core import Operand, SliceOf
from gradscribe.runtime import composites


@dataclass(frozen=True, eq=False)
class Dual:
    """value + tangent * epsilon; both may be Dual again."""

    value: Any
    tangent: Any

    __array_ufunc__ = None

    @property
    def shape(self):
        return self.value.shape

    def __add__(self, other):
        value, tangent = parts(other)
        return Dual(self.value + value, self.tangent + tangent)

    def __mul__(self, other):
        value, tangent = parts(other)
        return Dual(self.value * value, self.tangent * value + self.value * tangent)

    def __neg__(self):
        return Dual(-self.value, -self.tangent)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


def parts(x):
    return (x.value, x.tangent) if isinstance(x, Dual) else (x, 0.0)


def linear(function, x):
    """A linear map of an array or a Dual."""
    if isinstance(x, Dual):
        return Dual(linear(function, x.value), linear(function, x.tangent))
    return function(x)


def bilinear(function, x, y):
    if isinstance(x, Dual) or isinstance(y, Dual):
        (a, d_a), (b, d_b) = parts(x), parts(y)
        first = bilinear(function, d_a, b) if isinstance(x, Dual) else 0.0
        second = bilinear(function, a, d_b) if isinstance(y, Dual) else 0.0
        return Dual(bilinear(function, a, b), first + second)
    return function(x, y)


def analytic(function, derivative):
    def lifted(x):
        if isinstance(x, Dual):
            return Dual(lifted(x.value), derivative(x.value) * x.tangent)
        return function(x)

    return lifted


exp = analytic(np.exp, lambda x: exp(x))
reciprocal = analytic(lambda x: 1 / np.asarray(x), lambda x: -reciprocal(x) * reciprocal(x))
sigmoid = analytic(composites.sigmoid, lambda x: sigmoid(x) * (1.0 - sigmoid(x)))


def power(x, n):
    """x**n for a number n."""
    if n == 0:
        return linear(lambda a: a * 0 + 1.0, x) if not isinstance(x, Dual) else x * 0.0 + 1.0
    if isinstance(x, Dual):
        return Dual(power(x.value, n), power(x.value, n - 1) * n * x.tangent)
    return np.asarray(x) ** n


def to_shape(x, shape):
    """Sum over what was broadcast."""

    def reduce(a):
        a = np.asarray(a)
        a = a.sum(tuple(range(a.ndim - len(shape)))) if a.ndim > len(shape) else a
        axes = tuple(i for i, n in enumerate(shape) if n == 1 and a.shape[i] != 1)
        return np.asarray(a.sum(axes, keepdims=True) if axes else a)

    return linear(reduce, x)


def restore(d, x, axis, keepdims):
    def spread(a):
        a = np.asarray(a)
        if axis is not None and not keepdims:
            a = np.expand_dims(a, axis)
        return np.broadcast_to(a, np.shape(primal(x))).copy()

    return linear(spread, d)


def primal(x):
    while isinstance(x, Dual):
        x = x.value
    return x


def shape_of(x):
    return np.shape(primal(x))


def scatter(x, index):
    def put(d):
        result = np.zeros(shape_of(x))
        np.add.at(result, index, d)
        return result

    return put


def elementwise(*partials):
    def rule(operands, d, static):
        return [to_shape(d * p(*operands), shape_of(x)) for p, x in zip(partials, operands)]

    return rule


def reduction(scale):
    def rule(operands, d, static):
        (x,) = operands
        spread = restore(d, x, static.get("axis"), static.get("keepdims", False))
        return [spread * scale(x, static)]

    return rule


def mean_scale(x, static):
    axis = static.get("axis")
    return 1.0 / np.mean(primal(x), axis=axis, keepdims=True).size**-1 / primal(x).size


def product(x, y):
    return bilinear(np.matmul, x, y)


def transposed(x):
    return linear(lambda a: np.swapaxes(a, -1, -2), x)


RULES = {
    np.add: elementwise(lambda x, y: 1.0, lambda x, y: 1.0),
    np.subtract: elementwise(lambda x, y: 1.0, lambda x, y: -1.0),
    np.multiply: elementwise(lambda x, y: y, lambda x, y: x),
    np.true_divide: elementwise(
        lambda x, y: reciprocal(y), lambda x, y: -x * reciprocal(y) * reciprocal(y)
    ),
    np.power: elementwise(lambda x, y: power(x, primal(y) - 1) * primal(y), lambda x, y: 0.0),
    np.negative: elementwise(lambda x: -1.0),
    np.exp: elementwise(exp),
    composites.clone: elementwise(lambda x: 1.0),
    composites.sigmoid: elementwise(lambda x: sigmoid(x) * (1.0 - sigmoid(x))),
    np.sum: reduction(lambda x, static: 1.0),
    np.mean: reduction(mean_scale),
    np.matmul: lambda xs, d, _: [product(d, transposed(xs[1])), product(transposed(xs[0]), d)],
    np.reshape: lambda xs, d, _: [linear(lambda a: np.reshape(a, shape_of(xs[0])).copy(), d)],
    np.broadcast_to: lambda xs, d, _: [to_shape(d, shape_of(xs[0]))],
    np.transpose: lambda xs, d, _: [linear(lambda a: np.transpose(a).copy(), d)],
    np.squeeze: lambda xs, d, _: [linear(lambda a: np.reshape(a, shape_of(xs[0])).copy(), d)],
    operator.getitem: lambda xs, d, static: [linear(scatter(xs[0], static["index"]), d)],
}

RECORDED = {
    np.multiply: (0, 1),
    np.true_divide: (0, 1),
    np.power: (0,),
    np.matmul: (0, 1),
}
"""Which operands the record refers to; exp and sigmoid record their output."""

RECORDED_OUTPUT = (np.exp, composites.sigmoid)
NONLINEAR = (*RECORDED, *RECORDED_OUTPUT)


class Derivatives:
    def __init__(self, callee, args, kwargs, leaves, active):
        self.name = "StandIn"
        self.callee, self.args, self.kwargs, self.active = callee, args, kwargs, active
        self.outputs = (0,)
        others = [i for i in RECORDED.get(callee, ()) if any(j != i for j in active)]
        self.record_inputs = tuple(others) if len(RECORDED.get(callee, ())) == 2 else (
            RECORDED.get(callee, ())
        )
        self.record_outputs = (0,) if callee in RECORDED_OUTPUT else ()
        self.linear = callee not in NONLINEAR or (callee is not np.power and len(active) == 1
                                                  and callee in RECORDED)

    def forward(self, *leaves):
        plain = resolve(self.args, leaves)
        if self.callee is operator.getitem:
            out = plain[0][plain[1]]
        else:
            out = self.callee(*plain, **self.kwargs)
        saved = tuple(x for x in leaves if isinstance(x, np.ndarray)) if self.record_inputs else ()
        return (out,), (leaves, saved, (out,) if self.record_outputs else ())

    def adjoint(self, record, d):
        return [np.asarray(primal(g)) for g in self.gradients(record[0], d)]

    def gradients(self, leaves, d):
        operands = [leaves[i.index] for i in self.args if isinstance(i, Operand)]
        static = dict(self.kwargs)
        if self.callee is operator.getitem:
            static["index"] = resolve(self.args[1], [primal(x) for x in leaves])
        found = RULES[self.callee](operands, d, static)
        return [found[i] for i in self.active]

    def order(self, n):
        def function(*values):
            count = len(values) - (n - 1) * (len(self.active) + 1)
            leaves, rest = list(values[:count]), values[count:]
            width = len(self.active) + 1
            for k in range(n - 1):
                direction = dict(zip((*self.active, count - 1), rest[k * width :], strict=False))
                leaves = [Dual(x, lifted(direction[i], k)) if i in direction else x
                          for i, x in enumerate(leaves)]
            results = [*self.gradients(leaves[:-1], leaves[-1])]
            out = [tangent_of(g, n - 1) for g in results]
            shapes = [np.shape(values[i]) for i in self.active]
            out = [np.broadcast_to(g, s).copy() for g, s in zip(out, shapes)]
            # the part of the cotangents: tangents of the primal, by <d, f> = sum of x-gradients
            return (*out, self._primal_part(values, rest, n, count))

        return function

    def _primal_part(self, values, rest, n, count):
        """F_n's last part: the derivative of f along the x-parts of the directions, symmetrized."""
        step, width = 1e-30, len(self.active) + 1
        if n == 1:
            return self.forward(*values[: count - 1])[0][0]
        # <e, D^{n-1} f[w_1..]>: linear in the cotangent, so read off the gradients' directions
        leaves = list(values[: count - 1])
        d_shape = np.shape(values[count - 1])
        result = np.zeros(d_shape)
        first = [rest[i] for i in range(len(self.active))]
        for place in np.ndindex(*d_shape):
            seed = np.zeros(d_shape)
            seed[place] = 1.0
            lifted_leaves = leaves
            for k in range(1, n - 1):
                direction = dict(zip(self.active, rest[k * width :], strict=False))
                lifted_leaves = [
                    Dual(x, lifted(direction[i], k - 1)) if i in direction else x
                    for i, x in enumerate(lifted_leaves)
                ]
            gradients = [tangent_of(g, n - 2) for g in self.gradients(lifted_leaves, seed)]
            result[place] = sum(np.sum(g * w) for g, w in zip(gradients, first, strict=True))
        del step
        return result


def lifted(direction, depth):
    for _ in range(depth):
        direction = Dual(direction, np.zeros_like(direction))
    return direction


def tangent_of(x, depth):
    for _ in range(depth):
        x = x.tangent if isinstance(x, Dual) else 0.0 * np.asarray(x)
    return primal(x)


def resolve(tree, leaves):
    if isinstance(tree, Operand):
        return leaves[tree.index]
    if isinstance(tree, SliceOf):
        return slice(*(resolve(part, leaves) for part in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, tuple):
        return tuple(resolve(item, leaves) for item in tree)
    return tree


def derivatives(callee, args, kwargs, leaves, active):
    return Derivatives(callee, args, kwargs, leaves, active)
