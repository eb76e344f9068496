"""Which derivatives would have to pass through what the compiler does not look into.

Comes in: a function and its active leaves. Refused is a call of an opaque function that an active
value enters, if a differentiable result, or one that is only known when the program runs, depends
on what may have come out of that call: by way of its result, of objects that it was given, of what
it may keep between calls (its hidden state: see `contracts`), or of opaque values made of these.
"""

from __future__ import annotations

import functools
import itertools
import operator
import types
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.ir.core import (
    CALL,
    LOOP,
    Block,
    Function,
    Method,
    Operation,
    Value,
    callees,
    walk,
)
from gradscribe.ir.flow import reachable
from gradscribe.ir.lengths import BroadcastError
from gradscribe.ir.mapped_memory import OF_CTYPES
from gradscribe.ir.probing import in_class, probe
from gradscribe.ir.types import Opaque, holds_opaque, is_unknown
from gradscribe.primitives.call_contracts import contract_of_call, is_function
from gradscribe.primitives.contract_kinds import (
    CODE,
    DOMAINS,
    FILES,
    HOLDS,
    MACHINE,
    RAISED,
    Contract,
    Refused,
)
from gradscribe.primitives.contracts import (
    is_immutable,
)
from gradscribe.primitives.control import CAUGHT, EFFECT, ENTER, RAISE, RENEW, REREAD, RUN, WRITTEN
from gradscribe.primitives.functions import FUNCTION
from gradscribe.primitives.registry import UNKNOWN
from gradscribe.primitives.typing import TypeRuleError
from gradscribe.transforms.analyses.activity import (
    has_zero_derivative,
    pairs_of,
    parameter_groups,
    passes_derivative,
    result_groups,
)
from gradscribe.transforms.analyses.call_flow import CallFlow, Graph, Site

_OPAQUE = frozenset({EFFECT, RUN, ENTER})
_HELD = "held"
_STATES = (*DOMAINS, _HELD)
"""The hidden states, and what known calls have changed of objects that unread code may have had
before: such code alone finds that elsewhere than in the object."""

_READING = frozenset({REREAD, WRITTEN})
"""What reads memory that a call may have written to, whatever the call returns."""


def refuse_opaque(function: Function, active_leaves: frozenset[int]) -> None:
    """Raise `NoDerivativeError` where a derivative through an opaque call is asked for."""
    bodies = [function.body, *(callee.function.body for callee in callees(function))]
    if not any(operation.primitive in _OPAQUE for body in bodies for operation in walk(body)):
        return
    refused = Dependences(function).refused(active_leaves)
    if refused:
        _refuse(next((call for call in refused if not _makes_object(call)), refused[0]))


def _makes_object(call: Operation) -> bool:
    """Whether a call makes what another one is given: a method, a partial, an iterator."""
    return call.callee in _MAKERS or (
        isinstance(call.callee, Method)
        and call.callee.name == "__call__"
        and call.operands[0].type == Opaque(types.FunctionType)
    )


_MAKERS: tuple[Any, ...] = (
    *(getattr, setattr, vars, functools.partial, operator.getitem, operator.setitem, list, set),
    *(map, filter, iter, zip, enumerate, reversed),
)


def reached_results(function: Function, leaves: Iterable[int]) -> frozenset[int]:
    """The leaves of the result that depend on these of the arguments, be it through opaque
    calls."""
    return _reached(function, leaves, passes_derivative)


def reached_unknown(function: Function, leaves: Iterable[int]) -> frozenset[int]:
    """Likewise, of the leaves whose type is only known when the program runs."""
    return _reached(function, leaves, lambda value: is_unknown(value.type))


def _reached(function: Function, leaves: Iterable[int], among: Any) -> frozenset[int]:
    varied = Dependences(function).varied(leaves)
    results = enumerate(function.body.yields)
    return frozenset(i for i, value in results if value in varied and among(value))


