"""Loops written as other loops, statement by statement, before they are lowered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import Static

LIST, PLACE = ".list", ".place"
"""Names that no program can have: what a `for` runs over, and where it is."""


def with_test_inside(lowering: Lowering, node: Any) -> Any:
    """`while test: body` as `while True: if not test: break` and the body."""
    if any(isinstance(part, (gast.Break, gast.Continue)) for part in _at_level(node.orelse)):
        lowering.unsupported(
            node,
            "a `while` whose test changes something has a `break` or `continue` in its `else`",
            "make the change in the body of the loop",
        )
    leave = gast.If(gast.UnaryOp(gast.Not(), node.test), [*node.orelse, gast.Break()], [])
    loop = gast.While(gast.Constant(True, None), [leave, *node.body], [])
    for made in (loop, loop.test, leave, leave.test, leave.body[-1]):
        gast.copy_location(made, node)
    return loop


def by_place(node: Any) -> Any:
    """A `for` over a list that grows, as Python runs it: by the number of the item.

    while place < len(list): target = list[place]; place += 1; body
    """
    test = gast.Compare(_name(PLACE), [gast.Lt()], [_call(len, _name(LIST))])
    item = gast.Subscript(_name(LIST), _name(PLACE), gast.Load())
    take = gast.Assign([node.target], item, None)
    count = gast.AugAssign(_name(PLACE, gast.Store()), gast.Add(), gast.Constant(1, None))
    loop = gast.While(test, [take, count, *node.body], node.orelse)
    for made in (loop, *gast.walk(test), take, *gast.walk(item), *gast.walk(count)):
        gast.copy_location(made, node)
        made.end_lineno, made.end_col_offset = node.iter.end_lineno, node.iter.end_col_offset
    return loop


def names_by_place(items: Any) -> dict[str, Any]:
    """What our names stand for before the loop."""
    return {LIST: items, PLACE: Static(0)}


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
