"""Who handles which call.

A handler lowers the calls of one function of a library, of one method, or of the objects of one
class. It is entered by `@handles(...)`, and takes the lowering, the node, and what the call is
given, under the names that Python has for it:

    @handles(np.iinfo)
    def _limits(lowering: Lowering, node: Any, type: FrontendValue) -> Static: ...

What Python takes and the handler does not is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.probing import probe

Handler = Callable[..., FrontendValue]
_H = TypeVar("_H", bound=Handler)


@dataclass(frozen=True, slots=True)
class ObjectsOf:
    """The objects of a class, which are called: the object itself is given first."""

    cls: type


_HANDLERS: dict[Any, Handler] = {}


def enter(table: Mapping[Any, Handler]) -> None:
    """Enter handlers, by what they handle: functions, classes; methods (`list.append`;
    `Method(name)`: of any namedtuple); `ObjectsOf(cls)`; the text `"module:Class"`, for libraries
    that need not be there."""
    _HANDLERS.update(table)


def handles(*callees: Any) -> Callable[[_H], _H]:
    """The decorator that enters a handler of these."""

    def decorate(handler: _H) -> _H:
        enter(dict.fromkeys(callees, handler))
        return handler

    return decorate


def written_as(function: Callable[..., Any]) -> Handler:
    """The handler of a callee that means what a function of our own does, which is lowered."""

    def handler(lowering: Lowering, node: Any, /, *given: Any, **named: Any) -> FrontendValue:
        return lowering.inline(node, function, given, named)

    return handler


def handler_of(callee: Any) -> Handler | None:
    """Who handles a call of this function, class or method, if the frontend does it itself."""
    if isinstance(callee, type):
        module, name = callee.__module__, callee.__name__
        found = _HANDLERS.get(f"{module}:{name}")
        if found is not None and probe(sys.modules.get(module), name) is callee:
            return found
    return _HANDLERS.get(callee)


def handler_of_objects(cls: type) -> Handler | None:
    """Who handles the calls of the objects of a class."""
    return _HANDLERS.get(ObjectsOf(cls))


def entered() -> Mapping[Any, Handler]:
    """All handlers, by what they handle."""
    return _HANDLERS
