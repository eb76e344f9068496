"""What interrupts the lowering of a piece of a program.

It is what Python would raise there, a refusal that is handled further up, or a finding after which
the piece is lowered again, in another way.
"""

from __future__ import annotations

from typing import Any

from gradscribe.errors import SourceLocation, UnknownTypeError, UnsupportedError, raised_as
from gradscribe.frontend.state.carried_entry import Entry
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import Location, Value
from gradscribe.ir.types import Type


class AlwaysRaisesError(UnsupportedError):
    """Python itself would raise here: an exception of class `cls`, which is the (frontend) value.

    It is refused, unless a `try` handles it. by_program: whether it is a `raise` of the program.
    """

    def __init__(
        self,
        what: str,
        advice: str,
        location: SourceLocation | None,
        cls: type,
        value: FrontendValue,
        by_program: bool = False,
    ) -> None:
        super().__init__(what, advice, location)
        self.cls = cls
        self.value = value
        self.by_program = by_program


class HasRaisedError(Exception):
    """A function that was called, and inlined, raises on each path: control does not come to what
    is left of the statement that calls it."""


class EverOtherTypesError(UnsupportedError):
    """A function calls itself with ever other types of arguments, or results. To lower what is
    around it in another way would but find the same again, at each level of the recursion."""

    def __init__(self, name: str, location: Location | None) -> None:
        super().__init__(
            f"`{name}` calls itself with ever other types of arguments or results",
            "pass what grows as a list of numbers or as an array, or write a loop",
            location,
        )


class TooManyPathsError(EverOtherTypesError):
    """What is split into kinds, on each path anew, is split without end: no side of it is lowered
    in another way."""

    def __init__(self, location: Location | None) -> None:
        UnsupportedError.__init__(
            self,
            "on too many paths something is bound to values of different kinds, or to one array or "
            "another",
            "bind names to values of one kind, and copy what is stored to (`.copy()`)",
            location,
        )


class FoundOnStackError(Exception):
    """A frame's function was called again while the frame was being lowered."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame


class StoredListError(Exception):
    """A recursive function, given what `key` stands for, changes a list that it is given: it has to
    be lowered for less that is known of that list.

    growing: the numbers of lists of known items, which become run-time lists. items: what the items
    of empty lists, by the number of the leaf, come to be.
    """

    def __init__(self, key: Any, growing: frozenset[int], items: dict[int, Type]) -> None:
        self.key = key
        self.growing = growing
        self.items = items


class MisfitError(UnsupportedError):
    """The arguments of an operation do not fit it, as its type rule says. cls: the class of what
    Python raises then."""

    cls: type[Exception] | None = None


class ReadsOutsideError(UnsupportedError):
    """A rule of the user's reads what no rule can take as an input."""


def unknown_type(place: SourceLocation | None) -> UnknownTypeError:
    """The refusal to compute with what has no known type."""
    return UnknownTypeError(
        "this computes with a value whose type is not known when the function is compiled",
        "convert a number where it is made, as in `float(…)`, and store an array in one of known "
        "shape, as in `y[:] = …`; or make the call a `gs.primitive`",
        place,
    )


def refusal(error: AlwaysRaisesError | MisfitError | EverOtherTypesError) -> UnsupportedError:
    """What leaves the compiler: an exception of the class that Python raises, too."""
    cls = getattr(error, "cls", None)
    kind = raised_as(UnsupportedError, *([cls] if cls else []))
    made = kind(error.what, error.advice, error.location)
    assert isinstance(made, UnsupportedError)
    made.calls += error.calls
    if "way_out" in vars(error):
        made.way_out = error.way_out
    return made


class SplitError(Exception):
    """A value is of one kind where the flag is true, and of another where it is not: what reads
    it has to be lowered for each."""

    def __init__(self, flag: Value, location: Location | None) -> None:
        self.flag = flag
        self.location = location


class LateReadError(Exception):
    """An iteration reads a name that has no value, or one of another kind, before the first
    iteration."""

    def __init__(self, carried: object, entry: Entry) -> None:
        self.carried = carried
        self.entry = entry
