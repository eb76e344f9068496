"""`grad_fn._saved_self` and its kind: what a node keeps for its backward, under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.runtime.hooks import Hook
from gradscribe.runtime.node import AccumulateGrad
from gradscribe.runtime.saved import Packed
from gradscribe.runtime.tensor import Tensor, wrap, wrap_result

if TYPE_CHECKING:
    from gradscribe.runtime.operation import OperationNode

_OPERANDS = {
    "Pow": ("self", "exponent"),
    "Mm": ("self", "mat2"),
    "Bmm": ("self", "mat2"),
    "Mv": ("self", "vec"),
    "Dot": ("self", "tensor"),
    "Where": ("condition", "self", "other"),
}
_STATIC = {"dim": "axis", "keepdim": "keepdims", "dim0": "axis1", "dim1": "axis2"}


def saved_value(node: OperationNode, name: str) -> Any:
    """The saved value of this name; an AttributeError where the node has none such."""
    if node.kernel.call is not None:
        operation, static = node.kernel.call
        if name == "result" and node.kernel.checks_outputs:
            return wrap_result(_result(node), node)
        names = _OPERANDS.get(operation.name, ("self", "other"))
        if name in names and names.index(name) < len(node.leaves):
            return _operand(node, names.index(name))
        known = dict(zip(operation.parameters, static, strict=False))
        if _STATIC.get(name, name) in known:
            return known[_STATIC.get(name, name)]
    raise AttributeError(f"'{node.name()}' object has no attribute '_saved_{name}'")


class SavedTensor:
    """`grad_fn._raw_saved_self`: one saved array, which can be packed with hooks of its own."""

    def __init__(self, node: OperationNode, name: str) -> None:
        value = saved_value(node, name)
        if not isinstance(value, Tensor):
            raise AttributeError(f"'{node.name()}' object has no attribute '_raw_saved_{name}'")
        self._node = node
        self._array = value.array

    def register_hooks(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        """Keep what pack_hook makes of the Tensor, and call unpack_hook for the backward."""
        array, held = self._array, Packed(self._array, pack_hook, unpack_hook)
        self._node.pack_saved(lambda each: held if each is array else each)


def _record(node: OperationNode) -> Any:
    kept = node.record
    return kept.get() if hasattr(kept, "get") else kept


def _operand(node: OperationNode, position: int) -> Any:
    """An operand, as a Tensor in its place in the graph; None where its elements are not kept."""
    _record(node)
    kernel = node.kernel
    value = node.leaves[position]
    if not isinstance(value, np.ndarray):
        return value
    if position not in kernel.checked:
        return None
    node.check_versions([position])
    if position not in kernel.active:
        return wrap(value)
    producer, index = node.next_edges[kernel.active.index(position)]
    if isinstance(producer, AccumulateGrad) and producer.variable.array is value:
        return producer.variable
    return wrap(value) if producer is None else wrap_result(value, producer, index)


def _result(node: OperationNode) -> Any:
    """The array of the output, found in the record."""
    node.check_versions([len(node.leaves)])
    shape, _ = node.kernel.shapes[0]
    own = {id(leaf) for leaf in node.leaves}
    for array in _arrays(_record(node)):
        if array.shape == shape and id(array) not in own:
            return array
    raise AttributeError("_saved_result")


def _arrays(record: Any) -> list[Any]:
    if isinstance(record, (tuple, list)):
        return [array for item in record for array in _arrays(item)]
    return [record] if isinstance(record, np.ndarray) else []
