"""Functions of Tensors that understand NumPy's names of arguments, or
keep silent about floating-point errors: in compiled code, the functions that these call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static
from gradscribe.runtime.arrays.floating_point_errors import QUIET
from gradscribe.runtime.operations.spellings import SPELLED, respelled


def _under_own_names(function: Callable[..., Any], names: Mapping[str, str]) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if "out" in keywords:
            lowering.unsupported(
                node,
                "`out=` of a function of Tensors",
                "assign the result to a name, or store it with `y[...] = …`",
            )
        return lowering.call(node, Static(function), arguments, respelled(keywords, names))

    return handler


def enter() -> None:
    """Let compiled code call them, by what the functions themselves mean there."""
    spelled: dict[Any, Any] = {made: (function, {}) for made, function in QUIET.items()}
    spelled |= SPELLED
    for made, known in spelled.items():
        if handlers.handler_of(made) is None:
            handlers.enter({made: _under_own_names(*known)})
