"""The derivatives of one function over flat leaves, as the runtime's nodes call them.

`Derivatives` is what `gradscribe.runtime.operations.kernel` calls by that name. It is made of an IR
function in which every parameter and every result is one leaf (an eager operation), or of a
specialization, whose nested arguments and results it takes apart and puts together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gradscribe.codegen import Stepwise
from gradscribe.compiler.adjoint_by_operations import AdjointByOperations
from gradscribe.compiler.conditions import compiling
from gradscribe.compiler.generated import Generated
from gradscribe.compiler.leaves import flattener
from gradscribe.compiler.stages import Stages, flat, only_results
from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import CALL, IF, LOOP, Function, Operation, Value, callees, walk
from gradscribe.ir.liveness import Liveness
from gradscribe.ir.probing import probe
from gradscribe.ir.trees import Leaf
from gradscribe.ir.types import Array, Collected, Scalar
from gradscribe.ir.types import Sequence as SequenceType
from gradscribe.primitives.contracts import contract_of
from gradscribe.primitives.control import EFFECT, REREAD, WRITTEN, ZEROS_LIKE
from gradscribe.primitives.indexing import LENGTH, SIZE
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.transforms.analyses.opacity import reached_results
from gradscribe.transforms.derivatives.given_rules import has_given_rules
from gradscribe.transforms.passes.bufferize.aliasing import Aliasing, Copies
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.passes.without_effects import silenced

ForwardFunction = Callable[..., tuple[tuple[Any, ...], Any]]
_READ_NO_ELEMENTS = frozenset({LENGTH, SIZE, ZEROS_LIKE})
_LIKE = frozenset(
    PRIMITIVES[creation] for creation in (np.empty_like, np.zeros_like, np.ones_like, np.full_like)
)
"""Operations that take only shape and dtype from their first operand."""


class Derivatives:
    """Forward, adjoint and all higher orders, leaves in and leaves out.

    The record here is what the adjoint reads the elements of: an array that is recorded for its
    shape alone may be changed afterwards.

    name: the stem of the node's name. active: positions of the leaves that are differentiated.
    outputs: positions of the out leaves that have cotangents.
    """

    def __init__(
        self,
        name: str,
        stages: Stages,
        generated_forward: Generated,
        generated_adjoint: Generated,
        forward: Callable[[], ForwardFunction],
        adjoint: Callable[[], Callable[..., tuple[Any, ...]]],
        arguments: Callable[[Sequence[Any]], tuple[Any, ...]] = tuple,
        is_leaf: bool = False,
        flow: Callable[[], Callable[..., tuple[Any, ...]]] | None = None,
    ) -> None:
        self.name = name
        self.is_leaf = is_leaf
        self.active = stages.active
        self.outputs = stages.seeds
        self._stages = stages
        self._generated_forward = generated_forward
        self._generated_adjoint = generated_adjoint
        self._make_forward = forward
        self._make_adjoint = adjoint
        self._make_flow = flow or (lambda: self.adjoint)
        self._arguments = arguments
        self._orders: dict[int, Generated] = {}
        self._parts: dict[tuple[int, ...], Derivatives] = {}

    @cached_property
    def forward(self) -> ForwardFunction:
        """`(*leaves) -> (out leaves, record)`"""
        return self._make_forward()

    @cached_property
    def adjoint(self) -> Callable[..., tuple[Any, ...]]:
        """`(record, *cotangents of outputs) -> cotangents of the active leaves`"""
        return self._make_adjoint()

    @cached_property
    def flow(self) -> Callable[..., tuple[Any, ...]]:
        """The adjoint, of which results may share memory with each other and with cotangents."""
        return self._make_flow()

    @cached_property
    def has_given_rules(self) -> bool:
        """Whether a derivative is in part one that the user gave; see `derivatives.given_rules`."""
        return has_given_rules(self._stages.primal)

    @cached_property
    def has_choices(self) -> bool:
        """Whether the function calls factorizations, whose results may be a choice."""
        primal = self._stages.primal
        bodies = [primal.body, *(callee.function.body for callee in callees(primal))]
        return any(o.primitive.partial for body in bodies for o in walk(body))

    @cached_property
    @compiling
    def gradient(self) -> Derivatives:
        """The derivatives of `(*leaves, *cotangents) -> gradients of the active leaves`, by the
        active leaves and the cotangents."""
        inputs = len(self._stages.primal.body.parameters)
        active = (*self.active, *range(inputs, inputs + len(self.outputs)))
        name = f"{self.name}Backward"
        return self._of_this(name, self._stages.flat_gradient(name), active)

    @cached_property
    @compiling
    def tangent(self) -> Derivatives:
        """The derivatives of `(*leaves, *tangents of the active ones) -> tangents of the outputs`,
        by the active leaves and these tangents."""
        inputs = len(self._stages.primal.body.parameters)
        active = (*self.active, *range(inputs, inputs + len(self.active)))
        return self._of_this(f"{self.name}Tangent", self._stages.flat_tangent, active)

    def of_outputs(self, numbers: tuple[int, ...]) -> Derivatives | None:
        """The derivatives of some of the outputs alone; None where numbers would be drawn anew."""
        if _drawn(self._stages.primal) is not None:
            return None
        if numbers not in self._parts:
            seeded = [self.outputs[number] for number in numbers]
            primal = only_results(flat(self._stages.primal), seeded)
            self._parts[numbers] = self._of_this(self.name, primal, self.active)
        return self._parts[numbers]

    def _of_this(self, name: str, function: Function, active: tuple[int, ...]) -> Derivatives:
        """The derivatives of a derivative, for calls of the function that have been made."""
        check_drawn(self._stages.primal)
        return of_flat(name, silenced(function), active, views=False)

    def order(self, n: int) -> Callable[..., tuple[Any, ...]]:
        """F_n where the function has run already: what it draws would be drawn anew."""
        check_drawn(self._stages.primal)
        return self._generated_order(n).callable

    def _generated_order(self, n: int) -> Generated:
        if n not in self._orders:
            self._orders[n] = Generated(lambda: silenced(self._stages.order(n)))
        return self._orders[n]

    @cached_property
    def second_order(self) -> Callable[..., tuple[Any, ...]]:
        """F_2 of `Stages.order`, where the function has not run before."""
        function: Callable[..., tuple[Any, ...]] = Generated(lambda: self._stages.order(2)).callable
        return function

    def stepwise(self, n: int) -> Stepwise:
        """F_n, or for 0 the adjoint (its results as the generated code gives them), with a
        statement for each operation."""
        generated = self._generated_order(n) if n else self._generated_adjoint
        return generated.stepwise

    @cached_property
    def by_operations(self) -> AdjointByOperations | None:
        """The adjoint as single operations, where it can be run so."""
        adjoint = AdjointByOperations(self._stages)
        return adjoint if adjoint.is_possible else None

    def primal_call(self, leaves: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function itself as generated code, and its arguments."""
        return self._primal.callable, self._arguments(leaves)

    def primal(self, *leaves: Any) -> tuple[Any, ...]:
        """The out leaves of a function that returns a tuple of leaves."""
        results: tuple[Any, ...] = self._primal.callable(*leaves)
        return results

    @property
    def stepwise_primal(self) -> Stepwise:
        """The code of the function itself, with a statement for each operation."""
        return self._primal.stepwise

    @cached_property
    def reads(self) -> tuple[int, ...]:
        """The leaves whose elements the function itself reads."""
        primal = self._stages.primal
        read = _element_reads(primal)
        return tuple(i for i, leaf in enumerate(primal.body.parameters) if leaf in read)

    @cached_property
    def reached(self) -> tuple[frozenset[int], ...]:
        """For each active leaf, which of the outputs depend on it."""
        numbers = {position: number for number, position in enumerate(self.outputs)}
        found = (reached_results(self._stages.primal, [leaf]) for leaf in self.active)
        return tuple(frozenset(numbers[i] for i in each if i in numbers) for each in found)

    @cached_property
    def effects(self) -> tuple[Operation, ...]:
        """The calls of what the compiler does not look into, which may draw random numbers."""
        primal = self._stages.primal
        bodies = [primal.body, *(callee.function.body for callee in callees(primal))]
        return tuple(o for body in bodies for o in walk(body) if o.primitive is EFFECT)

    @cached_property
    def _primal(self) -> Generated:
        return Generated(lambda: simplify(self._stages.primal))

    # -- what the record refers to ---------------------------------------------------------------

    @cached_property
    def record_inputs(self) -> tuple[int, ...]:
        """The leaves whose memory the record refers to."""
        return tuple(self._shared(self._forward_ir.body.parameters))

    @cached_property
    def record_outputs(self) -> tuple[int, ...]:
        """The out leaves whose memory the record refers to."""
        return tuple(self._shared(self._out_leaves))

    @property
    def keeps_values(self) -> bool:
        """Whether the adjoint reads more of the record than types and shapes."""
        return bool(self._record_leaves)

    @cached_property
    def higher_inputs(self) -> tuple[int, ...]:
        """The leaves whose elements some derivative of second or higher order reads."""
        function = self._stages.order(2)
        read = _element_reads(function)
        leaves = function.body.parameters[: len(self._stages.primal.body.parameters)]
        return tuple(i for i, leaf in enumerate(leaves) if leaf in read)

    @cached_property
    def linear(self) -> bool:
        """Whether the adjoint reads nothing that depends on an active leaf."""
        if not self.active:
            return True
        forward = self._forward_ir
        varied = {forward.body.parameters[leaf] for leaf in self.active}
        for operation in walk(forward.body):
            if operation.primitive in (IF, LOOP, CALL):
                return False
            if operation.primitive not in _READ_NO_ELEMENTS and varied & {*operation.operands}:
                varied.update(operation.results)
        return not any(v in varied for v in self._record_leaves)

    @cached_property
    def _forward_ir(self) -> Function:
        return self._generated_forward.bufferized

    @property
    def _out_leaves(self) -> tuple[Value, ...]:
        return self._forward_ir.body.yields[: len(self._stages.primal.body.yields)]

    @cached_property
    def _record_leaves(self) -> tuple[Value, ...]:
        """What the adjoint reads of the record, beyond lengths and types."""
        adjoint = self._stages.adjoint
        read = _element_reads(adjoint)
        recorded = self._forward_ir.body.yields[len(self._stages.primal.body.yields) :]
        entries = zip(recorded, adjoint.parameters[0].leaves, strict=True)
        return tuple(leaf for leaf, entry in entries if entry in read)

    @cached_property
    def _aliasing(self) -> Aliasing:
        return Aliasing(self._forward_ir, Liveness(self._forward_ir), Copies())

    def _shared(self, values: Sequence[Value]) -> list[int]:
        """The positions of those values that share memory with a part of the record."""
        buffers = self._aliasing.buffers
        recorded = [b for leaf in self._record_leaves for b in buffers(leaf).values()]
        found = []
        for position, value in enumerate(values):
            if isinstance(value.type, (Array, SequenceType, Collected)):
                own = buffers(value).values()
                if any(r is b or b in r.aliases for r in recorded for b in own):
                    found.append(position)
        return found


