"""Memory of arrays and containers from outside that other objects from outside show, too.

A function stores to an array that it finds outside, and gives an object from outside to code that
cannot be read: a pointer to that array, a table that was made of it. What it stores is written to
the array at the end; that code would read what was there before. Or it reads the array, and that
code writes to it. Both are refused. Comes in: the objects that such code is given, and whether it
may write to them. What they lead to is known by addresses, and as far as Python's garbage
collector can see; what points to memory of which nothing is known may point to any.
"""

from __future__ import annotations

from gradscribe.frontend.memory import outside
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Storage
from gradscribe.ir.core import Value
from gradscribe.ir.shown import Memory


def refuse_shown(lowering: Lowering) -> None:
    """Refuse what shows an array or container that is changed, or may change one that is read."""
    found = lowering.outside
    if not found.shown:
        return
    read = found.memory | {storage: ref.target for storage, ref in found.containers.items()}
    changed = [held for storage, held in read.items() if _is_changed(lowering, storage)]
    memory, all_memory = Memory(changed), Memory(read.values())
    for number, (target, name, _) in found.shown.items():
        is_written = number in found.written
        if memory.is_shown_by(target) or (is_written and all_memory.is_shown_by(target)):
            outside.refuse_changed(lowering, name)


def _is_changed(lowering: Lowering, storage: Storage) -> bool:
    """Whether the function changes it; a call that may have done so has been checked."""
    before = lowering.outside.entered[storage]
    is_other = lowering.contents.get(storage, before) is not before
    return storage in lowering.changes.stored or (is_other and not isinstance(before, Value))
