"""Checks of what rules of users return whose shapes only the run tells, in Python (see `prelude`).

what: the text, with places for both shapes, which are shown as `shown` gives them.
"""

from __future__ import annotations

from typing import Any

from gradscribe.errors import RuleError


def check_sum(derivative: Any, like: Any, what: Any, advice: Any, place: Any, shown: Any) -> None:
    """Raise the error for a cotangent that cannot be summed to the shape of its value."""
    lengths = derivative.shape[len(derivative.shape) - len(like.shape) :]
    for given, wanted in zip(lengths, like.shape, strict=True):
        if given != wanted and wanted != 1:
            text = what.format(shown(derivative.shape), shown(like.shape))
            raise RuleError(text, advice, place)


def check_same(derivative: Any, like: Any, what: Any, advice: Any, place: Any, shown: Any) -> None:
    """Raise the error for a tangent of another shape than its value."""
    for given, wanted in zip(derivative.shape, like.shape, strict=True):
        if given != wanted:
            text = what.format(shown(derivative.shape), shown(like.shape))
            raise RuleError(text, advice, place)
