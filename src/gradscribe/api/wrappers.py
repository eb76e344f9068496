"""What wraps a function for eager mode, and means just that function inside of compiled code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradscribe.api.differentiable import differentiable
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import PartialOf, Static
from gradscribe.runtime.modes.checkpoint import checkpoint


def _differentiable(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """The decorator, or the function as it is, which is differentiated with the rest."""
    given = {**dict(zip(("function", "argnums", "jit"), arguments, strict=False)), **keywords}
    function = given.pop("function", Static(None))
    if _is_static(given.get("compile"), True, False):
        del given["compile"]
    if any(not _is_static(item, None, False) for item in given.values()):
        lowering.unsupported(
            node,
            "`differentiable` with options inside of compiled code",
            "leave the options out, or decorate the function outside",
        )
    if _is_static(function, None):
        return PartialOf(Static(differentiable), (), {})
    return function


def _is_static(item: Any, *values: Any) -> bool:
    return isinstance(item, Static) and any(item.value is value for value in values)


def _options_of(function: Callable[..., Any]) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


_OPTIONS = _options_of(checkpoint)


def _checkpoint(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Compiled code chooses by itself what it keeps, and what it computes again."""
    if "context_fn" in keywords:
        lowering.unsupported(
            node,
            "`checkpoint` with contexts inside of compiled code",
            "leave them out, or checkpoint the compiled function",
        )
    rest = {name: item for name, item in keywords.items() if name not in _OPTIONS}
    return lowering.call(node, arguments[0], arguments[1:], rest)


def enter() -> None:
    """Make them known to the frontend."""
    handlers.enter({differentiable: _differentiable, checkpoint: _checkpoint})
