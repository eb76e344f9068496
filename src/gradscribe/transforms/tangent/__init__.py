"""Forward mode: a function that computes, with its results, their derivatives along a direction.

Assumes a verified function of value semantics: a primal, or a joined gradient, whose tangent is
a second derivative. Guarantees that the operations of the function stand in the result as they
are, in their order; each is followed by the operations of its tangent (role "tangent"). Values
that do not depend on the active arguments have no tangent; a zero is made only where a region,
or an operation on several tangents, must be given one.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Linearity,
    Operand,
    Operation,
    Parameter,
    Primitive,
    Value,
    map_operands,
    walk,
)
from gradscribe.ir.trees import Node
from gradscribe.ir.types import (
    Array,
    Never,
    RecordOf,
    Scalar,
    Tuple,
    Type,
    Undefined,
    cotangent_type,
    is_differentiable,
)
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives import control, indexing
from gradscribe.transforms.analyses.absence import absences, telling
from gradscribe.transforms.analyses.activity import STRUCTURAL, Activity, activity_of
from gradscribe.transforms.analyses.definedness import possibly_undefined
from gradscribe.transforms.analyses.opacity import check_known, refuse_opaque, refusing_misfits
from gradscribe.transforms.derivatives import conjugates
from gradscribe.transforms.derivatives.cotangents import (
    call,
    constant,
    if_there,
    name_of,
    same_lengths,
)
from gradscribe.transforms.derivatives.given_rules import is_given
from gradscribe.transforms.derivatives.inlining import Inline, inline_exactly
from gradscribe.transforms.derivatives.templates import as_one_value
from gradscribe.transforms.tangent.calls import tangent_call
from gradscribe.transforms.tangent.fitting import fit
from gradscribe.transforms.tangent.managers import Managers
from gradscribe.transforms.tangent.mixed_lists import refuse_integers, without_integers
from gradscribe.transforms.tangent.poles import Poles
from gradscribe.transforms.tangent.regions import recorded_values, tangent_if, tangent_loop
from gradscribe.transforms.tangent.signature import keep_leaves, unused
from gradscribe.transforms.tangent.stores import tangent_of_accumulation, tangent_of_store
from gradscribe.transforms.tangent.widening import put_into_lists, widened

_POSITIONS = frozenset({"shape", "index", "path", "num", "where", "shift", "k", "offset", "n"})
"""Parameters of linear operations whose integers are no data."""


def differentiate(
    function: Function,
    active: tuple[int, ...],
    inline: Inline,
    tangent_type: Callable[[Type], Type] = cotangent_type,
    *,
    of_gradient: bool = False,
    results: Collection[int] | None = None,
    activity: Activity | None = None,
) -> Function:
    """The tangent of a function along its active leaves (numbers of parameter leaves).

    It takes the function's parameters and then, for each parameter with active leaves, its
    tangent `d_<name>` (numbered where that is taken) of the same structure, with None at other
    leaves. It returns (result, d_result), where d_result has the structure of the result, with
    None for what is not differentiable, or not one of the leaves `results`. inline: inlines the
    rules of primitives. tangent_type: the type of the tangent of a parameter. activity: what is
    active, where that is known.
    of_gradient: the function is a gradient, which checks that it depends on no choice of vectors
    (`primitives.gauge`), and so may read tangents of such.
    """
    if activity is None:
        refuse_opaque(function, frozenset(active))
        activity = activity_of(function, frozenset(active))
    wanted = range(len(function.body.yields)) if results is None else results
    flags = [is_differentiable(v.type) and i in wanted for i, v in enumerate(function.body.yields)]
    recorded = itertools.compress(function.body.yields, flags) if function.record else ()
    tangent = Tangent(function, activity, inline, recorded, of_gradient)
    parameters = tuple(tangent.parameters(frozenset(active), tangent_type))
    undefined = {tangent.required(leaf) for leaf in function.undefined.intersection(tangent.known)}
    body = function.body
    with tangent.builder.block() as operations:
        tangent.block(body)
        d_leaves = list(map(tangent.required, itertools.compress(body.yields, flags)))
    return Function(
        f"{function.name}_tangent",
        (*function.parameters, *parameters),
        Block(
            (*body.parameters, *(leaf for parameter in parameters for leaf in parameter.leaves)),
            tuple(operations),
            (*body.yields, *d_leaves),
        ),
        Node(tuple, (function.result, keep_leaves(function.result, iter(flags)))),
        function.facts,
        undefined=function.undefined | undefined,
    )


class Tangent:
    """The tangents of one function, as they are made.

    active: the values that have, or need, a tangent. activity: what is active, in the functions
    that are called, too. inline: inlines rules. builder: where operations are appended.
    """

    def __init__(
        self,
        function: Function,
        activity: Activity,
        inline: Inline,
        recorded: Iterable[Value] = (),
        of_gradient: bool = False,
    ) -> None:
        self.builder = Builder(function.facts)
        self.inline = inline
        self._of_gradient = of_gradient
        self.activity = activity
        self.active = activity.values | set(recorded_values(function, recorded))
        self._function = function
        self._tangents: dict[Value, Value] = {}
        self.poles = Poles(self.builder)
        self._managers = Managers(self.builder)
        self._undefined: set[Value] = set()
        self._literals = {
            operation.results[0]: operation.attributes["value"]
            for operation in walk(function.body)
            if operation.primitive is control.CONSTANT
        }

    def parameters(
        self, active: frozenset[int], tangent_type: Callable[[Type], Type]
    ) -> Iterator[Parameter]:
        """The tangent parameters for the active leaves."""
        numbers = iter(range(len(self._function.body.parameters)))
        taken = {parameter.name for parameter in self._function.parameters}
        for parameter in self._function.parameters:
            chosen = [next(numbers) in active for _ in parameter.leaves]
            if any(chosen):
                name = unused(f"d_{parameter.name}", taken)
                tree = keep_leaves(parameter.tree, iter(chosen))
                leaves = [
                    self.define(leaf, Value(tangent_type(leaf.type), name_of(leaf)))
                    for leaf, is_active in zip(parameter.leaves, chosen, strict=True)
                    if is_active
                ]
                yield Parameter(name, tree, tuple(leaves))

    def define(self, value: Value, tangent: Value) -> Value:
        """Enter the tangent of a value."""
        self._tangents[value] = tangent
        return tangent

    def block(self, block: Block) -> None:
        """Append the operations of a block, each followed by its tangent."""
        with self._managers.block():
            for operation in block.operations:
                if not self.active.isdisjoint(operation.results):
                    with refusing_misfits(operation):
                        _VISITORS.get(operation.primitive, Tangent.plain)(self, operation)
                    continue
                self.builder.append(operation)
                self._managers.note(operation)
                if operation.primitive is control.UNDEF:
                    self._undefined.update(operation.results)

    def plain(self, operation: Operation) -> None:
        """Append an operation without regions, and its tangent."""
        self.builder.append(operation)
        with self.located(operation), self._managers.ignoring_invalid_values():
            before = len(self.builder.operations)
            tangent = self._rule(operation)
            if tangent is not None:
                result = operation.result
                if _reads_lists(operation):
                    same_lengths(self.builder.facts, tangent, result)
                tangent = fit(self.builder, tangent, result)
                made = self.builder.operations[before:]
                if any(tangent in other.results for other in made):
                    tangent = self.builder.rename(tangent, name_of(result))
                self.define(result, tangent)
                self.poles.note(operation, list(map(self.of, operation.operands)), tangent)

    @contextmanager
    def located(self, operation: Operation) -> Iterator[None]:
        """What is appended belongs to the tangent of an operation."""
        outer, location = self.builder.location, operation.location
        if location is not None:
            location = replace(location, role="tangent")
        self.builder.location = location
        yield
        self.builder.location = outer

    @property
    def known(self) -> Set[Value]:
        """The values that have a tangent."""
        return self._tangents.keys()

    def of(self, value: Value) -> Value | None:
        """The tangent of a value; None if it has none."""
        return self._tangents.get(value)

    def required(self, value: Value) -> Value:
        """The tangent of a value: a zero of its type where it has none."""
        tangent = self.of(value)
        return self._zero(value) if tangent is None else tangent

    def _zero(self, value: Value) -> Value:
        type_, builder = value.type, self.builder
        if value in self._undefined or isinstance(type_, (Never, Undefined)):
            return builder.call(control.UNDEF, {"type": cotangent_type(type_)})
        if isinstance(type_, Scalar):
            exact = not type_.weak and type_.dtype not in ("float64", "complex128")
            return constant(builder, np.dtype(type_.dtype).type(0) if exact else 0.0)
        if isinstance(type_, Tuple):
            items = [
                builder.call(control.ITEM, {"x": value, "position": position})
                for position in range(len(type_.items))
            ]
            return builder.call(control.TUPLE, {"items": tuple(map(self._tangent_item, items))})
        assert not isinstance(type_, RecordOf), "a record has a tangent, or none of its kind has"
        flags = telling(self._absent, value)
        if not flags and value in self._possibly_undefined and isinstance(type_, (ListType, Array)):
            return builder.call(control.ZEROS_LIKE, {"x": value, "optional": True})
        return if_there(
            builder, flags, value, lambda: builder.call(control.ZEROS_LIKE, {"x": value})
        )

    @cached_property
    def _possibly_undefined(self) -> Set[Value]:
        return possibly_undefined(self._function)

    @cached_property
    def _absent(self) -> dict[Value, list[tuple[Value, bool]]]:
        """For values that may be undefined, the flags that tell."""
        return absences(self._function)

    def _tangent_item(self, value: Value) -> Value:
        """What stands for a value in a tangent: its tangent; itself, if it can have none."""
        return self.required(value) if is_differentiable(value.type) else value

    def _rule(self, operation: Operation) -> Value | None:
        """The tangent of the operation's result, as its rule gives it."""
        primitive = operation.primitive
        rule = _RULES.get(primitive)
        if rule is not None:
            return rule(self, operation)
        if primitive not in STRUCTURAL:
            conjugates.check(operation)
        if primitive.tangent is Linearity.BILINEAR:
            return self._bilinear(operation)
        if primitive in STRUCTURAL:
            return self._linear(operation)
        if primitive.tangent is Linearity.LINEAR:
            tangent = self._same(operation, self._linear_operands(operation))
            return without_integers(self.inline, self.builder, operation, tangent)
        if callable(primitive.tangent):
            return self._explicit(operation, primitive.tangent)
        assert primitive.elementwise and primitive.adjoint, f"`{primitive.name}` has no tangent"
        return self._elementwise(operation, primitive.adjoint)

    def _linear(self, operation: Operation) -> Value:
        operands = list(map(self._tangent_item, operation.operands))
        for number, wanted in put_into_lists(operation):
            given = operation.operands[number]
            operands[number] = widened(self, given, operands[number], wanted)
        return self._same(operation, tuple(operands))

    def _linear_operands(self, operation: Operation) -> tuple[Value, ...]:
        """Tangents of the operands; integers that say where or how long stay as they are."""
        operands = list(map(self._tangent_of_data, operation.operands))

        def keep(operand: Operand) -> None:
            operands[operand.index] = operation.operands[operand.index]

        for name in _POSITIONS & set(operation.attributes):
            map_operands(operation.attributes[name], keep)
        return tuple(operands)

    def _tangent_of_data(self, value: Value) -> Value:
        """The tangent of a number or array: zero, of its own type, for integers."""
        if is_differentiable(value.type) or not isinstance(value.type, (Scalar, Array)):
            return self._tangent_item(value)
        if isinstance(value.type, Scalar):
            return constant(self.builder, 0)
        return self.builder.call(control.ZEROS_LIKE, {"x": value})

    def _bilinear(self, operation: Operation) -> Value | None:
        total: Value | None = None
        for position, value in enumerate(operation.operands):
            if value in self._tangents:
                operands = list(operation.operands)
                operands[position] = self._tangents[value]
                total = self._sum(total, self._same(operation, tuple(operands)))
        if total is not None and isinstance(operation.result.type, Array):
            is_number = isinstance(total.type, Scalar)  # the sum of arrays without axes is one
            return call(self.builder, np.asarray, total) if is_number else total
        return total

    def _same(self, operation: Operation, operands: tuple[Value, ...]) -> Value:
        """The operation, applied to other operands."""
        return self.builder.emit(
            operation.primitive, operands, operation.attributes, callee=operation.callee
        )

    def _elementwise(self, operation: Operation, rule: Callable[..., Any]) -> Value | None:
        """The sum of partial derivatives times tangents."""
        arguments = self._arguments(operation)
        partials = self._by_rule(operation, rule, {"out": operation.result, **arguments})
        if len(arguments) == 1 and not isinstance(partials, tuple):
            partials = (partials,)
        total: Value | None = None
        for argument, partial in _paired(tuple(arguments.values()), partials):
            if isinstance(argument, Value) and argument in self._tangents and partial is not None:
                check_known(operation, partial)
                tangent = self._tangents[argument]
                if conjugates.is_modulus(operation):
                    partial = conjugates.conjugate(self.builder, partial)
                term = self._times(tangent, partial)
                if conjugates.is_modulus(operation):
                    term = conjugates.real_part(self.builder, term)
                total = self._sum(total, self.poles.term(operation, tangent, partial, term))
        return total

    def _times(self, tangent: Value, partial: Any) -> Value:
        if not isinstance(partial, Value):
            if partial == 1:
                return tangent
            if partial == -1:
                return call(self.builder, operator.neg, tangent)
            partial = constant(self.builder, partial)
        return call(self.builder, operator.mul, tangent, partial)

    def _sum(self, total: Value | None, term: Value) -> Value:
        return term if total is None else call(self.builder, operator.add, total, term)

    def _explicit(self, operation: Operation, rule: Callable[..., Any]) -> Value | None:
        """The tangent by a rule `(out, *parameters, **d_parameters)`."""
        accepted = inspect.signature(rule).parameters
        arguments = {"out": operation.result, **self._arguments(operation)}
        for name, attribute in operation.attributes.items():
            if f"d_{name}" in accepted:
                arguments[f"d_{name}"] = self._tangents_in(attribute, operation.operands)
        if is_given(operation.primitive):
            refuse_integers(operation)
        arguments["of_gradient"] = self._of_gradient
        arguments = {name: value for name, value in arguments.items() if name in accepted}
        tangent = self._by_rule(operation, rule, arguments)
        tangent = as_one_value(self.builder, operation.result.type, tangent)
        if tangent is None or isinstance(tangent, Value):
            return tangent
        return constant(self.builder, tangent)

    def _tangents_in(self, attribute: Any, operands: Sequence[Value]) -> Any:
        """The tangents of the operands in an argument, in its structure: of numbers, zero."""
        if isinstance(attribute, Operand):
            return self._tangent_of_data(operands[attribute.index])
        if isinstance(attribute, (tuple, list)):
            return type(attribute)(self._tangents_in(item, operands) for item in attribute)
        return 0 if isinstance(attribute, (int, float, complex)) else attribute

    def _arguments(self, operation: Operation) -> dict[str, Any]:
        """The operation's arguments by name: values, or the numbers that literals stand for."""
        values = [self._literals.get(operand, operand) for operand in operation.operands]
        arguments: dict[str, Any] = map_operands(
            dict(operation.attributes), lambda operand: values[operand.index]
        )
        return arguments

    def tangent_of(
        self,
        function: Function,
        active: tuple[int, ...],
        tangent_type: Callable[[Type], Type],
        results: Collection[int],
        activity: Activity,
    ) -> Function:
        """That of a function that is called."""
        return differentiate(
            function, active, self.inline, tangent_type, results=results, activity=activity
        )

    def _by_rule(
        self, operation: Operation, rule: Callable[..., Any], arguments: dict[str, Any]
    ) -> Any:
        builder = self.builder
        if is_given(operation.primitive):
            return self.inline(builder, rule, arguments, builder.location)
        return inline_exactly(self.inline, builder, rule, arguments, builder.location)


_RULES: dict[Primitive, Callable[[Tangent, Operation], Value | None]] = {
    indexing.STORE: tangent_of_store,
    indexing.ACCUMULATE: tangent_of_accumulation,
}
_VISITORS: dict[Primitive, Callable[[Tangent, Operation], None]] = {
    IF: tangent_if,
    LOOP: tangent_loop,
    CALL: tangent_call,
}


def _paired(arguments: tuple[Any, ...], partials: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """The arguments of a rule with their partial derivatives, also those in tuples of arguments."""
    for argument, partial in zip(arguments, partials, strict=True):
        if isinstance(argument, tuple):
            yield from _paired(argument, partial)
        else:
            yield argument, partial


def _reads_lists(operation: Operation) -> bool:
    """Whether this makes of tangents in lists an array as long as the one that it makes of lists.
    That may be shorter than its type says: of an empty list of arrays, it has one axis."""
    is_linear = operation.primitive.tangent is Linearity.LINEAR
    given = any(isinstance(operand.type, ListType) for operand in operation.operands)
    return operation.primitive is control.GET or (is_linear and given)
