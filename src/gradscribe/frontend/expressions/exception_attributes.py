"""What is read of an exception that was caught: its `args`, or attributes.

At run time an exception is an object of which nothing is known: numbers in it would lose their
derivative. Those in `args` are found where the exception was made, all else is refused.
"""

from __future__ import annotations

import types
from typing import Any, NoReturn, TypeGuard

from gradscribe.frontend.kinds import varying
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static, TupleOf, scalar_type
from gradscribe.ir.core import Value, map_operands
from gradscribe.ir.known import all_known
from gradscribe.ir.types import Opaque
from gradscribe.primitives.contract_kinds import PURE
from gradscribe.primitives.raising import makes_exception


def is_exception(item: FrontendValue) -> TypeGuard[Value]:
    """Whether this is an exception that is made at run time."""
    cls = unknown.class_at_run_time(item)
    return cls is not None and issubclass(cls, BaseException)


def attribute(lowering: Lowering, node: Any, owner: Value, name: str) -> FrontendValue:
    """`owner.name` of an exception."""
    if name == "__traceback__":  # where it was raised, not what it carries
        given = (owner, Static(name))
        type_ = Opaque(types.TracebackType)
        return unknown.emit(lowering, getattr, given, {}, type_, contract=PURE)
    if name in _RAISING:
        lowering.unsupported(
            node,
            f"`{name}` is read of an exception: what it was raised by is not followed",
            "keep what you need of the first exception in a variable",
        )
    made = lowering.builder.definition(owner)
    if made is None or not makes_exception(made.callee):
        return _refuse(lowering, node, name)
    if not any(varying.may_vary(lowering, operand) for operand in made.operands):
        return unknown.attribute(lowering, owner, name)
    if name != "args" or isinstance(made.callee.__init__, types.FunctionType):
        return _refuse(lowering, node, name)
    given = map_operands(made.attributes["args"], lambda operand: made.operands[operand.index])
    items: list[FrontendValue] | None = all_known(map(_item, given))
    return _refuse(lowering, node, name) if items is None else TupleOf(tuple(items))


_RAISING = frozenset({"__cause__", "__context__", "__suppress_context__", "__notes__"})
"""What an exception is told where it is raised, and where it is handled."""


def _item(argument: Any) -> Static | Value | None:
    """A number or constant that an exception is given; None for what can be changed later."""
    if isinstance(argument, (str, bytes, int, float, complex)):
        return Static(argument)
    return None if scalar_type(argument) is None else argument


def _refuse(lowering: Lowering, node: Any, name: str) -> NoReturn:
    lowering.unsupported(
        node,
        f"`{name}` is read of an exception, which may carry what is differentiated",
        "assign that to a variable before the exception is raised",
    )
