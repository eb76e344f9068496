"""Operations as expressions.

Each operation prints as the user spelled it: by operator, function or method. Operands come
in the order of the primitive's signature; static arguments that differ from the default are
keywords.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

from gradscribe.codegen.literals import exact_literal, literal
from gradscribe.codegen.namespace import Scope
from gradscribe.codegen.normalize import ShapeOf
from gradscribe.codegen.rewriting import name
from gradscribe.codegen.spellings import OPERATORS, SPELLINGS
from gradscribe.codegen.uses import Uses
from gradscribe.ir.core import Method, Operand, Operation, Primitive, SliceOf, Value
from gradscribe.ir.probing import probe
from gradscribe.primitives import indexing
from gradscribe.primitives.control import CONSTANT, EFFECT, ENTER, FORMAT, FORMAT_NOW, RUN
from gradscribe.primitives.functions import FUNCTION
from gradscribe.primitives.registry import PRIMITIVES

ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "shape", "size", "ndim", "dtype", "itemsize"})
"""Methods (in the sense of `Method`) that are spelled without a call."""

WITHOUT_KEYWORDS = frozenset({"transpose", "swapaxes", "item"})
"""Methods of arrays that take no keyword arguments."""


class Expressions:
    """Writes values as expressions.

    names: of the variables. folded: the values that are written out where they are read.
    """

    def __init__(
        self, names: Mapping[Value, str], uses: Uses, folded: set[Value], scope: Scope
    ) -> None:
        self.uses = uses
        self.scope = scope
        self._names = names
        self._folded = folded

    def value(self, value: Value) -> ast.expr:
        """A variable's name, or the expression that was folded."""
        if value in self._folded:
            return self.operation(self.uses.producer[value])
        return name(self._names[value])

    def values(self, values: Sequence[Value]) -> list[ast.expr]:
        return [self.value(value) for value in values]

    def operation(self, operation: Operation) -> ast.expr:
        """The expression that computes an operation's result."""
        special = SPELLINGS.get(operation.primitive)
        if special is not None:
            return special(self, operation)
        callee = self.callee(operation)
        if isinstance(callee, Method):
            return self._method(callee.name, operation)
        rule = OPERATORS.get(callee)
        if rule is not None:
            return rule(self, operation)
        positional, keywords = self.arguments(operation)
        return ast.Call(self.scope.reference(callee), positional, keywords)

    def callee(self, operation: Operation) -> Any:
        """What the user called, or would have called."""
        if operation.callee is not None:
            return operation.callee
        return first_callee(operation.primitive)

    def argument(self, operation: Operation, tree: Any) -> ast.expr:
        """An argument, static or with operands in it."""
        if isinstance(tree, Operand):
            return self.value(operation.operands[tree.index])
        if isinstance(tree, ShapeOf):
            array = self.argument(operation, tree.operand)
            return ast.Attribute(array, "shape", ast.Load())
        if isinstance(tree, SliceOf):
            parts = (tree.start, tree.stop, tree.step)
            return ast.Slice(*(p if p is None else self.argument(operation, p) for p in parts))
        if isinstance(tree, (tuple, list)):
            container = ast.Tuple if isinstance(tree, tuple) else ast.List
            return container([self.argument(operation, item) for item in tree], ast.Load())
        if isinstance(tree, dict):
            keys: list[ast.expr | None] = [exact_literal(key, self.scope) for key in tree]
            return ast.Dict(keys, [self.argument(operation, item) for item in tree.values()])
        form = exact_literal if _may_keep(operation) else literal
        return form(tree, self.scope)

    def arguments(self, operation: Operation) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The arguments of a call: operands and required ones by position, the rest by name."""
        positional: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        skipped = False
        for parameter in parameters_of(operation):
            tree = operation.attributes[parameter.name]
            if parameter.kind is Parameter.VAR_POSITIONAL:
                positional += [self.argument(operation, item) for item in tree]
            elif parameter.kind is Parameter.VAR_KEYWORD:
                keywords += [ast.keyword(k, self.argument(operation, v)) for k, v in tree.items()]
            elif _is_default(tree, parameter.default):
                skipped = True
            elif skipped or keywords or _goes_by_name(parameter, tree):
                keywords.append(ast.keyword(parameter.name, self.argument(operation, tree)))
            else:
                positional.append(self.argument(operation, tree))
        return positional, keywords

    def subscript(self, operation: Operation, array: ast.expr, index: tuple[Any, ...]) -> ast.expr:
        """`array[index]`."""
        items = [self.argument(operation, item) for item in index]
        inner = items[0] if len(items) == 1 else ast.Tuple(items, ast.Load())
        return ast.Subscript(array, inner, ast.Load())

    def view(self, operation: Operation, array: ast.expr, path: tuple[Any, ...]) -> ast.expr:
        """The view of an array that a path leads to: `A.T[0]`."""
        for primitive, arguments in path:
            if primitive in indexing.READS:
                array = self.subscript(operation, array, arguments["index"])
            elif primitive.name == "transpose" and all(a is None for a in arguments.values()):
                array = ast.Attribute(array, "T", ast.Load())
            else:
                array = self._view_call(operation, primitive, array, arguments)
        return array

    def _view_call(
        self, operation: Operation, primitive: Primitive, array: ast.expr, arguments: Any
    ) -> ast.expr:
        signature = primitive.signature
        assert signature is not None
        call = ast.Call(self.scope.reference(first_callee(primitive)), [array], [])
        for key, tree in arguments.items():
            parameter = signature.parameters[key]
            if not _is_default(tree, parameter.default):
                argument = self.argument(operation, tree)
                if parameter.default is Parameter.empty:
                    call.args.append(argument)
                else:
                    call.keywords.append(ast.keyword(key, argument))
        return call

    def _method(self, method: str, operation: Operation) -> ast.expr:
        positional, keywords = self.arguments(operation)
        attribute = ast.Attribute(positional[0], method, ast.Load())
        if method in ATTRIBUTES:
            return attribute
        if method in WITHOUT_KEYWORDS:
            positional, keywords = positional + [keyword.value for keyword in keywords], []
        return ast.Call(attribute, positional[1:], keywords)


def _may_keep(operation: Operation) -> bool:
    """Whether what is given is kept, or shown, as it is: by code that is not NumPy's."""
    module = str(probe(operation.callee, "__module__")).partition(".")[0]
    return operation.primitive in _UNREAD and module not in ("numpy", "_operator")


