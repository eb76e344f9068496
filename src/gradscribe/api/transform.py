"""What the functions that `gs.grad`, `gs.jacobian` and their kind return have in common.

A `Transform` finds, for the arguments of a call, the lowering that fits them, and runs the code
that was generated for it.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from gradscribe.api import deciding, recorded_transforms
from gradscribe.api.copying import CopiedAsFunction
from gradscribe.api.partly_compiled import PartialCall
from gradscribe.api.recorded_transforms import Compile
from gradscribe.api.stored_outside import StoredOutside
from gradscribe.compiler import Primal, Target, target_of
from gradscribe.compiler.entry import Values
from gradscribe.compiler.generated import Generated, tier
from gradscribe.compiler.partly import compiled_as_a_whole
from gradscribe.errors import NoDerivativeError, NotSpecializedError, SourceNotFoundError
from gradscribe.ir.probing import probe
from gradscribe.primitives.argument_trees import copied
from gradscribe.recording.levels import is_running
from gradscribe.tracebacks import refuse_endless, shorten, shortened

Run = Callable[[Values], Any]


class Plan(NamedTuple):
    """What is done at a call once its lowering is known, and the code that does it. stored: what
    becomes of what the function stores outside; then `run` gives a pair, of the result and what is
    new."""

    run: Run
    generated: Generated
    stored: StoredOutside | None = None


class Transform(CopiedAsFunction, ABC):
    """A function made of another one, compiled for the types of each call."""

    __gradscribe_transform__ = True
    """Compiled code that calls one refers to this very object."""

    def __init__(
        self,
        function: Callable[..., Any],
        prefix: str,
        key: tuple[Any, ...],
        compiles: Compile = True,
        jit: bool = False,
    ) -> None:
        """prefix: begins its name, before that of the function. key: tells it from other
        transforms of the function. compiles: or runs the function as it is, recorded; "auto":
        compiles what can be compiled. jit: whether it runs as native code, where that can be."""
        self._key = (*key, jit)
        self.jit = jit
        self.compiles: Compile = compiles
        self._latest: Plan | None = None
        self._latest_call: PartialCall | None = None
        functools.update_wrapper(self, function, updated=())
        self.__name__ = f"{prefix}_{probe(function, '__name__', 'function')}"

    given: Callable[..., Any]
    """The function that it is made of."""

    argnums: int | tuple[int, ...]
    """The arguments that it is a derivative with respect to."""

    @property
    @abstractmethod
    def is_first_order(self) -> bool:
        """Whether it is a first derivative, and not one of a derivative."""

    @property
    @abstractmethod
    def compiled(self) -> Target:
        """What is lowered for a call."""

    @cached_property
    def _plan_key(self) -> Hashable:
        """What tells its plans from those of others: what the callable gives counts, too."""
        target = self.compiled
        return self._key, len(target.first), tuple(name for name, _ in target.keywords)

    @abstractmethod
    def unbound(self) -> Transform:
        """The transform of the function that a method, a partial or an object calls (`target`),
        with respect to the same arguments."""

    @abstractmethod
    def plan(self, target: Target, primal: Primal) -> Plan:
        """What a call of this kind does."""

    @abstractmethod
    def recorded(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What a call gives where the function runs as it is."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            if self.compiles is not True or is_running():
                return self._recorded_or_partly(args, keywords)
            target = self.compiled.of_call(len(args))
            values = target.values(args, keywords)
            primal, matched = target.program.find(values)
            plan = primal.plans.get(self._plan_key)
            if plan is None:
                plan, matched = self._make_plan(target, values)
            self._latest = plan
            if plan.stored is not None:
                return _run_and_store(plan, matched, target)
            try:
                return plan.run(matched)
            except NoDerivativeError as error:
                return self._decided(error, plan, matched, args, keywords)
        except Exception as error:
            refuse_endless(error)
            shorten(error)
            raise

    def _decided(
        self,
        error: NoDerivativeError,
        plan: Plan,
        matched: Values,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> Any:
        """What the plan gives, if no function depends on what the error tells of."""
        calls = self._differentiated(args, keywords)
        return deciding.by_values(error, calls, functools.partial(plan.run, matched))

    def _differentiated(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Iterator[deciding.Differentiated]:
        """The calls of the functions that it is a derivative of, those of which others are
        derivatives first."""
        if isinstance(self.given, Transform):
            yield from self.given._differentiated(args, keywords)
        is_derivative = isinstance(self.given, Transform)
        target, numbers = target_of(self.given), _numbers(self.argnums)
        yield deciding.differentiated(target, numbers, args, keywords, is_derivative)

    def _recorded_or_partly(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if not self.compiles or is_running():
            return self.recorded(args, keywords)
        try:
            target = self.compiled.of_call(len(args))
        except SourceNotFoundError:
            return self.recorded(args, keywords)
        values = target.values(args, keywords)
        self._latest_call = PartialCall(
            target,
            values,
            self._key,
            lambda: self._compiled_for(target, values),
            lambda: self.recorded(args, keywords),
            lambda: self.given(*copied(args), **copied(keywords)),
            self.is_first_order,
        )
        return self._latest_call.run()

    def _compiled_for(self, target: Target, values: Values) -> tuple[Primal, Callable[[], Any]]:
        """The lowering for a call, and what runs the code that was made of it."""
        plan, matched = self._make_plan(target, values)
        self._latest = plan
        primal, matched = target.program.find(values)
        if plan.stored is not None:
            return primal, functools.partial(_run_and_store, plan, matched, target)
        return primal, functools.partial(plan.run, matched)

    def _make_plan(self, target: Target, values: Values) -> tuple[Plan, Values]:
        """Compile for this call; compiling may assume more of the arguments than before."""
        while True:
            primal, matched = target.program.find(values)
            plan = primal.plans.get(self._plan_key)
            if plan is None:
                with tier(self.jit):
                    plan = primal.plans[self._plan_key] = self.plan(target, primal)
                if primal.match(values) is None:
                    continue
            return plan, matched

    @property
    @shortened
    def report(self) -> str:
        """What of the latest call's program is recorded, and why."""
        if self.compiles is True:
            return compiled_as_a_whole(self.__name__)
        if not self.compiles:
            return f"`{self.__name__}` is recorded as a whole: `compile=False`"
        if self._latest_call is None:
            raise NotSpecializedError(
                f"`{self.__name__}` was not called yet, so nothing is known of its calls",
                "call it once",
            )
        return self._latest_call.report

    @property
    @shortened
    def jit_report(self) -> str:
        """Whether the latest call's types run as native code, and if not, why."""
        return self._generated().native.report

    @property
    @shortened
    def loops_source(self) -> str:
        """The native code of the latest call's types, as text."""
        return self._generated().native.source

    @property
    @shortened
    def source(self) -> str:
        """The generated code of the latest call's types."""
        return self._generated().source

    def _generated(self) -> Generated:
        """The generated function of the latest call's types."""
        if not self.compiles:
            raise recorded_transforms.without_source(self.__name__)
        if self._latest_call is not None and self._latest_call.is_whole:
            raise NotSpecializedError(f"{self.report}; so it has no source")
        if self._latest is None:
            raise NotSpecializedError(
                f"`{self.__name__}` was not called yet, so it is compiled for no types",
                "call it once, or use `gs.differentiable(f).specialize(…)`",
            )
        return self._latest.generated


def _run_and_store(plan: Plan, values: Values, target: Target) -> Any:
    result, new = plan.run(values)
    assert plan.stored is not None
    plan.stored.store(values, target, new)
    return result


def beside(run: Run, generated: Generated, stored: StoredOutside | None) -> Plan:
    """The plan to run this, where what is stored outside is computed apart."""
    if stored is None:
        return Plan(run, generated)
    new = stored.new_of_call
    return Plan(lambda values: (run(values), new(values)), generated, stored)


def _numbers(argnums: int | tuple[int, ...]) -> tuple[int, ...]:
    return argnums if isinstance(argnums, tuple) else (argnums,)


def prepared(primal: Primal, generated: Generated, *more: Any) -> Run:
    """Runs generated code on the values of a call, and these arguments more."""
    function, layout = generated.callable, primal.layout
    if layout.wrapped or primal.changes_inputs:

        def run_on_leaves(values: Values) -> Any:
            leaves = layout.leaves(values)
            primal.check_changed(values, leaves)
            return function(*layout.arguments(layout.plain(leaves)), *more)

        return run_on_leaves
    return lambda values: function(*values[1:], *more)
