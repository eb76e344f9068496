"""Whether a primitive returns what calls on examples have shown.

Which type the result of a user's function has is found by calls on examples when a call of it is
compiled (`trials`). It is noted here with the types of the arguments. A later call with arguments
of these types has to return such a result: the derivative was made for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.errors import ArgumentError
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.types import Array, Scalar, Tuple, Type
from gradscribe.primitives.result_types import fits, length_in

Lengths = dict[Symbol, int]


class ResultTypes:
    """The types of the results of one function, by what is told of its arguments."""

    def __init__(self) -> None:
        self._noted: dict[Any, list[tuple[Mapping[str, Any], Type]]] = {}

    def __bool__(self) -> bool:
        return bool(self._noted)

    def note(self, arguments: Mapping[str, Any], result: Type) -> None:
        """Note what a call gives. arguments: trees of types and static objects, by name."""
        found = self._noted.setdefault(_kind_of(arguments), [])
        if (arguments, result) not in found:
            found.append((arguments, result))

    def check(self, name: str, arguments: Mapping[str, Any], result: Any) -> None:
        """Raise an `ArgumentError` for a result of another type. name: that of the function."""
        noted = self._noted.get(_kind_of(arguments), [])
        found = [one for one in noted if _has_numbers(one[0], arguments)]
        if found and not any(_is_as_noted(*noted, arguments, result) for noted in found):
            raise ArgumentError(
                f"the primitive `{name}` returned {_told(result)}, and {_told_type(found[0][1])} "
                "for other arguments of the same types",
                "let dtype, axes and lengths of its result depend on those of its arguments alone; "
                "or show by `@op.like` which they are",
            )


def _kind_of(item: Any) -> Any:
    """What is compared of an argument, or of its type: dtypes and numbers of axes."""
    if isinstance(item, Mapping):
        return tuple([(name, _kind_of(below)) for name, below in sorted(item.items())])
    if isinstance(item, Tuple):
        item = item.items
    if isinstance(item, (tuple, list)):
        return tuple(map(_kind_of, item))
    if isinstance(item, (Array, Scalar)):
        return item.dtype, len(item.dims) if isinstance(item, Array) else 0
    if isinstance(item, Type):
        return type(item).__name__
    if isinstance(item, (np.ndarray, np.generic, bool, int, float, complex)):
        return np.asarray(item).dtype.name, np.ndim(item)
    return item if isinstance(item, (str, type(None))) else type(item).__name__


def _is_as_noted(given: Any, type_: Type, arguments: Any, result: Any) -> bool:
    lengths: Lengths = {}
    return _take_lengths(given, arguments, lengths) and fits(type_, result, lengths)


def _has_numbers(tree: Any, item: Any) -> bool:
    """Whether the numbers that were known, among the arguments, are these."""
    if isinstance(tree, Mapping):
        return all(_has_numbers(below, item[name]) for name, below in tree.items())
    if isinstance(tree, Tuple):
        tree = tree.items
    if isinstance(tree, (tuple, list)):
        return all(map(_has_numbers, tree, item))
    is_number = isinstance(tree, (bool, int, float)) and isinstance(item, (bool, int, float))
    return not is_number or tree == item


def _take_lengths(tree: Any, item: Any, lengths: Lengths) -> bool:
    """Take the lengths of the arguments; whether they are of this type."""
    if isinstance(tree, Mapping):
        return all(_take_lengths(below, item[name], lengths) for name, below in tree.items())
    if isinstance(tree, Tuple):
        tree = tree.items
    if isinstance(tree, (tuple, list)):
        pairs = zip(tree, item, strict=False)
        return len(tree) == len(item) and all(_take_lengths(*pair, lengths) for pair in pairs)
    if isinstance(tree, Array):
        pairs = zip(tree.dims, np.shape(item), strict=True)
        return all(_take_length(dim, n, lengths) for dim, n in pairs)
    if isinstance(tree, Scalar) and tree.value is not None:
        return _take_length(tree.value, int(item), lengths)
    return True


def _take_length(length: Affine, n: int, lengths: Lengths) -> bool:
    if length.known is None and len(length.terms) == 1 and not length.constant:
        ((symbol, factor),) = length.terms
        if factor == 1:
            return lengths.setdefault(symbol, n) == n
    value = length_in(length, lengths)
    return value is None or value == n


def _told(result: Any) -> str:
    if isinstance(result, tuple):
        return f"({', '.join(map(_told, result))})"
    shape = np.shape(result)
    return f"an array of shape {shape}" if shape else f"a {type(result).__name__}"


def _told_type(type_: Type) -> str:
    if isinstance(type_, Tuple):
        return f"({', '.join(map(_told_type, type_.items))})"
    axes = len(type_.dims) if isinstance(type_, Array) else 0
    return f"an array of {axes} {'axis' if axes == 1 else 'axes'}" if axes else f"a {type_}"
