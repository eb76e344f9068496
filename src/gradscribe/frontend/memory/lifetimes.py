"""What unread code has made lives as long as the program has it: files are closed, and buffers may
be resized, when no name leads to it any more.

That is found out after each statement. In a loop, what was made before it lives to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.ir.core import IF, LOOP, Value
from gradscribe.ir.types import Opaque
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.lifetimes import let_go
from gradscribe.primitives.raising import makes_exception


@contextmanager
def holding(lowering: Lowering, *items: FrontendValue) -> Iterator[None]:
    """Within the block, a statement has these, under no name."""
    held = lowering.lasting.held
    count = len(held)
    held.extend(items)
    yield
    del held[count:]


def sweep(lowering: Lowering) -> None:
    """A statement is over: let go of what the program had, and has no more."""
    lasting, builder = lowering.lasting, lowering.builder
    if not lasting.is_made:
        return
    present = _present(lowering)
    for value, name in present.items():
        lasting.had.setdefault(value, len(lowering.frames))
        builder.rename(value, name)
    loop = lowering.loops.iterations[-1].operations if lowering.loops.iterations else None
    blocks = builder.blocks_since(loop)
    here = {result: o for block in blocks for o in block for result in o.results}
    ended = {o.operands[0] for o in here.values() if o.callee is let_go}
    for value, depth in [*lasting.had.items()]:
        if value in here and value not in ended | present.keys() and depth >= len(lowering.frames):
            bound = lowering.frame.names.get(value.name)
            args = (value, bound) if isinstance(bound, Value) and bound in present else (value,)
            lowering.emit(EFFECT, {"args": args, "keywords": {}, "type": Opaque()}, let_go)


def _present(lowering: Lowering) -> dict[Value, str]:
    """The objects that unread code has made and the program has, each with a name for it."""
    bound = [pair for frame in lowering.frames for pair in frame.names.items()]
    bound += [("held", item) for item in lowering.lasting.held]
    found: dict[Value, str] = {}
    for name, item in bound:
        for below in reached(lowering, item):
            if isinstance(below, Value) and _is_foreign(lowering, below):
                found.setdefault(below, name if _tells(name) else "held")
    return found


def _tells(name: str) -> bool:
    """Whether the text may have this name for what it leads to."""
    return name.isidentifier() and name not in ("self", "cls")


def _is_foreign(lowering: Lowering, value: Value) -> bool:
    """Whether unread code has made this, on some path."""
    if not isinstance(value.type, Opaque):
        return False
    made = lowering.builder.definition(value)
    if made is None or made.primitive not in (LOOP, IF):
        return made is not None and made.primitive is EFFECT and not makes_exception(made.callee)
    number = made.results.index(value)
    given = (region.yields[number] for region in made.regions if number < len(region.yields))
    return any(_is_foreign(lowering, each) for each in given)
