"""What `gs.grad`, `gs.jvp` and their kind mean inside compiled code.

The function that they are applied to is lowered at the call, into a function of its own; its
derivative is made there and then, and inlined as operations like any others. So a program may
use derivatives of its parts, and be differentiated itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradscribe.api.directional import count_error, hvp, jvp, primals_error, structure_error, vjp
from gradscribe.api.functional import Gradient, check_scalar
from gradscribe.api.given_tangents import like, refuse
from gradscribe.compiler import argnums_error
from gradscribe.compiler.stages import Stages, flat, one_like, only_results
from gradscribe.errors import GradscribeError
from gradscribe.frontend import scope, wording
from gradscribe.frontend.calls import application, builtins, unpacking
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.data.instances import new_instance
from gradscribe.frontend.data.results import result_tree
from gradscribe.frontend.interface import Argument
from gradscribe.frontend.lowering import Lowering, is_number
from gradscribe.frontend.values import DictRef, ListRef, Ref, Static, Storage, TupleOf
from gradscribe.ir.core import Block, Function, Operation, Parameter, Value, walk
from gradscribe.ir.trees import Constant, Leaf, Node, Tree
from gradscribe.ir.types import Array, is_differentiable
from gradscribe.primitives.control import CONSTANT
from gradscribe.transforms import tangent


@dataclass(frozen=True, eq=False)
class Derivative:
    """`gs.grad(f, …)` in compiled code: f is a value of the frontend (it may be a closure)."""

    function: Any
    argnums: int | tuple[int, ...] = 0
    has_aux: bool = False
    with_value: bool = False


@dataclass(frozen=True, eq=False)
class LocalPullback:
    """The second result of `gs.vjp(f, *primals)` in compiled code."""

    outlined: Outlined


@dataclass(frozen=True, eq=False)
class Outlined:
    """A call f(*arguments) as an IR function of its own.

    function: its parameters are the arguments, then the outer values that f reads. operands:
    the outer values for all leaves of the parameters. spans: the leaves of each argument.
    """

    function: Function
    operands: tuple[Value, ...]
    spans: tuple[range, ...]

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
    bound = []
    for number, item in enumerate(arguments):
        tree, leaves = result_tree(lowering, item)
        types = tuple(leaf.type for leaf in leaves)
        parameter, inner = scope.bind(lowering, Argument(f"argument_{number}", tree, types))
        spans.append(range(len(operands), len(operands) + len(leaves)))
        parameters.append(parameter)
        operands += leaves
        bound.append(inner)
    before = dict(lowering.contents)
    with lowering.builder.block() as operations:
        result = calls.call(lowering, node, function, tuple(bound), keywords)
        tree, yields = result_tree(lowering, result)
    if any(lowering.contents[storage] is not held for storage, held in before.items()):
        lowering.unsupported(
            node,
            "the function that is differentiated here changes an array or list outside of it",
            "let it return what it computes",
        )
    own = tuple(leaf for parameter in parameters for leaf in parameter.leaves)
    free = _free_values(Block(own, tuple(operations), tuple(yields)))
    parameters += [Parameter(f"outer_{i}", Leaf(), (value,)) for i, value in enumerate(free)]
    body = Block((*own, *free), tuple(operations), tuple(yields))
    outlined = Function("function", tuple(parameters), body, tree, lowering.builder.facts)
    return Outlined(outlined, (*operands, *free), tuple(spans))


def _free_values(block: Block) -> list[Value]:
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


def inline(lowering: Lowering, function: Function, operands: Sequence[Value]) -> list[Value]:
    """Append a function's operations, its parameters replaced by these values; its results."""
    mapping = dict(zip(function.body.parameters, operands, strict=True))
    builder = lowering.builder
    start = len(builder.operations)
    for operation in function.body.operations:
        builder.append(_substituted(operation, mapping))
    assert builder.location is not None
    builder.relocate(start, builder.location)
    return [mapping.get(value, value) for value in function.body.yields]


def _substituted(operation: Operation, mapping: dict[Value, Value]) -> Operation:
    regions = tuple(
        Block(
            region.parameters,
            tuple(_substituted(inner, mapping) for inner in region.operations),
            tuple(mapping.get(value, value) for value in region.yields),
        )
        for region in operation.regions
    )
    operands = tuple(mapping.get(value, value) for value in operation.operands)
    return replace(operation, operands=operands, regions=regions)


