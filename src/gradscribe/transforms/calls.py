"""Derivatives of calls: functions derived from the called one, made once, and called in turn.

Of a function `f`, differentiated with respect to all its parameters that can be:

    f_forward   (arguments) -> (results, record)
    f_adjoint   (record, cotangents of results) -> cotangents of arguments
    f_tangent   (arguments, tangents) -> (results, tangents of results)

What these call, they call by the derived functions again, so that recursion ends in names. The
tangent of a function with a record (of `f_forward`, or of `f_adjoint`) hands over the tangent
of the record, too: as one more record.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from gradscribe.ir.core import CALL, Callee, Function, Operation, Value
from gradscribe.ir.trees import LEAF, Node, Tree, count_leaves
from gradscribe.ir.types import RecordOf, is_differentiable
from gradscribe.transforms.cotangents import any_of, carried_type, name_of, zero
from gradscribe.transforms.simplify import simplify

if TYPE_CHECKING:
    from gradscribe.transforms.adjoint import ReverseSweep
    from gradscribe.transforms.adjoint.scopes import Scope
    from gradscribe.transforms.tangent import Tangent


def mirror_call(scope: Scope, operation: Operation, sweep: ReverseSweep) -> None:
    """Write the mirror of a call, if a cotangent reaches it: the adjoint of what was called, on
    the record that the forward part has kept of this call."""
    results = [result for result in operation.results if is_differentiable(result.type)]
    if not any(result in scope.cotangents for result in results):
        return
    forward, adjoint = _callee(operation).derived("adjoint", _forward_and_adjoint)
    record = scope.primal(scope.context.exports.record_of_call(operation, forward))
    seeds = [scope.cotangents.get(result) or zero(scope, result) for result in results]
    operands = [operand for operand in operation.operands if is_differentiable(operand.type)]
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
    (derived,) = callee.derived("tangent", _tangent)
    with tangent.located(operation):
        pairs = zip(operation.operands, callee.function.parameters, strict=True)
        d_operands = [
            tangent.required(operand)
            for operand, parameter in pairs
            if any(is_differentiable(leaf.type) for leaf in parameter.leaves)
        ]
    plain = [r for r in operation.results if not isinstance(r.type, RecordOf)]
    records = operation.results[len(plain) :]
    d_plain, d_records = (
        [
            tangent.define(value, Value(carried_type(value.type), name_of(value)))
            for value in values
            if is_differentiable(value.type)
        ]
        for values in (plain, records)
    )
    tangent.builder.append(
        replace(
            operation,
            operands=(*operation.operands, *d_operands),
            results=(*plain, *d_plain, *records, *d_records),
            attributes={"function": derived},
        )
    )


def _callee(operation: Operation) -> Callee:
    callee = operation.attributes["function"]
    assert isinstance(callee, Callee)
    return callee


def _forward_and_adjoint(callee: Callee) -> tuple[Callee, Callee]:
    pair: list[Function] = []

    def part(number: int) -> Function:
        if not pair:
            pair.extend(_cut(callee.function))
        return pair[number]

    return (
        Callee(f"{callee.name}_forward", partial(part, 0), effect=callee.effect),
        Callee(f"{callee.name}_adjoint", partial(part, 1), effect=False),
    )


def _cut(function: Function) -> tuple[Function, Function]:
    from gradscribe.transforms.adjoint import differentiate
    from gradscribe.transforms.adjoint.split import cut

    forward, adjoint = cut(
        differentiate(function, _differentiable(function), seed_type=carried_type)
    )
    assert isinstance(forward.result, Node)
    record = forward.result.children[1]
    plain = len(forward.body.yields) - forward.record
    return replace(forward, result=Node(tuple, ((LEAF,) * plain) + (record,))), adjoint


def _tangent(callee: Callee) -> tuple[Callee]:
    name = f"{callee.name}_tangent"
    return (Callee(name, lambda: _tangent_of(callee.function, name), effect=callee.effect),)


def _tangent_of(function: Function, name: str) -> Function:
    """The tangent of a function, its results in the order in which a callee has them."""
    from gradscribe.transforms.tangent import differentiate

    yields = function.body.yields
    plain = len(yields) - function.record
    whole = differentiate(function, _differentiable(function), carried_type)
    d_yields = whole.body.yields[len(yields) :]
    d_plain = sum(is_differentiable(value.type) for value in yields[:plain])
    assert isinstance(whole.result, Node)
    trees, d_trees = (
        tree.children[plain:] if isinstance(tree, Node) else ()  # a record may be empty
        for tree in whole.result.children
    )
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


def _differentiable(function: Function) -> tuple[int, ...]:
    """The numbers of the leaves of the parameters that can be differentiated."""
    leaves = function.body.parameters
    flags = (is_differentiable(leaf.type) for leaf in leaves)
    return tuple(compress(range(len(leaves)), flags))
