"""A `with` of an object whose `__enter__` and `__exit__` are called, as Python defines it.

Comes in: a `with` statement, its first manager and what is known of that. Goes out: the same as a
`try`. Its `finally` leaves the manager, if that does the same with an exception as without;
otherwise a handler asks `__exit__` whether it ends the exception (where that cannot be read, it
may).
"""

from __future__ import annotations

import builtins
import decimal
import os
import threading
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gast

from gradscribe.errors import SourceNotFoundError, UnsupportedError
from gradscribe.frontend.calls.local_classes import method_of
from gradscribe.frontend.control.exceptions import Attempt, Handler
from gradscribe.frontend.joins.exits import set_aside
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.frame import RAISED
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes
from gradscribe.frontend.structures.instances import Object, class_of
from gradscribe.frontend.syntax.shared_variables import own_nodes, parameters
from gradscribe.frontend.syntax.source import Source, source_of
from gradscribe.frontend.values.values import BoundMethod, FrontendValue, Static
from gradscribe.ir.core import Value
from gradscribe.ir.probing import probe
from gradscribe.primitives.contract_kinds import UNKNOWN
from gradscribe.primitives.contracts import contract_of_method
from gradscribe.primitives.generator_managers import OF_GENERATOR, is_decorated, is_maker

_METHODS = {"enter": "__enter__", "leave": "__exit__"}
_ENTERED = "handed_out = enter()"
_FINALLY = """
try:
    pass
finally:
    leave(None, None, None)
"""
_PASSED = """
failed = True
if not leave({}):
    raise
"""
_TOLD = ("type(error)", "error", "error.__traceback__")
_LEFT = """
if not failed:
    leave(None, None, None)
"""


def with_managed(lowering: Lowering, node: Any, manager: Object | Value) -> None:
    """A `with` of one manager, whose value this is."""
    (item,) = node.items
    hidden = {
        name: f"{name} of line {node.lineno}, {item.context_expr.col_offset}"
        for name in ("enter", "leave", "handed_out", "failed", "error")
    }
    _run_managed(lowering, node, manager, hidden)
    for name in hidden.values():
        lowering.frame.names.pop(name, None)


def _run_managed(
    lowering: Lowering, node: Any, manager: Object | Value, hidden: Mapping[str, str]
) -> None:
    """hidden: the names of what has none in the program."""
    (item,) = node.items
    names = lowering.frame.names

    def written(text: str) -> list[Any]:
        return _written(text, hidden, item.context_expr)

    for name in ("enter", "leave"):
        names[hidden[name]] = special(lowering, item, manager, _METHODS[name])
    lowering.statements(written(_ENTERED))
    body = node.body
    if item.optional_vars is not None:
        (bound,) = written("target = handed_out")
        bound.targets = [item.optional_vars]
        body = [bound, *body]
    told = _told(_class(manager))
    if not is_suppressing(lowering, manager) and not any(told):
        (tried,) = written(_FINALLY)
        lowering.frame.source.replace(node, tried)
        tried.body = body
        lowering.statements([tried])
        return
    names[hidden["failed"]] = Static(False)
    given = [text if is_read else "None" for text, is_read in zip(_TOLD, told, strict=True)]
    passed = written(_PASSED.format(", ".join(given)))
    handler = Handler((BaseException,), hidden["error"], passed)
    Attempt(lowering, node, body, [handler], []).run()
    if RAISED not in lowering.frame.names:
        with set_aside(lowering):
            lowering.statements(written(_LEFT))


def special(lowering: Lowering, node: Any, manager: Object | Value, name: str) -> FrontendValue:
    """`__enter__` or `__exit__` of a manager, which Python looks up on its class."""
    found = None
    if not isinstance(manager, Value):
        cls = class_of(manager)
        found = class_attributes.of_class(lowering, node, manager, cls, name)
    return BoundMethod(manager, name) if found is None else found


def _written(text: str, hidden: Mapping[str, str], place: Any) -> list[Any]:
    """The statements in a text, under names that no program can have."""
    tree = gast.parse(text)
    for node in gast.walk(tree):
        gast.copy_location(node, place)
        if isinstance(node, gast.Name):
            node.id = hidden.get(node.id, node.id)
    return list(tree.body)


_PASSING = (open, threading.Lock, decimal.localcontext, os.scandir)
"""Compiled functions that make managers which end no exception."""


def is_known(lowering: Lowering, item: Object | Value) -> bool:
    """Whether entering and leaving this is known to do nothing to what the program reads, and to
    end no exception."""
    made = lowering.builder.definition(item) if isinstance(item, Value) else None
    if made is not None and (made.callee is OF_GENERATOR or _makes_known(made.callee)):
        return not is_suppressing(lowering, item)
    return all(contract_of_method(_class(item), name) != UNKNOWN for name in _METHODS.values())


