"""What a function stores outside of its arguments, stored when a transform of it is called.

The transforms never change what they are given: a function meets copies of the lists, dicts,
dataclasses and arrays in its arguments. What it stores elsewhere happens, once for each call of the
transform, as if the function itself had been called, with plain values. The generated code gives
what is new; here that is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gradscribe.api.existing import Existing
from gradscribe.api.write_back import WriteBack
from gradscribe.compiler import Primal, Target
from gradscribe.compiler.entry import Values
from gradscribe.compiler.generated import Generated
from gradscribe.compiler.leaves import copied, is_wrapped
from gradscribe.compiler.storing import Given, computed_apart
from gradscribe.ir.trees import flatten, unflatten
from gradscribe.runtime.graph.grad_mode import no_grad
from gradscribe.runtime.tensors.tensor import Tensor, wrap


class StoredOutside:
    """What is done, after each call of a transform, with what a lowering stores. function: gives
    what is new beside its result (`Lowered.storing`)."""

    def __init__(self, primal: Primal, given: Given) -> None:
        self._primal = primal
        self._given = given
        self._write_back = WriteBack(primal, 0)
        lowered = primal.lowered
        origins = lowered.stored_origins
        self._existing = [None if o is None else Existing(o, ()) for o in origins]
        assert lowered.storing is not None
        self.function = lowered.storing
        new = lowered.storing.body.yields[len(lowered.function.body.yields) :]
        self._new = new
        self._wrapped = [is_wrapped(value.type) for value in new]
        self._touched = sorted(self._find_touched())
        captures = enumerate(lowered.captures)
        within = {number: c.path for number, c in captures if c.path.root in self._touched}
        self._captures = tuple(within)
        self._find_captures = primal.finder(within.values())

    @classmethod
    def of(cls, primal: Primal, target: Target) -> StoredOutside | None:
        """For calls by way of this target; None if nothing is stored but to the arguments."""
        if not primal.changes_inputs and not primal.lowered.handed:
            return None
        given = Given(primal, len(target.first), dict(target.keywords))
        given.refuse_handed()
        given.refuse_unclear()
        return None if given.is_all_that_changes else cls(primal, given)

    @cached_property
    def _apart(self) -> Callable[..., Sequence[Any]]:
        generated = Generated(lambda: computed_apart(self.function, self._new))
        return generated.callable

    def new(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """What is new for the leaves of a call, computed by a run that does nothing else."""
        return self._apart(*self._primal.layout.arguments(leaves))

    def new_of_call(self, values: Values) -> Sequence[Any]:
        """The same for the values of a call."""
        layout = self._primal.layout
        return self.new(layout.plain(layout.leaves(values)))

    def store(self, values: Values, target: Target, new: Sequence[Any]) -> None:
        """Store what is new. values: those of the call. target: what was called."""
        values = self._with_copies(values, target)
        fixed = self._write_back.check(values)
        layout = self._primal.layout
        given = layout.leaves(values)
        leaves = [
            own if isinstance(own, list) and not _has_tensor(own) else leaf
            for own, leaf in zip(given, layout.plain(given), strict=True)
        ]
        rest = iter(
            wrap(np.asarray(leaf)) if is_tensor else leaf
            for leaf, is_tensor in zip(new, self._wrapped, strict=True)
        )
        found = [next(rest) if existing is None else None for existing in self._existing]
        every = [
            item if existing is None else existing(leaves, found)
            for item, existing in zip(found, self._existing, strict=True)
        ]
        with no_grad():
            self._write_back(values, every, fixed)

    def _find_touched(self) -> set[int]:
        """The parameters whose arguments are stored to, or elsewhere."""
        primal, lowered = self._primal, self._primal.lowered
        owners = [change.owner for change in lowered.attributes]
        owners += [change.owner for change in lowered.containers]
        touched = {owner.root for owner in owners if isinstance(owner.root, int)}
        touched |= {change.argument for change in lowered.changes}
        ends = np.cumsum([len(typed.types) for typed in primal.arguments])
        for origin in lowered.stored_origins:
            if origin is not None and not origin.among_results:
                touched.add(int(np.searchsorted(ends, origin.leaf, side="right")))
        return touched & {*range(primal.own_arguments)} - self._given.by_the_callable

    def _with_copies(self, values: Values, target: Target) -> Values:
        """The values of a call, with copies of those that its caller gave, where they matter."""
        own = list(values)
        function = values[0]
        others = {*map(id, (function.__defaults__ or ()))}
        others |= {*map(id, (function.__kwdefaults__ or {}).values())}
        others |= {id(value) for _, value in target.keywords}
        copies: dict[int, Any] = {}
        for number in self._touched:
            value = own[number + 1]
            if id(value) not in others:
                tree, leaves = flatten(value)
                own[number + 1] = unflatten(tree, iter([_copy(leaf, copies) for leaf in leaves]))
        start = self._primal.own_arguments + 1
        within = zip(self._captures, self._find_captures(tuple(own)), strict=True)
        for number, value in within:
            own[start + number] = value
        return tuple(own)


def _has_tensor(value: list[Any]) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in flatten(value)[1])


def _copy(leaf: Any, copies: dict[int, Any]) -> Any:
    if not isinstance(leaf, np.ndarray):
        return leaf
    return copies.setdefault(id(leaf), copied(leaf))
