"""One lowering of a user's function, and the derivatives of it by what is active.

A `Primal` holds for argument types, and for what its `Entry` says beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from gradscribe import frontend
from gradscribe.compiler.derivatives import Derivatives, of_flat
from gradscribe.compiler.entry import Entry, Values, argument, steps_text
from gradscribe.compiler.item_texts import getter
from gradscribe.compiler.keys import KEYS, Key, key_of
from gradscribe.compiler.leaves import Layout, builder, container_expressions, flattener, is_wrapped
from gradscribe.compiler.partly import compiled_as_a_whole
from gradscribe.compiler.signatures import ArgumentTypes, Binder, bound, parameter_location
from gradscribe.compiler.specialization import Specialization
from gradscribe.compiler.stored import (
    refuse_overlap,
    refuse_read_only,
    refuse_shown,
    refuse_twice,
)
from gradscribe.compiler.surroundings import package
from gradscribe.compiler.variadic import called_by
from gradscribe.errors import ArgumentError, GradscribeError
from gradscribe.frontend.interface import (
    AccessPath,
    Argument,
    Lowered,
    Recording,
    RunTimeObject,
    SourcePlace,
)
from gradscribe.ir.core import Function, Location
from gradscribe.ir.lengths import Facts
from gradscribe.ir.probing import probe
from gradscribe.ir.types import is_differentiable
from gradscribe.transforms.analyses.opacity import reached_results, reached_unknown


class Primal:
    """One lowering of a function, and its specializations by active leaves."""

    def __init__(
        self,
        binder: Binder,
        values: Values,
        sampled: Sequence[bool],
        types: ArgumentTypes,
        keyed: frozenset[SourcePlace],
        numbers: frozenset[tuple[Any, ...]],
        recording: Recording | None = None,
    ) -> None:
        function, *arguments = values
        self.recording = recording
        self.report = compiled_as_a_whole(function.__name__)
        self.user_function: FunctionType = function
        self._key = tuple(map(key_of, arguments))
        self.parameters: Sequence[str] = binder.names
        self._types = types
        self._captured_keys: list[Key] = []
        self._next_argument = len(arguments)
        self._bind = binder.of(function)
        self._active_leaves: dict[tuple[int, ...] | None, tuple[int, ...]] = {}
        self.name: str = function.__name__ if function.__name__ != "<lambda>" else "function"
        self.own_arguments = len(arguments)
        self.arguments = [
            self._type(function, number, value, use)
            for number, (value, use) in enumerate(zip(arguments, sampled, strict=True))
        ]
        self.facts = Facts(self._types.samples)
        self.lowered: Lowered = frontend.lower(
            function,
            self.arguments,
            self.facts,
            self._capture,
            keyed,
            numbers,
            recording,
            package(),
        )
        self.entry = self._new_entry(len(arguments))
        self._assumed = -1
        self._match: Callable[[Values], Values | None]
        self._specializations: dict[Any, Specialization] = {}
        self.plans: dict[Any, Any] = {}
        """What callers do with a call of this kind, by a key of their own."""
        self._flat: dict[tuple[int, ...], Derivatives] = {}

    def _new_entry(self, count: int) -> Entry:
        return Entry(
            self.user_function,
            count,
            self._types.constants,
            self.lowered.captures,
            self._captured_keys,
            self.lowered.dependencies,
            self._types.leaves,
            self._types.sources,
            self.lowered.contiguous,
            self.lowered.otherwise,
            self._types.known_keys,
            self.lowered.lent,
        )

    def _type(self, function: FunctionType, number: int, value: Any, sampled: bool) -> Argument:
        name = self.parameters[number]
        try:
            return self._types.add(name, value, argument(number), sampled=sampled)
        except GradscribeError as error:
            error.location = error.location or parameter_location(function, name)
            raise

    def _capture(self, name: str, value: Any) -> Argument:
        """Called by the frontend for a captured value; see `interface.CaptureCallback`."""
        typed = self._types.add(name, value, argument(self._next_argument))
        self._next_argument += 1
        self._captured_keys.append(None if isinstance(value, RunTimeObject) else key_of(value))
        self.facts.samples.update(self._types.samples)
        self.arguments.append(typed)
        return typed

    def bind(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Values:
        """The values of a call that must be one of this lowering's kind."""
        given = bound(self._bind, self.user_function, args, keywords)
        matched = self.match((self.user_function, *given))
        key = tuple([KEYS[value.__class__](value) for value in given])
        if matched is None or key != self._key:
            raise ArgumentError(
                f"these arguments need another specialization than `{self.name}` has here",
                "call `specialize` with them, or use `gs.grad`, which finds or makes the right one",
            )
        return matched

    @cached_property
    def passing(self) -> frozenset[int]:
        """The identities of the classes and operations, made by functions, that this holds for."""
        needed = (d.value for d in self.lowered.dependencies if d.kind in ("identity", "class"))
        return frozenset(id(v) for v in needed if "<locals>" in str(probe(v, "__qualname__")))

    @property
    def function(self) -> Function:
        """The IR of the user's function."""
        return self.lowered.function

    def match(self, values: Values) -> Values | None:
        """The values with the captured ones, if this lowering holds for the call. The check is
        made anew when a transform has assumed more."""
        if self._assumed != self.facts.assumed:
            self._assumed = self.facts.assumed
            self._match = self.entry.matcher(self.facts)
        return self._match(values)

    def finder(self, paths: Iterable[AccessPath]) -> Callable[[Values], Values]:
        """The function that finds objects for the values of a call."""
        return self.entry.finder(paths)

    @property
    def leaf_names(self) -> Sequence[str]:
        """What users call the leaves of the arguments."""
        return self._types.names

    @property
    def has_recorded(self) -> bool:
        """Whether some of its calls are recorded."""
        return self.recording is not None and bool(self.recording.made)

    @cached_property
    def changes_containers(self) -> bool:
        """Whether a list, dict or object that the function is given, or finds outside, is
        changed."""
        changes = (change.leaf is None for change in self.lowered.changes)
        return bool(self.lowered.containers or self.lowered.attributes) or any(changes)

    @property
    def changes_inputs(self) -> bool:
        """Whether there is something to check (`check_changed`) at each call."""
        return bool(self.lowered.stores or self.changes_containers or self.lowered.shown)

    def check_changed(self, values: Values, leaves: Sequence[Any]) -> None:
        """Refuse a call where what is changed is read-only, shares memory with something else, or
        is a list or dict that is given twice."""
        try:
            refuse_read_only(self.leaf_names, leaves, self.lowered)
            refuse_overlap(self.leaf_names, leaves, self.lowered)
            if self.changes_containers:
                refuse_twice(self.name, self._find_containers(values), self._find_owners(values))
            if self.lowered.shown:
                found = self._find_shown(values)
                refuse_shown(self.leaf_names, leaves, self.lowered, found)
        except GradscribeError as error:
            error.location = self.location
            error.way_out = ""  # it is the call that is refused
            raise

    @property
    def location(self) -> Location | None:
        """Where the function is defined."""
        return definition(self.user_function)

    @cached_property
    def layout(self) -> Layout:
        """How the values of a call and the leaves of the IR function correspond."""
        return Layout(self.arguments, self._types.leaves)

    @cached_property
    def _find_containers(self) -> Callable[[Values], Values]:
        """Finds the lists and dicts of known structure in a call."""
        trees = enumerate(typed.tree for typed in self.arguments)
        found = (e for number, tree in trees for e in container_expressions(tree, argument(number)))
        return getter(found)

    @cached_property
    def _find_owners(self) -> Callable[[Values], Values]:
        """Finds the objects in a call of which something is read or stored along a path."""
        paths = {path.place: path for path in self._owners()}
        return self.finder(paths.values())

    def _owners(self) -> Iterator[AccessPath]:
        trees = enumerate(typed.tree for typed in self.arguments)
        own = {e for number, tree in trees for e in container_expressions(tree, argument(number))}
        paths = [capture.path for capture in self.lowered.captures]
        paths += [change.owner.attribute(change.name) for change in self.lowered.attributes]
        paths += [dependency.path for dependency in self.lowered.dependencies]
        for path in paths:
            for count in range(len(path.steps)):
                owner = AccessPath(path.root, path.steps[:count])
                is_argument = isinstance(path.root, int)
                text = argument(path.root) + steps_text(owner.steps) if is_argument else ""
                if text not in own:
                    yield owner

    @cached_property
    def _find_shown(self) -> Callable[[Values], Values]:
        """Finds the objects in whose memory nothing of a call may be."""
        return self.finder(shown.path for shown in self.lowered.shown)

    @cached_property
    def build_result(self) -> Callable[[Sequence[Any]], Any]:
        """The result of the function, from its leaves."""
        return builder(self.function.result)

    @cached_property
    def flatten_result(self) -> Callable[[Any], tuple[Any, ...]]:
        """The leaves of a result, or of a cotangent of it."""
        return flattener(self.function.result)

    def active_leaves(self, argnums: tuple[int, ...] | None) -> tuple[int, ...]:
        """The differentiable leaves of these arguments (None: of all, captures included)."""
        found = self._active_leaves.get(argnums)
        if found is None:
            found = self._active_leaves[argnums] = self._find_active_leaves(argnums)
        return found

    @cached_property
    def used_leaves(self) -> frozenset[int]:
        """The leaves that some result of a recorded call depends on, with a derivative, or is."""
        function = self.lowered.effectful
        origins = [origin for origin in self.lowered.origins if origin is not None]
        returned = {origin.leaf for origin in origins if not origin.among_results}
        used = (
            i
            for i in self.active_leaves(None)
            if reached_results(function, [i]) or reached_unknown(function, [i])
        )
        return frozenset(used) | returned

    def _find_active_leaves(self, argnums: tuple[int, ...] | None) -> tuple[int, ...]:
        leaves: list[int] = []
        start = 0
        for number, typed in enumerate(self.arguments):
            stop = start + len(typed.types)
            if argnums is None or number in argnums:
                leaves += [
                    i for i in range(start, stop) if is_differentiable(typed.types[i - start])
                ]
            start = stop
        return tuple(leaves)

    def chosen_leaves(self, argnums: tuple[int, ...] | None) -> tuple[int, ...]:
        """The differentiable leaves of these arguments; for None, of all arguments of the call
        and of captured Tensors."""
        if argnums is not None:
            return self.active_leaves(argnums)
        own = self.own_arguments
        tensors = [
            i for i, a in enumerate(self.arguments) if i < own or any(map(is_wrapped, a.types))
        ]
        return self.active_leaves(tuple(tensors))

    def flat_derivatives(self, active: tuple[int, ...]) -> Derivatives:
        """The derivatives of a function whose arguments and result are single leaves."""
        found = self._flat.get(active)
        if found is None:
            found = of_flat(self.name.title().replace("_", ""), self.function, active, views=True)
            self._flat[active] = found
            found.forward, found.adjoint  # noqa: B018  (made now, while guards may still be added)
        return found

    def effectful_specialization(self, active: tuple[int, ...]) -> Specialization:
        """The derivatives by these leaves of those of `Lowered.effectful` that depend on them."""
        function, changed = self.lowered.effectful, self.lowered.changed_leaves
        reached = reached_results(function, active)
        seeded = tuple(
            position
            for position in range(len(function.body.yields))
            if position in reached or changed.get(position) in active
        )
        if function is self.function:
            return self.specialization(active, seeded)
        return Specialization(self, active, seeded, "effectful")

    def storing_specialization(
        self, active: tuple[int, ...], seeded: tuple[int, ...]
    ) -> Specialization:
        """The derivatives of `Lowered.storing`, of these leaves of the result."""
        key = ("storing", active, seeded)
        if key not in self._specializations:
            self._specializations[key] = Specialization(self, active, seeded, "storing")
        return self._specializations[key]

    def specialization(
        self, active: tuple[int, ...], seeded: tuple[int, ...] | None = None
    ) -> Specialization:
        """The derivatives with respect to these leaves, of these leaves of the result."""
        if (active, seeded) not in self._specializations:
            self._specializations[active, seeded] = Specialization(self, active, seeded)
        return self._specializations[active, seeded]


def definition(function: FunctionType) -> Location | None:
    """Where a user's function is defined."""
    function = called_by(function)
    return parameter_location(function, function.__name__.strip("<>"))
