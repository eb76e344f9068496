"""What watches operations while they run: anomaly detection, hooks on saved values, inference
mode, dual levels.

`MODES` is empty but while one of them is on, and that is all that the path of an eager operation
looks at. A mode is told of every result, of every node that is recorded, and of changes in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradscribe.runtime.eager import Operation
    from gradscribe.runtime.node import Node
    from gradscribe.runtime.tensor import Tensor


class Mode:
    """Base of what watches; does nothing."""

    def finished(
        self, operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Tensor
    ) -> None:
        """An operation has given this result."""

    def recorded(self, node: Node) -> None:
        """A call was recorded as this node."""

    def made(self, tensor: Tensor) -> None:
        """A Tensor was made that is the result of no operation."""

    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        """A copy stands for a Tensor whose memory will change."""

    def starting(self, nodes: Sequence[Node], create_graph: bool) -> None:
        """A backward run starts at these nodes."""

    def differentiated(
        self, node: Node, cotangents: Sequence[Tensor | None], results: Sequence[Tensor | None]
    ) -> None:
        """A node has given these results in a backward that is recorded."""

    def tangent(self, tensor: Tensor) -> Tensor | None:
        """The tangent of a Tensor, for a mode that knows some."""
        return None

    def stored(self, target: Tensor, place: Any, value: Any) -> None:
        """The elements of target at a place have become those of value."""


MODES: list[Mode] = []


def tell_finished(
    operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Tensor
) -> None:
    """Tell all modes of a result, and of its node."""
    for mode in tuple(MODES):
        if out.node is not None:
            mode.recorded(out.node)
        mode.finished(operation, operands, static, out)


def tell_recorded(node: Node) -> None:
    """Tell all modes of a node."""
    for mode in tuple(MODES):
        mode.recorded(node)


def tell_made(tensor: Tensor) -> None:
    """Tell all modes of a new Tensor."""
    for mode in tuple(MODES):
        mode.made(tensor)


def tell_copied(tensor: Tensor, copy: Tensor) -> None:
    """Tell all modes of a copy that stands for a Tensor."""
    for mode in tuple(MODES):
        mode.copied(tensor, copy)


def tell_stored(target: Tensor, place: Any, value: Any) -> None:
    """Tell all modes of a change in place; place: an index of target."""
    for mode in tuple(MODES):
        mode.stored(target, place, value)


def tell_starting(nodes: Sequence[Node], create_graph: bool) -> None:
    """Tell all modes of a backward run."""
    for mode in tuple(MODES):
        mode.starting(nodes, create_graph)


def tell_differentiated(
    node: Node, cotangents: Sequence[Tensor | None], results: Sequence[Tensor | None]
) -> None:
    """Tell all modes of the results of a node."""
    for mode in tuple(MODES):
        mode.differentiated(node, cotangents, results)


def tangent_of(tensor: Tensor) -> Tensor | None:
    """The tangent of a Tensor in the dual level that is on."""
    for mode in MODES:
        tangent = mode.tangent(tensor)
        if tangent is not None:
            return tangent
    return None
