"""What the compiler driver hands to the frontend, and what it gets back.

In: for each parameter of the user's function an `Argument`: the structure of its value and
the types of its leaves. Out: a `Lowered`: the IR function, and everything besides the
arguments that it depends on, said as `Path`s that the driver reads again at every call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from gradscribe.ir.core import Function
from gradscribe.ir.trees import Tree
from gradscribe.ir.types import Type


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of the user's function.

    tree: the structure of its value. A `Leaf` is a run-time value. A `Constant` is static:
        None, a bool, a str, a callable, a module, or any other object, whose attributes are
        then read through `Path`s.
    types: one for each leaf of the tree, in order.
    """

    name: str
    tree: Tree
    types: tuple[Type, ...]


Step = tuple[Literal["attribute", "item"], Any]


@dataclass(frozen=True, eq=False, slots=True)
class Path:
    """Where a value is found at each call: a root, then attributes and items of it.

    root: the number of an argument (an int), or an object that lives as long as the function:
    the namespace of a module (`function.__globals__`), a closure cell, a class.
    `self.W` is Path(0, (("attribute", "W"),)); a global `np` Path(globals, (("item", "np"),));
    a captured variable Path(cell, (("attribute", "cell_contents"),)).
    """

    root: Any
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Capture:
    """An implicit input: an extra parameter of the IR function after the user's own."""

    name: str
    path: Path


@dataclass(frozen=True, eq=False, slots=True)
class Dependency:
    """Something resolved when compiling, which must still hold at each later call.

    identity: the path leads to `value` itself (helpers, modules). equality: to an equal value
    (strings, flags, None). class: to an object whose class is `value`. code: to a function
    whose `__code__` is `value`.
    """

    path: Path
    value: Any
    kind: Literal["identity", "equality", "class", "code"] = "identity"


@dataclass(frozen=True, eq=False, slots=True)
class Lowered:
    """The frontend's result.

    function: parameters are the arguments in order, then the captures in order.
    stored: numbers of the leaves that are stored into; their memory must not overlap that of
        any other leaf of the call. contiguous: leaves assumed to be C-contiguous.
    """

    function: Function
    captures: tuple[Capture, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    stored: tuple[int, ...] = ()
    contiguous: tuple[int, ...] = ()


CaptureCallback = Callable[[str, Any], Argument]
"""Called by the frontend with a name and the value that a captured path has now; returns the
typed implicit input (a Tensor is typed as its array) and numbers its leaves after all others."""
