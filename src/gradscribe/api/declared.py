"""Calls of functions of which the user has said what they do with memory (`gs.primitive(f,
pure=True)`, `writes=("out",)`): what such a call shows to be otherwise is an error."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from gradscribe.compiler.keys import array_of
from gradscribe.errors import ArgumentError
from gradscribe.frontend.prelude import isolated
from gradscribe.ir.overlaps import share_memory
from gradscribe.ir.places import place_of
from gradscribe.recording.arrays import RecordedArray, present
from gradscribe.recording.levels import plain, values_in


def pure(function: Callable[..., Any], bound: inspect.BoundArguments) -> Any:
    """What a function returns that is said to return new arrays alone."""
    result = function(*bound.args, **bound.kwargs)
    made = _arrays(result)
    for parameter, value in bound.arguments.items() if made else ():
        if _meet(made, _arrays(value)):
            raise ArgumentError(
                f"the primitive `{function.__name__}`, which is said to be pure, returned memory "
                f"of its argument `{parameter}`",
                "let it return a copy; or leave `pure=True` out, and each call makes copies",
                place_of(function),
            )
    if any(itertools.starmap(share_memory, itertools.combinations(made, 2))):
        raise ArgumentError(
            f"the primitive `{function.__name__}`, which is said to be pure, returned arrays that "
            "share memory",
            "let it return a copy; or leave `pure=True` out, and each call makes copies",
            place_of(function),
        )
    return result


def writing(
    function: Callable[..., Any], bound: inspect.BoundArguments, writes: Collection[str]
) -> Any:
    """What a function returns that is said to write to some parameters alone."""
    targets = _arrays([value for name, value in bound.arguments.items() if name in writes])
    others = {
        name: isolated.copied(_apart(value, targets))
        for name, value in bound.arguments.items()
        if name not in writes
    }
    result = function(*bound.args, **bound.kwargs)
    for name, before in others.items():
        if not isolated.is_same(_apart(bound.arguments[name], targets), before):
            raise ArgumentError(
                f"the primitive `{function.__name__}` wrote to its argument `{name}`, which its "
                "`writes` does not name",
                f"name it: `writes={(*sorted(writes), name)!r}`",
                place_of(function),
            )
    return result


def _apart(value: Any, targets: list[Any]) -> list[Any]:
    """What stands in a value, but arrays that share memory with these."""
    return [leaf for leaf in map(_array_of, values_in(value)) if not _meet([leaf], targets)]


def _arrays(value: Any) -> list[Any]:
    return [leaf for leaf in map(_array_of, values_in(value)) if isinstance(leaf, np.ndarray)]


def _array_of(leaf: Any) -> Any:
    """The array that a Tensor or an array of a recorded run has; other values as they are."""
    return plain(leaf._shared() if type(leaf) is RecordedArray else present(array_of(leaf)))


def _meet(some: list[Any], others: list[Any]) -> bool:
    return any(itertools.starmap(share_memory, itertools.product(some, others)))
