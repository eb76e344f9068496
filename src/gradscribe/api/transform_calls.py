"""What `gs.grad`, `gs.jvp` and their kind mean inside compiled code.

The function that they are applied to is lowered at the call, into a function of its own; its
derivative is made there and then, and inlined as operations like any others. So a program may
use derivatives of its parts, and be differentiated itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from gradscribe.api.directional import count_error, hvp, jvp, primals_error, vjp
from gradscribe.api.functional import Gradient, check_scalar
from gradscribe.api.given_tangents import like, refuse
from gradscribe.api.outlining import Outlined, Resumed, arranged, inline, outline, structured
from gradscribe.api.recorded_transforms import compiles
from gradscribe.compiler import argnums_error, surroundings
from gradscribe.compiler.given_leaves import structure_error
from gradscribe.compiler.stages import Stages, bind_ones, gradient_tree
from gradscribe.errors import ArgumentError, GradscribeError
from gradscribe.frontend.boundary.results import result_tree
from gradscribe.frontend.containers import known_integers
from gradscribe.frontend.state import handlers, wording
from gradscribe.frontend.state.dependencies import WRAPPERS
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    BoundMethod,
    FrontendValue,
    LocalFunction,
    PartialOf,
    Ref,
    Static,
    TupleOf,
    is_number,
)
from gradscribe.ir.core import Function, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.trees import Constant, Leaf, Node, Tree
from gradscribe.ir.types import Array, Scalar, is_differentiable
from gradscribe.transforms import tangent
from gradscribe.transforms.adjoint.split import simplify_joined
from gradscribe.transforms.passes.simplify import simplify


@dataclass(frozen=True, eq=False)
class Derivative:
    """What `gs.grad(f, …)` is in compiled code, before f: that is a value of the program (it may
    be a closure)."""

    argnums: int | tuple[int, ...] = 0
    has_aux: bool = False
    with_value: bool = False

    @property
    def __gradscribe_gradient__(self) -> bool:
        return not (self.has_aux or self.with_value)


@dataclass(frozen=True, eq=False)
class LocalPullback:
    """The second result of `gs.vjp(f, *primals)` in compiled code. seeds: the leaves of the result
    that have cotangents. joined: from the arguments and those to the result and the gradients."""

    call: Outlined
    active: tuple[int, ...]
    seeds: tuple[int, ...]
    joined: Resumed

    @classmethod
    def of(cls, lowering: Lowering, call: Outlined, active: tuple[int, ...]) -> LocalPullback:
        seeds = tuple(i for i, x in enumerate(call.results) if is_differentiable(x.type))
        stages = Stages(call.function, active, seeds)
        joined = simplify_joined(stages.joined.function, stages.joined.seeds)
        resumed = Resumed.of(lowering, joined, call.operands)
        call.store(lowering, resumed.first.values(joined.body.yields))
        return cls(call, active, stages.seeds, resumed)

    def value(self, lowering: Lowering) -> Any:
        """The result of the call."""
        leaves = self.joined.first.values(self.joined.function.body.yields)
        return structured(lowering, self.call.tree, iter(leaves))

    def callable(self, lowering: Lowering) -> PartialOf:
        """The pullback as a value of the program: this, with the record that it reads. What is
        stored later, and where it is called, make no difference to that."""
        record = self.joined.first.values(self.joined.record)
        return PartialOf(Static(self), tuple(map(lowering.wrap, record)), {})

    def cotangents(
        self, lowering: Lowering, seeds: Sequence[Value], record: Sequence[Value] | None = None
    ) -> dict[int, Any]:
        """The cotangents of the active leaves, from those of the seeded leaves of the result."""
        results = self.joined.results(lowering, seeds, record)
        gradients = results[len(self.call.function.body.yields) :]
        return dict(zip(self.active, map(lowering.wrap, gradients), strict=True))


def compiled_with_the_rest(handler: handlers.Handler) -> handlers.Handler:
    """A handler without the options that say how a function is run: within compiled code, what a
    transform is applied to is compiled."""

    @functools.wraps(handler)
    def handle(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        options = {name: keywords[name] for name in ("compile", "jit") if name in keywords}
        for name, item in options.items():
            if not isinstance(item, Static):
                lowering.unsupported(node, f"`{name}` that is computed", "give it as a literal")
        try:
            compiles(None, **{name: item.value for name, item in options.items()})
        except GradscribeError as error:
            refuse(lowering, node, error)
        rest = {name: item for name, item in keywords.items() if name not in options}
        return handler(lowering, node, *arguments, **rest)

    return handle


# -- grad, value_and_grad ------------------------------------------------------------------------


def _grad(with_value: bool) -> handlers.Handler:
    @compiled_with_the_rest
    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        names = ("function", "argnums", "has_aux")
        function, static = static_options(lowering, node, names, arguments, keywords)
        return of_function(Derivative(with_value=with_value, **static), function)

    return handler


def of_function(derivative: Any, function: Any) -> PartialOf:
    """The value that a derivative of a function is: it is called with that before the arguments."""
    return PartialOf(Static(derivative), (function,), {})


def is_gradient(function: Any) -> bool:
    """Whether a function of the program returns derivatives, by adjoints that check what they
    depend on, and nothing else."""
    if isinstance(function, PartialOf):
        return is_gradient(function.function)
    return isinstance(function, Static) and bool(
        probe(function.value, "__gradscribe_gradient__", False)
    )


def static_options(
    lowering: Lowering, node: Any, names: tuple[str, ...], arguments: Any, keywords: Any
) -> tuple[Any, dict[str, Any]]:
    """The function that a derivative is made of, and the options of that, which must be known.
    names: those of the positional arguments."""
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    function = given.pop("function")
    return function, {name: _static_value(lowering, node, item) for name, item in given.items()}


def _static_value(lowering: Lowering, node: Any, item: Any) -> Any:
    if isinstance(item, TupleOf):
        return tuple(_static_value(lowering, node, i) for i in item.items)
    if isinstance(item, Static):
        return item.value
    return known_integers.static_integer(lowering, node, item)


def _call_gradient(
    lowering: Lowering,
    node: Any,
    callee: Static,
    /,
    *rest: Any,
    **keywords: Any,
) -> Any:
    """A `Gradient` made outside, called inside."""
    gradient: Gradient = callee.value
    function: Any = Static(gradient.function)
    for argnums in gradient.chain[:-1]:
        function = of_function(Derivative(argnums), function)
    inner = Derivative(gradient.argnums, gradient.has_aux, gradient.with_value)
    return _call_derivative(lowering, node, Static(inner), function, *rest, **keywords)


def _call_derivative(
    lowering: Lowering,
    node: Any,
    callee: Static,
    function: Any,
    /,
    *rest: Any,
    **keywords: Any,
) -> Any:
    """The gradient of an outlined call, inlined."""
    spec: Derivative = callee.value
    call = outline(lowering, node, function, rest, keywords)
    numbers = argument_positions(lowering, node, spec.argnums, len(rest), function)
    for number in numbers:
        if not call.active([number]):
            refuse(lowering, node, nothing_to_differentiate(number))
    _check_scalar(lowering, node, call.pure, spec.has_aux)
    active = call.active(sorted(set(numbers)))
    stages = Stages(call.function, active, (0,))
    results = inline_with_one(lowering, node, stages.value_and_gradient, call.operands)
    call.store(lowering, results)
    value = structured(lowering, call.tree, iter(results))
    gradients = iter(results[len(call.function.body.yields) :])
    gradient = structured(lowering, gradient_tree(call.function, active), gradients)
    gradient = _arranged(gradient, numbers, spec.argnums)
    if spec.with_value:
        return TupleOf((value, gradient))
    return TupleOf((gradient, value.items[1])) if spec.has_aux else gradient


def inline_with_one(
    lowering: Lowering, node: Any, function: Function, operands: Sequence[Value]
) -> list[Value]:
    """`inline`, with 1 for the last parameter: a number, or an array of rank 0."""
    *_, seed = function.parameters
    type_ = seed.leaves[0].type
    if isinstance(type_, Scalar):
        return inline(lowering, simplify(bind_ones(function, [seed])), operands)
    assert isinstance(type_, Array)
    shape, dtype = TupleOf(()), Static(np.dtype(type_.dtype))
    one = lowering.call(node, Static(np.ones), (shape, dtype), {})
    return inline(lowering, function, (*operands, lowering.value(one)))


def argument_positions(
    lowering: Lowering,
    node: Any,
    argnums: int | tuple[int, ...],
    count: int,
    function: FrontendValue,
) -> tuple[int, ...]:
    """The positions, among so many arguments, that argnums says of a function's."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    declared = _declared(function) if min(numbers) < 0 else None
    if declared not in (None, count):
        error = ArgumentError(
            f"argnums says {min(numbers)}, from the last of {declared} parameters, of which this "
            f"call gives {count}",
            "count from 0, and give all of them",
        )
        refuse(lowering, node, error)
    for number in numbers:
        if not -count <= number < count:
            refuse(lowering, node, argnums_error(number, "this call", count))
    return tuple(number % count for number in numbers)


