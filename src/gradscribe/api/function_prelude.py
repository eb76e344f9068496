"""Checks of what `backward` and `jvp` return whose shapes only the run tells, in Python (see
`frontend.calls.prelude`)."""

from __future__ import annotations

from typing import Any


def check_sum(gradient: Any, like: Any, message: str) -> None:
    """Raise the error for a gradient that cannot be summed to the shape of its argument."""
    lengths = gradient.shape[len(gradient.shape) - len(like.shape) :]
    for given, wanted in zip(lengths, like.shape, strict=True):
        if given != wanted and wanted != 1:
            raise RuntimeError(message.format(list(gradient.shape), list(like.shape)))


def check_same(tangent: Any, like: Any, message: str) -> None:
    """Raise the error for a tangent of another shape than its result."""
    for given, wanted in zip(tangent.shape, like.shape, strict=True):
        if given != wanted:
            raise RuntimeError(message.format(list(tangent.shape), list(like.shape)))
