"""The tables of those who handle calls: of functions, and of objects that are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.frontend.lowering import Lowering

Handler = Callable[[Lowering, Any, tuple[Any, ...], dict[str, Any]], Any]
"""What lowers a call: a function of the lowering, the node, the arguments and the keywords."""

FUNCTIONS: dict[Any, Handler] = {}
"""How functions are called that the frontend evaluates itself: built-in ones, and some of NumPy and
of the standard library. Each module enters those that it knows, the layers above theirs."""

OBJECTS: dict[type, Handler] = {}
"""How objects of these classes are called; the object itself comes as the first argument."""
