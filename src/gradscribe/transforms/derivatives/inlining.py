"""What inlines derivative rules, as the transforms are handed it.

Rules are Python functions, and who reads Python (the frontend) stands beside the transforms, not
below them: who calls the transforms knows both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Location


class Inline(Protocol):
    """Appends the operations of `rule(**arguments)`, each with this location, and returns what the
    rule does: IR values, static numbers (or None), and tuples of these, which its arguments are
    too."""

    def __call__(
        self,
        builder: Builder,
        rule: Callable[..., Any],
        arguments: Mapping[str, Any],
        location: Location | None = None,
    ) -> Any: ...
