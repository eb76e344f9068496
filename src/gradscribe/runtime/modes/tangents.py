"""Tangents of what operations, calls and backwards give.

Those of operations come by their adjoints: J^T u is linear in u, and its derivative by u along v is
J v. Those of compiled functions, and of their gradients, have code of their own. Either way they
are recorded, and can be differentiated by a backward, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.graph.engine import current_run
from gradscribe.runtime.graph.grad_mode import enter_mode, grad_enabled, leave_mode
from gradscribe.runtime.graph.modes import Call
from gradscribe.runtime.graph.node import NO_EDGE, Node
from gradscribe.runtime.operations import shaping
from gradscribe.runtime.operations.derivative_node import derivative, recorded
from gradscribe.runtime.operations.eager import Operation, apply
from gradscribe.runtime.operations.higher_node import HigherNode
from gradscribe.runtime.operations.kernel import Derivatives
from gradscribe.runtime.operations.operation import OperationNode
from gradscribe.runtime.operations.point import Point
from gradscribe.runtime.tensors.backward import grad
from gradscribe.runtime.tensors.saved import unpacked
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap, wrap_result


def is_recorded(values: Sequence[Any]) -> bool:
    return grad_enabled() and any(isinstance(v, Tensor) and v.requires_grad for v in values)


def tangent_of_result(
    operation: Operation,
    operands: Sequence[Any],
    static: tuple[Any, ...],
    out: Tensor,
    tangents: Sequence[Tensor | None],
) -> Tensor | None:
    """The tangent of an operation's result; None where it has no derivative."""
    if not operation.differentiable or not dtypes.is_differentiable(out.array.dtype):
        return None
    if operation.view and tangents[0] is not None:
        return apply(operation, (tangents[0], *operands[1:]), static, watched=False)
    (tangent,) = tangents_of_results(
        lambda varied: (apply(operation, varied, static, watched=False),), operands, tangents
    )
    return tangent


