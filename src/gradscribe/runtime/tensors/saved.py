"""`saved_tensors_hooks`: what is kept for a backward may be packed by the user meanwhile.

A node keeps arrays in a record, and the arrays that it was called with. Packed, each of them is
replaced by what the pack hook made of it, and made again when the backward asks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any
from weakref import ref

import numpy as np

from gradscribe.ir.trees import rebuilt
from gradscribe.runtime.graph.grad_mode import enter_mode, leave_mode
from gradscribe.runtime.graph.modes import Mode, enter, leave
from gradscribe.runtime.graph.node import Node
from gradscribe.runtime.tensors.tensor import Tensor, wrap, wrap_result

Hook = Callable[[Any], Any]

_innermost: ContextVar[tuple[saved_tensors_hooks, ...]] = ContextVar(
    "gradscribe_saved_tensors_hooks", default=()
)
_refusals: ContextVar[tuple[str, ...]] = ContextVar("gradscribe_hooks_disabled", default=())


class Packed:
    """What a pack hook made of one array (or of a Tensor, which it then sees itself); `get` gives
    the array back.

    owner: the node that keeps it. Where the hook returns a Tensor that this node has made, its
    memory is kept, without the node, which would be a cycle; the unpack hook sees it in its place.
    """

    __slots__ = ("_content", "_owner", "dtype", "shape", "unpack_hook")

    def __init__(self, value: Any, pack: Hook, unpack: Hook, owner: Node | None = None) -> None:
        tensor = value if isinstance(value, Tensor) else wrap(value)
        version = tensor._counter[0]
        self.shape, self.dtype = tensor.array.shape, tensor.array.dtype
        token = enter_mode(False)
        try:
            content = pack(tensor)
        finally:
            leave_mode(token)
        self.unpack_hook = unpack
        self._content, self._owner = content, None
        if owner is not None and isinstance(content, Tensor) and content._node is owner:
            self._content, self._owner = content.detach(), (ref(owner), content._index)
        if tensor._counter[0] != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead "
                "to unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    @property
    def content(self) -> Any:
        """What the pack hook returned."""
        node = None if self._owner is None else self._owner[0]()
        if node is None or self._owner is None:
            return self._content
        content = wrap_result(self._content.array, node, self._owner[1])
        content._counter = self._content._counter
        return content

    def tensor(self) -> Tensor:
        """What the unpack hook returns."""
        result = self.unpack_hook(self.content)
        if not isinstance(result, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(result).__name__}"
            )
        return result

    def get(self) -> Any:
        """The array."""
        return self.tensor().array


HOOKS_ARE_SET = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
    "pair of hooks is allowed at a time."
)
NONE_IS_SAVED = "Calling register_hooks on a saved tensor with value None is forbidden"


def checked_hooks(hooks: tuple[Any, ...]) -> tuple[Hook, Hook]:
    """The two hooks, or the error for what was given in their place."""
    if len(hooks) == 2 and all(map(callable, hooks)):
        return hooks
    given = ", ".join(type(hook).__name__ for hook in hooks)
    raise TypeError(
        "register_hooks(): incompatible function arguments. Two functions are expected, but got "
        f"({given})"
    )


Known = dict[int, Any]
"""The arrays that have been unpacked already, by the identity of their `Packed`."""


class PackedRecord:
    """A record with packed arrays; see `operation.Kept`."""

    __slots__ = ("record",)

    def __init__(self, record: Any) -> None:
        self.record = record

    def get(self, known: Known) -> Any:
        """The record as the adjoint reads it."""
        return unpacked(self.record, known)


class Packing:
    """Packs what a node keeps: each leaf by itself, each other array once.

    pack: called with an array and the position of the leaf that it is, or None.
    """

    def __init__(self, pack: Callable[[Any, int | None], Any]) -> None:
        self._pack = pack
        self._leaves: dict[int, list[Any]] = {}
        self._others: dict[int, Any] = {}

    def leaf(self, array: Any, position: int) -> Any:
        """A leaf, packed."""
        packed = self._pack(array, position)
        self._leaves.setdefault(id(array), []).append(packed)
        return packed

    def record(self, value: Any) -> Any:
        """A record, packed: where it refers to a leaf, by what the leaf has become."""
        if isinstance(value, (tuple, list)):
            return rebuilt(value, [self.record(item) for item in value])
        if not isinstance(value, (np.ndarray, np.inexact)):
            return value
        leaves = self._leaves.get(id(value))
        if leaves is not None:
            return leaves.pop(0) if len(leaves) > 1 else leaves[0]
        if id(value) not in self._others:
            array = np.asarray(value)
            packed = self._pack(array, None)
            self._others[id(value)] = value if packed is array else packed
        return self._others[id(value)]


class saved_tensors_hooks(Mode):
    """Within the block, `pack_hook(tensor)` is called on each Tensor that is saved for a
    backward, and `unpack_hook` on what it returned when the backward asks for the Tensor."""

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("saved_tensors_hooks expects two functions, pack_hook and unpack_hook")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if not may_set_hooks():
            raise RuntimeError(_refusals.get()[-1])
        _innermost.set((*_innermost.get(), self))
        enter(self)

    def __exit__(self, *_: Any) -> None:
        leave(self)
        _innermost.set(_innermost.get()[:-1])

    def recorded(self, node: Node) -> None:
        if _innermost.get()[-1:] == (self,):
            node.pack_saved(
                lambda value, position: self.packed(node.as_saved(value, position), position, node)
            )

    def packed(self, value: Any, position: int | None, owner: Node | None = None) -> Packed:
        """An array or a Tensor, packed. owner: the node that keeps it."""
        return Packed(value, self.pack_hook, self.unpack_hook, owner)


class save_on_cpu(saved_tensors_hooks):
    """Within the block, what is saved for a backward is a copy in main memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.clone(), lambda copy: copy)


def may_set_hooks() -> bool:
    """Whether hooks on saved Tensors may be set here."""
    return not _refusals.get()


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


def innermost_hooks() -> saved_tensors_hooks | None:
    """The hooks that are called now, if there are any."""
    return next(reversed(_innermost.get()), None)


def unpacked(value: Any, known: Known) -> Any:
    """A record or leaves with their arrays unpacked, each once."""
    if isinstance(value, (tuple, list)):
        return rebuilt(value, [unpacked(item, known) for item in value])
    if not isinstance(value, Packed):
        return value
    if id(value) not in known:
        known[id(value)] = value.get()
    return known[id(value)]
