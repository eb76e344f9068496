"""`Traced` values: plain values with what is needed to differentiate them, one level for each
derivative that is being taken.

`grad(grad(f))` has two levels. A value of the inner one consists of a value of the outer one (or a
plain one), and of its place in the record of the inner run; so each level differentiates what the
levels below it compute, derivatives of derivatives included. Traced values never change.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from gradscribe.errors import NoDerivativeError
from gradscribe.ir.probing import is_a

_numbers = itertools.count(1)


class Level:
    """One derivative being taken. number: greater than those of the levels around it.
    is_forward: values carry tangents, and no record. closed: the run is over."""

    __slots__ = ("closed", "is_forward", "number")

    def __init__(self, is_forward: bool) -> None:
        self.number = next(_numbers)
        self.is_forward = is_forward
        self.closed = False


class Traced:
    """A value in one level.

    value: what it is for the levels below: a `Traced` of a lower level, an array or a number.
    place: in reverse mode (node, number of its output); in forward mode the tangent.
    """

    __slots__ = ("level", "place", "value")

    def __init__(self, value: Any, level: Level, place: Any) -> None:
        self.value = value
        self.level = level
        self.place = place


def plain(value: Any) -> Any:
    """The array or number itself."""
    while type(value) is Traced:
        value = value.value
    return value


def below(value: Any, number: int) -> Any:
    """What a value is for the levels of lower number than this."""
    while type(value) is Traced and value.level.number >= number:
        value = value.value
    return value


def opened(value: Any) -> Any:
    """A value without the levels that are closed."""
    if type(value) is not Traced:
        return value
    if value.level.closed:
        return opened(value.value)
    if type(value.value) is not Traced:
        return value
    inner = opened(value.value)
    return value if inner is value.value else Traced(inner, value.level, value.place)


def levels_of(values: Sequence[Any]) -> list[Level]:
    """The levels that values belong to, the outermost first."""
    found: dict[int, Level] = {}
    for value in values:
        while type(value) is Traced:
            found[value.level.number] = value.level
            value = value.value
    return [found[number] for number in sorted(found)]


def is_differentiable(value: Any) -> bool:
    """Whether a plain value is a number, or an array of numbers, that has derivatives."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fc"
    return type(value) in (float, complex)


open_runs: ContextVar[int] = ContextVar("gradscribe_recorded_runs", default=0)

CREATED: ContextVar[list[ref[Any]] | None] = ContextVar("gradscribe_recorded_values", default=None)
"""What has been made for the function that runs recorded, and all that it calls so."""


TOLD: ContextVar[list[bool] | None] = ContextVar("gradscribe_recorded_texts", default=None)
"""Holds something if the function that runs recorded, in any of its threads, or one that it calls
so, has made texts of what is differentiated."""


def tell() -> None:
    """Note that a text is made of what is differentiated."""
    told = TOLD.get()
    if told is not None:
        told[:] = [True]


GIVEN_AWAY: ContextVar[list[bool] | None] = ContextVar("gradscribe_given_code", default=None)
"""Holds something if the function that runs recorded, or one around it, has given code in C a
function of its own that leads to what is differentiated."""

E = TypeVar("E", bound=Exception)

REFUSED: ContextVar[list[Exception] | None] = ContextVar("gradscribe_refusals", default=None)
"""The refusals of the function that runs recorded: code in C, and
handlers of the function, may go on after one."""


def refused(error: E) -> E:
    """An error that the function may not handle: the run is refused in the end, too."""
    found = REFUSED.get()
    if found is not None:
        found.append(error)
    return error


def refuse_told() -> None:
    """Refuse to read a number where texts have been made of what is differentiated."""
    if TOLD.get():
        error = NoDerivativeError(
            "a number is read from a text, in a function that makes texts of what is "
            "differentiated: it may be one of those",
            "hand on the number itself",
        )
        error.is_by_text = True
        raise refused(error)


OF_TENSORS: ContextVar[bool] = ContextVar("gradscribe_recorded_tensors", default=False)
"""Whether the function that runs recorded was called with Tensors."""


KEEPS_NOTHING: ContextVar[bool] = ContextVar("gradscribe_keeps_nothing", default=False)
"""Whether what is differentiated must not be held any more when the run is over."""


def is_running() -> bool:
    """Whether a function runs recorded here."""
    return open_runs.get() > 0


def values_in(tree: Any) -> Iterator[Any]:
    """The values in nested tuples, lists and dicts."""
    if is_a(tree, (tuple, list)):
        for item in tree:
            yield from values_in(item)
    elif is_a(tree, dict):
        for item in dict.values(tree):
            yield from values_in(item)
    else:
        yield tree
