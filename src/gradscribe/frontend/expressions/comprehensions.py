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

from gradscribe.frontend.containers import iteration as iterations
from gradscribe.frontend.containers import keyed_dicts
from gradscribe.frontend.containers.sets import new_set
from gradscribe.frontend.kinds.raised import make_iterator
from gradscribe.frontend.memory import iterators
from gradscribe.frontend.memory.sequences import new_list
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.syntax import function_texts
from gradscribe.frontend.syntax.bindings import assigned_names, read_places
from gradscribe.frontend.syntax.source import Source
from gradscribe.frontend.values.iterations import Iteration, Mapped
from gradscribe.frontend.values.values import FrontendValue, LocalFunction, Made, OneShot, Static

_ITEMS, _FIRST, _END = ".items", ".0", ".end"
"""Names that no program can have: what is being made, what the first `for` runs over, what `next`
returns or raises at the end."""


def list_of(lowering: Lowering, node: Any, name: str = "") -> FrontendValue:
    """The list of what a list comprehension, or a generator expression, gives."""
    return _made(lowering, node, _appending(node.elt), new_list(lowering, (), name))


def generator(lowering: Lowering, node: Any) -> OneShot:
    """The iterator that a generator expression gives: only what its first `for` runs over is
    computed at once."""
    outer, first = lowering.frame, lowering.expression(node.generators[0].iter)

    def items(taker: Any) -> FrontendValue:
        begun: FrontendValue = first
        if taker is lowering.loops.iterable and _gives_one_of_each(node):
            begun = iterations.over(lowering, taker, first)
            if not iterations.is_by_next(begun):
                return _one_by_one(lowering, outer, node, begun)
        given = {_FIRST: begun, _ITEMS: new_list(lowering, ())}
        body = [_loops(node, _appending(node.elt)), _returned(_ITEMS)]
        return _run_in(lowering, outer, node, body, given)

    make_iterator(lowering, node, iter, (first,), {})
    maker = LocalFunction(node, outer, {function_texts.FIRST: first})
    return iterators.made(lowering, items, (first, maker), Made(maker))


def _gives_one_of_each(node: Any) -> bool:
    """Whether a generator expression gives one item for each of what it runs over."""
    return len(node.generators) == 1 and not node.generators[0].ifs


def _one_by_one(lowering: Lowering, outer: Frame, node: Any, over: Iteration) -> Iteration:
    """The items of such a generator expression, each computed when it is taken."""
    target = gast.Assign([node.generators[0].target], _name(_FIRST, gast.Load()), None)

    def item(given: FrontendValue) -> FrontendValue:
        return _run_in(lowering, outer, node, [target, gast.Return(node.elt)], {_FIRST: given})

    return Mapped.of(over, item)


def set_of(lowering: Lowering, node: Any) -> FrontendValue:
    """The set that a set comprehension gives."""
    return new_set(lowering, node, list_of(lowering, node))


def dict_of(lowering: Lowering, node: Any) -> FrontendValue:
    """The dict that a dict comprehension gives."""
    place = gast.Subscript(_name(_ITEMS, gast.Load()), node.key, gast.Store())
    made = keyed_dicts.new_dict(lowering, node)
    return _made(lowering, node, gast.Assign([place], node.value, None), made)


def _made(lowering: Lowering, node: Any, inner: Any, made: FrontendValue) -> FrontendValue:
    """The container that the statement `inner` fills."""
    return _run(lowering, node, inner, _returned(_ITEMS), {_ITEMS: made})


# -- generators that are left before their end -------------------------------------------------


def _any_of(lowering: Lowering, node: Any) -> FrontendValue:
    """`any(… for …)`."""
    found = gast.If(node.elt, [gast.Return(gast.Constant(True, None))], [])
    return _run(lowering, node, found, gast.Return(gast.Constant(False, None)), {})


def _all_of(lowering: Lowering, node: Any) -> FrontendValue:
    """`all(… for …)`."""
    missing = gast.If(node.elt, [], [gast.Return(gast.Constant(False, None))])
    return _run(lowering, node, missing, gast.Return(gast.Constant(True, None)), {})


def _first_of(lowering: Lowering, node: Any, default: Any = None) -> FrontendValue:
    """`next(… for …)`, and `next((… for …), default)`."""
    found = gast.Return(node.elt)
    if default is None:
        stop = gast.Raise(_name(_END, gast.Load()), None)
        return _run(lowering, node, found, stop, {_END: Static(StopIteration)})
    given = {_END: lowering.expression(default)}
    return _run(lowering, node, found, _returned(_END), given)


_STOPPING: dict[Any, Callable[..., FrontendValue]] = {any: _any_of, all: _all_of, next: _first_of}


def stopping(callee: FrontendValue, count: int) -> Callable[..., FrontendValue] | None:
    """How a function is called with so many arguments, the first of which is a generator that it
    may leave before its end."""
    for function, handler in _STOPPING.items():
        if isinstance(callee, Static) and callee.value is function:
            return handler if count <= (2 if function is next else 1) else None
    return None


# -- the statements ----------------------------------------------------------------------------


def _appending(item: Any) -> Any:
    append = gast.Attribute(_name(_ITEMS, gast.Load()), "append", gast.Load())
    return gast.Expr(gast.Call(append, [item], []))


def _name(name: str, context: Any) -> Any:
    return gast.Name(name, context, None, None)


def _returned(name: str) -> Any:
    return gast.Return(_name(name, gast.Load()))


def _run(
    lowering: Lowering, node: Any, inner: Any, end: Any, given: dict[str, FrontendValue]
) -> FrontendValue:
    """What the loops of a comprehension return: around the statement `inner`, and the statement
    `end` after them. given: what our names in these stand for."""
    outer = lowering.frame
    given = {_FIRST: lowering.expression(node.generators[0].iter), **given}
    kept, outer.end = outer.end, (node.lineno, node.col_offset)
    try:
        return _run_in(lowering, outer, node, [_loops(node, inner), end], given)
    finally:
        outer.end = kept


def _run_in(
    lowering: Lowering, outer: Frame, node: Any, body: list[Any], given: dict[str, FrontendValue]
) -> FrontendValue:
    """What these statements return of a comprehension in the frame `outer`."""
    _place(body, node)
    shared = assigned_names([node])
    names = {name: outer.names[name] for name in shared if name in outer.names}
    frame = Frame(_source(lowering, node, outer.source, body), outer.function, names, outer)
    frame.names.update(given)
    is_here = lowering.frame is outer  # an iterator may run on in another function
    result = lowering.inline_frame(node if is_here else None, frame)
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
