"""What unread code has made lives as long as a name has it: files are closed, and buffers may be
resized, when the last one is bound anew, is deleted, or goes with its function."""

from __future__ import annotations

from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static, TupleOf
from gradscribe.ir.core import IF, LOOP, Value
from gradscribe.ir.types import Opaque
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.lifetimes import let_go
from gradscribe.primitives.raising import makes_exception


def bind(lowering: Lowering, name: str, item: FrontendValue) -> None:
    """Bind a name of the function that is being lowered."""
    names = lowering.frame.names
    former = names.get(name)
    names[name] = item
    if former is not item:
        _end(lowering, former, item)


def unbind(lowering: Lowering, name: str) -> None:
    """`del name`."""
    _end(lowering, lowering.frame.names.pop(name, None))


def leave(lowering: Lowering, frame: Frame, result: FrontendValue) -> None:
    """A function that was inlined is left, with this result."""
    if len(lowering.frames) > 1:
        names, frame.names = frame.names, {"": result}
        _end(lowering, TupleOf(tuple(names.values())))
        frame.names = names


def _end(
    lowering: Lowering, former: FrontendValue | None, successor: FrontendValue | None = None
) -> None:
    """Let go of the objects that unread code has made for the program, and that no name leads to
    any more, but what was bound to one."""
    if former is None or isinstance(former, Static):
        return
    ended = [item for item in reached(lowering, former) if _is_foreign(lowering, item)]
    if not ended:
        return
    bound = (name for frame in lowering.frames for name in frame.names.values())
    held = {item for item in reached(lowering, *bound) if isinstance(item, Value)}
    for item in ended:
        if item not in held:
            args = (item, successor) if _is_foreign(lowering, successor) else (item,)
            lowering.emit(EFFECT, {"args": args, "keywords": {}, "type": Opaque()}, let_go)


def _is_foreign(lowering: Lowering, item: FrontendValue | None) -> bool:
    """Whether unread code has made this, on some path."""
    if not isinstance(item, Value) or not isinstance(item.type, Opaque):
        return False
    made = lowering.builder.definition(item)
    if made is None or made.primitive not in (LOOP, IF):
        return made is not None and made.primitive is EFFECT and not makes_exception(made.callee)
    number = made.results.index(item)
    given = (region.yields[number] for region in made.regions if number < len(region.yields))
    return any(_is_foreign(lowering, value) for value in given)
