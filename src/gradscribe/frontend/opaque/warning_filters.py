"""Filters of warnings that ask where a warning comes from: generated code, and what records, warn
elsewhere than the program."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.primitives.interpreter import asks_for_places


def refuse(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: Sequence[FrontendValue],
    keywords: Mapping[str, FrontendValue],
) -> None:
    """Refuse a call that makes such a filter."""
    if callee not in (warnings.filterwarnings, warnings.simplefilter):
        return
    given = inspect.signature(callee).bind(*arguments, **keywords).arguments
    known = {k: i.value if isinstance(i, Static) else None for k, i in given.items()}
    if asks_for_places(known, lowering.exceptions.warned):
        lowering.unsupported(
            node,
            f"`{callee.__name__}` asks where warnings come from, which is not where the program is",
            "tell them apart by their category and message, and show them always, or never",
        )
