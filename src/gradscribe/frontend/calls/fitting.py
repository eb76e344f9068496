"""Whether the arguments of a call of a built-in function or method are as many, and have the names,
that it takes, and that its handler does; and whether NumPy takes such arrays."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from gradscribe.frontend.opaque import trial_calls
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static


@functools.cache
def _signature(callee: Any, handler: Handler) -> inspect.Signature | None:
    """That of a function, as far as Python tells it; of our own, what its handler takes."""
    module = getattr(callee, "__module__", None) or getattr(callee, "__objclass__", type).__module__
    if module.partition(".")[0] == "gradscribe":
        return _parameters(handler)
    try:
        return inspect.signature(callee)
    except (TypeError, ValueError):
        return None


@functools.cache
def _parameters(handler: Handler) -> inspect.Signature:
    """What a handler takes beside the lowering and the node."""
    found = inspect.signature(handler)
    return found.replace(parameters=list(found.parameters.values())[2:])


def check(
    lowering: Lowering,
    node: Any,
    callee: Any,
    handler: Handler,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> None:
    """Say that Python raises a TypeError, where the arguments do not fit, as far as Python tells
    what does; refuse those that the handler does not take."""
    name = getattr(callee, "__name__", "this function")
    is_method = hasattr(callee, "__objclass__")
    signature, taken = _signature(callee, handler), _parameters(handler)
    try:
        if signature is not None:
            signature.bind(*arguments, **keywords)
    except TypeError as error:
        lowering.raises(node, TypeError(f"{name}(): {error}"))
    try:
        taken.bind(*arguments, **keywords)
    except TypeError:
        lowering.unsupported(
            node,
            f"`{name}` is given more than is supported",
            f"call it as `{name}({', '.join(list(taken.parameters)[is_method:])})`",
        )


def ask(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> None:
    """Say what NumPy raises of such arguments, where a handler, or other operations, stand for a
    function of its own: those need not check what it checks. (Whether SciPy takes a value may
    depend on more than is tried, on its order, say; which types it takes does not.)"""
    module = str(getattr(callee, "__module__", None)).partition(".")[0]
    is_known = all(isinstance(item, Static) for item in (*arguments, *keywords.values()))
    if module == "scipy" or (module == "numpy" and not is_known):
        error = trial_calls.always_raised(lowering, callee, arguments, keywords)
        if error is not None and (module == "numpy" or isinstance(error, TypeError)):
            lowering.raises(node, error)
