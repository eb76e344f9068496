"""The forward pass: every operation is rewritten by the rules of its primitive, then looked up
among the equal ones before it.

A rule is a function `(rewriter, operation) -> Value | None`: the value that stands for the
operation's result, or None. What it emits on the way is rewritten in turn, so that one pass
does nearly all there is to do. A value that is replaced by another of the same type needs no
new types after it: operations keep their results, only their operands change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    Block,
    Function,
    Operand,
    Operation,
    Primitive,
    Value,
    map_operands,
)
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.analyses.left import left_values
from gradscribe.transforms.analyses.lookups import lookups_of
from gradscribe.transforms.passes.simplify import regions
from gradscribe.transforms.passes.simplify.cse import Available
from gradscribe.transforms.passes.simplify.table import rules_of
from gradscribe.transforms.passes.simplify.types import same_type

RECORD = "record"
"""The name of the parameter that holds the record of a forward function."""


def rewrite(function: Function, seeds: Collection[Value] = ()) -> Function:
    """One forward pass over the function; the function itself where no rule applied."""
    rewriter = Rewriter(function, seeds)
    body = rewriter.block(function.body)
    return replace(function, body=body) if rewriter.changed else function


class Rewriter:
    """The state of a forward pass, and what rules may ask and do.

    changed: whether anything was replaced. visible: the values that may be used here.
    uses: how often each value of the function was used before the pass. definitions: the
    operation (as rewritten) that defines each value. roots: for arrays made by stores, the
    array that the chain of stores started from. elements: for records, what each iteration of the
    loop collects. known: conditions whose value is known here. lookups: those of keys whose answer
    is known. axes, arrays: the parameters that have a length, or a type. seeds: those of them that
    the primal part must not read.
    """

    def __init__(self, function: Function, seeds: Collection[Value] = ()) -> None:
        self.facts = function.facts
        self.parameters = function.body.parameters
        self.changed = False
        self.visible: set[Value] = set()
        self.definitions: dict[Value, Operation] = {}
        self.uses = count_uses(function)
        self.roots: dict[Value, Value] = {}
        self.elements: dict[Value, tuple[Operation, Value]] = {}
        self.known: dict[Value, bool] = {}
        self.lookups = lookups_of(function)
        self.axes: dict[Affine, tuple[Value, int]] = {}
        self.arrays: dict[Type, Value] = {}
        self._place: dict[Value, int] = {}
        self._substitution: dict[Value, Value] = {}
        self._available = Available(left_values(function))
        self._builder = Builder(function.facts)
        self._operations: list[Operation] = []
        self.seeds = frozenset(seeds)
        recorded = {leaf for p in function.parameters if p.name == RECORD for leaf in p.leaves}
        self._recorded = function.undefined | recorded
        self._remember_parameters()

    def _remember_parameters(self) -> None:
        """Where the lengths and types of the function's arguments are found. What stands in a
        record may be undefined (a value of a branch that was not taken)."""
        for value in self.parameters:
            if isinstance(value.type, Array) and value not in self._recorded:
                self.arrays.setdefault(value.type, value)
                for axis, length in enumerate(value.type.dims):
                    self.axes.setdefault(length, (value, axis))

    def block(self, block: Block) -> Block:
        """The block, rewritten; it is itself where nothing changed."""
        with self.scope(block.parameters) as operations:
            for operation in block.operations:
                self.visit(operation)
            yields = self.resolve_all(block.yields)
        if yields == block.yields and len(operations) == len(block.operations):
            pairs = zip(operations, block.operations, strict=True)
            if all(new is old for new, old in pairs):
                return block
        return Block(block.parameters, tuple(operations), yields)

    @contextmanager
    def scope(self, parameters: tuple[Value, ...]) -> Iterator[list[Operation]]:
        """A nested block: what it defines is not visible after it."""
        outer = self._operations
        operations = self._operations = []
        self.visible.update(parameters)
        with self._available.scope():
            yield operations
        self._operations = outer
        self.visible.difference_update(parameters)
        for operation in operations:
            self.visible.difference_update(operation.results)

    def visit(self, operation: Operation) -> None:
        """Rewrite an operation of the old function and place it, or what stands for it."""
        operands = self.resolve_all(operation.operands)
        if operands != operation.operands:
            operation = replace(operation, operands=operands)
        if operation.regions:
            regions.REWRITES[operation.primitive](self, operation)
        elif len(operation.results) != 1:
            self.append(operation)
        else:
            value = self.place(operation)
            if value is not operation.results[0]:
                self.substitute(operation.results[0], value)

    def place(self, operation: Operation) -> Value:
        """Rewrite an operation with one result and append it, unless another value stands for
        it; that value."""
        for rule in rules_of(operation):
            value = rule(self, operation)
            if value is not None:
                return value
        earlier = self._available.find_or_add(operation)
        if earlier is not None:
            return earlier.results[0]
        self.append(operation)
        return operation.results[0]

    def append(self, operation: Operation) -> None:
        """Append an operation as it is."""
        self._operations.append(operation)
        for result in operation.results:
            self._place[result] = len(self._place)
            self.definitions[result] = operation
            self.visible.add(result)

    def substitute(self, value: Value, by: Value) -> None:
        """From here on, use another value for a value of the old function."""
        self._substitution[value] = by
        self.uses[by] += self.uses[value]
        self.changed = True

    def resolve(self, value: Value) -> Value:
        return self._substitution.get(value, value)

    def resolve_all(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        substitution = self._substitution
        for value in values:
            if value in substitution:
                return tuple([substitution.get(value, value) for value in values])
        return values

    def emit(
        self,
        primitive: Primitive,
        arguments: Mapping[str, Any],
        like: Operation,
        *,
        callee: Any = None,
        type_: Type | None = None,
        name: str = "",
    ) -> Value | None:
        """Place a new operation at the location of `like`; None if its type is not `type_`."""
        try:
            with self._builder.block() as made:
                self._builder.call(
                    primitive, arguments, name=name, callee=callee, location=like.location
                )
        except TypeError:
            return None
        (operation,) = made
        if type_ is not None:
            if not same_type(self.facts, operation.result.type, type_):
                return None
            operation = replace(operation, results=(Value(type_, name),))
        return self.place(operation)

    def again(self, operation: Operation, *operands: Value) -> Value | None:
        """The operation's result, of other operands; None if it is of another type."""
        arguments = map_operands(dict(operation.attributes), lambda o: operands[o.index])
        return self.emit(
            operation.primitive,
            arguments,
            operation,
            callee=operation.callee,
            type_=operation.result.type,
            name=operation.result.name,
        )

    def replacement(self, operation: Operation, function: Any, *operands: Value) -> Value | None:
        """The result of a function that is a primitive, of the type and name of the operation's
        result; None if it is of another type."""
        result = operation.result
        return self.apply(function, operation, *operands, type_=result.type, name=result.name)

    def apply(
        self,
        function: Any,
        like: Operation,
        *operands: Value,
        type_: Type | None = None,
        name: str = "",
    ) -> Value | None:
        """The result of a function that is a primitive; None if that is not of the type."""
        primitive = PRIMITIVES.get(function)
        if primitive is None or primitive.signature is None:
            return None
        arguments = primitive.arguments(*operands)
        return self.emit(primitive, arguments, like, callee=function, type_=type_, name=name)

    def at_hand(self, function: Any, *operands: Value) -> Value | None:
        """The result of a function that is a primitive, if it was computed before."""
        primitive = PRIMITIVES[function]
        assert primitive.signature is not None
        numbers = map(Operand, range(len(operands)))
        bound = primitive.signature.bind(*numbers)
        earlier = self._available.find(primitive, function, operands, bound.arguments)
        return None if earlier is None else earlier.results[0]

    def is_before(self, a: Value, b: Value) -> bool:
        """Whether one result of an operation was made before another."""
        return self._place[a] < self._place[b]

    def made_by(self, value: Value, *functions: Any) -> Operation | None:
        """The operation that defines a value, if it is one of these (functions or primitives)."""
        definition = self.definitions.get(value)
        if definition is not None:
            for function in functions:
                if definition.primitive is (PRIMITIVES.get(function) or function):
                    return definition
        return None

    def constant(self, value: Any, like: Operation) -> Value:
        result = self.emit(CONSTANT, {"value": value}, like)
        assert result is not None
        return result

    def constant_of(self, value: Value) -> Any:
        """The number that a value is known to be; None where it is not."""
        definition = self.definitions.get(value)
        if definition is None or definition.primitive is not CONSTANT:
            return None
        return definition.attributes["value"]

    def same_type(self, a: Value, b: Value) -> bool:
        return same_type(self.facts, a.type, b.type)

    def used_once(self, value: Value) -> bool:
        """Whether the value is read in one place at most (values of this pass count as such)."""
        return self.uses[value] <= 1


def count_uses(function: Function) -> Counter[Value]:
    """How often each value is an operand or a yield."""
    used: list[Value] = []
    blocks = [function.body]
    while blocks:
        block = blocks.pop()
        used += block.yields
        for operation in block.operations:
            used += operation.operands
            blocks += operation.regions
    return Counter(used)
