"""Flatten records: nested records of mirrored loop nests become one stack.

A loop that collects the records of a loop inside it makes a list of lists. Where the loop that
consumes them mirrors the one that collects, in the same function, what is consumed first is
what was collected last: a stack does. It is made before the outermost loop, values are pushed
where they are defined, and popped in the mirror where they are first read. Records of one loop
nest whose items have one type share a stack if the order of pops can be the reverse of the
order of pushes; a record that is not nested joins them or stays as it is.

Assumes bufferized functions. `flatten_records` takes one function that makes and consumes its
records; `flatten_pair` takes a forward function that returns them and its adjoint, which pops
from a copy of the stack: the caller's record must survive the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gradscribe.ir.core import Function, Operand, Operation, Primitive, Value, walk
from gradscribe.ir.trees import LEAF, Node, Tree
from gradscribe.ir.types import Collected, Opaque
from gradscribe.primitives.control import COPY, PUSH, STACK, STACK_POP
from gradscribe.transforms.passes.records.chains import (
    Chain,
    blocks_in,
    by_pair,
    chain_of,
    collect_number,
    definition_in,
    groups,
    is_nested,
    mirrored_records,
    schedule,
    without_records,
)
from gradscribe.transforms.passes.records.edits import RecordEdits
from gradscribe.transforms.passes.simplify.rewriter import count_uses


def flatten_records(function: Function) -> Function:
    """The function with stacks in place of nested records that it makes and consumes itself."""
    if not any(is_nested(value) for op in walk(function.body) for value in op.results):
        return function
    uses = count_uses(function)
    edits = RecordEdits()
    for block in blocks_in(function.body):
        found = map(without_records, mirrored_records(block, uses))
        for chains in by_pair(filter(None, found)):
            for group in groups(chains):
                stack = _new_stack(group)
                edits.before[group[0][0].loop].append(_made(stack, group))
                _edit(group, stack, stack, edits)
    return replace(function, body=edits.applied(function.body))


def flatten_pair(forward: Function, adjoint: Function) -> tuple[Function, Function]:
    """A forward function and its adjoint with stacks in place of the nested records that the
    first returns (its last `forward.record` leaves) and the second takes (its first parameter).
    """
    forward, adjoint = flatten_records(forward), flatten_records(adjoint)
    returned = forward.body.yields[len(forward.body.yields) - forward.record :]
    if not any(map(is_nested, returned)):
        return forward, adjoint
    uses = count_uses(forward) | count_uses(adjoint)  # they may have the record's values in common
    taken = adjoint.parameters[0].leaves
    chains: list[Chain] = []
    entry_of: dict[Chain, int] = {}
    for entry, (record, parameter) in enumerate(zip(returned, taken, strict=True)):
        loop = definition_in(record, forward.body)
        collect = collect_number(loop, record)
        if loop is not None and collect is not None:
            mirrors = adjoint.body.operations
            chain = without_records(chain_of(loop, collect, parameter, mirrors, uses))
            if chain:
                chains.append(chain)
                entry_of[chain] = entry
    edits = RecordEdits()
    entries: list[tuple[Value, Value] | None] = list(zip(returned, taken, strict=True))
    for pair in by_pair(chains):
        for group in groups(pair):
            entry = entry_of[group[0]]
            for chain in group:
                entries[entry_of[chain]] = None
            entries[entry] = _stack_entry(group, edits)
    return _with_entries(forward, adjoint, entries, edits)


def _stack_entry(group: list[Chain], edits: RecordEdits) -> tuple[Value, Value]:
    """The stack that the forward function returns, and the parameter that the adjoint copies."""
    stack, parameter, copied = (_new_stack(group) for _ in range(3))
    first = group[0][0]
    edits.before[first.loop].append(_made(stack, group))
    copy = _operation(COPY, (parameter,), copied, {"x": Operand(0)}, first.mirror)
    edits.before[first.mirror].append(copy)
    _edit(group, stack, copied, edits)
    return stack, parameter


def _with_entries(
    forward: Function,
    adjoint: Function,
    entries: Sequence[tuple[Value, Value] | None],
    edits: RecordEdits,
) -> tuple[Function, Function]:
    """The functions with these records in place of those that they had."""
    kept = [entry for entry in entries if entry is not None]
    returned, taken = tuple(r for r, _ in kept), tuple(t for _, t in kept)
    tree: Tree = LEAF if len(kept) == 1 else Node(tuple, (LEAF,) * len(kept))
    body = edits.applied(forward.body)
    results = body.yields[: len(body.yields) - forward.record]
    assert isinstance(forward.result, Node)
    forward = replace(
        forward,
        body=replace(body, yields=(*results, *returned)),
        result=replace(forward.result, children=(forward.result.children[0], tree)),
        record=len(kept),
    )
    body = edits.applied(adjoint.body)
    record, *others = adjoint.parameters
    given = body.parameters[len(record.leaves) :]
    record = replace(record, tree=tree, leaves=taken)
    body = replace(body, parameters=(*taken, *given))
    return forward, replace(adjoint, parameters=(record, *others), body=body)


# -- the edits ---------------------------------------------------------------------------------


def _new_stack(chains: list[Chain]) -> Value:
    outermost = chains[0][0]
    record = outermost.loop.results[outermost.loop.attributes["shape"].carried + outermost.collect]
    return Value(Collected(chains[0][-1].collected.type), record.name)


def _made(stack: Value, chains: list[Chain]) -> Operation:
    assert isinstance(stack.type, Collected)
    return _operation(STACK, (), stack, {"item": stack.type.item}, chains[0][0].loop)


def _edit(chains: list[Chain], pushed: Value, popped: Value, edits: RecordEdits) -> None:
    """Push to one stack, and pop from it (or from a copy of it), instead of these records."""
    _insert(chains, 0, pushed, popped, edits)
    edits.drop(chains)


def _insert(
    chains: list[Chain], level: int, pushed: Value, popped: Value, edits: RecordEdits
) -> None:
    events = schedule(chains, level)
    assert events is not None
    for event in events:
        if event.is_loop:
            _insert(event.chains, level + 1, pushed, popped, edits)
            continue
        link = event.chains[0][level]
        attributes = {"stack": Operand(0), "value": Operand(1)}
        near = _neighbour(link.loop, event.pushed - 1)
        push = _operation(PUSH, (pushed, link.collected), Value(Opaque()), attributes, near)
        edits.inserted[link.loop].append((event.pushed, push))
    for event in reversed(events):
        if not event.is_loop:
            link = event.chains[0][level]
            near = _neighbour(link.mirror, event.popped)
            pop = _operation(STACK_POP, (popped,), link.item, {"stack": Operand(0)}, near)
            edits.inserted[link.mirror].append((event.popped, pop))


def _neighbour(loop: Operation, position: int) -> Operation:
    """The operation of the body at this position, or the loop itself if there is none."""
    operations = loop.regions[0].operations
    return operations[position] if 0 <= position < len(operations) else loop


def _operation(
    primitive: Primitive,
    operands: tuple[Value, ...],
    result: Value,
    attributes: dict[str, Any],
    near: Operation,
) -> Operation:
    return Operation(primitive, operands, (result,), attributes, location=near.location)
