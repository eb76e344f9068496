"""Calls in compiled code that become IR functions of their own, and their way back inline.

`outline` lowers a call f(*arguments) apart from the program around it; a transform makes what it
wants of that function, and `Inlined` appends it to the program, in one piece or in two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradscribe.api import outlined_stores
from gradscribe.api.outlined_stores import NOTHING, Stored
from gradscribe.compiler.stages import flat_tree, only_results
from gradscribe.frontend.boundary.results import result_tree
from gradscribe.frontend.interface import Argument
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.opaque import lent_containers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import inputs
from gradscribe.frontend.structures.instances import new_instance
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    ObjectRef,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Block, Function, Operation, Parameter, Value, walk
from gradscribe.ir.trees import Constant, Leaf, Node, Tree, count_leaves
from gradscribe.ir.types import is_differentiable
from gradscribe.primitives.control import ENTER, EXIT, RAISE
from gradscribe.primitives.raising import is_attempt
from gradscribe.transforms.analyses.def_use import DefUse
from gradscribe.transforms.passes.sink import is_ordered
from gradscribe.transforms.tangent.signature import unused


@dataclass(frozen=True, eq=False)
class Outlined:
    """A call f(*arguments) as an IR function of its own.

    function: its parameters are the arguments, then the outer values that f reads; it returns the
    leaves of the result, whose structure `tree` is, then what is new in what f stores outside of
    its arguments. operands: the outer values for all leaves of the parameters. spans: the leaves
    of each argument. stored: the memory outside, with what is new in it.
    """

    function: Function
    operands: tuple[Value, ...]
    spans: tuple[range, ...]
    tree: Tree
    stored: Stored

    @property
    def results(self) -> tuple[Value, ...]:
        """The leaves of the result."""
        return self.function.body.yields[: count_leaves(self.tree)]

    @property
    def always_raises(self) -> bool:
        """Whether the call never returns."""
        return any(operation.primitive is RAISE for operation in self.function.body.operations)

    def run(self, lowering: Lowering) -> None:
        """Append the call as it is."""
        body = self.function.body
        inlined = Inlined(zip(body.parameters, self.operands, strict=True))
        inlined.append(lowering, body.operations)

    @property
    def pure(self) -> Function:
        """The function, returning its result alone."""
        body = replace(self.function.body, yields=self.results)
        return replace(self.function, body=body, result=self.tree)

    def of(self, results: Sequence[int], *, storing: bool) -> Outlined:
        """The call, returning these leaves of the result. storing: and what is new outside."""
        count = len(self.results)
        new = range(count, len(self.function.body.yields)) if storing else ()
        stored = self.stored if storing else NOTHING
        function = only_results(self.function, (*results, *new))
        return replace(self, function=function, tree=flat_tree(len(results)), stored=stored)

    def store(self, lowering: Lowering, values: Sequence[Value]) -> None:
        """Let the program have stored what f stores outside. values: the leaves of what the
        function returns, in the program, at least."""
        start = len(self.results)
        stop = start + len(self.stored.values)
        self.stored.renew(lowering, values[start:stop])

    def active(self, argnums: Sequence[int]) -> tuple[int, ...]:
        """The differentiable leaves of these arguments."""
        leaves = self.function.body.parameters
        return tuple(
            i for number in argnums for i in self.spans[number] if is_differentiable(leaves[i].type)
        )


def outline(
    lowering: Lowering, node: Any, function: Any, arguments: Sequence[Any], keywords: dict[str, Any]
) -> Outlined:
    """Lower a call into a function of its own."""
    parameters: list[Parameter] = []
    operands: list[Value] = []
    spans: list[range] = []
    bound: list[FrontendValue] = []
    taken: set[str] = set()
    before, views = dict(lowering.contents), dict(lowering.views)
    for number, item in enumerate(arguments):
        if isinstance(item, ObjectRef):  # what is read of it is read from outside
            parameters.append(Parameter(unused(f"argument_{number}", taken), Constant(None), ()))
            spans.append(range(len(operands), len(operands)))
            bound.append(item)
            continue
        tree, leaves = result_tree(lowering, item)
        types = tuple(leaf.type for leaf in leaves)
        wanted = leaves[0].name if isinstance(tree, Leaf) else ""
        name = unused(wanted or f"argument_{number}", taken)
        parameter, inner = inputs.bind(lowering, Argument(name, tree, types))
        spans.append(range(len(operands), len(operands) + len(leaves)))
        parameters.append(parameter)
        operands += leaves
        bound.append(inner)
    given = [leaf for parameter in parameters for leaf in parameter.leaves]
    held = dict(lowering.contents)
    with lowering.builder.block(given) as operations:
        result = lowering.call(node, function, tuple(bound), keywords)
        tree, yields = result_tree(lowering, result)
        lent_containers.at_the_end(lowering)
    lowering.views = views
    for outer, inner in zip(arguments, bound, strict=True):
        if inner is not outer and outlined_stores.is_changed(lowering, inner, held):
            lowering.changes.handed.update(storages(lowering, outer))
    own = tuple(leaf for parameter in parameters for leaf in parameter.leaves)
    body = Block(own, tuple(operations), tuple(yields))
    stored = Stored.of(lowering, node, body, before)
    free = free_values(body)
    parameters += [Parameter(f"outer_{i}", Leaf(), (value,)) for i, value in enumerate(free)]
    whole = Block((*own, *free), tuple(operations), (*yields, *stored.values))
    out = Node(tuple, (tree, flat_tree(len(stored.values)))) if stored.values else tree
    outlined = Function("function", tuple(parameters), whole, out, lowering.builder.facts)
    return Outlined(outlined, (*operands, *free), tuple(spans), tree, stored)


def free_values(block: Block) -> list[Value]:
    """The values that a block reads and does not define, in the order of their first use."""
    defined = set(block.parameters)
    read: dict[Value, None] = {}
    for operation in walk(block):
        read.update(dict.fromkeys(operation.operands))
        defined.update(operation.results)
        for region in operation.regions:
            defined.update(region.parameters)
            read.update(dict.fromkeys(region.yields))
    read.update(dict.fromkeys(block.yields))
    return [value for value in read if value not in defined]


_MADE = "<gradscribe "
"""Files of code that is made here: a place in one tells users less than the operations' own."""


