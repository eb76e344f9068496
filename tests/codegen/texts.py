"""Statements as text."""

from __future__ import annotations

import ast
import re

_TARGET = re.compile(r"^( *)(for )?\(([^()]*)\)( in | = )", re.MULTILINE)


def unparsed(node: ast.AST) -> str:
    """The text of statements, the same on each Python: 3.10 puts targets in parentheses."""
    return _TARGET.sub(r"\1\2\3\4", ast.unparse(ast.fix_missing_locations(node)))
