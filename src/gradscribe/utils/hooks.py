"""`gs.utils.hooks`: handles of hooks, and what pickling says of hooks."""

from collections.abc import Callable
from typing import Any, TypeVar

from gradscribe.runtime.graph.hooks import RemovableHandle
from gradscribe.runtime.tensors.copies import UNSERIALIZABLE

__all__ = ["RemovableHandle", "unserializable_hook"]

Hook = TypeVar("Hook", bound=Callable[..., Any])


def unserializable_hook(hook: Hook) -> Hook:
    """Decorate a hook so that pickling a Tensor that has it does not warn that it is left out."""
    setattr(hook, UNSERIALIZABLE, True)
    return hook
