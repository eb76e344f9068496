"""Calls of functions and classes of libraries whose source is there.

They are compiled as the user's own are. Where that cannot be done, and the call is given constants
alone, and functions that lead to nothing else, it runs as it stands: what code may do that cannot
be read is expected of it then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.interface import RunTimeKeyError
from gradscribe.frontend.kinds import varying
from gradscribe.frontend.opaque import foreign, unknown
from gradscribe.frontend.state.interruptions import (
    AlwaysRaisesError,
    EverOtherTypesError,
    SplitError,
)
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.trial import Trial
from gradscribe.frontend.values.values import FrontendValue


def call(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
    compile: Callable[..., FrontendValue],
) -> FrontendValue:
    """`callee(*arguments, **keywords)`, of which `compile` lowers the source."""
    trial = lowering.trial()
    given = (*arguments, *keywords.values())
    try:
        return compile(lowering, node, callee, arguments, keywords)
    except (UnsupportedError, SplitError) as refused:
        if not _is_of_this_call(refused, trial, foreign.calls_back(callee, given)):
            raise
        trial.take_back()
        items = (*given, *foreign.all_called(lowering, given))
        if any(varying.may_vary(lowering, item) for item in items):
            raise
        try:
            return unknown.call(lowering, node, callee, arguments, keywords)
        except UnsupportedError:
            raise refused from None


def _is_of_this_call(
    refused: UnsupportedError | SplitError, trial: Trial, calls_back: bool
) -> bool:
    """Whether it is the call that cannot be compiled, and nobody around it helps."""
    if isinstance(refused, SplitError):
        return not trial.is_older(refused.flag)
    if isinstance(refused, RunTimeKeyError):
        return refused.place is None
    if isinstance(refused, AlwaysRaisesError):  # a `try` of the program may wait for it
        return calls_back
    return not isinstance(refused, EverOtherTypesError)
