"""From a code object to the definition in its file that it was compiled from.

The file is parsed as a whole, and its functions are known by their first lines. Where several
begin on one line, or the file was edited after its import, the code itself tells which of them is
meant, if any. Parsed files are cached.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import operator
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from gradscribe.errors import SourceNotFoundError
from gradscribe.ir.probing import codes_in

_FUTURE_FLAGS = functools.reduce(
    operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def definition_of(filename: str, code: CodeType) -> tuple[tuple[str, ...], Definition]:
    """The lines of a file, and the function in it that has this code; `SourceNotFoundError` where
    there is none."""
    if filename == "<string>":
        raise _unreadable(filename)
    lines, functions = _parsed_file(filename, _stamp(code))
    found = [f for f in functions.get(code.co_firstlineno, ()) if f.name == code.co_name]
    if len(found) > 1:
        same = [f for f in found if _same_code(f.node, code, lines)]
        found = sorted(same, key=lambda f: _extent_of(f.node), reverse=True)  # the innermost first
    if not found or not _is_compiled_from(code, lines):
        raise SourceNotFoundError(
            f"the source of `{code.co_name}` (line {code.co_firstlineno} of {filename}) "
            "does not show the function that is running",
            "save the file and import it again",
        )
    return lines, found[0]


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
class Definition:
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
) -> tuple[tuple[str, ...], Mapping[int, list[Definition]]]:
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
    functions: dict[int, list[Definition]] = {}
    pending: list[tuple[Any, str]] = [(tree, "")]
    while pending:
        node, owner = pending.pop()
        if isinstance(node, _FUNCTIONS):
            definition = Definition(node, owner)
            functions.setdefault(definition.first_line, []).append(definition)
        owner = node.name if isinstance(node, ast.ClassDef) else owner
        pending += [(below, owner) for below in ast.iter_child_nodes(node)]
    return lines, functions


def _same_code(node: Any, code: CodeType, lines: tuple[str, ...]) -> bool:
    """Whether this lambda may be the one that the code was compiled from: from Python 3.11 on the
    code knows columns, which must all lie in its body (those in the body of a lambda in it belong
    to that one); before, the lambda must give the same code where it stands."""
    if sys.version_info >= (3, 11):
        start, end = _extent_of(node.body)
        return all(
            start <= (line, column) and (last_line, last_column) <= end
            for line, last_line, column, last_column in code.co_positions()
            if column is not None and (column, last_column) != (0, 0)
        )
    compiled = _lambda_codes(lines, code.co_flags & _FUTURE_FLAGS)
    return _on_one_line(compiled[_extent_of(node)]) == _on_one_line(code)


_Extent = tuple[tuple[int, int], tuple[int, int]]


@functools.lru_cache(maxsize=64)
def _lambda_codes(lines: tuple[str, ...], future: int) -> Mapping[_Extent, CodeType]:
    """The code of each lambda in a file: they are told apart as if each had a line of its own."""
    tree = ast.parse("".join(lines))
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    extents = [_extent_of(node) for node in lambdas]
    for line, node in enumerate(lambdas, len(lines) + 1):
        node.lineno = line
    codes = {code.co_firstlineno: code for code in codes_in(_compiled(tree, "", future))}
    return {extent: codes[line] for line, extent in enumerate(extents, len(lines) + 1)}


def _on_one_line(code: CodeType) -> CodeType:
    """The same code as if it, and the functions in it, began on the same line."""
    constants = (_on_one_line(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_firstlineno=1, co_consts=tuple(constants))


def _extent_of(node: Any) -> _Extent:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _is_compiled_from(code: CodeType, lines: tuple[str, ...]) -> bool:
    """Whether compiling the file as it is now gives this code: a file that was edited after its
    import shows another function. Assertions that pytest has rewritten cannot be compared."""
    if any(name.startswith("@py") for name in code.co_names + code.co_varnames):
        return True
    future = code.co_flags & _FUTURE_FLAGS
    given = code.co_filename, lines, future
    return code in _compiled_codes(*given, False) or code in _compiled_codes(*given, True)


@functools.lru_cache(maxsize=64)
def _compiled_codes(
    filename: str, lines: tuple[str, ...], future: int, one_by_one: bool
) -> frozenset[CodeType]:
    """The code of every function in a file, compiled under these `__future__` flags. one_by_one:
    each statement by itself, as in notebooks: calls of what the file imports are other code there.
    """
    tree = ast.parse("".join(lines))
    modules = [ast.Module([s], []) for s in tree.body] if one_by_one else [tree]
    return frozenset(c for m in modules for c in codes_in(_compiled(m, filename, future)))


def _compiled(tree: ast.Module, filename: str, future: int) -> CodeType:
    flags = future | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # notebook cells may have it
    module: CodeType = compile(tree, filename, "exec", flags, dont_inherit=True)
    return module
