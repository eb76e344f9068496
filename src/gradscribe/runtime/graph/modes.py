"""What watches operations while they run: anomaly detection, hooks on saved values, inference
mode, dual levels, profiles.

A mode is told of every result, of every node that is recorded, and of changes in place, in the
context (the thread, the asynchronous task) in which it was entered. `MODES` holds all that are on
anywhere: it is empty but while one is, and that is all that the path of an eager operation looks
at.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

from gradscribe.runtime.arrays.eager_operation import Operation

Call = Callable[[Sequence[Any]], Sequence[Any]]

Tensor: TypeAlias = Any
Node: TypeAlias = Any
"""Of which modes know more than what tells them."""


class Mode:
    """Base of what watches; does nothing. everywhere: whether it watches all contexts."""

    everywhere = False

    def begun(self, name: str, operands: Sequence[Any], sequence_nr: int) -> None:
        """An operation (of the number -1) or a node of a backward run begins."""

    def ended(self) -> None:
        """What began last has ended."""

    def finished(
        self, operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Tensor
    ) -> None:
        """An operation has given this result."""

    def called(self, call: Call, leaves: Sequence[Any], results: Sequence[Any]) -> None:
        """A function of several results has given these; call: it once more, of other leaves."""

    def returned(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """A function of the user's, compiled or a `Function`, has returned these."""

    def moved(self, tensor: Tensor) -> None:
        """A Tensor that was changed in place has another place in the graph."""

    def recorded(self, node: Node) -> None:
        """A call was recorded as this node."""

    def made(self, tensor: Tensor) -> None:
        """A Tensor was made that is the result of no operation."""

    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        """A copy stands for a Tensor whose memory will change."""

    def shared(self, tensor: Tensor, other: Tensor) -> None:
        """Another Tensor stands for a Tensor, in its memory."""

    def needs_tensors(self, nodes: Sequence[Node], seeds: Sequence[Tensor]) -> bool:
        """Whether in a backward run from these nodes, with these cotangents, Tensors must flow,
        so that their tangents are known."""
        return False

    def detached(self, tensor: Tensor, result: Tensor) -> None:
        """A Tensor was taken out of the graph: result, which may be the Tensor itself."""

    def finished_gradient(self, gradient: Tensor, result: Tensor) -> None:
        """A gradient comes out of a backward run as result, outside of the graph."""

    def differentiated(
        self, node: Node, cotangents: Sequence[Tensor | None], results: Sequence[Tensor | None]
    ) -> None:
        """A node has given these results in a backward that is recorded."""

    def recalled(self, node: Node, position: int | None, tensor: Tensor) -> None:
        """For a backward that is recorded, a node brings back what it kept: the operand at a
        position, or (None) its result."""

    def tangent(self, tensor: Tensor) -> Tensor | None:
        """The tangent of a Tensor, for a mode that knows some."""
        return None

    def storing(self, target: Tensor) -> None:
        """The elements of target are about to change."""

    def stored(self, target: Tensor, place: Any, value: Any) -> None:
        """The elements of target at a place have become those of value."""


MODES: list[Mode] = []
_here: ContextVar[tuple[Mode, ...]] = ContextVar("gradscribe_modes", default=())


def enter(mode: Mode) -> None:
    """Let a mode watch what this context does from now on."""
    MODES.append(mode)
    if not mode.everywhere:
        _here.set((*_here.get(), mode))


def leave(mode: Mode) -> None:
    """Take back an `enter`; nothing, where there was none."""
    if mode in MODES:
        MODES.remove(mode)
    here = [*_here.get()]
    if mode in here:
        here.reverse()
        here.remove(mode)
        _here.set(tuple(here[::-1]))


def modes_here() -> tuple[Mode, ...]:
    """The modes that watch this context, in the order in which they were entered."""
    return (*(mode for mode in MODES if mode.everywhere), *_here.get())


