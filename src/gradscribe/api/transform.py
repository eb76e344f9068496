"""What the functions that `gs.grad`, `gs.jacobian` and their kind return have in common.

A `Transform` finds, for the arguments of a call, the lowering that fits them, and runs the code
that was generated for it.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from gradscribe.api import recorded_transforms
from gradscribe.api.copying import CopiedAsFunction
from gradscribe.compiler import Primal, Target
from gradscribe.compiler.entry import Values
from gradscribe.compiler.generated import Generated
from gradscribe.compiler.leaves import unwrapped
from gradscribe.errors import NotSpecializedError
from gradscribe.ir.probing import probe
from gradscribe.recording.levels import is_running
from gradscribe.tracebacks import shorten, shortened

Run = Callable[[Values], Any]


class Plan(NamedTuple):
    """What is done at a call once its lowering is known, and the code that does it."""

    run: Run
    generated: Generated


class Transform(CopiedAsFunction, ABC):
    """A function made of another one, compiled for the types of each call."""

    __gradscribe_transform__ = True
    """Compiled code that calls one refers to this very object."""

    def __init__(
        self, function: Callable[..., Any], prefix: str, key: tuple[Any, ...], compiles: bool = True
    ) -> None:
        """prefix: begins its name, before that of the function. key: tells it from other
        transforms of the function. compiles: or runs the function as it is, recorded."""
        self._key = key
        self.compiles = compiles
        self._latest: Plan | None = None
        functools.update_wrapper(self, function, updated=())
        self.__name__ = f"{prefix}_{probe(function, '__name__', 'function')}"

    @property
    @abstractmethod
    def compiled(self) -> Target:
        """What is lowered for a call."""

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
            if not self.compiles or is_running():
                return self.recorded(args, keywords)
            target = self.compiled.of_call(len(args))
            values = target.values(args, keywords)
            primal, matched = target.program.find(values)
            plan = primal.plans.get(self._key)
            if plan is None:
                plan, matched = self._make_plan(target, values)
            self._latest = plan
            return plan.run(matched)
        except Exception as error:
            shorten(error)
            raise

    def _make_plan(self, target: Target, values: Values) -> tuple[Plan, Values]:
        """Compile for this call; compiling may assume more of the arguments than before."""
        while True:
            primal, matched = target.program.find(values)
            plan = primal.plans.get(self._key)
            if plan is None:
                plan = primal.plans[self._key] = self.plan(target, primal)
                if primal.match(values) is None:
                    continue
            return plan, matched

    @property
    @shortened
    def source(self) -> str:
        """The generated code of the latest call's types."""
        if not self.compiles:
            raise recorded_transforms.without_source(self.__name__)
        if self._latest is None:
            raise NotSpecializedError(
                f"`{self.__name__}` was not called yet, so it is compiled for no types",
                "call it once, or use `gs.differentiable(f).specialize(…)`",
            )
        return self._latest.generated.source


def prepared(primal: Primal, generated: Generated, *more: Any) -> Run:
    """Runs generated code on the values of a call, and these arguments more."""
    function, layout = generated.callable, primal.layout
    if layout.wrapped or primal.lowered.stores:

        def run_on_leaves(values: Values) -> Any:
            leaves = [unwrapped(leaf) for leaf in layout.leaves(values)]
            primal.check_stored(leaves)
            return function(*layout.arguments(leaves), *more)

        return run_on_leaves
    return lambda values: function(*values[1:], *more)
