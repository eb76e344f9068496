"""Rules that users give for operations of their own (`@gs.primitive`), where they are applied.

A rule is compiled into the derivative like any rule, if it can be; otherwise it is called as it
is, at run time, and what it gives cannot be differentiated again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.opaque.given_derivatives import GivenRule, conforming, is_due
from gradscribe.frontend.opaque.lowered_derivatives import (
    NOTHING,
    Lowered,
    leaves_of,
    nested,
    parts_of,
)
from gradscribe.frontend.prelude import isolated
from gradscribe.frontend.prelude import iteration_prelude as prelude
from gradscribe.frontend.state.handlers import ObjectsOf, handles
from gradscribe.frontend.state.interruptions import HasRaisedError, ReadsOutsideError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, PartialOf, Ref, Static, TupleOf
from gradscribe.ir.types import Scalar, Tuple
from gradscribe.primitives.contract_kinds import Refused
from gradscribe.primitives.control import RUN

RESULT = "its result"


@dataclass(eq=False)
class OwnRules:
    """What is known of an operation of the user's."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    rules: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def rule(self, kind: str) -> GivenRule:
        """The adjoint, or the tangent."""
        return GivenRule(self.name, kind, self.rules[kind], self.parameters)


@dataclass(frozen=True, eq=False)
class Adjoint:
    """Called as `(out, *parameters, d_out=…)`, for the cotangents of the parameters."""

    own: OwnRules
    __gradscribe_primitive__ = True


@dataclass(frozen=True, eq=False)
class Chosen:
    """An adjoint that is called as `Adjoint` is, for the cotangents at some places."""

    own: OwnRules
    paths: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Tangent:
    """Called as `(out, *parameters, d_…=…)`, for the tangent of out."""

    own: OwnRules
    __gradscribe_primitive__ = True


_ADVICE = "for second derivatives, make what it calls a primitive with a rule of its own"


class CalledRule:
    """A rule that is called as it is, at run time; it gives the derivatives that there are, one
    after the other. Called as the rule is. due: of an adjoint, for which parameters there are."""

    def __init__(self, rule: GivenRule, error: Exception, due: tuple[bool, ...]) -> None:
        self.rule, self.due = rule, due
        self.__name__ = f"{rule.operation}_{rule.kind}"
        self.__module__ = rule.function.__module__
        reason, advice = getattr(error, "what", "it always raises"), _ADVICE
        if isinstance(error, ReadsOutsideError):
            advice = error.advice
        if rule.kind == "adjoint":
            advice += f"; for forward mode, give `@{rule.operation}.tangent`"
        self.refusal = Refused(
            f"the {rule.kind} of `{rule.operation}` would have to be differentiated, and cannot be "
            f"compiled: {reason}",
            advice,
        )

    def __call__(self, out: Any, *operands: Any, **derivatives: Any) -> tuple[Any, ...]:
        rule = self.rule
        given, named = rule.arguments(out, operands)
        named |= derivatives
        found = isolated.apart(rule.function, tuple(given), named, rule.has_written)
        rule.check_returned(found is not None)
        if rule.kind == "tangent":
            return tuple(_leaves(conforming(rule, RESULT, found, out)))
        entries = _entries(found, operands)
        arranged = rule.arranged(
            entries, [item is None for item in entries], list(map(is_due, operands))
        )
        names = [f"`{name}`" for name in rule.names]
        made = [conforming(rule, *each) for each in zip(names, arranged, operands, strict=True)]
        return tuple(_leaves(tuple(itertools.compress(made, self.due))))


