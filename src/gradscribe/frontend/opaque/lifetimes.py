"""What unread code has made lives as long as the program has it: files are closed, and buffers may
be resized, when no name leads to it any more.

That is found out after each statement. In a loop, what was made before it lives to its end; what
iterations hand on under a name that nothing reads is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradscribe.frontend.kinds.trees import reached
from gradscribe.frontend.opaque import foreign
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, ListRef
from gradscribe.ir.core import IF, LOOP, Value
from gradscribe.ir.flow import sources
from gradscribe.ir.types import Opaque, Sequence
from gradscribe.primitives.contract_kinds import UNKNOWN
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.lifetimes import ENDS, finish, let_go
from gradscribe.primitives.raising import makes_exception


@contextmanager
def holding(lowering: Lowering, *items: FrontendValue) -> Iterator[None]:
    """Within the block, a statement has these, under no name."""
    held = lowering.lasting.held
    count = len(held)
    held.extend(items)
    try:
        yield
    finally:
        del held[count:]


def sweep(lowering: Lowering) -> None:
    """A statement is over: let go of what the program had, and has no more."""
    _sweep(lowering, len(lowering.frames))


def leave(lowering: Lowering, *known: FrontendValue) -> None:
    """A function is over, and the statement of its caller goes on: let go of what was its own.
    known: its arguments and its result."""
    with holding(lowering, *known):
        _sweep(lowering, len(lowering.frames) + 1)


def _sweep(lowering: Lowering, least: int) -> None:
    """least: the number of functions in which the program had it."""
    lasting, builder = lowering.lasting, lowering.builder
    if not lasting.is_made:
        return
    present = {v: name for v, name in _present(lowering).items() if isinstance(v.type, Opaque)}
    new = present.keys() - lasting.had.keys()
    for value, name in present.items():
        lasting.had.setdefault(value, len(lowering.frames))
        builder.rename(value, name)
    loop = lowering.loops.iterations[-1].operations if lowering.loops.iterations else None
    blocks = builder.blocks_since(loop)
    here = {result: o for block in blocks for o in block for result in o.results}
    ended = {o.operands[0] for o in here.values() if o.callee in ENDS}
    for value, depth in [*lasting.had.items()]:
        if value in here and value not in ended | present.keys() and depth >= least:
            bound = lowering.frame.names.get(value.name)
            args = (value, bound) if isinstance(bound, Value) and bound in new else (value,)
            _let_go(lowering, *args)


def hand_over(lowering: Lowering, result: FrontendValue) -> None:
    """A function gives this to its caller, whose statement has it from now on."""
    had = lowering.lasting.had
    for value in reached(lowering, result) if had else ():
        if isinstance(value, Value) and value in had:
            had[value] = min(had[value], len(lowering.frames) - 1)


def keep(lowering: Lowering) -> None:
    """A function is at its end: what it has in lists, or from loops and branches, lived till then,
    whether or not anything reads it."""
    if lowering.lasting.is_made:
        for value in _present(lowering):
            made = lowering.builder.definition(value)
            if made is None or made.primitive is not EFFECT:
                _let_go(lowering, value)


def _let_go(lowering: Lowering, *args: Value) -> None:
    if _may_act(lowering, args[0]):
        foreign.call(lowering, lowering.frame.statement, finish, (args, {}), Opaque(), UNKNOWN)
    else:
        lowering.emit(EFFECT, {"args": args, "keywords": {}, "type": Opaque()}, let_go)


def _may_act(lowering: Lowering, value: Value) -> bool:
    """Whether an object may do something with what it was made of when it ends. (Classes written in
    C that do so for others have `__del__`; what is of an unknown class may be of such a one.)"""
    made = lowering.builder.definition(value)
    if made is not None and made.primitive in (LOOP, IF):
        return any(_may_act(lowering, each) for each in sources(made, value))
    cls = value.type.cls if isinstance(value.type, Opaque) else None
    return value in lowering.lasting.keepers and (cls is None or hasattr(cls, "__del__"))


def _present(lowering: Lowering) -> dict[Value, str]:
    """The objects that unread code has made and the program has, each with a name for it."""
    bound = [pair for frame in lowering.frames for pair in frame.names.items()]
    bound += [("held", item) for item in lowering.lasting.held]
    found: dict[Value, str] = {}
    for name, item in bound:
        for below in reached(lowering, item):
            value = lowering.contents[below.storage] if isinstance(below, ListRef) else below
            if isinstance(value, Value) and _is_foreign(lowering, value):
                found.setdefault(value, name if _tells(name) else "held")
    return found


def _tells(name: str) -> bool:
    """Whether the text may have this name for what it leads to."""
    return name.isidentifier() and name not in ("self", "cls")


def _is_foreign(lowering: Lowering, value: Value) -> bool:
    """Whether unread code has made this, on some path; or what is in this list."""
    if isinstance(value.type, Sequence):
        return isinstance(value.type.item, Opaque)
    if not isinstance(value.type, Opaque):
        return False
    made = lowering.builder.definition(value)
    if made is None or made.primitive not in (LOOP, IF):
        return made is not None and made.primitive is EFFECT and not makes_exception(made.callee)
    return any(_is_foreign(lowering, each) for each in sources(made, value))