class Dependences:
    """What depends on what in a function, and in those that it calls."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._bodies: dict[Graph, _Body] = {}
        self._flow = CallFlow(function, self._graph_of)

    def _graph_of(self, function: Function) -> Graph:
        body = _Body(function)
        self._bodies[body.graph] = body
        return body.graph

    def varied(self, leaves: Iterable[int]) -> set[Hashable]:
        """What depends on these leaves of the arguments in the function itself."""
        return reachable(self._seeds(leaves), self._flow.outermost.uses)

    @cached_property
    def useful(self) -> set[Hashable]:
        """What numbers among its results depend on."""
        return reachable(self._results, self._flow.outermost.sources)

    def refused(self, leaves: Iterable[int]) -> list[Operation]:
        """The opaque calls through which a derivative by these leaves would have to pass."""
        seeds = self._seeds(leaves)
        found = self._bodies[self._flow.outermost].refused(seeds, self._results)
        for callee, ends in self._flow.ends(seeds, self._results).items():
            graph = self._flow.graphs[callee]
            found += self._bodies[graph].refused(graph.entered(ends), graph.left(ends))
        return found

    def _seeds(self, leaves: Iterable[int]) -> list[Value]:
        parameters = self._function.body.parameters
        return list(filter(passes_derivative, [parameters[leaf] for leaf in leaves]))

    @property
    def _results(self) -> list[Value]:
        return list(filter(may_be_number, self._function.body.yields))


class _Body:
    """What depends on what in one function.

    Beside the values, the hidden states are nodes: each call that may change one makes a new one of
    it. What comes after a call depends on that; in a loop, what comes before it does, too. Inputs
    are the parameters and the states before; outputs the results, the states after, and what may
    be changed of the arguments.
    calls: the opaque calls, each with what may depend on what it is given.
    """

    def __init__(self, function: Function) -> None:
        self.graph = Graph()
        self.calls: dict[Operation, list[Hashable]] = {}
        self._states: dict[str, object] = {domain: object() for domain in _STATES}
        self._managed: list[Value] = []
        self._kept, self._met = _objects_of_others(function)
        parameters = parameter_groups(function)
        self.graph.inputs = [*parameters, *_each(self._states.values())]
        self._enter(function.body)
        states = _each(self._states.values())
        self.graph.outputs = [*result_groups(function), *states, *parameters]

    def refused(self, seeds: Iterable[Hashable], results: Iterable[Hashable]) -> list[Operation]:
        """The calls that depend on a seed, and on whose outcome a result depends: those that are
        given numbers which do before those that are given objects."""
        varied = reachable(seeds, self.graph.uses)
        useful = reachable(results, self.graph.sources)
        found = [
            call
            for call, outcomes in self.calls.items()
            if not useful.isdisjoint(outcomes) and not varied.isdisjoint(call.operands)
        ]

        def is_given_objects(call: Operation) -> bool:
            return not any(v in varied and passes_derivative(v) for v in call.operands)

        return sorted(found, key=is_given_objects)

    def _enter(self, block: Block) -> None:
        for operation in block.operations:
            if operation.primitive in _OPAQUE:
                self._call(operation)
            elif operation.primitive is RENEW:
                self._depend(*reversed(operation.operands))
            elif operation.primitive is RAISE:
                self._change((RAISED,), operation.operands)
            elif operation.primitive is CAUGHT:
                self._depend(self._states[RAISED], operation.result)
            elif operation.primitive is FUNCTION:
                held = [v for v in operation.operands if _carries(v)]
                self._depend_all(held, [operation.result])
                self._depend_all([operation.result], _changeable(operation.operands))
            elif operation.regions or not has_zero_derivative(operation.primitive):
                self._compute(operation)
            if operation.primitive is LOOP:
                self._repeat(operation)
            else:
                for region in operation.regions:
                    self._enter(region)

    def _repeat(self, loop: Operation) -> None:
        start = self._change(_STATES, ())
        for region in loop.regions:
            self._enter(region)
        for domain, state in self._states.items():
            self._depend(state, start[domain])

    def _compute(self, operation: Operation) -> None:
        if operation.primitive is CALL:
            self._call_inside(operation)
            return
        for source, result in pairs_of(operation):
            carries = _carries(source) or operation.primitive in _READING
            if carries and _carries(result):
                self._depend(source, result)

    def _call_inside(self, call: Operation) -> None:
        """A call of a function of the program."""
        callee, before = call.attributes["function"], self._states
        self._states = {domain: object() for domain in before}
        states = self._states.values()
        changed = [operand if _changeable([operand]) else object() for operand in call.operands]
        inputs, outputs = (*call.operands, *before.values()), (*call.results, *states, *changed)
        self.graph.sites.append(Site(callee, inputs, outputs))
        if callee.effect:
            self._depend_all([self._states[FILES]], self._managed)

    def _call(self, call: Operation) -> None:
        contract = contract_of_call(call)
        given = list(filter(_carries, call.operands))
        is_linking = contract.connects or not contract.is_pure
        reads, changes = self._domains(call, contract, is_linking)
        for domain in reads:
            self._depend(self._states[domain], call.result)
        states = self._change(changes, given).values()
        objects = _changeable(call.operands) if is_linking else []
        self._depend_all(given, [call.result, *objects, *_written(call, contract)])
        if objects and _changeable([call.result]):  # it may lead to them
            self._depend_all([call.result], objects)
        if call.primitive is ENTER:  # it may show what is written to streams from now on
            self._managed += _changeable([call.result, *call.operands])
        self.calls[call] = [call.result, *objects, *states]

    def _domains(
        self, call: Operation, contract: Contract, is_linking: bool
    ) -> tuple[frozenset[str], frozenset[str]]:
        """The hidden states that a call reads and changes: by itself, and by way of objects that
        unread code may have."""
        reads, changes = contract.reads, contract.changes
        if CODE in reads:
            return reads | {_HELD}, changes
        is_kept = not self._kept.isdisjoint(call.operands)
        is_met = is_kept or not self._met.isdisjoint(call.operands)
        if is_met and (is_linking or MACHINE not in reads):  # of settings nothing is differentiated
            reads |= {CODE}
        if is_met and is_linking and FILES not in changes:
            changes |= {CODE if is_kept else _HELD}
        return reads, changes

    def _change(self, domains: Iterable[str], given: Sequence[Value]) -> dict[str, object]:
        """The new states of what may have come to depend on these values."""
        made: dict[str, object] = {}
        for domain in domains:
            made[domain] = object()
            shown = self._managed if domain == FILES else []
            self._depend_all([self._states[domain], *given], [made[domain], *shown])
        self._states |= made
        return made

    def _depend_all(self, sources: Sequence[Hashable], results: Sequence[Hashable]) -> None:
        for source in sources:
            for result in results:
                self._depend(source, result)

    def _depend(self, source: Hashable, result: Hashable) -> None:
        self.graph.depend(source, result)


def _objects_of_others(function: Function) -> tuple[set[Hashable], set[Hashable]]:
    """The objects that unread code may have been given, or has given, in a function; those that it
    may have had before: with all that may lead to such a one, or that such a one may lead to."""
    leads: dict[Hashable, list[Hashable]] = {}
    kept: list[Value] = []
    for operation in walk(function.body):
        pairs: Iterable[tuple[Value, Value]] = ()
        if operation.primitive in _OPAQUE or operation.primitive is FUNCTION:
            objects = [*filter(_is_object, (*operation.operands, *operation.results))]
            is_call = operation.primitive is not FUNCTION
            contract = contract_of_call(operation) if is_call else HOLDS
            if contract.connects or not contract.is_pure:
                pairs = itertools.pairwise(objects)
            is_own = is_call and not any(map(_is_object, operation.operands))
            if is_own and _is_of_ctypes(operation.callee):
                continue  # nobody else has what it makes
            if contract.keeps and CODE in contract.changes:
                kept += objects
        elif operation.primitive is CALL:
            kept += filter(_is_object, (*operation.operands, *operation.results))
        else:
            pairs = pairs_of(operation)
        for one, other in pairs:
            if _is_object(one) and _is_object(other):
                leads.setdefault(one, []).append(other)
                leads.setdefault(other, []).append(one)
    before = filter(_is_object, function.body.parameters)
    return reachable(kept, leads), reachable(before, leads)


def _is_of_ctypes(callee: Any) -> bool:
    """Whether this is a class of ctypes, or one of the user's that makes objects as those do."""
    if not isinstance(callee, type) or not issubclass(callee, OF_CTYPES):
        return False
    making = (in_class(callee, name) for name in ("__new__", "__init__"))
    return not any(isinstance(method, types.FunctionType | staticmethod) for method in making)


