"""One user function and its lowerings: from the values of a call to the IR that fits them.

A `Program` belongs to the code of a function, not to the function object: the closures that
one `def` or `lambda` makes in a loop share one program, and so what was compiled for them.
Its lowerings are `Primal`s, of which that is found, or made, which holds for a call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from gradscribe.compiler.conditions import compiling
from gradscribe.compiler.entry import Values
from gradscribe.compiler.keys import KEYS, Key
from gradscribe.compiler.partly import Partly
from gradscribe.compiler.primal import Primal, definition
from gradscribe.compiler.signatures import ArgumentTypes, Binder
from gradscribe.compiler.variadic import called_by, is_variadic
from gradscribe.errors import AliasingError, GradscribeError, UnsupportedError
from gradscribe.frontend.interface import (
    KnownListError,
    KnownNumberError,
    Recording,
    RunTimeKeyError,
    SourcePlace,
)
from gradscribe.frontend.memory.aliasing import APART, TOGETHER
from gradscribe.primitives.recorded_functions import Machine

_LIMIT = 1024
"""How many programs are kept that nobody holds any more."""

_MOST_PASSING = 8
"""For how many sets of classes and operations that a function has made the lowerings of one kind
are kept: each of its calls makes others, and what these capture is kept with them."""

_programs: OrderedDict[tuple[int, int, int], Program] = OrderedDict()


def program_of(function: FunctionType, machine: Machine | None = None) -> Program:
    """The program of a function's code (in its module). machine: see `Program`."""
    key = (id(function.__code__), id(function.__globals__), id(machine))
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = Program(function, machine)
        if len(_programs) > _LIMIT:
            _programs.popitem(last=False)
    else:
        _programs.move_to_end(key)
    return program


class Program:
    """All lowerings of one function. code and namespace are kept, so that their ids stay.

    machine: runs the calls that cannot be compiled, recorded (None: they are refused); parts: which
    these are, by the types of the arguments.
    """

    def __init__(self, function: FunctionType, machine: Machine | None = None) -> None:
        self.code: CodeType = function.__code__
        self.namespace = function.__globals__
        self.binder = Binder(self.code)
        self.variadic = is_variadic(function)
        self.primals: dict[Key, list[Primal]] = {}
        self.machine = machine
        self.parts: dict[Key, Partly] = {}

    def partly(self, values: Values) -> Partly:
        """Which calls are recorded in calls of this kind."""
        assert self.machine is not None
        return self.parts.setdefault(_key(values), Partly(self.machine))

    def of_kind(self, values: Values) -> Sequence[Primal]:
        """The lowerings for calls of this kind."""
        return self.primals.get(_key(values), [])

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
            make = self._primal if self.machine is None else self._partial
            primal = make(values, sampled)
        except GradscribeError as error:
            made = called_by(values[0]) is not values[0]
            if made and error.location and error.location.filename == self.code.co_filename:
                error.location = definition(values[0])
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
        keyed: frozenset[SourcePlace] = frozenset(),
        known: frozenset[str] = frozenset(),
        numbers: frozenset[tuple[Any, ...]] = frozenset(),
        recording: Recording | None = None,
    ) -> Primal:
        """A new lowering; once more where more is found to be known, or told apart, than it was."""
        types = ArgumentTypes(known)
        try:
            again = recording and recording.again()
            return Primal(self.binder, values, sampled, types, keyed, numbers, again)
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


def _remembered(primals: list[Primal]) -> list[Primal]:
    """The lowerings, the latest first, without those for objects that others have followed."""
    latest = list(dict.fromkeys(primal.passing for primal in primals if primal.passing))
    return [primal for primal in primals if primal.passing not in latest[_MOST_PASSING:]]


def _key(values: Values) -> Key:
    """What tells the kinds of calls apart."""
    return tuple([KEYS[value.__class__](value) for value in values[1:]])
