"""Sets whose items are known when the function is compiled: constants, which nothing changes."""

from __future__ import annotations

from typing import Any

from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue


def refuse_change(lowering: Lowering, node: Any, item: FrontendValue) -> None:
    """Refuse to change such a set in place, if this is one."""
    if stands_for(item, set):
        lowering.unsupported(
            node,
            "a set whose items are known is changed in place",
            "make another set of it, as in `s = s | t`, or a frozenset from the start",
        )
