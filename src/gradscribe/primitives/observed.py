"""What a call returned in a run, and the type that follows from it.

A `Form` describes a value: a static object (`None`, a text, a module, a class), a number of some
class, an array of some dtype with the lengths of its axes, a tuple or list of forms. Of several
runs, `joined` is what they have in common. A call whose type is taken from that is checked each
time that it returns: `fits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.statics import same_static
from gradscribe.ir.trees import bracketed
from gradscribe.ir.types import NONE, Array, Opaque, Tuple, Type, is_differentiable
from gradscribe.primitives.typing import type_of

_NUMBERS = (bool, int, float, complex)
_KINDS = "biufc"
_STATIC = (type(None), str, ModuleType, type, np.dtype)

Steps = tuple[Any, ...]
"""Where an array stands in the arguments of a call: indices and keys."""

Length = int | None
"""The length of an axis, if it was the same each time."""


@dataclass(frozen=True, slots=True)
class StaticForm:
    """An object that is known."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class NumberForm:
    """A number of Python's or NumPy's."""

    cls: type

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """An array."""

    dtype: str
    lengths: tuple[Length, ...]

    def __str__(self) -> str:
        lengths = ", ".join(":" if n is None else str(n) for n in self.lengths)
        return f"{self.dtype}[{lengths}]"


@dataclass(frozen=True, slots=True)
class TupleForm:
    """A tuple or list."""

    cls: type
    items: tuple[Form, ...]

    def __str__(self) -> str:
        return bracketed(self.cls, list(map(str, self.items)))


@dataclass(frozen=True, slots=True)
class OtherForm:
    """What has no type for the compiler."""

    name: str

    def __str__(self) -> str:
        return f"a {self.name}"


@dataclass(frozen=True, slots=True)
class UnseenForm:
    """What a call returns that no run has come to yet."""

    def __str__(self) -> str:
        return "what was not seen"


@dataclass(frozen=True, slots=True)
class ArgumentForm:
    """An argument of the call, itself. steps: the name of a parameter, and where in its value it
    stands. form: what it would be if it were another object."""

    steps: Steps
    form: Form

    def __str__(self) -> str:
        return f"its argument `{self.steps[0]}`"


Form = ArgumentForm | UnseenForm | StaticForm | NumberForm | ArrayForm | TupleForm | OtherForm


Arguments = Mapping[int, Steps]
"""Where the objects stand that a call was given, by their identities."""


def form_of(
    value: Any,
    plain: Callable[[Any], Any] = lambda value: value,
    *,
    known: bool = False,
    arguments: Arguments | None = None,
) -> Form:
    """The form of a value. plain: gives the value itself for one of a recorded run. known: whether
    a flag is a static object. arguments: what the call was given that returned it."""
    if arguments and id(value) in arguments:
        return ArgumentForm(arguments[id(value)], form_of(value, plain, known=known))
    value = plain(value)
    cls = type(value)
    if isinstance(value, _STATIC) or (known and cls is bool):
        return StaticForm(value)
    if cls in (tuple, list):
        items = (form_of(item, plain, arguments=arguments) for item in value)
        return TupleForm(cls, tuple(items))
    if cls is np.ndarray and value.dtype.kind in _KINDS and value.dtype.isnative:
        return ArrayForm(value.dtype.name, value.shape)
    if cls in _NUMBERS or (issubclass(cls, np.generic) and value.dtype.kind in _KINDS):
        return NumberForm(cls)
    return OtherForm(cls.__name__)


def has_text(form: Form) -> bool:
    """Whether there is a text in a value of this form: a number could be read from it."""
    if isinstance(form, TupleForm):
        return any(map(has_text, form.items))
    return isinstance(form, StaticForm) and isinstance(form.value, str)


def joined(forms: Iterable[Form]) -> Form | None:
    """What forms have in common; None if they need different types, or one has none."""
    first, *others = forms
    for other in others:
        both = _join(first, other)
        if both is None:
            return None
        first = both
    return first if _is_known(first) else None


