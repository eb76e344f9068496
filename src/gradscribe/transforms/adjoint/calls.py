"""Mirrors of calls: forward part and adjoint of what is called (see `derivatives.calls`)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gradscribe.ir.core import CALL, Callee, Function, Operation, Value
from gradscribe.ir.trees import LEAF, Node
from gradscribe.transforms.adjoint.projection import zero
from gradscribe.transforms.analyses.activity import Activity
from gradscribe.transforms.derivatives.calls import active_leaves, active_results, callee_of
from gradscribe.transforms.derivatives.cotangents import any_of, carried_type, name_of

if TYPE_CHECKING:
    from gradscribe.transforms.adjoint import ReverseSweep
    from gradscribe.transforms.adjoint.scopes import Scope


def mirror_call(scope: Scope, operation: Operation, sweep: ReverseSweep) -> None:
    """Write the mirror of a call, if a cotangent reaches it: the adjoint of what was called, on
    the record that the forward part has kept of this call."""
    if not any(result in scope.cotangents for result in operation.results):
        return
    callee, activity = callee_of(operation), scope.context.activity
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
    leaves, results = active_leaves(function, ends), active_results(function, ends)
    inside = activity.inside(callee)
    forward, adjoint = sweep.forward_and_adjoint(function, leaves, results, carried_type, inside)
    assert isinstance(forward.result, Node)
    record = forward.result.children[1]
    plain = len(forward.body.yields) - forward.record
    return replace(forward, result=Node(tuple, ((LEAF,) * plain) + (record,))), adjoint
