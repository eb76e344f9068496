"""Pack records: what a loop records in several lists becomes one list of tuples.

Assumes a function in value semantics that holds both a loop and the loop that consumes its records
backwards (a primal joined with its adjoint). Guarantees the same results: the records that one loop
collects, and one other loop consumes, are one record, of tuples that are made as soon as their
parts are there and taken apart where an iteration of the other begins. Loops inside of these do the
same for theirs.

What is kept to undo a store stays apart, unless it is the last thing that an iteration keeps: read
after the store, it would have to be saved in a variable before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operand, Operation, Value
from gradscribe.ir.types import Collected, Tuple
from gradscribe.primitives.control import ITEM, LEN, TUPLE
from gradscribe.transforms.passes.records.chains import (
    Chain,
    Link,
    blocks_in,
    definition_in,
    mirrored_records,
)
from gradscribe.transforms.passes.records.edits import RecordEdits
from gradscribe.transforms.passes.simplify.rewriter import count_uses

_STEPS, _UNDO = "steps", "undo"


def pack_records(function: Function) -> Function:
    """The function with one record for each pair of loops; itself, where there are no more."""
    lengths = _lengths(function.body)
    uses = count_uses(function) - Counter(operation.operands[0] for operation in lengths)
    edits = RecordEdits()
    for block in blocks_in(function.body):
        for group in _by_loops(mirrored_records(block, uses)):
            chains = sorted(_packed_together(group), key=_made_by)
            if len(chains) > 1:
                _pack(chains, edits, lengths)
    return replace(function, body=edits.applied(function.body)) if edits.collected else function


def _lengths(block: Block) -> list[Operation]:
    """The operations that only take the length of a record."""
    return [
        operation
        for inside in blocks_in(block)
        for operation in inside.operations
        if operation.primitive is LEN and isinstance(operation.operands[0].type, Collected)
    ]


def _by_loops(chains: Iterable[Chain]) -> list[list[Chain]]:
    """The chains, those that lead through the same loops together."""
    groups: defaultdict[tuple[Operation, ...], list[Chain]] = defaultdict(list)
    for chain in chains:
        if not isinstance(chain[-1].collected.type, Collected):
            groups[tuple(loop for link in chain for loop in (link.loop, link.mirror))].append(chain)
    return list(groups.values())


def _packed_together(chains: list[Chain]) -> list[Chain]:
    """Those of the chains through the same loops whose records become one."""
    undos = [chain for chain in chains if _record(chain[-1]).name == _UNDO]
    others = [chain for chain in chains if chain not in undos]
    if len(undos) == 1 and _made_by(undos[0]) >= max(map(_made_by, others), default=0):
        return chains
    return others


def _record(link: Link) -> Value:
    carried: int = link.loop.attributes["shape"].carried
    return link.loop.results[carried + link.collect]


def _made_by(chain: Chain) -> int:
    """The position in the body of the loop from which on the recorded value is there."""
    link = chain[-1]
    definition = definition_in(link.collected, link.loop.regions[0])
    return 0 if definition is None else link.loop.regions[0].operations.index(definition) + 1


def _pack(chains: list[Chain], edits: RecordEdits, lengths: list[Operation]) -> None:
    """Collect, and consume, one record of tuples in place of these (the last to be made last)."""
    edits.drop(chains)
    inner = chains[0][-1]
    types = Tuple(tuple(chain[-1].collected.type for chain in chains))
    value, item = Value(types), Value(types)
    operands = tuple(chain[-1].collected for chain in chains)
    items = {"items": tuple(map(Operand, range(len(operands))))}
    made = Operation(TUPLE, operands, (value,), items, (), inner.loop.location)
    edits.inserted[inner.loop].append((_made_by(chains[-1]), made))
    for position, chain in enumerate(chains):
        attributes = {"x": Operand(0), "position": position}
        results = (chain[-1].item,)
        taken = Operation(ITEM, (item,), results, attributes, (), inner.mirror.location)
        edits.inserted[inner.mirror].append((0, taken))
    for level in reversed(range(len(chains[0]))):
        link = chains[0][level]
        record = Value(Collected(value.type), _STEPS)
        consumed = Value(record.type, _STEPS) if level else record
        edits.collected[link.loop].append((value, record))
        edits.consumed[link.mirror].append((consumed, item))
        value, item = record, consumed
    outermost = {_record(chain[0]) for chain in chains}
    for length in lengths:
        if length.operands[0] in outermost:
            edits.instead[length] = replace(length, operands=(value,))
