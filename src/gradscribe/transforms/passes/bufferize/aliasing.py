"""May-alias analysis: which values would share memory if stores ran in place.

Analysed is the function as it would be executed with every store, append, set and pop done on
the Python object itself, and with the copies decided on so far (`Copies`). Two buffers alias
if at some moment, while both values exist, they may be the same memory. This is a relation
between values, not sets of allocation sites: two carried arrays that a loop permutes
(`u, un = un, u`) never alias.

What comes from outside (parameters, constants, read-only views) aliases `WORLD`. A record
that a loop collects holds what earlier iterations have put there; its buffers exist, and are live,
while the loop runs.

The relation is found by forward passes over the function, repeated while the back edge of a
loop adds to it. During the passes, each write is reported to an `on_write` hook, which may add
to the copies: later operations of the same pass already see them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradscribe.ir.core import IF, LOOP, Block, Function, Operation, Value
from gradscribe.ir.flow import Loop
from gradscribe.ir.liveness import Liveness
from gradscribe.ir.probing import probe
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.functions import FUNCTION
from gradscribe.transforms.passes.bufferize.buffers import (
    IN_PLACE,
    ITEMS,
    WORLD,
    Buffer,
    Buffers,
    Flow,
    Path,
    alias,
    below_step,
    buffer_paths,
    flows_of,
    link,
    repeats,
)
from gradscribe.transforms.passes.bufferize.write_through import through


@dataclass
class Copies:
    """Where copies are to be made.

    results: values copied where they are made. operands: (operation, operand number) copied
    before the operation; True: with all that they contain, False: the array or list itself.
    """

    results: set[Value] = field(default_factory=set)
    operands: dict[tuple[Operation, int], bool] = field(default_factory=dict)

    def __or__(self, other: Copies) -> Copies:
        return Copies(self.results | other.results, self.operands | other.operands)


OnWrite = Callable[["Aliasing", Operation, int, Buffer, frozenset[Value]], None]
"""(aliasing, operation, operand number, buffer to be written, values live after that)"""


class Aliasing:
    """The relation, for a function with these copies.

    clean_inits: assume that what a loop carries first is a fresh copy. What must be copied
    even so must be copied inside the loop; all else is better copied before it.
    """

    def __init__(
        self,
        function: Function,
        liveness: Liveness,
        copies: Copies,
        on_write: OnWrite | None = None,
        *,
        clean_inits: bool = False,
    ) -> None:
        self.copies = copies
        self.kept = copies
        self.liveness = liveness
        self.live: dict[Operation, frozenset[Value]] = {}
        self.first_pass = True
        self.abandoned = False
        self.chains, self._lists = through(function, liveness)
        self._on_write = on_write
        self._clean_inits = clean_inits
        self._buffers: dict[Value, dict[Path, Buffer]] = {}
        self._count = 0
        self._changed = False
        self._records: frozenset[Value] = frozenset()
        self._written: list[set[Buffer]] = [set()]
        self._marks: dict[Operation, int] = {}
        for parameter in function.body.parameters:
            for buffer in self.buffers(parameter).values():
                link(buffer, WORLD)
        self._run(function.body)

    def buffers(self, value: Value) -> dict[Path, Buffer]:
        """The buffers of a value by path (made, and numbered, when first asked for)."""
        found = self._buffers.get(value)
        if found is None:
            paths = buffer_paths(value.type)
            numbers = range(self._count, self._count + len(paths))
            self._count += len(paths)
            found = {path: Buffer(value, path, n) for path, n in zip(paths, numbers, strict=True)}
            self._buffers[value] = found
        return found

    def conflicts(self, buffer: Buffer, live: frozenset[Value]) -> list[Buffer]:
        """Whatever forbids writing to a buffer when these values are read afterwards."""
        found = [other for other in buffer.aliases if other is WORLD or other.value in live]
        if buffer.value in live:
            found.append(buffer)
        return found

    def decide(self, decision: Copies, *, final: bool) -> None:
        """Add to the copies. final: the relation found so far is void; it is abandoned, and of
        all that was decided during it, this decision alone is in `kept`."""
        self.copies |= decision
        if final:
            self.abandoned = True
            self.kept |= decision

    def _run(self, body: Block) -> None:
        while not self.abandoned:
            self._changed = False
            self._block(body)
            if not self._changed:
                break
            self.first_pass = False

    def _block(self, block: Block) -> None:
        for operation in block.operations:
            if self.abandoned:
                return
            self.live[operation] = self.liveness.live_after(operation) | self._records
            if operation.primitive is LOOP:
                self._loop(operation)
            elif operation.primitive is IF:
                self._if(operation)
            else:
                self._plain(operation)

    def _plain(self, operation: Operation) -> None:
        if operation.primitive in IN_PLACE:
            self._write(operation)
        elif operation.primitive is FUNCTION or (
            operation.primitive is EFFECT and _keeps_arguments(operation.callee)
        ):
            for operand in operation.operands:
                for buffer in self.buffers(operand).values():
                    link(buffer, WORLD)
        targets = [s for result in operation.results for s in self.buffers(result).values()]
        if targets and operation.results[0] not in self.copies.results:
            flows = flows_of(self, operation)
            self._assign(flows, targets[0].order)

    def _write(self, operation: Operation) -> None:
        number = operation.attributes["x"].index
        buffer = self.buffers(operation.operands[number])[()]
        if (operation, number) not in self.copies.operands:
            live = self.live[operation].difference(operation.results)
            if not any(self.buffers(x)[ITEMS,].repeated for x in self._lists.get(operation, ())):
                live = live.difference(self._lists.get(operation, ()))
            self._report(operation, number, buffer, live)

    def _report(
        self, operation: Operation, number: int, buffer: Buffer, live: frozenset[Value]
    ) -> None:
        """Ask whether this write may be in place; if it stays so, remember it."""
        if self._on_write is not None and not self.abandoned:
            self._on_write(self, operation, number, buffer, live)
        if (operation, number) not in self.copies.operands:
            self._written[-1].add(buffer)

    def puts_back(self, operation: Operation) -> bool:
        """Whether this stores an item where it is already."""
        copied = {changed for changed, _ in self.copies.operands}
        chain = self.chains.get(operation, ())
        if not chain or chain[0].result in self.copies.results:
            return False
        return copied.isdisjoint(chain)

    def operand(self, operation: Operation, number: int) -> Buffers:
        """What an operand hands to an operation (less what is copied before it)."""
        buffers = self.buffers(operation.operands[number])
        deep = self.copies.operands.get((operation, number))
        if deep is None:
            return buffers
        return {} if deep else {path: s for path, s in buffers.items() if path != ()}

    def _if(self, operation: Operation) -> None:
        before = self._marks.setdefault(operation, self._count)
        for region in operation.regions:
            self._block(region)
        for region in operation.regions:
            self._assign(self._pairs(operation.results, region.yields), before)

    def _loop(self, operation: Operation) -> None:
        loop = Loop(operation)
        before = self._marks.setdefault(operation, self._count)
        for record in loop.collected:
            self.buffers(record)
        inits = self._inits(loop)
        for targets in loop.entered:
            handed = self._handed(targets, inits)
            self._assign([] if self._clean_inits else handed, before)
        self._items(loop)

        self._written.append(set())
        outer, self._records = (
            self._records,
            self._records.union(
                r for r in loop.collected if r in self.liveness.live_after(operation)
            ),
        )
        for region in reversed(operation.regions):
            self._block(region)
        self._records = outer
        written = self._written.pop()
        self._written[-1] |= written

        self._back_edge(loop, before)
        if self._clean_inits:
            self._write_inits(loop, self._mutated(loop, written))
        self._assign(self._handed(loop.results, self._inits(loop)), before)
        self._assign(self._carried_and_records(loop, loop.results), before)

    def _items(self, loop: Loop) -> None:
        """The items of the iterables: rows of an array, items of a list or record."""
        for kind, operands, item in loop.iterated:
            if kind != "range":
                step = () if kind == "array" else (ITEMS,)
                source = self.buffers(operands[0])
                for flow in below_step(self.buffers(item), source, step):
                    self._assign([flow], flow[0].order)

    def _inits(self, loop: Loop) -> list[Buffers]:
        first = len(loop.iterables)
        return [self.operand(loop.operation, first + i) for i in range(len(loop.initial))]

    def _back_edge(self, loop: Loop, before: int) -> None:
        """What an iteration hands to the next one."""
        for targets in loop.entered:
            flows = self._carried_and_records(loop, targets)
            self._changed |= self._assign(flows, before)

    def _carried_and_records(self, loop: Loop, targets: Sequence[Value]) -> list[Flow]:
        """Carried values after an iteration, and the records, which hold what they held before
        too."""
        flows = self._pairs(targets, loop.following)
        for value, record in loop.records:
            sources = self.buffers(value)
            for path, buffer in self.buffers(record).items():
                source = sources.get(path[1:])
                flows.append((buffer, [buffer] if source is None else [buffer, source]))
        return flows

    def _mutated(self, loop: Loop, written: set[Buffer]) -> set[Buffer]:
        """The buffers of carried parameters that some iteration writes to, through any name."""
        parameters = [s for value in loop.parameters for s in self.buffers(value).values()]
        mutated = {p for p in parameters if p in written or not written.isdisjoint(p.aliases)}
        handed = self._pairs(loop.parameters, loop.following)
        while True:
            sources = [source for target, (source,) in handed if target in mutated]
            grown = {p for p in parameters if any(alias(source, p) for source in sources)}
            if grown <= mutated:
                return mutated
            mutated |= grown

    def _write_inits(self, loop: Loop, mutated: set[Buffer]) -> None:
        """A loop writes to the initial values of what its body writes to."""
        operation, first = loop.operation, len(loop.iterables)
        for i, parameter in enumerate(loop.parameters):
            for path, buffer in self.operand(operation, first + i).items():
                if self.buffers(parameter).get(path) in mutated:
                    others = {
                        other
                        for j, other in enumerate(loop.initial)
                        if j != i and (operation, first + j) not in self.copies.operands
                    }
                    live = self.liveness.live_into(loop.body) | others | self._records
                    self._report(operation, first + i, buffer, live.difference(loop.parameters))

    def _pairs(self, targets: Sequence[Value], sources: Sequence[Value]) -> list[Flow]:
        return self._handed(targets, [self.buffers(source) for source in sources])

    def _handed(self, targets: Sequence[Value], sources: Sequence[Buffers]) -> list[Flow]:
        return [
            (buffer, [source[path]])
            for target, source in zip(targets, sources, strict=False)
            for path, buffer in self.buffers(target).items()
            if path in source
        ]

    def _assign(self, flows: Sequence[Flow], before: int) -> bool:
        """Hand buffers over, all at once: each target becomes an alias of its sources, of
        their aliases from before the operation, and of targets whose sources alias its own."""
        targets = {target for target, _ in flows}
        changed = False
        for target, sources in flows:
            for source in sources:
                if source is not target:
                    target.sources.add(source)
                for other in (source, *source.aliases):
                    if other.order < before and other not in targets:
                        changed |= link(target, other)
            if target.path[:1] == (ITEMS,) and not target.repeated:
                target.repeated = repeats(sources)
                changed |= target.repeated
        for i, (target, sources) in enumerate(flows):
            for other, others in flows[:i]:
                if other is not target and any(alias(s, o) for s in sources for o in others):
                    changed |= link(target, other)
        return changed


def _keeps_arguments(callee: Any) -> bool:
    """Whether a call may keep what it is given, and show it later."""
    module = (probe(callee, "__module__") or "").partition(".")[0]
    return module not in _FORGETFUL


_FORGETFUL = frozenset({"builtins", "logging", "numpy", "operator", "random", "time", "warnings"})
