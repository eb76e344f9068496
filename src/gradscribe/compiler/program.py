"""One user function and its lowerings: from the values of a call to the IR that fits them.

A `Program` belongs to the code of a function, not to the function object: the closures that
one `def` or `lambda` makes in a loop share one program, and so what was compiled for them.
A `Primal` is one lowering of it, for argument types and what `Entry` says beyond them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from gradscribe import frontend
from gradscribe.compiler.conditions import compiling
from gradscribe.compiler.derivatives import Derivatives, of_flat
from gradscribe.compiler.entry import Entry, Values, argument
from gradscribe.compiler.item_texts import getter
from gradscribe.compiler.keys import KEYS, Key, key_of
from gradscribe.compiler.leaves import Layout, builder, container_expressions, flattener, is_wrapped
from gradscribe.compiler.partly import Partly, compiled_as_a_whole
from gradscribe.compiler.signatures import ArgumentTypes, Binder, bound, parameter_location
from gradscribe.compiler.specialization import Specialization
from gradscribe.compiler.stored import refuse_overlap, refuse_read_only, refuse_twice
from gradscribe.compiler.surroundings import package
from gradscribe.compiler.variadic import called_by, is_variadic
from gradscribe.errors import AliasingError, ArgumentError, GradscribeError, UnsupportedError
from gradscribe.frontend.interface import (
    AccessPath,
    Argument,
    KnownListError,
    KnownNumberError,
    Lowered,
    Place,
    Recording,
    RunTimeKeyError,
    RunTimeObject,
)
from gradscribe.frontend.memory.aliasing import APART, TOGETHER
from gradscribe.ir.core import Function, Location, walk
from gradscribe.ir.lengths import Facts
from gradscribe.ir.probing import probe
from gradscribe.ir.types import is_differentiable
from gradscribe.primitives.control import EFFECT
from gradscribe.transforms.analyses.opacity import reached_results, reached_unknown

_LIMIT = 1024
"""How many programs are kept that nobody holds any more."""

_MOST_PASSING = 8
"""For how many sets of classes and operations that a function has made the lowerings of one kind
are kept: each of its calls makes others, and what these capture is kept with them."""

_programs: OrderedDict[tuple[int, int, bool], Program] = OrderedDict()


def program_of(function: FunctionType, is_partial: bool = False) -> Program:
    """The program of a function's code (in its module). is_partial: see `Program`."""
    key = (id(function.__code__), id(function.__globals__), is_partial)
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = Program(function, is_partial)
        if len(_programs) > _LIMIT:
            _programs.popitem(last=False)
    else:
        _programs.move_to_end(key)
    return program


class Program:
    """All lowerings of one function. code and namespace are kept, so that their ids stay.

    is_partial: whether calls that cannot be compiled are recorded; parts: which, by the types of
    the arguments.
    """

    def __init__(self, function: FunctionType, is_partial: bool = False) -> None:
        self.code: CodeType = function.__code__
        self.namespace = function.__globals__
        self.binder = Binder(self.code)
        self.variadic = is_variadic(function)
        self.primals: dict[Key, list[Primal]] = {}
        self.is_partial = is_partial
        self.parts: dict[Key, Partly] = {}

    def partly(self, values: Values) -> Partly:
        """Which calls are recorded in calls of this kind."""
        return self.parts.setdefault(_key(values), Partly())

    def forget(self, primal: Primal) -> None:
        """Forget a lowering: from now on, others are made in its place."""
        for key, known in self.primals.items():
            self.primals[key] = [other for other in known if other is not primal]

    def find(self, values: Values, sampled: Sequence[bool] | None = None) -> tuple[Primal, Values]:
        """The lowering for a call, and the call's values with the captured ones. The lowering is
        made now, if the call is the first of its kind.

        sampled: for each argument, whether its lengths may be assumed of later calls.
        """
        key = _key(values)
        known = self.primals.get(key, [])
        for position, primal in enumerate(known):
            matched = primal.match(values)
            if matched is not None:
                if position:
                    self.primals[key] = [primal, *known[:position], *known[position + 1 :]]
                return primal, matched
        return self._lower(values, key, sampled or (True,) * (len(values) - 1))

    @compiling
    def _lower(self, values: Values, key: Key, sampled: Sequence[bool]) -> tuple[Primal, Values]:
        try:
            make = self._partial if self.is_partial else self._primal
            primal = make(values, sampled)
        except GradscribeError as error:
            made = called_by(values[0]) is not values[0]
            if made and error.location and error.location.filename == self.code.co_filename:
                error.location = _definition(values[0])
            raise
        if (matched := primal.match(values)) is None:
            primal.entry.refuse_unsteady(values, primal.location)
        self.primals[key] = _remembered([primal, *self.primals.get(key, ())])
        return primal, matched

    def _partial(self, values: Values, sampled: Sequence[bool]) -> Primal:
        """A new lowering, some calls in which are recorded."""
        partly = self.partly(values)
        while True:
            try:
                primal = self._primal(values, sampled, recording=partly.recording())
                if primal.has_recorded:
                    partly.refuse_outer_changes(primal.name, primal.lowered, primal.own_arguments)
                primal.report = partly.report(primal.name, None, primal.recording)
                return primal
            except GradscribeError as error:
                if not partly.records(error):
                    raise

    def _primal(
        self,
        values: Values,
        sampled: Sequence[bool],
        keyed: frozenset[Place] = frozenset(),
        known: frozenset[str] = frozenset(),
        numbers: frozenset[tuple[Any, ...]] = frozenset(),
        recording: Recording | None = None,
    ) -> Primal:
        """A new lowering; once more where more is found to be known, or told apart, than it was."""
        types = ArgumentTypes(known)
        try:
            again = recording and Recording(recording.form, recording.seen, recording.keeping)
            return Primal(self, values, sampled, types, keyed, numbers, again)
        except KnownListError as error:
            leaf = types.leaves[error.leaf]
            return self._primal(values, sampled, keyed, known | {leaf}, numbers, recording)
        except KnownNumberError as error:
            return self._primal(values, sampled, keyed, known, numbers | {error.place}, recording)
        except RunTimeKeyError as error:
            if error.place is None or error.place in keyed:
                raise UnsupportedError(error.what, error.advice, error.location) from None
            keyed |= {error.place}
        except AliasingError:
            if {APART, TOGETHER} & keyed:
                raise
            with suppress(UnsupportedError):
                return self._primal(values, sampled, keyed | {APART}, known, numbers, recording)
            keyed |= {TOGETHER}
        return self._primal(values, sampled, keyed, known, numbers, recording)


