"""Random numerical programs, as source text, for hypothesis.

A program is a function of an array `x` of length 5, a matrix `A` of shape (4, 5), a number
`s` and an integer `n`. It is made of assignments, stores through indices and views, aliases,
branches, loops with exits and lists that grow; every value stays bounded, because every
assignment goes through a bounded function. Programs are valid Python by construction: names
are used only where they are bound on every path.
"""

from __future__ import annotations

import linecache
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

LENGTH, ROWS = 5, 4


@dataclass(frozen=True)
class Features:
    """What programs may contain."""

    branches: bool = False
    loops: bool = False
    stores: bool = False
    lists: bool = False


@dataclass
class Scope:
    """The names that may be used at one place, by kind.

    scalars: numbers; arrays: vectors of length 5 that may be stored to; matrices; indices:
    integer variables that are valid as index of both axes.
    """

    scalars: list[str] = field(default_factory=lambda: ["s"])
    arrays: list[str] = field(default_factory=lambda: ["x"])
    matrices: list[str] = field(default_factory=lambda: ["A"])
    indices: list[str] = field(default_factory=list)
    in_loop: bool = False

    def copy(self) -> Scope:
        return replace(
            self,
            scalars=list(self.scalars),
            arrays=list(self.arrays),
            matrices=list(self.matrices),
            indices=list(self.indices),
        )


