"""The adjoint of one operation, run operation by operation on values of any class.

A backward that is recorded runs it on Tensors: what NumPy's functions do with them is recorded,
so the graph of the gradient is made of operations like any other, by the one rule that compiled
code has, too. Nothing is computed, and no operand asked for, but what the wanted gradients read.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

from gradscribe.compiler.stages import Stages
from gradscribe.ir.core import Method, Operation, Primitive, Value, map_operands
from gradscribe.ir.probing import probe
from gradscribe.primitives.applying import index_of
from gradscribe.primitives.control import CONSTANT, COPY, ITEM, LEFT, TUPLE, ZEROS_LIKE
from gradscribe.primitives.indexing import GATHER, GETITEM, LENGTH, SIZE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.adjoint.split import is_adjoint, simplify_joined

_FULL_LIKE = PRIMITIVES[np.full_like]
_OF_SHAPES = frozenset(
    {LENGTH, SIZE, ZEROS_LIKE, _FULL_LIKE, PRIMITIVES[np.zeros_like], PRIMITIVES[np.ones_like]}
)
"""Operations that read no element of their first operand."""


class AdjointByOperations:
    """The adjoint of an operation.

    is_possible: whether it is made of calls, without branches, loops and stores, and of nothing
    that the operation itself had to compute on its way to the result. reads: the positions of the
    leaves whose elements it reads; reads_result: whether it reads those of the result (of an
    operation with one).
    """

    def __init__(self, stages: Stages) -> None:
        joined = simplify_joined(stages.joined.function, stages.joined.seeds).body
        results = stages.primal.body.yields
        leaves = len(stages.primal.body.parameters)
        self._gradients = joined.yields[len(results) :]
        self._made = {r: o for o in joined.operations for r in o.results}
        self._operands = {v: i for i, v in enumerate(joined.parameters[:leaves])}
        self._seeds = joined.parameters[leaves:]
        self._result = joined.yields[0] if len(results) == 1 else None
        self.reads: set[int] = set()
        self.reads_result = False
        self.is_possible = all(map(self._can_compute, self._gradients))

    def _can_compute(self, value: Value) -> bool:
        """Whether a value can be computed; takes note of what it is made of."""
        if value in self._operands:
            self.reads.add(self._operands[value])
        elif value is self._result:
            self.reads_result = True
        elif value not in self._seeds:
            operation = self._made[value]
            is_shape = operation.primitive in _OF_SHAPES and self._is_given(operation.operands[0])
            operands = operation.operands[1:] if is_shape else operation.operands
            return _is_call(operation) and all(map(self._can_compute, operands))
        return True

    def _is_given(self, value: Value) -> bool:
        return value in self._operands or value is self._result

    def gradients(self, point: Any, cotangents: Sequence[Any]) -> list[Any]:
        """The gradients of the active leaves.

        point: where they are taken, values of one class that are fetched when they are first
            read: `operand(position)`, `result()`, and of their shape and dtype alone,
            `operand_like(position)` and `result_like()`.
        """
        known: dict[Value, Any] = dict(zip(self._seeds, cotangents, strict=True))
        return [self._value(value, point, known) for value in self._gradients]

    def _value(self, value: Value, point: Any, known: dict[Value, Any]) -> Any:
        if value in known:
            return known[value]
        if value in self._operands:
            found = point.operand(self._operands[value])
        elif value is self._result:
            found = point.result()
        else:
            operation = self._made[value]
            found = _run(operation, self._operands_of(operation, point, known))
            if len(operation.results) > 1:
                known.update(zip(operation.results, found, strict=True))
                return known[value]
        known[value] = found
        return found

    def _operands_of(self, operation: Operation, point: Any, known: dict[Value, Any]) -> list[Any]:
        first, *rest = operation.operands or (None,)
        others = [self._value(operand, point, known) for operand in rest]
        if first is None:
            return []
        if operation.primitive not in _OF_SHAPES or not self._is_given(first):
            return [self._value(first, point, known), *others]
        if first is self._result:
            return [point.result_like(), *others]
        return [point.operand_like(self._operands[first]), *others]


def _is_call(operation: Operation) -> bool:
    """Whether an operation is a call that belongs to the adjoint, or costs nothing."""
    if operation.regions or operation.primitive.effect:
        return False
    if not is_adjoint(operation) and not operation.primitive.cheap:
        return operation.primitive is CONSTANT
    return operation.primitive in _HANDLERS or _is_foreign(_callee(operation))


def _is_foreign(callee: Any) -> bool:
    """Whether a function is NumPy's or Python's, which hand a call over to what they are given."""
    module = probe(callee, "__module__") or ""
    return callee is not None and module.partition(".")[0] != "gradscribe"


def _callee(operation: Operation) -> Any:
    """The function to call; of a method, the function that it stands for."""
    if operation.callee is None or isinstance(operation.callee, Method):
        return operation.primitive.callee
    return operation.callee


_NUMPYS: dict[Any, Any] = {operator.sub: np.subtract, operator.matmul: np.matmul}
"""In place of operators that refuse Tensors of several dtypes: rules promote them, as NumPy does,
and take masks from numbers."""


def _run(operation: Operation, operands: Sequence[Any]) -> Any:
    arguments = map_operands(dict(operation.attributes), lambda o: operands[o.index])
    handler = _HANDLERS.get(operation.primitive)
    if handler is not None:
        return handler(arguments)
    positional, keywords = _bound(operation.primitive, arguments)
    callee = _callee(operation)
    if not all(isinstance(operand, (int, float, complex)) for operand in positional):
        callee = _NUMPYS.get(callee, callee)
    return callee(*positional, **keywords)


def _bound(primitive: Primitive, arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, without the last ones that are as they are by default."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    given = 0
    signature = primitive.signature
    parameters: dict[str, Any] = dict(signature.parameters) if signature else {}
    for name, value in arguments.items():
        parameter = parameters.get(name)
        kind = parameter.kind if parameter else Parameter.POSITIONAL_OR_KEYWORD
        is_default = parameter is not None and _is_default(parameter, value)
        if kind is Parameter.VAR_KEYWORD:
            keywords |= value
        elif kind is Parameter.KEYWORD_ONLY and not is_default:
            keywords[name] = value
        elif kind is not Parameter.KEYWORD_ONLY:
            positional += value if kind is Parameter.VAR_POSITIONAL else [value]
            given = given if is_default else len(positional)
    return positional[:given], keywords


def _is_default(parameter: Parameter, value: Any) -> bool:
    default = parameter.default
    is_static = isinstance(value, (type(None), bool, int, float, str, tuple))
    return is_static and type(default) is type(value) and default == value


def _broadcast(array: Any, shape: Sequence[int]) -> Any:
    """A broadcast that is none is not recorded."""
    return array if np.shape(array) == tuple(shape) else np.broadcast_to(array, shape)


def _element(given: dict[str, Any]) -> Any:
    return given["x"][index_of(given["index"])]


_HANDLERS: dict[Primitive, Callable[[dict[str, Any]], Any]] = {
    CONSTANT: lambda given: given["value"],
    TUPLE: lambda given: tuple(given["items"]),
    ITEM: lambda given: given["x"][given["position"]],
    GETITEM: _element,
    GATHER: _element,
    LENGTH: lambda given: given["x"].shape[given["axis"]],
    SIZE: lambda given: math.prod(given["x"].shape),
    COPY: lambda given: given["x"],
    LEFT: lambda given: given["x"],
    PRIMITIVES[np.asarray]: lambda given: given["x"],
    PRIMITIVES[np.broadcast_to]: lambda given: _broadcast(given["x"], given["shape"]),
    ZEROS_LIKE: lambda given: np.zeros_like(given["x"]),
    _FULL_LIKE: lambda given: _broadcast(given["fill_value"], given["x"].shape),
}
"""Operations that are no calls, from their arguments."""
