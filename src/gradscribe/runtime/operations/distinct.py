"""The table of eager operations, continued: the different elements of a Tensor.

Their values are in the graph, but have no derivative: to ask for it is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.rows import BOTH, operation
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.graph.node import Node, next_sequence
from gradscribe.runtime.tensors.tensor import Tensor, edge_of, wrap, wrap_result


class _WithoutDerivative(Node):
    """The node of an operation whose results have no derivative. name: PyTorch's of it."""

    def __init__(self, operand: Tensor, name: str) -> None:
        self.next_edges = [edge_of(operand)]
        self.sequence_nr = next_sequence()
        self.own_hooks = None
        self._name = name

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise NotImplementedError(f"the derivative for '{self._name}' is not implemented.")


_NODES = {
    name: type(node, (_WithoutDerivative,), {"__module__": "builtins"})
    for name, node in {
        "_unique2": "Unique2Backward0",
        "unique_dim": "UniqueDimBackward0",
        "unique_consecutive": "UniqueConsecutiveBackward0",
    }.items()
}


def recorded(values: Tensor, input: Tensor, name: str) -> Tensor:
    """The values, as the output of an operation of this name where that is recorded."""
    if not (input.requires_grad and grad_enabled()):
        return values
    return wrap_result(values.array, _NODES[name](input, name))


@operation(BOTH, shapes="(…) -> (k), inverse (…), counts (k)")
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements (or slices along an axis), in order."""
    options: Any = {"return_inverse": return_inverse, "return_counts": return_counts}
    found: Any = np.unique(input.array, axis=dim, equal_nan=False, **options)
    name = "_unique2" if dim is None else "unique_dim"
    if not isinstance(found, tuple):
        return recorded(wrap(found), input, name)
    return (recorded(wrap(found[0]), input, name), *map(wrap, found[1:]))


@operation(BOTH, shapes="(…) -> (k), inverse (…), counts (k)")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements (or slices along an axis) that differ from the one before."""
    rows = input.array.ravel() if dim is None else np.moveaxis(input.array, dim, 0)
    differs = rows[1:] != rows[:-1]
    if dim is not None:
        differs = np.any(differs, axis=tuple(range(1, input.array.ndim)))
    starts = np.flatnonzero(np.r_[True, differs][: len(rows)])
    values = rows[starts] if dim is None else np.moveaxis(rows[starts], 0, dim)
    results = [recorded(wrap(values), input, "unique_consecutive")]
    counts = np.diff(np.r_[starts, len(rows)])
    if return_inverse:
        inverse = np.repeat(np.arange(starts.size), counts)
        results.append(wrap(inverse if dim is not None else inverse.reshape(input.array.shape)))
    if return_counts:
        results.append(wrap(counts))
    return tuple(results) if len(results) > 1 else results[0]
