"""Products with the derivative at a point: `vjp`, `jvp` and `hvp`.

They take and return plain values in any nesting; cotangents and tangents have the structure,
shapes and dtypes of what they belong to.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradscribe.api import deciding, recorded_transforms
from gradscribe.api.functional import Gradient, check_scalar
from gradscribe.api.objects_as_arguments import refuse_objects
from gradscribe.api.partly_compiled import RECORDING, PartialCall
from gradscribe.api.pointwise import OfFunction, OfGradient, Pointwise
from gradscribe.api.recorded_transforms import Compile, RecordedPullback, compiles
from gradscribe.api.stored_outside import StoredOutside
from gradscribe.api.transform import Transform
from gradscribe.compiler import Primal, Target, partial_target, target_of
from gradscribe.compiler.entry import Values
from gradscribe.compiler.generated import tier
from gradscribe.compiler.given_leaves import matched
from gradscribe.compiler.leaves import copied
from gradscribe.compiler.outside_state import OutsideState
from gradscribe.errors import AliasingError, ArgumentError, NoDerivativeError, SourceNotFoundError
from gradscribe.ir.trees import Constant, unflatten
from gradscribe.ir.types import Array, is_differentiable
from gradscribe.recording import runs
from gradscribe.recording.levels import is_running
from gradscribe.tracebacks import shortened


class Pullback:
    """The function that `gs.vjp` returns: from a cotangent of the result to one for each
    argument (None for those that have nothing to differentiate). It may be called any number
    of times, whatever becomes of arguments and result. `.source` is the generated adjoint."""

    def __init__(self, call: _Call, record: Any, out: Sequence[Any]) -> None:
        self._call = call
        self._record = record
        self._out = out

    @shortened
    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        call = self._call
        seeds = call.seeds(cotangent, self._out)
        found = call.decided(lambda call: call.point.pullback(self._record, seeds))
        return call.by_argument(found)

    @property
    def source(self) -> str:
        return self._call.point.pullback_source


class _Call:
    """One call of a function or gradient: its lowering, and its leaves."""

    def __init__(
        self, function: Callable[..., Any], primals: Sequence[Any], partial: bool = False
    ) -> None:
        """partial: calls that cannot be compiled are recorded."""
        self._gradient = function if isinstance(function, Gradient) else None
        if self._gradient is not None:
            self._gradient.check_differentiable()
            self._gradient.check_in_order()
        target, self._values = _target(function, primals, partial)
        self._target: Target = target
        self._first = len(self._target.first)
        self._count = len(primals)
        self._find()

    def _find(self) -> None:
        self.primal, self._matched = self._target.program.find(self._values)
        leaves = self.primal.layout.leaves(self._matched)
        self.primal.check_changed(self._matched, leaves)
        self.leaves = tuple(self.primal.layout.plain(leaves))
        self.point = self._point(self.primal)

    def _point(self, primal: Primal) -> Pointwise:
        argnums = tuple(range(self._first, self._first + self._count))
        active = primal.active_leaves(argnums)
        chain = self._gradient.chain if self._gradient else None
        named = tuple(dict(self._target.keywords)) if self._target.keywords else ()
        key = (_Call, active, chain, self._first, named)
        found: Pointwise | None = primal.plans.get(key)
        if found is None:
            stored = StoredOutside.of(primal, self._target)
            if self._gradient is None:
                found = OfFunction(primal, active, stored)
            else:
                leaves = self._gradient.leaf_chain(self._target, primal)
                found = OfGradient(primal, leaves, active, stored)
            primal.plans[key] = found
        return found

    @classmethod
    def made(
        cls,
        function: Callable[..., Any],
        primals: Sequence[Any],
        compile: Callable[[Pointwise], Any],
    ) -> _Call:
        """A call for which all is compiled, in part, that `compile` asks for."""
        call = cls(function, primals, partial=True)
        call.run(lambda call: compile(call.point))
        return call

    def run(self, compute: Callable[[_Call], Any]) -> Any:
        """The result of `compute`; once more where compiling for it has assumed what does not
        hold for this call."""
        while True:
            primal, assumed = self.primal, self.primal.facts.assumed
            result = self.decided(compute)
            if primal.facts.assumed == assumed or primal.match(self._values) is not None:
                return result
            self._find()

    def stored(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """The leaves of the result, of those and what is new in what the function stores outside:
        that is stored."""
        if self.point.stored is None:
            return leaves
        count = len(self.point.function.body.yields)
        self.store(leaves[count:])
        return leaves[:count]

    def store(self, new: Sequence[Any]) -> None:
        """Store what is new in what the function stores outside."""
        if self.point.stored is not None:
            self.point.stored.store(self._matched, self._target, new)

    def decided(self, compute: Callable[[_Call], Any]) -> Any:
        """The result of `compute`, whatever choice a library makes if that makes no difference."""
        try:
            return compute(self)
        except NoDerivativeError as error:
            if self.point.stored is not None:
                raise
            own = deciding.Differentiated(self.primal, self.leaves, tuple(self.point.active))
            return deciding.by_values(error, [own], functools.partial(compute, self))

    def result(self, leaves: Sequence[Any]) -> Any:
        """The result of the function, from its leaves."""
        return unflatten(self.point.function.result, iter(leaves))

    def seeds(self, cotangent: Any, out: Sequence[Any]) -> list[Any]:
        """The cotangents of the differentiable leaves, from one in the result's structure."""
        own = out[: len(self.point.function.body.yields)]
        leaves = matched(cotangent, self.point.function.result, own, "cotangent")
        return [leaves[seed] for seed in self.point.seeds]

    def by_argument(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Values for the active leaves, in the structure of the arguments."""
        empty = (i for i, leaf in enumerate(self.leaves) if isinstance(leaf, list) and not leaf)
        given: dict[int, Any] = {i: [] for i in empty}
        given.update(zip(self.point.active, gradients, strict=True))
        numbers = iter(range(len(self.leaves)))
        results = []
        for typed in self.primal.arguments[: self._first + self._count]:
            own = [next(numbers) for _ in typed.types]
            is_constant = isinstance(typed.tree, Constant)
            parts = iter([given.get(i) for i in own])
            results.append(None if is_constant else unflatten(typed.tree, parts))
        return tuple(results[self._first :])

    def directions(self, tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the active leaves, from tangents in the structure of the arguments."""
        given = len(tangents) if isinstance(tangents, (tuple, list)) else None
        if given != self._count:
            raise count_error(self._count, given)
        start = sum(len(a.types) for a in self.primal.arguments[: self._first])
        found: dict[int, Any] = {}
        own = self.primal.arguments[self._first : self._first + self._count]
        for typed, tangent in zip(own, tangents, strict=True):
            stop = start + len(typed.types)
            likes = self.leaves[start:stop]
            found.update(enumerate(matched(tangent, typed.tree, likes, "tangent"), start))
            start = stop
        return [found[leaf] for leaf in self.point.active]


def _target(
    function: Callable[..., Any], primals: Sequence[Any], partial: bool
) -> tuple[Target, Values]:
    """What is compiled for a call of a function, or of what a gradient is made of, with what."""
    target = target_of(function.function if isinstance(function, Gradient) else function)
    if partial:
        target = partial_target(target, RECORDING)
    if not isinstance(primals, (tuple, list)):
        raise primals_error(f"a {type(primals).__name__}")
    target = target.of_call(len(primals))
    return target, target.values(tuple(primals), {})


def _compiled_partly(
    function: Callable[..., Any],
    primals: Sequence[Any],
    compile: Callable[[Pointwise], Any],
    run: Callable[[_Call], Any],
    record: Callable[[], Any],
    order: int,
) -> Any:
    """The result of `run`, for a call that is compiled in part; of `record`, where it is not.

    compile: asks for all that `run` needs. order: of the derivative of `function`."""
    try:
        target, values = _target(function, primals, True)
    except SourceNotFoundError:
        return record()

    def make() -> tuple[Primal, Callable[[], Any]]:
        call = _Call.made(function, primals, compile)
        return call.primal, functools.partial(run, call)

    chain = function.chain if isinstance(function, Gradient) else ()
    key = (_compiled_partly, chain, compile, len(primals))
    plain = functools.partial(function, *copied(tuple(primals)))
    is_first_order = order == 1 and not isinstance(function, Transform)
    return PartialCall(target, values, key, make, record, plain, is_first_order).run()


@shortened
def vjp(
    function: Callable[..., Any], *primals: Any, jit: bool = False, compile: Compile = True
) -> tuple[Any, Pullback | RecordedPullback]:
    """The result at `primals`, and the function from its cotangent to theirs."""
    chosen = compiles(function, compile, jit)
    if chosen is True and not is_running():
        with tier(jit):
            return _vjp(_Call(function, primals))

    def record() -> tuple[Any, RecordedPullback]:
        result, pullback = runs.vjp(function, primals)
        return result, RecordedPullback(pullback)

    if not chosen or is_running():
        return record()
    found: tuple[Any, Pullback | RecordedPullback] = _compiled_partly(
        function, primals, _FOR_PULLBACK, _vjp, record, 1
    )
    return found


_FOR_PULLBACK = operator.methodcaller("compile_pullback")
_FOR_TANGENT = operator.methodcaller("compile_tangent")
_FOR_SECOND_ORDER = operator.methodcaller("compile_second_order")


def _vjp(call: _Call) -> tuple[Any, Pullback]:
    out, record = call.run(_recorded)
    shared, made = call.point.record_outputs, dict[int, Any]()
    results = len(call.point.function.body.yields)  # what is stored outside follows
    own = [
        copied(leaf, made)
        if position in shared or (isinstance(leaf, list) and position < results)
        else leaf
        for position, leaf in enumerate(out)
    ]
    return call.result(call.stored(own)), Pullback(call, record, out)


def _recorded(call: _Call) -> tuple[tuple[Any, ...], Any]:
    """The result leaves, and a record that no later change of the arguments reaches."""
    shared, made = call.point.record_inputs, dict[int, Any]()
    if not set(shared).isdisjoint(call.primal.lowered.placed):
        raise AliasingError(
            f"`{call.primal.name}` puts an array from outside in a container there, and the "
            "derivative reads it",
            "put a copy there",
        )
    leaves = [
        copied(leaf, made) if position in shared else leaf
        for position, leaf in enumerate(call.leaves)
    ]
    for leaf in leaves:
        if isinstance(leaf, OutsideState):
            leaf.renew(made)
    return call.point.forward(leaves)


@shortened
def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    jit: bool = False,
    compile: Compile = True,
) -> tuple[Any, Any]:
    """The result at `primals`, and its derivative along `tangents` (None, or anything, for an
    argument that has nothing to differentiate)."""
    chosen = compiles(function, compile, jit)
    refuse_objects(primals, tangents, is_recorded=not chosen)
    if chosen is True and not is_running():
        with tier(jit):
            return _jvp(_Call(function, primals), tangents)

    def record() -> tuple[Any, Any]:
        return runs.jvp(function, *_of_one_length(primals, tangents))

    if not chosen or is_running():
        return record()

    def run(call: _Call) -> Any:
        return _jvp(call, tangents)

    found: tuple[Any, Any] = _compiled_partly(function, primals, _FOR_TANGENT, run, record, 1)
    return found


