"""Operators on frontend values: arithmetic, comparisons, truth.

Static operands are folded, tuples and lists are combined as Python does; the rest becomes
operations.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import gast
import numpy as np

from gradscribe.frontend.calls import equality, item_equality
from gradscribe.frontend.calls.truths import truth
from gradscribe.frontend.containers import array_likes, dicts, run_time_sets, sets
from gradscribe.frontend.kinds import raised, tensors
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import at_once, given_twice, outside, sequences
from gradscribe.frontend.memory.iterators import taken
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes, instances, keyed, protocols
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    is_number,
    known_objects,
    may_overlap,
)
from gradscribe.ir.core import Value
from gradscribe.ir.statics import same_static
from gradscribe.ir.types import BOOL
from gradscribe.primitives.control import RUN
from gradscribe.primitives.registry import PRIMITIVES

BINARY: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}
UNARY: dict[type, Callable[..., Any]] = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Not: operator.not_,
}
COMPARE: dict[type, Callable[..., Any]] = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}
_COMPARISONS = frozenset(COMPARE.values())


@raised.as_python(lambda callee, *operands: callee(*operands))
def operate(lowering: Lowering, node: Any, callee: Any, *operands: FrontendValue) -> FrontendValue:
    """An operator on frontend values: folded if static, on tuples and lists as Python does."""
    operands = tuple(outside.opened(lowering, resolved(lowering, operand)) for operand in operands)
    known = known_objects(operands)
    if known is not None and _folds(callee, known):
        special = protocols.operate(lowering, node, callee, operands)
        try:
            return Static(callee(*known)) if special is None else special
        except ArithmeticError:
            pass  # it raises when it runs, if it does
        except Exception as error:
            lowering.raises(node, error)
    if any(map(unknown.is_opaque, operands)):
        found = run_time_sets.combined(lowering, callee, operands)
        return unknown.operate(lowering, node, callee, operands) if found is None else found
    if callee is operator.mod and _is_text(operands[0]):
        return unknown.shown(lowering, operands[0], operands[1])
    special = protocols.operate(lowering, node, callee, operands)
    if special is not None:
        return special
    if callee is operator.or_:
        first, second = operands
        if isinstance(first, DictRef) and isinstance(second, DictRef):
            return dicts.united(lowering, first, second)
    if any(isinstance(o, (TupleOf, ListRef)) for o in operands):
        return _structural(lowering, node, callee, operands)
    if callee in (operator.eq, operator.ne):
        if any(map(is_number, operands)) and any(map(_is_no_number, operands)):
            return _identity(lowering, node, callee is operator.eq, *operands)
        equal = equality.equal_in_every_call(lowering, *operands)
        if equal is not None:
            return Static(equal is (callee is operator.eq))
    for operand in operands:
        if not (is_number(operand) or isinstance(operand, (Ref, Value))):
            values = [lowering.load(o) if isinstance(o, Ref) else o for o in operands]
            given = wording.operands(lowering.builder.facts, values)
            is_none = any(isinstance(o, Static) and o.value is None for o in operands)
            lowering.unsupported(
                node,
                f"`{wording.name_of(callee)}` is not supported on {given}",
                "apply it to numbers and arrays" + ": is a `return` missing?" * is_none,
            )
    return lowering.apply_primitive(node, PRIMITIVES[callee], callee, operands, {})


def _is_no_number(item: FrontendValue) -> bool:
    """Whether this is None or a string, which no number is equal to."""
    return isinstance(item, Static) and (item.value is None or isinstance(item.value, str))


def _is_text(item: FrontendValue) -> TypeGuard[Static]:
    """Whether this is a string that is known."""
    return stands_for(item, str)


def _folds(callee: Any, operands: list[Any]) -> bool:
    """Whether a static operation is computed now: anything but floating arithmetic, which
    stays in the program as the user wrote it; a number with a sign is one number."""
    if callee is operator.neg and isinstance(operands[0], float):
        return not math.isnan(operands[0]) and type(operands[0]) is float
    floating = any(isinstance(o, (float, complex, np.generic)) for o in operands)
    is_known = callee is not operator.mod or instances.is_folded(Static(operands[1]))  # of a text
    return is_known and (callee in _COMPARISONS or not floating)


def _structural(
    lowering: Lowering, node: Any, callee: Any, operands: tuple[FrontendValue, ...]
) -> FrontendValue:
    if callee is operator.mul and not any(isinstance(o, Ref) for o in operands):
        return sequences.repeated(lowering, node, *operands)
    _check_tensors(lowering, node, callee, operands)
    arrays = array_likes.with_arrays(lowering, node, operands)
    if arrays is not None:
        return operate(lowering, node, callee, *arrays)
    if callee in (operator.eq, operator.ne) and equality.never_equal(*operands):
        return Static(callee is operator.ne)
    if len(operands) == 2 and isinstance(operands[0], type(operands[1])):
        if callee is operator.add:
            return sequences.joined(lowering, *operands)
        first, second = (sequences.known_items(lowering, o) for o in operands)
        if callee in (operator.eq, operator.ne) and first is not None and second is not None:
            return _compare_tuples(lowering, node, callee, first, second)
        if callee in _STRICT and first is not None and second is not None:
            if all(map(is_number, (*first, *second))):
                return _order_numbers(lowering, node, callee, tuple(first), tuple(second))
            given = TupleOf(tuple(first)), TupleOf(tuple(second)), Static(callee)
            return lowering.inline(node, prelude.are_ordered, given)
    return lowering.unsupported(
        node,
        f"`{wording.name_of(callee)}` of tuples or lists is not supported",
        "compare their items one by one, or make arrays of them: `np.array(items)`",
    )


def _check_tensors(
    lowering: Lowering, node: Any, callee: Any, operands: tuple[FrontendValue, ...]
) -> None:
    """Tensors do not compute with namedtuples, as the pair that their `max(axis)` gives."""
    pairs = [o.cls for o in operands if isinstance(o, TupleOf) and o.cls is not tuple]
    if pairs and any(tensors.is_tensor(lowering, operand) for operand in operands):
        names = [pairs[0].__name__ if isinstance(o, TupleOf) else "Tensor" for o in operands]
        sign = wording.name_of(callee)
        types = " and ".join(f"'{name}'" for name in names)
        lowering.raises(node, TypeError(f"unsupported operand type(s) for {sign}: {types}"))


def _compare_tuples(lowering: Lowering, node: Any, callee: Any, a: Any, b: Any) -> FrontendValue:
    result: Any = Static(len(a) == len(b))
    if len(a) == len(b) and any(item_equality.compares_itself(lowering, item) for item in (*a, *b)):
        given = TupleOf(tuple(a)), TupleOf(tuple(b))
        result = lowering.inline(node, prelude.are_equal, given)
    elif len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            part = item_equality.is_equal(lowering, node, x, y)
            result = (
                part if _is_true(result) else operate(lowering, node, operator.and_, result, part)
            )
    return operate(lowering, node, operator.not_, result) if callee is operator.ne else result


_STRICT = {
    operator.lt: operator.lt,
    operator.le: operator.lt,
    operator.gt: operator.gt,
    operator.ge: operator.gt,
}


def _order_numbers(lowering: Lowering, node: Any, callee: Any, a: Any, b: Any) -> FrontendValue:
    """`prelude.are_ordered` of tuples of numbers, as one condition."""
    if not a or not b:
        return Static(callee(len(a), len(b)))
    strictly = operate(lowering, node, _STRICT[callee], a[0], b[0])
    rest = _order_numbers(lowering, node, callee, a[1:], b[1:])
    same = item_equality.is_equal(lowering, node, a[0], b[0])
    after = operate(lowering, node, operator.and_, same, rest)
    return operate(lowering, node, operator.or_, strictly, after)


def _is_true(item: FrontendValue) -> bool:
    return stands_for(item, _TRUTHS) and bool(item.value)


_TRUTHS = (bool, np.bool_)


def compare(lowering: Lowering, node: Any, op: Any, left: Any, right: Any) -> FrontendValue:
    """One comparison."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        return _identity(lowering, node, isinstance(op, gast.Is), left, right)
    if isinstance(op, (gast.In, gast.NotIn)):
        depth = len(lowering.generators.early)
        right = outside.opened(lowering, taken(lowering, node, right))
        found = membership(lowering, node, isinstance(op, gast.In), left, right)
        at_once.refuse_effects(lowering, node, at_once.since(lowering, depth))
        return found
    return operate(lowering, node, COMPARE[type(op)], left, right)