def of_flat(name: str, primal: Function, active: tuple[int, ...], *, views: bool) -> Derivatives:
    """The derivatives of a function of flat leaves: one eager operation.

    views: a result may be a view of an argument, as the operation itself returns it.
    """
    is_leaf = isinstance(primal.result, Leaf)
    primal = flat(primal)
    stages = Stages(primal, active, least_record=True)
    results = 0 if views else len(primal.body.yields)
    forward = Generated(lambda: stages.forward, sharing=slice(results, None))
    adjoint = Generated(lambda: _flat_adjoint(stages.adjoint))
    flow = Generated(lambda: _flat_adjoint(stages.adjoint), sharing=slice(None))
    return Derivatives(
        *(name, stages, forward, adjoint, lambda: forward.callable, lambda: adjoint.callable),
        is_leaf=is_leaf,
        flow=lambda: flow.callable,
    )


def _flat_adjoint(adjoint: Function) -> Function:
    """`(record, *cotangents) -> tuple`: only the record stays one parameter."""
    record = adjoint.parameters[0]
    flattened = flat(adjoint)
    parameters = (record, *flattened.parameters[len(record.leaves) :])
    return replace(flattened, parameters=parameters)


def of_structured(
    name: str,
    stages: Stages,
    forward: Generated,
    adjoint: Generated,
    arguments: Callable[[Sequence[Any]], tuple[Any, ...]],
) -> Derivatives:
    """The derivatives of a user's function, whose arguments and results may nest.

    arguments: builds the arguments of the generated functions from the leaves.
    """

    def make_forward() -> ForwardFunction:
        run, leaves_of = forward.callable, flattener(stages.primal.result)

        def flat_forward(*leaves: Any) -> tuple[tuple[Any, ...], Any]:
            result, record = run(*arguments(leaves))
            return leaves_of(result), record

        return flat_forward

    def make_adjoint() -> Callable[..., tuple[Any, ...]]:
        run, leaves_of = adjoint.callable, flattener(stages.adjoint.result)
        return lambda record, *cotangents: leaves_of(run(record, *cotangents))

    return Derivatives(name, stages, forward, adjoint, make_forward, make_adjoint, arguments)


