"""What `vjp`, `jvp` and `hvp` need of a function at one point, over flat leaves.

`OfFunction` serves user functions, by their specialization; `OfGradient` serves gradients,
whose pullback is a tangent again (see `higher_order`), so that the modes mix at will.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

from gradscribe.api.stored_outside import StoredOutside
from gradscribe.compiler.derivatives import check_drawn
from gradscribe.compiler.generated import Generated
from gradscribe.compiler.higher_order import Chain, nested_gradient, nested_pullback
from gradscribe.compiler.leaves import zero_like
from gradscribe.compiler.primal import Primal
from gradscribe.compiler.stages import flat, tangent_only
from gradscribe.compiler.surroundings import inline
from gradscribe.ir.core import Function
from gradscribe.ir.types import Opaque, is_differentiable
from gradscribe.transforms import tangent
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.passes.without_effects import silenced

Leaves = Sequence[Any]


class Pointwise(Protocol):
    """function: its IR. active: the leaves that are differentiated. seeds: the result leaves
    that have cotangents. record_inputs, record_outputs: the argument and result leaves whose
    memory the record refers to. pullback_source: the generated code of the pullback. stored: what
    is done with what it stores outside (None: nothing); then what is new comes after the leaves of
    the result."""

    @property
    def function(self) -> Function: ...
    @property
    def active(self) -> tuple[int, ...]: ...
    @property
    def seeds(self) -> tuple[int, ...]: ...
    @property
    def record_inputs(self) -> Sequence[int]: ...
    @property
    def record_outputs(self) -> Sequence[int]: ...
    @property
    def pullback_source(self) -> str: ...
    @property
    def stored(self) -> StoredOutside | None: ...

    def compile_pullback(self) -> None:
        """Make what `forward` and `pullback` run."""

    def compile_tangent(self) -> None:
        """Make what `tangent` runs."""

    def compile_second_order(self) -> None:
        """Make what `second_order` runs."""

    def forward(self, leaves: Leaves) -> tuple[tuple[Any, ...], Any]:
        """(result leaves, record)"""

    def pullback(self, record: Any, cotangents: Leaves) -> tuple[Any, ...]:
        """The cotangents of the active leaves."""

    def tangent(self, leaves: Leaves, directions: Leaves) -> tuple[Any, ...]:
        """The result leaves, then the tangents of those that are differentiable."""

    def second_order(self, leaves: Leaves, cotangents: Leaves, directions: Leaves) -> Any:
        """The derivative, along directions of the active leaves, of their cotangents; and what is
        new in what the function stores outside."""


class OfFunction:
    """Of a user's function."""

    def __init__(
        self, primal: Primal, active: tuple[int, ...], stored: StoredOutside | None
    ) -> None:
        self._special = primal.specialization(active)
        self.function = primal.function
        self.active = active
        self.stored = stored
        self.seeds = self._special.stages.seeds
        if stored is not None:
            self._special = primal.storing_specialization(active, self.seeds)

    @property
    def record_inputs(self) -> Sequence[int]:
        return self._special.derivatives.record_inputs

    @property
    def record_outputs(self) -> Sequence[int]:
        return self._special.derivatives.record_outputs

    @property
    def pullback_source(self) -> str:
        return self._special.adjoint_source

    def compile_pullback(self) -> None:
        derivatives = self._special.derivatives
        derivatives.adjoint, derivatives.forward  # noqa: B018

    @property
    def _tangent_code(self) -> Generated:
        special = self._special
        return special.flat_tangent if self.stored is None else special.flat_tangent_of_seeds

    def compile_tangent(self) -> None:
        self._tangent_code.callable  # noqa: B018

    def compile_second_order(self) -> None:
        self._second_order  # noqa: B018

    @cached_property
    def _second_order(self) -> Callable[..., Any]:
        stages = self._special.stages
        if self.stored is None:
            return self._special.derivatives.second_order
        return Generated(lambda: stages.second_order_and_second).callable

    def forward(self, leaves: Leaves) -> tuple[tuple[Any, ...], Any]:
        derivatives = self._special.derivatives
        derivatives.adjoint  # noqa: B018  (made together, while more may still be assumed)
        return derivatives.forward(*leaves)

    def pullback(self, record: Any, cotangents: Leaves) -> tuple[Any, ...]:
        return self._special.derivatives.adjoint(record, *cotangents)

    def tangent(self, leaves: Leaves, directions: Leaves) -> tuple[Any, ...]:
        results: tuple[Any, ...] = self._tangent_code.callable(*leaves, *directions)
        return results

    def second_order(self, leaves: Leaves, cotangents: Leaves, directions: Leaves) -> Any:
        zeros = list(map(zero_like, cotangents))
        found = self._second_order(*leaves, *cotangents, *directions, *zeros)
        return found[: len(self.active)], found[len(self.active) + len(self.seeds) :]


