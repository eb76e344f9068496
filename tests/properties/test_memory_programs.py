"""Random programs over arrays under several names: parts of them, the same array on some paths, in
lists, dicts, attributes and histories, here and outside. Value, gradient, what is left outside and
which of that shares memory are as in plain Python, or the program is refused."""

from __future__ import annotations

import linecache
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError, InternalError
from tests.properties.test_tensor_programs import Writer as TensorWriter
from tests.sampling import RUN, examples

SHARED = """
W = np.array([0.5, -1.5, 2.0])
LOG, TABLE = [], {}


class Box:
    v = None


OUT = Box()


def combined(p, q):
    return p * 2 + q


def changed(p, q):
    p += q
    return p


def same(p):
    return p


def f(x, y, k):
    m = 2
    x = x * 1.0
    held, table, box = [y * 1.0], {"a": y * 2.0}, Box()
    box.v = x
"""


class Writer(TensorWriter):
    """Writes a function of two arrays of three elements and a number."""

    def program(self) -> str:
        lines = self.block(0, "    ")
        ends = self.draw.sample(self.tensors, min(4, len(self.tensors)))
        total = " + ".join(f"np.sum({name} * {n + 1.5})" for n, name in enumerate(ends))
        return SHARED + "\n".join([*lines, f"    return {total}"])

    def test(self) -> str:
        a, _, n, _ = self.any()
        return self.draw.choice([f"{a}[0] > 0.3", f"{n} > 0", f"{a}[1] < {a}[2]", "k > 0"])

    def maybe(self) -> str:
        """An array that is another one, or a part of one, on some paths."""
        a, b, _, _ = self.any()
        test = self.test()
        return self.draw.choice(
            [
                *(f"np.asarray({a}) if {test} else {a} * 1", f"{a} if {test} else {b}"),
                *(f"np.reshape({a}[:] if {test} else {b}, -1)", f"{a}[:]", f"{a}[::-1]"),
                *(f"np.ravel({a})", f"same({a})", a),
            ]
        )

    def tensor(self) -> str:
        a, b, n, _ = self.any()
        new = [
            *(f"{a} * {b}", f"{a} + {n}", f"np.tanh({a})", f"{a}.copy()", f"{a} * W"),
            *(f"np.where({a} > 0, {a}, {b})", f"combined({a}, {b})"),
            *(f"np.concatenate([{a}[:1], {b}[1:]])", f"changed({a}.copy(), {b})"),
        ]
        return self.draw.choice([self.maybe(), self.draw.choice(new)])

    def number(self) -> str:
        a, b, n, _ = self.any()
        return self.draw.choice(
            [f"np.sum({a})", f"{a}[1]", f"{n} * {n}", f"{a} @ {b}", f"np.max({a})", f"np.sin({n})"]
        )

    def float(self) -> str:
        return self.number()

    def stores(self) -> list[str]:
        a, b, n, c = self.any()
        return self.draw.choice(
            [
                *([f"{a}[2] = {n}"], [f"{a} += {b}"], [f"{a} *= {n}"], [f"{a}[1:] *= {c}"]),
                *([f"v = {a}[1:]", "v += 1.5"], [f"{a}[:2] = {b}[1:]"], [f"{a}[{a} > 0.5] = {n}"]),
                *([f"{a} = changed({a}, {b})"], [f"{a} = {b}"], [f"{a}, {b} = {b}, {a}"]),
                *([f"np.copyto({a}, {b})"], [f"np.add({a}, {b}, out={a})"]),
            ]
        )

    def held(self) -> list[str]:
        item, other = self.maybe(), self.any()[1]
        put = [
            *(f"LOG.append({item})", f"LOG.append([{item}, {other}])", f"TABLE['k'] = {item}"),
            *(f"OUT.v = {item}", f"held.append({item})", f"held[0] = {item}"),
            *(f"table['a'] = {item}", f"box.v = {item}"),
        ]
        lines = [self.draw.choice(put)]
        if self.draw.random() < 0.3:
            taken = self.draw.choice(["held[0]", "held[-1]", "table['a']", "box.v"])
            lines.append(f"{self.new(self.tensors)} = {taken}")
        return lines

    def compound(self, depth: int, margin: str) -> list[str]:
        a, inner = self.any()[0], margin + "    "
        body = self.block(depth + 1, inner)
        if self.draw.random() < 0.4:
            other = [f"{margin}else:", *self.block(depth + 1, inner)]
            return [f"{margin}if {self.test()}:", *body, *other]
        trips = [*(f"range({count})" for count in ("1", "2", "3", "m")), f"{a} * 1"]
        return [f"{margin}for u in {self.draw.choice(trips)}:", *body]


def arrays_in(held: Any) -> Iterator[np.ndarray]:
    if isinstance(held, np.ndarray):
        yield held
    elif isinstance(held, list):
        for item in held:
            yield from arrays_in(item)


def outside(scope: dict[str, Any]) -> tuple[list[Any], list[list[bool]]]:
    """What is left there, which of it shares memory; nothing is there then."""
    found = [scope["LOG"], *scope["TABLE"].values(), getattr(scope["OUT"], "v", None)]
    arrays = [*arrays_in(found)]
    shared = [[bool(np.shares_memory(a, b)) for a in arrays] for b in arrays]
    left = [array.copy() for array in arrays]
    scope["LOG"].clear()
    scope["TABLE"].clear()
    scope["OUT"].v = None
    return left, shared


@pytest.mark.parametrize("number", range(examples(600, 40)))
def test_memory_is_shared_as_in_plain_python(number: int) -> None:
    text = Writer(random.Random(1000 * RUN.seed + number)).program()
    name = f"<arrays, {text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"np": np, "__name__": "memory_program"}
    exec(compile(text, name, "exec"), scope)
    f, z = scope["f"], np.random.default_rng(number).normal(size=7)
    k = float(z[6])

    def plain(z: np.ndarray) -> float:
        return float(f(z[:3].copy(), z[3:6].copy(), k))

    try:
        expected = plain(z)
    except UnboundLocalError:
        return
    left, shared = outside(scope)
    step = 1e-6 * np.eye(7)[:6]
    differences = [(plain(z + e) - plain(z - e)) / 2e-6 for e in step]
    outside(scope)
    try:
        value, gradients = gs.value_and_grad(f, (0, 1))(z[:3].copy(), z[3:6].copy(), k)
    except InternalError:
        raise
    except GradscribeError:
        return
    found, found_shared = outside(scope)
    np.testing.assert_allclose(value, expected, rtol=1e-9, err_msg=text)
    scale = 1 + abs(expected)
    np.testing.assert_allclose(
        np.concatenate(gradients), differences, rtol=1e-4, atol=1e-4 * scale, err_msg=text
    )
    np.testing.assert_equal(found_shared, shared, err_msg=text)
    for one, other in zip(found, left, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=text)
