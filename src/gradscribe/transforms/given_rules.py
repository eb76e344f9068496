"""Functions whose own forward derivative is not asked for.

Derivatives of gradients are made as tangents of the adjoint, by the symmetry of second derivatives
(DESIGN §1.5). They are to be derivatives of what the user's `backward` computes; a `jvp` beside
it, which reverse mode never runs, has no part in them.
"""

from __future__ import annotations

from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operation, walk
from gradscribe.primitives.control import GIVEN


def by_adjoint(function: Function) -> Function:
    """The same function, whose operations `given` have the tangent that their adjoint implies."""
    if all(operation.primitive is not GIVEN for operation in walk(function.body)):
        return function
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return replace(block, operations=tuple(map(_operation, block.operations)))


def _operation(operation: Operation) -> Operation:
    attributes = operation.attributes
    if operation.primitive is GIVEN:
        attributes = {**attributes, "rules": attributes["rules"].by_adjoint}
    regions = tuple(map(_block, operation.regions))
    return replace(operation, attributes=attributes, regions=regions)
