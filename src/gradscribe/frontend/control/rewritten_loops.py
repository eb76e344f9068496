"""Loops written as other loops, statement by statement, before they are lowered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from gradscribe.frontend.containers.lists import CHANGED_SIZE, has_other_keys
from gradscribe.frontend.prelude.iteration_prelude import END, next_or_end
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ListRef, Static


def with_test_inside(lowering: Lowering, node: Any) -> Any:
    """`while test: body` as `while True: if not test: break` and the body."""
    leave = gast.If(gast.UnaryOp(gast.Not(), node.test), _end(lowering, node), [])
    loop = gast.While(gast.Constant(True, None), [leave, *node.body], [])
    for made in (loop, loop.test, leave, leave.test, leave.body[-1]):
        gast.copy_location(made, node)
    return loop


def _end(lowering: Lowering, node: Any) -> list[Any]:
    """What is done, in a loop without a test, where the loop is at its end."""
    if any(isinstance(part, (gast.Break, gast.Continue)) for part in _at_level(node.orelse)):
        lowering.unsupported(
            node,
            "a `break` or `continue` stands in the `else` of this loop",
            "use a flag, and leave the loop around it after this one",
        )
    return [*node.orelse, gast.Break()]


def by_place(
    node: Any, items: ListRef, before: FrontendValue | None
) -> tuple[dict[str, FrontendValue], Any]:
    """A `for` over a list that grows, as Python runs it: by the number of the item.

    while place < len(list): target = list[place]; place += 1; body

    Of the keys or items of a dict, `before` is what they are before the loop: where there are other
    keys when the next one is to be taken, that raises.

    Returns what names of ours stand for before the loop, and the loop."""
    over, place, former = _own_names(node, "list", "place", "before")
    names: dict[str, FrontendValue] = {over: items, place: Static(0)}
    length = _call(len, _name(over))
    item = gast.Subscript(_name(over), _name(place), gast.Load())
    take = gast.Assign([node.target], item, None)
    count = gast.AugAssign(_name(place, gast.Store()), gast.Add(), gast.Constant(1, None))
    checks: list[Any] = []
    if before is not None:
        names[former] = before
        error = _call(RuntimeError, gast.Constant(CHANGED_SIZE, None))
        has_changed = _call(has_other_keys, _name(over), _name(former))
        checks = [gast.If(has_changed, [gast.Raise(error, None)], [])]
    test = gast.Compare(_name(place), [gast.Lt()], [length])
    loop = gast.While(test, [*checks, take, count, *node.body], [*checks, *node.orelse])
    made = [part for own in (test, *checks, take.value, count) for part in gast.walk(own)]
    _locate(node, loop, take, *made)
    return names, loop


def by_next(
    lowering: Lowering, node: Any, iterator: FrontendValue
) -> tuple[dict[str, FrontendValue], Any]:
    """A `for` over an object with `__next__`: names and loop, as of `by_place`.

    while True:
        try: item = next_or_end(iterator)
        except StopIteration: break
        if item is END: break
        target = item
        body
    """
    over, item = _own_names(node, "iterator", "item")
    names, leave = lowering.frame.source, _end(lowering, node)
    take = gast.Assign([_name(item, gast.Store())], _call(next_or_end, _name(over)), None)
    handler = gast.ExceptHandler(gast.Constant(StopIteration, None), None, leave)
    attempt = gast.Try([take], [handler], [], [])
    is_end = gast.Compare(_name(item), [gast.Is()], [gast.Constant(END, None)])
    check = gast.If(is_end, leave, [])
    bind = gast.Assign([node.target], _name(item), None)
    loop = gast.While(gast.Constant(True, None), [attempt, check, bind, *node.body], [])
    made = [*gast.walk(take), attempt, handler, handler.type, *gast.walk(is_end), check]
    _locate(node, loop, loop.test, *made, leave[-1], bind, bind.value)
    names.replace(node, loop)
    names.replace(node, attempt, *node.orelse)
    return {over: iterator}, loop


def _own_names(node: Any, *words: str) -> tuple[str, ...]:
    """Names that no program can have, others in each loop."""
    return tuple(f".{word} {node.target.lineno}:{node.target.col_offset}" for word in words)


def _locate(node: Any, *parts: Any) -> None:
    """What is made for a `for` stands where its head does."""
    for part in parts:
        gast.copy_location(part, node)
        part.end_lineno, part.end_col_offset = node.iter.end_lineno, node.iter.end_col_offset


def _name(name: str, context: Any = None) -> Any:
    return gast.Name(name, context or gast.Load(), None, None)


def _call(function: Any, *arguments: Any) -> Any:
    return gast.Call(gast.Constant(function, None), list(arguments), [])


def _at_level(statements: Iterable[Any]) -> Iterator[Any]:
    """The statements of a block that belong to the same loop."""
    for statement in statements:
        yield statement
        if not isinstance(statement, (gast.For, gast.While, gast.FunctionDef, gast.ClassDef)):
            yield from _at_level(gast.iter_child_nodes(statement))
