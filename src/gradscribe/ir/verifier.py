"""The rules of the IR, checked.

Every transform may assume them and must keep them; the test suite runs `verify` after each:

- each value is defined once, before its uses, in a block that encloses them;
- the parameters of a function are the leaves of its parameter trees, likewise its result;
- attributes number all operands, and hold no values themselves; the type rule gives the type of
  the result;
- regions have the parameters, yields and results that `if` and `loop` ask for, in number and
  type (see `gradscribe.ir.core`).

Types are compared without lengths, except that two known lengths must agree. What flows into
a value (an initial value, a yield) may be narrower than it: Never, Undefined, or a scalar or
container type that joins to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Callee,
    Function,
    LoopShape,
    Operand,
    Operation,
    Primitive,
    SliceOf,
    Value,
    map_operands,
)
from gradscribe.ir.flow import Loop
from gradscribe.ir.printer import print_function
from gradscribe.ir.trees import Node, count_leaves
from gradscribe.ir.types import (
    BOOL,
    INT,
    Array,
    Collected,
    JoinError,
    Opaque,
    RecordOf,
    Scalar,
    Type,
    is_integer,
    join,
    map_lengths,
)
from gradscribe.ir.types import Sequence as SequenceType


class VerificationError(AssertionError):
    """A function that breaks the rules of the IR; the text says which, and shows it."""


def verify(function: Function) -> None:
    """Check a function. Raises VerificationError."""
    try:
        _Verifier(function).function()
    except _RuleError as error:
        raise VerificationError(
            f"{function.name}: {error}\n{_shown(function)}"
        ) from error.__cause__


def _shown(function: Function) -> str:
    try:
        return print_function(function)
    except Exception as error:  # the function is known to be broken
        return f"function {function.name}(cannot be printed: {error})"


class _RuleError(Exception):
    """A broken rule, without the text of the function."""


class _Verifier:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._facts = function.facts.fork()
        self._visible: set[Value] = set()
        self._defined: set[Value] = set()

    def function(self) -> None:
        body = self._function.body
        leaves: list[Value] = []
        for parameter in self._function.parameters:
            _same_number(
                f"leaves of parameter {parameter.name}",
                count_leaves(parameter.tree),
                len(parameter.leaves),
            )
            leaves += parameter.leaves
        if leaves != list(body.parameters):
            raise _RuleError(
                "the body's parameters are not the leaves of the function's parameters"
            )
        _same_number("leaves of the result", count_leaves(self._function.result), len(body.yields))
        self._block(body)

    def _block(self, block: Block) -> None:
        """Check a block; what it defines is not visible after it."""
        outside = set(self._visible)
        self._define(block.parameters, "a block parameter")
        for operation in block.operations:
            text = _describe(operation)
            self._use(operation.operands, text)
            for region in operation.regions:
                self._block(region)
            check = _CHECKS.get(operation.primitive)
            if check is not None:
                check(operation)
            else:
                self._plain(operation)
            self._define(operation.results, text)
        self._use(block.yields, "a yield")
        self._visible = outside

    def _define(self, values: Iterable[Value], where: str) -> None:
        for value in values:
            if value in self._defined:
                raise _RuleError(f"{value!r} is defined again by {where}")
            self._defined.add(value)
            self._visible.add(value)

    def _use(self, values: Iterable[Value], where: str) -> None:
        for value in values:
            if value not in self._visible:
                state = "outside its block" if value in self._defined else "before its definition"
                raise _RuleError(f"{value!r} is used {state}, by {where}")

    def _plain(self, operation: Operation) -> None:
        """An operation without regions: its attributes, and its type by its own rule."""
        text = _describe(operation)
        if operation.regions or len(operation.results) != 1:
            raise _RuleError(f"{text} must have one result and no regions")
        for value in _values(operation.attributes):
            raise _RuleError(f"{text} has {value!r} among its attributes, not its operands")
        count = len(operation.operands)
        numbers = sorted(operand.index for operand in _operands(operation.attributes))
        if sorted(set(numbers)) != list(range(count)):
            raise _RuleError(f"{text} has {count} operands; its attributes use those of {numbers}")
        arguments = map_operands(
            dict(operation.attributes), lambda operand: operation.operands[operand.index].type
        )
        try:
            type_ = operation.primitive.type_rule(self._facts, operation.callee, **arguments)
        except TypeError as error:
            raise _RuleError(f"{text}: {error}") from error
        if not (_fits(type_, operation.result.type) and _fits(operation.result.type, type_)):
            raise _RuleError(f"{text} makes {type_!r}, not {operation.result.type!r}")


def _check_if(operation: Operation) -> None:
    text = _describe(operation)
    _same_number(f"operands of {text}", 1, len(operation.operands))
    _same_number(f"regions of {text}", 2, len(operation.regions))
    _condition(operation.operands[0].type, text)
    for region in operation.regions:
        _same_number(f"block parameters of {text}", 0, len(region.parameters))
        _all_fit(f"yields of {text}", region.yields, _types(operation.results))


def _check_call(operation: Operation) -> None:
    text = _describe(operation)
    callee = operation.attributes.get("function")
    if callee is None:
        raise _RuleError(f"{text} names no function")
    if isinstance(callee, Callee):
        function = callee.function
        parameters = function.parameters
        _same_number(f"arguments of {text}", len(parameters), len(operation.operands))
        for operand, parameter in zip(operation.operands, parameters, strict=True):
            if not isinstance(operand.type, RecordOf):
                _fit(f"an argument of {text}", operand.type, parameter.leaves[0].type)
        result = function.result
        count = len(result.children) if isinstance(result, Node) else 1
        _same_number(f"results of {text}", count, len(operation.results))
        for value, given in zip(operation.results, function.body.yields, strict=False):
            if not isinstance(value.type, RecordOf):
                _fit(f"a result of {text}", given.type, value.type)


def _check_loop(operation: Operation) -> None:
    text = _describe(operation)
    shape = operation.attributes.get("shape")
    if not isinstance(shape, LoopShape):
        raise _RuleError(f"{text} has no shape")
    if shape.reversed and (shape.condition or not shape.iterables):
        raise _RuleError(f"{text} is reversed: it needs iterables, and can have no condition")
    _same_number(f"regions of {text}", 1 + shape.condition, len(operation.regions))
    _same_number(
        f"operands of {text}", shape.iterable_operands + shape.carried, len(operation.operands)
    )
    body = operation.regions[0]
    count = len(shape.iterables)
    _same_number(f"block parameters of {text}", count + shape.carried, len(body.parameters))
    _same_number(
        f"yields of {text}", shape.carried + shape.exits + shape.collects, len(body.yields)
    )
    _same_number(f"results of {text}", shape.carried + shape.collects, len(operation.results))
    loop = Loop(operation)
    for kind, operands, item in loop.iterated:
        expected = _ITEM_TYPES[kind](_types(operands), text)
        _fit(f"the item of {text}", expected, item.type)
    _check_carried(loop, text)
    for flag in loop.exits:
        _fit(f"the exit flag of {text}", flag.type, BOOL)
    for element, record in loop.records:
        _fit(f"a record of {text}", Collected(element.type), record.type)


def _check_carried(loop: Loop, text: str) -> None:
    carried = _types(loop.parameters)
    _all_fit(f"initial values of {text}", loop.initial, carried)
    _all_fit(f"yields of {text}", loop.following, carried)
    for parameter, result in zip(carried, loop.results, strict=True):
        _fit(f"a result of {text}", parameter, result.type)
    if loop.condition:
        _all_fit(f"condition parameters of {text}", loop.condition.parameters, carried)
        _same_number(f"condition yields of {text}", 1, len(loop.condition.yields))
        _condition(loop.condition.yields[0].type, text)


def _range_item(operands: Sequence[Type], text: str) -> Type:
    if not all(map(is_integer, operands)):
        raise _RuleError(f"{text} has a range of {', '.join(map(repr, operands))}")
    return INT


def _array_item(operands: Sequence[Type], text: str) -> Type:
    (array,) = operands
    if not isinstance(array, Array) or not array.dims:
        raise _RuleError(f"{text} runs over {array!r}")
    if array.rank == 1:
        return Scalar(array.dtype, weak=False)
    return Array(array.dtype, array.dims[1:], array.module, array.spelling)


def _container_item(operands: Sequence[Type], text: str) -> Type:
    (container,) = operands
    if not isinstance(container, (SequenceType, Collected)):
        raise _RuleError(f"{text} runs over {container!r}")
    return container.item


_ITEM_TYPES: dict[str, Callable[[Sequence[Type], str], Type]] = {
    "range": _range_item,
    "array": _array_item,
    "sequence": _container_item,
    "collected": _container_item,
}

_CHECKS: dict[Primitive, Callable[[Operation], None]] = {
    IF: _check_if,
    LOOP: _check_loop,
    CALL: _check_call,
}


def _condition(type_: Type, text: str) -> None:
    if not isinstance(type_, (Scalar, Array, Opaque)):
        raise _RuleError(f"{text} has a condition of type {type_!r}")


def _types(values: Iterable[Value]) -> list[Type]:
    return [value.type for value in values]


def _all_fit(what: str, values: Sequence[Value], types: Sequence[Type]) -> None:
    _same_number(what, len(types), len(values))
    for value, type_ in zip(values, types, strict=True):
        _fit(f"{what}: %{value.name or 'value'}", value.type, type_)


def _fit(what: str, given: Type, expected: Type) -> None:
    if not _fits(given, expected):
        raise _RuleError(f"{what}: expected {expected!r}, found {given!r}")


def _fits(given: Type, expected: Type) -> bool:
    """Whether a value of type `given` may stand where `expected` is declared."""
    try:
        joined = join(_without_lengths(given), _without_lengths(expected))
    except JoinError:
        return False
    return joined == _without_lengths(expected) and _known_lengths_agree(given, expected)


def _without_lengths(type_: Type) -> Type:
    return map_lengths(type_, lambda length: None)


def _known_lengths_agree(a: Type, b: Type) -> bool:
    if not (isinstance(a, Array) and isinstance(b, Array)):
        return True
    pairs = ((x.known, y.known) for x, y in zip(a.dims, b.dims, strict=True))
    return all(x == y for x, y in pairs if x is not None and y is not None)


def _same_number(what: str, expected: int, found: int) -> None:
    if expected != found:
        raise _RuleError(f"{what}: expected {expected}, found {found}")


def _values(tree: Any) -> Iterator[Value]:
    """The values in a tree of attributes, where only their numbers may stand."""
    if isinstance(tree, Value):
        yield tree
    elif isinstance(tree, SliceOf):
        yield from _values((tree.start, tree.stop, tree.step))
    elif isinstance(tree, (tuple, list, set, frozenset)):
        for item in tree:
            yield from _values(item)
    elif isinstance(tree, Mapping):
        yield from _values(tuple(tree.values()))


def _operands(tree: Any) -> Iterator[Operand]:
    found: list[Operand] = []
    map_operands(tree, lambda operand: found.append(operand))
    return iter(found)


def _describe(operation: Operation) -> str:
    results = ", ".join(f"%{result.name}" for result in operation.results if result.name)
    line = f" (line {operation.location.line})" if operation.location else ""
    return f"{results and results + ' = '}{operation.primitive.name}{line}"
