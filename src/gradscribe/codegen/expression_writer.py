"""Expressions as text: parentheses only where precedence asks for them, subscripts with slices,
strings in double quotes, spaces as ruff sets them."""

from __future__ import annotations

import ast

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


def string(value: str) -> str:
    """A string literal, in double quotes where that needs no more escapes."""
    text = repr(value)
    if text[0] == "'" and '"' not in text:
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    return text


class ExpressionWriter(Unparser):  # type: ignore[misc]
    """Keeps astunparse's statements and replaces its expressions; `self.f` receives the text."""

    @property
    def text(self) -> str:
        return str(self.f.getvalue()).strip("\n") + "\n"

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
            type(self)(part.value).text for part in t.values if isinstance(part, ast.FormattedValue)
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
        text = type(self)(part.value).text.rstrip("\n")
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
