"""Which derivatives would have to pass through what the compiler does not look into.

Comes in: a function and its active leaves. Refused is a call of an opaque function that depends on
an active argument, and whose result, or what it may have written, is read by a differentiable
result, be it by way of opaque values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradscribe.errors import NoDerivativeError
from gradscribe.frontend.refusals import Refused
from gradscribe.ir.core import Function, Method, Operand, Operation, Value, walk
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Opaque
from gradscribe.primitives.contracts import contract_of, contract_of_method
from gradscribe.primitives.control import EFFECT, RUN
from gradscribe.primitives.registry import UNKNOWN
from gradscribe.transforms.activity import (
    has_zero_derivative,
    pairs_of,
    passes_derivative,
    reachable,
)

_OPAQUE = frozenset({EFFECT, RUN})


def refuse_opaque(function: Function, active_leaves: frozenset[int]) -> None:
    """Raise `NoDerivativeError` where a derivative through an opaque call is asked for."""
    calls = [o for o in walk(function.body) if o.primitive in _OPAQUE]
    if not any(call.operands for call in calls):
        return
    uses, sources = _edges(function)
    leaves = [function.body.parameters[leaf] for leaf in active_leaves]
    varied = reachable(filter(passes_derivative, leaves), uses)
    useful = reachable(filter(_may_be_number, function.body.yields), sources)
    for call in calls:
        if call.result in useful and not varied.isdisjoint(call.operands):
            _refuse(call)


def reached_results(function: Function, leaves: Iterable[int]) -> frozenset[int]:
    """The leaves of the result that depend on these of the arguments, be it through opaque
    calls."""
    uses, _ = _edges(function)
    active = [function.body.parameters[leaf] for leaf in leaves]
    varied = reachable(filter(passes_derivative, active), uses)
    return frozenset(
        i
        for i, value in enumerate(function.body.yields)
        if value in varied and passes_derivative(value)
    )


def _edges(function: Function) -> tuple[dict[Value, list[Value]], dict[Value, list[Value]]]:
    """What depends on each value, and what each depends on."""
    uses: dict[Value, list[Value]] = {}
    sources: dict[Value, list[Value]] = {}
    for operation in walk(function.body):
        for source, result in _pairs(operation):
            if _carries(source) and _carries(result):
                uses.setdefault(source, []).append(result)
                sources.setdefault(result, []).append(source)
    return uses, sources


def check_known(operation: Operation, partial: Any) -> None:
    """Refuse to differentiate by an operand by which no derivative is known."""
    if partial is UNKNOWN:
        raise NoDerivativeError(
            f"the derivative of `{operation.primitive.name}` by this argument is not known",
            "differentiate by other arguments only, or give the call a rule for this one by "
            "`gs.primitive`",
            operation.location,
        )


def _pairs(operation: Operation) -> list[tuple[Value, Value]]:
    if operation.primitive in _OPAQUE:
        objects = [v for v in operation.operands if isinstance(v.type, Opaque)]
        changed = objects if _may_write(operation) else []
        return [(v, to) for v in operation.operands for to in (operation.result, *changed)]
    if not operation.regions and has_zero_derivative(operation.primitive):
        return []
    return list(pairs_of(operation))


def _may_write(operation: Operation) -> bool:
    """Whether a call may change the objects that it is given."""
    callee, given = operation.callee, operation.attributes["args"]
    if not isinstance(callee, Method):
        return not contract_of(callee, len(given), operation.attributes["keywords"]).is_pure
    owner = operation.operands[given[0].index].type if isinstance(given[0], Operand) else None
    cls = owner.cls if isinstance(owner, Opaque) else None
    return not contract_of_method(cls, callee.name).is_pure


def _may_be_number(value: Value) -> bool:
    """Whether a derivative of a result may be asked for; not of a text, say."""
    return value.type == Opaque() or passes_derivative(value)


def _carries(value: Value) -> bool:
    return isinstance(value.type, Opaque) or passes_derivative(value)


def _refuse(call: Operation) -> None:
    callee = call.callee
    name = callee.name if isinstance(callee, Method) else probe(callee, "__name__", str(callee))
    if isinstance(refusal := probe(callee, "refusal"), Refused):
        raise NoDerivativeError(refusal.what, refusal.advice, call.location)
    advice = "give it one, or declare what it does with its arguments: `gs.primitive`"
    if name in _LOCATED:
        advice = f"move the parameters out of the draw: `loc + scale * rng.{name}(size=…)`"
    elif name in _REARRANGING:
        advice = "draw indices: `x[rng.permutation(len(x))]`"
    raise NoDerivativeError(
        f"no derivative is known of `{name}` with respect to its arguments", advice, call.location
    )


_LOCATED = frozenset({"normal", "uniform", "laplace", "logistic", "gumbel"})
_REARRANGING = frozenset({"choice", "permutation", "permuted", "shuffle"})