class Inlined:
    """Operations of a function as operations of the program, with values of their own.

    inputs: the values of the program for these of the function. A second piece of the function
    may be appended any number of times, each time from the first: see `after`.
    """

    def __init__(self, inputs: Iterable[tuple[Value, Value]]) -> None:
        self._mapping = dict(inputs)
        self._done: set[Operation] = set()

    def after(self, inputs: Iterable[tuple[Value, Value]]) -> Inlined:
        """What has been appended so far, for a piece that goes on from it with more inputs."""
        found = Inlined((self._mapping | dict(inputs)).items())
        found._done |= self._done
        return found

    def append(self, lowering: Lowering, operations: Sequence[Operation]) -> None:
        """What must run as often as the program says is not appended twice."""
        builder = lowering.builder
        start = len(builder.operations)
        for operation in operations:
            if not (is_ordered(operation) and self._is_done(operation)):
                builder.append(self._renewed(operation))
        assert builder.location is not None
        if builder.location.filename.startswith(_MADE):
            builder.operations[start:] = map(_as_primal, builder.operations[start:])
        else:
            builder.relocate(start, builder.location)

    def _is_done(self, operation: Operation) -> bool:
        """Whether an operation has been appended; or, of a branch or loop without results, all that
        it does has been, as a part of one with results that are no longer needed."""
        if operation.results and self._mapping.keys() >= {*operation.results}:
            return True
        inside = {o for region in operation.regions for o in walk(region) if is_ordered(o)}
        own = {o for o in inside if not o.regions} or {operation}
        is_done = not operation.results and own <= self._done
        self._done |= own
        return is_done

    def values(self, of: Iterable[Value]) -> list[Value]:
        return [self._mapping.get(value, value) for value in of]

    def _renewed(self, operation: Operation) -> Operation:
        operands = tuple(self.values(operation.operands))
        regions = tuple(map(self._renewed_block, operation.regions))
        results = self._own(operation.results)
        return replace(operation, operands=operands, regions=regions, results=results)

    def _renewed_block(self, block: Block) -> Block:
        parameters = self._own(block.parameters)
        operations = tuple(map(self._renewed, block.operations))
        return Block(parameters, operations, tuple(self.values(block.yields)))

    def _own(self, values: Sequence[Value]) -> tuple[Value, ...]:
        own = tuple(replace(value) for value in values)
        self._mapping.update(zip(values, own, strict=True))
        return own


def _as_primal(operation: Operation) -> Operation:
    """An operation that the program itself has: of a derivative, it is none of the program's."""
    regions = tuple(
        replace(region, operations=tuple(map(_as_primal, region.operations)))
        for region in operation.regions
    )
    place = operation.location and replace(operation.location, role="primal")
    return replace(operation, regions=regions, location=place)


def divided(
    function: Function, inputs: Iterable[Value]
) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
    """The operations that these values do not reach, and those that they do. An array that the
    second ones store to is theirs from the start, unless a result that they do not reach is made
    of it."""
    structure = DefUse(function)
    operations = function.body.operations
    reached = set(inputs)
    for operation in operations:
        if not reached.isdisjoint((*operation.operands, *_read_within(operation))):
            reached.update(operation.results)
    apart = _makers(operations, [y for y in function.body.yields if y not in reached])
    stored: set[Value] = set()
    rest: dict[Operation, None] = {}
    count = -1
    while count < len(rest):
        count = len(rest)
        for operation in operations:
            own = {structure.chain(r) for r in operation.results if structure.is_stored(r)}
            read = (*operation.operands, *_read_within(operation))
            is_owned = operation not in apart and not stored.isdisjoint(own)
            if operation in rest or is_owned or not reached.isdisjoint(read):
                rest[operation] = None
                reached.update(operation.results)
                stored |= own
                stored |= {c for c in structure.stored if structure.stores_to(operation, c)}
    before = {o: None for o in operations if o not in rest}
    for around, inside in _surroundings(operations):
        if not rest.keys().isdisjoint(inside):
            rest |= dict.fromkeys(around)
            if before.keys().isdisjoint(inside):
                before = {o: None for o in before if o not in around}
    return tuple(o for o in operations if o in before), tuple(o for o in operations if o in rest)


