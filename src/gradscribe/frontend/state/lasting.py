"""What is known of objects that unread code makes for the program (see `opaque.lifetimes`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import Value


@dataclass(eq=False, slots=True)
class Lasting:
    """is_made: whether there is any. had: what the program had after a statement, with the number
    of functions that were being lowered then. held: what statements that are being lowered have,
    under no name. keepers: what may have kept what it was made of, and use it when it ends."""

    is_made: bool = False
    had: dict[Value, int] = field(default_factory=dict)
    held: list[FrontendValue] = field(default_factory=list)
    keepers: set[Value] = field(default_factory=set)
