"""`@gs.primitive`: operations of the user's own, with the derivatives that they are given.

    @gs.primitive
    def logistic(x):
        return scipy.special.expit(x)

    @logistic.adjoint
    def _(out, x, *, d_out):
        return d_out * out * (1 - out)

The compiler does not look into the function: emitted code calls it. What it returns is typed by
calling it on examples, or by a stand-in (`@op.like`). What it does with its arguments is its
contract: it returns new arrays, or is declared to write (`gs.primitive(f, writes=("out",))`).
"""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from gradscribe.api import declared
from gradscribe.api.copying import CopiedAsFunction
from gradscribe.api.differentiable import differentiable, has_tensor
from gradscribe.api.recorded_call import is_active
from gradscribe.api.result_types import ResultTypes
from gradscribe.compiler.eager_calls import forget_own_place, function_of_call
from gradscribe.errors import ArgumentError, GradscribeError, UnsupportedError
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory import outside_reach, outside_state
from gradscribe.frontend.memory.outside_functions import all_functions_of, may_change_outside
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.opaque.given_derivatives import derivatives_of, keyword_only
from gradscribe.frontend.opaque.own_rules import Adjoint, OwnRules, Tangent
from gradscribe.frontend.prelude import isolated
from gradscribe.frontend.prelude.example_types import type_by_trial
from gradscribe.frontend.state import dependencies, handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static
from gradscribe.ir.core import Operand, Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.places import place_of
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Type
from gradscribe.primitives.contract_kinds import PURE, Contract
from gradscribe.recording import operations
from gradscribe.recording.arrays import holds_active, is_recorded
from gradscribe.recording.calls import ANSWER, Answer
from gradscribe.recording.levels import refused, values_in
from gradscribe.recording.trials import Trial
from gradscribe.tracebacks import shortened

Rule = TypeVar("Rule", bound=Callable[..., Any])
_serial = iter(range(1, 1 << 62))