def _element_reads(function: Function) -> set[Value]:
    """The values of which some operation reads more than type and shape."""
    read = {*function.body.yields}
    for operation in walk(function.body):
        if operation.primitive in _LIKE:
            read.update(operation.operands[1:])
        elif operation.primitive not in _READ_NO_ELEMENTS:
            read.update(operation.operands)
        for region in operation.regions:
            read.update(region.yields)
    return read


def check_drawn(function: Function) -> None:
    """Refuse derivatives that a run of their own computes, after that of the function."""
    drawn = _drawn(function)
    if drawn is not None:
        raise UnsupportedError(
            f"`{function.name}` draws random numbers, or calls code that cannot be read, and might "
            "get others for its derivatives of higher order",
            "draw them before the call, and pass them in; or use `gs.hvp`",
            drawn.location,
        )


def _drawn(function: Function) -> Operation | None:
    """An operation that gives numbers which it might not give again: not so one of a generator that
    the function makes itself, of a seed."""
    seeded: set[Value] = set()
    unread = {o.result: o for o in walk(function.body) if o.primitive is EFFECT}
    for operation in walk(function.body):
        if operation.primitive is REREAD or probe(operation.callee, "__gradscribe_changes__"):
            return operation
        if operation.primitive is WRITTEN:
            call = unread.get(operation.operands[1])
            if call is None or contract_of(call.callee).keeps:
                return operation
        if operation.primitive is not EFFECT or not seeded.isdisjoint(operation.operands):
            continue
        if any(isinstance(result.type, (Scalar, Array)) for result in operation.results):
            return operation
        if operation.attributes["args"]:
            seeded.update(operation.results)
    return None
