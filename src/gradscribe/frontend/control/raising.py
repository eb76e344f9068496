"""Lowering of `raise` and `assert`."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import gast

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.expressions.booleans import condition
from gradscribe.frontend.joins.branches import branch
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import at_once
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.frame import RAISED
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.interruptions import AlwaysRaisesError, HasRaisedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.trial import Trial
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.types import Opaque
from gradscribe.primitives.control import ASSERT, FORMAT, RAISE
from gradscribe.primitives.raising import may_raise


def raise_statement(lowering: Lowering, node: Any) -> None:
    """`raise exception from cause`."""
    exception = _handled(lowering, node) if node.exc is None else _exception(lowering, node.exc)
    _end_attempt(lowering, node, exception)
    cause = Static(None) if node.cause is None else _exception(lowering, node.cause)
    _raise(lowering, exception, cause)


def _end_attempt(lowering: Lowering, node: Any, exception: FrontendValue) -> None:
    """An exception that the `try` around handles, on no condition, is none at run time."""
    cls = _class_of(exception)
    attempts = lowering.exceptions.attempts
    depth, caught = attempts[-1] if attempts else (0, ())
    if cls is not None and lowering.builder.depth == depth and issubclass(cls, caught):
        location = lowering.frame.source.location(node)
        what = f"this always raises {cls.__name__}"
        by_program = not lowering.frame.is_of_package
        raise AlwaysRaisesError(what, "", location, cls, exception, by_program)


def _raise(lowering: Lowering, exception: FrontendValue, cause: FrontendValue) -> None:
    given = {"exception": exception, "cause": cause}
    tree = {name: static_values.effect_argument(lowering, item) for name, item in given.items()}
    lowering.emit(RAISE, tree)
    lowering.frame.names[RAISED] = Static(True)


@handles(sys.exit)
def _exit(lowering: Lowering, node: Any, /, *status: FrontendValue) -> NoReturn:
    exception = unknown.emit(lowering, SystemExit, status, {}, Opaque(SystemExit))
    _end_attempt(lowering, node, exception)
    _raise(lowering, exception, Static(None))
    raise HasRaisedError


def _handled(lowering: Lowering, node: Any) -> FrontendValue:
    """The exception that is being handled, for a bare `raise`."""
    if lowering.exceptions.handled is None:
        lowering.unsupported(
            node,
            "`raise` without an exception stands in no `except` here",
            "raise an exception by its name",
        )
    handled = lowering.exceptions.handled
    return handled if isinstance(handled, Static) else lowering.value(handled)


def _class_of(exception: FrontendValue) -> type | None:
    if isinstance(exception, Static):
        return type(exception.value)
    return unknown.class_at_run_time(exception)


def _exception(lowering: Lowering, node: Any) -> FrontendValue:
    if not isinstance(node, gast.Call):
        item = lowering.expression(node)
        if stands_for(item, type):
            return unknown.emit(lowering, item.value, (), {}, Opaque(item.value))
        return lowering.value(item)
    callee = lowering.expression(node.func)
    cls = callee.value if isinstance(callee, Static) else None
    if not isinstance(cls, type) or any(keyword.arg is None for keyword in node.keywords):
        lowering.unsupported(node, "this exception is not supported", "raise a plain exception")
    arguments = tuple(lowering.expression(item) for item in node.args)
    keywords = {keyword.arg: lowering.expression(keyword.value) for keyword in node.keywords}
    return unknown.emit(lowering, cls, arguments, keywords, Opaque(cls))


def assert_statement(lowering: Lowering, node: Any) -> None:
    """`assert condition, message`, which `python -O` leaves out."""
    if not __debug__:
        return
    test = lowering.truth(condition(lowering, node.test))
    if test is True:
        return
    if test is False:
        lowering.emit(ASSERT, {"condition": test, "message": _message(lowering, node)})
        return
    trial = lowering.trial()
    try:
        message = _message(lowering, node)
        is_silent = not _does_something(lowering, trial)
    except UnsupportedError:
        is_silent = False
    if is_silent:
        lowering.emit(ASSERT, {"condition": test, "message": message})
        return
    trial.take_back()
    branch(lowering, test, lambda: None, lambda: _fail(lowering, node))


def _message(lowering: Lowering, node: Any) -> Any:
    if node.msg is None:
        return None
    return static_values.effect_argument(lowering, lowering.expression(node.msg))


def _does_something(lowering: Lowering, trial: Trial) -> bool:
    """Whether what was lowered since binds a name, changes memory, has an effect or may raise."""
    names, before = lowering.frame.names, trial.before.names
    is_bound = names.keys() != before.keys() or any(names[n] is not before[n] for n in names)
    made = trial.operations
    raises = any(
        may_raise(operation, (Exception,), made)
        for operation in made
        if operation.primitive is not FORMAT
    )
    return is_bound or raises or at_once.changes_something(lowering, trial)


def _fail(lowering: Lowering, node: Any) -> None:
    """`raise AssertionError(message)`."""
    message = lowering.expression(node.msg)
    opaque = Opaque(AssertionError)
    exception = unknown.emit(lowering, AssertionError, (message,), {}, opaque)
    _end_attempt(lowering, node, exception)
    _raise(lowering, exception, Static(None))
