"""Python syntax trees to text.

`Writer` keeps astunparse's statements and replaces its expressions: parentheses only where
precedence asks for them, subscripts with slices, strings in double quotes, spaces as ruff
sets them. It adds end-of-line comments and blank lines, which syntax trees do not hold.
Works alike on CPython 3.10 to 3.13.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Callable, Collection, Mapping

from astunparse import Unparser

from gradscribe.codegen.precedence import (
    AND,
    ATOM,
    BINARY,
    BIT_OR,
    COMPARE,
    OR,
    POWER,
    TEST,
    UNARY,
    UNARY_SYMBOLS,
    level,
)
from gradscribe.codegen.wrapping import wrap

LINE = 98
"""The column up to which comments reach."""


_COMPOUND = (ast.If, ast.For, ast.While)


def _says(comment: str, line: str) -> bool:
    """Whether a line tells the reader what its comment would: it is the same text, or the head
    of the same loop backwards."""
    found = re.fullmatch(r"(for .* in )reversed\((.*)\):", line)
    return comment in (line, found and f"{found[1]}{found[2]}:")


def string(value: str) -> str:
    """A string literal, in double quotes where that needs no more escapes."""
    text = repr(value)
    if text[0] == "'" and '"' not in text:
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    return text


class Writer(Unparser):  # type: ignore[misc]
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

    @property
    def text(self) -> str:
        return str(self.f.getvalue()).strip("\n") + "\n"

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

    def at(self, minimum: int, node: ast.expr) -> None:
        """Write an expression where operators that bind less tightly need parentheses."""
        if level(node) < minimum:
            self.write("(")
            self.dispatch(node)
            self.write(")")
        else:
            self.dispatch(node)

    def _listed(self, nodes: list[ast.expr]) -> None:
        for number, node in enumerate(nodes):
            if number:
                self.write(", ")
            self.at(TEST, node)

    # statements

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

    def _BinOp(self, t: ast.BinOp) -> None:
        symbol, own = BINARY[type(t.op)]
        if own == POWER:
            tight = all(map(_is_simple, (t.left, t.right)))
            self.at(ATOM, t.left)
            self.write("**" if tight else " ** ")
            self.at(UNARY, t.right)
        else:
            self.at(own, t.left)
            self.write(f" {symbol} ")
            self.at(own + 1, t.right)

    def _UnaryOp(self, t: ast.UnaryOp) -> None:
        symbol, own = UNARY_SYMBOLS[type(t.op)]
        self.write(symbol)
        self.at(own, t.operand)

    def _BoolOp(self, t: ast.BoolOp) -> None:
        own, symbol = (OR, " or ") if isinstance(t.op, ast.Or) else (AND, " and ")
        for number, value in enumerate(t.values):
            if number:
                self.write(symbol)
            self.at(own + 1, value)

    def _Compare(self, t: ast.Compare) -> None:
        self.at(COMPARE + 1, t.left)
        for operator, comparator in zip(t.ops, t.comparators, strict=True):
            self.write(f" {self.cmpops[type(operator).__name__]} ")
            self.at(COMPARE + 1, comparator)

    def _IfExp(self, t: ast.IfExp) -> None:
        self.at(OR, t.body)
        self.write(" if ")
        self.at(OR, t.test)
        self.write(" else ")
        self.at(TEST, t.orelse)

    def _Lambda(self, t: ast.Lambda) -> None:
        self.write("lambda")
        if t.args.args:
            self.write(" ")
        self.dispatch(t.args)
        self.write(": ")
        self.at(TEST, t.body)

    def _Tuple(self, t: ast.Tuple) -> None:
        """Without parentheses: `at` sets them everywhere but in statements and subscripts."""
        if not t.elts:
            self.write("()")
            return
        self._listed(t.elts)
        if len(t.elts) == 1:
            self.write(",")

    def _List(self, t: ast.List) -> None:
        self.write("[")
        self._listed(t.elts)
        self.write("]")

    def _Dict(self, t: ast.Dict) -> None:
        self.write("{")
        for number, (key, value) in enumerate(zip(t.keys, t.values, strict=True)):
            if number:
                self.write(", ")
            assert key is not None
            self.at(TEST, key)
            self.write(": ")
            self.at(TEST, value)
        self.write("}")

    def _ListComp(self, t: ast.ListComp) -> None:
        self.write("[")
        self.at(TEST, t.elt)
        for generator in t.generators:
            self.dispatch(generator)
        self.write("]")

    def _DictComp(self, t: ast.DictComp) -> None:
        self.write("{")
        self.at(TEST, t.key)
        self.write(": ")
        self.at(TEST, t.value)
        for generator in t.generators:
            self.dispatch(generator)
        self.write("}")

    def _comprehension(self, t: ast.comprehension) -> None:
        self.write(" for ")
        self.dispatch(t.target)
        self.write(" in ")
        self.at(OR, t.iter)

    def _Attribute(self, t: ast.Attribute) -> None:
        if isinstance(t.value, ast.Constant) and isinstance(t.value.value, (int, float)):
            self.write("(")
            self.dispatch(t.value)
            self.write(")")
        else:
            self.at(ATOM, t.value)
        self.write("." + t.attr)

    def _Call(self, t: ast.Call) -> None:
        self.at(ATOM, t.func)
        self.write("(")
        self._listed(t.args)
        for number, keyword in enumerate(t.keywords):
            if number or t.args:
                self.write(", ")
            self.dispatch(keyword)
        self.write(")")

    def _keyword(self, t: ast.keyword) -> None:
        self.write("**" if t.arg is None else f"{t.arg}=")
        self.at(TEST, t.value)

    def _Starred(self, t: ast.Starred) -> None:
        self.write("*")
        self.at(BIT_OR, t.value)

    def _Subscript(self, t: ast.Subscript) -> None:
        self.at(ATOM, t.value)
        self.write("[")
        self.dispatch(t.slice)
        self.write("]")

    def _Slice(self, t: ast.Slice) -> None:
        parts = (t.lower, t.upper, t.step)
        loose = any(part is not None and not _is_simple(part) for part in parts)
        if t.lower:
            self.at(TEST, t.lower)
        self.write(" :" if loose and t.lower else ":")
        if t.upper:
            self.write(" " if loose else "")
            self.at(TEST, t.upper)
        if t.step:
            self.write(" : " if loose else ":")
            self.at(TEST, t.step)

    def _Constant(self, t: ast.Constant) -> None:
        if isinstance(t.value, str):
            self.write(string(t.value))
        elif t.value is Ellipsis:
            self.write("...")
        else:
            self._write_constant(t.value)

    def _JoinedStr(self, t: ast.JoinedStr) -> None:
        expressions = "".join(
            Writer(part.value).text for part in t.values if isinstance(part, ast.FormattedValue)
        )
        quote = next(q for q in ('"', "'", '"""', "'''") if q not in expressions)
        self.write("f" + quote)
        for part in t.values:
            self._format_part(part, quote)
        self.write(quote)

    def _format_part(self, part: ast.expr, quote: str) -> None:
        if isinstance(part, ast.Constant):
            text = repr(str(part.value) + '"')[1:-2]  # repr in single quotes escapes only those
            text = text.replace("\\'", "'").replace(quote[0], "\\" + quote[0])
            self.write(text.replace("{", "{{").replace("}", "}}"))
            return
        assert isinstance(part, ast.FormattedValue)
        text = Writer(part.value).text.rstrip("\n")
        self.write("{ " + text if text.startswith("{") else "{" + text)
        if part.conversion != -1:
            self.write("!" + chr(part.conversion))
        if part.format_spec:
            self.write(":")
            assert isinstance(part.format_spec, ast.JoinedStr)
            for nested in part.format_spec.values:
                self._format_part(nested, quote)
        self.write("}")


def _is_simple(node: ast.expr) -> bool:
    """Whether ruff sets an operand of `**` or a part of a slice without spaces."""
    if isinstance(node, ast.UnaryOp):
        return _is_simple(node.operand)
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))
