"""`F.apply(…)` of an `autograd.Function` inside of compiled code.

Its `forward` is compiled like any helper, with derivatives cut, and its result handed on by the
operation `given`, whose rules are its `backward` and `jvp` (function_rules.py). What `forward`
leaves in `ctx` is saved.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradscribe.api import changed_inputs, function_rules
from gradscribe.api.changed_inputs import is_same
from gradscribe.api.function_methods import (
    DIRTY,
    FOR_FORWARD,
    MATERIALIZES,
    NON_DIFFERENTIABLE,
    Context,
    Rules,
)
from gradscribe.api.function_rules import attribute
from gradscribe.api.origins import origin
from gradscribe.frontend.calls import inlining
from gradscribe.frontend.containers.subscripts import cut
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.joins.splitting import for_each_kind
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state import dependencies, handlers
from gradscribe.frontend.state.flow import resolved
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.structures.structures import opened
from gradscribe.frontend.values.values import (
    Either,
    Ref,
    Static,
    Storage,
    TupleOf,
    may_overlap,
)
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, Scalar, is_differentiable
from gradscribe.primitives.control import GIVEN, KEPT, STOP_GRADIENT
from gradscribe.runtime.modes.function import Function

_METHODS = ("forward", "backward", "vjp", "jvp", "setup_context")

_TELLING = {
    "saved_tensors": "save_for_backward",
    FOR_FORWARD: "save_for_forward",
    NON_DIFFERENTIABLE: "mark_non_differentiable",
    DIRTY: "mark_dirty",
}
"""The methods of `ctx`, by the attribute that they set."""


def _apply(
    lowering: Lowering,
    node: Any,
    receiver: Any,
    /,
    *inputs: Any,
    **keywords: Any,
) -> Any:
    """`F.apply(*inputs)`; for each kind of those that are of one or of another."""
    function: type[Function] = receiver.value
    for name in _METHODS:
        _depend(lowering, AccessPath(function).attribute(name), getattr(function, name))
    named = {name: resolved(lowering, item) for name, item in keywords.items()}

    def applied(*inputs: Any) -> Any:
        return _applied(lowering, node, function, list(inputs), named)

    return for_each_kind(lowering, node, tuple(inputs), applied)


def _applied(
    lowering: Lowering, node: Any, function: type[Function], inputs: list[Any], keywords: Any
) -> Any:
    if function.setup_context is not Function.setup_context:
        inputs, keywords = _with_defaults(lowering, function.forward, inputs, keywords)
    needed = tuple(_needs_gradient(lowering, item) for item in inputs)
    flags = TupleOf(tuple(map(Static, needed)))
    context = lowering.call(node, Static(Context), (flags,), {})
    given = [lowering.value(i) for i, known in zip(inputs, needed, strict=True) if known]
    before = dict(lowering.contents)
    result = _forward(lowering, node, function, context, inputs, keywords)

    def finished(result: Any) -> Any:
        call = _Call(lowering, node, function, context, inputs, needed, given, before)
        if not isinstance(result, TupleOf):
            return call.results(result)[0]
        return for_each_kind(
            lowering, node, result.items, lambda *items: TupleOf(tuple(call.results(*items)))
        )

    return for_each_kind(lowering, node, (result,), finished)


@dataclass(frozen=True, eq=False)
class _Call:
    """A call whose `forward` was lowered. needed: which of the inputs are differentiable; given:
    these, as they were before; before: what all storages held."""

    lowering: Lowering
    node: Any
    function: type[Function]
    context: Any
    inputs: list[Any]
    needed: tuple[bool, ...]
    given: list[Value]
    before: Mapping[Storage, Any]

    def results(self, *items: Any) -> list[Any]:
        """What `forward` returned, as the caller gets it: as functions of the inputs."""
        lowering, inputs = self.lowering, self.inputs
        recorded = any(self.needed) and not lowering.modes.cutting
        told = {name: self._told(name) for name in _TELLING}
        if not lowering.modes.cutting:
            changed_inputs.keep_derivatives(
                lowering, self.function.__name__, self.before, told[DIRTY]
            )
        dirty = changed_inputs.checked(lowering, self.node, told[DIRTY], inputs, items)
        outputs = tuple(
            recorded
            and _is_differentiable(lowering, item)
            and not any(is_same(item, m) for m in told[NON_DIFFERENTIABLE])
            for item in items
        )
        found = list(items)
        if any(outputs):
            places = [i for i, known in enumerate(outputs) if known]
            shared = self._shared([items[i] for i in places if not dirty[i]])
            for i, made in zip(places, self._given(items, outputs, shared), strict=True):
                found[i] = made
                if dirty[i]:
                    found[i] = changed_inputs.stored(lowering, self.node, items[i], made)
        for i, item in enumerate(items):
            if not outputs[i] and not dirty[i] and _is_differentiable(lowering, item):
                found[i] = cut(lowering, item)
        return [found[_last(items, i, inputs)] for i in range(len(items))]

    def _told(self, name: str) -> tuple[Any, ...]:
        """What `forward` has told its `ctx`: the items of an attribute of that, which may not
        depend on the run."""
        told = self._chosen(attribute(self.lowering, self.context, name))
        if not isinstance(told, TupleOf):
            self.lowering.unsupported(
                self.node,
                f"`{_TELLING[name]}` of `{self.function.__name__}` under a condition that only the "
                "run decides",
                "call it alike on every path, or decide by an argument that is a constant",
            )
        items = tuple(map(self._chosen, told.items))
        instances.set_attribute(self.lowering, self.context, name, TupleOf(items))
        return items

    def _chosen(self, item: Any) -> Any:
        """Of a value of one kind or of another, that of this path, if it is known."""
        while isinstance(item, Either):
            known = self.lowering.assumed.get(self.lowering.numbering.of(item.flag))
            if known is None:
                break
            item = item.first if known else item.second
        return item

    @property
    def _materializes(self) -> bool:
        """Whether gradients that there are not come as zeros."""
        materializes = attribute(self.lowering, self.context, MATERIALIZES)
        if not isinstance(materializes, Static):
            self.lowering.unsupported(
                self.node,
                f"`set_materialize_grads` of `{self.function.__name__}` that only the run decides",
                "call it alike on every path, with a constant",
            )
        return bool(materializes.value)

    def _given(
        self, items: Sequence[Any], outputs: tuple[bool, ...], shared: frozenset[Storage]
    ) -> list[Any]:
        """The differentiable results, as functions of the differentiable inputs. shared: memory
        that they may share."""
        lowering = self.lowering
        saved = opened(lowering, self.node, self.context)
        values = [lowering.value(i) for i, known in zip(items, outputs, strict=True) if known]
        origins = [origin(lowering.builder, value) for value in values]
        known = [origin(lowering.builder, leaf) for leaf in saved.leaves]
        of = tuple(origins.index(leaf) if leaf in origins else None for leaf in known)
        materializes = self._materializes
        filled = tuple(
            materializes and not known and isinstance(item, Ref)
            for item, known in zip(items, outputs, strict=True)
        )
        others = [item for item, is_filled in zip(items, filled, strict=True) if is_filled]
        foreign = tuple(not isinstance(item, (Ref, Value)) for item in self.inputs)
        of_inputs = (self.needed, foreign)
        rules = Rules(self.function, saved.structure, *of_inputs, outputs, of, filled, materializes)
        single = len(values) == 1
        tree = {
            "value": values[0] if single else lowering.value(TupleOf(tuple(values))),
            "inputs": tuple(self.given),
            "saved": (*saved.leaves, *map(lowering.value, others)),
            "rules": rules,
        }
        made = lowering.wrap(lowering.plain(GIVEN, tree), shared)
        return [made] if single else list(known_items(lowering, made) or ())

    def _shared(self, outputs: Sequence[Any]) -> frozenset[Storage]:
        """The memory that results have in common with differentiable inputs."""
        inputs = [item for item, known in zip(self.inputs, self.needed, strict=True) if known]
        own, others = (
            {storage for item in items for storage in storages(self.lowering, item)}
            for items in (outputs, inputs)
        )
        return frozenset(
            storage
            for storage in own | others
            if any(may_overlap(storage, one) for one in own)
            and any(may_overlap(storage, other) for other in others)
        )


def _depend(lowering: Lowering, path: AccessPath, method: Any) -> None:
    """Note that the class must have this method in each call; a `classmethod` is bound anew each
    time that it is read."""
    if isinstance(method, types.MethodType):
        path, method = path.attribute("__func__"), method.__func__
    dependencies.depend(lowering, path, method)


def _with_defaults(
    lowering: Lowering, forward: Any, inputs: list[Any], keywords: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of forward, as far as they can be given by position, defaults included."""
    if not isinstance(forward, types.FunctionType):
        return inputs, keywords
    try:
        bound = inspect.signature(forward).bind(*inputs, **keywords)
    except TypeError:
        return inputs, keywords  # the call itself tells what is wrong
    for name, default in inlining.defaults_of(lowering, forward).items():
        if name not in bound.arguments:
            bound.arguments[name] = default()
    return list(bound.args), bound.kwargs


