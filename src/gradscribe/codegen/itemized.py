"""A generated function once more, one operation a statement: to find the operation that fails.

The text that people read folds operations into expressions, and tells by a comment where a run of
statements comes from. Here nothing is folded that computes, and each line knows the user's
statement that it belongs to.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gradscribe.codegen.emit import Emitter
from gradscribe.codegen.load import execute
from gradscribe.codegen.namespace import Namespace
from gradscribe.codegen.plan import plan
from gradscribe.ir.core import Function, Location

_serial = itertools.count(1)


@dataclass(frozen=True)
class Line:
    """One statement. text: its code, without what is nested in it. reads, writes: the names of
    variables. location: the user's statement that it belongs to."""

    text: str
    reads: frozenset[str]
    writes: frozenset[str]
    location: Location | None


@dataclass(frozen=True)
class Itemized:
    """function: what is called. filename: that of its code, and of the code of what it calls.
    lines: the statements by the numbers of their lines."""

    function: Callable[..., Any]
    filename: str
    lines: Mapping[int, Line]


def itemize(function: Function, called: tuple[Function, ...] = ()) -> Itemized:
    """The function in this form. called: the functions that it calls."""
    namespace = Namespace(frozenset(each.name for each in called))
    emitters = [
        Emitter(plan(each, itemized=True), namespace, {}, comments=False)
        for each in (*called, function)
    ]
    text = "\n\n".join(emitter.text() for emitter in emitters)
    filename = f"<gradscribe itemized {next(_serial)}: {function.name}>"
    run = execute(text, filename, namespace.bindings)[function.name]
    weakref.finalize(run, linecache.cache.pop, filename, None)
    written = [s for emitter in emitters for s in _statements(emitter.definition)]
    locations = {s: at for emitter in emitters for s, at in emitter.locations.items()}
    lines: dict[int, Line] = {}
    for parsed, statement in zip(_statements(ast.parse(text)), written, strict=True):
        line = _line(parsed, locations.get(statement))
        lines.update(dict.fromkeys(range(parsed.lineno, _end(parsed) + 1), line))
    return Itemized(run, filename, lines)


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements of functions, at any depth, in the order of their text."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt) and not isinstance(child, ast.FunctionDef):
            yield child
        yield from _statements(child)


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that belong to none that is nested in it."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from ast.walk(child)


def _end(statement: ast.stmt) -> int:
    """The number of the last line of a statement, of a compound one that of its head."""
    if not any(isinstance(child, ast.stmt) for child in ast.iter_child_nodes(statement)):
        return statement.end_lineno or statement.lineno
    return max([statement.lineno, *(getattr(node, "end_lineno", 0) for node in _own(statement))])


def _line(statement: ast.stmt, location: Location | None) -> Line:
    names = [node for node in _own(statement) if isinstance(node, ast.Name)]
    written = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    reads = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    if isinstance(statement, ast.AugAssign):
        reads |= written
    text = ast.unparse(statement).partition("\n")[0]
    return Line(text, frozenset(reads), frozenset(written), location)
