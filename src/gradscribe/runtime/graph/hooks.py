"""Hooks: user functions that see, and may change, gradients on their way through the graph.

Hooks are kept in dictionaries by the number of their handle, in order of registration. A
table of hooks is copied when it is run, so hooks may be added and removed meanwhile.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from gradscribe.runtime.arrays.dtypes import type_name

Hook = Callable[..., Any]
HookTable = dict[int, Hook]

WATCHED: WeakSet[Any] = WeakSet()
"""Leaves and ends of the graph that have had hooks, while they live: only hooks can see in which
order leaves get their gradients, so only then is it kept."""

_numbers = itertools.count()


class RemovableHandle:
    """Returned by `register_hook`: `remove()` takes the hook away again; so does `with`."""

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: HookTable, hook: Hook) -> None:
        self._hooks = hooks
        self.id = next(_numbers)
        hooks[self.id] = hook

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def run_hooks(hooks: HookTable, gradient: Any) -> Any:
    """The gradient after each hook has seen it, and perhaps replaced it."""
    for hook in tuple(hooks.values()):
        result = hook(gradient)
        if result is not None:
            gradient = checked_result(hook, result, gradient)
    return gradient


def require_nothing(result: Any) -> None:
    """Refuse the result of a hook that is called after a gradient was accumulated."""
    if result is not None:
        _require_tensor(result)
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _require_tensor(result: Any) -> None:
    if not hasattr(result, "array"):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")


def checked_result(hook: Hook, result: Any, gradient: Any) -> Any:
    """The result of a hook, refused where it is no Tensor or does not fit the gradient."""
    _require_tensor(result)
    if gradient is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if result.array.dtype != gradient.array.dtype:
        was, got = type_name(gradient.array.dtype), type_name(result.array.dtype)
        changed = f"has changed the type of value (was {was} got {got})"
        raise RuntimeError(f"hook '{_name(hook)}' {changed}")
    if result.array.shape != gradient.array.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return result


def checked_results(hook: Hook, results: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of a hook of a node, one for each of the gradients."""
    if not isinstance(results, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(results).__name__}'")
    if len(results) != len(gradients):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values "
            f"(got {len(results)}, but expected {len(gradients)})"
        )
    return tuple(
        None if new is None else checked_result(hook, new, old)
        for new, old in zip(results, gradients, strict=True)
    )


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", type(hook).__name__)
