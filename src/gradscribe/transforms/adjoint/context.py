"""What all parts of one reverse sweep know: the primal, its activity, and what was asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gradscribe.ir.core import Function, Operation, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array
from gradscribe.transforms.adjoint.exports import Exports
from gradscribe.transforms.analyses.activity import Activity
from gradscribe.transforms.analyses.def_use import DefUse


@dataclass
class Context:
    """What all scopes of one reverse sweep share.

    restored: the arrays (chains) whose stores are undone. recomputed: the values of nested blocks
    that are computed again in any case. wanted: the chains found to be read by the adjoint in a
    nested block, to be restored in the next sweep. kept: the values of nested blocks that were
    exported. swept: the operations whose mirror is already written. undoing: the versions of arrays
    that are made available now, by undoing a store. masked: the cotangents that a mask has cut off
    where a derivative may be infinite; unbounded: those that came through such a derivative, and
    may be infinite. meets_nan: whether the program asks for NaN, which then may be what a mask has
    cut off. undefined: the values that may be; absent: the flags that tell of them.
    asks_presence: whether anything depends on which cotangents there are at run time; present: the
    flag that tells whether there is the one that is handed on now (None: there is); uncertain: the
    values that loops carry of which an iteration may leave none; missing: those that were found to
    be.
    """

    function: Function
    structure: DefUse
    exports: Exports
    activity: Activity
    restored: frozenset[Value]
    recomputed: frozenset[Value] = frozenset()
    wanted: set[Value] = field(default_factory=set)
    kept: set[Value] = field(default_factory=set)
    versions: dict[Value, set[Value]] = field(default_factory=dict)
    swept: set[Operation] = field(default_factory=set)
    undoing: set[Value] = field(default_factory=set)
    masked: set[Value] = field(default_factory=set)
    unbounded: set[Value] = field(default_factory=set)
    meets_nan: bool = False
    undefined: frozenset[Value] = frozenset()
    absent: dict[Value, list[tuple[Value, bool]]] = field(default_factory=dict)

    asks_presence: bool = False
    present: Value | None = None
    uncertain: frozenset[Value] = frozenset()
    missing: set[Value] = field(default_factory=set)

    @contextmanager
    def handing_on(self, present: Value | None) -> Iterator[None]:
        """What is contributed comes of a cotangent of which this flag tells whether it is there."""
        self.present = present
        yield
        self.present = None

    @property
    def active(self) -> set[Value]:
        return self.activity.values

    @property
    def facts(self) -> Facts:
        return self.function.facts

    def want(self, value: Value) -> None:
        """Note that a version of an array is read where it is not available as it is."""
        if self.structure.is_stored(value):
            self.wanted.add(self.structure.chain(value))

    def is_parameter(self, value: Value) -> bool:
        return value in self.structure.parameters

    def is_restored(self, value: Value) -> bool:
        return isinstance(value.type, Array) and self.structure.chain(value) in self.restored
