"""Cut a function that is joined with its adjoint in two: forward and adjoint.

The *record* is what the adjoint part reads of the forward part. It is made small: constants are
written again, and what is cheap to compute from other entries (lengths, views, integers) is
computed again in the adjoint. Arguments are recorded as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradscribe.ir.core import CALL, Block, Function, Operand, Operation, Parameter, Value
from gradscribe.ir.trees import LEAF, Node, Tree
from gradscribe.ir.types import Array
from gradscribe.primitives.control import CONSTANT, UNDEF
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.transforms.adjoint.least_record import least_record
from gradscribe.transforms.analyses.costs import is_cheap
from gradscribe.transforms.analyses.definedness import possibly_undefined
from gradscribe.transforms.passes.records.iteration_counts import count_by_records
from gradscribe.transforms.passes.records.pack_records import pack_records
from gradscribe.transforms.passes.shape_sources import choose_shape_sources
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.passes.simplify.dce import eliminate_dead_code
from gradscribe.transforms.passes.simplify.rewriter import RECORD

if TYPE_CHECKING:
    from gradscribe.transforms.adjoint import Joined

_CONSTANTS = frozenset({CONSTANT, UNDEF})
_LENGTHS = frozenset({LENGTH, SIZE})


def simplify_joined(function: Function, seeds: Sequence[Parameter]) -> Function:
    """`simplify` for a function that contains both primal and adjoint."""
    leaves = [leaf for parameter in seeds for leaf in parameter.leaves]
    function = simplify(function, leaves)
    counted = count_by_records(function)
    return function if counted is function else eliminate_dead_code(counted)


def cut(joined: Joined, *, least: bool = False) -> tuple[Function, Function]:
    """The two halves of a joined function, simplified:

    forward   (arguments) -> (result, record)
    adjoint   (record, seeds) -> gradient

    A record of one entry is that entry, of several (or none) a tuple. least: of elementwise values
    keep as few as can be, and compute the others again (see `least_record`).
    """
    seeds = set(_leaves(joined.seeds))
    packed = pack_records(simplify_joined(joined.function, joined.seeds))
    both = choose_shape_sources(packed, seeds)
    first = [operation for operation in both.body.operations if not is_adjoint(operation)]
    second = [operation for operation in both.body.operations if is_adjoint(operation)]
    gradients = both.body.yields[len(joined.results) :]
    first, second = _move_lengths(first, second, gradients)
    undefined = possibly_undefined(both)
    needs = _Needs(both.body.parameters, first, undefined)
    read = _read_in(second, gradients) - seeds
    needs.read(read)
    if least:
        results = both.body.yields[: len(joined.results)]
        kept = least_record(first, both.body.parameters, results, read, needs.record())
        if kept is not None:
            needs.keep(read, kept)
    record = needs.record()
    values = (*both.body.yields[: len(joined.results)], *record)
    forward = _forward(joined, first, values, len(record))
    adjoint = _adjoint(joined, (*needs.recomputed(), *second), gradients, record)
    adjoint = replace(adjoint, undefined=frozenset(undefined.intersection(record)))
    return simplify(forward), simplify(adjoint)


def _forward(
    joined: Joined, operations: Iterable[Operation], values: tuple[Value, ...], count: int
) -> Function:
    """The function of the results and `count` values that are recorded."""
    return Function(
        f"{joined.name}_forward",
        joined.parameters,
        Block(_leaves(joined.parameters), tuple(operations), values),
        Node(tuple, (joined.result, _record_tree(count))),
        joined.facts,
        joined.docstring,
        record=count,
    )


def _adjoint(
    joined: Joined,
    operations: tuple[Operation, ...],
    gradients: tuple[Value, ...],
    record: tuple[Value, ...],
) -> Function:
    parameters = (Parameter(RECORD, _record_tree(len(record)), record), *joined.seeds)
    body = Block(_leaves(parameters), operations, gradients)
    return Function(f"{joined.name}_adjoint", parameters, body, joined.gradient, joined.facts)


def _record_tree(count: int) -> Tree:
    return LEAF if count == 1 else Node(tuple, (LEAF,) * count)


def _leaves(parameters: Iterable[Parameter]) -> tuple[Value, ...]:
    return tuple(leaf for parameter in parameters for leaf in parameter.leaves)


def _move_lengths(
    first: Sequence[Operation],
    second: Sequence[Operation],
    gradients: Sequence[Value],
) -> tuple[list[Operation], list[Operation]]:
    """Take the length of an array that the adjoint does not read otherwise in the forward part."""
    others = [operation for operation in second if operation.primitive not in _LENGTHS]
    made = {result for operation in first for result in operation.results}
    made -= _read_in(others, gradients)
    moved = [o for o in second if o.primitive in _LENGTHS and o.operands[0] in made]
    return [*first, *moved], [operation for operation in second if operation not in moved]


def is_adjoint(operation: Operation) -> bool:
    """Whether an operation of a joined function belongs to the reverse sweep."""
    return operation.location is not None and operation.location.role == "adjoint"


def _read_in(operations: Iterable[Operation], yields: Iterable[Value]) -> set[Value]:
    """What operations and yields read and do not define."""
    read = set(yields)
    defined: set[Value] = set()
    pending = list(operations)
    while pending:
        operation = pending.pop()
        read.update(operation.operands)
        defined.update(operation.results)
        for region in operation.regions:
            read.update(region.yields)
            defined.update(region.parameters)
            pending += region.operations
    return read - defined


class _Needs:
    """The values of the forward part that the adjoint reads, each recorded or recomputed."""

    def __init__(
        self, parameters: Sequence[Value], operations: Sequence[Operation], undefined: set[Value]
    ) -> None:
        self._parameters = parameters
        self._operations = operations
        self._undefined = undefined
        self._definition = {r: operation for operation in operations for r in operation.results}
        self._read: set[Value] = set()
        self._again: dict[Operation, Operation] = {}

    def read(self, values: Iterable[Value]) -> None:
        """The adjoint reads these values."""
        self._read.update(values)
        for operation in reversed(self._operations):
            if self._is_read(operation) and self._is_recomputed(operation):
                self._again[operation] = operation
                self._read.update(operation.operands)
        for operation in self._operations:
            if operation.primitive in _LENGTHS and operation.result in self.record():
                self._take_from_record(operation)

    def keep(self, read: Iterable[Value], values: frozenset[Value]) -> None:
        """The adjoint reads the first values: record the second, and do the rest again."""
        self._read, self._again = set(read), {}
        for operation in reversed(self._operations):
            if not values.issuperset(self._read.intersection(operation.results)):
                self._again[operation] = operation
                self._read.update(operation.operands)

    def _take_from_record(self, operation: Operation) -> None:
        """Have the adjoint ask a length of another recorded array that has it."""
        for value in self.record():
            if isinstance(value.type, Array) and value not in self._undefined:
                attributes = self._length_of(value.type, operation)
                if attributes is not None:
                    primitive = LENGTH if "axis" in attributes else SIZE
                    self._again[operation] = Operation(
                        primitive, (value,), operation.results, attributes, (), operation.location
                    )
                    return

    @staticmethod
    def _length_of(type_: Array, operation: Operation) -> dict[str, Any] | None:
        """How to ask an array for the length that an operation takes of another one."""
        given = operation.operands[0].type
        length = getattr(operation.result.type, "value", None)
        if length in type_.dims:
            return {"x": Operand(0), "axis": type_.dims.index(length)}
        same = operation.primitive is SIZE and isinstance(given, Array) and given.dims == type_.dims
        return {"x": Operand(0)} if same else None

    def record(self) -> tuple[Value, ...]:
        """The values to be recorded: arguments first, the others as they are computed."""
        made = [result for operation in self._operations for result in operation.results]
        again = {operation.result for operation in self._again}
        return tuple(v for v in (*self._parameters, *made) if v in self._read and v not in again)

    def recomputed(self) -> tuple[Operation, ...]:
        """The operations that the adjoint does again, as its own."""
        return tuple(
            replace(again, location=replace(again.location, role="adjoint"))
            if again.location is not None
            else again
            for operation in self._operations
            if (again := self._again.get(operation)) is not None
        )

    def _is_read(self, operation: Operation) -> bool:
        return not self._read.isdisjoint(operation.results)

    def _is_recomputed(self, operation: Operation) -> bool:
        if operation.primitive in _CONSTANTS:
            return True
        if operation.regions or operation.primitive is CALL or not is_cheap(operation):
            return False
        return all(map(self._is_at_hand, operation.operands))

    def _is_at_hand(self, value: Value) -> bool:
        definition = self._definition.get(value)
        is_constant = definition is not None and definition.primitive in _CONSTANTS
        return is_constant or value in self._read
