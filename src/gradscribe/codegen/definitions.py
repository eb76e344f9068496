"""Functions of the user's program in emitted code: their own text, bound to what they capture.

`lambda v: k * v` is written `lambda v, *, k=k: k * v`, whatever becomes of the variable `k` later.
A module or function that goes by the same name needs no binding.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradscribe.codegen.user_text import UserDef, UserGenerator, UserLambda
from gradscribe.ir.core import Operand, Operation
from gradscribe.primitives.functions import FUNCTION, FunctionText

if TYPE_CHECKING:
    from gradscribe.codegen.expressions import Expressions


def is_definition(operation: Operation) -> bool:
    """Whether an operation makes a function by `def`."""
    if operation.primitive is not FUNCTION:
        return False
    return isinstance(operation.attributes["text"].tree, ast.FunctionDef)


def definition(write: Expressions, operation: Operation, called: str) -> ast.FunctionDef:
    """The `def` of a function, which is called so here."""
    text: FunctionText = operation.attributes["text"]
    tree = copy.deepcopy(text.tree)
    assert isinstance(tree, ast.FunctionDef)
    body = [_renamed(statement, text.name, called) for statement in tree.body]
    return UserDef(called, _parameters(write, operation, tree.args), body, [], None, None)


def function_expression(write: Expressions, operation: Operation) -> ast.expr:
    """The `lambda` that a function is."""
    tree = copy.deepcopy(operation.attributes["text"].tree)
    return UserLambda(_parameters(write, operation, tree.args), tree.body)


def generator_of(called: Sequence[ast.expr]) -> ast.expr | None:
    """The generator expression that a call of a function without parameters gives, where all that
    is bound is what its first `for` runs over."""
    function = called[0]
    if len(called) != 1 or not isinstance(function, UserLambda):
        return None
    body, bound = function.body, function.args.kwonlyargs
    if not isinstance(body, ast.GeneratorExp) or len(bound) > 1:
        return None
    first, *rest = body.generators
    if not bound:
        return UserGenerator(body.elt, body.generators)
    inner = [body.elt, first.target, *first.ifs, *rest]
    read = {n.id for part in inner for n in ast.walk(part) if isinstance(n, ast.Name)}
    if bound[0].arg in read or not isinstance(first.iter, ast.Name):
        return None
    if first.iter.id != bound[0].arg:
        return None
    over = function.args.kw_defaults[0]
    assert over is not None
    return UserGenerator(
        body.elt, [ast.comprehension(first.target, over, first.ifs, first.is_async), *rest]
    )


def _parameters(
    write: Expressions, operation: Operation, parameters: ast.arguments
) -> ast.arguments:
    """The parameters with their default values, and those that what is captured is bound to."""
    given = operation.attributes["defaults"]
    positional = [*parameters.posonlyargs, *parameters.args]
    parameters.defaults = [
        write.argument(operation, given[p.arg]) for p in positional if p.arg in given
    ]
    parameters.kw_defaults = [
        write.argument(operation, given[p.arg]) if p.arg in given else None
        for p in parameters.kwonlyargs
    ]
    for captured, value in _bound(write, operation).items():
        parameters.kwonlyargs.append(ast.arg(captured, None))
        parameters.kw_defaults.append(value)
    return parameters


def _bound(write: Expressions, operation: Operation) -> Mapping[str, ast.expr]:
    """What is bound, by name: all but what is known and goes by that name here, too."""
    captures: dict[str, Any] = operation.attributes["captures"]
    written = {key: write.argument(operation, tree) for key, tree in captures.items()}
    return {
        key: value
        for key, value in written.items()
        if isinstance(captures[key], Operand)
        or not (isinstance(value, ast.Name) and value.id == key)
    }


def _renamed(statement: Any, old: str, new: str) -> Any:
    """A statement in which a function that calls itself goes by another name."""
    for node in ast.walk(statement) if old != new else ():
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
    return statement