def _identity(lowering: Lowering, node: Any, wanted: bool, left: Any, right: Any) -> FrontendValue:
    """`is`, `is not`: known, but for opaque objects and run-time flags."""
    callee = operator.is_ if wanted else operator.is_not
    if unknown.is_opaque(left) or unknown.is_opaque(right):
        return unknown.emit(lowering, callee, (left, right), {}, BOOL)
    if Static(None) in (left, right) and any(
        _may_be_none(lowering, node, s) for s in (left, right)
    ):
        return unknown.emit(lowering, callee, (left, right), {}, BOOL, RUN)
    for side, other in ((left, right), (right, left)):
        is_flag = isinstance(other, Value) and other.type == BOOL
        if is_flag and stands_for(side, bool):
            symbol = operator.eq if wanted else operator.ne
            return operate(lowering, node, symbol, left, right)
        if stands_for(side, bool) and isinstance(other, Value) and is_number(other):
            flag = _is_this_flag(lowering, node, other, side)
            return flag if wanted else operate(lowering, node, operator.not_, flag)
    found = _identical(lowering, node, left, right)
    if isinstance(found, bool):
        return Static(found is wanted)
    return found if wanted else operate(lowering, node, operator.not_, found)


def _is_this_flag(
    lowering: Lowering, node: Any, number: FrontendValue, flag: FrontendValue
) -> FrontendValue:
    """Whether a number, which may be a bool on some paths, is True, or False."""
    is_bool = lowering.call(node, Static(isinstance), (number, Static(bool)), {})
    if is_bool == Static(False):
        return is_bool
    same = operate(lowering, node, operator.eq, number, flag)
    return operate(lowering, node, operator.and_, is_bool, same)


