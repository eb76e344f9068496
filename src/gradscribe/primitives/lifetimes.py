"""The end of what unread code has made, where the program lets go of it: a file is closed then, or
a buffer may be resized again."""

from __future__ import annotations

from typing import Any

from gradscribe.ir.core import Operation, Value
from gradscribe.primitives.contract_kinds import PURE


def let_go(value: Any, successor: Any = None) -> None:
    """Callee of the effect that ends the variable of a value. successor: what its name is bound to
    now. The text has `del`, or the successor in the same variable."""


let_go.__gradscribe_contract__ = PURE  # type: ignore[attr-defined]


def finish(value: Any, successor: Any = None) -> None:
    """The same for what may use, when it ends, what it was made of: a buffer is written to the file
    below it, a destructor is called."""


ENDS = (let_go, finish)


def successors(operation: Operation) -> list[Value]:
    """What the name of a value that ends is bound to now."""
    return [operation.operands[one.index] for one in operation.attributes["args"][1:]]


def read_at_end(operation: Operation) -> list[Value]:
    """The memory that may be used when a value ends."""
    return [operation.operands[one.index] for one in operation.attributes.get("reached", ())]