def _is_object(value: Value) -> bool:
    """Whether a value is, or holds, an object that may be changed."""
    is_fixed = isinstance(value.type, Opaque) and is_immutable(value.type.cls)
    return holds_opaque(value.type) and not is_fixed


def _each(nodes: Iterable[Hashable]) -> list[tuple[Hashable, ...]]:
    return [(node,) for node in nodes]


def check_known(operation: Operation, partial: Any) -> None:
    """Refuse to differentiate by an operand by which no derivative is known."""
    if partial is UNKNOWN:
        raise NoDerivativeError(
            f"the derivative of `{operation.primitive.name}` by this argument is not known",
            "differentiate by other arguments only, or give the call a rule for this one by "
            "`gs.primitive`",
            operation.location,
        )


@contextmanager
def refusing_misfits(operation: Operation) -> Iterator[None]:
    """Around what makes the derivative of an operation: types that do not fit in it are refused
    where the operation stands in the user's source."""
    try:
        yield
    except (TypeRuleError, BroadcastError) as error:
        advice = getattr(error, "advice", "") or "give it values whose shapes and dtypes fit"
        raise UnsupportedError(str(error), advice, operation.location) from error


def _written(call: Operation, contract: Contract) -> list[Value]:
    """The arrays that a call may write to."""
    if contract.only_reads:
        return []
    return [call.operands[one.index] for one in call.attributes.get("reached", ())]


