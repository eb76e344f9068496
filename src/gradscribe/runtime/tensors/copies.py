"""Tensors copied by `copy.deepcopy`, and pickled."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from gradscribe.runtime.graph.modes import MODES, tell_made
from gradscribe.runtime.tensors.array_methods import memory_of
from gradscribe.runtime.tensors.tensor import Array, Tensor, wrap
from gradscribe.runtime.tensors.views import overlaps


def deepcopied(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    copy = wrap(_copied_memory(self.array, memo))
    copy.__class__ = type(self)
    copy._needs_grad = self.requires_grad
    if MODES:
        tell_made(copy)
    memo[id(self)] = copy
    if self.grad is not None:
        copy._grad = deepcopied(self.grad, memo)
    copy.__dict__.update(deepcopy(self.__dict__, memo))
    return copy


def _copied_memory(array: Array, memo: dict[int, Any]) -> Array:
    """A copy of an array; copies of views of one memory share a memory, too."""
    owner = memory_of(array)
    if not (owner.flags.c_contiguous and array.flags.writeable and owner.dtype == array.dtype):
        alone: Array = array.copy()
        return alone
    copied = memo.get(id(owner))
    if copied is None:
        copied = memo[id(owner)] = owner.copy()
        memo.setdefault(id(memo), []).append(owner)
    offset = array.ctypes.data - owner.ctypes.data
    view: Array = np.ndarray(array.shape, array.dtype, copied, offset, array.strides)
    return view


def reduced(self: Tensor) -> Any:
    """What `pickle` keeps: the elements, where they stand in memory, whether gradients are
    required, the class, and attributes of the user's; of hooks it is told that they are left
    out."""
    for hook in self._backward_hooks.values():
        if not hasattr(hook, UNSERIALIZABLE):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @gs.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=2,
            )
    kept = (*placed_elements(self.array), self.requires_grad, type(self))
    return _rebuild, kept, self.__dict__ or None


UNSERIALIZABLE = "__torch_unserializable__"
"""The attribute of a hook that need not be told of, as PyTorch's own tools set it."""


def placed_elements(array: Array) -> tuple[Array, tuple[int, ...] | None]:
    """An array, and its steps in memory where a pickled array would have others."""
    is_plain = array.flags.forc or any(step < 0 for step in array.strides)
    return array, None if is_plain or not array.size else array.strides


def placed_array(elements: Array, strides: tuple[int, ...] | None) -> Array:
    """The array of which `placed_elements` were taken, in memory of its own."""
    if strides is None:
        return elements
    reach = sum(step * (n - 1) for step, n in zip(strides, elements.shape, strict=True))
    memory = np.zeros(reach + elements.itemsize, np.uint8)
    array: Array = np.ndarray(elements.shape, elements.dtype, memory, 0, strides)
    array[...] = elements
    array.flags.writeable = not overlaps(array)
    return array


def _rebuild(
    elements: Array,
    strides: tuple[int, ...] | None,
    requires_grad: bool,
    cls: type[Tensor] = Tensor,
) -> Tensor:
    tensor = wrap(placed_array(elements, strides))
    tensor.__class__ = cls
    tensor._needs_grad = requires_grad
    return tensor
