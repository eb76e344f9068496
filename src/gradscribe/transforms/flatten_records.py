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

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradscribe.ir.core import (
    LOOP,
    Block,
    Function,
    LoopShape,
    Operand,
    Operation,
    Primitive,
    Value,
    walk,
)
from gradscribe.ir.trees import LEAF, Node, Tree
from gradscribe.ir.types import Collected, Opaque
from gradscribe.primitives.control import COPY, PUSH, STACK, STACK_POP
from gradscribe.transforms.record_chains import (
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
)
from gradscribe.transforms.simplify.rewriter import count_uses


def flatten_records(function: Function) -> Function:
    """The function with stacks in place of nested records that it makes and consumes itself."""
    if not any(is_nested(value) for op in walk(function.body) for value in op.results):
        return function
    uses = count_uses(function)
    edits = _Edits()
    for block in blocks_in(function.body):
        for chains in mirrored_records(block, uses):
            for group in groups(chains):
                stack = _new_stack(group)
                edits.before[group[0][0].loop].append(_made(stack, group))
                _edit(group, stack, stack, edits)
    return replace(function, body=_rewritten(function.body, edits))


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
            chain = chain_of(loop, collect, parameter, adjoint.body.operations, uses)
            if chain:
                chains.append(chain)
                entry_of[chain] = entry
    edits = _Edits()
    entries: list[tuple[Value, Value] | None] = list(zip(returned, taken, strict=True))
    for pair in by_pair(chains):
        for group in groups(pair):
            entry = entry_of[group[0]]
            for chain in group:
                entries[entry_of[chain]] = None
            entries[entry] = _stack_entry(group, edits)
    return _with_entries(forward, adjoint, entries, edits)


def _stack_entry(group: list[Chain], edits: _Edits) -> tuple[Value, Value]:
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
    edits: _Edits,
) -> tuple[Function, Function]:
    """The functions with these records in place of those that they had."""
    kept = [entry for entry in entries if entry is not None]
    returned, taken = tuple(r for r, _ in kept), tuple(t for _, t in kept)
    tree: Tree = LEAF if len(kept) == 1 else Node(tuple, (LEAF,) * len(kept))
    body = _rewritten(forward.body, edits)
    results = body.yields[: len(body.yields) - forward.record]
    assert isinstance(forward.result, Node)
    forward = replace(
        forward,
        body=replace(body, yields=(*results, *returned)),
        result=replace(forward.result, children=(forward.result.children[0], tree)),
        record=len(kept),
    )
    body = _rewritten(adjoint.body, edits)
    record, *others = adjoint.parameters
    given = body.parameters[len(record.leaves) :]
    record = replace(record, tree=tree, leaves=taken)
    body = replace(body, parameters=(*taken, *given))
    return forward, replace(adjoint, parameters=(record, *others), body=body)


# -- the edits ---------------------------------------------------------------------------------


@dataclass
class _Edits:
    """What is to be changed. before: what is to be done before an operation. inserted: what is
    to be done in the body of a loop, by position there. collects, iterables: what loops no
    longer collect and run over, by number."""

    before: defaultdict[Operation, list[Operation]] = field(
        default_factory=lambda: defaultdict(list)
    )
    inserted: defaultdict[Operation, list[tuple[int, Operation]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    collects: set[tuple[Operation, int]] = field(default_factory=set)
    iterables: set[tuple[Operation, int]] = field(default_factory=set)


def _new_stack(chains: list[Chain]) -> Value:
    outermost = chains[0][0]
    record = outermost.loop.results[outermost.loop.attributes["shape"].carried + outermost.collect]
    return Value(Collected(chains[0][-1].collected.type), record.name)


def _made(stack: Value, chains: list[Chain]) -> Operation:
    assert isinstance(stack.type, Collected)
    return _operation(STACK, (), stack, {"item": stack.type.item}, chains[0][0].loop)


def _edit(chains: list[Chain], pushed: Value, popped: Value, edits: _Edits) -> None:
    """Push to one stack, and pop from it (or from a copy of it), instead of these records."""
    _insert(chains, 0, pushed, popped, edits)
    for link in itertools.chain.from_iterable(chains):
        edits.collects.add((link.loop, link.collect))
        edits.iterables.add((link.mirror, link.iterable))


def _insert(chains: list[Chain], level: int, pushed: Value, popped: Value, edits: _Edits) -> None:
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


def _rewritten(
    block: Block, edits: _Edits, inserted: Sequence[tuple[int, Operation]] = ()
) -> Block:
    operations: list[Operation] = []
    for position, operation in enumerate(block.operations):
        operations += [new for place, new in inserted if place == position]
        operations += edits.before.get(operation, ())
        if operation.primitive is LOOP:
            operation = _rewritten_loop(operation, edits)
        elif operation.regions:
            regions = tuple(_rewritten(region, edits) for region in operation.regions)
            operation = replace(operation, regions=regions)
        operations.append(operation)
    operations += [new for place, new in inserted if place == len(block.operations)]
    return replace(block, operations=tuple(operations))


def _rewritten_loop(loop: Operation, edits: _Edits) -> Operation:
    """The loop without the records that it collected or consumed, with its pushes and pops."""
    shape: LoopShape = loop.attributes["shape"]
    first = shape.carried + shape.exits
    collects = [n for n in range(shape.collects) if (loop, n) not in edits.collects]
    iterables = [n for n in range(len(shape.iterables)) if (loop, n) not in edits.iterables]
    operands = [loop.operands[where] for where in shape.iterable_slices()]
    kept = [operand for n in iterables for operand in operands[n]]
    body, *condition = loop.regions
    body = _rewritten(body, edits, edits.inserted.get(loop, ()))
    items = [body.parameters[n] for n in iterables]
    yields = body.yields[:first] + tuple(body.yields[first + n] for n in collects)
    body = Block((*items, *body.parameters[len(shape.iterables) :]), body.operations, yields)
    records = loop.results[shape.carried :]
    return replace(
        loop,
        operands=(*kept, *loop.operands[shape.iterable_operands :]),
        results=(*loop.results[: shape.carried], *(records[n] for n in collects)),
        attributes={
            **loop.attributes,
            "shape": replace(
                shape,
                iterables=tuple(shape.iterables[n] for n in iterables),
                collects=len(collects),
            ),
        },
        regions=(body, *(_rewritten(region, edits) for region in condition)),
    )
