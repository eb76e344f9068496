"""From a function object to its gast tree, and from tree nodes to source locations.

The trees of functions are cached. Variables that nested functions assign are attributes in them
(see `shared_variables`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.syntax.bindings import assigned_names, dotted, read_places
from gradscribe.frontend.syntax.name_liveness import live_names, reads_of
from gradscribe.frontend.syntax.shared_variables import own_nodes, share_variables
from gradscribe.frontend.syntax.source_files import definition_of
from gradscribe.ir.core import Location
from gradscribe.ir.probing import probe


@dataclass(frozen=True, eq=False)
class Source:
    """The tree of one function. node: gast FunctionDef or Lambda. lines: those of its file.

    parameters: the names of its parameters. local_names: those that the body assigns (and
    Python therefore never looks up outside). reads: where (line, column) each name is read.
    statement: the statement that all of its statements belong to (in a comprehension);
    whole: and its expressions, too.
    """

    node: Any
    filename: str
    lines: tuple[str, ...]
    name: str
    parameters: tuple[str, ...]
    local_names: frozenset[str]
    reads: Mapping[str, list[tuple[int, int]]]
    statement: Location | None = None
    whole: bool = False

    def replace(self, statement: Any, by: Any, *followed_by: Any) -> None:
        """Let a statement that was made for another have the same names live after it, and those
        that are read in the statements that follow it."""
        for live in (self.live, self.live_itself, self.live_or_deleted):
            if statement in live:
                live[by] = live[statement] | reads_of(*followed_by)

    @functools.cached_property
    def live(self) -> dict[Any, frozenset[str]]:
        """The names that are live after each statement."""
        return live_names(self.node.body) if isinstance(self.node.body, list) else {}

    @functools.cached_property
    def live_itself(self) -> dict[Any, frozenset[str]]:
        """Those that the function itself reads; functions in it may read others."""
        body = self.node.body
        return live_names(body, by_functions=False) if isinstance(body, list) else {}

    @functools.cached_property
    def live_or_deleted(self) -> dict[Any, frozenset[str]]:
        """Those, and the names that are deleted later: whether they have a value is asked."""
        body = self.node.body
        return live_names(body, deleted=True) if isinstance(body, list) else {}

    @functools.cached_property
    def tells_none(self) -> bool:
        """Whether the function says somewhere that it returns None."""
        returns = gast.walk(self.node)
        return any(
            isinstance(n, gast.Return)
            and (n.value is None or (isinstance(n.value, gast.Constant) and n.value.value is None))
            for n in returns
        )

    @functools.cached_property
    def returns_nothing(self) -> bool:
        """Whether each `return` of the function is without a value."""
        stack, found = list(self.node.body), []
        while stack:
            node = stack.pop()
            if isinstance(node, gast.Return):
                found.append(node.value)
            elif not isinstance(node, (gast.FunctionDef, gast.Lambda)):
                stack.extend(gast.iter_child_nodes(node))
        return all(value is None for value in found)

    @functools.cached_property
    def is_generator(self) -> bool:
        """Whether a call of the function gives a generator."""
        own = own_nodes(self.node) if isinstance(self.node.body, list) else ()
        return any(isinstance(node, (gast.Yield, gast.YieldFrom)) for node in own)

    @functools.cached_property
    def only_grown(self) -> frozenset[str]:
        """The names, and attributes of names, that are read only to have items added."""
        grown = [
            statement.value.func
            for statement in gast.walk(self.node)
            if isinstance(statement, gast.Expr) and _adds_items(statement.value)
        ]
        owners = {id(function.value) for function in grown}
        read = {
            dotted(node)
            for node in gast.walk(self.node)
            if isinstance(node, (gast.Name, gast.Attribute)) and id(node) not in owners
        }
        return frozenset({dotted(function.value) for function in grown} - read)

    @functools.cached_property
    def changes_sets(self) -> bool:
        """Whether there is a call of a method by which sets are changed, or `|=`."""
        named = {
            target.id
            for node in gast.walk(self.node)
            if isinstance(node, gast.Assign) and _makes_set(node.value)
            for target in node.targets
            if isinstance(target, gast.Name)
        }
        return any(_changes_set(node, named) for node in gast.walk(self.node))

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
        if self.statement is not None and (self.whole or isinstance(node, gast.stmt)):
            return self.statement
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
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        start, end = int(node.col_offset), int(node.end_col_offset)
        if isinstance(node, gast.stmt) and isinstance(body, list) and body:
            return self.lines[int(node.lineno) - 1].strip()
        parts = [line.strip() for line in self.lines[node.lineno - 1 : node.end_lineno]]
        if len(parts) == 1:
            raw = self.lines[node.lineno - 1].encode()
            return str(raw[start:end], "utf-8", "replace")
        first = self.lines[node.lineno - 1].encode()[start:].decode(errors="replace")
        return " ".join([first.strip(), *parts[1:]])


def source_of(code: CodeType) -> Source:
    """The tree of the function with this code; `SourceNotFoundError` where there is none."""
    return _source_in(code.co_filename, code)


@functools.lru_cache(maxsize=1024)
def _source_in(filename: str, code: CodeType) -> Source:
    """Equal codes of two files are two functions: their errors show different places."""
    lines, definition = definition_of(filename, code)
    try:
        tree = gast.ast_to_gast(definition.mangled())
        share_variables(tree)
        source = Source.of(tree, filename, lines)
    except RecursionError:
        line = code.co_firstlineno
        raise nested_too_deeply(Location(filename, line, 0, 0, lines[line - 1])) from None
    if isinstance(tree, gast.AsyncFunctionDef):
        raise UnsupportedError(
            f"`{code.co_name}` is an `async` function",
            "await the data first, and pass it in",
            source.location(tree),
        )
    return source


_ADDING = frozenset({"append", "extend", "appendleft", "add", "update", "insert"})


def _makes_set(node: Any) -> bool:
    is_call = isinstance(node, gast.Call) and isinstance(node.func, gast.Name)
    return isinstance(node, (gast.Set, gast.SetComp)) or (is_call and node.func.id == "set")


def _changes_set(node: Any, named: set[str]) -> bool:
    """named: variables that are bound to new sets."""
    if isinstance(node, gast.AugAssign):
        of_sets = isinstance(node.op, (gast.BitOr, gast.BitAnd, gast.BitXor))
        is_named = isinstance(node.target, gast.Name) and node.target.id in named
        return of_sets or is_named
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
        return False
    owner, method = node.func.value, node.func.attr
    is_named = isinstance(owner, gast.Name) and owner.id in named
    return method in _CHANGING_SETS or (is_named and method in _CHANGING)


_CHANGING = frozenset({"pop", "remove", "update", "clear"})
_CHANGING_SETS = frozenset(
    {"add", "discard", "intersection_update", "difference_update", "symmetric_difference_update"}
)


def _adds_items(node: Any) -> bool:
    function = getattr(node, "func", None)
    return isinstance(function, gast.Attribute) and function.attr in _ADDING


def refilled_by(node: Any) -> Any:
    """The expression for a list or dict that gets other items here, if this can be seen."""
    if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load):
        return node.value
    function = getattr(node, "func", None)
    if isinstance(function, gast.Attribute) and function.attr in _ADDING | _CHANGING | _FILLING:
        return function.value
    return node.target if isinstance(node, gast.AugAssign) else None


_FILLING = frozenset({"setdefault", "popitem"})


def nested_too_deeply(location: Location) -> UnsupportedError:
    """The refusal of calls or expressions in one another that exceed Python's recursion limit."""
    return UnsupportedError(
        "this is nested too deeply to be compiled",
        "write a loop instead of the recursion, or give names to parts of a long expression",
        location,
    )


def plain_function(function: Any) -> FunctionType | None:
    """The Python function behind a callable (unwrapping ours), or None."""
    target = probe(function, "__gradscribe_function__", function)
    return target if inspect.isfunction(target) else None
