"""Functions that emitted code calls, and that run recorded: operation by operation.

They are given the arguments of the user's call, and give what the user's function returns, of the
type that the program was compiled for, in memory of its own. A `Recorded` runs the function as it
is; a `Differentiated` records it, and gives a `Pullback` besides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.primitives import observed, shared_results
from gradscribe.primitives.argument_trees import (
    at,
    copied,
    is_same,
    owned,
    plain_but,
    plain_tree,
    replaced,
)
from gradscribe.primitives.contract_kinds import PURE
from gradscribe.primitives.observed import Axes, Form, Steps, UnseenForm
from gradscribe.primitives.raising import GivenUpError


class Machine(Protocol):
    """What runs functions recorded (`gradscribe.recording`, handed in by the layers above)."""

    def vjp(self, function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, Any]:
        """The result, and the function from its cotangent to those of the arguments."""

    def followed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What is called in its place in a run that is recorded now."""

    def plain(self, value: Any) -> Any:
        """The value itself, for one of a recorded run."""

    def is_shared(self, value: Any) -> bool:
        """Whether others may have the memory of an array of a recorded run, and not the array."""

    def start_of(self, arguments: Sequence[Any]) -> Any:
        """The beginning, now, of a call with these arguments in a recorded run."""

    def is_function_of(self, result: Any, start: Any) -> bool | None:
        """Whether what a call returned is computed from its arguments alone (None: not known)."""


class Site(NamedTuple):
    """A place where a Python function is called. code: the identity of the function's code.
    columns: where the call begins and ends in its line, if Python tells (from 3.11 on), and it is
    one line."""

    code: int
    filename: str
    line: int
    columns: tuple[int, int] | None


class NotRecordedError(UnsupportedError):
    """A call cannot be recorded by itself: the function around it is."""


@dataclass(frozen=True, eq=False)
class Pull:
    """Called as `(out, inputs, saved, d_out)`, for the cotangents of the inputs."""


@dataclass(frozen=True, eq=False)
class Push:
    """Called as `(out, inputs, saved, d_inputs)`, for the tangent of out."""


class Rules:
    """The rules of a recorded call (see `control.GIVEN`). name: of the function."""

    pull = Pull()
    push = Push()
    materializes = True

    def __init__(self, name: str) -> None:
        self.name = name


class UnexpectedError(GivenUpError):
    """A recorded call did what the program around it was not compiled for. form: that of
    what it returned, if it has run; None if it changed what it was given."""

    def __init__(self, site: Site, form: Form | None) -> None:
        self.site = site
        self.form = form

    def did(self, expected: Form | None) -> str:
        """What the call did. expected: what it was compiled to return."""
        if isinstance(self.form, UnseenForm):
            return "is come to for the first time"
        if self.form is None:
            return "changed what it was given"
        return f"returned {self.form}, not {expected}, as it was compiled for"


class ChangedResultError(UnexpectedError):
    """A recorded call changed what another one has returned."""

    def did(self, expected: Form | None) -> str:
        return "changed what another one has returned"


@functools.cache
def unseen(site: Site) -> type[UnexpectedError]:
    """The error that leaves a program at a call that no run has come to before."""

    class UnseenCallError(UnexpectedError):
        def __init__(self) -> None:
            super().__init__(site, UnseenForm())

    return UnseenCallError


