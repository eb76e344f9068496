"""`grad_fn._saved_self` and its kind: what a node keeps for its backward, under PyTorch's names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.ir.core import Operand, SliceOf
from gradscribe.runtime.graph.hooks import Hook
from gradscribe.runtime.graph.node import FREED_GRAPH, NO_EDGE
from gradscribe.runtime.operations.kept_call import KeptCall
from gradscribe.runtime.operations.kernel import Kernel
from gradscribe.runtime.tensors.saved import (
    HOOKS_ARE_SET,
    NONE_IS_SAVED,
    Packed,
    PackedRecord,
    checked_hooks,
)
from gradscribe.runtime.tensors.tensor import Tensor, wrap, wrap_at, wrap_result


def saved_value(node: KeptCall, name: str) -> Any:
    """The saved value of this name; an AttributeError where the node has none such."""
    place = node.saved_names().get(name)
    if place is None:
        raise AttributeError(f"'{node.name()}' object has no attribute '_saved_{name}'")
    if place.startswith("="):
        return _operand(node, place)
    if place.startswith(":"):
        return _static(node, place[1:])
    return int(place[1:]) if place.startswith("!") else _DERIVED[place](node)


def saved_attributes(node: KeptCall) -> list[str]:
    """The names of the attributes that tell what a node has kept."""
    names = node.saved_names()
    tensors = [name for name, place in names.items() if _is_tensor(node, place)]
    return [*(f"_saved_{name}" for name in names), *(f"_raw_saved_{name}" for name in tensors)]


def _is_tensor(node: KeptCall, place: str) -> bool:
    """Whether a saved value is a Tensor."""
    if not place.startswith("="):
        return place == "result" and node.kernel.keeps_result
    position = _position(place)
    if position >= len(node.leaves):
        return False
    wraps = node.kernel.call is not None and node.kernel.call[0].wraps_numbers
    return wraps or isinstance(node.leaves[position], (np.ndarray, Packed))


def _static(node: KeptCall, parameter: str) -> Any:
    """A static argument; of `axis*` as a tuple, of `axis.` the only item."""
    assert node.kernel.call is not None
    operation, static = node.kernel.call
    known = dict(zip(operation.parameters, static, strict=False))
    value = known.get(parameter.rstrip("*."))
    if parameter == "ord" and value is None:
        return 2
    if parameter == "axis" and "index" in known:
        return known["index"].index(None)
    if parameter.endswith("*"):
        return (value,) if isinstance(value, int) else value
    if parameter.endswith(".") and isinstance(value, tuple):
        return value[0] if value else None
    return value


def _sizes(node: KeptCall) -> tuple[int, ...]:
    return tuple(np.shape(_first(node)))


def _numel(node: KeptCall) -> int:
    return int(np.size(_first(node)))


def _first(node: KeptCall) -> Any:
    if node.is_freed:
        raise RuntimeError(FREED_GRAPH)
    leaf = node.leaves[0]
    return leaf.get() if isinstance(leaf, Packed) else leaf


def _index(node: KeptCall) -> list[tuple[int, Any]]:
    """The items of an index that take a part of an axis, each with its axis."""
    assert node.kernel.call is not None
    (index,) = node.kernel.call[1]
    kept = [item for item in index if item is not None and item is not Ellipsis]
    return [(axis, item) for axis, item in enumerate(kept) if item != SliceOf(None, None, None)]


def _bounds(node: KeptCall) -> tuple[int, int, int, int]:
    """Axis, start, end and step of a slice."""
    axis, item = (_index(node) or [(0, SliceOf(None, None, None))])[0]
    end = sys.maxsize if item.stop is None else item.stop
    return axis, item.start or 0, end, item.step or 1


def _indices(node: KeptCall) -> tuple[Tensor | None, ...]:
    """The arrays of an index, None for axes that are taken whole."""
    assert node.kernel.call is not None
    (index,) = node.kernel.call[1]
    return tuple(
        wrap(node.leaves[item.index]) if isinstance(item, Operand) else None for item in index
    )


class SavedTensor:
    """`grad_fn._raw_saved_self`: one saved array, which can be packed with hooks of its own."""

    _node: KeptCall
    _position: int | None

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, node: KeptCall, name: str) -> SavedTensor:
        """The saved Tensor of this name; an AttributeError where the node has none such."""
        place = node.saved_names().get(name, "")
        if not place.startswith("=") and not (place == "result" and node.kernel.keeps_result):
            raise AttributeError(f"'{node.name()}' object has no attribute '_raw_saved_{name}'")
        saved = cls.__new__(cls)
        saved._node = node
        saved._position = None if place == "result" else _position(place)
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
        return item.content if isinstance(item, Packed) else wrap(np.asarray(item))

    @property
    def unpack_hook(self) -> Hook | None:
        """The hook that is called on `data`, if there is one."""
        item = self._item()
        return item.unpack_hook if isinstance(item, Packed) else None

    def register_hooks(self, *hooks: Hook) -> None:
        """`register_hooks(pack_hook, unpack_hook)`: keep what pack_hook makes of the Tensor, and
        call unpack_hook for the backward."""
        pack_hook, unpack_hook = checked_hooks(hooks)
        if self._node.is_freed:
            raise RuntimeError(_FREED)
        item = self._item()
        if isinstance(item, Packed):
            raise RuntimeError(HOOKS_ARE_SET)
        if not isinstance(item, (np.ndarray, np.inexact)):
            raise RuntimeError(NONE_IS_SAVED)
        held = Packed(np.asarray(item), pack_hook, unpack_hook)
        position = self._position
        self._node.pack_saved(
            lambda array, at: held if (at == position and _is(array, item)) else array
        )


def _is(array: Any, item: Any) -> bool:
    """Whether an array is the item of a record, which may be a number."""
    return array is item or (isinstance(item, np.inexact) and not array.ndim and array == item)


_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)


def _position(place: str) -> int:
    return int(place[1:].partition("?")[0])


def _operand(node: KeptCall, place: str) -> Any:
    """An operand, as a Tensor in its place in the graph; None where its elements are not kept."""
    if node.is_freed:
        raise RuntimeError(FREED_GRAPH)
    kernel = node.kernel
    assert kernel.call is not None
    operation, position = kernel.call[0], _position(place)
    if operation.commutes and not isinstance(node.leaves[0], (np.ndarray, Packed)):
        position = 1 - position
    if position >= len(node.leaves):
        return 1  # a factor that was left out
    value = node.leaves[position]
    if not isinstance(value, (np.ndarray, Packed)):
        return wrap(np.asarray(value)) if operation.wraps_numbers else value
    is_unwanted = "?" in place and 1 - position not in kernel.active
    if _stands_in(node, position) or is_unwanted:
        return None
    return recalled(node, position)


def recalled(node: KeptCall, position: int) -> Tensor:
    """The array among the operands at a position, as a Tensor in its place in the graph."""
    if node.is_freed:
        raise RuntimeError(FREED_GRAPH)
    node.check_versions([position])
    value = node.leaves[position]
    return placed(node, position, value.get() if isinstance(value, Packed) else value)


def placed(node: KeptCall, position: int, array: Any) -> Tensor:
    """An array as a Tensor in the place of the graph that the operand at a position has."""
    edge = NO_EDGE
    if position in node.kernel.active:
        edge = node.next_edges[node.kernel.active.index(position)]
    operand = wrap_at(array, edge)
    counter = node.counters[position]
    if counter is not None and operand is not getattr(edge[0], "variable", None):
        operand._counter = counter
    return operand


def placed_result(node: KeptCall, array: Any) -> Any:
    """An array of the record as a Tensor in the place of the output, if it is that."""
    if node.kernel.call is None or not node.kernel.keeps_result:
        return array
    found = _of_shape(node.record, node.leaves, node.shapes[0][0])
    if len(found) != 1 or not _is(array, found[0]):
        return array
    return _as_output(node, array)


def _as_output(node: KeptCall, array: Any) -> Tensor:
    result = wrap_result(array, node)
    counter = node.counters[len(node.leaves)] if node.kernel.checks_outputs else None
    if counter is not None:
        result._counter = counter
    return result


def _stands_in(node: KeptCall, position: int) -> bool:
    """Whether a node has kept the shape of an operand only."""
    return node.kernel.spared[position]


def recalled_result(node: KeptCall) -> Tensor:
    """The output: found in the record, or computed again."""
    if node.is_freed:
        raise RuntimeError(FREED_GRAPH)
    arity = len(node.leaves)
    try:
        if not node.kernel.keeps_result:
            raise AttributeError
        item = _result_item(node)
    except AttributeError:
        return _computed_again(node)
    if node.kernel.checks_outputs:
        node.check_versions([arity])
    return _as_output(node, item.get() if isinstance(item, Packed) else np.asarray(item))


def _computed_again(node: KeptCall) -> Tensor:
    """The output, of the operands that the node has kept."""
    assert node.kernel.call is not None
    operation, static = node.kernel.call
    node.check_versions(range(len(node.leaves)))
    leaves = [leaf.get() if isinstance(leaf, Packed) else leaf for leaf in node.leaves]
    return wrap_result(np.asarray(operation.call(leaves, static)), node)


def _picked(node: KeptCall) -> Tensor:
    """Where along an axis elements were taken."""
    assert node.kernel.call is not None
    axis, is_kept = node.kernel.call[1]
    index = _operand(node, "=1")
    return index if is_kept else wrap(np.squeeze(index.array, axis))


def _result_item(node: KeptCall) -> Any:
    """What the record keeps of the output."""
    record = node.record.record if isinstance(node.record, PackedRecord) else node.record
    found = _of_shape(record, node.leaves, node.shapes[0][0])
    if len(found) != 1:
        raise AttributeError("_saved_result")
    return found[0]


def holds_result(kernel: Kernel, record: Any, leaves: Sequence[Any], out: Any) -> bool:
    """Whether the output of an operation is found in its record."""
    return kernel.keeps_result and len(_of_shape(record, leaves, np.shape(out))) == 1


def _of_shape(record: Any, leaves: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
    """What a record keeps, beyond the leaves, of the shape of the output."""
    own = {id(leaf) for leaf in leaves}
    found = {id(i): i for i in arrays_in(record) if i.shape == shape and id(i) not in own}
    return list(found.values())


def arrays_in(record: Any) -> list[Any]:
    """What was computed, and the operands, in a record."""
    if isinstance(record, (tuple, list)):
        return [found for item in record for found in arrays_in(item)]
    return [record] if isinstance(record, (np.ndarray, np.inexact, Packed)) else []


_DERIVED: dict[str, Callable[[KeptCall], Any]] = {
    "result": recalled_result,
    "sizes": _sizes,
    "numel": _numel,
    "indices": _indices,
    "picked": _picked,
    "index": lambda node: _index(node)[0][1],
    "dim": lambda node: _index(node)[0][0],
    "sliced": lambda node: _bounds(node)[0],
    "start": lambda node: _bounds(node)[1],
    "end": lambda node: _bounds(node)[2],
    "step": lambda node: _bounds(node)[3],
}
"""What is found otherwise than as an operand or a static argument."""