def structured(lowering: Lowering, tree: Tree, leaves: Any) -> Any:
    """The frontend value of this structure, of an iterator of IR values."""
    if isinstance(tree, Leaf):
        return lowering.wrap(next(leaves))
    if isinstance(tree, Constant):
        return Static(tree.value)
    assert isinstance(tree, Node)
    items = tuple(structured(lowering, child, leaves) for child in tree.children)
    if tree.keys is not None and tree.cls is not dict and not issubclass(tree.cls, tuple):
        return new_instance(lowering, tree.cls, dict(zip(tree.keys, items, strict=True)))
    if tree.cls is list or tree.cls is dict:
        storage = Storage()
        is_list = tree.cls is list
        lowering.contents[storage] = (
            items if is_list else dict(zip(tree.keys or (), items, strict=True))
        )
        return ListRef(storage) if is_list else DictRef(storage)
    return TupleOf(items, tree.cls)


# -- grad, value_and_grad ------------------------------------------------------------------------


def _grad(with_value: bool) -> builtins.Handler:
    def handler(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
        names = ("function", "argnums", "has_aux")
        given = {**dict(zip(names, arguments, strict=False)), **keywords}
        function = given.pop("function")
        static = {name: _static(lowering, node, item) for name, item in given.items()}
        return Static(Derivative(function, with_value=with_value, **static))

    return handler


def _static(lowering: Lowering, node: Any, item: Any) -> Any:
    if isinstance(item, TupleOf):
        return tuple(_static(lowering, node, i) for i in item.items)
    if isinstance(item, Static):
        return item.value
    return application.static_integer(lowering, node, item)


def _call_gradient(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """A `Gradient` made outside, called inside."""
    callee, *rest = arguments
    gradient: Gradient = callee.value
    function: Any = Static(gradient.function)
    for argnums in gradient.chain[:-1]:
        function = Static(Derivative(function, argnums))
    inner = Derivative(function, gradient.argnums, gradient.has_aux, gradient.with_value)
    return _call_derivative(lowering, node, (Static(inner), *rest), keywords)


def _call_derivative(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    """The gradient of an outlined call, inlined."""
    callee, *rest = arguments
    spec: Derivative = callee.value
    call = outline(lowering, node, spec.function, rest, keywords)
    numbers = spec.argnums if isinstance(spec.argnums, tuple) else (spec.argnums,)
    for number in numbers:
        if not -len(rest) <= number < len(rest):
            refuse(lowering, node, argnums_error(number, "this call", len(rest)))
    numbers = tuple(number % len(rest) for number in numbers)
    seeded = _check_scalar(lowering, node, call.function, spec.has_aux)
    stages = Stages(call.function, call.active(sorted(set(numbers))), seeded)
    function = stages.value_and_gradient
    one = _one_like(lowering, node, stages.joined.seeds[0].leaves[0])
    results = iter(inline(lowering, function, (*call.operands, one)))
    assert isinstance(function.result, Node)
    value, gradient = (structured(lowering, tree, results) for tree in function.result.children)
    gradient = _arranged(gradient, numbers, spec.argnums)
    if spec.with_value:
        return TupleOf((value, gradient))
    return TupleOf((gradient, value.items[1])) if spec.has_aux else gradient


def _one_like(lowering: Lowering, node: Any, value: Value) -> Value:
    """The cotangent 1 of a number, or of an array of rank 0."""
    if isinstance(value.type, Array):
        shape, dtype = TupleOf(()), Static(np.dtype(value.type.dtype))
        return lowering.value(calls.call(lowering, node, Static(np.ones), (shape, dtype), {}))
    return lowering.emit(CONSTANT, {"value": one_like(value)})


def _arranged(gradient: Any, numbers: tuple[int, ...], argnums: Any) -> Any:
    """The gradients in the order of argnums (they come in that of the parameters)."""
    if not isinstance(argnums, tuple):
        return gradient
    order = sorted(set(numbers))
    parts = gradient.items if len(order) > 1 else (gradient,)
    return TupleOf(tuple(parts[order.index(number)] for number in numbers))


def _check_scalar(
    lowering: Lowering, node: Any, function: Function, has_aux: bool
) -> tuple[int, ...] | None:
    try:
        seeded = check_scalar(function, has_aux)
    except GradscribeError as error:
        refuse(lowering, node, error)
    return seeded


# -- jvp, vjp, hvp -------------------------------------------------------------------------------


def _jvp(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    names = ("function", "primals", "tangents")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    if isinstance(given["primals"], Ref) or is_number(given["primals"]):
        found = wording.operands(lowering.builder.facts, [given["primals"]])
        refuse(lowering, node, primals_error(found))
    primals = unpacking.unpacked(lowering, node, given["primals"])
    call = outline(lowering, node, given["function"], primals, {})
    active = call.active(range(len(primals)))
    directions = _directions(lowering, node, call, active, given["tangents"])
    function = tangent.differentiate(call.function, active)
    results = iter(inline(lowering, function, (*call.operands, *directions)))
    assert isinstance(function.result, Node)
    return TupleOf(tuple(structured(lowering, tree, results) for tree in function.result.children))


def _directions(
    lowering: Lowering, node: Any, call: Outlined, active: tuple[int, ...], tangents: Any
) -> list[Value]:
    """The leaves of the tangents that belong to the active leaves."""
    given: dict[int, Value] = {}
    items = unpacking.unpacked(lowering, node, tangents)
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


def _vjp(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    function, *primals = arguments
    call = outline(lowering, node, function, primals, keywords)
    results = inline(lowering, call.function, call.operands)
    value = structured(lowering, call.function.result, iter(results))
    again = outline(lowering, node, function, primals, keywords)
    return TupleOf((value, Static(LocalPullback(again))))


def _call_pullback(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    callee, cotangent = arguments
    call: Outlined = callee.value.outlined
    if any(operation.primitive.effect for operation in walk(call.function.body)):
        lowering.unsupported(
            node,
            "the pullback of a function with side effects",
            "use `gs.grad` or `gs.value_and_grad`, which run it once",
        )
    stages = Stages(call.function, call.active(range(len(call.spans))))
    seeds = [
        like(lowering, node, given, call.function.body.yields[leaf], "cotangent")
        for leaf, given in enumerate(result_tree(lowering, cotangent)[1])
        if leaf in stages.seeds
    ]
    joined = flat(stages.joined.function)
    count = len(call.function.body.yields)
    gradients = only_results(joined, range(count, len(joined.body.yields)))
    results = inline(lowering, gradients, (*call.operands, *seeds))
    found = dict(zip(stages.active, results, strict=True))
    return _by_argument(lowering, call, found)


def _by_argument(lowering: Lowering, call: Outlined, found: dict[int, Value]) -> TupleOf:
    """One value for each argument, None at leaves that were not differentiated."""
    results = []
    for parameter, span in zip(call.function.parameters, call.spans, strict=False):
        numbers = iter(span)
        results.append(_only_found(lowering, parameter.tree, numbers, found))
    return TupleOf(tuple(results))


def _only_found(lowering: Lowering, tree: Tree, numbers: Any, found: dict[int, Value]) -> Any:
    if isinstance(tree, Leaf):
        value = found.get(next(numbers))
        return Static(None) if value is None else lowering.wrap(value)
    if isinstance(tree, Constant):
        return Static(None)
    assert isinstance(tree, Node)
    items = tuple(_only_found(lowering, child, numbers, found) for child in tree.children)
    if tree.keys is not None and tree.cls is not dict and not issubclass(tree.cls, tuple):
        return new_instance(lowering, tree.cls, dict(zip(tree.keys, items, strict=True)))
    return TupleOf(items, tuple if tree.cls in (list, dict) else tree.cls)


def _hvp(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    names = ("function", "primals", "vector")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    if not isinstance(given["primals"], TupleOf):
        single = (given["function"], *(TupleOf((given[n],)) for n in ("primals", "vector")))
        return _hvp(lowering, node, single, {}).items[0]
    argnums = tuple(range(len(given["primals"].items)))
    gradient = Static(Derivative(given["function"], argnums))
    return _jvp(lowering, node, (gradient, given["primals"], given["vector"]), {}).items[1]


def enter(grad: Any, value_and_grad: Any) -> None:
    """Make the transforms known to the frontend."""
    builtins.BUILTINS.update({grad: _grad(False), value_and_grad: _grad(True)})
    builtins.BUILTINS.update({jvp: _jvp, vjp: _vjp, hvp: _hvp})
    builtins.OBJECTS.update({Derivative: _call_derivative, Gradient: _call_gradient})
    builtins.OBJECTS[LocalPullback] = _call_pullback
