"""What calls of NumPy's functions give of arrays in a recorded run, views where NumPy gives views:
each of the array that it shares memory with, and taken again after a store to that."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Operand
from gradscribe.ir.overlaps import copied
from gradscribe.ir.probing import probe
from gradscribe.recording import calls
from gradscribe.recording.arrays import RecordedArray, is_recorded, present, shown
from gradscribe.recording.layouts import is_value_of, standing_for
from gradscribe.recording.levels import Traced, plain, refused
from gradscribe.runtime.arrays.size import in_tuple


class Call:
    """A call of which some operands may be others next time, with what it gives of them."""

    def __init__(
        self, callee: Any, tree: Any, named: Any, values: list[Any], integers: Any
    ) -> None:
        self._callee = callee
        self._tree = tree
        self._named = named
        self._values = values
        self._integers = integers

    def on(self, others: Mapping[int, Any]) -> list[Any]:
        """The values that the call gives of these, by the numbers of the operands. What depends on
        the types alone was not computed."""
        found = list(in_tuple(self.plainly(others)))
        values = self._with(others)
        if not any(type(each) is Traced for each in values):
            return found
        computed = calls.call(self._callee, self._tree, self._named, values, self._integers)
        place = 0
        for value in computed:
            while place < len(found) and not _stands_for(value, found[place]):
                place += 1
            if place == len(found):
                raise part_of_a_list(self._callee)
            found[place] = value
            place += 1
        return found

    def plainly(self, others: Mapping[int, Any]) -> Any:
        """What NumPy gives of them."""
        values = [*map(plain, self._with(others)), *self._integers]
        if self._callee is operator.getitem:
            return values[0][substituted(self._tree[1], values)]
        named = {name: substituted(item, values) for name, item in self._named.items()}
        return self._callee(*substituted(self._tree, values), **named)

    def _with(self, others: Mapping[int, Any]) -> list[Any]:
        return [others.get(number, value) for number, value in enumerate(self._values)]


def part_of_a_list(callee: Any) -> UnsupportedError:
    """The error for a view of what is in a list, or in a list."""
    name = probe(callee, "__name__", "")
    return refused(
        UnsupportedError(
            f"`{name}` gives, or is given, an array in a list of which it may give a view",
            "give it a copy (`.copy()`)",
        )
    )


def _stands_for(value: Any, given: Any) -> bool:
    return not isinstance(given, (tuple, list)) and is_value_of(given, plain(value))


class _Step:
    """From what is viewed, an operand of a call, to one of the views that the call gives of it."""

    def __init__(self, call: Call, operand: int, number: int) -> None:
        self._call = call
        self._operand = operand
        self._number = number

    def on(self, value: Any) -> Any:
        """The view of a value."""
        return self._call.on({self._operand: value})[self._number]

    def plainly(self, array: Any) -> Any:
        """The view of an array."""
        given = self._call.plainly({self._operand: array})
        return given[self._number] if isinstance(given, (tuple, list)) else given


def viewed(arrays: Mapping[int, Any], call: Call) -> Any:
    """What a call gives, views where they are. arrays: the user's, by the numbers of the operands
    that they are."""
    owns = {i: _current(array) for i, array in arrays.items()}
    given, results = call.plainly(owns), call.on(owns)
    apart = _apart(owns)
    parts = in_tuple(given)
    found = parts if len(owns) == 1 else in_tuple(call.plainly(apart))

    def shown_part(number: int) -> Any:
        part = parts[number]
        if isinstance(part, np.ndarray):
            for operand, array in arrays.items():
                if np.may_share_memory(found[number], apart[operand]):
                    return _view(array, _Step(call, operand, number), part, results[number])
            if not part.flags.writeable or (part.size > 1 and 0 in part.strides):
                return read_only(shown(results[number]))
        return shown(standing_for(part, results[number]))

    shown_parts = list(map(shown_part, range(len(parts))))
    return type(given)(shown_parts) if isinstance(given, (tuple, list)) else shown_parts[0]


def read_only(array: Any) -> Any:
    """A new array, which is not stored to: NumPy's own cannot be, or have one number in several
    places."""
    if type(array) is RecordedArray:
        array._writeable = False
    return array


def _current(array: Any) -> Any:
    return array._current() if type(array) is RecordedArray else present(array)


def _apart(values: Mapping[int, Any]) -> dict[int, Any]:
    """Arrays, none of which shares memory with another: that tells what of a call is a view of
    which."""
    known: dict[int, Any] = {}
    for i, array in ((i, plain(value)) for i, value in values.items()):
        overlaps = any(np.may_share_memory(array, other) for other in known.values())
        known[i] = copied(array) if overlaps else array
    return known


def _view(array: Any, step: _Step, part: Any, result: Any) -> Any:
    """A view of an array of the user's, with this plain array and value."""
    if not is_recorded(array):
        return part
    if type(array) is not RecordedArray or part.dtype.kind not in "fc":
        return shown(result)
    with warnings.catch_warnings():  # what was broadcast tells that it may be otherwise one day
        warnings.simplefilter("ignore", FutureWarning)
        is_fixed = not part.flags.writeable and plain(array._current()).flags.writeable
    return RecordedArray(
        array._memory,
        array if array._base is None else array._base,
        (*array._steps, step),
        result,
        array._writeable and not is_fixed,
    )


def substituted(tree: Any, values: list[Any]) -> Any:
    """Arguments in which values stand for their operands."""
    if isinstance(tree, Operand):
        return values[tree.index]
    if isinstance(tree, slice):
        return slice(*(substituted(p, values) for p in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, (tuple, list)):
        items = [substituted(item, values) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree
