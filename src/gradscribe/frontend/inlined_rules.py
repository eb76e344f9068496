"""Inlining derivative rules: ordinary Python functions, lowered into the block being built.

A rule is lowered by the same frontend as the user's functions, so that its decisions
(`if axis is None`) are taken now and only its arithmetic remains.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradscribe.errors import GradscribeError, RuleError, UnsupportedError
from gradscribe.frontend.calls.frames import run_frame
from gradscribe.frontend.memory import sequences
from gradscribe.frontend.state.frame import RAISED, Frame
from gradscribe.frontend.state.interruptions import AlwaysRaisesError, MisfitError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.package import Package
from gradscribe.frontend.syntax.source import source_of
from gradscribe.frontend.values.values import FrontendValue, Static, TupleOf
from gradscribe.frontend.wiring import ENTRIES
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Location, SliceOf, Value

_ALONE = Package()


def inline(
    builder: Builder,
    rule: Callable[..., Any],
    arguments: Mapping[str, Any],
    location: Location | None = None,
    package: Package = _ALONE,
) -> Any:
    """Append the operations of `rule(**arguments)` and return its result.

    arguments: IR values, static Python objects, and tuples of those. The result has the same
    form: a value, a static number (or None), or a tuple. Every operation is given `location`.
    package: what is known of the package around.
    """
    lowering = Lowering(builder, ENTRIES, package=package)
    source = source_of(rule.__code__)
    given = {**_defaults(rule), **arguments}
    names = {name: _enter(lowering, item) for name, item in given.items()}
    frame = Frame(source, rule, names)  # type: ignore[arg-type]
    given_here = list(_values_in(tuple(given.values())))
    # A block of its own: what was made before keeps its name, and handles of memory stand in it.
    with builder.block(given_here) as operations:
        try:
            result = _leave(lowering, run_frame(lowering, None, frame))
            assert RAISED not in frame.names, "what a rule refuses is refused by its type rule"
        except (AlwaysRaisesError, MisfitError) as error:
            raise UnsupportedError(error.what, error.advice, location or error.location) from None
        except RuleError:
            raise  # it tells of the rule
        except GradscribeError as error:
            error.location = location or error.location
            raise
        if location is not None:
            builder.relocate(0, location)
    for operation in operations:
        builder.append(operation)
    return result


@functools.cache
def _defaults(rule: Callable[..., Any]) -> Mapping[str, Any]:
    parameters = inspect.signature(rule).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _enter(lowering: Lowering, item: Any) -> FrontendValue:
    if isinstance(item, Value):
        return lowering.wrap(item)
    if isinstance(item, (tuple, list)):
        return TupleOf(tuple(_enter(lowering, i) for i in item))
    if isinstance(item, SliceOf):
        return Static(slice(item.start, item.stop, item.step))
    return Static(item)


def _values_in(item: Any) -> Iterator[Value]:
    if isinstance(item, Value):
        yield item
    elif isinstance(item, (tuple, list)):
        for below in item:
            yield from _values_in(below)


def _leave(lowering: Lowering, item: FrontendValue) -> Any:
    if isinstance(item, Static):
        return item.value
    items = sequences.known_items(lowering, item)
    if items is not None:
        return tuple(_leave(lowering, i) for i in items)
    return lowering.value(item)
