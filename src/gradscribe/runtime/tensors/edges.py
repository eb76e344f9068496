"""Nodes as users handle them: edges as arguments, hooks on several Tensors at once, versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from gradscribe.runtime.graph.engine import Run, current_run
from gradscribe.runtime.graph.hooks import RemovableHandle
from gradscribe.runtime.graph.node import GradientEdge
from gradscribe.runtime.tensors.tensor import Tensor, edge_of


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a Tensor that requires a gradient."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node, index = edge_of(tensor)
    assert node is not None
    return GradientEdge(node.public, index)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tell that the memory of a Tensor was changed by other means than its methods."""
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        each._counter[0] += 1


class MultiHandle:
    """Removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> MultiHandle:
    """Call fn with the gradients of all these Tensors, once all that a backward computes are
    there (None for the others); with mode "any", with the first of them."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    waiting = _Waiting(tensors, fn, mode)
    return MultiHandle(
        [tensor.register_hook(partial(waiting.arrived, i)) for i, tensor in enumerate(tensors)]
    )


class _Waiting:
    """What has arrived of these Tensors' gradients, in each backward run that is under way."""

    def __init__(self, tensors: Sequence[Tensor], function: Callable[..., None], mode: str) -> None:
        self._nodes = [edge_of(tensor)[0] for tensor in tensors]
        self._function = function
        self._mode = mode
        self._lock = Lock()
        self._found: WeakKeyDictionary[Run, dict[int, Tensor]] = WeakKeyDictionary()

    def arrived(self, position: int, gradient: Tensor) -> None:
        """A hook of one of the Tensors was called."""
        run = current_run()
        assert run is not None, "expected this hook to be called inside a backward call"
        with self._lock:
            found = self._found.setdefault(run, {})
            found[position] = gradient
            count = len(found)
        if self._mode == "any":
            if count == 1:
                self._function(gradient)
        elif count == sum(map(run.will_visit, self._nodes)):
            self._function([found.get(i) for i in range(len(self._nodes))])
