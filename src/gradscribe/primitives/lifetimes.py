"""The end of what unread code has made, where the program lets go of it: a file is closed then, or
a buffer may be resized again."""

from __future__ import annotations

from typing import Any

from gradscribe.primitives.contract_kinds import PURE


def let_go(value: Any, successor: Any = None) -> None:
    """Callee of the effect that ends the variable of a value. successor: what its name is bound to
    now. The text has `del`, or the successor in the same variable."""


let_go.__gradscribe_contract__ = PURE  # type: ignore[attr-defined]
