"""The tables of those who handle calls: of functions, and of objects that are called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.ir.probing import probe

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]
"""What lowers a call: a function of the lowering, the node, the arguments and the keywords."""

FUNCTIONS: dict[Any, Handler] = {}
"""How functions are called that the frontend evaluates itself: built-in ones, and some of NumPy and
of the standard library. Each module enters those that it knows, the layers above theirs."""

OBJECTS: dict[type, Handler] = {}
"""How objects of these classes are called; the object itself comes as the first argument."""


CLASSES: dict[str, Callable[[Lowering, Any, Any, tuple[Any, ...], dict[str, Any]], Any]] = {}
"""How classes of libraries that need not be there (`module:Class`) are called; the class itself
comes after the node."""

NAMEDTUPLE_METHODS: dict[str, Handler] = {}
"""The methods of namedtuples that make others."""


def handler_of(callee: Any) -> Handler | None:
    """Who handles a call of this function or class, if the frontend does it itself."""
    if isinstance(callee, type):
        found = CLASSES.get(f"{callee.__module__}:{callee.__name__}")
        if found and probe(sys.modules.get(callee.__module__), callee.__name__) is callee:
            return lambda lowering, node, *given: found(lowering, node, callee, *given)
    return FUNCTIONS.get(callee)
