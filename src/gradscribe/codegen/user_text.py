"""Parts of the user's program that stand in emitted code as they are written.

They may hold any syntax of Python, so their text is made by `ast` itself.
"""

from __future__ import annotations

import ast
import copy
from typing import Any


class UserLambda(ast.Lambda):
    """A lambda of the user's program."""


class UserGenerator(ast.GeneratorExp):
    """A generator expression of the user's program."""


class UserDef(ast.FunctionDef):
    """A function of the user's program."""


def unparse(tree: ast.AST) -> str:
    """The text of a tree in which these stand."""
    return ast.unparse(ast.fix_missing_locations(_Plain().visit(copy.deepcopy(tree))))


class _Plain(ast.NodeTransformer):
    """Puts nodes of Python's own classes in the place of ours."""

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        for cls in (UserLambda, UserGenerator, UserDef):
            if isinstance(node, cls):
                plain: Any = cls.__base__
                return plain(**{name: getattr(node, name, None) for name in node._fields})
        return node
