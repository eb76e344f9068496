"""From Python source to IR: one visitor over the gast tree, under the types of the arguments.

The visitor is a partial evaluator. What is known when the function is compiled (functions,
modules, strings, structures, the ranks of arrays) is decided now; what is not becomes IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import gast

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.boundary.effects import attributes_of, given_by
from gradscribe.frontend.boundary.finishing import lowered
from gradscribe.frontend.calls.frames import run_frame
from gradscribe.frontend.control import contexts
from gradscribe.frontend.interface import (
    AccessPath,
    Argument,
    CaptureCallback,
    Lowered,
    Recording,
    SourcePlace,
)
from gradscribe.frontend.joins.splitting import without_none
from gradscribe.frontend.memory import outside_memory, outside_state
from gradscribe.frontend.opaque import lent_containers, mapped_files, shown_calls
from gradscribe.frontend.state.definitions import NotYetKnownError
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.interruptions import (
    AlwaysRaisesError,
    EverOtherTypesError,
    MisfitError,
    SplitError,
    refusal,
)
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.package import Package
from gradscribe.frontend.structures import inputs
from gradscribe.frontend.syntax.source import Source, nested_too_deeply, source_of
from gradscribe.frontend.values.values import FrontendValue, Storage
from gradscribe.frontend.wiring import ENTRIES
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Parameter
from gradscribe.ir.lengths import Facts

__all__ = ["Argument", "Lowered", "lower"]


_ALONE = Package()


def lower(
    function: FunctionType,
    arguments: Sequence[Argument],
    facts: Facts,
    capture: CaptureCallback,
    keyed: frozenset[SourcePlace] = frozenset(),
    known: frozenset[tuple[Any, ...]] = frozenset(),
    recording: Recording | None = None,
    package: Package = _ALONE,
) -> Lowered:
    """The IR of a function for arguments of these types.

    arguments: one for each parameter, in order. facts: holds the samples of the specializing
    call, and receives the guards. capture: types an implicit input (see `interface`). keyed: the
    places of the dicts whose keys were found to be known at run time only (`RunTimeKeyError`).
    known: the places of the numbers from outside that it is lowered for (`KnownNumberError`).
    recording: which calls are recorded when the program runs. package: what is known of the
    package around.

    Raises `UnsupportedError` (or one of its kinds) for what cannot be compiled, and
    `SourceNotFoundError` where there is no source.
    """
    lowering = Lowering(Builder(facts), ENTRIES, capture, keyed, recording, package)
    lowering.outside.known = known
    arguments = tuple(arguments)  # captures are added to the caller's list
    lowering.parameters = tuple(argument.name for argument in arguments)
    lowering.has_tensors = any(argument.has_tensor for argument in arguments)
    source = source_of(function.__code__)
    parameters, items = _bound(lowering, source, arguments)
    given = list(given_by(parameters, items, lowering.contents))
    lowering.outside.first = Storage().serial
    lowering.outside.given = dict(lowering.contents)
    attributes = [
        attribute
        for number, (parameter, item) in enumerate(zip(parameters, items, strict=True))
        for attribute in attributes_of(AccessPath(number), parameter, item, lowering.contents)
    ]
    names = dict(zip(lowering.parameters, items, strict=True))
    try:
        shown_calls.note_operations(lowering)
        result = _run(lowering, Frame(source, function, names))
        lowering.builder.location = source.location(source.node)
        contexts.refuse_changed_mode(lowering)
        outside_memory.refuse_shown(lowering)
        mapped_files.refuse_written(lowering)
        shown_calls.watch_operations(lowering)
        lent_containers.at_the_end(lowering)
        outside_state.ask(lowering)
        return lowered(lowering, function, parameters, given, attributes, result)
    except (AlwaysRaisesError, EverOtherTypesError, MisfitError) as error:
        raise refusal(error) from None


def _bound(
    lowering: Lowering, source: Source, arguments: Sequence[Argument]
) -> tuple[list[Parameter], tuple[FrontendValue, ...]]:
    """The parameters for the arguments, and what these are in the frontend."""
    given = _names_of_leaves(source)
    bound = [
        inputs.bind(lowering, argument, given.get(argument.name), position)
        for position, argument in enumerate(arguments)
    ]
    return [parameter for parameter, _ in bound], tuple(found for _, found in bound)


def _run(lowering: Lowering, frame: Frame) -> Any:
    """What the whole function returns."""
    source = frame.source
    lowering.recursion.names.add(source.name)
    try:
        return without_none(lowering, frame, run_frame(lowering, source.node, frame))
    except SplitError as split:
        raise UnsupportedError(
            "this is of one kind or of another at run time",
            "bind it to a name by a statement of its own first",
            split.location,
        ) from None
    except NotYetKnownError as unknown:
        raise UnsupportedError(
            "an item is read here of a list that is empty",
            "give it items first",
            unknown.location,
        ) from None
    except RecursionError:
        raise nested_too_deeply(source.location(source.node)) from None


def _names_of_leaves(source: Source) -> dict[str, Any]:
    """The names by which the function unpacks its own parameters, as nested tuples."""

    def names(target: Any) -> Any:
        if isinstance(target, (gast.Tuple, gast.List)):
            return tuple(map(names, target.elts))
        return target.id if isinstance(target, gast.Name) else None

    body = source.node.body if isinstance(source.node.body, list) else []
    found: dict[str, Any] = {}
    for statement in body:
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name):
            target = statement.targets[0]
            if statement.value.id in source.parameters and isinstance(target, gast.Tuple):
                found.setdefault(statement.value.id, names(target))
    return found
