"""The mirror of operations whose derivative the user gave: their `backward` is run where a
cotangent has come to one of their results, as in eager mode, and not on zeros.

Whether one has may depend on the path that the run takes (see `Scope.presence`). Where it does,
the mirror is an `if`. What asks for gradients that are None gets None for each result of several
to which no cotangent has come.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import Block, Operation, Value
from gradscribe.ir.types import BOOL, NONE, Tuple
from gradscribe.primitives.control import ITEM, TUPLE, UNDEF
from gradscribe.transforms.adjoint.projection import zero
from gradscribe.transforms.adjoint.rules import Pulled, apply_rule
from gradscribe.transforms.adjoint.scopes import Scope
from gradscribe.transforms.derivatives.cotangents import constant, joined_type, name_of
from gradscribe.transforms.derivatives.templates import Templates

_MOST = 4
"""So many results may or may not have a cotangent; for each combination there is a backward."""


@dataclass(frozen=True)
class _Result:
    """A result and its cotangent (None: it has none). present: tells whether there is one."""

    cotangent: Value | None
    present: Value | None

    @property
    def is_certain(self) -> bool:
        return self.cotangent is None or self.present is None


def mirror_given(scope: Scope, operation: Operation, d_out: Value, templates: Templates) -> None:
    """Contribute to the cotangents of what such an operation is a function of."""
    results = _results(scope, operation, d_out)
    flags = [r.present for r in results if r.present is not None]
    if len(flags) > _MOST:
        name = operation.attributes["rules"].function.__name__
        raise UnsupportedError(
            f"which of more than {_MOST} results of `{name}` have no gradient, where it asks for "
            "that by `set_materialize_grads(False)`, depends on the path that is taken",
            "leave it out: gradients arrive as zeros",
            operation.location,
        )
    if not flags:
        apply_rule(scope, operation, _together(scope, results, results), templates)
        return
    cases = {}
    for there in itertools.product((True, False), repeat=len(flags)):
        remaining = iter(there)
        kept = [r if r.is_certain or next(remaining) else None for r in results]
        if any(r is not None and r.cotangent is not None for r in kept):
            given = _together(scope, results, kept)
            cases[there] = Pulled(scope, operation, given, templates)
    operands = dict.fromkeys(o for case in cases.values() for o in case.operands)
    zeros = {operand: zero(scope, operand) for operand in operands}
    for operand in operands:
        scope.primal(scope.shaped_like(operand))  # not only on the side that asks first
    found = _chosen(scope, flags, cases, zeros, ())
    for operand, (cotangent, present) in found.items():
        scope.context.masked.add(cotangent)
        with scope.context.handing_on(present):
            scope.contribute(operand, cotangent)


def _results(scope: Scope, operation: Operation, d_out: Value) -> list[_Result]:
    """What is asked of one by one: the results, or all of them where zeros stand for None."""
    whole = operation.result
    if not isinstance(whole.type, Tuple) or operation.attributes["rules"].materializes:
        return [_Result(d_out, scope.presence(whole))]
    found = [_Result(None, None)] * len(whole.type.items)
    for read in scope.block.operations:
        if read.primitive is ITEM and read.operands[0] is whole:
            cotangent = scope.cotangent(read.result)
            if cotangent is not None:
                position = read.attributes["position"]
                found[position] = _Result(cotangent, scope.presence(read.result))
    return found


def _together(
    scope: Scope,
    results: Sequence[_Result],
    kept: Sequence[_Result | None],
) -> Value:
    """The cotangent of all results, with None for those that have none, or are not kept."""
    if len(results) == 1:
        assert results[0].cotangent is not None
        return results[0].cotangent
    builder = scope.builder
    items = [
        builder.call(UNDEF, {"type": NONE})
        if result is None or result.cotangent is None
        else result.cotangent
        for result in kept
    ]
    return builder.call(TUPLE, {"items": tuple(items)})


def _chosen(
    scope: Scope,
    flags: Sequence[Value],
    cases: dict[tuple[bool, ...], Pulled],
    zeros: dict[Value, Value],
    there: tuple[bool, ...],
) -> dict[Value, tuple[Value, Value | None]]:
    """The cotangents of the operands in the case that the flags tell, after those that are known
    (`there`), each with what tells whether there is one."""
    if len(there) == len(flags):
        made = cases[there].cotangents() if there in cases else {}
        return {operand: (cotangent, None) for operand, cotangent in made.items()}
    builder, condition = scope.builder, flags[len(there)]
    blocks, sides = [], []
    for outcome in (True, False):
        with builder.block() as operations:
            sides.append(_chosen(scope, flags, cases, zeros, (*there, outcome)))
        blocks.append(operations)
    results: list[Value] = []
    yields: tuple[list[Value], list[Value]] = ([], [])
    found: dict[Value, tuple[Value, Value | None]] = {}
    for operand in dict.fromkeys((*sides[0], *sides[1])):
        given = [side.get(operand, (zeros[operand], None))[0] for side in sides]
        known = [side[operand][1] if operand in side else False for side in sides]
        result = Value(joined_type(operand, given), name_of(operand))
        merge_result(result, given, results, yields)
        present: Value | None = None
        if known == [None, False]:
            present = condition
        elif known != [None, None]:
            present = Value(BOOL)
            told = [k if isinstance(k, Value) else constant(builder, k is None) for k in known]
            merge_result(present, told, results, yields)
        found[operand] = result, present
    then, otherwise = (
        Block((), tuple(operations), tuple(given))
        for operations, given in zip(blocks, yields, strict=True)
    )
    builder.emit_if(condition, then, otherwise, results)
    return found


def merge_result(
    result: Value,
    given: Sequence[Value],
    results: list[Value],
    yields: tuple[list[Value], list[Value]],
) -> None:
    """Enter a result of a branch, and what each of its sides gives for it."""
    results.append(result)
    for side, value in zip(yields, given, strict=True):
        side.append(value)
