"""Lowering of `match`: patterns decided by type now, by value at run time.

A pattern is lowered twice: to its condition, which is known (bool) or an IR value, and, where that
holds, to the names that it binds. The cases become a chain of branches.
"""

from __future__ import annotations

import collections.abc
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import gast

from gradscribe.frontend.calls import introspection
from gradscribe.frontend.calls.operators import compare
from gradscribe.frontend.containers import lengths
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.control import class_patterns
from gradscribe.frontend.expressions.booleans import condition
from gradscribe.frontend.joins.branches import branch, conditional
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.memory import kept_variables, outside
from gradscribe.frontend.memory.sequences import new_list
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import class_of, is_object
from gradscribe.frontend.structures.standard_classes import class_in_python
from gradscribe.frontend.values.iterations import Range
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    ViewOf,
    is_number,
)
from gradscribe.ir.core import Value

Condition: TypeAlias = bool | Value
Take: TypeAlias = Callable[[Lowering, Any, FrontendValue, Any], FrontendValue]
"""Gives, of a value that a pattern matches, the part at a place."""


def match_statement(
    lowering: Lowering, node: Any, rest: Sequence[Any], leaves: Callable[[Sequence[Any]], bool]
) -> bool:
    """A `match` statement; True if the rest of the block was lowered with it, at the end of the
    one case that does not leave the block. leaves: whether a block always does."""
    subject = outside.opened(lowering, resolved(lowering, lowering.expression(node.subject)))
    falls_through = not any(_is_irrefutable(case) for case in node.cases)
    staying = [case for case in node.cases if not leaves(case.body)]
    with_rest = len(staying) + falls_through <= 1
    taken = False

    def run(body: Sequence[Any], stays: bool) -> None:
        nonlocal taken
        taken = taken or (with_rest and stays)
        lowering.statements([*body, *rest] if with_rest and stays else body)

    def chain(position: int) -> None:
        if position == len(node.cases):
            run([], True)
            return
        case = node.cases[position]
        matched = lowering.frame.matched = {}
        condition = _case(lowering, case, subject)

        def go() -> None:
            lowering.frame.matched = matched
            _bind(lowering, case.pattern, subject)
            run(case.body, case in staying)

        if condition is True:
            go()
        elif condition is False:
            chain(position + 1)
        else:
            branch(lowering, condition, go, lambda: chain(position + 1))

    chain(0)
    return taken


def _is_irrefutable(case: Any) -> bool:
    pattern = case.pattern
    return case.guard is None and isinstance(pattern, gast.MatchAs) and pattern.pattern is None


def _case(lowering: Lowering, case: Any, subject: FrontendValue) -> Condition:
    """Whether a case is taken: its pattern, then its guard, which sees the names bound."""

    def guard() -> Condition:
        _bind(lowering, case.pattern, subject)
        return lowering.truth(condition(lowering, case.guard))

    tests: list[Callable[[], Condition]] = [lambda: matches(lowering, case.pattern, subject)]
    return _every(lowering, case.pattern, tests if case.guard is None else [*tests, guard])


