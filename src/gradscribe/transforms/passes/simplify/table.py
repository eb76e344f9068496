"""The table of rewrite rules, and the decorators that enter a rule for its primitives.

    @derived(operator.mul)
    def multiply_by_one(rewriter, operation): ...

Primitives are named by themselves, by a function or by the name of a method. What no family of
primitives defines is no error, its rules are never asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from gradscribe.ir.core import Operation, Primitive, Value
from gradscribe.primitives.registry import METHODS, PRIMITIVES

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter

Rule: TypeAlias = "Callable[[Rewriter, Operation], Value | None]"

ELEMENTWISE = object()
"""Stands for every elementwise primitive."""

_RULES: list[tuple[Any, bool, Rule]] = []


def exact(*primitives: Any) -> Callable[[Rule], Rule]:
    """A rule that keeps every bit: it applies to the user's own statements as well."""
    return _enter(primitives, False)


def derived(*primitives: Any) -> Callable[[Rule], Rule]:
    """A rule for derived operations alone (of adjoints and tangents)."""
    return _enter(primitives, True)


def _enter(primitives: tuple[Any, ...], derived_only: bool) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        _RULES.extend((primitive, derived_only, rule) for primitive in primitives)
        return rule

    return enter


def is_derived(operation: Operation) -> bool:
    """Whether the operation belongs to an adjoint or a tangent (where in doubt, not)."""
    return operation.location is not None and operation.location.role != "primal"


def rules_of(operation: Operation) -> tuple[Rule, ...]:
    """The rules that may be applied to an operation."""
    return _rules_of(operation.primitive, is_derived(operation))


@functools.cache
def _rules_of(primitive: Primitive, is_derived: bool) -> tuple[Rule, ...]:
    return tuple(
        rule
        for key, derived_only, rule in _RULES
        if (is_derived or not derived_only)
        and (
            key is primitive
            or (key is ELEMENTWISE and primitive.elementwise)
            or (isinstance(key, str) and METHODS.get(key) is primitive)
            or (callable(key) and PRIMITIVES.get(key) is primitive)
        )
    )
