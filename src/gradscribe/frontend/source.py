"""From a function object to its gast tree, and from tree nodes to source locations.

The tree is found in the whole file by the line of the code object, so that decorated
functions, methods and lambdas in the middle of a line are found alike. Parsed files and
functions are cached.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import operator
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from gradscribe.errors import SourceNotFoundError, UnsupportedError
from gradscribe.frontend.control.name_liveness import live_names
from gradscribe.frontend.shared_variables import own_nodes, share_variables
from gradscribe.ir.core import Location

_FUTURE_FLAGS = functools.reduce(
    operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


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

    @functools.cached_property
    def live(self) -> Mapping[Any, frozenset[str]]:
        """The names that are live after each statement."""
        return live_names(self.node.body) if isinstance(self.node.body, list) else {}

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
        """Whether there is a statement that calls a method by which sets are changed."""
        return any(
            isinstance(node, gast.Expr)
            and isinstance(node.value, gast.Call)
            and isinstance(node.value.func, gast.Attribute)
            and node.value.func.attr in _CHANGING_SETS
            for node in gast.walk(self.node)
        )

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
    if filename == "<string>":
        raise _unreadable(filename)
    lines, functions = _parsed_file(filename, _stamp(code))
    found = [f for f in functions.get(code.co_firstlineno, ()) if f.name == code.co_name]
    if len(found) > 1:
        same = [f for f in found if _same_code(f.node, code)]
        found = sorted(same, key=lambda f: _extent_of(f.node), reverse=True)  # the innermost first
    if not found or not _is_compiled_from(code, lines):
        raise SourceNotFoundError(
            f"the source of `{code.co_name}` (line {code.co_firstlineno} of {filename}) "
            "does not show the function that is running",
            "save the file and import it again",
        )
    try:
        tree = gast.ast_to_gast(found[0].mangled())
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


_CHANGING_SETS = frozenset(
    {"add", "discard", "intersection_update", "difference_update", "symmetric_difference_update"}
)


def _adds_items(node: Any) -> bool:
    function = getattr(node, "func", None)
    return isinstance(function, gast.Attribute) and function.attr in _ADDING


def dotted(node: Any) -> str:
    """A name, or an attribute of a name, as text; "" for anything else."""
    if isinstance(node, gast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, gast.Name) else ""


def assigned_names(nodes: Iterable[Any], *, augmented: bool = True) -> set[str]:
    """The names that statements may bind (not looking into nested functions).

    augmented: whether `name op= value` counts, which binds an array to the object it is."""
    names: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)):
            names.add(node.id)
        if isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            names.add(node.name)
        elif isinstance(node, gast.MatchMapping) and node.rest is not None:
            names.add(node.rest)
        elif isinstance(node, gast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, _COMPREHENSIONS):
            names |= _bound_in_comprehension(node)
        elif isinstance(node, gast.AugAssign) and not augmented:
            stack.append(node.value)
        elif not isinstance(node, gast.Lambda):
            stack.extend(gast.iter_child_nodes(node))
    return names


def _bound_in_comprehension(node: Any) -> set[str]:
    """The names that `:=` binds in a comprehension, which are those of the function around it."""
    names: set[str] = set()
    stack = list(gast.iter_child_nodes(node))
    while stack:
        below = stack.pop()
        if isinstance(below, gast.NamedExpr) and isinstance(below.target, gast.Name):
            names.add(below.target.id)
        if not isinstance(below, gast.Lambda):
            stack.extend(gast.iter_child_nodes(below))
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


def nested_too_deeply(location: Location) -> UnsupportedError:
    """The refusal of calls or expressions in one another that exceed Python's recursion limit."""
    return UnsupportedError(
        "this is nested too deeply to be compiled",
        "write a loop instead of the recursion, or give names to parts of a long expression",
        location,
    )


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