class OfGradient:
    """Of a gradient of a user's function, or a gradient of that, and so on: the chain."""

    def __init__(
        self,
        primal: Primal,
        chain: Chain,
        active: tuple[int, ...],
        stored: StoredOutside | None,
    ) -> None:
        self._primal = primal
        self.stored = stored
        self._chain = chain
        inner = {leaf for leaves in chain for leaf in leaves}
        self.active = active
        self._all = tuple(sorted({*active, *inner}))
        leaves = primal.function.body.parameters
        self.record_inputs = [i for i, x in enumerate(leaves) if not isinstance(x.type, Opaque)]
        self.record_outputs = ()

    @cached_property
    def function(self) -> Function:
        return nested_gradient(self._primal.function, self._chain)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        yields = self.function.body.yields
        return tuple(i for i, value in enumerate(yields) if is_differentiable(value.type))

    @cached_property
    def _pullback(self) -> Function:
        return nested_pullback(self._primal.function, self._chain, self.active)

    @cached_property
    def _value_code(self) -> Generated:
        return Generated(lambda: flat(self.function))

    @cached_property
    def _pullback_code(self) -> Generated:
        def make() -> Function:
            check_drawn(silenced(self._primal.function))
            return silenced(self._pullback)

        return Generated(make)

    @cached_property
    def _tangent_code(self) -> Generated:
        def make() -> Function:
            along = tangent.differentiate(self.function, self.active, inline, of_gradient=True)
            return simplify(flat(along))

        return Generated(make)

    @cached_property
    def _second_order_code(self) -> Generated:
        def make() -> Function:
            along = tangent.differentiate(self._pullback, self.active, inline, of_gradient=True)
            return simplify(flat(tangent_only(along)))

        return Generated(make)

    @property
    def pullback_source(self) -> str:
        return self._pullback_code.source

    def compile_pullback(self) -> None:
        self._pullback_code.callable, self._value_code.callable  # noqa: B018

    def compile_tangent(self) -> None:
        self._tangent_code.callable  # noqa: B018

    def compile_second_order(self) -> None:
        self._second_order_code.callable  # noqa: B018

    def forward(self, leaves: Leaves) -> tuple[tuple[Any, ...], Any]:
        self._pullback_code.callable  # noqa: B018  (made now, while more may still be assumed)
        return (*self._value_code.callable(*leaves), *self._new(leaves)), leaves

    def pullback(self, record: Any, cotangents: Leaves) -> tuple[Any, ...]:
        return self._picked(self._pullback_code.callable(*record, *cotangents))

    def tangent(self, leaves: Leaves, directions: Leaves) -> tuple[Any, ...]:
        results: tuple[Any, ...] = self._tangent_code.callable(*leaves, *directions)
        count = len(self.function.body.yields)
        return (*results[:count], *self._new(leaves), *results[count:])

    def _new(self, leaves: Leaves) -> Sequence[Any]:
        return () if self.stored is None else self.stored.new(leaves)

    def second_order(self, leaves: Leaves, cotangents: Leaves, directions: Leaves) -> Any:
        found = self._second_order_code.callable(*leaves, *cotangents, *directions)
        return self._picked(found), self._new(leaves)

    def _picked(self, results: Leaves) -> tuple[Any, ...]:
        return tuple(results[self._all.index(leaf)] for leaf in self.active)