def _entries(found: Any, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """One for each parameter. (For a single one, a rule need not return a tuple.)"""
    if not isinstance(found, (tuple, list)):
        return (found,)
    if len(operands) != 1 or not isinstance(operands[0], (tuple, list)):
        return tuple(found)
    is_entry = len(found) == 1 and (found[0] is None or isinstance(found[0], (tuple, list)))
    return tuple(found) if is_entry else (found,)


@handles(ObjectsOf(Adjoint))
def _apply_adjoint(
    lowering: Lowering,
    node: Any,
    rule: Static,
    out: FrontendValue,
    /,
    *given: FrontendValue,
    **keywords: FrontendValue,
) -> FrontendValue:
    own: OwnRules = rule.value.own
    if "adjoint" not in own.rules:
        raise NoDerivativeError(
            f"`{own.name}` has no rule for its derivative",
            f"give it one by `@{own.name}.adjoint`",
            lowering.builder.location,
        )

    def check(rule: GivenRule, found: FrontendValue) -> FrontendValue:
        return Lowered(lowering, node, rule).cotangents(found, given)

    applied = _Applied(lowering, node, own.rule("adjoint"), (out, *given), keywords, check)
    return applied.result(TupleOf(given))


@dataclass(frozen=True, eq=False)
class _Applied:
    """A rule, applied: lowered if that is possible, otherwise called at run time. check: makes of
    what it gives what the operation wants."""

    lowering: Lowering
    node: Any
    rule: GivenRule
    arguments: tuple[FrontendValue, ...]
    keywords: dict[str, FrontendValue]
    check: Callable[[GivenRule, FrontendValue], FrontendValue]

    def result(self, like: FrontendValue) -> FrontendValue:
        """The derivatives, in the structure of what they belong to."""
        lowering = self.lowering
        trial = lowering.trial()
        try:
            function = Static(self.rule.function)
            out, *given = (_apart(lowering, item) for item in self.arguments)
            named = {name: _apart(lowering, item) for name, item in self.keywords.items()}
            arguments, keywords = self.rule.arguments(out, given)
            known = set(lowering.outside.dependencies)
            found = lowering.call(self.node, function, tuple(arguments), keywords | named)
            checked = self.check(self.rule, found)
            lowering.builder.facts.conditions += [
                one for key, one in lowering.outside.dependencies.items() if key not in known
            ]
            return checked
        except NoDerivativeError:
            raise
        except (UnsupportedError, HasRaisedError) as error:
            trial.take_back()
            return self._called(like, error)

    def _called(self, like: FrontendValue, error: Exception) -> FrontendValue:
        lowering = self.lowering
        types = tuple(lowering.value(leaf).type for leaf in leaves_of(lowering, like))
        due = tuple(any(leaves_of(lowering, item)) for item in parts_of(lowering, like) or ())
        callee = CalledRule(self.rule, error, due)
        made = unknown.emit(lowering, callee, self.arguments, self.keywords, Tuple(types), RUN)
        return nested(lowering, like, iter(lowering.unpacked(None, made)))


def _apart(lowering: Lowering, item: FrontendValue) -> FrontendValue:
    """The same value in a storage of its own: what a rule stores to it is seen by nobody else, as a
    rule may be applied more than once, in higher derivatives."""
    if isinstance(item, TupleOf):
        return TupleOf(tuple(_apart(lowering, part) for part in item.items))
    return lowering.wrap(lowering.value(item)) if isinstance(item, Ref) else item


@handles(ObjectsOf(Tangent))
def _apply_tangent(
    lowering: Lowering,
    node: Any,
    rule: Static,
    out: FrontendValue,
    /,
    *given: FrontendValue,
    **keywords: FrontendValue,
) -> FrontendValue:
    own: OwnRules = rule.value.own
    if "tangent" not in own.rules:
        return _transposed(lowering, node, own, (out, *given), keywords)

    def check(rule: GivenRule, found: FrontendValue) -> FrontendValue:
        return Lowered(lowering, node, rule).derivative(RESULT, found, out)

    rule_of_user = own.rule("tangent")
    return _Applied(lowering, node, rule_of_user, (out, *given), keywords, check).result(out)


def _transposed(
    lowering: Lowering,
    node: Any,
    own: OwnRules,
    call: tuple[FrontendValue, ...],
    tangents: dict[str, FrontendValue],
) -> FrontendValue:
    """The tangent that the adjoint implies, which is linear in the cotangent. call: the result and
    what was given."""
    out = call[0]
    if "adjoint" not in own.rules:
        raise NoDerivativeError(
            f"`{own.name}` has no rule for its derivative",
            f"give it one by `@{own.name}.adjoint` or `@{own.name}.tangent`",
            lowering.builder.location,
        )
    zero = zero_of(lowering, node, out)
    pull = PartialOf(Static(Adjoint(own)), call, {})
    found = lowering.call(node, pull, (), {"d_out": zero})
    paths = tuple(_paths(found))
    if not paths:
        return zero
    given = TupleOf(tuple(tangents.values()))
    along = TupleOf(tuple(_at(given, path) for path in paths))
    chosen = PartialOf(Static(Chosen(own, paths)), call, {})
    active = Static(tuple(range(len(paths))))
    transposed = (Static(lowering.package.vjp), chosen, zero, active, along)
    return lowering.inline(node, prelude.transposed, transposed)


@handles(ObjectsOf(Chosen))
def _apply_chosen(
    lowering: Lowering, node: Any, rule: Static, /, *given: FrontendValue, **keywords: FrontendValue
) -> TupleOf:
    adjoint = Static(Adjoint(rule.value.own))
    found = _apply_adjoint(lowering, node, adjoint, *given, **keywords)
    return TupleOf(tuple(_at(found, path) for path in rule.value.paths))


def _paths(found: FrontendValue, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Where in what an adjoint gives there are cotangents."""
    if isinstance(found, TupleOf):
        for position, item in enumerate(found.items):
            yield from _paths(item, (*path, position))
    elif found != NOTHING:
        yield path


def _at(item: FrontendValue, path: tuple[int, ...]) -> FrontendValue:
    """The part at a path through tuples."""
    for position in path:
        item = item.items[position] if isinstance(item, TupleOf) else NOTHING
    return item


def _leaves(value: Any) -> Iterator[Any]:
    """What stands in tuples within tuples, and is not None."""
    if isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def zero_of(lowering: Lowering, node: Any, out: FrontendValue) -> FrontendValue:
    """A zero of the type of a value, in the structure of tuples of them."""
    if isinstance(out, TupleOf):
        return TupleOf(tuple(zero_of(lowering, node, item) for item in out.items))
    type_ = lowering.value(out).type
    if not isinstance(type_, Scalar):
        zeros: FrontendValue = lowering.call(node, Static(np.zeros_like), (out,), {})
        return zeros
    zero = np.dtype(type_.dtype).type(0)
    return lowering.constant(zero.item() if type_.weak else zero)
