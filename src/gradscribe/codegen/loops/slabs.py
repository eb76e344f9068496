"""Records of loops as arrays that are made before the loop.

    steps = []                            steps = np.empty(max(n, 0))
    for _ in range(n):        becomes     for k in range(n):
        steps.append(x)                       steps[k] = x

where each iteration adds one item, and how many there are is known before the first; what items of
several numbers are put into is an array with a row for each iteration. A list grows by copies, and
each `append` looks whether it must. Assumes statements in the subset.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.codegen.loops.rewriting import free_counter, is_call, stored_in
from gradscribe.ir.types import Scalar, Tuple, Type

Numpy = Callable[[str], ast.expr]
"""Gives the expression of a name of NumPy's."""


def in_slabs(
    function: ast.FunctionDef, records: Mapping[str, Type], numpy: Numpy
) -> ast.FunctionDef:
    """The same function with arrays in place of lists, its statements changed in place.

    records: the type of the items of each list that is a record.
    """
    for block in list(_blocks(function)):
        for position, made in enumerate(block):
            name = _made_empty(made)
            kind = _Items.of(records[name]) if name in records else None
            loop = None if kind is None else _loop_that_fills(name, block[position + 1 :])
            if kind is not None and loop is not None:
                slab = _Slab(function, name, kind, loop)
                if slab.is_possible:
                    slab.make(made, numpy)
    return function


@dataclass(frozen=True)
class _Items:
    """dtype: of all numbers of an item. width: how many they are; None for a number by itself."""

    dtype: str
    width: int | None

    @staticmethod
    def of(item: Type) -> _Items | None:
        """What the items of a type are; None where they have no place in an array."""
        parts = item.items if isinstance(item, Tuple) else (item,)
        dtypes = {np.dtype(part.dtype).name if isinstance(part, Scalar) else "" for part in parts}
        if len(dtypes) != 1 or not dtypes <= _DTYPES.keys():
            return None
        return _Items(dtypes.pop(), len(parts) if isinstance(item, Tuple) else None)


_DTYPES = {"float64": (), "int64": ("int64",), "bool": ("bool_",)}
"""What `np.empty` is told of the numbers that there are arrays of, beside the shape."""


class _Slab:
    """A list that one loop fills, and its uses."""

    def __init__(self, function: ast.FunctionDef, name: str, items: _Items, loop: ast.For) -> None:
        self._function = function
        self._name = name
        self._items = items
        self._loop = loop
        self._length = _length(loop.iter)
        self._append = _append_to(name, loop.body)
        self._unpacked = [node for node in ast.walk(function) if self._is_unpacked(node)]

    @property
    def is_possible(self) -> bool:
        """Whether all that is done with the list can be done with an array."""
        uses = _count(self._function, lambda n: isinstance(n, ast.Name) and n.id == self._name)
        plain = _is_item if self._items.width is None else _nothing
        reads = _count(self._function, lambda n: plain(n, self._name) or _is_len(n, self._name))
        filled = 2  # where it is made, and where an item is added
        known = filled + reads + len(self._unpacked)
        return self._length is not None and uses == known and not _may_leave(self._loop)

    def make(self, made: ast.stmt, numpy: Numpy) -> None:
        """Change the statements."""
        assert isinstance(made, ast.Assign)
        assert self._length is not None
        width, dtype = self._items.width, self._items.dtype
        length = self._length
        shape = length if width is None else ast.Tuple([length, ast.Constant(width)], ast.Load())
        made.value = ast.Call(numpy("empty"), [shape, *map(numpy, _DTYPES[dtype])], [])
        counter = self._counter()
        number = self._loop.body.index(self._append)
        value = self._append.value.args[0]
        target: ast.expr = self._item(ast.Name(counter, ast.Load()), ast.Store())
        self._loop.body[number] = ast.copy_location(ast.Assign([target], value), self._append)
        for read in self._unpacked:
            assert isinstance(read, ast.Assign)
            assert isinstance(read.value, ast.Subscript)
            read.value = self._item(read.value.slice, ast.Load())

    def _item(self, index: ast.expr, context: ast.expr_context) -> ast.expr:
        """`name[index]`, or the numbers of that row."""

        def at(place: ast.expr) -> ast.expr:
            return ast.Subscript(ast.Name(self._name, ast.Load()), place, context)

        if self._items.width is None:
            return at(index)
        columns = map(ast.Constant, range(self._items.width))
        rows = [at(ast.Tuple([index, column], ast.Load())) for column in columns]
        return ast.Tuple(rows, context)

    def _is_unpacked(self, node: ast.AST) -> bool:
        """Whether a statement takes an item of several numbers apart."""
        return (
            self._items.width is not None
            and isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and _is_item(node.value, self._name)
        )

    def _counter(self) -> str:
        """The variable that numbers the iterations."""
        loop = self._loop
        target = loop.target
        if is_call(loop.iter, "range") and len(loop.iter.args) == 1:
            assert isinstance(target, ast.Name)
            if target.id == "_":
                target = loop.target = ast.Name(free_counter(self._function, loop), ast.Store())
            if target.id not in stored_in(loop.body):
                return target.id
        counter = free_counter(self._function, loop)
        loop.target = ast.Tuple([ast.Name(counter, ast.Store()), loop.target], ast.Store())
        loop.iter = ast.Call(ast.Name("enumerate", ast.Load()), [loop.iter], [])
        return counter


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """All lists of statements."""
    for each in ast.walk(node):
        for part in ("body", "orelse"):
            block = getattr(each, part, None)
            if isinstance(block, list):
                yield block


