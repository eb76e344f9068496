"""Python syntax trees to text.

`Writer` keeps astunparse's statements, with the expressions of `ExpressionWriter`. It adds
end-of-line comments and blank lines, which syntax trees do not hold. Works alike on CPython 3.10
to 3.13.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Callable, Collection, Mapping

from gradscribe.codegen.expression_writer import ExpressionWriter
from gradscribe.codegen.precedence import TEST
from gradscribe.codegen.user_text import UserDef, UserGenerator, UserLambda, unparse
from gradscribe.codegen.wrapping import wrap

LINE = 98
"""The column up to which comments reach."""


_COMPOUND = (ast.If, ast.For, ast.While)


def _says(comment: str, line: str) -> bool:
    """Whether a line tells the reader what its comment would: it is the same text, or the head
    of the same loop backwards."""
    found = re.fullmatch(r"(for .* in )reversed\((.*)\):", line)
    return comment in (line, found and f"{found[1]}{found[2]}:")


class Writer(ExpressionWriter):
    """Writes one tree; `self.f` receives the text."""

    def __init__(
        self,
        tree: ast.AST,
        comments: Mapping[ast.stmt, str] | None = None,
        blank_before: Collection[ast.stmt] = (),
    ) -> None:
        self._comments = comments or {}
        self._blank_before = blank_before
        self._column = 0
        self._start: int | None = None
        self._header: ast.stmt | None = None
        self._methods: dict[type[ast.AST], Callable[..., None]] = {}
        super().__init__(tree, io.StringIO())

    def fill(self, text: str = "") -> None:
        line = "    " * self._indent + text
        self._column = len(line)
        self.f.write("\n")
        self._start = self.f.tell()
        self.f.write(line)

    def write(self, text: str) -> None:
        self._column += len(text)
        self.f.write(text)

    def dispatch(self, tree: ast.AST | list[ast.stmt]) -> None:
        if isinstance(tree, list):
            for statement in tree:
                self._statement(statement)
            return
        kind = type(tree)
        method = self._methods.get(kind)
        if method is None:
            method = self._methods[kind] = getattr(self, "_" + kind.__name__)
        method(tree)

    def enter(self) -> None:
        if self._header is None:
            self._wrap()
            super().enter()
            return
        header, self._header = self._header, None
        super().enter()
        self._comment(header)

    def _wrap(self) -> None:
        """Break the current line if it is too long."""
        if self._column > LINE and self._start is not None:
            text = wrap(self._line(), LINE)
            self.f.seek(self._start)
            self.f.truncate()
            self.f.write(text)
            self._column = len(text) - text.rfind("\n") - 1
        self._start = None

    def _line(self) -> str:
        """The current line, as far as it is written."""
        if self._start is None:
            return ""
        self.f.seek(self._start)
        return str(self.f.read())

    def _statement(self, statement: ast.stmt) -> None:
        if statement in self._blank_before:
            self.f.write("\n")
        if isinstance(statement, _COMPOUND):
            self._header = statement
            self.dispatch(statement)
        else:
            self.dispatch(statement)
            self._comment(statement)

    def _comment(self, statement: ast.stmt) -> None:
        """End the current line, with the comment of its statement unless that says the same."""
        comment = self._comments.get(statement)
        if comment is not None and _says(comment, self._line().strip()):
            comment = None
        self._wrap()
        room = LINE - self._column - len("  # ")
        if comment and room >= 12:
            comment = comment if len(comment) <= room else comment[: room - 4].rstrip() + " ..."
            self.write("  # " + comment)

    def _If(self, t: ast.If) -> None:
        self.fill("if ")
        while True:
            self.dispatch(t.test)
            self.enter()
            self.dispatch(t.body)
            self.leave()
            if len(t.orelse) != 1 or not isinstance(t.orelse[0], ast.If):
                break
            t = t.orelse[0]
            self._header = t
            self.fill("elif ")
        if t.orelse:
            self.fill("else")
            self.enter()
            self.dispatch(t.orelse)
            self.leave()

    def _Module(self, tree: ast.Module) -> None:
        self.dispatch(tree.body)

    def _Assert(self, t: ast.Assert) -> None:
        self.fill("assert ")
        self.at(TEST, t.test)
        if t.msg is not None:
            self.write(", ")
            self.at(TEST, t.msg)

    def _ExceptHandler(self, t: ast.ExceptHandler) -> None:
        self.fill("except ")
        if isinstance(t.type, ast.Tuple):
            self.write("(")
            self.dispatch(t.type)
            self.write(")")
        elif t.type is not None:
            self.dispatch(t.type)
        if t.name is not None:
            self.write(f" as {t.name}")
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _FunctionDef(self, t: ast.FunctionDef) -> None:
        for decorator in t.decorator_list:
            self.fill("@")
            self.dispatch(decorator)
        self.fill(f"def {t.name}(")
        self.dispatch(t.args)
        self.write(")")
        self.enter()
        body = t.body
        docstring = ast.get_docstring(t)
        if docstring is not None:
            self._docstring(docstring)
            body = body[1:]
        self.dispatch(body)
        self.leave()

    def _UserDef(self, t: UserDef) -> None:
        for line in unparse(t).splitlines():
            self._wrap()
            self.fill(line)
        self._start = None

    def _UserLambda(self, t: UserLambda) -> None:
        self.write(unparse(t))

    def _UserGenerator(self, t: UserGenerator) -> None:
        self.write(unparse(t))

    def _docstring(self, text: str) -> None:
        escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if escaped.endswith('"'):
            escaped = escaped[:-1] + '\\"'
        first, *rest = escaped.split("\n")
        self._start = None
        self.fill('"""' + first)
        for line in rest:
            if line.strip():
                self.fill(line)
            else:
                self.f.write("\n")
        if rest:
            self.fill()
        self.write('"""')

    def _arguments(self, t: ast.arguments) -> None:
        missing: list[ast.expr | None] = [None] * (len(t.args) - len(t.defaults))
        parts = [*zip(t.args, [*missing, *t.defaults], strict=True)]
        star: list[tuple[ast.arg | None, ast.expr | None]] = []
        if t.vararg or t.kwonlyargs:
            star = [(None, None)]
        written = 0
        for argument, default in [*parts, *star, *zip(t.kwonlyargs, t.kw_defaults, strict=True)]:
            self.write(", " if written else "")
            written += 1
            self.write(argument.arg if argument else "*" + (t.vararg.arg if t.vararg else ""))
            if default is not None:
                self.write("=")
                self.at(TEST, default)
        if t.kwarg:
            self.write(", **" if written else "**")
            self.write(t.kwarg.arg)

    # expressions
