"""`grad_fn._saved_self` and its kind: what a node keeps for its backward, under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradscribe.runtime.hooks import Hook
from gradscribe.runtime.node import FREED_GRAPH, AccumulateGrad
from gradscribe.runtime.saved import (
    HOOKS_ARE_SET,
    NONE_IS_SAVED,
    Packed,
    PackedRecord,
    checked_hooks,
)
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
            return _result(node)
        names = _OPERANDS.get(operation.name, ("self", "other"))
        if name in names and names.index(name) < len(node.leaves):
            return _operand(node, names.index(name))
        known = dict(zip(operation.parameters, static, strict=False))
        if _STATIC.get(name, name) in known:
            return known[_STATIC.get(name, name)]
    raise AttributeError(f"'{node.name()}' object has no attribute '_saved_{name}'")


class SavedTensor:
    """`grad_fn._raw_saved_self`: one saved array, which can be packed with hooks of its own."""

    _node: OperationNode
    _position: int | None

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, node: OperationNode, name: str) -> SavedTensor:
        """The saved Tensor of this name; an AttributeError where the node has none such."""
        call = node.kernel.call
        names = () if call is None else _OPERANDS.get(call[0].name, ("self", "other"))
        is_result = name == "result" and node.kernel.checks_outputs
        if not is_result and (name not in names or names.index(name) >= len(node.leaves)):
            raise AttributeError(f"'{node.name()}' object has no attribute '_raw_saved_{name}'")
        saved = cls.__new__(cls)
        saved._node = node
        saved._position = None if is_result else names.index(name)
        return saved

    def _item(self) -> Any:
        """What the node keeps: an array, or a `Packed`."""
        if self._position is None:
            return _result_item(self._node)
        return self._node.leaves[self._position]

    @property
    def data(self) -> Any:
        """What is kept: what the pack hook returned, or the Tensor outside of the graph."""
        item = self._item()
        return item.content if isinstance(item, Packed) else wrap(item)

    @property
    def unpack_hook(self) -> Hook | None:
        """The hook that is called on `data`, if there is one."""
        item = self._item()
        return item.unpack_hook if isinstance(item, Packed) else None

    def register_hooks(self, *hooks: Hook) -> None:
        """`register_hooks(pack_hook, unpack_hook)`: keep what pack_hook makes of the Tensor, and
        call unpack_hook for the backward."""
        checked_hooks(hooks)
        if is_freed(self._node):
            raise RuntimeError(_FREED)
        item = self._item()
        if isinstance(item, Packed):
            raise RuntimeError(HOOKS_ARE_SET)
        if not isinstance(item, np.ndarray):
            raise RuntimeError(NONE_IS_SAVED)
        held = Packed(item, *hooks)
        position = self._position
        self._node.pack_saved(
            lambda array, at: held if (at == position and array is item) else array
        )


_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)


def is_freed(node: OperationNode) -> bool:
    """Whether what a node has kept is freed."""
    from gradscribe.runtime.operation import Freed

    return isinstance(node.record, Freed)


def _operand(node: OperationNode, position: int) -> Any:
    """An operand, as a Tensor in its place in the graph; None where its elements are not kept."""
    if is_freed(node):
        raise RuntimeError(FREED_GRAPH)
    kernel = node.kernel
    value = node.leaves[position]
    if not isinstance(value, (np.ndarray, Packed)):
        return value
    if position not in kernel.checked:
        return None
    node.check_versions([position])
    array = value.get() if isinstance(value, Packed) else value
    if position not in kernel.active:
        return wrap(array)
    producer, index = node.next_edges[kernel.active.index(position)]
    if isinstance(producer, AccumulateGrad) and producer.variable.array is array:
        return producer.variable
    return wrap(array) if producer is None else wrap_result(array, producer, index)


def _result(node: OperationNode) -> Tensor:
    """The output, found in the record."""
    if is_freed(node):
        raise RuntimeError(FREED_GRAPH)
    arity = len(node.leaves)
    node.check_versions([arity])
    item = _result_item(node)
    result = wrap_result(item.get() if isinstance(item, Packed) else item, node)
    counter = node.counters[arity]
    if counter is not None:
        result.counter = counter
    return result


def _result_item(node: OperationNode) -> Any:
    """What the record keeps of the output."""
    shape, _ = node.kernel.shapes[0]
    own = {id(leaf) for leaf in node.leaves}
    record = node.record.record if isinstance(node.record, PackedRecord) else node.record
    for item in _items(record):
        if item.shape == shape and id(item) not in own:
            return item
    raise AttributeError("_saved_result")


def _items(record: Any) -> list[Any]:
    if isinstance(record, (tuple, list)):
        return [found for item in record for found in _items(item)]
    return [record] if isinstance(record, (np.ndarray, Packed)) else []