def _last(items: Sequence[Any], index: int, inputs: list[Any]) -> int:
    """The number of the last result that is the same Tensor as this one. (An input that is handed
    on is another Tensor each time.)"""
    item = items[index]
    if not isinstance(item, (Ref, Value)) or any(is_same(item, given) for given in inputs):
        return index
    return max(i for i, other in enumerate(items) if is_same(item, other))


def _forward(
    lowering: Lowering,
    node: Any,
    function: type[Function],
    context: Any,
    inputs: list[Any],
    keywords: Any,
) -> Any:
    cutting, lowering.modes.cutting = lowering.modes.cutting, True
    try:
        if function.setup_context is Function.setup_context:
            given = (context, *inputs)
            return lowering.call(node, Static(function.forward), given, keywords)
        result = lowering.call(node, Static(function.forward), tuple(inputs), keywords)
        given = (context, TupleOf(tuple(inputs)), result)
        lowering.call(node, Static(function.setup_context), given, {})
        return result
    finally:
        lowering.modes.cutting = cutting


def _is_differentiable(lowering: Lowering, item: Any) -> bool:
    if not isinstance(item, (Ref, Value)) or unknown.is_opaque(item):
        return False
    type_ = lowering.value(item).type
    return isinstance(type_, (Array, Scalar)) and is_differentiable(type_)


def _needs_gradient(lowering: Lowering, item: Any) -> bool:
    """Whether an input is differentiable, and was not cut off just before."""
    if not _is_differentiable(lowering, item):
        return False
    made = lowering.builder.definition(lowering.value(item))
    own = (GIVEN, KEPT, STOP_GRADIENT)
    while made is not None and made.primitive.view and made.primitive not in own:
        made = lowering.builder.definition(made.operands[0])
    return made is None or made.primitive is not STOP_GRADIENT


def enter() -> None:
    """Make `Function.apply` known to the frontend."""
    function_rules.enter()
    apply: Any = Function.__dict__["apply"].__func__
    handlers.enter({apply: _apply})