def is_of_generator(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is made of a generator function of Python."""
    made = lowering.builder.definition(item) if isinstance(item, Value) else None
    return made is not None and is_maker(made.callee)


def is_suppressing(lowering: Lowering, item: Object | Value) -> bool:
    """Whether what is entered may end an exception."""
    made = lowering.builder.definition(item) if isinstance(item, Value) else None
    if made is not None and made.callee is OF_GENERATOR:
        return generator_may_suppress(made.attributes["args"][0])
    if made is not None and not maker_may_suppress(made.callee):
        return False
    return may_suppress(_class(item))


def _class(item: Object | Value) -> type | None:
    if not isinstance(item, Value):
        return class_of(item)
    return unknown.class_at_run_time(item)


def may_suppress(cls: type | None) -> bool:
    """Whether `__exit__` of this class may return something that is true."""
    if cls is None:
        return True
    if contract_of_method(cls, "__exit__") != UNKNOWN:
        return False
    node = _leaving(cls)
    if node is None:
        return True
    returned = [n.value for n in gast.walk(node) if isinstance(n, gast.Return)]
    return not all(
        value is None or (isinstance(value, gast.Constant) and not value.value)
        for value in returned
    )


def _told(cls: type | None) -> tuple[bool, bool, bool]:
    """Whether `__exit__` of this class reads the class, the exception, the traceback."""
    node = _leaving(cls)
    if node is None:
        return True, True, True
    _, *own = [*node.args.posonlyargs, *node.args.args] or [None]
    nodes = [n for statement in node.body for n in gast.walk(statement)]
    read = {n.id for n in nodes if isinstance(n, gast.Name)}
    if len(own) == 3:
        first, second, third = (parameter.id in read for parameter in own)
        return first, second, third
    is_read = not read.isdisjoint(parameters(node) - _first(node))
    return is_read, is_read, is_read


def _first(node: Any) -> set[str]:
    return {n.id for n in [*node.args.posonlyargs, *node.args.args][:1]}


def _leaving(cls: type | None) -> Any:
    """The statement that defines `__exit__` of this class, if it can be read."""
    leaving = probe(cls, "__exit__")
    method, source = method_of(leaving), _source(leaving)
    node = source.node if source is not None else None
    node = node if method is None else method.function.node
    return None if isinstance(node, gast.Lambda) else node


def maker_may_suppress(maker: Any) -> bool:
    """The same of what a function or class makes."""
    if isinstance(maker, type):
        return may_suppress(maker)
    if is_decorated(maker):
        return generator_may_suppress(probe(maker, "__wrapped__"))
    return not _makes_known(maker)


def _makes_known(maker: Any) -> bool:
    """Whether a function makes managers of which it is known what they do, or has been checked."""
    return is_decorated(maker) or any(maker is known for known in _PASSING)


def generator_may_suppress(function: Any) -> bool:
    """Whether a function that `contextlib.contextmanager` makes managers of may go on after an
    exception that comes where it yields."""
    source = _source(function)
    if source is None or not source.is_generator:
        return True
    return any(_goes_on(node, function) for node in own_nodes(source.node))


def _source(function: Any) -> Source | None:
    if not isinstance(function, types.FunctionType):
        return None
    try:
        return source_of(function.__code__)
    except (SourceNotFoundError, UnsupportedError):
        return None


def _goes_on(node: Any, generator: types.FunctionType) -> bool:
    """Whether this statement or expression of a generator may end an exception that comes to it."""
    if isinstance(node, gast.YieldFrom):
        return True
    if not any(isinstance(n, gast.Yield) for part in _body(node) for n in gast.walk(part)):
        return False
    if isinstance(node, gast.With):
        return any(_item_may_suppress(item.context_expr, generator) for item in node.items)
    if isinstance(node, gast.Try):
        leaving = (gast.Return, gast.Break, gast.Continue)
        handled = [handler.body for handler in node.handlers]
        after = [n for part in (*handled, node.finalbody) for s in part for n in gast.walk(s)]
        ends = any(not isinstance(body[-1], gast.Raise) for body in handled)
        return ends or any(isinstance(n, leaving) for n in after)
    return False


def _body(node: Any) -> Sequence[Any]:
    body = getattr(node, "body", ())
    return body if isinstance(body, list) else ()


def _item_may_suppress(node: Any, generator: types.FunctionType) -> bool:
    """The same of what a generator has in a `with`, if it is made there by a name from outside."""
    callee: Any = None
    for name in _dotted(node.func) if isinstance(node, gast.Call) else ():
        if callee is not None:
            callee = probe(callee, name)
        elif name in generator.__code__.co_names:
            callee = {**vars(builtins), **generator.__globals__}.get(name)
    return maker_may_suppress(callee)


def _dotted(node: Any) -> Iterator[str]:
    """The names in `a.b.c`, from the left."""
    if isinstance(node, gast.Attribute):
        yield from _dotted(node.value)
        yield node.attr
    elif isinstance(node, gast.Name):
        yield node.id
