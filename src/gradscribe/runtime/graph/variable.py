"""What the graph, and what watches it, know of a Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Variable(Protocol):
    """A Tensor: an array, and its place in the graph."""

    array: Any
    _node: Any
    _index: int
    _needs_grad: Any
    _counter: Any
    _view_of: Any
    _grad: Any
    _leaf: Any

    @property
    def requires_grad(self) -> bool: ...
    @property
    def output_nr(self) -> int: ...
    @property
    def retains_grad(self) -> bool: ...
    @property
    def _backward_hooks(self) -> Any: ...
    def _leaf_state(self) -> Any: ...


class Showing:
    """What arrays are shown to users as: the class of Tensors, and what makes one."""

    kind: type = type(None)
    wrap: Callable[[Any], Any]


def is_shown(value: Any) -> bool:
    """Whether a value is a Tensor."""
    return isinstance(value, Showing.kind)


def shown(value: Any) -> Any:
    """An array or number as a Tensor; a Tensor, and None, as they are."""
    if value is None or isinstance(value, Showing.kind):
        return value
    return Showing.wrap(np.asarray(value))
