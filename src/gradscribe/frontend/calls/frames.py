"""Frames: running the body of a function that is called, in names of its own.

A called function is inlined: its body is lowered into the block that is being built. One that
turns out to call itself is taken back and called instead (see `recursion`), unless it is given
another structure each time, as it is where it walks a tree whose structure is known.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from gradscribe.errors import IN_PART, CompiledCodeError, NoDerivativeError, UnsupportedError
from gradscribe.frontend.calls import generators, recursion
from gradscribe.frontend.joins.branches import branch
from gradscribe.frontend.kinds.tensors import is_tensor
from gradscribe.frontend.memory import kept_variables
from gradscribe.frontend.opaque import lifetimes
from gradscribe.frontend.state.dependencies import is_library
from gradscribe.frontend.state.frame import NOT_RETURNED, RAISED, RETURN_VALUE, Frame
from gradscribe.frontend.state.interruptions import FoundOnStackError, HasRaisedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static, Unbound
from gradscribe.ir.core import Location, Operation
from gradscribe.ir.probing import is_installed, probe
from gradscribe.primitives.control import RAISE

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_DEPTH = 100
"""How often a function that calls itself with other structures is inlined into itself."""


def run_frame(lowering: Lowering, node: Any, frame: Frame) -> FrontendValue:
    """Call the function of a new frame: inline it, or, if it is recursive, call it; its return
    value."""
    tree = frame.source.node
    if frame.source.is_generator:
        return generators.started(lowering, node, frame)
    if tree in lowering.recursion.nodes:
        return recursion.call(lowering, node, frame)
    _refuse_repetition(lowering, node, frame)
    names, operations = dict(frame.names), list(lowering.builder.operations)
    contents, views = dict(lowering.contents), dict(lowering.views)
    try:
        result = inline_frame(lowering, node, frame)
    except FoundOnStackError as found:
        if found.frame is not frame:
            raise
    else:
        if lowering.frames and not frame.source.whole:
            lifetimes.leave(lowering, *names.values(), result)
        return result
    lowering.builder.operations[:] = operations
    lowering.contents, lowering.views = {**lowering.outside.entered, **contents}, views
    again = replace(frame, names=names, end=(0, 0), loops=[], opened=None)
    if tree not in lowering.recursion.suspects:
        lowering.recursion.suspects.add(tree)
        return run_frame(lowering, node, again)
    lowering.recursion.nodes.add(tree)
    return recursion.call(lowering, node, again)


def _refuse_repetition(lowering: Lowering, node: Any, frame: Frame) -> None:
    """Raise `FoundOnStackError` if a function is called that is being lowered (for values of the
    same structure); refuse one that is given ever other structures. Functions of the prelude do
    not call themselves: one on the stack runs a function of the user that calls it again."""
    if frame.source.whole:
        return
    tree = frame.source.node
    around = (*lowering.nesting.below, *lowering.frames)
    same = [f for f in around if f.source.node is tree and not _is_another(f, frame)]
    if tree in lowering.recursion.suspects:
        frame.opened = recursion.opened_arguments(lowering, node, frame)
        if len(same) >= _DEPTH:
            recursion.refuse_other_types(lowering, node, frame)
        same = [f for f in same if f.opened is not None and f.opened.differs_in_lists(frame.opened)]
    for other in same:
        raise FoundOnStackError(other)


def _is_another(one: Frame, other: Frame) -> bool:
    """Whether two calls are of two functions from outside, made by one definition, which hold
    other objects: `gs.grad(lambda x: f(x))` in a function that is given its own result."""
    if one.outer is not None or other.outer is not None:
        return False
    cells = zip(one.function.__closure__ or (), other.function.__closure__ or (), strict=True)
    return any(probe(a, "cell_contents") is not probe(b, "cell_contents") for a, b in cells)


def inline_frame(lowering: Lowering, node: Any, frame: Frame) -> FrontendValue:
    """Lower the body of a function in a new frame; its return value."""
    location, block = lowering.builder.location, lowering.builder.operations
    start = len(block)
    if lowering.frames and location is not None and frame.source.filename.startswith(_PACKAGE):
        frame.called_at = lowering.location(node) if node else lowering.builder.location
    lowering.frames.append(frame)
    try:
        if not isinstance(frame.source.node.body, list):
            if location is None:
                lowering.builder.location = frame.source.location(frame.source.node.body)
            return _value_of_lambda(lowering, frame)
        frame.names[NOT_RETURNED] = Static(True)
        lowering.statements(frame.source.node.body)
        if len(lowering.frames) == 1:
            lifetimes.keep(lowering)
        kept_variables.leave(lowering, frame, block, start)
        if RAISED in frame.names and _is_unconditional(lowering):
            if frame.source.whole:
                _refuse_raising(lowering, node)
            _refuse_of_tensors(lowering, node, frame)
            raise HasRaisedError
        result = _returned(lowering, frame)
        lifetimes.hand_over(lowering, result)
        _show_calls(lowering, node, frame, start, location)
        return result
    except UnsupportedError as error:
        if len(lowering.frames) > 1 and _is_inside_library(lowering, error, frame):
            place = lowering.frames[-2].source.location(node) if node else location
            _show_call(lowering, place, frame, error)
        raise
    finally:
        lowering.frames.pop()
        lowering.builder.location = location


def _value_of_lambda(lowering: Lowering, frame: Frame) -> FrontendValue:
    if len(lowering.frames) > 1:
        result = lowering.expression(frame.source.node.body)
        lifetimes.hand_over(lowering, result)
        lifetimes.sweep(lowering)
        return result
    frame.depth = lowering.builder.depth
    try:
        return lowering.expression(frame.source.node.body)
    except HasRaisedError:
        return Static(None)


def _refuse_raising(lowering: Lowering, node: Any) -> None:
    """Say what a function of our own, which stands for an operation, raises where it is called."""
    made = _raised(lowering)
    if made is None or made.operands:
        return
    error = made.callee(*made.attributes["args"])
    if isinstance(error, NotImplementedError):
        lowering.unsupported(node, str(error), "write it with other functions")
    lowering.raises(node, error)


def _refuse_of_tensors(lowering: Lowering, node: Any, frame: Frame) -> None:
    """Refuse what a library, or a method of Tensors, always raises of a Tensor that a user gives
    it: of an array, which the function may be written for, it need not. A `try` may wait for it."""
    if node is None or len(lowering.frames) < 2 or lowering.exceptions.attempts:
        return
    caller = lowering.frames[-2]
    is_of_user = not (caller.is_of_package or _is_of_library(lowering, caller))
    is_called = is_of_user and (frame.is_of_package or _is_of_library(lowering, frame))
    if not is_called or not any(is_tensor(lowering, item) for item in frame.names.values()):
        return
    made = _raised(lowering)
    if made is not None and isinstance(made.callee, type) and issubclass(made.callee, Exception):
        text = "" if made.operands else str(made.callee(*made.attributes["args"]))
        said = ": ".join(filter(None, (made.callee.__name__, text)))
        frame.called_at = caller.source.location(node)
        lowering.unsupported(
            node,
            f"`{frame.source.name}` of a Tensor always raises {said}",
            "methods of Tensors are PyTorch's: for what NumPy does, use its functions (`np.clip`), "
            "or pass an array",
            python=made.callee,
        )


def _raised(lowering: Lowering) -> Operation | None:
    """What makes the exception that the last operation raises."""
    last = lowering.builder.operations[-1]
    if last.primitive is not RAISE or not last.operands:
        return None
    return lowering.builder.definition(last.operands[0])


def _is_unconditional(lowering: Lowering) -> bool:
    """Whether the call that is being lowered is made whenever control comes to its statement."""
    depths = [frame.depth for frame in lowering.frames[:-1] if frame.depth is not None]
    return depths[-1:] == [lowering.builder.depth]


def _is_inside_library(lowering: Lowering, error: UnsupportedError, frame: Frame) -> bool:
    """Whether an error is in the source of a function of a library."""
    location = error.location
    in_file = location is not None and location.filename == frame.source.filename
    return in_file and _is_of_library(lowering, frame)


def _is_of_library(lowering: Lowering, frame: Frame) -> bool:
    """Whether a function is Python's or NumPy's own, or of another installed package than the one
    that is differentiated."""
    if is_library(frame.function):
        return True
    first = (*lowering.nesting.below, *lowering.frames)[0]
    return is_installed(frame.source.filename) and _package(frame) != _package(first)


def _package(frame: Frame) -> str:
    return str(frame.function.__module__).partition(".")[0]


def _show_calls(
    lowering: Lowering, node: Any, frame: Frame, start: int, statement: Location | None
) -> None:
    """Give what a user calls of a library the place of the call, in this statement: what errors
    show of it, and comments."""
    if node is None or statement is None or len(lowering.frames) < 2:
        return
    caller = lowering.frames[-2]
    if _is_of_library(lowering, frame) and not _is_of_library(lowering, caller):
        place = caller.called_at or caller.source.location(node)
        lowering.builder.relocate(start, replace(place, statement=statement.statement))


def _show_call(
    lowering: Lowering, place: Location | None, frame: Frame, error: UnsupportedError
) -> None:
    """Let an error say that a library's function is not compiled, at the call of it."""
    caller = lowering.frames[-2]
    error.location = caller.called_at or place
    if _is_of_library(lowering, caller):
        return
    name = f"`{frame.source.name}`"
    if not is_library(frame.function):
        name = f"`{frame.function.__qualname__}` of {_package(frame)}"
    error.what = f"{name} cannot be compiled: {error.what}"
    error.advice = "write it with NumPy functions, or make a primitive of it, with a derivative"
    if not isinstance(error, (CompiledCodeError, NoDerivativeError)):
        error.way_out = IN_PART


def _returned(lowering: Lowering, frame: Frame) -> FrontendValue:
    flag = frame.names[NOT_RETURNED]
    if isinstance(flag, Static) and flag.value:
        return Static(None)
    if frame.source.returns_nothing:
        return Static(None)
    if not isinstance(flag, Static):
        branch(lowering, lowering.value(flag), lambda: _return_none(lowering), lambda: None)
    result = frame.names.get(RETURN_VALUE, Static(None))
    if isinstance(result, Unbound):
        lowering.unsupported(
            frame.source.node,
            f"`{frame.source.name}` does not return one type of value: {result.reason}",
            "return values of the same kind on every path",
        )
    return result


def _return_none(lowering: Lowering) -> None:
    """What a path does that comes to the end of the body."""
    lowering.frame.names[RETURN_VALUE] = Static(None)
