"""Items of lists that are changed and put back: `T[i][j] = v` in the IR.

    row = get T[i]
    new = set row[j] = v
    T' = set T[i] = new

Executed in place, the second operation changes T already, and the third does nothing; nobody reads
T in between. Here is found where this is so; codegen leaves the third out.
"""

from __future__ import annotations

from gradscribe.ir.core import Block, Function, Operation, Value, walk
from gradscribe.ir.liveness import Liveness
from gradscribe.primitives.control import SET
from gradscribe.primitives.lists import put_back

Chains = dict[Operation, tuple[Operation, ...]]


def through(function: Function, liveness: Liveness) -> tuple[Chains, dict[Operation, set[Value]]]:
    """For each `set` that puts an item back, the operations that take and change the item. For each
    of those that change it, the lists that will be changed with it, and that nobody reads before
    they are."""
    chains: Chains = {}
    lists: dict[Operation, set[Value]] = {}
    blocks = [function.body, *(r for o in walk(function.body) for r in o.regions)]
    for block in blocks:
        made = {o.results[0]: o for o in block.operations if len(o.results) == 1}
        if any(operation.primitive is SET for operation in block.operations):
            _block(block, made, liveness, chains, lists)
    return chains, lists


def _block(
    block: Block,
    made: dict[Value, Operation],
    liveness: Liveness,
    chains: Chains,
    lists: dict[Operation, set[Value]],
) -> None:
    number = {operation: n for n, operation in enumerate(block.operations)}
    for operation in block.operations:
        if operation.primitive is not SET:
            continue
        owner = operation.operands[0]
        chain = put_back(operation, made.get)
        if chain is None or owner in liveness.live_after(operation):
            continue
        changes = [*chain[1:]]
        for change in chain[1:]:
            changes += chains.get(change, ())[1:]
        first = min(number[change] for change in changes)
        between = block.operations[first + 1 : number[operation]]
        if not any(owner in liveness.reads(other) for other in between):
            chains[operation] = (chain[0], *changes)
            for change in changes:
                lists.setdefault(change, set()).add(owner)
