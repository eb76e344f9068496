"""Rows: what is public of each function on Tensors, said once, where the function is made.

    @operation(FUNCTION | METHOD | IN_PLACE | OUT, aliases=("clip",), shapes="(…) -> (…)")
    def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
        \"\"\"The elements limited to [min, max].\"\"\"

A row says under which names and in which forms a function is found. The namespaces, the methods of
Tensor, its in-place methods, `out=`, the docstrings, the stubs and the reference are made of rows;
the function itself is what others of this package call.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Spelling(enum.Flag):
    """The forms in which a function is public.

    FUNCTION: `gs.name(x)`. METHOD: `x.name()`. IN_PLACE: `x.name_()`, whose result has the dtype
    of x; CAST: the same, the result being cast to it; AXES: the same, where the axes of x change
    and no element does. IN_PLACE_FUNCTION: `gs.name_(x)`. OUT: `out=`. PLACE: `layout=` and
    `pin_memory=`, of what makes Tensors.
    """

    FUNCTION = enum.auto()
    METHOD = enum.auto()
    IN_PLACE = enum.auto()
    CAST = enum.auto()
    AXES = enum.auto()
    IN_PLACE_FUNCTION = enum.auto()
    OUT = enum.auto()
    PLACE = enum.auto()


FUNCTION, METHOD, IN_PLACE, CAST, AXES, IN_PLACE_FUNCTION, OUT, PLACE = Spelling
BOTH = FUNCTION | METHOD
CHANGING = IN_PLACE | CAST | AXES
EVERY = BOTH | IN_PLACE | IN_PLACE_FUNCTION | OUT


@dataclass(eq=False, slots=True)
class Row:
    """One public function.

    name: its first name. function: what it does, called with its own names of arguments.
    aliases: other names, in all its forms. numpy_names: NumPy's names, of the function and the
    method alone. launcher: how it goes the short way (a form of call, and the operation), if it
    can. fills: whether its elements fill an `out=` of any shape.
    """

    name: str
    function: Callable[..., Any]
    spelling: Spelling
    aliases: tuple[str, ...] = ()
    numpy_names: tuple[str, ...] = ()
    launcher: Any = None
    fills: bool = False

    def names(self) -> tuple[str, ...]:
        """All names, without those of in-place forms."""
        return self.name, *self.aliases, *self.numpy_names

    def changing_names(self) -> tuple[str, ...]:
        """The names that have in-place forms, without the underscore."""
        return self.name, *self.aliases


ROW_OF: dict[Callable[..., Any], Row] = {}
"""The first row of each function."""


@dataclass(eq=False, slots=True)
class Table:
    """The rows of one namespace.

    name: how users write it ("torchlike", "torchlike.linalg").
    """

    name: str
    rows: dict[str, Row] = field(default_factory=dict)

    def operation(
        self,
        spelling: Spelling = FUNCTION,
        *,
        shapes: str,
        dtypes: str = "",
        name: str = "",
        aliases: tuple[str, ...] = (),
        numpy_names: tuple[str, ...] = (),
        launcher: Any = None,
        fills: bool = False,
    ) -> Callable[[F], F]:
        """Decorator of a function: enters its row, and completes its docstring.

        shapes: of operands and result, as in NumPy's signatures ("(n, k), (k, m) -> (n, m)"); `…`
        stands for any axes, which broadcast where operands have them. dtypes: of the result, where
        it is not that of the operands.
        """

        def enter(function: F) -> F:
            row = self._enter(
                Row(
                    name or function.__name__,
                    function,
                    spelling,
                    aliases,
                    numpy_names,
                    launcher,
                    fills,
                )
            )
            about = [inspect.cleandoc(function.__doc__ or ""), f"Shapes: {shapes}."]
            about += [f"Dtype: {dtypes}."] if dtypes else []
            also = self._also(row)
            function.__doc__ = "\n\n".join([*about, f"Also: {also}."] if also else about)
            return function

        return enter

    def also(self, name: str, function: F, spelling: Spelling = FUNCTION | OUT) -> F:
        """Enter a function that has a row under another name, or in another namespace."""
        known = ROW_OF.get(function)
        launcher = None if known is None else known.launcher
        self._enter(Row(name, function, spelling, launcher=launcher))
        return function

    def _enter(self, row: Row) -> Row:
        self.rows.update(dict.fromkeys(row.names(), row))
        ROW_OF.setdefault(row.function, row)
        return row

    def _also(self, row: Row) -> str:
        """The other ways to write the call."""
        forms = [f"`{self.name}.{name}`" for name in row.names()[1:] if FUNCTION & row.spelling]
        if METHOD in row.spelling:
            forms.append(f"`x.{row.name}`")
        if CHANGING & row.spelling:
            forms.append(f"`x.{row.name}_`")
        if IN_PLACE_FUNCTION in row.spelling:
            forms.append(f"`{self.name}.{row.name}_`")
        return ", ".join([*forms, "`out=`"] if OUT in row.spelling else forms)

    def __iter__(self) -> Iterator[Row]:
        return iter(dict.fromkeys(self.rows.values()))


MAIN = Table("torchlike")
"""The rows of the namespace itself, of which `gs` shows the better known."""
operation = MAIN.operation
