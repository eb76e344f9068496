"""Structured SSA: values, operations, blocks and functions.

Everything here is immutable; transforms build new functions with a `Builder`. Values have
identity, are defined once, and are visible to the operations after their definition in the
same block and in the regions nested in those. There is no mutation in the IR: a store makes
a new value.

Three operations have regions:

`if`    operands (condition,); regions (then, else), blocks without parameters; each block
        yields as many values as the operation has results. A block that ends in an operation
        that raises yields values of type Never (made by `undef`).

`loop`  described by its `LoopShape` (attribute "shape"). Operands: those of each iterable in
        order (range: start, stop, step; array, sequence, collected: one each), then the
        initial values of the carried values. Body parameters: one item for each iterable,
        then the carried values. Body yields: the next carried values, then `again` (a bool)
        if the loop has exits, then one value for each record that it collects. Results: the
        final carried values, then the records (type Collected). A second region, the
        condition of a `while`, has the carried values as parameters and yields one bool; it
        is evaluated before each iteration. A loop ends when its first iterable is exhausted, when
        the condition is false, or after an iteration that yields `again` false. A reversed loop
        runs over its iterables backwards; iteration k consumes and collects element k whichever
        way it runs. Iterables of one loop are equally long, or, in a forward loop over the
        user's own iterables, end with the shortest as `zip` does.

`call`  calls another IR function (attribute "function", a `Callee`). Operands: one for each
        parameter of it. Results: one for each leaf of its result, then one for each record
        that it returns (type RecordOf).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from inspect import Parameter as Formal
from inspect import Signature
from typing import Any, Literal

from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import Tree
from gradscribe.ir.types import Collected, Sequence, Type


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """One SSA value. `name` is the user's name for it, where there is one ("" otherwise)."""

    type: Type
    name: str = ""

    def __repr__(self) -> str:
        return f"%{self.name or 'value'}: {self.type!r}"


@dataclass(frozen=True, slots=True)
class Operand:
    """Inside attributes: a reference to the operand with this number."""

    index: int


@dataclass(frozen=True, slots=True)
class SliceOf:
    """Inside attributes: a slice whose parts are None, an int or an `Operand`."""

    start: Any = None
    stop: Any = None
    step: Any = None


@dataclass(frozen=True, slots=True)
class Location:
    """The user's statement that an operation comes from, and what the operation is to it."""

    filename: str
    line: int
    column: int
    end_column: int
    statement: str
    role: Literal["primal", "adjoint", "tangent"] = "primal"


class Linearity(Enum):
    """Tangent rules that are the operation itself, applied to tangents."""

    LINEAR = "linear in all differentiable operands together"
    BILINEAR = "linear in each of its two operands"


@dataclass(frozen=True, eq=False, slots=True)
class Primitive:
    """An operation's definition; all that is known of it stands in its family's file.

    type_rule(facts, callee, **arguments) -> result type. arguments: the operation's
        attributes with the operands' types in place of the operands.
    signature: the parameters by which calls are bound; attributes have these names.
    adjoint: the rule `(out, *parameters, d_out) -> cotangents of the operands`, an ordinary
        Python function over arrays that the compiler inlines (for `elementwise`, the rule
        `(out, *operands) -> partial derivatives`); None: no derivative.
    tangent: likewise `(out, *parameters, **d_parameters) -> tangent`, or a `Linearity`.
    view: the result may share memory with the first operand.
    effect: runs exactly once, in order, and is never removed (print, raise, random draws).
    cheap: recomputing it costs no more than reading a record (views, lengths, comparisons).
    pole: its derivative can be infinite where a mask may have cut it off.
    masks: it is such a mask: the elements that it does not hand on get zero cotangents.
    callee: the function that stands for it where the user named none.
    static: parameters of its own (besides `axis` and the like) that are no data: literals given
        for them stay static.
    partial: of several results, the adjoint is given None for each that has no cotangent.
    lasting: where the program has it, it runs whether its result is read or not: it is checked
        there what it does.
    ordered: it may depend on how often, and in which order, it and operations with effects run: it
        may read what changes.
    """

    name: str
    type_rule: Callable[..., Type]
    signature: Signature | None = None
    adjoint: Callable[..., Any] | None = None
    tangent: Callable[..., Any] | Linearity | None = None
    elementwise: bool = False
    view: bool = False
    effect: bool = False
    cheap: bool = False
    pole: bool = False
    masks: bool = False
    callee: Any = None
    static: frozenset[str] = frozenset()
    partial: bool = False
    lasting: bool = False
    ordered: bool = False

    @property
    def in_order(self) -> bool:
        """Whether it keeps its place among others of the kind."""
        return self.effect or self.ordered

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def arguments(self, *operands: Any, **static: Any) -> dict[str, Any]:
        """The arguments of a call by the names of the parameters, in their order, defaults
        included; TypeError where they do not fit."""
        assert self.signature is not None
        defaults = _plain_parameters(self)
        if defaults is not None:  # else, and for the errors, Python's own binding, which is slow
            given = dict(zip(defaults, operands, strict=False))
            given.update(static)
            found = {name: given.get(name, default) for name, default in defaults.items()}
            is_fit = len(given) == len(operands) + len(static) and given.keys() <= found.keys()
            if is_fit and not any(item is Signature.empty for item in found.values()):
                return found
        bound = self.signature.bind(*operands, **static)
        bound.apply_defaults()
        return bound.arguments


