"""Functions that the program makes, as objects of the running program.

Code that cannot be read is given a function as it stands in the user's source. What the function
captures is bound where the object is made, to parameters of its own that are given by name only:

    lambda v: k * v        →        lambda v, *, k=k: k * v
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradscribe.ir.core import Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Opaque, Type
from gradscribe.primitives.control import signature


@dataclass(frozen=True, eq=False)
class FunctionText:
    """A function of the program as it is written, without decorators, annotations and defaults.

    free: the names that it reads from outside, and what the program calls them. with_default: the
    parameters that have a default value. problem: why it cannot be made an object ("": it can be).
    """

    tree: ast.FunctionDef | ast.Lambda
    free: Mapping[str, str]
    with_default: frozenset[str] = frozenset()
    problem: str = ""

    @property
    def name(self) -> str:
        return self.tree.name if isinstance(self.tree, ast.FunctionDef) else ""


def _function_type(
    facts: Facts, callee: Any, text: FunctionText, defaults: Any, captures: Any
) -> Type:
    return Opaque(types.FunctionType)


FUNCTION = Primitive("function", _function_type, signature("text", "defaults", "captures"))
"""A new function object with the attribute `text`. defaults: the default values of parameters;
captures: what the free names stand for, both by name."""
