"""What one run of a generated function did: `gs.trace` and `grad_fn.run()`.

The text of the function is parsed once more, and calls that note what happens are put into it:
which way each `if` went, each iteration of each loop, what each statement gave. Only this variant
pays for the notes.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

_NOTES = "__notes__"
_WIDTH = 40


@dataclass(frozen=True)
class Step:
    """One thing that a run did.

    depth: how far inside of branches, loops and iterations. kind: "statement", "branch", "else",
    "loop" or "iteration". detail: what came of it. reads, writes: the names that a statement uses.
    """

    depth: int
    kind: str
    text: str
    detail: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Branch:
    """A condition, and whether it held."""

    text: str
    taken: bool


@dataclass(frozen=True)
class Loop:
    """The head of a loop, and how many iterations it made."""

    text: str
    iterations: int


class Graph:
    """The operations that one run executed, with branches and loops. Prints as text."""

    def __init__(self, name: str, steps: Sequence[Step], remark: str = "") -> None:
        self.name = name
        self.steps = tuple(steps)
        self._remark = remark

    @property
    def operations(self) -> tuple[str, ...]:
        """The statements that were executed, in order."""
        return tuple(step.text for step in self.steps if step.kind == "statement")

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The conditions that were met, and which way it went there."""
        met = (step for step in self.steps if step.kind == "branch")
        return tuple(Branch(step.text, step.detail == "taken") for step in met)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops that were entered, and the iterations that each made."""
        return tuple(
            Loop(step.text, self._iterations(position))
            for position, step in enumerate(self.steps)
            if step.kind == "loop"
        )

    def _iterations(self, position: int) -> int:
        return sum(step.kind == "iteration" for step in self._children(position))

    def _children(self, position: int) -> Iterator[Step]:
        """The steps right below one."""
        depth = self.steps[position].depth
        below = itertools.takewhile(lambda s: s.depth > depth, self.steps[position + 1 :])
        return (step for step in below if step.depth == depth + 1)

    def __str__(self) -> str:
        head = f"run of {self.name}{self._remark}"
        return "\n".join([head, *self._lines(0, len(self.steps))])

    __repr__ = __str__

    def _lines(self, start: int, stop: int) -> list[str]:
        """The text of some steps of one depth, with all that is below them."""
        blocks = [self._block(first, last) for first, last in self._spans(start, stop)]
        lines: list[str] = []
        number = 0
        for (head, body), group in itertools.groupby(blocks, lambda block: (block[0], block[1])):
            count = len(list(group))
            if head != "iteration":
                lines += [head, *body] * count
                continue
            first, number = number + 1, number + count
            span = f"iteration {first}" if count == 1 else f"iterations {first} to {number}"
            lines += [f"{self._indent(start)}{span}", *body]
        return lines

    def _spans(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where each step of the first one's depth starts, and where all below it stops."""
        heads = [i for i in range(start, stop) if self.steps[i].depth <= self.steps[start].depth]
        return zip(heads, [*heads[1:], stop], strict=False)

    def _indent(self, position: int) -> str:
        return "    " * self.steps[position].depth

    def _block(self, position: int, stop: int) -> tuple[str, tuple[str, ...]]:
        step = self.steps[position]
        body = tuple(self._lines(position + 1, stop))
        if step.kind == "iteration":
            return "iteration", body
        detail = step.detail
        if step.kind == "loop":
            iterations = self._iterations(position)
            detail = "1 iteration" if iterations == 1 else f"{iterations} iterations"
        return f"{self._indent(position) + step.text:<{_WIDTH}}  {detail}".rstrip(), body

    def to_dot(self) -> str:
        """The statements and what flows between them, in the language of Graphviz."""
        lines, writers = [], dict[str, int]()
        for number, step in enumerate(self.steps):
            if step.kind != "statement":
                continue
            label = f"{step.text}\\n{step.detail}".replace('"', "'")
            lines.append(f'    n{number} [shape=box, label="{label}"];')
            read = [name for name in dict.fromkeys(step.reads) if name in writers]
            lines += [f'    n{writers[name]} -> n{number} [label="{name}"];' for name in read]
            writers.update(dict.fromkeys(step.writes, number))
        return "\n".join([f'digraph "{self.name}" {{', *lines, "}"])