@dataclass(frozen=True, eq=False, slots=True)
class _Definition:
    """A function of a file, and the name of the class that it is defined in ("": none)."""

    node: Any
    owner: str

    @property
    def name(self) -> str:
        return str(getattr(self.node, "name", "<lambda>"))

    @property
    def first_line(self) -> int:
        decorators = getattr(self.node, "decorator_list", [])
        return int(min([self.node.lineno, *(d.lineno for d in decorators)]))

    def mangled(self) -> Any:
        """The tree, with private names of the class as Python stores them: `__rate` in `Model`
        is `_Model__rate` (The Python Language Reference, 6.2.1, "Private name mangling")."""
        for below in reversed(list(ast.walk(self.node))):  # the innermost class first
            if isinstance(below, ast.ClassDef):
                _mangle(below, below.name)
        _mangle(self.node, self.owner)
        return self.node


def _mangle(tree: Any, owner: str) -> None:
    """Write the private names in a class of this name as Python stores them."""
    owner = owner.lstrip("_")
    for node in ast.walk(tree) if owner else ():
        for field in ("id", "attr", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name[:2] == "__" != name[-2:]:
                setattr(node, field, f"_{owner}{name}")


@functools.lru_cache(maxsize=64)
def _parsed_file(
    filename: str, stamp: int
) -> tuple[tuple[str, ...], Mapping[int, list[_Definition]]]:
    """The lines of a file, and its functions by their first lines."""
    lines = tuple(linecache.getlines(filename))
    if not lines:
        raise _unreadable(filename)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError as error:
        raise SourceNotFoundError(
            f"{filename!r} does not parse: {error.msg} (line {error.lineno})",
            "correct it, and import it again",
        ) from None
    functions: dict[int, list[_Definition]] = {}
    pending: list[tuple[Any, str]] = [(tree, "")]
    while pending:
        node, owner = pending.pop()
        if isinstance(node, _FUNCTIONS):
            definition = _Definition(node, owner)
            functions.setdefault(definition.first_line, []).append(definition)
        owner = node.name if isinstance(node, ast.ClassDef) else owner
        pending += [(below, owner) for below in ast.iter_child_nodes(node)]
    return lines, functions


def _same_code(node: Any, code: CodeType) -> bool:
    """Whether this lambda may be the one that the code was compiled from: from Python 3.11 on the
    code knows columns, which must all lie in its body (those in the body of a lambda in it belong
    to that one); before, compiling the lambda must give the same code."""
    if sys.version_info >= (3, 11):
        start, end = _extent_of(node.body)
        return all(
            start <= (line, column) and (last_line, last_column) <= end
            for line, last_line, column, last_column in code.co_positions()
            if column is not None and (column, last_column) != (0, 0)
        )
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


def _extent_of(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _is_compiled_from(code: CodeType, lines: tuple[str, ...]) -> bool:
    """Whether compiling the file as it is now gives this code: a file that was edited after its
    import shows another function. Assertions that pytest has rewritten cannot be compared."""
    if any(name.startswith("@py") for name in code.co_names + code.co_varnames):
        return True
    return code in _compiled_codes(code.co_filename, lines, code.co_flags & _FUTURE_FLAGS)


@functools.lru_cache(maxsize=64)
def _compiled_codes(filename: str, lines: tuple[str, ...], future: int) -> frozenset[CodeType]:
    """The code of every function in a file, compiled under these `__future__` flags."""
    flags = future | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # notebook cells may have it
    pending = [compile("".join(lines), filename, "exec", flags, dont_inherit=True)]
    found: set[CodeType] = set()
    while pending:
        inner = [c for c in pending.pop().co_consts if isinstance(c, CodeType)]
        found.update(inner)
        pending += inner
    return frozenset(found)


def plain_function(function: Any) -> FunctionType | None:
    """The Python function behind a callable (unwrapping ours), or None."""
    target = getattr(function, "__gradscribe_function__", function)
    return target if inspect.isfunction(target) else None
