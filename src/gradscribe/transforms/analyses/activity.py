"""Activity: which values of a function a derivative has to follow.

A value is *varied* if it depends on an active argument through differentiable operations, and
*useful* if a differentiable result depends on it likewise. Active is what is both. Dependence
through loops is followed round the carried values, conditions are not (a derivative holds for the
branches and iterations that were taken). Of a function that is called, active are those parameters
and results that are so in some call of it.

Comparisons, integers and the operations that are entered as constant (`stop_gradient`, creation
of arrays, …) cut dependence. An operation of which nothing is known does not: it stays active,
so that a derivative through it is refused, not silently zero.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import cast

from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Callee,
    Function,
    Operation,
    Primitive,
    Value,
    callees,
    map_operands,
    walk,
)
from gradscribe.ir.flow import flows
from gradscribe.ir.trees import Node, count_leaves
from gradscribe.ir.types import Array, Collected, RecordOf, Type, is_differentiable
from gradscribe.primitives import control, indexing, lists
from gradscribe.primitives.registry import METHODS, PRIMITIVES
from gradscribe.transforms.analyses.call_flow import CallFlow, Ends, Forced, Graph, Site

STRUCTURAL = frozenset(
    {
        control.TUPLE,
        control.ITEM,
        *lists.OPERATIONS,
        control.COPY,
        control.LEFT,
        control.ADD_ITEMS,
        indexing.GETITEM,
        indexing.GATHER,
        indexing.STORE,
        indexing.ACCUMULATE,
        IF,
        LOOP,
        CALL,
    }
)
"""Primitives whose derivative is part of the transforms, not a rule of the primitive."""

_ALWAYS_CONSTANT = frozenset({control.CONSTANT, control.UNDEF, control.ZEROS_LIKE, control.RUN})


@dataclass(frozen=True)
class Activity:
    """values: those of one function whose (co)tangents are needed. ends: of each function that is
    called, and that a derivative passes through, the parameters and results by which it does."""

    values: set[Value]
    ends: Mapping[Callee, Ends]
    _flow: CallFlow
    _forced: Forced

    def inside(self, callee: Callee) -> Activity:
        """That of a function that is called."""
        nodes = self._flow.inside(callee, self.ends[callee], self._forced)
        return replace(self, values=cast("set[Value]", nodes))

    def key(self, callee: Callee) -> frozenset[tuple[Callee, Ends]]:
        """What tells the derivatives of a function from those for other ends."""
        reached = (callee, *callees(callee.function))
        return frozenset((c, self.ends[c]) for c in reached if c in self.ends)


def active_values(function: Function, active_leaves: frozenset[int]) -> set[Value]:
    """The values whose (co)tangents are needed, for these numbers of active argument leaves."""
    return activity_of(function, active_leaves).values


def activity_of(function: Function, active_leaves: frozenset[int]) -> Activity:
    """What is active in a function, and in those that it calls.

    Of a record that is active anywhere, all are, and what they hold: what reads one expects the
    (co)tangents of it.
    """
    flow = CallFlow(function, _graph)
    seeds = [function.body.parameters[leaf] for leaf in sorted(active_leaves)]
    seeds = list(filter(passes_derivative, seeds))
    results = list(filter(passes_derivative, function.body.yields))
    records: frozenset[str] = frozenset()
    while True:
        forced = partial(_records_of, names=records)
        ends = flow.ends(seeds, results, forced)
        passed = flow.outermost.passed(seeds, results, forced)
        found = Activity(cast("set[Value]", passed), ends, flow, forced)
        active = _active_records(found, flow)
        if active <= records:
            return found
        records |= active


def _graph(function: Function) -> Graph:
    """What depends on what in a function by differentiable operations."""
    graph = Graph(_passing(parameter_groups(function)), _passing(result_groups(function)))
    operations = list(walk(function.body))
    absent = {o.result for o in operations if o.primitive is control.UNDEF}
    for operation in operations:
        if operation.primitive is CALL:
            callee = operation.attributes["function"]
            graph.sites.append(Site(callee, operation.operands, operation.results))
            continue
        for source, result in pairs_of(operation):
            is_passing = passes_derivative(source) and passes_derivative(result)
            if is_passing and source not in absent:
                graph.depend(source, result)
    return graph


def parameter_groups(function: Function) -> list[tuple[Value, ...]]:
    """The leaves of each parameter."""
    return [parameter.leaves for parameter in function.parameters]


def result_groups(function: Function) -> list[tuple[Value, ...]]:
    """The leaves of each result of a function that is called."""
    result, leaves = function.result, iter(function.body.yields)
    trees = result.children if isinstance(result, Node) else (result,)
    return [tuple(itertools.islice(leaves, count_leaves(tree))) for tree in trees]


def _passing(groups: Iterable[Sequence[Value]]) -> list[list[Value]]:
    return [list(filter(passes_derivative, group)) for group in groups]


def _active_records(activity: Activity, flow: CallFlow) -> frozenset[str]:
    """The records that are active in any function, those in them, and those that hold them."""
    values = chain(activity.values, *(activity.inside(callee).values for callee in activity.ends))
    found = {name for value in values if (name := _record_name(value.type))}
    held = set(_held_records(flow)) if found else set()
    while more := {name for pair in held if not found.isdisjoint(pair) for name in pair} - found:
        found |= more
    return frozenset(found)


def _held_records(flow: CallFlow) -> Iterator[tuple[str, str]]:
    """(record, another one in it)."""
    for graph in (flow.outermost, *flow.graphs.values()):
        for site in graph.sites:
            function = site.callee.function
            groups = (*parameter_groups(function), *result_groups(function))
            for value, group in zip((*site.inputs, *site.outputs), groups, strict=True):
                name = _record_name(value.type) if isinstance(value, Value) else ""
                inner = (_record_name(leaf.type) for leaf in group if name)
                yield from ((name, other) for other in inner if other)


def _records_of(graph: Graph, names: frozenset[str]) -> Iterator[Value]:
    """The values in a graph that are records of these, or hold some."""
    if names:
        nodes = chain(graph.uses, graph.sources, *(site.outputs for site in graph.sites))
        for node in nodes:
            if isinstance(node, Value) and _record_name(node.type) in names:
                yield node


def _record_name(type_: Type) -> str:
    """The function of whose calls values of a type hold the records; "" if of none."""
    while isinstance(type_, Collected):
        type_ = type_.item
    return type_.function if isinstance(type_, RecordOf) else ""


@functools.cache
def has_zero_derivative(primitive: Primitive) -> bool:
    """Whether the primitive is declared to have no derivative (not: whether none is known)."""
    if primitive in _ALWAYS_CONSTANT or primitive.effect:
        return True
    if primitive in STRUCTURAL or primitive.adjoint is not None or primitive.tangent is not None:
        return False
    return any(primitive in table.values() for table in (PRIMITIVES, METHODS))


def pairs_of(operation: Operation) -> Iterator[tuple[Value, Value]]:
    """(source, result) for each pair of values where one is made of the other."""
    if operation.primitive in (IF, LOOP):
        yield from flows(operation)
    elif not has_zero_derivative(operation.primitive):
        for result in operation.results:
            for operand in _operands_with_tangents(operation):
                yield operand, result


def _operands_with_tangents(operation: Operation) -> Collection[Value]:
    """The operands whose tangents the operation's rule takes; of the others, such as the array
    whose shape np.full_like gives to its result, the result is no function."""
    tangent = operation.primitive.tangent
    if not callable(tangent):
        return operation.operands
    accepted = inspect.signature(tangent).parameters
    found: list[Value] = []
    for name, attribute in operation.attributes.items():
        if f"d_{name}" in accepted:
            map_operands(attribute, lambda operand: found.append(operation.operands[operand.index]))
    return found


def passes_derivative(value: Value) -> bool:
    """Whether a derivative may pass here: an array without elements has none to pass."""
    type_ = value.type
    if isinstance(type_, Array) and any(length.known == 0 for length in type_.dims):
        return False
    return is_differentiable(type_)
