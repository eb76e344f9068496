"""A function compiled for the types of its arguments: sources, callables, IR.

Nothing is transformed, printed or loaded before it is asked for.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradscribe.compiler.derivatives import Derivatives, of_structured
from gradscribe.compiler.entry import Values
from gradscribe.compiler.generated import Generated, tier
from gradscribe.compiler.signatures import type_text
from gradscribe.compiler.stages import Stages, flat, only_results
from gradscribe.errors import ArgumentError
from gradscribe.ir.core import Function, callees
from gradscribe.ir.printer import print_function
from gradscribe.ir.types import Array, Scalar, Type
from gradscribe.tracebacks import shortened
from gradscribe.transforms.passes.records.flatten_records import flatten_pair
from gradscribe.transforms.passes.simplify import simplify

if TYPE_CHECKING:
    from gradscribe.compiler.primal import Primal


class Specialization:
    """What `f.specialize(…)` returns: the derivatives of `f` for one signature.

    The callables take what `f` takes. Captured variables and attributes are read at each call
    and may be given by keyword instead.
    """

    def __init__(
        self,
        primal: Primal,
        active: tuple[int, ...],
        seeded: tuple[int, ...] | None = None,
        of: Literal["function", "effectful", "storing"] = "function",
    ) -> None:
        """of: the user's function itself, or that of this name in `Lowered`."""
        self._primal = primal
        lowered = primal.lowered
        function: Function = getattr(lowered, of)
        results = len(function.body.yields)
        self._own_results = lowered.new_results if of == "effectful" else results
        self.stages = Stages(function, active, seeded)
        self._jit = False

    def in_tier(self, jit: bool) -> Specialization:
        """The same, whose functions run as native code where that can be."""
        return self._native if jit else self

    @cached_property
    def _native(self) -> Specialization:
        found = copy(self)
        found._jit = True
        return found

    # -- generated functions ---------------------------------------------------------------

    @cached_property
    def generated_forward(self) -> Generated:
        return Generated(
            lambda: self.stages.forward,
            sharing=slice(self._own_results, None),
            flatten=lambda: self._with_flat_records[0],
        )

    @cached_property
    def generated_adjoint(self) -> Generated:
        return Generated(lambda: self.stages.adjoint, flatten=lambda: self._with_flat_records[1])

    @cached_property
    def _with_flat_records(self) -> tuple[Function, Function]:
        return flatten_pair(self.generated_forward.bufferized, self.generated_adjoint.bufferized)

    @cached_property
    def generated_gradient(self) -> Generated:
        return Generated(lambda: self.stages.gradient, self._seed_default)

    @cached_property
    def generated_value_and_gradient(self) -> Generated:
        return Generated(lambda: self.stages.value_and_gradient, self._seed_default)

    @cached_property
    def generated_changes_and_gradient(self) -> Generated:
        """Of a function that returns a pair: its second part, and the gradient."""
        return Generated(lambda: self.stages.second_and_gradient, self._seed_default)

    @cached_property
    def generated_tangent(self) -> Generated:
        return Generated(lambda: self.stages.tangent)

    @cached_property
    def flat_tangent(self) -> Generated:
        """`(*leaves, *tangents of the active ones) -> (*results, *their tangents)`"""
        return Generated(lambda: flat(self.stages.tangent))

    @cached_property
    def flat_tangent_of_seeds(self) -> Generated:
        """`flat_tangent`, with the tangents of the seeded results alone."""
        stages = self.stages

        def make() -> Function:
            function = flat(stages.tangent)
            results = len(stages.primal.body.yields)
            return simplify(only_results(function, [*range(results), *stages.seeded_tangents]))

        return Generated(make)

    @property
    def _seed_default(self) -> dict[str, str]:
        if not self.is_scalar:
            return {}
        return {self.stages.joined.seeds[0].name: "1.0"}

    @property
    @shortened
    def forward_source(self) -> str:
        """`(arguments) -> (result, record)` as text."""
        return self.generated_forward.source

    @property
    @shortened
    def adjoint_source(self) -> str:
        """`(record, cotangent) -> gradients` as text."""
        return self.generated_adjoint.source

    @property
    @shortened
    def gradient_source(self) -> str:
        """`(arguments, cotangent) -> gradients` as text: forward and adjoint joined."""
        return self.generated_gradient.source

    @property
    @shortened
    def tangent_source(self) -> str:
        """`(arguments, tangents) -> (result, tangent of the result)` as text."""
        return self.generated_tangent.source

    @property
    @shortened
    def loops_source(self) -> str:
        """`(arguments, cotangent) -> gradients` as native code, where it can be; raises an
        UnsupportedError where it cannot."""
        return self.generated_gradient.native.source

    @property
    @shortened
    def jit_report(self) -> str:
        """Whether the gradient runs as native code with `jit=True`, and if not, why."""
        return self.generated_gradient.native.report

    # -- callables on plain values -----------------------------------------------------------

    @shortened
    def forward(self, *args: Any, **keywords: Any) -> tuple[Any, Any]:
        """The result, and the record that `adjoint` reads."""
        with tier(self._jit):
            run = self.generated_forward.callable
        result: tuple[Any, Any] = run(*self._values(args, keywords))
        return result

    @shortened
    def adjoint(self, record: Any, d_out: Any = 1.0) -> Any:
        """The gradients, from a record and the cotangent of the result; any number of times."""
        with tier(self._jit):
            run = self.generated_adjoint.callable
        return run(record, *self.seeds_of(d_out))

    @shortened
    def gradient(self, *args: Any, d_out: Any = None, **keywords: Any) -> Any:
        """The gradients at these arguments. d_out: the cotangent of the result (default 1)."""
        seeds = self._default_seeds if d_out is None else self.seeds_of(d_out)
        with tier(self._jit):
            run = self.generated_gradient.callable
        return run(*self._values(args, keywords), *seeds)

    @shortened
    def tangent(self, *args: Any, **keywords: Any) -> tuple[Any, Any]:
        """The result and its tangent, from the arguments followed by a tangent for each argument
        that is differentiated."""
        count = len(args) - len(self._tangent_parameters)
        values = self._values(args[:count], keywords)
        with tier(self._jit):
            run = self.generated_tangent.callable
        result: tuple[Any, Any] = run(*values, *args[count:])
        return result

    @cached_property
    def _tangent_parameters(self) -> list[str]:
        own = {parameter.name for parameter in self._primal.function.parameters}
        parameters = self.stages.tangent.parameters
        return [parameter.name for parameter in parameters if parameter.name not in own]

    def _values(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Values:
        """What the generated functions take: arguments in order, then captured values."""
        given: dict[str, Any] = {}
        if keywords and self._captured:
            given = {name: keywords.pop(name) for name in self._captured if name in keywords}
        values = self._primal.bind(args, keywords)
        if given:
            count = len(values) - len(self._captured)
            captured = zip(self._captured, values[count:], strict=True)
            values = (*values[:count], *(given.get(name, value) for name, value in captured))
        layout = self._primal.layout
        if not (layout.wrapped or self._primal.changes_inputs):
            return values[1:]
        found = layout.leaves(values)
        self._primal.check_changed(values, found)
        leaves = layout.plain(found)
        return layout.arguments(leaves) if layout.wrapped else values[1:]

    @cached_property
    def _captured(self) -> tuple[str, ...]:
        return tuple(capture.name for capture in self._primal.lowered.captures)

    @cached_property
    def _default_seeds(self) -> tuple[Any, ...]:
        return self.default_seeds()

    @cached_property
    def is_scalar(self) -> bool:
        """Whether exactly one leaf of the result is differentiated, and is one real number."""
        seeds = self.stages.seeds
        return len(seeds) == 1 and _is_real_number(self.result_types[seeds[0]])

    @property
    def result_types(self) -> list[Type]:
        """The types of the leaves of the result."""
        return [value.type for value in self._primal.function.body.yields]

    def seeds_of(self, d_out: Any) -> tuple[Any, ...]:
        """The cotangents of the seeded leaves, from one in the structure of the result."""
        leaves = self._primal.flatten_result(d_out)
        return tuple(leaves[seed] for seed in self.stages.seeds)

    def default_seeds(self) -> tuple[Any, ...]:
        """The cotangent 1 of a result that is one number."""
        if not self.is_scalar:
            raise ArgumentError(
                f"the result of `{self._primal.name}` is no single number, so its gradient "
                "needs a cotangent",
                "pass `d_out` in the structure and shape of the result",
            )
        type_ = self.result_types[self.stages.seeds[0]]
        if isinstance(type_, Array):
            return (np.ones((), type_.dtype),)
        return (_scalar_one(type_),)

    # -- for people ----------------------------------------------------------------------------

    @property
    def signature(self) -> str:
        """The function with the types that it is compiled for."""
        parts = [f"{a.name}: {type_text(iter(a.types), a.tree)}" for a in self._primal.arguments]
        return f"{self._primal.name}({', '.join(parts)})"

    @property
    def report(self) -> str:
        """Which calls of the function are recorded, and why (see `compile="auto"`)."""
        return self._primal.report

    @property
    def ir(self) -> str:
        """The IR of the function, and of its gradient, each before what it calls."""
        primal, gradient = self._primal.function, self.generated_gradient
        called = (callee.function for callee in callees(primal))
        functions: list[Function] = [primal, *called, gradient.ir, *gradient.called]
        return "\n\n".join(map(print_function, functions))

    @cached_property
    def derivatives(self) -> Derivatives:
        """The same derivatives over flat leaves, for the runtime."""
        name = self._primal.name.replace("_", " ").title().replace(" ", "")
        return of_structured(
            name,
            self.stages,
            self.generated_forward,
            self.generated_adjoint,
            self._primal.layout.arguments,
        )

    def __repr__(self) -> str:
        return f"<specialization {self.signature}>"

    def _repr_html_(self) -> str:
        from gradscribe.compiler.highlight import highlighted  # for notebooks alone

        return highlighted(f"# {self.signature}\n\n{self.gradient_source}")


def _is_real_number(type_: Type) -> bool:
    if isinstance(type_, Array) and type_.dims:
        return False
    return isinstance(type_, (Scalar, Array)) and np.dtype(type_.dtype).kind == "f"


def _scalar_one(type_: Type) -> Any:
    """1 as a Python number where that is exact: it is the faster one, and weak."""
    assert isinstance(type_, Scalar)
    return 1.0 if type_.dtype == "float64" else np.dtype(type_.dtype).type(1)
