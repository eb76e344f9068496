"""What `gs.jacobian` and its kind mean in compiled code: loops over the elements of a leaf.

Reverse mode runs the function once, and its adjoint once for each element of a result; forward
mode runs the function with its tangent once for each element of an argument. A Jacobian of a
call has the structure of its result, with that of the arguments in place of each leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

from gradscribe.api import jacobian_prelude
from gradscribe.api.given_tangents import refuse
from gradscribe.api.outlining import (
    Inlined,
    Outlined,
    Resumed,
    arranged,
    free_values,
    outline,
)
from gradscribe.api.transform_calls import (
    LocalPullback,
    argument_positions,
    by_argument,
    compiled_with_the_rest,
    inline_with_one,
    is_gradient,
    nothing_to_differentiate,
    of_function,
    static_options,
)
from gradscribe.compiler import surroundings
from gradscribe.compiler.stages import Stages, also_returning, flat, only_results, tangent_only
from gradscribe.errors import ArgumentError
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.interruptions import unknown_type
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static, TupleOf
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Function, Parameter, Value, walk
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import Constant, Leaf, Node, Tree
from gradscribe.ir.types import Array, Opaque, Scalar, is_complex, is_differentiable
from gradscribe.ir.types import Sequence as ListOf
from gradscribe.primitives.gauge import determined
from gradscribe.primitives.raising import is_attempt
from gradscribe.primitives.typing import dims_of, product
from gradscribe.transforms import tangent
from gradscribe.transforms.analyses.activity import active_values
from gradscribe.transforms.analyses.opacity import refuse_opaque
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.passes.sink import is_ordered
from gradscribe.transforms.passes.without_effects import effect_of, silenced

Mode = Literal["auto", "forward", "reverse"]
Blocks = dict[tuple[int, int], Any]
"""For a leaf of the result, and one of the arguments: the derivative of one by the other."""


@dataclass(frozen=True, eq=False)
class Derivative:
    """What `gs.jacobian(f, …)` is in compiled code, before f: that is a value of the program (it
    may be a closure)."""

    argnums: int | tuple[int, ...] = 0
    mode: Mode = "auto"
    holomorphic: bool = False

    @property
    def __gradscribe_gradient__(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class _Pullback:
    """The callable `pullback` of the prelude."""

    of: LocalPullback


@dataclass(frozen=True, eq=False)
class _Push:
    """The callable `push` of the prelude: from a direction of one leaf to tangents."""

    along: Resumed


def make(mode: Mode) -> handlers.Handler:
    """The handler of `gs.jacobian` and its kind."""

    @compiled_with_the_rest
    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        names = ("function", "argnums", "mode", "holomorphic")
        function, static = static_options(lowering, node, names, arguments, keywords)
        return of_function(Derivative(**{"mode": mode, **static}), function)

    return handler


def call_derivative(
    lowering: Lowering, node: Any, callee: Static, function: Any, /, *rest: Any, **keywords: Any
) -> Any:
    """The Jacobians of an outlined call."""
    spec: Derivative = callee.value
    call = outline(lowering, node, function, rest, keywords)
    if call.always_raises:
        call.run(lowering)
        return Static(None)
    numbers = argument_positions(lowering, node, spec.argnums, len(rest), function)
    active = call.active(sorted(set(numbers)))
    results = _results(lowering, node, call)
    for number in numbers:
        if not set(active) & set(call.spans[number]):
            refuse(lowering, node, nothing_to_differentiate(number))
    arguments = [call.function.body.parameters[leaf] for leaf in active]
    _check_leaves(lowering, node, arguments)
    if not spec.holomorphic:
        _check_real(lowering, node, arguments, [call.results[i] for i in results])
    mode = _cheaper(lowering, call, active, results) if spec.mode == "auto" else spec.mode
    tangents: dict[int, Function] = {}
    if mode == "forward":
        computing, drawn = _computing(lowering, node, call, active, results)
        checked = is_gradient(function)
        tangents = {leaf: _along(computing, leaf, checked) for leaf in active}
    if spec.mode == "auto" and any(map(_meets_choices, tangents.values())):
        mode = "reverse"
    if mode == "forward":
        blocks = _forward(lowering, node, call, tangents, results, drawn)
    else:
        blocks = _reverse(lowering, node, call, active, results)

    def of_result(leaf: int) -> Any:
        if leaf not in results:
            return Static(None)
        found = {i: blocks[leaf, i] for i in active}
        parts = tuple(by_argument(lowering, call, number, found) for number in numbers)
        return TupleOf(parts) if isinstance(spec.argnums, tuple) else parts[0]

    leaves = iter(range(len(call.results)))
    return _arranged(lowering, call.tree, lambda: of_result(next(leaves)))


def _arranged(lowering: Lowering, tree: Tree, of_leaf: Callable[[], Any]) -> Any:
    if isinstance(tree, Leaf):
        return of_leaf()
    if isinstance(tree, Constant):
        return Static(None)
    assert isinstance(tree, Node)
    return arranged(lowering, tree, [_arranged(lowering, c, of_leaf) for c in tree.children])


def _results(lowering: Lowering, node: Any, call: Outlined) -> tuple[int, ...]:
    """The differentiable leaves of the result."""
    yields = call.results
    found = tuple(i for i, value in enumerate(yields) if is_differentiable(value.type))
    if not found and any(isinstance(value.type, Opaque) for value in yields):
        raise unknown_type(lowering.location(node))
    if not found:
        refuse(
            lowering,
            node,
            ArgumentError(
                "the result of the function has nothing to differentiate",
                "return floating-point numbers or arrays",
            ),
        )
    _check_leaves(lowering, node, [yields[leaf] for leaf in found])
    return found


def _check_leaves(lowering: Lowering, node: Any, leaves: Sequence[Value]) -> None:
    for leaf in leaves:
        item = leaf.type.item if isinstance(leaf.type, ListOf) else leaf.type
        if not isinstance(item, (Array, Scalar)):
            lowering.unsupported(
                node, "the Jacobian by, or of, nested lists", "make arrays or tuples of them"
            )
        if is_complex(item) and item is not leaf.type:
            lowering.unsupported(
                node, "the Jacobian by, or of, lists of complex numbers", "make arrays of them"
            )


def _check_real(
    lowering: Lowering, node: Any, arguments: Sequence[Value], results: Sequence[Value]
) -> None:
    """Refuse complex results of complex arguments, whose derivative need not be one number."""
    if all(any(is_complex(leaf.type) for leaf in leaves) for leaves in (arguments, results)):
        lowering.unsupported(
            node,
            "the Jacobian of complex results by complex arguments",
            "pass `holomorphic=True` if the function has a complex derivative; if not, let it "
            "take, or return, real and imaginary parts",
        )


def _cheaper(
    lowering: Lowering, call: Outlined, active: Sequence[int], results: Sequence[int]
) -> Mode:
    """The mode that takes fewer runs; later calls with other lengths are compiled anew where that
    makes it the other one."""
    if effect_of(silenced(call.function)) is not None:
        return "reverse"
    facts = lowering.builder.facts
    inputs = _count(facts, [call.function.body.parameters[leaf] for leaf in active])
    outputs = _count(facts, [call.results[leaf] for leaf in results])
    if inputs is None or outputs is None:
        return "reverse"
    return "forward" if facts.at_least(outputs - inputs, 0) else "reverse"


def _count(facts: Facts, leaves: Sequence[Value]) -> Affine | None:
    """How many elements these have."""
    total = Affine.of(0)
    for leaf in leaves:
        type_ = leaf.type
        if isinstance(type_, ListOf):
            if type_.length is None:
                return None
            total += product(facts, (type_.length, *dims_of(type_.item)))
        else:
            total += product(facts, dims_of(type_))
    return total


# -- the modes -----------------------------------------------------------------------------------


def _reverse(
    lowering: Lowering, node: Any, call: Outlined, active: Sequence[int], results: Sequence[int]
) -> Blocks:
    blocks: Blocks = {}
    likes = TupleOf(tuple(lowering.wrap(call.operands[leaf]) for leaf in active))
    for leaf in results:
        is_first = leaf == results[0]
        only = call.of((leaf,), storing=is_first)
        if not is_first:
            only = replace(only, function=silenced(only.function))
        if _is_real_number(call.results[leaf]):
            both = Stages(only.function, tuple(active), (0,)).value_and_gradient
            values = inline_with_one(lowering, node, both, call.operands)
            only.store(lowering, values)
            found = list(map(lowering.wrap, values[len(only.function.body.yields) :]))
        else:
            pullback = LocalPullback.of(lowering, only, tuple(active))
            (result,) = pullback.value(lowering).items
            arguments = (Static(_Pullback(pullback)), result, likes)
            rows = Static(jacobian_prelude.rows)
            by_row: Any = lowering.call(node, rows, arguments, {})
            found = list(by_row.items)
        blocks.update({(leaf, i): item for i, item in zip(active, found, strict=True)})
    return blocks


def _pull(lowering: Lowering, node: Any, callee: Static, seed: Any, /) -> Any:
    pullback: LocalPullback = callee.value.of
    return TupleOf(tuple(pullback.cotangents(lowering, [lowering.value(seed)]).values()))


def _computing(
    lowering: Lowering, node: Any, call: Outlined, active: Sequence[int], results: Sequence[int]
) -> tuple[Function, tuple[Value, ...]]:
    """The results as a function that does nothing besides. Of a call that draws, or reads, these
    are the operations that have derivatives alone; the values that they read of others, which have
    run once then, are more parameters."""
    function = silenced(only_results(call.function, results))
    if effect_of(function) is None:
        return function, ()
    refuse_opaque(function, frozenset(active))
    values = active_values(function, frozenset(active))
    operations = tuple(o for o in function.body.operations if not values.isdisjoint(o.results))
    block = replace(function.body, operations=operations)
    drawn = tuple(free_values(block))
    more = tuple(Parameter(f"drawn_{i}", Leaf(), (value,)) for i, value in enumerate(drawn))
    body = replace(block, parameters=(*block.parameters, *drawn))
    function = replace(function, parameters=(*function.parameters, *more), body=body)
    if effect_of(function) is not None or any(map(is_attempt, walk(body))):
        _refuse_repeated(lowering, node)
    return function, drawn


def _refuse_repeated(lowering: Lowering, node: Any) -> NoReturn:
    """Refuse to compute columns, for each of which something would run again."""
    lowering.unsupported(
        node,
        "forward mode through a loop or branch that draws random numbers, reads or calls code "
        "that cannot be read: it runs once for each element of the arguments",
        "use `gs.jacrev`, or do that outside of the function; of a primitive that always gives the "
        "same, say so: `gs.primitive(…, pure=True)`",
    )


def _along(function: Function, leaf: int, checked: bool) -> Function:
    """The tangents of results along one leaf of the arguments. checked: of `is_gradient`."""
    along = tangent.differentiate(flat(function), (leaf,), surroundings.inline, of_gradient=checked)
    return simplify(tangent_only(along))


def _meets_choices(along: Function) -> bool:
    """Whether tangents are of vectors of which there is a choice, as forward mode refuses."""
    return any(operation.callee is determined for operation in walk(along.body))


def _forward(
    lowering: Lowering,
    node: Any,
    call: Outlined,
    tangents: Mapping[int, Function],
    results: Sequence[int],
    drawn: tuple[Value, ...],
) -> Blocks:
    blocks: Blocks = {}
    only = call.of(results, storing=True)
    whole = also_returning(only.function, drawn)
    made = Inlined(zip(whole.body.parameters, call.operands, strict=True))
    made.append(lowering, whole.body.operations)
    values = made.values(whole.body.yields)
    only.store(lowering, values)
    operands = (*call.operands, *values[len(values) - len(drawn) :])
    likes = TupleOf(tuple(map(lowering.wrap, values[: len(results)])))
    for leaf, along in tangents.items():
        if _is_real_number(call.operands[leaf]):
            found = list(map(lowering.wrap, inline_with_one(lowering, node, along, operands)))
        else:
            resumed = Resumed.of(lowering, along, operands, made)
            if any(map(is_ordered, resumed.rest)):
                _refuse_repeated(lowering, node)
            push = _Push(resumed)
            arguments = (Static(push), lowering.wrap(call.operands[leaf]), likes)
            columns = Static(jacobian_prelude.columns)
            by_column: Any = lowering.call(node, columns, arguments, {})
            found = list(by_column.items)
        blocks.update({(i, leaf): item for i, item in zip(results, found, strict=True)})
    return blocks


def _pushed(lowering: Lowering, node: Any, callee: Static, seed: Any, /) -> Any:
    found = callee.value.along.results(lowering, [lowering.value(seed)])
    return TupleOf(tuple(map(lowering.wrap, found)))


def _is_real_number(value: Value) -> bool:
    is_array = isinstance(value.type, Array) and value.type.dims
    return isinstance(value.type, (Array, Scalar)) and not (is_array or is_complex(value.type))


def enter() -> None:
    """Make the callables known to the frontend."""
    handlers.enter(
        {
            handlers.ObjectsOf(Derivative): call_derivative,
            handlers.ObjectsOf(_Pullback): _pull,
            handlers.ObjectsOf(_Push): _pushed,
        }
    )
