"""`saved_tensors_hooks`: what is kept for a backward may be packed by the user meanwhile.

A node keeps arrays in a record, and the arrays that it was called with. Packed, each of them is
replaced by what the pack hook made of it, and made again when the backward asks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradscribe.runtime.modes import MODES, Mode
from gradscribe.runtime.node import Node
from gradscribe.runtime.tensor import Tensor, wrap

Hook = Callable[[Any], Any]

_innermost: ContextVar[tuple[saved_tensors_hooks, ...]] = ContextVar(
    "gradscribe_saved_tensors_hooks", default=()
)
_refusals: ContextVar[tuple[str, ...]] = ContextVar("gradscribe_hooks_disabled", default=())


class Packed:
    """What a pack hook made of one array; `get` gives the array back."""

    __slots__ = ("_content", "_unpack")

    def __init__(self, array: Any, pack: Hook, unpack: Hook) -> None:
        tensor = wrap(array)
        self._content = pack(tensor)
        self._unpack = unpack
        if tensor.counter[0]:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook can not be modified by in-place operations as this can lead "
                "to unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    def tensor(self) -> Tensor:
        """What the unpack hook returns."""
        result = self._unpack(self._content)
        if not isinstance(result, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(result).__name__}"
            )
        return result

    def get(self) -> Any:
        """The array."""
        return self.tensor().array


class PackedRecord:
    """A record with packed arrays; see `operation.Kept`."""

    __slots__ = ("_record",)

    def __init__(self, record: Any) -> None:
        self._record = record

    def get(self) -> Any:
        """The record as the adjoint reads it."""
        return _unpacked(self._record, {})


class PackedLeaves(Sequence[Any]):
    """The leaves of a node, packed; each is unpacked when it is asked for."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self._leaves = leaves

    def __len__(self) -> int:
        return len(self._leaves)

    def __getitem__(self, position: Any) -> Any:
        return _unpacked(self._leaves[position], {})


class saved_tensors_hooks(Mode):
    """Within the block, `pack_hook(tensor)` is called on each Tensor that is saved for a
    backward, and `unpack_hook` on what it returned when the backward asks for the Tensor."""

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _refusals.get():
            raise RuntimeError(_refusals.get()[-1])
        _innermost.set((*_innermost.get(), self))
        MODES.append(self)

    def __exit__(self, *_: Any) -> None:
        MODES.remove(self)
        _innermost.set(_innermost.get()[:-1])

    def recorded(self, node: Node) -> None:
        if _innermost.get()[-1:] == (self,):
            packed: dict[int, Packed] = {}

            def pack(array: Any) -> Packed:
                if id(array) not in packed:
                    packed[id(array)] = Packed(array, self.pack_hook, self.unpack_hook)
                return packed[id(array)]

            node.pack_saved(pack)


class save_on_cpu(saved_tensors_hooks):
    """Within the block, what is saved for a backward is a copy in main memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.clone(), lambda copy: copy)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within the block, to set hooks on saved Tensors is an error with this message."""
    if _innermost.get():
        raise RuntimeError(error_message)
    token = _refusals.set((*_refusals.get(), error_message))
    try:
        yield
    finally:
        _refusals.reset(token)


def packed(value: Any, pack: Callable[[Any], Packed]) -> Any:
    """A record or a leaf with its arrays packed."""
    if isinstance(value, (tuple, list)):
        return type(value)([packed(item, pack) for item in value])
    return pack(value) if isinstance(value, np.ndarray) else value


def _unpacked(value: Any, known: dict[int, Any]) -> Any:
    """A record with its arrays unpacked, each once."""
    if isinstance(value, (tuple, list)):
        return type(value)([_unpacked(item, known) for item in value])
    if not isinstance(value, Packed):
        return value
    if id(value) not in known:
        known[id(value)] = value.get()
    return known[id(value)]