def _join(a: Form, b: Form) -> Form | None:
    if a == b:
        return a
    if isinstance(a, ArgumentForm):
        return _join(a.form, b)
    if isinstance(b, ArgumentForm):
        return _join(a, b.form)
    if isinstance(a, ArrayForm) and isinstance(b, ArrayForm):
        if a.dtype != b.dtype or len(a.lengths) != len(b.lengths):
            return None
        pairs = zip(a.lengths, b.lengths, strict=True)
        return ArrayForm(a.dtype, tuple(n if n == m else None for n, m in pairs))
    if isinstance(a, TupleForm) and isinstance(b, TupleForm) and a.cls is b.cls:
        if len(a.items) != len(b.items):
            return None
        items = [_join(x, y) for x, y in zip(a.items, b.items, strict=True)]
        known = tuple(item for item in items if item is not None)
        return TupleForm(a.cls, known) if len(known) == len(items) else None
    return NumberForm(bool) if _is_flag(a) and _is_flag(b) else None


def _is_flag(form: Form) -> bool:
    return form == NumberForm(bool) or (
        isinstance(form, StaticForm) and isinstance(form.value, bool)
    )


def _is_known(form: Form) -> bool:
    if isinstance(form, TupleForm):
        return all(map(_is_known, form.items))
    return not isinstance(form, OtherForm)


Axis = tuple[Steps, int]
"""An axis of an argument: where the argument stands, and the number of the axis."""


@dataclass(frozen=True, slots=True)
class Axes:
    """For a form, what its lengths must be at each call: the axis of an argument, a number, at
    least two ("many"), or anything (None). argument: where the argument stands that it is."""

    lengths: tuple[Axis | int | str | None, ...] = ()
    items: tuple[Axes, ...] = ()
    argument: Steps | None = None


Known = Sequence[tuple[Affine, int, Axis]]
"""The lengths of arguments: as the compiler has them, in the specializing call, and where."""


def type_for(
    form: Form, known: Known = (), place_of: Callable[[Steps], Steps] = lambda steps: steps
) -> tuple[Type, Axes]:
    """The type of what has this form, and what its lengths must be. place_of: where an argument
    stands in the call, from where it stands in the parameters."""
    if isinstance(form, ArgumentForm):
        return NONE, Axes(argument=place_of(form.steps))
    if isinstance(form, TupleForm):
        found = [type_for(item, known, place_of) for item in form.items]
        return Tuple(tuple(type_ for type_, _ in found)), Axes(items=tuple(a for _, a in found))
    if isinstance(form, ArrayForm):
        dims = [_length(n, known) for n in form.lengths]
        return Array(form.dtype, tuple(d for d, _ in dims)), Axes(tuple(a for _, a in dims))
    if isinstance(form, NumberForm):
        return type_of(form.cls(0)), Axes()
    return Opaque(), Axes()


def _length(n: Length, known: Known) -> tuple[Affine, Axis | int | str | None]:
    if n is None:
        return Affine.of(Symbol("length")), None
    if n < 2:
        return Affine.of(n), n
    for length, sample, axis in known:
        if sample == n and length.known is None:
            return length, axis
    return Affine.of(Symbol("length", minimum=2)), "many"


def has_derivative(form: Form) -> bool:
    """Whether something of this form may depend on what is differentiated."""
    if isinstance(form, TupleForm):
        return any(map(has_derivative, form.items))
    if isinstance(form, (ArgumentForm, StaticForm, UnseenForm)):
        return False
    return is_differentiable(type_for(form)[0])


def fits(form: Form, axes: Axes, value: Any, at: Callable[[Steps], Any]) -> bool:
    """Whether a value, plain but for arguments, is of this form, with these lengths. at: gives the
    arguments of the call."""
    if axes.argument is not None:
        return value is at(axes.argument)
    if isinstance(form, TupleForm):
        if not isinstance(value, (tuple, list)) or type(value) is not form.cls:
            return False
        if len(value) != len(form.items):
            return False
        parts = zip(form.items, axes.items, value, strict=True)
        return all(fits(part, below, item, at) for part, below, item in parts)
    if isinstance(form, ArrayForm):
        return (
            type(value) is np.ndarray
            and value.dtype.name == form.dtype
            and value.dtype.isnative
            and value.ndim == len(axes.lengths)
            and all(
                _has_length(n, wanted, at)
                for n, wanted in zip(value.shape, axes.lengths, strict=True)
            )
        )
    if isinstance(form, NumberForm):
        return type(value) is form.cls
    return isinstance(form, StaticForm) and same_static(value, form.value)


def _has_length(n: int, wanted: Axis | int | str | None, at: Callable[[Steps], Any]) -> bool:
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return n >= 2
    if isinstance(wanted, int):
        return n == wanted
    steps, number = wanted
    return bool(n == at(steps).shape[number])
