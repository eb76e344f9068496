"""Lowering of `with`: what a context manager means to the statements inside.

Most managers are kept in the emitted code: an ENTER before the statements, an EXIT after them.
Gradient modes are not: what is computed under `no_grad` passes no derivative on, and that is all
that they mean to compiled code.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.control import managed
from gradscribe.frontend.control.exceptions import suppressing
from gradscribe.frontend.kinds.static_values import object_of
from gradscribe.frontend.memory import outside_state
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state import wording
from gradscribe.frontend.state.frame import RAISED
from gradscribe.frontend.state.handlers import Handler, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.instances import Object, class_of, is_object
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.values.values import FrontendValue, Manager, Static, opaque_type
from gradscribe.ir.core import Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Array, Opaque, is_differentiable
from gradscribe.primitives.control import ENTER, EXIT, RESUMED

_NO_MANAGER = TypeError if sys.version_info >= (3, 11) else AttributeError
"""What Python raises for a `with` of what is no context manager."""


def with_statement(lowering: Lowering, node: Any) -> None:
    """`with manager as target, …:` and its block."""
    first, *others = node.items
    if others:
        inner, outer = gast.With(others, node.body), gast.With([first], [])
        outer.body.append(inner)
        for made in (inner, outer):
            lowering.frame.source.replace(node, gast.copy_location(made, node))
        node = outer
    lowering.statement.entering = first.context_expr
    item = lowering.expression(first.context_expr)
    manager = _manager(lowering, first.context_expr, item)
    if not isinstance(manager, Manager):
        managed.with_managed(lowering, node, manager)
        return

    def body(handed_out: FrontendValue) -> None:
        if first.optional_vars is not None:
            lowering.assign(first.optional_vars, handed_out)
        lowering.statements(node.body)

    _KINDS[manager.kind](lowering, node, manager, body)


def _manager(lowering: Lowering, node: Any, item: FrontendValue) -> Manager | Object | Value:
    """What is entered: a manager that means something here, or an object whose methods are
    called."""
    if isinstance(item, Manager):
        return item
    if not unknown.is_opaque(item) and not (
        is_object(item) and probe(class_of(item), "__enter__") is not None
    ):
        lowering.unsupported(
            node,
            "this value is no context manager",
            "use it around the call of the function",
            python=_NO_MANAGER,
        )
    return Manager("kept", (item,)) if managed.is_known(lowering, item) else item


Body = Callable[[FrontendValue], None]
"""Lowers what stands in the block, given what the manager hands out (`as`)."""


def _kept(lowering: Lowering, node: Any, manager: Manager, body: Body) -> None:
    arguments = tuple(argument_of(lowering, a) for a in manager.arguments)
    keywords = {k: argument_of(lowering, v) for k, v in manager.keywords.items()}
    tree = {"args": arguments, "keywords": keywords}
    is_file = _TEXT_FILE in map(opaque_type, manager.arguments)  # which hands out itself
    type_ = _TEXT_FILE if is_file else Opaque()
    handed_out = lowering.emit(ENTER, {**tree, "type": type_}, manager.callee)
    runs_code = any(managed.is_of_generator(lowering, item) for item in manager.arguments)
    if runs_code:
        outside_state.after_call(lowering, _ENTERING, handed_out, manager.arguments)
    outer = lowering.exceptions.warned
    lowering.exceptions.warned |= manager.callee is warnings.catch_warnings or (
        manager.callee is np.errstate and _is_strict(manager)
    )
    try:
        body(handed_out)
    finally:
        lowering.exceptions.warned = outer
        _leave(lowering, manager, tree)
        if runs_code and RAISED not in lowering.frame.names:
            outside_state.ask_again(lowering, _LEAVING)


_TEXT_FILE = Opaque(io.TextIOWrapper)
_ENTERING, _LEAVING = "entering this manager", "leaving this manager"


def _is_strict(manager: Manager) -> bool:
    """Whether it makes more of invalid values than warnings."""
    silent = (Static("ignore"), Static("warn"))
    return any(how not in silent for how in manager.keywords.values())


def _leave(lowering: Lowering, manager: Manager, tree: dict[str, Any]) -> None:
    if RAISED not in lowering.frame.names:
        resumed = tree if manager.callee in RESUMED else {"args": (), "keywords": {}}
        lowering.emit(EXIT, resumed, manager.callee)


def _null(lowering: Lowering, node: Any, manager: Manager, body: Body) -> None:
    body(manager.arguments[0])


def _mode(lowering: Lowering, node: Any, manager: Manager, body: Body) -> None:
    """A gradient mode: whether derivatives are cut in the block."""
    is_on = object_of(lowering, node, manager.arguments[0])
    outer, lowering.modes.cutting = lowering.modes.cutting, not is_on
    lowering.modes.exist = True
    before = dict(lowering.contents)
    try:
        body(Static(None))
    finally:
        changed = lowering.modes.cutting and not outer
        lowering.modes.cutting = outer
    for storage, contents in before.items() if changed else ():
        if _is_array(contents) and lowering.contents[storage] is not contents:
            lowering.unsupported(
                node,
                f"{wording.quoted(storage.name)} from outside is stored to under `no_grad`",
                "store to a copy that is made in the block, or outside of it",
            )


def _is_array(contents: object) -> bool:
    return (
        isinstance(contents, Value)
        and isinstance(contents.type, Array)
        and is_differentiable(contents.type)
    )


_KINDS: dict[str, Callable[[Lowering, Any, Manager, Body], None]] = {
    "kept": _kept,
    "null": _null,
    "mode": _mode,
    "suppress": suppressing,
}


# -- calls that make managers ------------------------------------------------------------------


def mode(enabled: bool | None = None, *, inverse: bool = False) -> Handler:
    """A call that makes a gradient mode (None: the one that is given; inverse: its opposite)."""

    def handler(lowering: Lowering, node: Any, /, *given: Any, **named: Any) -> Manager:
        asked = (*given, *named.values())
        if enabled is not None and not asked:
            return Manager("mode", (Static(enabled),))
        if inverse and not asked:
            return Manager("mode", (Static(False),))
        if enabled is None and len(asked) == 1 and isinstance(asked[0], Static):
            return Manager("mode", (Static(bool(asked[0].value) is not inverse),))
        return lowering.unsupported(
            node,
            "a gradient mode must be known when this is compiled",
            "use `no_grad()` or `enable_grad()` themselves, or pass `True` or `False`",
        )

    return handler


_given_mode = mode()


def set_mode(lowering: Lowering, node: Any, /, mode: FrontendValue) -> Manager:
    """A call that makes a gradient mode, which is on from now on, or in the block of a `with`."""
    manager = _given_mode(lowering, node, mode)
    assert isinstance(manager, Manager)
    if node is lowering.statement.entering:
        return manager
    if lowering.builder.is_nested:
        lowering.unsupported(
            node,
            "the gradient mode is set for the rest of a loop, branch or function",
            "set it for a block: `with gs.set_grad_enabled(…):`",
        )
    (enabled,) = manager.arguments
    lowering.modes.cutting = enabled == Static(False)
    lowering.modes.exist = True
    return manager


def refuse_changed_mode(lowering: Lowering) -> None:
    """Refuse a function that leaves another gradient mode than it found."""
    if lowering.modes.cutting:
        raise UnsupportedError(
            "the function leaves the gradient mode changed",
            "set it for a block: `with gs.set_grad_enabled(…):`",
            lowering.builder.location,
        )


@handles(np.errstate)
def _errstate(lowering: Lowering, node: Any, /, **how: FrontendValue) -> Manager:
    if how.get("call", Static(None)) != Static(None):
        lowering.unsupported(
            node,
            "`np.errstate(call=…)` calls a function wherever numbers are computed",
            'use `np.errstate(all="raise")`, and catch the `FloatingPointError`',
        )
    return Manager("kept", (), how, np.errstate)


@handles(warnings.catch_warnings)
def _catch_warnings(lowering: Lowering, node: Any, /, **how: FrontendValue) -> Manager:
    return Manager("kept", (), how, warnings.catch_warnings)


@handles(contextlib.nullcontext)
def _nullcontext(
    lowering: Lowering, node: Any, /, enter_result: FrontendValue = Static(None)
) -> Manager:
    return Manager("null", (enter_result,))
