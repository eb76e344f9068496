"""Random programs over Tensors, in eager mode and compiled: values, gradients, what is left.

Left out is where compiled code is another program by intent: elements of Tensors are numbers there
(each is copied here: `t[0] * 1`), `float(t)` is differentiated, and `t.data` is not stored to.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import GradscribeError, InternalError
from tests.sampling import RUN, examples

SHARED = """
W = gs.tensor([0.5, -1.5, 2.0])
A = np.array([1.5, 0.5, -0.7])
LOG, TABLE = [], {}


class Box:
    pass


def combined(p, q):
    return p * 2 + q


def changed(p, q):
    p += q
    return p
"""


class Writer:
    """Writes a function of two Tensors of three elements and one without axes.

    tensors, numbers, floats: the names there are, numbers being Tensors without axes.
    """

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.count = 0
        self.tensors, self.numbers, self.floats = ["x", "y"], ["k"], ["0.5"]

    def program(self) -> str:
        lines = self.block(0, "    ")
        ends = self.draw.sample(self.tensors, min(3, len(self.tensors)))
        total = " + ".join(f"({name} * {n + 1.5}).sum()" for n, name in enumerate(ends))
        total += "".join(f" + {name} * {n + 0.5}" for n, name in enumerate(self.numbers[-2:]))
        return f"{SHARED}\n\ndef f(x, y, k):\n" + "\n".join([*lines, f"    return {total}"])

    def new(self, names: list[str]) -> str:
        self.count += 1
        prefix = {id(self.tensors): "t", id(self.numbers): "s", id(self.floats): "f"}[id(names)]
        names.append(f"{prefix}{self.count}")
        return names[-1]

    def any(self) -> tuple[str, str, str, str]:
        """Two Tensors, a number and a float."""
        pick = self.draw.choice
        return pick(self.tensors), pick(self.tensors), pick(self.numbers), pick(self.floats)

    def tensor(self) -> str:
        a, b, n, c = self.any()
        return self.draw.choice(
            [
                *(f"{a} * {b}", f"{a} + {n}", f"{n} * {a}", f"gs.tanh({a})", f"{a} - {c}"),
                *(f"{a}.clone()", f"{a}.detach()", f"{a} * W", f"gs.stack([{n}, {n} * 2, {n}])"),
                *(f"gs.where({a} > 0, {a}, {b})", f"{a}.reshape(3)", f"combined({a}, {b})"),
                *(f"{a}[[2, 0, 1]]", f"gs.cat([{a}[:1], {b}[1:]])", f"gs.from_numpy(A) * {a}"),
                *(f"{a} * A[1]", f"gs.maximum({a}, {b})", f"{a}.flip(0)", f"{a}.cumsum(0)"),
            ]
        )

    def number(self) -> str:
        a, b, n, c = self.any()
        m = self.draw.choice(self.numbers)
        return self.draw.choice(
            [
                *(f"{a}.sum()", f"{a}[1] * 1", f"{n} * {m}", f"{n} + {c}", f"{a}.dot({b})"),
                *(f"({a} * {b}).mean()", f"gs.sin({n})", f"{a}.max()", f"max({n}, {m})"),
                *(f"{n}.clone()", f"{n}.detach() * {m}", f"sum([{n}, {m}])", f"abs({n})"),
                *(f"{a}[{a} > 0].sum()", f"combined({n}, {m})", f"sum(v * v for v in {a})"),
            ]
        )

    def float(self) -> str:
        a, _, n, _ = self.any()
        return self.draw.choice(
            [
                *(f"{n}.item()", f"({n} * 2).item()", f"{a}[1].item()", f"{a}.tolist()[2]"),
                *(f"{a}.data[0].item()", f"{a}.detach().numpy()[1]", "np.tanh(A[0])"),
                *(f"{a}.sum().item()", f"{a}.shape[0] * 0.3", f"A[1].item() * {n}.item()"),
            ]
        )

    def stores(self) -> list[str]:
        """To what may be a Tensor of the caller's, under another name."""
        a, b, n, c = self.any()
        return self.draw.choice(
            [
                *([f"{a}[2] = {n}"], [f"{a} += {b}"], [f"{a} *= {c}"], [f"{a}.mul_({c})"]),
                *([f"{a}.add_({b})"], [f"{a}[1:] *= {c}"], [f"v = {a}[1:]", f"v += {n}"]),
                *([f"{a}[:2] = {b}[1:]"], [f"{a}[{a} > 0.5] = {c}"], [f"{a}.copy_({b})"]),
                *([f"{a} = changed({a}, {b})"], [f"{a} = {b}"], [f"{a}, {b} = {b}, {a}"]),
            ]
        )

    def held(self) -> list[str]:
        """Lists, objects and dicts, made here or outside."""
        a, b, n, _ = self.any()
        t, s = self.new(self.tensors), self.new(self.numbers)
        return self.draw.choice(
            [
                [f"L = [{a}, {b}]", f"L.append({a} * 2)", f"{t} = sum(L)", f"{s} = L[1][0] * 1"],
                ["b = Box()", f"b.u, b.w = {a}, {n}", f"{t} = b.u * b.w", f"{s} = b.w * 2"],
                [f"TABLE['k'] = {n}.item()", f"{t} = {a} * TABLE['k']", f"{s} = {n} * 1"],
                [f"LOG.append({n}.item())", f"{t} = {a} * LOG[-1]", f"{s} = {n} * len(LOG)"],
                [f"LOG.append({a}.detach())", f"{t} = {a} * 1.0", f"{s} = {n} * 1.0"],
                [f"{t} = gs.stack([v * {n} for v in {a}])", f"{s} = {n} ** 2"],
            ]
        )

    def block(self, depth: int, margin: str) -> list[str]:
        """Statements; what they name is forgotten by all but the outermost."""
        before = list(self.tensors), list(self.numbers), list(self.floats)
        lines: list[str] = []
        for _ in range(self.draw.randint(1, 3) if depth else self.draw.randint(4, 8)):
            lines += self.statement(depth, margin)
        if depth:
            self.tensors[:], self.numbers[:], self.floats[:] = before
        return lines

    def statement(self, depth: int, margin: str) -> list[str]:
        kinds: list[Callable[[], list[str]]] = [
            *[lambda: [f"{self.new(self.tensors)} = {text}" for text in [self.tensor()]]] * 2,
            *[lambda: [f"{self.new(self.numbers)} = {text}" for text in [self.number()]]] * 2,
            lambda: [f"{self.new(self.floats)} = {text}" for text in [self.float()]],
            self.stores,
            self.held,
        ]
        if depth < 2 and self.draw.random() < 0.25:
            return self.compound(depth, margin)
        return [margin + line for line in self.draw.choice(kinds)()]

    def compound(self, depth: int, margin: str) -> list[str]:
        a, _, n, _ = self.any()
        inner = margin + "    "
        body = self.block(depth + 1, inner)
        kind = self.draw.randrange(4)
        if kind == 0:
            tests = [f"{n} > 0.3", f"{n}.item() > 0", f"({a} > 0).any()", f"{a}[1] < {n}"]
            other = [f"{margin}else:", *self.block(depth + 1, inner)]
            return [f"{margin}if {self.draw.choice(tests)}:", *body, *other]
        if kind == 1:
            return [f"{margin}with gs.no_grad():", *body]
        names = self.numbers if kind == 2 else self.tensors
        total, start = self.new(names), n if kind == 2 else a
        head = f"for _ in range({self.draw.randint(1, 3)}):" if kind == 2 else f"for u in {a} * 1:"
        step = f"{total} = {total} * 0.5 + {start}" + (" * u" if kind == 3 else "")
        return [f"{margin}{total} = {start} * 0.5", margin + head, *body, inner + step]