def _declared(function: FrontendValue) -> int | None:
    """How many positional parameters a function has, besides those that it is bound to; None where
    that is not known, or they are any number."""
    if isinstance(function, LocalFunction):
        formal = function.node.args
        return None if formal.vararg else len(formal.posonlyargs) + len(formal.args)
    own = isinstance(function, BoundMethod)
    plain = function.function if isinstance(function, BoundMethod) else probe(function, "value")
    code = probe(probe(plain, "__wrapped__", plain), "__code__")
    if not isinstance(code, CodeType) or code.co_flags & inspect.CO_VARARGS:
        return None
    return code.co_argcount - own


def nothing_to_differentiate(number: int) -> ArgumentError:
    """An argument has no floating-point leaf."""
    return ArgumentError(
        f"argument {number} has nothing to differentiate",
        "pass floating-point numbers or arrays (`3.0`, not `3`), or other argnums",
    )


def _arranged(gradient: Any, numbers: tuple[int, ...], argnums: Any) -> Any:
    """The gradients in the order of argnums (they come in that of the parameters)."""
    if not isinstance(argnums, tuple):
        return gradient
    order = sorted(set(numbers))
    parts = gradient.items if len(order) > 1 else (gradient,)
    return TupleOf(tuple(parts[order.index(number)] for number in numbers))


