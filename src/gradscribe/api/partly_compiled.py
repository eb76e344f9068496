"""`compile="auto"`: what can be compiled is, and the calls that cannot are recorded.

A call of a function whose program cannot be compiled as a whole is recorded first, as by
`compile=False`: its result is returned. What the functions of the program returned in that run is
noted, and the program is compiled with some of its calls recorded, those that stood in the way
(`compiler.partly`). Later calls run that. Where not even the function itself can be compiled
around recorded calls, all calls are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from gradscribe.compiler import Primal, Target
from gradscribe.compiler.entry import Values
from gradscribe.compiler.outside_state import OutsideState
from gradscribe.compiler.partly import Partly
from gradscribe.errors import (
    AliasingError,
    GradscribeError,
    InternalError,
    NoDerivativeError,
    SourceNotFoundError,
    UnknownTypeError,
    UnsupportedError,
)
from gradscribe.frontend.interface import Call
from gradscribe.ir.core import CALL, Function, Location, Operation, callees, walk
from gradscribe.primitives import shared_results
from gradscribe.primitives.argument_trees import copied, is_same
from gradscribe.primitives.control import ASSERT, ATTEMPT, CAUGHT, CHECK, RAISE, RESUMED
from gradscribe.primitives.raising import makes_exception
from gradscribe.primitives.real_numbers import CHECKS
from gradscribe.primitives.recorded_functions import (
    ChangedResultError,
    NotRecordedError,
    UnexpectedError,
)
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.result_types import check_result
from gradscribe.recording import runs, sources
from gradscribe.recording.arrays import has_shared_memory, present
from gradscribe.recording.callees import callee_of
from gradscribe.recording.levels import plain
from gradscribe.transforms.passes.recorded import is_recorded

_TRUSTED = "trusted"
"""Says of a lowering that a recorded run has changed nothing that it reads."""

Compiled = tuple[Primal, Callable[[], Any]]
"""A lowering, and what runs the code that was made of it."""


class _Recording:
    """What runs the calls that are recorded."""

    def vjp(self, function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, Any]:
        return runs.vjp(function, args)

    def followed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        callee: Callable[..., Any] = callee_of(function)
        return callee

    def plain(self, value: Any) -> Any:
        return plain(present(value))

    def is_shared(self, value: Any) -> bool:
        return has_shared_memory(value)

    def start_of(self, arguments: Sequence[Any]) -> sources.Start:
        return sources.start_of(arguments)

    def is_function_of(self, result: Any, start: sources.Start) -> bool | None:
        return sources.is_function_of(result, start)


RECORDING = _Recording()

REFUSALS = (UnsupportedError, SourceNotFoundError, InternalError)


def _tells(function: Function) -> bool:
    """Whether a function does more than to compute, by itself and not by its recorded calls."""
    bodies = [function.body, *(callee.function.body for callee in callees(function))]
    return any(_is_told(o) and not is_recorded(o) for body in bodies for o in walk(body))


def _is_told(operation: Operation) -> bool:
    return (
        operation.primitive.effect
        and operation.primitive not in _RAISING
        and operation.callee not in RESUMED
        and not makes_exception(operation.callee)
    )


def _tells_before_a_check(function: Function) -> bool:
    """Whether a function may have done more than to compute by the time that it finds what shares
    memory and must not, or is of another type."""
    called = [o for callee in callees(function) for o in walk(callee.function.body)]
    has_told = False
    for operation in function.body.operations:
        within = [operation, *(o for region in operation.regions for o in walk(region))]
        if any(o.primitive is CALL for o in within):
            within += called
        has_told = has_told or any(map(_is_told, within))
        if has_told and any(map(_is_checked, within)):
            return True
    return False


def _of_second_run(refused: UnsupportedError, place: Location | None) -> UnsupportedError:
    """The refusal to run a function once more, recorded, for what its first run has refused."""
    made = UnsupportedError(
        f"{refused.what}, and what ran before it must not run twice",
        "call the function again: it is recorded as a whole for that",
        refused.location or place,
    )
    if not isinstance(refused, AliasingError):
        return made
    return AliasingError(made.what, made.advice, made.location)


def _is_checked(operation: Operation) -> bool:
    """Whether an operation may raise such an error."""
    is_of_memory = operation.attributes.get("error") is AliasingError
    return is_of_memory or operation.primitive is PRIMITIVES[check_result]


_RECORDED = (AliasingError, UnknownTypeError)
"""What a program finds only when it runs, and a recorded run has no need to refuse."""

_RAISING = frozenset({ASSERT, ATTEMPT, CAUGHT, CHECK, RAISE, *CHECKS})
"""Operations that tell nobody but the program itself."""


@dataclass(frozen=True, eq=False)
class PartialCall:
    """A call of something that is made of a function, to be compiled in part.

    target, values: of the function. key: tells what is made of it. make: compiles for the call.
    record: runs it recorded, as a whole; plain: runs the function itself. is_first_order: whether
    what is made of the function is a first derivative.
    """

    target: Target
    values: Values
    key: Hashable
    make: Callable[[], Compiled]
    record: Callable[[], Any]
    plain: Callable[[], Any]
    is_first_order: bool = True

    def run(self) -> Any:
        """The result."""
        made, refusal = self._made()
        if made is not None:
            try:
                return self._run(*made)
            except UnexpectedError as found:
                self._learn(made[0], found)
            except _RECORDED as refused:
                self._partly.whole[self.key] = refused.what
                if _tells_before_a_check(made[0].function):
                    raise _of_second_run(refused, made[0].location) from None
        if self.key in self._partly.whole:
            return self.record()
        return self._observed(refusal)

    def _observed(self, refusal: GradscribeError | None) -> Any:
        """The result of a recorded run, after which the program is compiled for the next one."""
        partly = self._partly
        try:
            with partly.observing():
                result = self.record()
        except Exception as error:
            failed = error
        else:
            if partly.is_observed:
                self._made(is_last=True)
            return result
        # What the function itself raises now did not arise while that was handled.
        partly.failed(failed)
        made = self._made_from_plain_run(failed, refusal)
        try:
            return self._run(*made)
        except UnexpectedError as found:
            self._learn(made[0], found)
        raise failed

    def _made_from_plain_run(self, error: Exception, refusal: GradscribeError | None) -> Compiled:
        """The compiled program, where the function cannot run recorded as a whole, but runs as it
        is, and may run twice. error: what came of the recorded run; refusal: why the program is not
        compiled as a whole."""
        partly = self._partly
        partly.ran.add(self.target.function.__code__)
        is_by_text = isinstance(error, NoDerivativeError) and error.is_by_text
        if is_by_text or not partly.is_quiet:
            raise error
        with partly.observing():
            self.plain()
        made, again = self._made() if partly.is_observed else (None, None)
        if made is None:
            refusal = again or refusal
            if refusal is None or isinstance(error, GradscribeError):
                raise error
            raise refusal from error
        return made

    def specialize(self) -> Compiled:
        """What is compiled for the call, which is recorded once if that is needed to know its
        types."""
        made, refusal = self._made()
        if made is None and not self.is_whole:
            with self._partly.observing():
                self.record()
            made, refusal = self._made(is_last=True)
        if made is None:
            raise refusal or NotRecordedError(self.report)
        return made

    @property
    def report(self) -> str:
        """What is recorded, and why."""
        found = self._primals()
        name = self.target.function.__name__
        return self._partly.report(name, self.key, found[0].recording if found else None)

    @property
    def is_whole(self) -> bool:
        """Whether all calls are recorded."""
        return self.key in self._partly.whole

    @property
    def _partly(self) -> Partly:
        return self.target.program.partly(self.values)

    def _made(self, is_last: bool = False) -> tuple[Compiled | None, GradscribeError | None]:
        """The compiled program; None where it is recorded, and why. is_last: all that can be known
        of what its calls return is known."""
        partly, refusal = self._partly, None
        while self.key not in partly.whole:
            primal = None
            try:
                primal, run = self.make()
                if primal.has_recorded and not self.is_first_order:
                    raise NotRecordedError("recorded calls have first derivatives alone")
                return (primal, run), None
            except REFUSALS as error:
                refusal = error
                if self.is_first_order and partly.records(self._told(error)):
                    self._forget()
                elif is_last or not self.is_first_order:
                    partly.whole[self.key] = error.what
                else:
                    break
        return None, refusal

    def _told(self, error: GradscribeError) -> GradscribeError:
        """An error with the calls that it came about by. One that was met after the program was
        lowered tells only its place."""
        place = error.location
        if error.calls or place is None:
            return error
        compiled = [
            call
            for primal in self._primals()
            for call in (primal.recording.compiled if primal.recording is not None else ())
            if call.lines[0] == place.filename and call.lines[1] <= place.line <= call.lines[2]
        ]
        if compiled:
            call: Call | None = min(compiled, key=lambda call: call.lines[2] - call.lines[1])
            while call is not None:
                error.calls.append(call)
                call = call.caller
        return error

    def _primals(self) -> list[Primal]:
        known = self.target.program.of_kind(self.values)
        return [primal for primal in known if primal.match(self.values)]

    def _forget(self) -> None:
        for primal in self._primals():
            self.target.program.forget(primal)

    def _run(self, primal: Primal, run: Callable[[], Any]) -> Any:
        """The result of the compiled program, which reads first what it finds outside: its recorded
        calls must not change that. Where they might, a recorded run shows whether they do."""
        if not primal.has_recorded:
            return run()
        is_trusted = (
            not primal.lowered.captures or self._partly.is_quiet or _TRUSTED in primal.plans
        )
        before, states = self._found(primal)
        before = copied(before)
        with shared_results.watching():
            result = run() if is_trusted else self.record()
            is_unchanged = shared_results.are_unchanged()
        is_as_found = all(state.is_unchanged(None, False) for state in states)
        if is_unchanged and is_as_found and is_same(before, self._found(primal)[0]):
            primal.plans[_TRUSTED] = True
            return result
        self._partly.whole[self.key] = "what its recorded calls change is read besides"
        if is_trusted:
            did = "a recorded call changed what `{}` reads besides"
            if not is_unchanged:
                did = "`{}` changed what a recorded call has returned"
            raise UnsupportedError(
                f"{did.format(primal.name)}: its derivative may be wrong",
                "call it again, which records it as a whole, or use `compile=False`",
                primal.location,
            )
        return result

    def _found(self, primal: Primal) -> tuple[Any, list[OutsideState]]:
        """What the program reads, and asks for; None where that has changed so that it does not
        hold any more."""
        matched = primal.match(self.values)
        leaves = () if matched is None else primal.layout.leaves(matched)
        states = [leaf for leaf in leaves if isinstance(leaf, OutsideState)]
        read = tuple(leaf for leaf in leaves if not isinstance(leaf, OutsideState))
        return None if matched is None else read, states

    def _learn(self, primal: Primal, found: UnexpectedError) -> None:
        """Note what a recorded call returned, and refuse to run the program again if anything may
        have been told, or changed, by then."""
        partly = self._partly
        did = f"a recorded call {found.did(partly.form(found.site))}"
        if isinstance(found, ChangedResultError):
            partly.whole[self.key] = did
        else:
            partly.learn(found.site, found.form)
        self.target.program.forget(primal)
        if partly.is_quiet and not _tells(primal.function):
            return
        raise UnsupportedError(
            f"{did}, and what ran before it must not run twice",
            "call the function again: it is compiled anew for that",
            primal.location,
        ) from None
