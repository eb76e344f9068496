"""What `contextlib.contextmanager` makes: code of Python that runs where a manager is entered and
left, not where it is made."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradscribe.ir.probing import probe
from gradscribe.primitives.contract_kinds import CODE
from gradscribe.primitives.contracts import contract_of, is_immutable
from gradscribe.primitives.users_code import called_by


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


OF_GENERATOR = type(_nothing())
"""The class of such managers."""


def is_maker(callee: Any) -> bool:
    """Whether this makes such managers: their class, or a function that is made by
    `contextlib.contextmanager`."""
    return callee is OF_GENERATOR or is_decorated(callee)


def is_decorated(callee: Any) -> bool:
    """Whether `contextlib.contextmanager` made this function."""
    return probe(callee, "__code__") is probe(_nothing, "__code__")


def calls_unread(function: Any) -> bool:
    """Whether a function of Python, or one that it names, may call code of which nothing is known:
    by a name, or by a method of what it finds."""
    function = probe(function, "__wrapped__", function)
    if not isinstance(function, types.FunctionType):
        return True
    for found in called_by(function):
        own, code = found.__globals__, found.__code__
        cells = zip(code.co_freevars, found.__closure__ or (), strict=True)
        held = {name: own[name] for name in code.co_names if name in own}
        held |= {name: probe(cell, "cell_contents") for name, cell in cells}
        modules = [one for one in held.values() if isinstance(one, types.ModuleType)]
        parts = [vars(m)[n] for m in modules for n in code.co_names if n in vars(m)]
        if any(map(_is_unread, [*held.values(), *parts])):
            return True
    return False


def _is_unread(held: Any) -> bool:
    if isinstance(held, types.FunctionType | types.ModuleType):
        return False
    if callable(held):
        return CODE in contract_of(held).reads
    return not (is_immutable(type(held)) or isinstance(held, _CONTAINERS))


_CONTAINERS = (list, tuple, dict, set, bool, np.ndarray)
