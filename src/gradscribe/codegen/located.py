"""Which statement of the user's program each line of an emitted text belongs to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradscribe.codegen.emit import Emitter
from gradscribe.ir.core import Location


def located(
    text: str, emitters: Sequence[Emitter]
) -> Iterator[tuple[ast.stmt, range, Location | None]]:
    """The statements of a text that these have written, one after the other: each as it is parsed,
    with the numbers of its lines (of a compound one, of its head) and where it comes from."""
    written = [s for emitter in emitters for s in _statements(emitter.definition)]
    locations = {s: at for emitter in emitters for s, at in emitter.locations.items()}
    for parsed, statement in zip(_statements(ast.parse(text)), written, strict=True):
        yield parsed, range(parsed.lineno, _end(parsed) + 1), locations.get(statement)


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that belong to none that is nested in it."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from ast.walk(child)


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements of functions, at any depth, in the order of their text."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt) and not isinstance(child, ast.FunctionDef):
            yield child
        yield from _statements(child)


def _end(statement: ast.stmt) -> int:
    """The number of the last line of a statement, of a compound one that of its head."""
    if not any(isinstance(child, ast.stmt) for child in ast.iter_child_nodes(statement)):
        return statement.end_lineno or statement.lineno
    ends = [getattr(node, "end_lineno", 0) for node in own_nodes(statement)]
    return max([statement.lineno, *ends])
