"""The run backwards: from cotangents of results to those of the inputs of a run."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.compiler.leaves import zero_like
from gradscribe.errors import NoDerivativeError
from gradscribe.ir.core import Operand
from gradscribe.recording.calls import Node, call
from gradscribe.recording.levels import Level, Traced, plain


def cotangents_of(
    inputs: Sequence[Node], level: Level, outputs: Sequence[Any], seeds: Sequence[Any]
) -> list[Any]:
    """The cotangents of the inputs of a level; None for those that no output depends on.

    outputs: values of the run. seeds: their cotangents, for the levels below.
    """
    pending: dict[int, tuple[Node, list[Any]]] = {}
    found: dict[int, Any] = {}
    queue: list[int] = []

    def add(place: tuple[Node, int], cotangent: Any) -> None:
        node, index = place
        if node.derivatives is None:
            known = found.get(node.number)
            found[node.number] = cotangent if known is None else plus(known, cotangent)
            return
        if node.number not in pending:
            pending[node.number] = node, [None] * len(node.likes)
            heapq.heappush(queue, -node.number)
        own = pending[node.number][1]
        own[index] = cotangent if own[index] is None else plus(own[index], cotangent)

    for output, seed in zip(outputs, seeds, strict=True):
        if type(output) is Traced and output.level is level:
            add(output.place, seed)
    while queue:
        node, cotangents = pending.pop(-heapq.heappop(queue))
        for parent, cotangent in zip(node.parents, _gradients(node, cotangents), strict=True):
            if parent is not None:
                add(parent, cotangent)
    return [found.get(node.number) for node in inputs]


def _gradients(node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
    """The cotangents of the active leaves of one call."""
    derivatives = node.derivatives
    assert derivatives is not None
    given = [
        zero_like(plain(like)) if cotangent is None else fitted(cotangent, plain(like))
        for cotangent, like in zip(cotangents, node.likes, strict=True)
    ]
    try:
        if node.record is not None and not any(type(value) is Traced for value in given):
            return derivatives.adjoint(node.record, *given)
        return node.evaluate(lambda: derivatives.gradient, [*node.leaves, *given])
    except NoDerivativeError:
        present = [number for number, cotangent in enumerate(cotangents) if cotangent is not None]
        part = None
        if len(present) < len(given):  # that there are none says more than zeros do
            part = derivatives.of_outputs(tuple(present))
        if part is None:
            raise
    chosen = [given[number] for number in present]
    return node.evaluate(lambda: part.gradient, [*node.leaves, *chosen])


def plus(first: Any, second: Any) -> Any:
    """The sum of two values."""
    if type(first) is Traced or type(second) is Traced:
        return call(operator.add, (Operand(0), Operand(1)), {}, [first, second])[0]
    return first + second


def fitted(value: Any, like: Any) -> Any:
    """A (co)tangent as an array where it belongs to an array, a number where to a number."""
    if isinstance(like, np.ndarray) == isinstance(plain(value), np.ndarray):
        return value
    if type(value) is not Traced:
        return np.asarray(value) if isinstance(like, np.ndarray) else value[()]
    if isinstance(like, np.ndarray):
        return call(np.reshape, (Operand(0), ()), {}, [value])[0]
    return call(operator.getitem, (Operand(0), ()), {}, [value])[0]