_UNREAD = frozenset({CONSTANT, EFFECT, ENTER, FORMAT, FORMAT_NOW, FUNCTION, RUN})


def parameters_of(operation: Operation) -> list[Parameter]:
    """The parameters that an operation's attributes are bound to, in the order of the call."""
    signature = operation.primitive.signature
    if signature is None:
        kind = Parameter.POSITIONAL_OR_KEYWORD
        return [Parameter(name, kind) for name in operation.attributes]
    return [p for p in signature.parameters.values() if p.name in operation.attributes]


def first_callee(primitive: Primitive) -> Any:
    """A function that stands for a primitive which the compiler used by itself."""
    if primitive.callee is not None:
        return primitive.callee
    if primitive not in _FIRST_CALLEES:
        _FIRST_CALLEES.update((known, callee) for callee, known in reversed(PRIMITIVES.items()))
    return _FIRST_CALLEES[primitive]


_FIRST_CALLEES: dict[Primitive, Any] = {}


_BY_POSITION = frozenset({"stop", "step"})
"""Parameters of `np.arange` that nobody names, although they have defaults."""


def _goes_by_name(parameter: Parameter, tree: Any) -> bool:
    """Whether an argument reads better, or only can be given, by name."""
    if parameter.kind is Parameter.KEYWORD_ONLY:
        return True
    has_default = parameter.default is not Parameter.empty and parameter.name not in _BY_POSITION
    return has_default and not _has_operand(tree)


def _is_default(tree: Any, default: Any) -> bool:
    return tree is default or (type(tree) is type(default) and bool(tree == default))


def _has_operand(tree: Any) -> bool:
    if isinstance(tree, (tuple, list)):
        return any(map(_has_operand, tree))
    return isinstance(tree, (Operand, ShapeOf))
