"""`F.apply(…)` of an `autograd.Function` in a recorded run.

Where a derivative goes through it, the call is compiled by itself, with its `backward` and `jvp`;
what these and `forward` read outside is read at each call, and has no derivative. What `forward`
is given beside arrays and numbers is the program's own, and is not changed. Any other call runs as
it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.compiler import bound_call
from gradscribe.errors import GradscribeError, UnsupportedError
from gradscribe.recording import calls, exits, operations
from gradscribe.recording.arrays import (
    RecordedArray,
    check_class,
    holds_active,
    is_recorded,
    present,
    shown,
)
from gradscribe.recording.containers import Containers
from gradscribe.recording.levels import Traced, plain, refused, values_in
from gradscribe.recording.snapshots import value_of_array
from gradscribe.recording.trials import Trial, name_of
from gradscribe.runtime.graph.grad_mode import grad_enabled
from gradscribe.runtime.operations.drawing import Drawing

Callee = Any


def apply(callee: Callee, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`F.apply(*args, **kwargs)`, of which `callee` is `F.apply`."""
    if not holds_active((args, dict(kwargs))):
        return Trial(callee, args, kwargs, is_only=True).store()
    values = [present(value) for value in (*args, *kwargs.values())]
    active = [number for number, value in enumerate(values) if type(value) is Traced]

    def plainly(value: Any) -> Any:
        is_container = isinstance(value, (list, tuple, dict))
        return containers.of(value) if is_container else operations.uncovered(value)

    containers = Containers(plainly)
    given = list(map(plainly, (*args, *kwargs.values())))
    named = dict(zip(kwargs, given[len(args) :], strict=True))
    if not active or not grad_enabled():
        found = callee(*given[: len(args)], **named)
        containers.check(name_of(callee))
        return operations.cut(found, (args, dict(kwargs)))
    try:
        call = bound_call(callee, given[: len(args)], named, active)
    except GradscribeError as error:
        if exits.is_of_recorded(error):
            raise _read_outside(callee) from None
        raise refused(error) from None
    if Drawing(call.derivatives.effects):
        raise refused(
            UnsupportedError(
                f"`{name_of(callee)}` draws random numbers, in a function that runs as it is",
                "draw them outside, and hand them to `apply`",
            )
        )
    leaves = [_leaf(leaf, callee) for leaf in call.leaves]
    for position, number in zip(call.derivatives.active, active, strict=True):
        leaves[position] = values[number]
    results = list(map(shown, calls.evaluate(call.derivatives, leaves, is_first=True)))
    arrays = [arg for arg in values_in((args, dict(kwargs))) if type(arg) is RecordedArray]
    for result in results:
        if type(result) is RecordedArray:
            own = plain(result._present())
            result._memory.show(
                array for array in arrays if np.may_share_memory(plain(array._present()), own)
            )
    return call.build(results)


def _leaf(value: Any, callee: Callee) -> Any:
    """A leaf of the call, as it stays."""
    if is_recorded(value):
        raise _read_outside(callee)
    if not isinstance(value, np.ndarray):
        return value
    check_class(value)
    return value_of_array(value)


def _read_outside(callee: Callee) -> UnsupportedError:
    return refused(
        UnsupportedError(
            f"`{name_of(callee)}` reads what is computed in the function that is differentiated, "
            "and not handed to it",
            "hand it to `apply`",
        )
    )