def _check_scalar(lowering: Lowering, node: Any, function: Function, has_aux: bool) -> None:
    try:
        check_scalar(function, has_aux)
    except GradscribeError as error:
        refuse(lowering, node, error)


# -- jvp, vjp, hvp -------------------------------------------------------------------------------


@compiled_with_the_rest
def _jvp(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    names = ("function", "primals", "tangents")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    if isinstance(given["primals"], Ref) or is_number(given["primals"]):
        found = wording.operands(lowering.builder.facts, [given["primals"]])
        refuse(lowering, node, primals_error(found))
    primals = lowering.unpacked(node, given["primals"])
    call = outline(lowering, node, given["function"], primals, {})
    active = call.active(range(len(primals)))
    directions = _directions(lowering, node, call, active, given["tangents"])
    checked = is_gradient(given["function"])
    rules = surroundings.inline
    function = simplify(tangent.differentiate(call.function, active, rules, of_gradient=checked))
    results = inline(lowering, function, (*call.operands, *directions))
    call.store(lowering, results)
    assert isinstance(function.result, Node)
    _, along = function.result.children
    if call.stored.values:
        assert isinstance(along, Node)
        along = along.children[0]
    tangents = iter(results[len(call.function.body.yields) :])
    value = structured(lowering, call.tree, iter(results))
    return TupleOf((value, structured(lowering, along, tangents)))


def _directions(
    lowering: Lowering, node: Any, call: Outlined, active: tuple[int, ...], tangents: Any
) -> list[Value]:
    """The leaves of the tangents that belong to the active leaves."""
    given: dict[int, Value] = {}
    items = lowering.unpacked(node, tangents)
    if len(items) != len(call.spans):
        refuse(lowering, node, count_error(len(call.spans), len(items)))
    for span, item in zip(call.spans, items, strict=True):
        leaves = result_tree(lowering, item)[1]
        if not leaves and not set(active) & set(span):
            continue
        if len(leaves) != len(span):
            refuse(lowering, node, structure_error("tangent"))
        given.update(zip(span, leaves, strict=True))
    return [
        like(lowering, node, given[leaf], call.function.body.parameters[leaf], "tangent")
        for leaf in active
    ]


@compiled_with_the_rest
def _vjp(
    lowering: Lowering,
    node: Any,
    /,
    function: Any,
    *primals: Any,
    **keywords: Any,
) -> Any:
    call = outline(lowering, node, function, primals, keywords)
    pullback = LocalPullback.of(lowering, call, call.active(range(len(call.spans))))
    return TupleOf((pullback.value(lowering), pullback.callable(lowering)))


def _call_pullback(lowering: Lowering, node: Any, /, *arguments: Any) -> Any:
    callee, *record, cotangent = arguments
    pullback: LocalPullback = callee.value
    leaves = result_tree(lowering, cotangent)[1]
    yields = pullback.call.results
    if len(leaves) != len(yields):
        refuse(lowering, node, structure_error("cotangent"))
    seeds = [
        like(lowering, node, leaves[leaf], yields[leaf], "cotangent") for leaf in pullback.seeds
    ]
    found = pullback.cotangents(lowering, seeds, list(map(lowering.value, record)))
    spans = pullback.call.spans
    return TupleOf(tuple(by_argument(lowering, pullback.call, i, found) for i in range(len(spans))))


def by_argument(lowering: Lowering, call: Outlined, number: int, found: Mapping[int, Any]) -> Any:
    """What was found for the leaves of an argument, in its structure; None for other leaves."""
    leaves = iter([found.get(leaf, Static(None)) for leaf in call.spans[number]])

    def arrange(tree: Tree) -> Any:
        if isinstance(tree, Leaf):
            return next(leaves)
        if isinstance(tree, Constant):
            return Static(None)
        assert isinstance(tree, Node)
        return arranged(lowering, tree, list(map(arrange, tree.children)))

    return arrange(call.function.parameters[number].tree)


@compiled_with_the_rest
def _hvp(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    names = ("function", "primals", "vector")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    if not isinstance(given["primals"], TupleOf):
        single = (given["function"], *(TupleOf((given[n],)) for n in ("primals", "vector")))
        return lowering.unpacked(node, _hvp(lowering, node, *single))[0]
    argnums = tuple(range(len(given["primals"].items)))
    gradient = of_function(Derivative(argnums), given["function"])
    pair = _jvp(lowering, node, gradient, given["primals"], given["vector"])
    return lowering.unpacked(node, pair)[1]


def enter(grad: Any, value_and_grad: Any) -> None:
    """Make the transforms known to the frontend."""
    handlers.enter({grad: _grad(False), value_and_grad: _grad(True)})
    handlers.enter({jvp: _jvp, vjp: _vjp, hvp: _hvp})
    handlers.enter(
        {
            handlers.ObjectsOf(Derivative): _call_derivative,
            handlers.ObjectsOf(Gradient): _call_gradient,
        }
    )
    WRAPPERS[Gradient] = ("function", ("chain", "has_aux", "with_value"))
    handlers.enter({handlers.ObjectsOf(LocalPullback): _call_pullback})