def run(scope: dict[str, Any], f: Callable[..., Any], seed: int) -> list[Any]:
    """The value, the gradients, and what is left in the arguments and outside."""
    scope["LOG"].clear()
    scope["TABLE"].clear()
    values = np.random.default_rng(seed).normal(size=7)
    given = [values[:3], values[3:6], values[6]]
    leaves = [gs.tensor(v, requires_grad=True) for v in given]
    result = f(*leaves)
    if result.requires_grad:
        result.backward()
    gradients = [0.0 if leaf.grad is None else leaf.grad for leaf in leaves]
    left = [*leaves, scope["W"], scope["A"], *scope["LOG"], *scope["TABLE"].values()]
    return [np.array(getattr(x, "array", x)) for x in (result, *gradients, *left)]


@pytest.mark.parametrize("number", range(examples(600, 40)))
def test_compiled_calls_are_those_of_eager_mode(number: int) -> None:
    text = Writer(random.Random(1000 * RUN.seed + number)).program()
    name = f"<Tensors, {text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"np": np, "gs": gs, "__name__": "tensor_program"}
    exec(compile(text, name, "exec"), scope)
    try:
        expected = [run(scope, scope["f"], seed) for seed in (1, 2)]
    except (RuntimeError, UnboundLocalError):  # as stores to leaves
        return
    compiled = gs.differentiable(scope["f"])
    try:
        found = [run(scope, compiled, seed) for seed in (1, 2)]
    except InternalError:
        raise
    except GradscribeError:
        return
    for one, other in zip(found, expected, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9, err_msg=text)
