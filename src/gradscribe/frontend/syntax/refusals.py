"""What Python has and compiled functions have not, with what to write instead.

All that is refused, and how it is told, is shown in `docs/errors.md`.
"""

from __future__ import annotations

from typing import Any

import gast

from gradscribe.primitives.contract_kinds import Refused

_GENERATORS = Refused(
    "generators are not supported", "collect the items in a list, and return that"
)
_ASYNC = Refused("`async` and `await` are not supported", "await the data first, and pass it in")
_REFUSED: dict[type, Refused] = {
    gast.Yield: _GENERATORS,
    gast.YieldFrom: _GENERATORS,
    gast.Await: _ASYNC,
    gast.AsyncFunctionDef: _ASYNC,
    gast.AsyncFor: _ASYNC,
    gast.AsyncWith: _ASYNC,
}


def refused(node: Any, kind: str) -> Refused:
    """What is said of a statement or expression that cannot be compiled."""
    name = {"TryStar": "except*"}.get(type(node).__name__, type(node).__name__.lower())
    usual = Refused(f"`{name}` {kind} are not supported", "do that outside of the function")
    return _REFUSED.get(type(node), usual)
