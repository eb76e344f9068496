"""Functions with `yield`: a call gives an iterator, whose items are those that the body yields.

The body is lowered where something takes the items, as a function that returns a list of them:

    def pairs(n):                         def pairs(n):
        for i in range(n):                    for i in range(n):
            yield i, i * i        →               items.append((i, i * i))
                                              return items

That is what Python computes as long as all items are taken, and neither the body nor the one that
takes them changes what the other reads (see `at_once`). All else is refused.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import gast

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.memory import iterators
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.memory.sequences import new_list
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax.refusals import refused
from gradscribe.frontend.syntax.shared_variables import own_nodes
from gradscribe.frontend.syntax.source import Source
from gradscribe.frontend.values.values import FrontendValue, LocalFunction, OneShot

_ITEMS = ".yielded"
"""A name that no program can have."""


def started(lowering: Lowering, node: Any, frame: Frame) -> OneShot:
    """The iterator that a call of such a function gives; none has a derivative itself."""
    if not lowering.frames:
        own = own_nodes(frame.source.node)
        first = next(n for n in own if isinstance(n, (gast.Yield, gast.YieldFrom)))
        raise UnsupportedError(*refused(first, ""), frame.source.location(first))
    holds: list[Any] = list(frame.names.values())
    if frame.outer is not None:
        holds.append(LocalFunction(frame.source.node, frame.outer))
    names = dict(frame.names)

    def items(taker: FrontendValue) -> FrontendValue:
        return _items(lowering, taker, replace(frame, names=dict(names)))

    return iterators.made(lowering, items, tuple(holds))


def _items(lowering: Lowering, taker: Any, frame: Frame) -> FrontendValue:
    """The list of all items."""
    _check_end(lowering, taker, frame)
    source = frame.source
    frame.source = _returning_items(source)
    frame.names[_ITEMS] = new_list(lowering, ())
    lowering.generators.yielded.append({})
    found = lowering.inline_frame(taker, frame)
    yielded = lowering.generators.yielded.pop()
    if any(lowering.contents.get(s, held) is not held for s, held in yielded.items()):
        _refuse(lowering, taker, frame, "changes what it has yielded")
    return found


def _check_end(lowering: Lowering, taker: FrontendValue, frame: Frame) -> None:
    for loop in own_nodes(frame.source.node):
        if isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant):
            leaves = (n for statement in loop.body for n in gast.walk(statement))
            if not any(isinstance(n, (gast.Break, gast.Return)) for n in leaves):
                _refuse(lowering, taker, frame, "has no end")
    for statement in own_nodes(frame.source.node):
        if isinstance(statement, gast.Raise) and _name_raised(statement) == "StopIteration":
            _refuse(lowering, taker, frame, "raises StopIteration, which Python does not hand on")
    if lowering.generators.leaving:
        _refuse(lowering, taker, frame, "may be left before its end")


def _name_raised(statement: Any) -> str:
    """The name of the exception that a statement raises; "" if it tells none."""
    raised = statement.exc.func if isinstance(statement.exc, gast.Call) else statement.exc
    return raised.id if isinstance(raised, gast.Name) else ""


def _refuse(lowering: Lowering, node: Any, frame: Frame, what: str) -> None:
    lowering.unsupported(
        node, f"the generator `{frame.source.name}` {what}", "write the loop in its place"
    )


def _noted(item: FrontendValue) -> FrontendValue:
    """The item that is yielded (in the program that is lowered)."""
    return item


@handles(_noted)
def _note(lowering: Lowering, node: Any, /, item: FrontendValue) -> FrontendValue:
    """Note what the memory of an item holds where it is yielded."""
    for storage in storages(lowering, item):
        lowering.generators.yielded[-1].setdefault(storage, lowering.contents[storage])
    return item


# -- the body as a function that returns a list --------------------------------------------------


def _returning_items(source: Source) -> Source:
    tree = copy.deepcopy(source.node)
    end = gast.copy_location(gast.Return(_name(tree.body[-1])), tree.body[-1])
    end.end_lineno = getattr(tree.body[-1], "end_lineno", None)
    end.end_col_offset = getattr(tree.body[-1], "end_col_offset", None)
    tree.body = [*map(_collecting, tree.body), end]
    return Source.of(tree, source.filename, source.lines)


def _name(place: Any) -> Any:
    return gast.copy_location(gast.Name(_ITEMS, gast.Load(), None, None), place)


def _collecting(node: Any) -> Any:
    """The tree with `yield item` written as `items.append(item)`, `yield from` as `extend`, and
    `return` as `return items`. A `yield` that is sent something is refused where it is met."""
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
        return node
    if isinstance(node, gast.Return):
        node.value = _name(node)
    elif isinstance(node, gast.Expr) and isinstance(node.value, (gast.Yield, gast.YieldFrom)):
        node.value = _entered(node.value)
    else:
        for below in gast.iter_child_nodes(node):
            _collecting(below)
    return node


def _entered(made: Any) -> Any:
    """The call that enters what is yielded in the list."""
    is_one = isinstance(made, gast.Yield)
    item = made.value or gast.Constant(None, None)
    if is_one:
        item = gast.Call(gast.Constant(_noted, None), [item], [])
    function = gast.Attribute(_name(made), "append" if is_one else "extend", gast.Load())
    call = gast.Call(function, [item], [])
    for node in gast.walk(call):
        if getattr(node, "lineno", None) is None:
            gast.copy_location(node, made)
    return call
