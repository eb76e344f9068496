"""The state of a program that is being written: its lines, the names in scope, expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from hypothesis import strategies as st

LENGTH, ROWS = 5, 4

Statement = Callable[["Writer", "Scope", int], None]

STATEMENTS: dict[str, list[Statement]] = {}


def statement(feature: str, weight: int = 1) -> Callable[[Statement], Statement]:
    """Register what writes one statement (or a few that belong together) of a feature."""

    def register(write: Statement) -> Statement:
        STATEMENTS.setdefault(feature, []).extend([write] * weight)
        return write

    return register


@dataclass
class Scope:
    """The names that may be used at one place, by kind.

    scalars: numbers. arrays: vectors of length 5 that may be stored to. matrices: of shape
    (4, 5). parts: views, with their lengths. indices: integers that are valid as index of
    both axes. numbers: lists of at least one number. tables: dicts with the keys "a" (a
    vector) and "b" (a number). constants: vectors of length 5 that nothing active is stored to.
    keepers: objects of compiled code that keep such vectors. result: what the function returns.
    in_loop: whether `break` may stand here.
    """

    scalars: list[str] = field(default_factory=lambda: ["s"])
    arrays: list[str] = field(default_factory=lambda: ["x"])
    matrices: list[str] = field(default_factory=lambda: ["A"])
    parts: list[tuple[str, int]] = field(default_factory=list)
    indices: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    keepers: list[str] = field(default_factory=list)
    result: str = "scalar"
    in_loop: bool = False
    depth: int = 0

    def inner(self, **changes: Any) -> Scope:
        """The scope of a nested block: what it binds is not seen outside."""
        names = {
            f.name: list(getattr(self, f.name))
            for f in fields(self)
            if isinstance(getattr(self, f.name), list)
        }
        return replace(self, **{**names, **changes})


class Writer:
    """Writes one program, drawing every decision from hypothesis."""

    def __init__(self, draw: Callable[[Any], Any], features: frozenset[str]) -> None:
        self.draw = draw
        self.features = features
        self.lines: list[str] = []
        self.helpers: list[str] = []
        self.fresh = 0
        self.statements = [s for f, group in STATEMENTS.items() if f in features for s in group]

    def pick(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def flip(self) -> bool:
        return bool(self.draw(st.booleans()))

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, scope: Scope, depth: int, size: int) -> None:
        for _ in range(self.draw(st.integers(1, size))):
            self.pick(self.statements)(self, scope, depth)

    # -- expressions -----------------------------------------------------------------------

    def index(self, scope: Scope) -> str:
        options = ["0", "1", "2", "-1", *scope.indices, *(f"{i} - 1" for i in scope.indices)]
        return str(self.pick(options))

    def place(self, scope: Scope) -> str:
        """One element of a vector, a matrix, a view or a list."""
        kinds = ["array", "matrix"] + ["part"] * bool(scope.parts)
        kinds += ["numbers"] * bool(scope.numbers)
        kind = self.pick(kinds)
        if kind == "matrix":
            return f"{self.pick(scope.matrices)}[{self.index(scope)}, {self.index(scope)}]"
        if kind == "part":
            return f"{self.pick(scope.parts)[0]}[{self.pick(['0', '-1'])}]"
        if kind == "numbers":
            return f"{self.pick(scope.numbers)}[{self.pick(['0', '-1'])}]"
        return f"{self.pick(scope.arrays)}[{self.index(scope)}]"

    def scalar(self, scope: Scope, depth: int = 2) -> str:
        kinds = ["name", "constant", "element", "sum"]
        if depth:
            kinds += ["add", "sub", "mul", "div", "function"]
            kinds += ["conditional"] * ("branches" in self.features)
        kind = self.pick(kinds)
        if kind == "constant":
            return str(self.pick(["0.5", "2", "1.5", "-0.75", "3"]))
        if kind == "element":
            return self.place(scope)
        if kind == "sum":
            return self.reduction(scope)
        if kind == "function":
            name = self.pick(["np.sin", "np.tanh", "math.cos", "np.exp", "abs"])
            inner = self.scalar(scope, depth - 1)
            return f"{name}(0.3 * ({inner}))" if name == "np.exp" else f"{name}({inner})"
        if kind == "conditional":
            yes, no = self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)
            return f"({yes} if {self.condition(scope)} else {no})"
        if kind == "div":
            return f"({self.scalar(scope, depth - 1)}) / (2 + ({self.scalar(scope, 0)}) ** 2)"
        if kind in ("add", "sub", "mul"):
            left, right = self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)
            return f"({left}) {dict(add='+', sub='-', mul='*')[kind]} ({right})"
        return str(self.pick(scope.scalars))

    def reduction(self, scope: Scope) -> str:
        """A number made of a whole vector, view or table."""
        kinds = ["vector"] * 2 + ["part"] * bool(scope.parts) + ["table"] * bool(scope.tables)
        kind = self.pick(kinds)
        if kind == "part":
            return f"np.sum({self.pick(scope.parts)[0]})"
        if kind == "table":
            table = self.pick(scope.tables)
            return self.pick([f"{table}['b']", f"np.sum({table}['a'])", f"{table}['a'][1]"])
        return f"{self.pick(['np.sum', 'np.mean', 'np.max'])}({self.vector(scope, 0)})"

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

    # -- results -----------------------------------------------------------------------------

    def result(self, scope: Scope) -> str:
        """What a function with this scope returns, early or at its end."""
        number = f"np.tanh({self.scalar(scope, 1)}) * np.sum({self.pick(scope.arrays)})"
        if scope.result == "pair":
            return f"{number}, np.sin({self.vector(scope, 1)})"
        return "None" if scope.result == "nothing" else number

    def program(self) -> str:
        self.emit(0, "def program(x, A, s, n):")
        scope = Scope()
        self.emit(1, "y = 1.0 * x")
        scope.arrays.append("y")
        self.block(scope, 1, 6)
        scalars = " + ".join(scope.scalars[-3:])
        arrays = " + ".join(f"np.sum({a} * {a})" for a in scope.arrays[-2:])
        self.emit(1, f"return {scalars} + {arrays} + np.sum(np.sin(A))")
        return "\n".join([*self.helpers, *self.lines]) + "\n"