def _may_be_none(lowering: Lowering, node: Any, item: FrontendValue) -> bool:
    """Whether this may be an item of a list in which there is None still (`[None] * n`)."""
    if not lowering.nesting.holds_none:
        return False
    if isinstance(item, TupleOf) and any(isinstance(below, Value) for below in item.items):
        lowering.unsupported(
            node,
            "whether a tuple is None is not known: it may come from a list that holds None",
            "keep a flag, or a number, that says so",
        )
    whole = not getattr(item, "path", ())
    return isinstance(item, Value) or (isinstance(item, (Ref, ListRef)) and whole)


def _identical(lowering: Lowering, node: Any, left: Any, right: Any) -> bool | Value:
    if isinstance(left, Static) and isinstance(right, Static):
        return left.value is right.value or same_static(left.value, right.value)
    if instances.is_object(left) or instances.is_object(right):
        return protocols.is_same(lowering, node, left, right)
    for side in (left, right):
        if isinstance(side, Static) and (isinstance(side.value, bool) or not is_number(side)):
            return False
    references = (Ref, ListRef, DictRef)
    if item_equality.is_one_whole(left, right):
        return True
    if isinstance(left, references) and isinstance(right, references):
        same = left.storage is right.storage
        if not same and not _may_be_one(lowering, left.storage, right.storage):
            found = given_twice.identity(lowering, left, right)
            if found is not None:
                return found
    return lowering.unsupported(
        node, "`is` between run-time values is not supported", "compare with `==`"
    )


def _may_be_one(lowering: Lowering, left: Storage, right: Storage) -> bool:
    """Whether two names may lead to one object: by what is kept elsewhere, too."""
    is_kept = any(one.read_only or one in lowering.cached.lists for one in (left, right))
    return is_kept or may_overlap(left, right)


def membership(
    lowering: Lowering, node: Any, wanted: bool, item: FrontendValue, container: FrontendValue
) -> FrontendValue:
    """`item in container`, or `item not in container` where that is wanted."""
    found = _contains(lowering, node, item, container)
    if isinstance(found, bool):
        return Static(found is wanted)
    return found if wanted else operate(lowering, node, operator.not_, found)


@raised.as_python(lambda item, container: item in container)
def _contains(lowering: Lowering, node: Any, item: FrontendValue, container: FrontendValue) -> Any:
    """A bool where it is known, else a frontend value."""
    container = keyed.by_computed_key(lowering, container, item) or container
    found = protocols.call(lowering, node, container, "__contains__", item)
    if found is not None:
        known = truth(lowering, found)
        return known if isinstance(known, bool) else found
    if isinstance(container, DictRef):
        key = keyed.known_key(lowering, node, container, item)
        return key in lowering.items_in(container.storage)
    if stands_for(container, (set, frozenset)):
        keyed.refuse_unhashable(lowering, node, item)
    if class_attributes.method(lowering, container, "__iter__") is not None:
        container = at_once.without_effects(
            lowering, node, functools.partial(lowering.listed, node, container), "`in`"
        )
    if isinstance(container, Static) and isinstance(item, Static):
        try:
            return item.value in container.value
        except TypeError as error:
            lowering.raises(node, error)
    items = getattr(container, "items", None)
    if isinstance(container, ListRef):
        items = lowering.contents[container.storage]
    if stands_for(container, _KNOWN_CONTAINERS):
        items = tuple(map(Static, container.value))
    if isinstance(container, (ListRef, Ref)) and not isinstance(items, tuple):
        arguments = (container, item)
        if isinstance(container, Ref) or sequences.holds_numbers(lowering, container):
            return unknown.emit(lowering, operator.contains, arguments, {}, BOOL, RUN)
        return lowering.inline(node, prelude.contains, arguments)
    if texts.is_text(container) and texts.is_text(item):
        return unknown.operate(lowering, node, operator.contains, (container, item))
    if unknown.is_opaque(container):
        return sets.contains(lowering, container, item)
    if not isinstance(items, tuple):
        lowering.unsupported(
            node, "`in` is not supported on this container", "use `any` and `==`, or a list"
        )
    return _is_one_of(lowering, node, item, items)


_KNOWN_CONTAINERS = (set, frozenset, range, tuple)


def _is_one_of(
    lowering: Lowering, node: Any, item: FrontendValue, items: tuple[FrontendValue, ...]
) -> Any:
    if any(item_equality.compares_itself(lowering, one) for one in (item, *items)):
        return lowering.inline(node, prelude.contains, (TupleOf(items), item))
    result: FrontendValue = Static(False)
    for other in items:
        part = item_equality.is_equal(lowering, node, item, other)
        if _is_true(part):
            return True
        if isinstance(result, Static):
            result = part
        elif not isinstance(part, Static):
            result = operate(lowering, node, operator.or_, result, part)
    return result