class Recorded:
    """A function as emitted code calls it. form, axes: what its result must be. machine: runs what
    is recorded."""

    __gradscribe_contract__ = PURE
    __module__ = "recorded"

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        site: Site,
        form: Form,
        axes: Axes,
        machine: Machine,
    ) -> None:
        self.function = function
        self.machine = machine
        self.site = site
        self.form = form
        self._axes = axes
        self.__name__ = name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        tree = (args, keywords)
        given = copied(tree)
        results = (self.function(*given[0], **given[1]),)
        self.check_unchanged(tree, given)
        shared_results.watch(results, given, self.machine)
        return self.checked(results[0], given, lambda value: value)

    def checked(self, out: Any, given: Any, plain: Callable[[Any], Any]) -> Any:
        """A result, plain and in memory of its own, if it is what it must be. given: the arguments
        of the call."""
        result = plain_but(out, plain, self._axes)
        if observed.fits(self.form, self._axes, result, functools.partial(at, given)):
            return owned(result, self._axes)
        raise UnexpectedError(self.site, observed.form_of(plain_tree(out, plain)))

    def check_unchanged(self, before: Any, after: Any) -> None:
        if not is_same(before, after):
            raise UnexpectedError(self.site, None)
        if not shared_results.are_unchanged():
            raise ChangedResultError(self.site, None)


class Differentiated:
    """A function as emitted code calls it where a derivative passes through. active: for each value
    that it is differentiated by, where that stands among the arguments; results: where the results
    do that have a derivative."""

    __gradscribe_contract__ = PURE
    __module__ = "recorded"

    def __init__(
        self, call: Recorded, active: Sequence[Sequence[Steps]], results: Sequence[Steps]
    ) -> None:
        self._call = call
        self._active = active
        self._results = results
        self.__name__ = f"{call.__name__}_vjp"

    def __call__(self, *args: Any, **keywords: Any) -> tuple[Any, Pullback]:
        call, machine = self._call, self._call.machine
        tree = (args, keywords)
        given = copied(tree)
        found: list[Any] = []

        def of_active(*leaves: Any) -> tuple[Any, ...]:
            pairs = zip(self._active, leaves, strict=True)
            own = replaced(given, {steps: leaf for places, leaf in pairs for steps in places})
            results = (machine.followed(call.function)(*own[0], **own[1]),)
            shared_results.watch(results, own, machine)
            (out,) = results
            after = [plain_tree(leaf, machine.plain) for leaf in leaves]
            call.check_unchanged(likes, after)
            found.append(call.checked(out, own, machine.plain))
            return tuple(at(out, steps) for steps in self._results)

        likes = [at(tree, steps) for steps, *_ in self._active]
        leaves = [at(given, steps) for steps, *_ in self._active]
        _, pullback = machine.vjp(of_active, leaves)
        call.check_unchanged(tree, given)
        outs = [at(found[0], steps) for steps in self._results]
        return found[0], Pullback(machine, pullback, likes, outs)


class Pullback:
    """From the cotangents of a recorded call's results to those of its arguments."""

    def __init__(
        self,
        machine: Machine,
        pullback: Callable[[Any], Any],
        likes: Sequence[Any],
        outs: Sequence[Any],
    ) -> None:
        """likes: the arguments; outs: the results."""
        self._machine = machine
        self._pullback = pullback
        self._likes = list(map(_like, likes))
        self._outs = list(map(_like, outs))

    def __call__(self, *cotangents: Any) -> Any:
        return _conformed(self._pullback(tuple(map(copied, cotangents))), self._likes)

    def tangent(self, *tangents: Any) -> Any:
        """The tangents of the results, from those of the arguments: what this does is linear, and
        that is its transpose."""
        _, transposed = self._machine.vjp(lambda *given: self._pullback(given), self._outs)
        return _conformed(transposed(tuple(map(copied, tangents))), self._outs)


def _like(value: Any) -> Any:
    """Zero, of the type of a number or an array."""
    return np.zeros(value.shape, value.dtype) if type(value) is np.ndarray else type(value)(0)


def _conformed(found: Sequence[Any], likes: Sequence[Any]) -> Any:
    """(Co)tangents of the types of what they belong to, in memory of their own."""
    own = tuple(map(_as_type, found, likes))
    return own[0] if len(own) == 1 else own


def _as_type(item: Any, like: Any) -> Any:
    if item is None:
        return like.copy() if type(like) is np.ndarray else like
    if type(like) is np.ndarray:
        return np.array(item, like.dtype)
    return item if type(item) is type(like) else type(like)(item)
