"""Tuples that print as in PyTorch: shapes, and several results; shape arguments as users spell
them."""

from __future__ import annotations

import operator
from collections import namedtuple
from typing import Any


class Size(tuple[int, ...]):
    """The shape of a Tensor: a tuple that prints as `torch.Size([2, 3])`."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for length in self:
            count *= length
        return count

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return Size(tuple.__add__(other, self))

    def __mul__(self, count: Any) -> Any:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__


def sizes(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """The ints of `f(2, 3)`, `f((2, 3))` or `f(x.shape)`."""
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        arguments = tuple(arguments[0])
    return tuple(map(operator.index, arguments))


def in_tuple(given: Any) -> tuple[Any, ...]:
    """Several given as a tuple or list, or one alone."""
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def returned(name: str, fields: tuple[str, ...] = ("values", "indices")) -> Any:
    """The class of what a function returns: a tuple with names."""
    return type(name, (_tuple_class(name, fields),), {"__slots__": (), "__repr__": _text})


_tuple_class: Any = namedtuple


def _text(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in self._asdict().items())
    return f"torch.return_types.{type(self).__name__}(\n{fields})"