def traced(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    remark: str = "",
    *,
    prints: bool = True,
) -> Graph:
    """Run a generated function, and tell what it did. remark: follows its name. prints: whether
    its own calls of `print` are done, not only told of."""
    filename = function.__code__.co_filename
    tree = ast.parse("".join(linecache.getlines(filename)))
    notes = _Notes()
    functions = {d.name for d in tree.body if isinstance(d, ast.FunctionDef)}
    for definition in tree.body:
        if isinstance(definition, ast.FunctionDef):
            definition.body = _Noting(notes.places, functions).block(definition.body, 0)
    namespace = {**function.__globals__, _NOTES: notes}
    if not prints and namespace.get("print", print) is print:
        namespace["print"] = _print_nothing
    exec(compile(ast.fix_missing_locations(tree), filename, "exec"), namespace)
    for definition in tree.body:
        if isinstance(definition, ast.FunctionDef):
            called = namespace[definition.name]
            namespace[definition.name] = functools.partial(notes.call, called)
    namespace[function.__name__](*arguments)
    return Graph(function.__name__, notes.steps, remark)


def _print_nothing(*_: Any, **__: Any) -> None:
    """In place of `print`."""


@dataclass
class _Notes:
    """What the instrumented function calls. places: what a note is about, by its number."""

    places: list[Step] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    base: int = -1
    under_way: list[int] = field(default_factory=list)
    """The steps of statements that call one of the functions, and have not come to their end."""

    def call(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """A call of one of the functions: below the statement that calls."""
        before, calling = self.base, len(self.under_way)
        self.base = self.steps[self.under_way[-1]].depth + 1 if calling else 0
        try:
            return function(*arguments, **keywords)
        finally:
            self.base = before
            del self.under_way[calling:]

    def calls(self, place: int) -> None:
        self.under_way.append(len(self.steps))
        self._add(place)

    def called(self, place: int, *values: Any) -> None:
        """The end of a statement that calls: what it gave stands where it began."""
        position = self.under_way.pop()
        detail = ", ".join(map(_type_text, values))
        self.steps[position] = replace(self.steps[position], detail=detail)

    def gives(self, place: int, value: Any) -> Any:
        """The end of a `return` that calls."""
        self.called(place, value)
        return value

    def _add(self, place: int, detail: str = "") -> None:
        step = self.places[place]
        depth = self.base + step.depth
        self.steps.append(Step(depth, step.kind, step.text, detail, step.reads, step.writes))

    def _iteration(self, place: int) -> None:
        self.steps.append(Step(self.base + self.places[place].depth + 1, "iteration", "iteration"))

    def branch(self, place: int, condition: Any) -> Any:
        self._add(place, "taken" if condition else "not taken")
        return condition

    def start(self, place: int) -> None:
        self._add(place)

    def again(self, place: int, condition: Any) -> Any:
        if condition:
            self._iteration(place)
        return condition

    def loop(self, place: int, items: Iterable[Any]) -> Iterator[Any]:
        self._add(place)
        for item in items:
            self._iteration(place)
            yield item

    def did(self, place: int, *values: Any) -> None:
        self._add(place, ", ".join(map(_type_text, values)))

    def returns(self, place: int, value: Any) -> Any:
        self._add(place, _type_text(value))
        return value


class _Noting:
    """Puts notes into blocks of statements. functions: those whose calls are shown, too."""

    def __init__(self, places: list[Step], functions: Collection[str]) -> None:
        self._places = places
        self._functions = functions

    def block(self, statements: Sequence[ast.stmt], depth: int) -> list[ast.stmt]:
        """The statements with notes between them."""
        return [new for statement in statements for new in self._noted(statement, depth)]

    def _noted(self, statement: ast.stmt, depth: int) -> list[ast.stmt]:
        handler = _STATEMENTS.get(type(statement), _Noting._simple)
        return handler(self, statement, depth)

    def _note(self, method: str, node: ast.stmt, step: Step, *arguments: ast.expr) -> ast.Call:
        self._places.append(step)
        notes = ast.Attribute(ast.Name(_NOTES, ast.Load()), method, ast.Load())
        place = ast.Constant(len(self._places) - 1)
        return ast.copy_location(ast.Call(notes, [place, *arguments], []), node)

    def _if(self, node: ast.If, depth: int, word: str = "if") -> list[ast.stmt]:
        step = Step(depth, "branch", f"{word} {ast.unparse(node.test)}:")
        node.test = self._note("branch", node, step, node.test)
        node.body = self.block(node.body, depth + 1)
        match node.orelse:
            case [ast.If() as other]:
                node.orelse = self._if(other, depth, "elif")
            case [_, *_]:
                start = ast.Expr(self._note("start", node, Step(depth, "else", "else:")))
                node.orelse = [start, *self.block(node.orelse, depth + 1)]
        return [node]

    def _for(self, node: ast.For, depth: int) -> list[ast.stmt]:
        head = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}:"
        node.iter = self._note("loop", node, Step(depth, "loop", head), node.iter)
        node.body = self.block(node.body, depth + 2)
        node.orelse = self.block(node.orelse, depth + 1)
        return [node]

    def _while(self, node: ast.While, depth: int) -> list[ast.stmt]:
        step = Step(depth, "loop", f"while {ast.unparse(node.test)}:")
        start = ast.Expr(self._note("start", node, step))
        node.test = self._note("again", node, step, node.test)
        node.body = self.block(node.body, depth + 2)
        node.orelse = self.block(node.orelse, depth + 1)
        return [start, node]

    def _with(self, node: ast.With, depth: int) -> list[ast.stmt]:
        node.body = self.block(node.body, depth)
        return [node]

    def _try(self, node: ast.Try, depth: int) -> list[ast.stmt]:
        node.body = self.block(node.body, depth)
        for handler in node.handlers:
            handler.body = self.block(handler.body, depth + 1)
        node.orelse = self.block(node.orelse, depth)
        node.finalbody = self.block(node.finalbody, depth)
        return [node]

    def _return(self, node: ast.Return, depth: int) -> list[ast.stmt]:
        step = self._statement(node, depth)
        value = self._chosen(node.value or ast.Constant(None), node, depth)
        if self._calls(node):
            start = ast.Expr(self._note("calls", node, step))
            node.value = self._note("gives", node, step, value)
            return [start, node]
        node.value = self._note("returns", node, step, value)
        return [node]

    def _calls(self, node: ast.stmt) -> bool:
        """Whether a statement calls one of the functions."""
        return any(
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and n.func.id in self._functions
            for n in ast.walk(node)
        )

    def _leaving(self, node: ast.stmt, depth: int) -> list[ast.stmt]:
        """`break`, `continue`, `raise`: the note comes first."""
        return [ast.Expr(self._note("did", node, self._statement(node, depth))), node]

    def _simple(self, node: ast.stmt, depth: int) -> list[ast.stmt]:
        step = self._statement(node, depth)
        self._chosen(node, node, depth)
        results = [ast.Name(name, ast.Load()) for name in step.writes]
        if isinstance(node, (ast.Delete, ast.Pass)):
            results = []
        if self._calls(node):
            start = ast.Expr(self._note("calls", node, step))
            return [start, node, ast.Expr(self._note("called", node, step, *results))]
        return [node, ast.Expr(self._note("did", node, step, *results))]

    def _chosen(self, part: Any, node: ast.stmt, depth: int) -> Any:
        """Part of a statement, with notes on the conditional expressions in it."""
        for choice in [n for n in ast.walk(part) if isinstance(n, ast.IfExp)]:
            step = Step(depth, "branch", f"... if {ast.unparse(choice.test)} else ...:")
            choice.test = self._note("branch", node, step, choice.test)
        return part

    def _statement(self, node: ast.stmt, depth: int) -> Step:
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        reads = [n.id for n in names if isinstance(n.ctx, ast.Load)]
        written = [n.id for n in names if isinstance(n.ctx, ast.Store)]
        if isinstance(node, ast.AugAssign):
            reads += written
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            while isinstance(target, (ast.Subscript, ast.Attribute)):
                target = target.value
                written += [target.id] if isinstance(target, ast.Name) else []
        text = ast.unparse(node)
        return Step(depth, "statement", text, "", tuple(reads), tuple(dict.fromkeys(written)))


_STATEMENTS: dict[type[ast.stmt], Callable[..., list[ast.stmt]]] = {
    ast.If: _Noting._if,
    ast.For: _Noting._for,
    ast.While: _Noting._while,
    ast.With: _Noting._with,
    ast.Try: _Noting._try,
    ast.Return: _Noting._return,
    ast.Break: _Noting._leaving,
    ast.Continue: _Noting._leaving,
    ast.Raise: _Noting._leaving,
}


def _type_text(value: Any) -> str:
    """`float64[3, 4]`, `float`."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_type_text, value))})"
    return type(value).__name__