def _surroundings(
    operations: Sequence[Operation],
) -> Iterator[tuple[Sequence[Operation], Sequence[Operation]]]:
    """What operations are done under, with these: the beginnings and ends of blocks of managers,
    those within others first; the beginnings of what is tried."""
    opened: list[int] = []
    definition = {result: o for o in operations for result in o.results}
    for number, operation in enumerate(operations):
        if operation.primitive is ENTER:
            opened.append(number)
        elif operation.primitive is EXIT and opened:
            start = opened.pop()
            yield (operations[start], operation), operations[start + 1 : number]
        elif is_attempt(operation):
            yield (definition[operation.operands[0]],), (operation,)


def _makers(operations: Sequence[Operation], values: Iterable[Value]) -> set[Operation]:
    """The operations that these values are made by."""
    wanted = set(values)
    makers: set[Operation] = set()
    for operation in reversed(operations):
        if not wanted.isdisjoint(operation.results):
            makers.add(operation)
            wanted.update(operation.operands, _read_within(operation))
    return makers


def _read_within(operation: Operation) -> Iterator[Value]:
    for region in operation.regions:
        yield from region.yields
        for inner in walk(region):
            yield from inner.operands
            for block in inner.regions:
                yield from block.yields


@dataclass(frozen=True, eq=False)
class Resumed:
    """A function of the arguments of a call and of more inputs, in two pieces: what these inputs
    do not reach was appended to the program, the rest is, each time that they are given.

    first: the values of the program for those of the function so far. record: those values of the
    function that the rest reads.
    """

    function: Function
    first: Inlined
    rest: tuple[Operation, ...]
    record: tuple[Value, ...]

    @classmethod
    def of(
        cls,
        lowering: Lowering,
        function: Function,
        operands: Sequence[Value],
        made: Inlined | None = None,
    ) -> Resumed:
        """made: what was appended before of a function that this one was made of."""
        body = function.body
        inputs = body.parameters[len(operands) :]
        given = list(zip(body.parameters, operands, strict=False))
        first = Inlined(given) if made is None else made.after(given)
        before, rest = divided(function, inputs)
        first.append(lowering, before)
        record = tuple(free_values(Block(inputs, rest, body.yields)))
        return cls(function, first, rest, record)

    def results(
        self, lowering: Lowering, inputs: Sequence[Value], record: Sequence[Value] | None = None
    ) -> list[Value]:
        """record: the values of the program for the record, where it was kept since."""
        body = self.function.body
        parameters = body.parameters[len(body.parameters) - len(inputs) :]
        given = list(zip(parameters, inputs, strict=True))
        if record is None:
            second = self.first.after(given)
        else:
            second = Inlined((*zip(self.record, record, strict=True), *given))
        second.append(lowering, self.rest)
        return second.values(body.yields)


def inline(lowering: Lowering, function: Function, operands: Sequence[Value]) -> list[Value]:
    """Append a function's operations, its parameters replaced by these values; its results."""
    inlined = Inlined(zip(function.body.parameters, operands, strict=True))
    inlined.append(lowering, function.body.operations)
    return inlined.values(function.body.yields)


def structured(lowering: Lowering, tree: Tree, leaves: Any) -> Any:
    """The frontend value of this structure, of an iterator of IR values."""
    if isinstance(tree, Leaf):
        return lowering.wrap(next(leaves))
    if isinstance(tree, Constant):
        return Static(tree.value)
    assert isinstance(tree, Node)
    return arranged(lowering, tree, [structured(lowering, c, leaves) for c in tree.children])


def arranged(lowering: Lowering, tree: Node, children: Sequence[Any]) -> Any:
    """The container that a tree describes, of values for its children."""
    items = tuple(children)
    if tree.keys is not None and tree.cls is not dict and not issubclass(tree.cls, tuple):
        return new_instance(lowering, tree.cls, dict(zip(tree.keys, items, strict=True)))
    if tree.cls is not list and tree.cls is not dict:
        return TupleOf(items, tree.cls)
    storage = Storage()
    if tree.cls is list:
        lowering.contents[storage] = items
        return ListRef(storage)
    lowering.contents[storage] = dict(zip(tree.keys or (), items, strict=True))
    return DictRef(storage)