@cache
def _plain_parameters(primitive: Primitive) -> Mapping[str, Any] | None:
    """The names of the parameters and their defaults; None if there are others than those for
    which arguments are given by position or by name."""
    assert primitive.signature is not None
    parameters = primitive.signature.parameters.values()
    if any(p.kind is not Formal.POSITIONAL_OR_KEYWORD for p in parameters):
        return None
    return {p.name: p.default for p in parameters}


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One operation. attributes are the arguments of the call by the primitive's parameter
    names: static trees with `Operand(i)` where an operand stands.

    callee: the function that the user called (np.tanh or math.tanh; operator.add for `+`), or
    a `Method`; None for operations that only the compiler makes.
    """

    primitive: Primitive
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Block, ...] = ()
    location: Location | None = None
    callee: Any = None

    @property
    def result(self) -> Value:
        """The only result."""
        (result,) = self.results
        return result


@dataclass(frozen=True, slots=True)
class Method:
    """A callee that the user spelled as a method or attribute of the first operand."""

    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    parameters: tuple[Value, ...]
    operations: tuple[Operation, ...]
    yields: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: its name, and its tree, whose leaves are block parameters.

    default: its default value in the emitted signature (`Signature.empty`: required).
    """

    name: str
    tree: Tree
    leaves: tuple[Value, ...]
    default: Any = Signature.empty
    keyword_only: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """body.parameters are the leaves of all parameters, in order; body.yields the leaves of
    the result, whose structure is `result`.

    record: how many of the last yields are the record that the adjoint reads. undefined: the
    parameter leaves (entries of a record) that may be undefined at run time.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Block
    result: Tree
    facts: Facts
    docstring: str | None = None
    record: int = 0
    undefined: frozenset[Value] = frozenset()


class Callee:
    """What an operation `call` calls: a function that is made when it is first asked for, for it
    may call itself.

    Its parameters have one leaf each, but for records. Its result is one leaf, or a tuple of
    leaves and, after those, records (the last `record` yields).

    effect: whether a call of it does more than return its results (None: as its body says).
    """

    def __init__(
        self, name: str, make: Callable[[], Function], *, effect: bool | None = None
    ) -> None:
        self.name = name
        self._make = make
        self._effect = effect
        self._derived: dict[str, dict[Hashable, tuple[Callee, ...]]] = {}

    def __repr__(self) -> str:
        return f"<callee {self.name}>"

    @cached_property
    def function(self) -> Function:
        return self._make()

    @cached_property
    def effect(self) -> bool:
        if self._effect is not None:
            return self._effect
        bodies = [self.function, *(callee.function for callee in callees(self.function))]
        return any(o.primitive.effect for function in bodies for o in walk(function.body))

    def derived(
        self, kind: str, key: Hashable, make: Callable[[str], tuple[Callee, ...]]
    ) -> tuple[Callee, ...]:
        """The functions of this kind (its adjoint, its tangent) that are derived from it for what
        a key stands for. make: makes them, given what the names of those end in."""
        known = self._derived.setdefault(kind, {})
        if key not in known:
            known[key] = make(str(len(known) + 1) if known else "")
        return known[key]


IterableKind = Literal["range", "array", "sequence", "collected"]


@dataclass(frozen=True, slots=True)
class LoopShape:
    """What the operands, parameters, yields and results of a loop mean, by position."""

    iterables: tuple[IterableKind, ...]
    carried: int
    collects: int = 0
    exits: bool = False
    condition: bool = False
    reversed: bool = False

    @property
    def iterable_operands(self) -> int:
        """How many operands the iterables take; the initial carried values follow."""
        return sum(3 if kind == "range" else 1 for kind in self.iterables)

    def iterable_slices(self) -> Iterator[slice]:
        """For each iterable, where its operands stand."""
        start = 0
        for kind in self.iterables:
            width = 3 if kind == "range" else 1
            yield slice(start, start + width)
            start += width


def _region_types(*_: Any, **__: Any) -> Type:
    raise AssertionError("operations with regions are built with their result types")


IF = Primitive("if", _region_types)
LOOP = Primitive("loop", _region_types)
CALL = Primitive("call", _region_types)


def substituted(block: Block, by: Mapping[Value, Value]) -> Block:
    """A block, with other values in the place of these."""
    operations = tuple(
        replace(
            operation,
            operands=tuple(by.get(operand, operand) for operand in operation.operands),
            regions=tuple(substituted(region, by) for region in operation.regions),
        )
        for operation in block.operations
    )
    return Block(block.parameters, operations, tuple(by.get(y, y) for y in block.yields))


def walk(block: Block) -> Iterator[Operation]:
    """All operations of a block and of the regions in it, in program order."""
    for operation in block.operations:
        yield operation
        for region in operation.regions:
            yield from walk(region)


def callees(function: Function) -> tuple[Callee, ...]:
    """All that a function calls, and what those call, in the order in which they are met."""
    found: dict[Callee, None] = {}
    pending = [function]
    while pending:
        for operation in walk(pending.pop().body):
            callee = operation.attributes.get("function")
            if operation.primitive is CALL and isinstance(callee, Callee) and callee not in found:
                found[callee] = None
                pending.append(callee.function)
    return tuple(found)


def item_type(value: Value) -> Type:
    """The type of the items of a list, or of the elements of a record."""
    assert isinstance(value.type, (Sequence, Collected))
    return value.type.item


def map_operands(attributes: Any, function: Callable[[Operand], Any]) -> Any:
    """A copy of an attribute tree in which each `Operand` is replaced by function's result."""
    if isinstance(attributes, Operand):
        return function(attributes)
    if isinstance(attributes, SliceOf):
        parts = (attributes.start, attributes.stop, attributes.step)
        return SliceOf(*(map_operands(part, function) for part in parts))
    if isinstance(attributes, (tuple, list)):
        return type(attributes)(map_operands(item, function) for item in attributes)
    if isinstance(attributes, dict):
        return {key: map_operands(item, function) for key, item in attributes.items()}
    return attributes