class OwnOperation(CopiedAsFunction):
    """A function with its own derivatives; it keeps its name, docstring and signature."""

    __gradscribe_primitive__: Any = True

    def __init__(
        self, function: Callable[..., Any], contract: Contract = PURE, *, checked: bool = True
    ) -> None:
        functools.update_wrapper(self, function)
        self.__gradscribe_contract__ = contract
        self._checked = checked
        self._results = ResultTypes()
        signature = _signature(function)
        name = _name_of(function)
        self._rules = OwnRules(name, function, tuple(signature.parameters))
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if any(p.kind in variadic for p in signature.parameters.values()):
            raise ArgumentError(
                f"`{name}` has a variable number of arguments",
                "give a primitive parameters with names, or one that is a tuple",
            )
        unknown = contract.named() - signature.parameters.keys()
        if unknown:
            raise ArgumentError(
                f"`{name}` has no parameter {' or '.join(map(repr, sorted(unknown)))}",
                f"name some of {', '.join(signature.parameters)}",
            )
        self._signature = signature.replace(return_annotation=inspect.Signature.empty)
        self._own_names = _names_in_rules(list(signature.parameters))
        self._names_given = {own: name for name, own in self._own_names.items() if own != name}
        if contract.is_pure:
            self._register()

    @property
    def __gradscribe_changes__(self) -> bool:
        """Whether another run of the function, for a derivative, may change something again. (In
        a recorded run there is none.)"""
        answer = ANSWER.get()
        is_recorded = answer is not None and answer.operation is self
        return self._may_change and not is_recorded

    @functools.cached_property
    def _may_change(self) -> bool:
        is_declared = self.__gradscribe_contract__.is_pure and not self._checked
        return not is_declared and may_change_outside(self._rules.function)

    def _register(self) -> None:
        """Make a primitive with the rules as they are now: another one each time, for what was
        compiled with other rules is not used again."""
        own = self._own_names
        parameters = [
            p.replace(name=own[p.name], kind=max(p.kind, p.POSITIONAL_OR_KEYWORD))
            for p in self._signature.parameters.values()
        ]
        tangents = {f"d_{name}": f"d_{in_rules}" for name, in_rules in own.items()}
        self.__gradscribe_primitive__ = Primitive(
            self._rules.name,
            self._type,
            self._signature.replace(parameters=parameters),
            adjoint=_rule(Adjoint(self._rules), own.values(), {"d_out": "d_out"}),
            tangent=_rule(Tangent(self._rules), own.values(), tangents),
            callee=self,
            lasting=True,
            ordered=self._checked,
        )

    @shortened
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        keywords = self._as_given(keywords)
        if any(map(is_recorded, values_in((args, keywords)))):
            return self._recorded(self._signature.bind(*args, **keywords))
        if has_tensor((args, keywords), is_active):
            bound = self._signature.bind(*args, **keywords)
            count = len(bound.arguments)
            operands = dict(zip(bound.arguments, map(Operand, range(count)), strict=True))
            call = function_of_call(self, (), operands, count)
            try:
                return differentiable(call)(*bound.arguments.values())
            except GradscribeError as error:
                forget_own_place(error)
                raise
        answer = ANSWER.get()
        if answer is not None:
            return self._answered(answer, args, keywords)
        return self._run(args, keywords)

    def _run(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """What the function gives, after the checks of its contract."""
        if self._checked:
            result = isolated.apart(self._rules.function, args, keywords, self._has_written)
        else:
            result = self._declared(self._signature.bind(*args, **keywords))
        if self._results:
            arguments = self._signature.bind(*args, **keywords).arguments
            self._results.check(self._rules.name, arguments, result)
        return result

    def _answered(self, answer: Answer, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """What the function gives, or has given for these very arguments."""
        key = tuple([(name, _key_of(item)) for name, item in (*enumerate(args), *keywords.items())])
        if answer.operation is self and answer.key == key:
            return copy.deepcopy(answer.result)
        token = ANSWER.set(None)
        try:
            result = self._run(args, keywords)
        finally:
            ANSWER.reset(token)
        if answer.operation is self and answer.key is None:
            answer.key, answer.given = key, (args, keywords)
            answer.result = copy.deepcopy(result)
        return result

    def _declared(self, bound: inspect.BoundArguments) -> Any:
        """A call of a function of which the user has said what it does with memory."""
        contract = self.__gradscribe_contract__
        if contract.is_pure:
            return declared.pure(self._rules.function, bound)
        return declared.writing(self._rules.function, bound, contract.named())

    def _has_written(self) -> ArgumentError:
        return ArgumentError(
            f"the primitive `{self._rules.name}` wrote to an argument, which its derivatives do "
            "not show",
            "let it return a new array; or declare a function without derivative by "
            "`gs.primitive(f, writes=('name',))`",
            place_of(self._rules.function),
        )

    def _recorded(self, bound: inspect.BoundArguments) -> Any:
        """A call with values of a recorded run."""
        if not holds_active((bound.args, bound.kwargs)):
            return Trial(self, bound.args, bound.kwargs, is_only=True).store()
        if self.__gradscribe_contract__.is_pure:
            given = dict(bound.arguments)
            if any(map(_is_dict_that_records, given.values())):
                raise refused(
                    UnsupportedError(
                        f"a dict, given to `{self._rules.name}`, that holds what is differentiated",
                        "give the primitive its items, or a tuple of them",
                    )
                )
            kinds = self._signature.parameters
            first = [name for name in given if kinds[name].kind is _KINDS.POSITIONAL_ONLY]
            args = tuple([given.pop(name) for name in first])
            own = {self._own_names[name]: value for name, value in given.items()}
            token = ANSWER.set(Answer(self))
            try:
                return operations.run(self, args, own)
            finally:
                ANSWER.reset(token)
        raise ArgumentError(
            f"`{self._rules.name}` writes to its arguments, and so has no derivative",
            "give rules to a function that returns new arrays",
        )

    def adjoint(self, rule: Rule) -> Rule:
        """Give the rule of reverse mode: `(out, *parameters, *, d_out)`, which returns a cotangent
        for each parameter (None for no derivative)."""
        return self._enter("adjoint", rule)

    def tangent(self, rule: Rule) -> Rule:
        """Give the rule of forward mode: `(out, *parameters, *, d_x, …)`, with the tangent `d_…` of
        each parameter; it returns that of out. (Without it, the adjoint is transposed.)"""
        return self._enter("tangent", rule)

    def like(self, stand_in: Rule) -> Rule:
        """Give a function of the same parameters that returns something of the same type: it is
        called on examples instead of the operation itself."""
        return self._enter("like", stand_in)

    def _enter(self, kind: str, rule: Rule) -> Rule:
        if not self.__gradscribe_contract__.is_pure:
            advice = "give rules to a function that returns new arrays"
            if kind == "like":
                advice = "use what it writes, not what it returns: it needs no stand-in"
            raise ArgumentError(
                f"`{self._rules.name}` writes to its arguments, and so has no derivative", advice
            )
        if not callable(rule):
            raise ArgumentError(f"{rule!r} is not callable", "pass a function")
        if kind != "like":
            self._check_parameters(kind, rule)
        self._rules.rules[kind] = rule
        self._register()
        return rule

    def _check_parameters(self, kind: str, rule: Callable[..., Any]) -> None:
        """Refuse a rule that cannot be called as it will be."""
        wanted = ["out", *self._signature.parameters]
        derivatives = derivatives_of(kind, wanted[1:])
        named = keyword_only(rule).intersection(wanted).difference(derivatives)
        given = [name for name in wanted if name not in named]
        try:
            inspect.signature(rule).bind(*given, **dict.fromkeys([*named, *derivatives]))
        except ValueError:  # a function in C
            return
        except TypeError as error:
            raise ArgumentError(
                f"the {kind} of `{self._rules.name}` cannot be called as it will be: {error}",
                f"give it the parameters ({', '.join([*wanted, '*', *derivatives])})",
                place_of(rule),
            ) from None

    def _type(self, facts: Facts, callee: Any, /, **arguments: Any) -> Type:
        function = self._rules.rules.get("like", self._rules.function)
        given = self._as_given(arguments)
        type_ = type_by_trial(facts, _by_names(function), given)
        self._results.note(given, type_)
        return type_

    def _as_given(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments by the names of the function's parameters, from those that rules have."""
        given = self._names_given
        return {given.get(name, name): item for name, item in arguments.items()}

    def __repr__(self) -> str:
        return f"<primitive {self._rules.name}>"


def _key_of(item: Any) -> Any:
    return (type(item), repr(item)) if isinstance(item, _NUMBERS) else id(item)


_NUMBERS = (bool, int, float, complex, str, type(None), np.generic)


def _is_dict_that_records(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_dict_that_records, value))
    return isinstance(value, dict) and any(map(is_recorded, values_in(value)))


def _names_in_rules(names: list[str]) -> dict[str, str]:
    """A name for each parameter that is neither `out`, `d_out` nor that of another's tangent."""
    found: dict[str, str] = {}
    for name in names:
        own = name
        while own in _RESERVED or any(own == f"d_{other}" for other in (*names, *found.values())):
            own += "_"
        found[name] = own
    return found


_KINDS = inspect.Parameter

_RESERVED = frozenset({"out", "d_out", "apply"})
"""Names that the functions with rules use."""


def _rule(rule: Any, names: Collection[str], derivatives: Mapping[str, str]) -> Callable[..., Any]:
    """A function with source that applies a rule, by the parameters of the operation. derivatives:
    the names that the rule, and that this function, has for them."""
    parameters = ", ".join(["out", *names, *derivatives.values()])
    given = ", ".join(["out", *names, *(f"{name}={own}" for name, own in derivatives.items())])
    text = f"def rule({parameters}):\n    return apply({given})\n"
    namespace: dict[str, Any] = {"apply": rule}
    filename = f"<gradscribe rule {next(_serial)}: {rule.own.name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["rule"]
    weakref.finalize(function, linecache.cache.pop, filename, None)
    return function


def _by_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called with names for all of its parameters."""
    parameters = _signature(function).parameters.values()
    first = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY]
    if not first:
        return function

    def call(**keywords: Any) -> Any:
        return function(*[keywords.pop(name) for name in first if name in keywords], **keywords)

    return call


def _name_of(function: Any) -> str:
    if isinstance(function, functools.partial):
        return _name_of(function.func)
    return str(probe(function, "__name__") or type(function).__name__)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    name = _name_of(function)
    try:
        if isinstance(function, np.ufunc):
            raise ValueError(name)
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"the parameters of `{name}`, which is compiled, cannot be read",
            f"name them: `def call(x): return {name}(x)`, and make a primitive of that",
        ) from None


@overload
def primitive(
    function: Callable[..., Any], *, pure: bool = ..., writes: Sequence[str] = ...
) -> OwnOperation: ...


@overload
def primitive(
    function: None = None, *, pure: bool = ..., writes: Sequence[str] = ...
) -> Callable[[Callable[..., Any]], OwnOperation]: ...


@shortened
def primitive(
    function: Callable[..., Any] | None = None, *, pure: bool = False, writes: Sequence[str] = ()
) -> Any:
    """Make a function that the compiler does not look into, with rules of its own.

    Its derivatives are given by `@op.adjoint` and `@op.tangent`; one of them is enough for reverse
    mode and for forward mode of operations whose adjoint can be compiled.

    function: returns numbers, arrays, or tuples of these, and keeps nothing of what it is given.
    It returns new arrays and does not write to its arguments: each call looks whether that is so,
    and raises an `ArgumentError` if it is not. pure: it is known to be so, and no call copies;
    it is only seen whether what it returns shares memory with what it is given. writes: the names
    of the parameters whose arrays it writes to, and no others; what it wrote has no derivative.
    """
    if function is None:
        return functools.partial(primitive, pure=pure, writes=writes)
    if not isinstance(pure, bool):
        raise ArgumentError(f"pure={pure!r}", "pass True or False")
    if not isinstance(writes, (str, tuple, list, set, frozenset)) or not all(
        isinstance(name, str) for name in writes
    ):
        raise ArgumentError(f"writes={writes!r}", 'give a tuple of names: `("out",)`')
    if pure and writes:
        raise ArgumentError("a function that writes is not pure", "give `pure` or `writes`")
    if isinstance(writes, str):
        raise ArgumentError("`writes` is one string", f"give a tuple of names: `({writes!r},)`")
    contract = Contract(frozenset(writes))
    return OwnOperation(function, contract, checked=not pure and not writes)


def _call(
    lowering: Lowering,
    node: Any,
    callee: Static,
    /,
    *given: Any,
    **keywords: Any,
) -> Any:
    """A call in compiled code, which holds as long as the operation has these rules."""
    operation: OwnOperation = callee.value
    function, contract = operation._rules.function, operation.__gradscribe_contract__
    outside_reach.refuse_pending(lowering, all_functions_of(function))
    if contract.is_pure:
        result = _call_pure(lowering, node, operation, given, keywords)
    else:
        result = unknown.call(lowering, node, operation, given, keywords)
    if operation._may_change:
        outside_state.ask_again(lowering, f"`{operation._rules.name}`")
    return result


def _call_pure(
    lowering: Lowering,
    node: Any,
    operation: OwnOperation,
    given: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    primitive: Primitive = operation.__gradscribe_primitive__
    lowering.outside.show(operation._rules, operation._rules.name)
    keywords = {operation._own_names.get(name, name): item for name, item in keywords.items()}
    path = AccessPath(operation).attribute("__gradscribe_primitive__")
    dependencies.depend(lowering, path, primitive)
    return lowering.apply_primitive(node, primitive, operation, given, keywords)


handlers.enter({handlers.ObjectsOf(OwnOperation): _call})
