"""Calls of the tangent of what is called (see `derivatives.calls`)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gradscribe.ir.core import Callee, Function, Operation, Value
from gradscribe.ir.trees import LEAF, Node, Tree, count_leaves
from gradscribe.ir.types import RecordOf, is_differentiable
from gradscribe.transforms.derivatives.calls import active_leaves, active_results, callee_of
from gradscribe.transforms.derivatives.cotangents import carried_type, name_of
from gradscribe.transforms.passes.simplify import simplify

if TYPE_CHECKING:
    from gradscribe.transforms.tangent import Tangent


def tangent_call(tangent: Tangent, operation: Operation) -> None:
    """Append the call of the tangent of what is called, in place of the call."""
    callee = callee_of(operation)
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


def _tangent(callee: Callee, tangent: Tangent, variant: str) -> tuple[Callee]:
    name = f"{callee.name}_tangent{variant}"
    return (Callee(name, lambda: _tangent_of(callee, tangent, name), effect=callee.effect),)


def _tangent_of(callee: Callee, tangent: Tangent, name: str) -> Function:
    """The tangent of a function, its results in the order in which a callee has them."""
    activity = tangent.activity
    function, ends = callee.function, activity.ends[callee]
    yields = function.body.yields
    plain = len(yields) - function.record
    results = active_results(function, ends)
    leaves, inside = active_leaves(function, ends), activity.inside(callee)
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