def _changeable(values: Iterable[Value]) -> list[Value]:
    """The objects among these values that a call may change."""
    return [v for v in values if isinstance(v.type, Opaque) and not is_immutable(v.type.cls)]


def may_be_number(value: Value) -> bool:
    """Whether a derivative of a result may be asked for; not of a text, say."""
    return is_unknown(value.type) or passes_derivative(value)


def _carries(value: Value) -> bool:
    return holds_opaque(value.type) or passes_derivative(value)


def _name(callee: Any) -> str:
    if callee is None:  # of a `with`
        return "__enter__"
    if isinstance(callee, Method):
        return callee.name
    return str(probe(callee, "__name__") or type(callee).__name__)


def _refuse(call: Operation) -> None:
    callee = call.callee
    name = _name(callee)
    if isinstance(refusal := probe(callee, "refusal"), Refused):
        raise NoDerivativeError(refusal.what, refusal.advice, call.location)
    advice = "give it one, or declare what it does with its arguments: `gs.primitive`"
    if any(map(is_function, call.operands)):
        advice = "make a primitive of a function that holds the call, with a rule: `gs.primitive`"
    if name in _LOCATED:
        advice = f"move the parameters out of the draw: `loc + scale * rng.{name}(size=…)`"
    elif name in _REARRANGING:
        advice = "draw indices: `x[rng.permutation(len(x))]`"
    raise NoDerivativeError(
        f"no derivative is known of `{name}` with respect to its arguments", advice, call.location
    )


_LOCATED = frozenset({"normal", "uniform", "laplace", "logistic", "gumbel"})
_REARRANGING = frozenset({"choice", "permutation", "permuted", "shuffle"})
