"""`allow_mutation_on_saved_tensors`: what is saved for a backward may be changed in place.

What is saved is not copied; but before memory is changed, what is saved of it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from gradscribe.runtime.graph.modes import Mode, enter, leave
from gradscribe.runtime.tensors.saved import saved_tensors_hooks
from gradscribe.runtime.tensors.tensor import Tensor, wrap


class _Handle:
    """Stands for a saved Tensor: the Tensor itself, or what it was before it was changed."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class Mutations(Mode):
    """The mode, while it is on. cloned: of what is still saved, what was copied.
    tid_to_weakhandle: the handles of what has not been changed since it was saved, by what tells
    its memory."""

    def __init__(self) -> None:
        self.cloned: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        self.tid_to_weakhandle: WeakValueDictionary[int, _Handle] = WeakValueDictionary()

    def pack(self, tensor: Tensor) -> _Handle:
        """The handle of what is saved; one for all that save the same array as it is now."""
        key = id(tensor.array)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None or handle.tensor.array is not tensor.array:
            handle = self.tid_to_weakhandle[key] = _Handle(tensor)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """What was saved."""
        if _current.get() is not self:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return handle.tensor

    def storing(self, target: Tensor) -> None:
        for key, handle in list(self.tid_to_weakhandle.items()):
            if np.may_share_memory(handle.tensor.array, target.array):
                handle.tensor = self.cloned[handle] = wrap(handle.tensor.array.copy())
                del self.tid_to_weakhandle[key]


_current: ContextVar[Mutations | None] = ContextVar("gradscribe_mutations", default=None)


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Any]:
    """Within the block, Tensors that are saved for a backward may be changed in place: the
    backward, which must be run in the same block, sees what they were."""
    if _current.get() is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    mutations = Mutations()
    token = _current.set(mutations)
    enter(mutations)
    try:
        with saved_tensors_hooks(mutations.pack, mutations.unpack):
            yield mutations
    finally:
        leave(mutations)
        mutations.cloned.clear()
        _current.reset(token)
