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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gradscribe.codegen.emit import Emitter
from gradscribe.codegen.load import execute
from gradscribe.codegen.located import located, own_nodes
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
class Stepwise:
    """function: what is called. filename: that of its code, and of the code of what it calls.
    lines: the statements by the numbers of their lines."""

    function: Callable[..., Any]
    filename: str
    lines: Mapping[int, Line]


def itemize(function: Function, called: tuple[Function, ...] = ()) -> Stepwise:
    """The function in this form. called: the functions that it calls."""
    namespace = Namespace(frozenset(each.name for each in called))
    emitters = [
        Emitter(plan(each, stepwise=True), namespace, {}, comments=False)
        for each in (*called, function)
    ]
    text = "\n\n".join(emitter.text() for emitter in emitters)
    filename = f"<gradscribe stepwise {next(_serial)}: {function.name}>"
    run = execute(text, filename, namespace.bindings)[function.name]
    weakref.finalize(run, linecache.cache.pop, filename, None)
    lines: dict[int, Line] = {}
    for statement, numbers, location in located(text, emitters):
        lines.update(dict.fromkeys(numbers, _line(statement, location)))
    return Stepwise(run, filename, lines)


def _line(statement: ast.stmt, location: Location | None) -> Line:
    names = [node for node in own_nodes(statement) if isinstance(node, ast.Name)]
    written = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    reads = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    if isinstance(statement, ast.AugAssign):
        reads |= written
    text = ast.unparse(statement).partition("\n")[0]
    return Line(text, frozenset(reads), frozenset(written), location)