def _made_empty(statement: ast.stmt) -> str:
    """The name of the list that a statement makes; "" where it does something else."""
    if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == "[]":
        (target,) = statement.targets
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _loop_that_fills(name: str, following: list[ast.stmt]) -> ast.For | None:
    """The loop each iteration of which adds one item, if what it runs over is known before."""
    changed: set[str] = set()
    for statement in following:
        if isinstance(statement, ast.For) and _append_to(name, statement.body) is not None:
            read = {n.id for n in ast.walk(statement.iter) if isinstance(n, ast.Name)}
            return None if read & changed or statement.orelse else statement
        changed |= stored_in([statement])
    return None


def _append_to(name: str, body: list[ast.stmt]) -> Any:
    """The statement that adds an item."""
    start = f"{name}.append("
    found = (s for s in body if isinstance(s, ast.Expr) and ast.unparse(s).startswith(start))
    return next(found, None)


def _length(iterable: ast.expr) -> ast.expr | None:
    """How many items there are to run over; None where that cannot be asked for twice."""
    pure = {"range", "len", "max", "min", "abs", "int"}
    for node in ast.walk(iterable):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in pure:
            return None
    if not is_call(iterable, "range"):
        return None
    if len(iterable.args) > 1:
        return ast.Call(ast.Name("len", ast.Load()), [copy.deepcopy(iterable)], [])
    stop = copy.deepcopy(iterable.args[0])
    is_shape = isinstance(stop, ast.Subscript) and getattr(stop.value, "attr", "") == "shape"
    is_constant = isinstance(stop, ast.Constant) and isinstance(stop.value, int) and stop.value >= 0
    if is_shape or is_constant or is_call(stop, "len"):
        return stop
    return ast.Call(ast.Name("max", ast.Load()), [stop, ast.Constant(0)], [])


def _may_leave(loop: ast.For) -> bool:
    """Whether an iteration may end before its last statement."""
    leaving = (ast.Break, ast.Continue, ast.Return)
    return any(isinstance(node, leaving) for node in ast.walk(loop))


def _count(function: ast.FunctionDef, is_one: Callable[[ast.AST], bool]) -> int:
    return sum(map(is_one, ast.walk(function)))


def _is_len(node: ast.AST, name: str) -> bool:
    return is_call(node, "len") and getattr(node.args[0], "id", "") == name


def _is_item(node: ast.AST, name: str) -> bool:
    """Whether this reads `name[index]`."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return False
    return isinstance(node.ctx, ast.Load) and getattr(node.value, "id", "") == name


def _nothing(node: ast.AST, name: str) -> bool:
    return False