class Writer:
    """Writes one program, drawing every decision from hypothesis."""

    def __init__(self, draw: Callable[[Any], Any], features: Features) -> None:
        self.draw = draw
        self.features = features
        self.lines: list[str] = []
        self.fresh = 0

    def pick(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # -- expressions -----------------------------------------------------------------------

    def index(self, scope: Scope) -> str:
        options = ["0", "1", "2", "-1", *scope.indices, *(f"{i} - 1" for i in scope.indices)]
        return str(self.pick(options))

    def scalar(self, scope: Scope, depth: int = 2) -> str:
        kinds = ["name", "constant", "element", "sum"]
        if depth:
            kinds += ["add", "sub", "mul", "div", "function", "conditional"]
        kind = self.pick(kinds)
        if kind == "constant":
            return str(self.pick(["0.5", "2", "1.5", "-0.75", "3"]))
        if kind == "element":
            if self.draw(st.booleans()):
                return f"{self.pick(scope.arrays)}[{self.index(scope)}]"
            return f"{self.pick(scope.matrices)}[{self.index(scope)}, {self.index(scope)}]"
        if kind == "sum":
            return f"{self.pick(['np.sum', 'np.mean', 'np.max'])}({self.vector(scope, 0)})"
        if kind == "function":
            name = self.pick(["np.sin", "np.tanh", "math.cos", "np.exp", "abs"])
            inner = self.scalar(scope, depth - 1)
            return f"{name}(0.3 * ({inner}))" if name == "np.exp" else f"{name}({inner})"
        if kind == "conditional" and self.features.branches:
            yes, no = self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)
            return f"({yes} if {self.condition(scope)} else {no})"
        if kind == "div":
            return f"({self.scalar(scope, depth - 1)}) / (2 + ({self.scalar(scope, 0)}) ** 2)"
        if kind in ("add", "sub", "mul"):
            left, right = self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)
            return f"({left}) {dict(add='+', sub='-', mul='*')[kind]} ({right})"
        return str(self.pick(scope.scalars))

    def vector(self, scope: Scope, depth: int = 2) -> str:
        kinds = ["name", "row"]
        if depth:
            kinds += ["add", "mul", "scale", "function", "product", "where"]
        kind = self.pick(kinds)
        if kind == "row":
            return f"{self.pick(scope.matrices)}[{self.index(scope)}]"
        if kind == "scale":
            return f"({self.scalar(scope, 0)}) * ({self.vector(scope, depth - 1)})"
        if kind == "function":
            return f"{self.pick(['np.sin', 'np.tanh', 'np.cos'])}({self.vector(scope, depth - 1)})"
        if kind == "product":
            return f"np.dot(({self.vector(scope, depth - 1)})[:4], {self.pick(scope.matrices)})"
        if kind == "where":
            name = self.pick(scope.arrays)
            yes, no = self.vector(scope, depth - 1), self.vector(scope, depth - 1)
            return f"np.where({name} > 0.1, {yes}, {no})"
        if kind in ("add", "mul"):
            left, right = self.vector(scope, depth - 1), self.vector(scope, depth - 1)
            return f"({left}) {dict(add='+', mul='*')[kind]} ({right})"
        return str(self.pick(scope.arrays))

    def condition(self, scope: Scope) -> str:
        left, right = self.scalar(scope, 1), self.scalar(scope, 0)
        return f"{left} {self.pick(['<', '>', '<=', '>='])} {right}"

    # -- statements --------------------------------------------------------------------------

    def block(self, scope: Scope, depth: int, size: int) -> None:
        for _ in range(self.draw(st.integers(1, size))):
            self.statement(scope, depth)

    def statement(self, scope: Scope, depth: int) -> None:
        kinds = ["scalar", "scalar", "vector", "rebind"]
        if self.features.stores:
            kinds += ["store", "store", "augment", "slice", "row", "view", "alias", "inplace"]
        if self.features.branches and depth < 4:
            kinds += ["branch", "branch"]
        if self.features.loops and depth < 3:
            kinds += ["range", "items", "while"]
        if self.features.lists and depth < 3:
            kinds += ["list"]
        if scope.in_loop and self.features.branches:
            kinds += ["exit"]
        getattr(self, f"_{self.pick(kinds)}")(scope, depth)

    def _scalar(self, scope: Scope, depth: int) -> None:
        text = self.scalar(scope)
        name = self.name("t")
        self.emit(depth, f"{name} = np.tanh({text})")
        scope.scalars.append(name)

    def _rebind(self, scope: Scope, depth: int) -> None:
        name = self.pick(scope.scalars)
        op = self.pick(["=", "+=", "*=", "-="])
        if op == "=":
            self.emit(depth, f"{name} = np.sin({self.scalar(scope)})")
        else:
            self.emit(depth, f"{name} {op} np.cos({self.scalar(scope, 1)})")

    def _vector(self, scope: Scope, depth: int) -> None:
        text = self.vector(scope)
        existing = [a for a in scope.arrays if a != "x"]
        name = self.pick([*existing, self.name("y")]) if existing else self.name("y")
        self.emit(depth, f"{name} = np.tanh({text})")
        if name not in scope.arrays:
            scope.arrays.append(name)

    def _store(self, scope: Scope, depth: int) -> None:
        value = f"np.tanh({self.scalar(scope)})"
        if self.draw(st.booleans()):
            self.emit(depth, f"{self.pick(scope.arrays)}[{self.index(scope)}] = {value}")
        else:
            place = f"{self.index(scope)}, {self.index(scope)}"
            self.emit(depth, f"{self.pick(scope.matrices)}[{place}] = {value}")

    def _augment(self, scope: Scope, depth: int) -> None:
        op = self.pick(["+=", "-=", "*=", "/="])
        value = f"1.5 + np.cos({self.scalar(scope, 1)})"
        self.emit(depth, f"{self.pick(scope.arrays)}[{self.index(scope)}] {op} {value}")

    def _slice(self, scope: Scope, depth: int) -> None:
        target, source = self.pick(scope.arrays), self.vector(scope, 1)
        cut = self.pick([("1:", "[:-1]"), (":-1", "[1:]"), ("1:3", "[2:4]"), ("::2", "[2:]")])
        op = self.pick(["=", "+=", "*="])
        self.emit(depth, f"{target}[{cut[0]}] {op} 0.5 * np.sin({source}){cut[1]}")

    def _row(self, scope: Scope, depth: int) -> None:
        matrix, op = self.pick(scope.matrices), self.pick(["=", "+=", "-="])
        if self.draw(st.booleans()):
            self.emit(depth, f"{matrix}[{self.index(scope)}] {op} np.sin({self.vector(scope, 1)})")
        else:
            column = f"np.cos({self.vector(scope, 1)})[:4]"
            self.emit(depth, f"{matrix}[:, {self.index(scope)}] {op} {column}")

    def _view(self, scope: Scope, depth: int) -> None:
        name = self.name("v")
        self.emit(depth, f"{name} = {self.pick(scope.matrices)}[{self.index(scope)}]")
        self.emit(depth, f"{name}[{self.index(scope)}] = np.sin({self.scalar(scope, 1)})")
        total = self.name("t")
        self.emit(depth, f"{total} = np.tanh(np.sum({name} * {name}))")
        scope.scalars.append(total)

    def _alias(self, scope: Scope, depth: int) -> None:
        name, target = self.name("b"), self.pick(scope.arrays)
        self.emit(depth, f"{name} = {target}")
        self.emit(depth, f"{name}[{self.index(scope)}] *= 0.5")
        total = self.name("t")
        self.emit(depth, f"{total} = np.tanh(np.sum({target}) + {name}[0])")
        scope.scalars.append(total)

    def _inplace(self, scope: Scope, depth: int) -> None:
        name, op = self.pick(scope.arrays), self.pick(["+=", "-=", "*="])
        self.emit(depth, f"{name} {op} np.cos({self.vector(scope, 1)})")

    def _branch(self, scope: Scope, depth: int) -> None:
        self.emit(depth, f"if {self.condition(scope)}:")
        self.block(scope.copy(), depth + 1, 3)
        if self.draw(st.booleans()):
            self.emit(depth, "else:")
            self.block(scope.copy(), depth + 1, 3)

    def _loop_body(self, scope: Scope, depth: int) -> None:
        inner = scope.copy()
        inner.in_loop = True
        self.block(inner, depth + 1, 4)

    def _range(self, scope: Scope, depth: int) -> None:
        index = self.name("i")
        bounds = self.pick(["n", "3", "1, 4", "n - 1", "3, 0, -1", "0"])
        inner = scope.copy()
        inner.indices.append(index)
        self.emit(depth, f"for {index} in range({bounds}):")
        self._loop_body(inner, depth)

    def _items(self, scope: Scope, depth: int) -> None:
        name = self.name("e")
        inner = scope.copy()
        if self.draw(st.booleans()):
            self.emit(depth, f"for {name} in np.sin({self.pick(scope.arrays)}):")
            inner.scalars.append(name)
        else:
            self.emit(depth, f"for {name} in np.cos({self.pick(scope.matrices)}):")
            self.emit(depth + 1, f"{name}s = np.sum({name} * {name})")
            inner.scalars.append(f"{name}s")
        self._loop_body(inner, depth)

    def _while(self, scope: Scope, depth: int) -> None:
        count, limit = self.name("k"), self.draw(st.integers(1, 4))
        self.emit(depth, f"{count} = 0")
        self.emit(depth, f"while {count} < {limit} and {self.condition(scope)}:")
        self.emit(depth + 1, f"{count} += 1")
        self._loop_body(scope.copy(), depth)

    def _list(self, scope: Scope, depth: int) -> None:
        """A list that grows in a loop, of new arrays or of numbers, and is read afterwards."""
        held, index, item = self.name("held"), self.name("i"), self.name("h")
        inner = scope.copy()
        inner.indices.append(index)
        inner.in_loop = True
        self.emit(depth, f"{held} = []")
        self.emit(depth, f"for {index} in range({self.pick(['n', '2', 'n - 1'])}):")
        if self.draw(st.booleans()):
            self.statement(inner, depth + 1)
        arrays = self.draw(st.booleans())
        value = f"np.tanh({self.vector(inner) if arrays else self.scalar(inner)})"
        if self.draw(st.booleans()):
            self.emit(depth + 1, f"if {self.condition(inner)}:")
            self.emit(depth + 2, f"{held}.append({value})")
        else:
            self.emit(depth + 1, f"{held}.append({value})")
        total = self.name("t")
        self.emit(depth, f"{total} = 0.1 * len({held})")
        self.emit(depth, f"for {item} in {held}:")
        self.emit(depth + 1, f"{total} += np.sin({f'np.sum({item} * {item})' if arrays else item})")
        if self.draw(st.booleans()):
            self.emit(depth, f"if len({held}) > 0:")
            last = f"{held}[-1]" if not arrays else f"{held}[-1][1]"
            self.emit(depth + 1, f"{total} *= np.cos({last})")
        scope.scalars.append(total)

    def _exit(self, scope: Scope, depth: int) -> None:
        self.emit(depth, f"if {self.condition(scope)}:")
        exits = ["break", "continue", f"return np.tanh({self.scalar(scope, 1)}) * np.sum(x)"]
        self.emit(depth + 1, self.pick(exits))

    def program(self) -> str:
        self.emit(0, "def program(x, A, s, n):")
        scope = Scope()
        self.emit(1, "y = 1.0 * x")
        scope.arrays.append("y")
        self.block(scope, 1, 6)
        scalars = " + ".join(scope.scalars[-3:])
        arrays = " + ".join(f"np.sum({a} * {a})" for a in scope.arrays[-2:])
        self.emit(1, f"return {scalars} + {arrays} + np.sum(np.sin(A))")
        return "\n".join(self.lines) + "\n"


@st.composite
def programs(draw: Any, features: Features) -> str:
    """Source text of a function `program(x, A, s, n)` that returns a number."""
    return Writer(draw, features).program()


def compiled(text: str) -> Any:
    """The function that the text defines, with its source findable."""
    filename = f"<program {zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["program"]


def arguments(seed: int) -> tuple[Any, ...]:
    """Arguments that no branch of a program has a tie at."""
    rng = np.random.default_rng(seed)
    return (
        rng.uniform(-1, 1, LENGTH),
        rng.uniform(-1, 1, (ROWS, LENGTH)),
        float(rng.uniform(0.1, 1)),
        3,
    )