class Primal:
    """One lowering of a program, and its specializations by active leaves."""

    def __init__(
        self,
        program: Program,
        values: Values,
        sampled: Sequence[bool],
        types: ArgumentTypes,
        keyed: frozenset[Place],
        numbers: frozenset[tuple[Any, ...]],
        recording: Recording | None = None,
    ) -> None:
        function, *arguments = values
        self.recording = recording
        self.report = compiled_as_a_whole(function.__name__)
        self.program = program
        self.user_function: FunctionType = function
        self._key = tuple(map(key_of, arguments))
        names = program.binder.names
        self._types = types
        self._captured_keys: list[Key] = []
        self._next_argument = len(arguments)
        self._bind = program.binder.of(function)
        self._active_leaves: dict[tuple[int, ...] | None, tuple[int, ...]] = {}
        self.name: str = function.__name__ if function.__name__ != "<lambda>" else "function"
        self.own_arguments = len(arguments)
        self.arguments = [
            self._type(function, name, value, number, use)
            for number, (name, value, use) in enumerate(zip(names, arguments, sampled, strict=True))
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
        )

    def _type(
        self, function: FunctionType, name: str, value: Any, number: int, sampled: bool
    ) -> Argument:
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
        return frozenset(id(v) for v in needed if "<locals>" in probe(v, "__qualname__", ""))

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
        return self.lowered.stores or self.changes_containers

    def check_changed(self, values: Values, leaves: Sequence[Any]) -> None:
        """Refuse a call where what is changed is read-only, shares memory with something else, or
        is a list or dict that is given twice."""
        try:
            refuse_read_only(self.leaf_names, leaves, self.lowered)
            refuse_overlap(self.leaf_names, leaves, self.lowered)
            if self.changes_containers:
                refuse_twice(self.name, self._find_containers(values))
        except GradscribeError as error:
            error.location = self.location
            error.way_out = ""  # it is the call that is refused
            raise

    @property
    def location(self) -> Location | None:
        """Where the function is defined."""
        return _definition(self.user_function)

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

    @cached_property
    def may_be_refused(self) -> bool:
        """Whether a path is refused when it is taken, so that nothing is known of its results."""
        callees = (o.callee for o in walk(self.lowered.effectful.body) if o.primitive is EFFECT)
        return any(isinstance(c, type) and issubclass(c, GradscribeError) for c in callees)

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


def _remembered(primals: list[Primal]) -> list[Primal]:
    """The lowerings, the latest first, without those for objects that others have followed."""
    latest = list(dict.fromkeys(primal.passing for primal in primals if primal.passing))
    return [primal for primal in primals if primal.passing not in latest[_MOST_PASSING:]]


def _key(values: Values) -> Key:
    """What tells the kinds of calls apart."""
    return tuple([KEYS[value.__class__](value) for value in values[1:]])


def _definition(function: FunctionType) -> Location | None:
    """Where a user's function is defined."""
    function = called_by(function)
    return parameter_location(function, function.__name__.strip("<>"))
