"""Functions of libraries that something else may compute, if the program or its user says so, as
those of `scipy.fft`: their rules hold for what the library computes."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Others(Protocol):
    """What computes them now, if that is not the library."""

    @property
    def found(self) -> tuple[Any, ...]: ...


class Backends(NamedTuple):
    """What may compute some functions, and what is said where that is not the library."""

    other: Others
    what: str
    advice: str


BACKENDS: dict[Any, Backends] = {}
"""By the functions."""

CHOOSING: dict[Any, tuple[Backends, Any]] = {}
"""Functions that choose what computes others, and what may be chosen: the library."""
