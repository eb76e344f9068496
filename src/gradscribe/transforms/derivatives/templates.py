"""Derivative rules inlined on placeholders, and their copies in terms of a program's values.

What a rule comes out as depends on the types of its operands, but seldom on what is known of
their lengths beyond which of them are equal. It is inlined once, on arrays with lengths of no
program, and kept for all programs, unless it asked for more than that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Location, Operand, Operation, Value, map_operands
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Never, Scalar, Tuple, Type, map_lengths
from gradscribe.ir.types import Sequence as ListType
from gradscribe.primitives.control import ITEM, LIST, TUPLE
from gradscribe.transforms.building import derived
from gradscribe.transforms.derivatives.cotangents import constant
from gradscribe.transforms.derivatives.given_rules import is_given
from gradscribe.transforms.derivatives.inlined_rules import InlinedRule
from gradscribe.transforms.derivatives.inlining import Inline, inline_exactly


@dataclass(frozen=True)
class Template:
    """A rule, and what stands for the lengths in its types where it is used (None: they are those
    of the program)."""

    rule: InlinedRule
    lengths: Mapping[Symbol, Affine] | None = None


_SHARED: dict[Hashable, InlinedRule | None] = {}
"""Rules by primitive and types; None: one that depends on what is known of lengths."""


class Templates:
    """The rules of the operations of one function, inlined once for each. inline: what does it."""

    def __init__(self, inline: Inline) -> None:
        self.inline = inline
        self._found: dict[Hashable, Template] = {}

    def of(
        self,
        operation: Operation,
        numbers: Sequence[Any],
        d_out: Value,
        facts: Facts,
        zeros: frozenset[int],
    ) -> Template:
        """The rule of an operation, some of whose operands are known numbers (None: not known).
        zeros: the numbers of its results that have no cotangent, where the rule is told so."""
        key = (operation, d_out.type, zeros)
        if key not in self._found:
            self._found[key] = _template(self.inline, operation, numbers, d_out, facts, zeros)
        return self._found[key]


class _Abstract(Facts):
    """Knows nothing of lengths. undecided: whether it was asked for more than it can tell."""

    def __init__(self) -> None:
        super().__init__()
        self.undecided = False

    def equal(self, a: Affine, b: Affine) -> bool | None:
        answer = super().equal(a, b)
        self.undecided |= answer is None
        return answer

    def at_least(self, a: Affine, bound: int) -> bool | None:
        answer = super().at_least(a, bound)
        self.undecided |= answer is None
        return answer

    def sampled(self, a: Affine | None) -> int | None:
        self.undecided |= a is not None and a.known is None
        return super().sampled(a)


def _digits(number: Any) -> str:
    """The number as text, whatever its class calls itself: 0.0 is another one than -0.0."""
    for base in (int, float, complex):
        if isinstance(number, base):
            return base.__repr__(number)
    return repr(number)


def _template(
    inline: Inline,
    operation: Operation,
    numbers: Sequence[Any],
    d_out: Value,
    facts: Facts,
    zeros: frozenset[int],
) -> Template:
    primitive = operation.primitive
    assert primitive.adjoint is not None, f"`{primitive.name}` has no adjoint"
    own = [value.type for value in (operation.result, *operation.operands, d_out)]
    if is_given(primitive):  # made with an operation of the user's, and not kept longer
        return Template(_inlined(inline, operation, own, numbers, facts, zeros))
    lengths = _Lengths(facts)
    types = [lengths.abstract(type_) for type_ in own]
    known = tuple((type(number), _digits(number)) for number in numbers)
    arguments = tuple((name, repr(item)) for name, item in operation.attributes.items())
    key = (inline, primitive, arguments, known, zeros, *types)
    if key not in _SHARED:
        abstract = _Abstract()
        made = _inlined(inline, operation, types, numbers, abstract, zeros)
        _SHARED[key] = None if abstract.undecided else made
    shared = _SHARED[key]
    if shared is None:
        return Template(_inlined(inline, operation, own, numbers, facts, zeros))
    return Template(shared, lengths.actual)


class _Lengths:
    """Lengths of a program, and the abstract ones that stand for them: equal for equal ones.

    actual: the lengths of the program, by the symbol that stands for each.
    """

    def __init__(self, facts: Facts) -> None:
        self.actual: dict[Symbol, Affine] = {}
        self._facts = facts
        self._abstract: dict[Affine, Affine] = {}

    def abstract(self, type_: Type) -> Type:
        if isinstance(type_, Scalar):
            return type_ if type_.value is None else replace(type_, value=None)
        return map_lengths(type_, self._of)

    def _of(self, length: Affine) -> Affine:
        length = self._facts.normalize(length)
        if length.known is not None:
            return length
        if length not in self._abstract:
            symbol = _symbol(len(self._abstract), length.minimum)
            self.actual[symbol] = length
            self._abstract[length] = Affine.of(symbol)
        return self._abstract[length]


@cache
def _symbol(number: int, minimum: int | None) -> Symbol:
    """The length with this number in a template."""
    return Symbol(f"length_{number}", minimum)


def _inlined(
    inline: Inline,
    operation: Operation,
    types: Sequence[Type],
    numbers: Sequence[Any],
    facts: Facts,
    zeros: frozenset[int],
) -> InlinedRule:
    """types: of the result, the operands and the cotangent of the result."""
    primitive = operation.primitive
    assert primitive.adjoint is not None
    builder = Builder(facts)
    location = builder.location = derived(operation.location)
    out = Value(types[0], operation.result.name)
    d_placeholder = Value(types[-1], f"d_{out.name}" if out.name else "")
    primals = tuple(
        Value(type_, operand.name) if number is None else None
        for type_, operand, number in zip(types[1:-1], operation.operands, numbers, strict=True)
    )

    def argument(operand: Operand) -> Any:
        placeholder = primals[operand.index]
        return numbers[operand.index] if placeholder is None else placeholder

    arguments = {"out": out, **map_operands(dict(operation.attributes), argument)}
    if not primitive.elementwise:
        arguments["d_out"] = _given(builder, d_placeholder, zeros) if zeros else d_placeholder
    if is_given(primitive):
        given = inline(builder, primitive.adjoint, arguments, location)
    else:
        given = inline_exactly(inline, builder, primitive.adjoint, arguments, location)
    results = _by_operand(builder, operation, given)
    return InlinedRule(tuple(builder.operations), out, primals, d_placeholder, results)


def _given(builder: Builder, d_out: Value, zeros: frozenset[int]) -> tuple[Value | None, ...]:
    """The cotangents of several results; None for those that have none."""
    assert isinstance(d_out.type, Tuple)
    return tuple(
        None if i in zeros else builder.call(ITEM, {"x": d_out, "position": i})
        for i in range(len(d_out.type.items))
    )


def _by_operand(builder: Builder, operation: Operation, given: Any) -> tuple[Any, ...]:
    """What a rule returned (an entry for each parameter, or for the first alone), by operand."""
    results: list[Any] = [None] * len(operation.operands)
    parameters = list(operation.attributes.values())
    entries = list(given) if isinstance(given, (tuple, list)) else [given]
    for attribute, entry in zip(parameters, entries, strict=False):
        for operand, item in _matched(attribute, entry):
            of = operation.operands[operand.index].type
            results[operand.index] = as_one_value(builder, of, item)
    return tuple(results)


def as_one_value(builder: Builder, of: Type, given: Any) -> Any:
    """A derivative of a list or tuple, which a rule may have given item by item."""
    if not isinstance(given, tuple) or not isinstance(of, (ListType, Tuple)):
        return given
    types = of.items if isinstance(of, Tuple) else (of.item,) * len(given)
    items = [as_one_value(builder, t, item) for t, item in zip(types, given, strict=True)]
    values = tuple(i if isinstance(i, Value) else constant(builder, i) for i in items)
    if isinstance(of, Tuple):
        return builder.call(TUPLE, {"items": values})
    return builder.call(LIST, {"items": values, "item": Never()})


def _matched(attribute: Any, entry: Any) -> Iterator[tuple[Operand, Any]]:
    if isinstance(attribute, Operand):
        yield attribute, entry
    elif isinstance(attribute, (tuple, list)) and isinstance(entry, (tuple, list)):
        for part, item in zip(attribute, entry, strict=True):
            yield from _matched(part, item)
    else:
        assert entry is None or not _holds_operands(attribute), "a rule lost a derivative"


def _holds_operands(attribute: Any) -> bool:
    if isinstance(attribute, (tuple, list)):
        return any(map(_holds_operands, attribute))
    return isinstance(attribute, Operand)


class Renewal:
    """Copies of a template's operations, on mapped values, at one place in a program.

    mapping: what stands for each value; the results of copied operations are entered.
    """

    def __init__(
        self, template: Template, mapping: dict[Value, Value], location: Location, facts: Facts
    ) -> None:
        self._lengths = template.lengths
        self._facts = facts
        self._mapping = mapping
        self._location = location

    def operation(self, operation: Operation) -> Operation:
        return replace(
            operation,
            operands=tuple(self._mapping.get(value, value) for value in operation.operands),
            regions=tuple(map(self._block, operation.regions)),
            results=tuple(map(self._new, operation.results)),
            location=self._location,
        )

    def _block(self, block: Block) -> Block:
        parameters = tuple(map(self._new, block.parameters))
        operations = tuple(map(self.operation, block.operations))
        yields = tuple(self._mapping.get(value, value) for value in block.yields)
        return Block(parameters, operations, yields)

    def _new(self, value: Value) -> Value:
        type_ = map_lengths(value.type, self._actual) if self._lengths else value.type
        result = self._mapping[value] = Value(type_, value.name)
        return result

    def _actual(self, length: Affine) -> Affine:
        """A length of the template as one of the program."""
        if length.known is not None:
            return length
        actual = dict(self._lengths or {})
        for symbol in length.symbols():
            if symbol.formula is not None and symbol not in actual:
                parts = [None if p is None else self._actual(p) for p in symbol.formula.parts]
                actual[symbol] = self._facts.computed(symbol.formula.operation, *parts)
        return length.substitute(actual)
