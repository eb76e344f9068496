"""Whether the arguments of a call of a built-in function or method are as many, and have the names,
that it takes. Its handler may then unpack them."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from gradscribe.frontend.state.lowering import Lowering


def _signature_of(text: str) -> inspect.Signature:
    namespace: dict[str, Any] = {}
    exec(f"def function({text}): pass", namespace)
    return inspect.signature(namespace["function"])


_UNTOLD: dict[Any, inspect.Signature] = {
    callee: _signature_of(text)
    for callee, text in {
        range: "start, stop=0, step=1, /",
        zip: "*iterables, strict=False",
        slice: "start, stop=None, step=None, /",
        getattr: "object, name, default=None, /",
        min: "first, /, *rest, key=None, default=None",
        max: "first, /, *rest, key=None, default=None",
        map: "function, iterable, /, *iterables",
        filter: "function, iterable, /",
        iter: "object, sentinel=None, /",
        next: "iterator, default=None, /",
        bool: "object=False, /",
        set: "iterable=(), /",
        frozenset: "iterable=(), /",
        functools.reduce: "function, iterable, initial=None, /",
        dict.pop: "self, key, default=None, /",
        dict.items: "self, /",
        dict.keys: "self, /",
        dict.values: "self, /",
        dict.copy: "self, /",
        dict.clear: "self, /",
    }.items()
}
"""What Python does not tell of some of its own functions."""


@functools.cache
def _signature(callee: Any) -> inspect.Signature | None:
    if callee in _UNTOLD:
        return _UNTOLD[callee]
    module = getattr(callee, "__module__", None) or getattr(callee, "__objclass__", type).__module__
    if module.partition(".")[0] == "gradscribe":
        return None
    try:
        return inspect.signature(callee)
    except (TypeError, ValueError):
        return None


def check(
    lowering: Lowering, node: Any, callee: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    """Say that Python raises a TypeError, where the arguments do not fit."""
    signature = _signature(callee)
    if signature is None:
        return
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        name = getattr(callee, "__name__", "this function")
        lowering.raises(node, TypeError(f"{name}(): {error}"))
