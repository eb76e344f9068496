"""What computes a function of a library: it is asked when a call is lowered, and at each call of
the program."""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.state.dependencies import depend
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.primitives.backends import BACKENDS, CHOOSING


def check(lowering: Lowering, node: Any, callee: Any, arguments: tuple[FrontendValue, ...]) -> None:
    """Refuse a call that another backend computes than the library, or that chooses another."""
    backends = BACKENDS.get(callee)
    if backends is not None:
        depend(lowering, AccessPath(backends.other).attribute("found"), (), "equality")
        if backends.other.found:
            lowering.unsupported(node, backends.what, backends.advice)
    if callee in CHOOSING:
        chosen, own = CHOOSING[callee]
        first = arguments[0] if arguments else None
        if not isinstance(first, Static) or first.value != own:
            lowering.unsupported(node, chosen.what, chosen.advice)
