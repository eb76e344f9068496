"""Calls that have been made, again along their record: on other values, or on tangents, which is
forward mode.

A function that is recorded runs once; its derivatives along any number of directions are taken of
its record, by the rules by which a run forward takes them, and so are those of its derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradscribe.compiler.leaves import zero_like
from gradscribe.recording.calls import Node
from gradscribe.recording.levels import Level, Traced, is_differentiable, plain
from gradscribe.recording.reverse import fitted


def tangents_of(values: Sequence[Any], level: Level, directions: Mapping[Node, Any]) -> list[Any]:
    """The tangents of values of a run that is over; None for what has no derivative. directions:
    the tangents of the inputs of the run."""
    places = [v.place if type(v) is Traced and v.level is level else None for v in values]
    found: dict[Node, Sequence[Any]] = {node: (along,) for node, along in directions.items()}
    for node in _calls([place[0] for place in places if place is not None]):
        if node.derivatives is not None:
            found[node] = _pushed(node, found)
    return [
        _unreached(value) if place is None else fitted(found[place[0]][place[1]], plain(value))
        for value, place in zip(values, places, strict=True)
    ]


def replayed(values: Sequence[Any], level: Level, inputs: Mapping[Node, Any]) -> list[Any]:
    """What values of a run that is over are for other values of its inputs."""
    found: dict[Node, Sequence[Any]] = {node: (value,) for node, value in inputs.items()}
    own = [v.place if type(v) is Traced and v.level is level else None for v in values]
    for node in _calls([place[0] for place in own if place is not None]):
        if node.derivatives is not None:
            found[node] = _again(node, found)
    return [
        value if place is None else found[place[0]][place[1]]
        for value, place in zip(values, own, strict=True)
    ]


def _again(node: Node, found: Mapping[Node, Sequence[Any]]) -> Sequence[Any]:
    """What a call gives that have derivatives, on what is found for its parents."""
    derivatives = node.derivatives
    assert derivatives is not None
    leaves = list(node.leaves)
    for position, parent in zip(derivatives.active, node.parents, strict=True):
        if parent is not None:
            leaves[position] = found[parent[0]][parent[1]]
    results = node.evaluate(lambda: derivatives, leaves, is_first=node.record is not None)
    return [results[position] for position in derivatives.outputs]


def _calls(last: Sequence[Node]) -> list[Node]:
    """The calls that these need, themselves among them, in the order in which they were made."""
    pending, seen = [*last], set(last)
    while pending:
        for parent in pending.pop().parents:
            if parent is not None and parent[0] not in seen:
                seen.add(parent[0])
                pending.append(parent[0])
    return sorted(seen, key=lambda node: node.number)


def _pushed(node: Node, found: Mapping[Node, Sequence[Any]]) -> Sequence[Any]:
    """The tangents of what a call gave."""
    derivatives = node.derivatives
    assert derivatives is not None
    active = [node.leaves[i] for i in derivatives.active]
    tangents = [
        zero_like(plain(value)) if parent is None else found[parent[0]][parent[1]]
        for value, parent in zip(active, node.parents, strict=True)
    ]
    return node.evaluate(lambda: derivatives.tangent, [*node.leaves, *tangents])


def _unreached(value: Any) -> Any:
    return zero_like(plain(value)) if is_differentiable(plain(value)) else None
