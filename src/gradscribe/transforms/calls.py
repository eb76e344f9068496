"""Derivatives of calls: functions derived from the called one, made once, and called in turn.

Of a function `f`, differentiated with respect to those parameters, and of those results, that a
derivative passes through in some call of it (see `activity`):

    f_forward   (arguments) -> (results, record)
    f_adjoint   (record, cotangents of results) -> cotangents of arguments
    f_tangent   (arguments, tangents) -> (results, tangents of results)

What these call, they call by the derived functions again, so that recursion ends in names. The
tangent of a function with a record (of `f_forward`, or of `f_adjoint`) hands over the tangent
of the record, too: as one more record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from gradscribe.ir.core import CALL, Callee, Function, Operation, Value
from gradscribe.ir.trees import LEAF, Node, Tree, count_leaves
from gradscribe.ir.types import RecordOf, is_differentiable
from gradscribe.transforms.activity import Activity, parameter_groups, result_groups
from gradscribe.transforms.call_flow import Ends
from gradscribe.transforms.cotangents import any_of, carried_type, name_of, zero
from gradscribe.transforms.simplify import simplify

if TYPE_CHECKING:
    from gradscribe.transforms.adjoint import ReverseSweep
    from gradscribe.transforms.adjoint.scopes import Scope
    from gradscribe.transforms.tangent import Tangent


def mirror_call(scope: Scope, operation: Operation, sweep: ReverseSweep) -> None:
    """Write the mirror of a call, if a cotangent reaches it: the adjoint of what was called, on
    the record that the forward part has kept of this call."""
    if not any(result in scope.cotangents for result in operation.results):
        return
    callee, activity = _callee(operation), scope.context.activity
    ends = activity.ends[callee]
    make = partial(_forward_and_adjoint, callee, activity, sweep)
    forward, adjoint = callee.derived("adjoint", activity.key(callee), make)
    record = scope.primal(scope.context.exports.record_of_call(operation, forward))
    results = [operation.results[number] for number in sorted(ends.outputs)]
    seeds = [scope.cotangents.get(result) or zero(scope, result) for result in results]
    operands = [operation.operands[number] for number in sorted(ends.inputs)]
    gradients = [Value(carried_type(operand.type), name_of(operand)) for operand in operands]
    scope.builder.append(
        Operation(
            CALL,
            (record, *seeds),
            tuple(gradients),
            {"function": adjoint},
            location=scope.builder.location,
        )
    )
    flags = [scope.presence(result) for result in results if result in scope.cotangents]
    with scope.context.handing_on(any_of(scope.builder, flags)):
        for operand, gradient in zip(operands, gradients, strict=True):
            if operand in scope.context.active:
                scope.contribute(operand, gradient)


def tangent_call(tangent: Tangent, operation: Operation) -> None:
    """Append the call of the tangent of what is called, in place of the call."""
    callee = _callee(operation)
    ends = tangent.activity.ends.get(callee)
    if ends is None:
        tangent.builder.append(operation)
        return
    make = partial(_tangent, callee, tangent)
    (derived,) = callee.derived("tangent", tangent.activity.key(callee), make)
    with tangent.located(operation):
        d_operands = [
            tangent.required(operation.operands[number])
            for number in sorted(ends.inputs)
            if any(is_differentiable(v.type) for v in callee.function.parameters[number].leaves)
        ]
    plain = [r for r in operation.results if not isinstance(r.type, RecordOf)]
    records = operation.results[len(plain) :]
    active = [operation.results[number] for number in sorted(ends.outputs)]
    d_active = [
        tangent.define(value, Value(carried_type(value.type), name_of(value))) for value in active
    ]
    count = sum(value in plain for value in active)
    tangent.builder.append(
        replace(
            operation,
            operands=(*operation.operands, *d_operands),
            results=(*plain, *d_active[:count], *records, *d_active[count:]),
            attributes={"function": derived},
        )
    )


def _callee(operation: Operation) -> Callee:
    callee = operation.attributes["function"]
    assert isinstance(callee, Callee)
    return callee


def _forward_and_adjoint(
    callee: Callee, activity: Activity, sweep: ReverseSweep, variant: str
) -> tuple[Callee, Callee]:
    pair: list[Function] = []

    def part(number: int) -> Function:
        if not pair:
            pair.extend(_cut(callee, activity, sweep))
        return pair[number]

    return (
        Callee(f"{callee.name}_forward{variant}", partial(part, 0), effect=callee.effect),
        Callee(f"{callee.name}_adjoint{variant}", partial(part, 1), effect=False),
    )


def _cut(callee: Callee, activity: Activity, sweep: ReverseSweep) -> tuple[Function, Function]:
    function, ends = callee.function, activity.ends[callee]
    leaves, results = _leaves(function, ends), _result_leaves(function, ends)
    inside = activity.inside(callee)
    forward, adjoint = sweep.forward_and_adjoint(function, leaves, results, carried_type, inside)
    assert isinstance(forward.result, Node)
    record = forward.result.children[1]
    plain = len(forward.body.yields) - forward.record
    return replace(forward, result=Node(tuple, ((LEAF,) * plain) + (record,))), adjoint


def _tangent(callee: Callee, tangent: Tangent, variant: str) -> tuple[Callee]:
    name = f"{callee.name}_tangent{variant}"
    return (Callee(name, lambda: _tangent_of(callee, tangent, name), effect=callee.effect),)


def _tangent_of(callee: Callee, tangent: Tangent, name: str) -> Function:
    """The tangent of a function, its results in the order in which a callee has them."""
    activity = tangent.activity
    function, ends = callee.function, activity.ends[callee]
    yields = function.body.yields
    plain = len(yields) - function.record
    results = _result_leaves(function, ends)
    leaves, inside = _leaves(function, ends), activity.inside(callee)
    whole = tangent.tangent_of(function, leaves, carried_type, results, inside)
    d_yields = whole.body.yields[len(yields) :]
    d_plain = sum(leaf < plain for leaf in results)
    assert isinstance(whole.result, Node)
    trees, d_trees = (
        tree.children[plain:] if isinstance(tree, Node) else ()  # a record may be empty
        for tree in whole.result.children
    )
    d_trees = tuple(tree for i, tree in enumerate(d_trees, plain) if i in ends.outputs)
    ordered = (*yields[:plain], *d_yields[:d_plain], *yields[plain:], *d_yields[d_plain:])
    children: tuple[Tree, ...] = ((LEAF,) * (plain + d_plain)) + trees + d_trees
    return simplify(
        replace(
            whole,
            name=name,
            body=replace(whole.body, yields=ordered),
            result=children[0] if len(children) == 1 else Node(tuple, children),
            record=sum(map(count_leaves, (*trees, *d_trees))),
        )
    )


def _leaves(function: Function, ends: Ends) -> tuple[int, ...]:
    """The numbers of the leaves of the parameters that are differentiated."""
    return _differentiable(parameter_groups(function), ends.inputs)


def _result_leaves(function: Function, ends: Ends) -> tuple[int, ...]:
    """The numbers of the leaves of the results that are."""
    return _differentiable(result_groups(function), ends.outputs)


def _differentiable(groups: Sequence[Sequence[Value]], numbers: frozenset[int]) -> tuple[int, ...]:
    flags = [
        number in numbers and is_differentiable(value.type)
        for number, group in enumerate(groups)
        for value in group
    ]
    return tuple(compress(range(len(flags)), flags))
