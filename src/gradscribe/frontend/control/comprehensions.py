"""Comprehensions and generator expressions, lowered as the loops that they stand for.

`[f(x) for x in xs if x > 0]` is the statement

    for x in xs:
        if x > 0:
            items.append(f(x))

in a frame of its own, whose names nobody sees afterwards (but those that `:=` binds). A
generator expression is the list of what it yields, made where that is taken; where `any` or `all`
takes one, it is a loop that stops as soon as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from gradscribe.frontend.calls import frames, iterators, keyed_dicts
from gradscribe.frontend.data.sequences import new_list
from gradscribe.frontend.frame import Frame
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.source import Source, assigned_names, read_places
from gradscribe.frontend.values import LocalFunction, Static

_ITEMS, _FIRST = ".items", ".0"
"""Names that no program can have: what is being made, and what the first `for` runs over."""


def list_of(lowering: Lowering, node: Any, name: str = "") -> Any:
    """The list of what a list comprehension, or a generator expression, gives."""
    made = new_list(lowering, (), name)
    return _run(lowering, node, _appending(node.elt), made)


def generator(lowering: Lowering, node: Any) -> Any:
    """The iterator that a generator expression gives: only what its first `for` runs over is
    computed at once."""
    from gradscribe.frontend.expressions import expression

    outer, first = lowering.frame, expression(lowering, node.generators[0].iter)

    def items(taker: Any) -> Any:
        made = new_list(lowering, ())
        return _run_in(lowering, node, outer, _appending(node.elt), made, first, None)

    return iterators.made(lowering, items, (first, LocalFunction(node, outer)))


def set_of(lowering: Lowering, node: Any) -> Any:
    """The set that a set comprehension gives."""
    from gradscribe.frontend.data.sets import new_set

    return new_set(lowering, node, list_of(lowering, node))


def dict_of(lowering: Lowering, node: Any) -> Any:
    """The dict that a dict comprehension gives."""
    made = keyed_dicts.new_dict(lowering, node)
    place = gast.Subscript(_name(_ITEMS, gast.Load()), node.key, gast.Store())
    return _run(lowering, node, gast.Assign([place], node.value, None), made)


def any_of(lowering: Lowering, node: Any) -> Any:
    """`any(… for …)`."""
    found = gast.If(node.elt, [gast.Return(gast.Constant(True, None))], [])
    return _run(lowering, node, found, None, gast.Constant(False, None))


def all_of(lowering: Lowering, node: Any) -> Any:
    """`all(… for …)`."""
    missing = gast.If(node.elt, [], [gast.Return(gast.Constant(False, None))])
    return _run(lowering, node, missing, None, gast.Constant(True, None))


_STOPPING: dict[Any, Callable[[Lowering, Any], Any]] = {any: any_of, all: all_of}


def stopping(callee: Any) -> Callable[[Lowering, Any], Any] | None:
    """How a function is called with a generator that it may leave before its end."""
    for function, handler in _STOPPING.items():
        if isinstance(callee, Static) and callee.value is function:
            return handler
    return None


def _appending(item: Any) -> Any:
    append = gast.Attribute(_name(_ITEMS, gast.Load()), "append", gast.Load())
    return gast.Expr(gast.Call(append, [item], []))


def _name(name: str, context: Any) -> Any:
    return gast.Name(name, context, None, None)


def _run(lowering: Lowering, node: Any, inner: Any, made: Any, otherwise: Any = None) -> Any:
    """The value after the loops of a comprehension around the statement `inner`: `made`, which that
    changes; or what is returned, `otherwise` at the end."""
    from gradscribe.frontend.expressions import expression

    first = expression(lowering, node.generators[0].iter)
    outer = lowering.frame
    end, outer.end = outer.end, (node.lineno, node.col_offset)
    try:
        return _run_in(lowering, node, outer, inner, made, first, otherwise)
    finally:
        outer.end = end


def _run_in(
    lowering: Lowering, node: Any, outer: Frame, inner: Any, made: Any, first: Any, otherwise: Any
) -> Any:
    """The same in a frame, given what the first `for` runs over."""
    body = [_loops(node, inner), gast.Return(otherwise or _name(_ITEMS, gast.Load()))]
    _place(body, node)
    shared = assigned_names([node])
    names = {name: outer.names[name] for name in shared if name in outer.names}
    frame = Frame(_source(lowering, node, outer.source, body), outer.function, names, outer)
    frame.names[_FIRST] = first
    if made is not None:
        frame.names[_ITEMS] = made
    result = frames.inline_frame(lowering, node, frame)
    outer.names.update({name: frame.names[name] for name in shared if name in frame.names})
    return result


def _loops(node: Any, inner: Any) -> Any:
    for position, generator in reversed(list(enumerate(node.generators))):
        for condition in reversed(generator.ifs):
            inner = gast.If(condition, [inner], [])
        over = generator.iter if position else _name(_FIRST, gast.Load())
        inner = gast.For(generator.target, over, [inner], [], None)
    return inner


def _place(statements: Iterable[Any], node: Any) -> None:
    """Give the nodes that were made here the place of the comprehension."""
    for statement in statements:
        for made in gast.walk(statement):
            if getattr(made, "lineno", None) is None:
                gast.copy_location(made, node)


def _source(lowering: Lowering, node: Any, around: Source, body: list[Any]) -> Source:
    end = (node.end_lineno, node.end_col_offset)
    return Source(
        gast.FunctionDef("<comprehension>", None, body, [], None, None, []),
        around.filename,
        around.lines,
        "<comprehension>",
        (),
        frozenset(assigned_names(body)),
        {**read_places(body), _ITEMS: [end]},
        lowering.builder.location,
    )
