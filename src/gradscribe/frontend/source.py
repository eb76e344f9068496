"""From a function object to its gast tree, and from tree nodes to source locations.

The tree is found in the whole file by the line of the code object, so that decorated
functions, methods and lambdas in the middle of a line are found alike. Parsed files and
functions are cached.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from gradscribe.errors import SourceNotFoundError, UnsupportedError
from gradscribe.ir.core import Location

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, eq=False)
class Source:
    """The tree of one function. node: gast FunctionDef or Lambda. lines: those of its file.

    parameters: the names of its parameters. local_names: those that the body assigns (and
    Python therefore never looks up outside). reads: where (line, column) each name is read.
    """

    node: Any
    filename: str
    lines: tuple[str, ...]
    name: str
    parameters: tuple[str, ...]
    local_names: frozenset[str]
    reads: Mapping[str, list[tuple[int, int]]]

    @staticmethod
    def of(node: Any, filename: str, lines: tuple[str, ...]) -> Source:
        """The source of a function whose tree is at hand (nested functions, lambdas)."""
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, arguments.vararg]
        parameters += [*arguments.kwonlyargs, arguments.kwarg]
        body = node.body if isinstance(node.body, list) else [node.body]
        return Source(
            node,
            filename,
            lines,
            getattr(node, "name", "<lambda>"),
            tuple(p.id for p in parameters if p is not None),
            frozenset(assigned_names(body)),
            read_places(body),
        )

    def location(self, node: Any) -> Location:
        """The place of a statement or expression."""
        end = (
            node.end_col_offset
            if node.end_lineno == node.lineno
            else len(self.lines[node.lineno - 1])
        )
        return Location(
            self.filename, node.lineno, node.col_offset, end or 0, self._statement(node)
        )

    def _statement(self, node: Any) -> str:
        """The text of a node on one line; of a compound statement, its header."""
        body = getattr(node, "body", None)
        start, end = int(node.col_offset), int(node.end_col_offset)
        if isinstance(node, gast.stmt) and isinstance(body, list) and body:
            return self.lines[int(node.lineno) - 1].strip()
        parts = [line.strip() for line in self.lines[node.lineno - 1 : node.end_lineno]]
        if len(parts) == 1:
            raw = self.lines[node.lineno - 1].encode()
            return str(raw[start:end], "utf-8", "replace")
        first = self.lines[node.lineno - 1].encode()[start:].decode(errors="replace")
        return " ".join([first.strip(), *parts[1:]])


@functools.lru_cache(maxsize=1024)
def source_of(code: CodeType) -> Source:
    """The tree of the function with this code; `SourceNotFoundError` where there is none."""
    if code.co_filename == "<string>":
        raise _unreadable(code.co_filename)
    lines, tree = _parsed_file(code.co_filename, _stamp(code))
    candidates = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and _first_line(node) == code.co_firstlineno
    ]
    named = [n for n in candidates if getattr(n, "name", "<lambda>") == code.co_name]
    if len(named) > 1:
        named = [n for n in named if _same_code(n, code)] or named[:0]
    if not named:
        raise SourceNotFoundError(
            f"the source of `{code.co_name}` (line {code.co_firstlineno} of {code.co_filename}) "
            "does not show the function that is running",
            "save the file and import it again",
        )
    if isinstance(named[0], ast.AsyncFunctionDef):
        raise UnsupportedError(
            f"`{code.co_name}` is an `async` function", "await the data first, and pass it in"
        )
    return Source.of(gast.ast_to_gast(named[0]), code.co_filename, lines)


def assigned_names(nodes: Iterable[Any]) -> set[str]:
    """The names that statements may bind (not looking into nested functions)."""
    names: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)):
            names.add(node.id)
        if isinstance(node, gast.FunctionDef):
            names.add(node.name)
        elif not isinstance(node, (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.DictComp)):
            stack.extend(gast.iter_child_nodes(node))
    return names


def read_places(nodes: Iterable[Any]) -> dict[str, list[tuple[int, int]]]:
    """For each name, where (line, column) it is read (in nested functions, too)."""
    reads: dict[str, list[tuple[int, int]]] = {}
    for top in nodes:
        for node in gast.walk(top):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
                reads.setdefault(node.id, []).append((node.lineno, node.col_offset))
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                reads.setdefault(node.target.id, []).append((node.lineno, node.col_offset))
    return reads


def _unreadable(filename: str) -> SourceNotFoundError:
    """What `exec` is given has no file, though it may share a name with other text."""
    return SourceNotFoundError(
        f"the source of {filename!r} cannot be read",
        "define the function in a file or a notebook cell; code made by `exec` or typed at "
        "the plain prompt has no source that could be read",
    )


def _stamp(code: CodeType) -> int:
    """Changes when the file behind linecache changes, so that edited files are parsed again."""
    linecache.checkcache(code.co_filename)
    return hash(tuple(linecache.getlines(code.co_filename)))


@functools.lru_cache(maxsize=64)
def _parsed_file(filename: str, stamp: int) -> tuple[tuple[str, ...], ast.AST]:
    lines = tuple(linecache.getlines(filename))
    if not lines:
        raise _unreadable(filename)
    try:
        return lines, ast.parse("".join(lines))
    except SyntaxError as error:
        raise SourceNotFoundError(f"{filename!r} does not parse: {error}") from None


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(d.lineno for d in decorators)]))


def _same_code(node: Any, code: CodeType) -> bool:
    """Whether this lambda is the one that the code was compiled from: from Python 3.11 on the
    code knows the columns of its body; before, compiling the lambda must give the same code."""
    if sys.version_info >= (3, 11):
        body = node.body
        extent = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
        return extent in set(code.co_positions())
    module = compile(ast.Expression(node), code.co_filename, "eval")
    candidates = [c for c in module.co_consts if isinstance(c, CodeType)]
    return any(
        c.co_code == code.co_code
        and c.co_names == code.co_names
        and c.co_varnames == code.co_varnames
        and [x for x in c.co_consts if not isinstance(x, CodeType)]
        == [x for x in code.co_consts if not isinstance(x, CodeType)]
        for c in candidates
    )


def plain_function(function: Any) -> FunctionType | None:
    """The Python function behind a callable (unwrapping ours), or None."""
    target = getattr(function, "__gradscribe_function__", function)
    return target if inspect.isfunction(target) else None
