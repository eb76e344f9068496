"""Loops over the same range, one after the other, as one loop.

    for i in range(n):               for i in range(n):
        t[i] = x[i] * y[i]    ->         t[i] = x[i] * y[i]
    for i in range(n):                   z[i] = t[i] + z[i]
        z[i] = t[i] + z[i]

What the second loop does in an iteration is then done before the later iterations of the first.
That is the same unless one of these reads what it stores, or stores what it reads or stores: for
elements `a[i + c]` of the first and `a[i + d]` of the second, unless d > c. (Innermost loops are
fused where c = d only: with d < c, an iteration would have to wait for the one before.) Where an
index is no such sum, or two arrays may share memory, the loops stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import (
    IF,
    LOOP,
    Block,
    Function,
    LoopShape,
    Operand,
    Operation,
    Value,
    substituted,
    walk,
)
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array
from gradscribe.primitives.control import ASSERT
from gradscribe.primitives.indexing import GETITEM, LENGTH
from gradscribe.transforms.kernels.contraction import contracted
from gradscribe.transforms.kernels.roots import STORES, Roots


def fused(function: Function) -> Function:
    """The function with fewer loops."""
    fusion = _Fusion(Roots(function), function.facts)
    function = replace(function, body=fusion.block(function.body))
    return contracted(function, fusion.same)


@dataclass(frozen=True)
class _Access:
    """An element of an array that is read, or stored: by an index for each axis, where known."""

    array: Value
    index: tuple[Affine | None, ...]
    is_stored: bool


class _Fusion:
    def __init__(self, roots: Roots, facts: Facts) -> None:
        self._roots = roots
        self._facts = facts
        self.same: dict[Symbol, Affine] = {}

    def block(self, block: Block) -> Block:
        """A block, its loops fused, and those in them."""
        done: list[Operation] = []
        now: dict[Value, Value] = {}
        for operation in _substituted(block.operations, now):
            if not self._is_fused(operation, done, now):
                done.append(operation)
        operations = tuple(
            replace(o, regions=tuple(map(self.block, o.regions))) if o.regions else o for o in done
        )
        return Block(block.parameters, operations, tuple(now.get(y, y) for y in block.yields))

    def _is_fused(self, second: Operation, done: list[Operation], now: dict[Value, Value]) -> bool:
        """Fuse a loop with the last one before it, if what is between can be before both."""
        if not _is_plain(second):
            return False
        place = next((n for n in reversed(range(len(done))) if done[n].regions), None)
        if place is None or not _is_plain(done[place]):
            return False
        first, between = done[place], [_of_before(o, done[place]) for o in done[place + 1 :]]
        if not all(self._may_be_before(operation, first) for operation in between):
            return False
        if not self._have_one_range(first, second) or not self._may_be_one(first, second):
            return False
        done[place:] = [*between, self._one(first, second, now)]
        return True

    def _may_be_before(self, operation: Operation, loop: Operation) -> bool:
        """Whether an operation after a loop may be done before it."""
        primitive = operation.primitive
        if primitive in STORES or (primitive.effect and primitive is not ASSERT):
            return False
        if any(operand in loop.results for operand in operation.operands):
            return False
        if primitive is LENGTH:
            return True
        stored = {self._roots.root(a.array) for a in self._accesses(loop) if a.is_stored}
        arrays = (o for o in operation.operands if isinstance(o.type, Array))
        return not any(self._roots.root(array) in stored for array in arrays)

    def _have_one_range(self, first: Operation, second: Operation) -> bool:
        ends = zip(first.operands[:3], second.operands[:3], strict=True)
        same = all(self._are_equal(_known(a), _known(b)) for a, b in ends)
        return same and _known(first.operands[2]) == Affine.of(1)

    def _are_equal(self, a: Affine | None, b: Affine | None) -> bool:
        return a is not None and b is not None and self._facts.normalize(a - b).known == 0

    def _may_be_one(self, first: Operation, second: Operation) -> bool:
        """Whether no iteration of the second loop must wait for a later one of the first."""
        i, j = (_symbol(loop.regions[0].parameters[0]) for loop in (first, second))
        if i is None or j is None:
            return False
        later = list(self._accesses(second))
        is_nest = all(any(o.primitive is LOOP for o in walk(x.regions[0])) for x in (first, second))
        return all(
            self._is_in_order(a, b, i, j, is_nest)
            for a in self._accesses(first)
            for b in later
            if (a.is_stored or b.is_stored)
            and self._roots.root(a.array) is self._roots.root(b.array)
        )

    def _is_in_order(self, a: _Access, b: _Access, i: Symbol, j: Symbol, is_nest: bool) -> bool:
        """Whether no iteration j before i meets at b what i meets at a: in the innermost loops, not
        one after it either, for such cannot be done several at once."""
        if self._roots.origin(a.array) is None or len(a.index) != len(b.index):
            return False
        found = [_distance(x, y, i, j) for x, y in zip(a.index, b.index, strict=True)]
        return any((d is not None and (d < 0 if is_nest else False)) or d == 0 for d in found)

    def _accesses(self, loop: Operation) -> Iterator[_Access]:
        for operation in walk(loop.regions[0]):
            if operation.primitive is GETITEM or operation.primitive in STORES:
                array = operation.operands[0]
                index = tuple(map(self._affine, *_index(operation)))
                yield _Access(array, index, operation.primitive in STORES)

    def _affine(self, item: Any, operation: Operation) -> Affine | None:
        """What is known of an index."""
        if isinstance(item, Operand):
            known = _known(operation.operands[item.index])
            return None if known is None else known.substitute(self.same)
        return Affine.of(item) if isinstance(item, int) and item >= 0 else None

    def _one(self, first: Operation, second: Operation, now: dict[Value, Value]) -> Operation:
        """Both loops in one."""
        body, later = first.regions[0], second.regions[0]
        i, j = body.parameters[0], later.parameters[0]
        self.same[_symbol(j)] = Affine.of(_symbol(i))  # type: ignore[index,arg-type]
        carried = list(
            zip(body.parameters[1:], first.operands[3:], body.yields, first.results, strict=True)
        )
        by = {j: i, **{result: current for _, _, current, result in carried}}
        slots = {result: number for number, (*_, result) in enumerate(carried)}
        added = []
        for parameter, initial, current, result in zip(
            later.parameters[1:], second.operands[3:], later.yields, second.results, strict=True
        ):
            if initial in slots:
                by[parameter] = by[initial]
                now[initial] = result
                carried[slots[initial]] = (*carried[slots[initial]][:2], current, result)
            else:
                added.append((parameter, initial, current, result))
        carried += added
        rest = substituted(Block((), later.operations, ()), by)
        yields = tuple(by.get(current, current) for _, _, current, _ in carried)
        joined = Block(
            (i, *(parameter for parameter, *_ in carried)),
            (*body.operations, *rest.operations),
            yields,
        )
        return replace(
            first,
            operands=(*first.operands[:3], *(initial for _, initial, _, _ in carried)),
            results=tuple(result for *_, result in carried),
            attributes={"shape": LoopShape(("range",), carried=len(carried))},
            regions=(joined,),
        )


def _substituted(operations: Sequence[Operation], now: dict[Value, Value]) -> Iterator[Operation]:
    """The operations one by one, with the values that others have become by then."""
    for operation in operations:
        (changed,) = substituted(Block((), (operation,), ()), now).operations
        yield changed if now else operation


def _of_before(operation: Operation, loop: Operation) -> Operation:
    """The length of what a loop gives is that of what it starts from."""
    if operation.primitive is not LENGTH or operation.operands[0] not in loop.results:
        return operation
    started = loop.operands[3 + loop.results.index(operation.operands[0])]
    return replace(operation, operands=(started,))


def _is_plain(operation: Operation) -> bool:
    """Whether this is a loop over a range that only computes, reads and stores elements."""
    if operation.primitive is not LOOP:
        return False
    if operation.attributes["shape"] != LoopShape(("range",), carried=len(operation.results)):
        return False
    if not all(isinstance(result.type, Array) for result in operation.results):
        return False
    return all(map(_is_plain_step, walk(operation.regions[0])))


def _is_plain_step(operation: Operation) -> bool:
    primitive = operation.primitive
    if primitive is LOOP:
        shape = LoopShape(("range",), carried=len(operation.results))
        return bool(operation.attributes["shape"] == shape)
    if primitive is IF or primitive in STORES or primitive is GETITEM:
        is_part = any(isinstance(r.type, Array) for r in operation.results)
        return primitive in STORES or not is_part
    arrays = [v for v in (*operation.operands, *operation.results) if isinstance(v.type, Array)]
    return primitive is LENGTH or (not primitive.effect and not arrays)


def _index(operation: Operation) -> tuple[tuple[Any, ...], tuple[Operation, ...]]:
    """The items of the index of an element, each with the operation."""
    given = operation.attributes
    index = given["index"] if operation.primitive is GETITEM else given["path"][0][1]["index"]
    items = index if isinstance(index, tuple) else (index,)
    return items, (operation,) * len(items)


def _known(value: Value) -> Affine | None:
    known = getattr(value.type, "value", None)
    return known if isinstance(known, Affine) else None


def _symbol(item: Value) -> Symbol | None:
    """What stands for the number of an iteration."""
    known = _known(item)
    if known is None or known.constant or len(known.terms) != 1 or known.terms[0][1] != 1:
        return None
    return known.terms[0][0]


def _distance(x: Affine | None, y: Affine | None, i: Symbol, j: Symbol) -> int | None:
    """How much later the iteration i of the first loop is whose element x is the element y of an
    iteration j of the second; None where that is not known, or differs."""
    if x is None or y is None:
        return None
    a, b = (dict(index.terms).get(symbol, 0) for index, symbol in ((x, i), (y, j)))
    if not a or a != b:
        return None
    apart = (y - Affine.of(j) * b) - (x - Affine.of(i) * a)  # a * (i - j)
    return None if apart.known is None or apart.known % a else apart.known // a
