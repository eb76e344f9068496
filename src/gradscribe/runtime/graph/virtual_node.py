"""`graph.Node`: what all nodes are instances of, without being among their bases."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from gradscribe.runtime.graph import node
from gradscribe.runtime.graph.function_context import FunctionCtx
from gradscribe.runtime.graph.hooks import Hook, RemovableHandle
from gradscribe.runtime.graph.node import Edge


class _OfNodes(abc.ABCMeta):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (node.Node, FunctionCtx))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, (node.Node, FunctionCtx))


class Node(metaclass=_OfNodes):
    """What a node of a recorded graph can be asked."""

    @abc.abstractmethod
    def name(self) -> str:
        """The name, as in `<AddBackward0>`."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[Edge, ...]:
        """For each Tensor that went in: its node (None: needs no gradient) and output number."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> Sequence[Any]:
        """What the gradients must be that go into the node."""

    @abc.abstractmethod
    def register_hook(self, fn: Hook) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run."""

    @abc.abstractmethod
    def register_prehook(self, fn: Hook) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs."""