def tangents_of_results(
    call: Call, operands: Sequence[Any], tangents: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """The tangents of what a call gives; None for a result without derivative."""
    recording = is_recorded((*operands, *tangents))
    token = enter_mode(True)
    try:
        varied = [
            operand if tangent is None else stand_in(operand, recording)
            for operand, tangent in zip(operands, tangents, strict=True)
        ]
        of_edges = {edge_of(v): t for v, t in zip(varied, tangents, strict=True) if t is not None}
        inputs = [v for v, t in zip(varied, tangents, strict=True) if t is not None]
        directions = [t for t in tangents if t is not None]
        of_nodes: dict[Node, list[Tensor]] = {}
        found: list[Tensor | None] = []
        for result in call(varied):
            if not isinstance(result, Tensor) or not dtypes.is_differentiable(result.array.dtype):
                found.append(None)
            elif isinstance(result._node, OperationNode) and result._node.kernel.call is None:
                node = result._node
                if node not in of_nodes:
                    of_active = [of_edges.get(edge) for edge in node.next_edges]
                    of_nodes[node] = _pushed_forward(
                        node.kernel.derivatives, _point(node), of_active, recording
                    )
                found.append(of_nodes[node][result._index])
            else:
                found.append(forward_product(result, inputs, directions, recording))
        return found
    finally:
        leave_mode(token)


def tangents_of_gradients(
    node: OperationNode,
    cotangent: Tensor | None,
    of_leaves: Sequence[Tensor | None],
    of_cotangent: Tensor | None,
) -> list[Tensor | None]:
    """The tangents of what a node's backward has given of a cotangent.

    The operation is recorded once more, with every operand that has a tangent as an input of its
    own; the gradients are then functions of these and of the cotangent.
    """
    assert node.kernel.call is not None and cotangent is not None
    operation, static = node.kernel.call
    run = current_run()
    recording = run is None or run.create_graph
    tangents = [*of_leaves] or [None] * len(node.leaves)
    token = enter_mode(True)
    try:
        varied = _operands(node, tangents, recording)
        seed = stand_in(cotangent, recording)
        out = apply(operation, varied, static, watched=False)
        wanted = [varied[position] for position in node.kernel.active]
        rows = grad(out, wanted, seed, create_graph=True, allow_unused=True)
        moving = [(v, t) for v, t in zip(varied, tangents, strict=True) if t is not None]
        if of_cotangent is not None:
            moving.append((seed, of_cotangent))
        inputs, directions = zip(*moving, strict=True)
        return [
            None if row is None else forward_product(row, inputs, directions, recording)
            for row in rows
        ]
    finally:
        leave_mode(token)


def tangents_of_compiled_gradients(
    node: OperationNode,
    cotangents: Sequence[Tensor | None],
    of_leaves: Sequence[Tensor | None],
    of_cotangents: Sequence[Tensor | None],
) -> list[Tensor | None]:
    """`tangents_of_gradients` for the node of a compiled function."""
    run = current_run()
    recording = run is None or run.create_graph
    seeds = [
        np.zeros(*shape)[()] if c is None else c
        for c, shape in zip(cotangents, node.output_types, strict=True)
    ]
    of_active = [of_leaves[position] if of_leaves else None for position in node.kernel.active]
    point, along = _point(node) + Point.of(seeds), [*of_active, *of_cotangents]
    if node.kernel.derivatives.has_given_rules:
        return [*_pushed_forward(node.kernel.derivatives.gradient, point, along, recording)]
    results = HigherNode.of_gradient(node.kernel, point).backward(along, recording)
    active = results[: len(node.kernel.active)]
    return [r if isinstance(r, Tensor) else wrap(np.asarray(r)) for r in active]


def _point(node: OperationNode) -> Point:
    return node.point(unpacked(list(node.leaves), {}))


def _pushed_forward(
    derivatives: Derivatives, point: Point, tangents: Sequence[Tensor | None], recording: bool
) -> list[Tensor]:
    """J v for a compiled function, by its own forward mode.

    tangents: of the active leaves; None for zeros.
    """
    values = unpacked([point.values[position] for position in derivatives.active], {})
    along = [
        np.zeros_like(value)[()] if tangent is None else tangent
        for value, tangent in zip(values, tangents, strict=True)
    ]
    whole = point + Point.of(along)
    whole.check_versions(derivatives.tangent.reads)
    results = derivative(derivatives.tangent, whole)
    if recording and grad_enabled():
        return recorded(derivatives.tangent, whole, results)
    return [wrap(np.asarray(result)) for result in results]


def _operands(node: OperationNode, tangents: Sequence[Tensor | None], recording: bool) -> list[Any]:
    """The operands of a recorded operation; those that have a tangent or lead to what a gradient
    is wanted of, each in a place of its own in the graph."""
    leaves = unpacked(node.leaves, {})[: len(tangents)]
    edges = dict(zip(node.kernel.active, node.next_edges, strict=True))
    operands = []
    for position, leaf in enumerate(leaves):
        producer, index = edges.get(position, NO_EDGE)
        if producer is not None:
            operands.append(stand_in(wrap_result(np.asarray(leaf), producer, index), recording))
        else:
            moves = tangents[position] is not None
            operands.append(wrap(leaf).requires_grad_() if moves else leaf)
    return operands


def stand_in(operand: Tensor, recording: bool) -> Tensor:
    """A place of its own in the graph for one operand, so that derivatives by it are its alone."""
    if recording and operand.requires_grad:
        return apply(shaping.VIEW, (operand,), (operand.array.shape,), watched=False)
    return operand.detach().requires_grad_()


def forward_product(
    out: Tensor, inputs: Sequence[Tensor], tangents: Sequence[Tensor], recording: bool
) -> Tensor:
    """J v for the recorded function that gave `out` of the inputs."""
    zeros = wrap(np.zeros_like(out.array))
    if not out.requires_grad:
        return zeros
    weight = wrap(np.zeros_like(out.array)).requires_grad_()
    rows = grad(out, inputs, weight, create_graph=True, allow_unused=True)
    pairs = [
        (row, t)
        for row, t in zip(rows, tangents, strict=True)
        if row is not None and row.requires_grad
    ]
    if not pairs:
        return zeros
    reached, directions = zip(*pairs, strict=True)
    product: Tensor | None
    (product,) = grad(reached, weight, directions, create_graph=recording, allow_unused=True)
    if product is None:
        return zeros
    if any(np.may_share_memory(product.array, t.array) for t in directions):
        return product.clone()  # stores to `out` change its tangent, and no other
    return product
