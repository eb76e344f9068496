"""Which derivative of the user's own counts where gradients are differentiated again.

Derivatives of gradients are made as tangents of the adjoint, by the symmetry of second derivatives,
or, where rules that the user gave may break it, as its adjoint (DESIGN §1.5). They are to be
derivatives of what the user's `backward` computes; a `jvp` beside it, which reverse mode never
runs, has no part in them. Results keep it: it is their tangent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradscribe.ir.core import Block, Function, Operation, Value, walk
from gradscribe.primitives.control import EFFECT, GIVEN


def by_adjoint(function: Function, results: Sequence[int] = ()) -> Function:
    """The same function, whose operations `given` have the tangent that their adjoint implies.

    results: the leaves of the result that keep the tangent that they have.
    """
    if not any(map(_has_tangent, walk(function.body))):
        return function
    mapping: dict[Value, Value] = {}
    kept = [_copy(o, mapping) for o in function.body.operations if _differs(o, mapping)]
    body = _block(function.body)
    yields = tuple(
        mapping.get(value, value) if i in results else value for i, value in enumerate(body.yields)
    )
    copies = tuple(kept) if results else ()
    return replace(function, body=Block(body.parameters, (*body.operations, *copies), yields))


def may_be_asymmetric(function: Function) -> bool:
    """Whether second derivatives have to be adjoints of the gradient, for the user gave rules.
    Where there are tangents of the user's, too, they are to tell of those, as tangents do alone."""
    given = [operation for operation in walk(function.body) if operation.primitive is GIVEN]
    return bool(given) and not any(map(_has_tangent, given))


def _has_tangent(operation: Operation) -> bool:
    """Whether an operation has a tangent beside that which its adjoint implies."""
    if operation.primitive is not GIVEN:
        return False
    rules = operation.attributes["rules"]
    return rules.by_adjoint is not rules


def _block(block: Block) -> Block:
    return replace(block, operations=tuple(map(_operation, block.operations)))


def _operation(operation: Operation) -> Operation:
    attributes = operation.attributes
    if operation.primitive is GIVEN:
        attributes = {**attributes, "rules": attributes["rules"].by_adjoint}
    regions = tuple(map(_block, operation.regions))
    return replace(operation, attributes=attributes, regions=regions)


def _differs(operation: Operation, mapping: dict[Value, Value]) -> bool:
    """Whether an operation has such a tangent, or reads a copy of what has. (An effect is had
    once.)"""
    if operation.primitive is EFFECT:
        return False
    inner = [o for region in operation.regions for o in walk(region)]
    if any(map(_has_tangent, (operation, *inner))):
        return True
    return any(value in mapping for value in _reads(operation))


def _reads(operation: Operation) -> Iterator[Value]:
    yield from operation.operands
    for region in operation.regions:
        yield from region.yields
        for inner in region.operations:
            yield from _reads(inner)


def _copy(operation: Operation, mapping: dict[Value, Value]) -> Operation:
    """The operation on copies of its operands; its results are entered in the mapping."""
    return replace(
        operation,
        operands=tuple(mapping.get(value, value) for value in operation.operands),
        regions=tuple(_copy_of_block(region, mapping) for region in operation.regions),
        results=tuple(_new(value, mapping) for value in operation.results),
    )


def _copy_of_block(block: Block, mapping: dict[Value, Value]) -> Block:
    parameters = tuple(_new(value, mapping) for value in block.parameters)
    operations = tuple(_copy(operation, mapping) for operation in block.operations)
    return Block(parameters, operations, tuple(mapping.get(v, v) for v in block.yields))


def _new(value: Value, mapping: dict[Value, Value]) -> Value:
    mapping[value] = Value(value.type, value.name)
    return mapping[value]
