"""How an iterator of a user's class says that it has no more items.

Who takes its items one by one asks `next_or_end`, for which `__next__` is lowered with a result in
the place of the exception, so that what the method has changed before it ended is kept:

    def __next__(self):                     def __next__(self):
        if self.left == 0:                      if self.left == 0:
            self.ended = True                       self.ended = True
            raise StopIteration        →            return END
        …                                       …

A StopIteration that comes from elsewhere, or from within a loop, a `try` or a `with` of the method,
is raised.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import replace
from typing import Any

import gast

from gradscribe.frontend.calls import inlining, local_classes
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import class_attributes
from gradscribe.frontend.syntax.source import Source
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.users_code import is_users


@handles(prelude.next_or_end)
def _next_or_end(lowering: Lowering, node: Any, /, iterator: FrontendValue) -> FrontendValue:
    following = class_attributes.method(lowering, iterator, "__next__")
    if following is not None and lowering.recording is None:
        function, given = following.function, (following.receiver,)
        method = local_classes.method_of(function)
        if method is not None and not _is_shadowed(method.function.frame):
            local = replace(method.function, node=_ending(method.function.node))
            return local_classes.call(lowering, node, replace(method, function=local), given, {})
        if _is_plain(function):
            source = inlining.source_in(lowering, node, function)
            source = Source.of(_ending(source.node), source.filename, source.lines)
            return inlining.inlined_as(lowering, node, function, source, given, {})
    return lowering.call(node, Static(next), (iterator,), {})


def _is_plain(function: Any) -> bool:
    """Whether a call of this runs the code that the user has written, in which `StopIteration` is
    Python's."""
    if not is_users(function) or vars(function) or function in PRIMITIVES:
        return False
    return not _is_assigned(function)


def _is_assigned(function: Any) -> bool:
    """Whether `StopIteration` is a name that a function, or its module, gives a value."""
    code = function.__code__
    own = (*code.co_freevars, *code.co_varnames, *code.co_cellvars, *function.__globals__)
    return _STOP in own


def _is_shadowed(frame: Frame) -> bool:
    """The same of the functions around a method of a class that a function defines."""
    is_own = _STOP in frame.source.local_names or _is_assigned(frame.function)
    return is_own or (frame.outer is not None and _is_shadowed(frame.outer))


_STOP = StopIteration.__name__


@functools.lru_cache(maxsize=256)
def _ending(tree: Any) -> Any:
    """The tree of `__next__` with END returned where it raises StopIteration."""
    ending = copy.deepcopy(tree)
    if isinstance(ending.body, list):
        _return_ends(ending.body)
    return ending


def _return_ends(block: list[Any]) -> None:
    for place, statement in enumerate(block):
        if isinstance(statement, gast.Raise) and _says_end(statement):
            block[place] = _returning_end(statement)
        if isinstance(statement, gast.If):
            _return_ends(statement.body)
            _return_ends(statement.orelse)
        if isinstance(statement, gast.Match):
            for case in statement.cases:
                _return_ends(case.body)


def _returning_end(statement: Any) -> Any:
    returned = gast.Return(gast.Constant(prelude.END, None))
    for made in (returned, returned.value):
        gast.copy_location(made, statement)
        made.end_lineno = statement.end_lineno
        made.end_col_offset = statement.end_col_offset
    return returned


def _says_end(statement: Any) -> bool:
    """Whether this is `raise StopIteration`, of nothing that is evaluated."""
    raised = statement.exc
    if isinstance(raised, gast.Call) and not raised.keywords:
        if not all(isinstance(argument, gast.Constant) for argument in raised.args):
            return False
        raised = raised.func
    return statement.cause is None and isinstance(raised, gast.Name) and raised.id == _STOP