def _jvp(call: _Call, tangents: Sequence[Any]) -> tuple[Any, Any]:
    results = call.run(lambda call: call.point.tangent(call.leaves, call.directions(tangents)))
    yields = call.point.function.body.yields
    count = len(results) - sum(is_differentiable(value.type) for value in yields)
    out, d_out = call.stored(results[:count]), iter(results[count:])
    tangent = [next(d_out) if is_differentiable(value.type) else None for value in yields]
    return call.result(out), call.result(tangent)


@shortened
def hvp(
    function: Callable[..., Any],
    primals: Any,
    vector: Any,
    *,
    jit: bool = False,
    compile: Compile = True,
) -> Any:
    """The Hessian of a scalar function at `primals`, times `vector`.

    primals, vector: tuples with one entry for each argument; the result is such a tuple. Where
    they are no tuples, they are the only argument, and so is the result.
    """
    if not isinstance(primals, tuple):
        return hvp(function, (primals,), (vector,), jit=jit, compile=compile)[0]
    chosen = compiles(function, compile, jit)
    refuse_objects(primals, vector, is_recorded=not chosen)
    if chosen is True and not is_running():
        with tier(jit):
            return _hvp(_Call(function, primals), vector)

    def record() -> Any:
        gradient = recorded_transforms.gradients(function)
        return runs.jvp(gradient, *_of_one_length(primals, vector))[1]

    if not chosen or is_running():
        return record()

    def run(call: _Call) -> Any:
        return _hvp(call, vector)

    return _compiled_partly(function, primals, _FOR_SECOND_ORDER, run, record, 2)