def matches(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    """Whether a value matches a pattern."""
    return _CONDITIONS[type(pattern)](lowering, pattern, item)


def _every(lowering: Lowering, node: Any, tests: Sequence[Callable[[], Condition]]) -> Condition:
    """Whether all tests hold; the later ones run only where the earlier ones do."""
    for position, test in enumerate(tests):
        condition = test()
        following = tests[position + 1 :]
        if condition is False or not following:
            return condition
        if condition is not True:
            onward = functools.partial(_every, lowering, node, following)
            return _conditional(lowering, node, condition, onward, lambda: False)
    return True


def _conditional(
    lowering: Lowering,
    node: Any,
    condition: Value,
    then: Callable[[], Condition],
    otherwise: Callable[[], Condition],
) -> Condition:
    def item(side: Callable[[], Condition]) -> Static | Value:
        found = side()
        return Static(found) if isinstance(found, bool) else found

    then_, otherwise_ = (functools.partial(item, side) for side in (then, otherwise))
    return lowering.truth(conditional(lowering, node, condition, then_, otherwise_))


# -- conditions --------------------------------------------------------------------------------


def _value(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:

    value = lowering.expression(pattern.value)
    numbers = is_number(item) and is_number(value)
    if not numbers and not (isinstance(item, Static) and isinstance(value, Static)):
        if isinstance(item, (Ref, ObjectRef)) or not isinstance(value, Static):
            lowering.unsupported(pattern, "this value pattern is not supported", "compare by `if`")
        return False
    return lowering.truth(compare(lowering, pattern, gast.Eq(), item, value))


def _singleton(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    return lowering.truth(compare(lowering, pattern, gast.Is(), item, Static(pattern.value)))


def _named(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    return True if pattern.pattern is None else matches(lowering, pattern.pattern, item)


def _either(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    return _any(lowering, pattern.patterns, item)


def _any(lowering: Lowering, patterns: Sequence[Any], item: FrontendValue) -> Condition:
    first, *others = patterns
    condition = matches(lowering, first, item)
    if condition is True or not others:
        return condition
    onward = functools.partial(_any, lowering, others, item)
    if condition is False:
        return onward()
    return _conditional(lowering, first, condition, lambda: True, onward)


def _sequence(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    if not _is_sequence(item):
        return _no_match(lowering, pattern, item, collections.abc.Sequence)
    has_star = any(isinstance(p, gast.MatchStar) for p in pattern.patterns)
    count = Static(len(pattern.patterns) - has_star)

    def long_enough() -> Condition:
        symbol = gast.GtE() if has_star else gast.Eq()
        length = lengths.length(lowering, item)
        return lowering.truth(compare(lowering, pattern, symbol, length, count))

    parts = [pair for pair in _parts(pattern) if not isinstance(pair[0], gast.MatchStar)]
    return _every(lowering, pattern, [long_enough, *_tests(lowering, item, parts, _item)])


def _is_sequence(item: FrontendValue) -> bool:
    if isinstance(item, Static):
        return isinstance(item.value, (tuple, list, range))
    return isinstance(item, (TupleOf, ListRef)) and not isinstance(item, ViewOf)


def _no_match(lowering: Lowering, pattern: Any, item: FrontendValue, taken_apart: type) -> bool:
    """False of what a pattern for sequences or mappings does not match; other objects that Python
    takes apart, or may, are refused."""
    cls: type | None
    if isinstance(item, Range):
        cls = range
    elif is_object(item):
        cls = class_in_python(item) or class_of(item)
    elif unknown.is_opaque(item):
        cls = unknown.class_at_run_time(item) or taken_apart
    else:
        cls = type(item.value) if isinstance(item, Static) else None
    found = cls is not None and introspection.is_subclass(lowering, pattern, cls, taken_apart)
    if found and cls not in (str, bytes):
        lowering.unsupported(
            pattern,
            "this pattern is given another object than a list, tuple or dict of known keys",
            "make a list or dict of it first, or test by `if`",
        )
    return False


def _mapping(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    if not isinstance(item, DictRef):
        return _no_match(lowering, pattern, item, collections.abc.Mapping)
    contents = lowering.items_in(item.storage)
    keys = _keys(lowering, pattern)
    if not all(key in contents for key in keys):
        return False
    parts = zip(pattern.patterns, keys, strict=True)
    return _every(lowering, pattern, _tests(lowering, item, parts, _item))


def _keys(lowering: Lowering, pattern: Any) -> list[Any]:

    return [
        static_values.object_of(lowering, key, lowering.expression(key)) for key in pattern.keys
    ]


def _class(lowering: Lowering, pattern: Any, item: FrontendValue) -> Condition:
    cls = class_patterns.class_of(lowering, pattern)
    if not introspection.is_instance(lowering, pattern, item, cls):
        return False
    parts = class_patterns.attributes(lowering, pattern)
    reads: list[Callable[[], Condition]] = [
        functools.partial(class_patterns.is_there, lowering, part, item, name)
        for part, name in parts
        if name
    ]
    tests = _tests(lowering, item, parts, class_patterns.attribute)
    return _every(lowering, pattern, [*reads, *tests])


def _tests(
    lowering: Lowering,
    item: FrontendValue,
    parts: Iterable[tuple[Any, Any]],
    take: Take,
) -> list[Callable[[], Condition]]:
    """For each pair of a pattern and the place of what it is matched with, the condition."""

    def test(pattern: Any, place: Any) -> Condition:
        return matches(lowering, pattern, take(lowering, pattern, item, place))

    refutable = [pair for pair in parts if getattr(pair[0], "pattern", pair) is not None]
    return [functools.partial(test, pattern, place) for pattern, place in refutable]


_CONDITIONS: dict[type, Callable[[Lowering, Any, FrontendValue], Condition]] = {
    gast.MatchValue: _value,
    gast.MatchSingleton: _singleton,
    gast.MatchAs: _named,
    gast.MatchOr: _either,
    gast.MatchSequence: _sequence,
    gast.MatchMapping: _mapping,
    gast.MatchClass: _class,
}


# -- what patterns are made of -------------------------------------------------------------------


def _parts(pattern: Any) -> list[tuple[Any, Any]]:
    """The patterns of a sequence, each with its index; of `*rest`, the slice."""
    patterns = pattern.patterns
    stars = [i for i, p in enumerate(patterns) if isinstance(p, gast.MatchStar)]
    if not stars:
        return [(part, index) for index, part in enumerate(patterns)]
    (star,) = stars
    before = [(part, index) for index, part in enumerate(patterns[:star])]
    after = [(part, star + 1 + i - len(patterns)) for i, part in enumerate(patterns[star + 1 :])]
    stop = star + 1 - len(patterns)
    middle = slice(Static(star), Static(stop) if stop else None)
    return [*before, (patterns[star], middle), *after]


def _item(lowering: Lowering, pattern: Any, owner: FrontendValue, place: Any) -> FrontendValue:
    index = place if isinstance(place, slice) else Static(place)
    found = read_item(lowering, pattern, owner, index)
    if isinstance(place, slice) and not isinstance(found, ListRef):
        return new_list(lowering, lowering.unpacked(pattern, found))
    return found


# -- names -------------------------------------------------------------------------------------


def _bind(lowering: Lowering, pattern: Any, item: FrontendValue) -> None:
    """Bind the names of a pattern that matches."""
    if not _binds(pattern):
        return
    name = getattr(pattern, "name", None)
    if name is not None:
        lowering.frame.names[name] = lowering.named(item, name)
        kept_variables.bind(lowering, name, lowering.frame.names[name])
    if isinstance(pattern, gast.MatchAs) and pattern.pattern is not None:
        _bind(lowering, pattern.pattern, item)
    elif isinstance(pattern, gast.MatchOr):
        _bind_either(lowering, pattern.patterns, item)
    for part, take, place in _bound_parts(lowering, pattern):
        if _binds(part):
            _bind(lowering, part, take(lowering, part, item, place))
    if isinstance(item, DictRef) and getattr(pattern, "rest", None) is not None:
        keys, contents = _keys(lowering, pattern), lowering.items_in(item.storage)
        storage = Storage(pattern.rest)
        lowering.contents[storage] = {k: v for k, v in contents.items() if k not in keys}
        lowering.frame.names[pattern.rest] = DictRef(storage)


def _binds(pattern: Any) -> bool:
    """Whether there is a name in a pattern."""
    return any(
        getattr(node, "name", None) is not None or getattr(node, "rest", None) is not None
        for node in gast.walk(pattern)
    )


def _bound_parts(lowering: Lowering, pattern: Any) -> Iterator[tuple[Any, Take, Any]]:
    if isinstance(pattern, gast.MatchSequence):
        yield from ((part, _item, place) for part, place in _parts(pattern))
    elif isinstance(pattern, gast.MatchMapping):
        places = zip(pattern.patterns, _keys(lowering, pattern), strict=True)
        yield from ((part, _item, place) for part, place in places)
    elif isinstance(pattern, gast.MatchClass):
        attributes = class_patterns.attributes(lowering, pattern)
        yield from ((part, class_patterns.attribute, name) for part, name in attributes)


def _bind_either(lowering: Lowering, patterns: Sequence[Any], item: FrontendValue) -> None:
    """Bind the names of the first of some patterns that matches, of which one does."""
    first, *others = patterns
    condition = matches(lowering, first, item) if others else True
    if condition is True:
        _bind(lowering, first, item)
    elif condition is False:
        _bind_either(lowering, others, item)
    else:
        branch(
            lowering,
            condition,
            lambda: _bind(lowering, first, item),
            lambda: _bind_either(lowering, others, item),
        )