def is_on(mode: Mode) -> bool:
    """Whether a mode watches this context."""
    return mode in modes_here()


@contextlib.contextmanager
def timed(name: str, operands: Sequence[Any] = (), sequence_nr: int = -1) -> Iterator[None]:
    """While something runs that a mode may measure."""
    modes = modes_here()
    for mode in modes:
        mode.begun(name, operands, sequence_nr)
    try:
        yield
    finally:
        for mode in modes:
            mode.ended()


@functools.cache
def call_name(stem: str) -> str:
    """The name of a function whose nodes are named so: of "IndexSelect" it is "index_select"."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", stem).lower()


def tell_finished(
    operation: Operation, operands: Sequence[Any], static: tuple[Any, ...], out: Tensor
) -> None:
    """Tell all modes of a result, and of its node."""
    for mode in modes_here():
        if out._node is not None:
            mode.recorded(out._node)
        mode.finished(operation, operands, static, out)


def tell_called(call: Call, leaves: Sequence[Any], results: Sequence[Any]) -> None:
    """Tell all modes of the results of a function that has several."""
    for mode in modes_here():
        mode.called(call, leaves, results)


def tell_returned(inputs: Sequence[Any], results: Sequence[Any]) -> None:
    """Tell all modes of what a function of the user's has returned."""
    for mode in modes_here():
        mode.returned(inputs, results)


def tell_moved(tensor: Tensor) -> None:
    """Tell all modes of another place in the graph."""
    for mode in modes_here():
        mode.moved(tensor)


def tell_recorded(node: Node) -> None:
    """Tell all modes of a node."""
    for mode in modes_here():
        mode.recorded(node)


def tell_made(tensor: Tensor) -> None:
    """Tell all modes of a new Tensor."""
    for mode in modes_here():
        mode.made(tensor)


def tell_copied(tensor: Tensor, copy: Tensor) -> None:
    """Tell all modes of a copy that stands for a Tensor."""
    for mode in modes_here():
        mode.copied(tensor, copy)


def tell_shared(tensor: Tensor, other: Tensor) -> None:
    """Tell all modes of another Tensor that stands for a Tensor, in its memory."""
    for mode in modes_here():
        mode.shared(tensor, other)


def tell_storing(target: Tensor) -> None:
    """Tell all modes of a change in place that is about to be made."""
    for mode in modes_here():
        mode.storing(target)


def tell_stored(target: Tensor, place: Any, value: Any) -> None:
    """Tell all modes of a change in place; place: an index of target."""
    for mode in modes_here():
        mode.stored(target, place, value)


def any_needs_tensors(nodes: Sequence[Node], seeds: Sequence[Tensor]) -> bool:
    """Whether a mode needs Tensors to flow in a backward run from these nodes."""
    return any(mode.needs_tensors(nodes, seeds) for mode in modes_here())


def tell_detached(tensor: Tensor, result: Tensor) -> None:
    """Tell all modes of a Tensor that was taken out of the graph."""
    for mode in modes_here():
        mode.detached(tensor, result)


def tell_finished_gradient(gradient: Tensor, result: Tensor) -> None:
    """Tell all modes of a gradient that comes out of a backward run."""
    for mode in modes_here():
        mode.finished_gradient(gradient, result)


def tell_differentiated(
    node: Node, cotangents: Sequence[Tensor | None], results: Sequence[Tensor | None]
) -> None:
    """Tell all modes of the results of a node."""
    for mode in modes_here():
        mode.differentiated(node, cotangents, results)


def tell_recalled(node: Node, position: int | None, tensor: Tensor) -> None:
    """Tell all modes of what a node brings back."""
    for mode in modes_here():
        mode.recalled(node, position, tensor)


def tangent_of(tensor: Tensor) -> Tensor | None:
    """The tangent of a Tensor in the dual level that is on."""
    for mode in modes_here():
        tangent = mode.tangent(tensor)
        if tangent is not None:
            return tangent
    return None