def _hvp(call: _Call, vector: Sequence[Any]) -> Any:
    """The function runs once: what it draws, prints and stores is that of one call."""
    check_scalar(call.point.function, has_aux=False, location=call.primal.location)
    found, new = call.run(
        lambda call: call.point.second_order(
            call.leaves, _ones(call.point), call.directions(vector)
        )
    )
    call.store(new)
    return call.by_argument(found)


def _of_one_length(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The primals and the tangents of a call, as many of these as of those."""
    if not isinstance(primals, (tuple, list)):
        raise primals_error(f"a {type(primals).__name__}")
    given = len(tangents) if isinstance(tangents, (tuple, list)) else None
    if given != len(primals):
        raise count_error(len(primals), given)
    return primals, tangents


def _ones(point: Pointwise) -> list[Any]:
    """The cotangent of a scalar result: generated code may copy that of an array."""
    types = [point.function.body.yields[seed].type for seed in point.seeds]
    return [np.dtype(t.dtype).type(1) if isinstance(t, Array) else 1.0 for t in types]


def second_order(
    function: Callable[..., Any], primals: Sequence[Any], cotangent: Any, vector: Sequence[Any]
) -> tuple[Any, ...]:
    """The Hessian of <cotangent, function> at `primals`, times `vector`; one value for each
    argument."""
    call = _Call(function, primals)
    found: tuple[Any, ...] = call.run(lambda call: _second_order(call, cotangent, vector))
    return found


def _second_order(call: _Call, cotangent: Any, vector: Sequence[Any]) -> tuple[Any, ...]:
    out, _ = call.point.forward(call.leaves)
    seeds = call.seeds(cotangent, out)
    found, _ = call.point.second_order(call.leaves, seeds, call.directions(vector))
    return call.by_argument(found)


def primals_error(given: str) -> ArgumentError:
    return ArgumentError(
        f"the primals are a tuple, and not {given}",
        "pass a tuple with one value for each argument, as in `(x,)`",
    )


def count_error(primals: int, tangents: int | None) -> ArgumentError:
    """tangents: how many there are (None: no tuple of them)."""
    given = "no tuple of" if tangents is None else tangents
    return ArgumentError(
        f"{primals} primals, but {given} tangents were given",
        "give a tuple with one tangent for each primal",
    )
