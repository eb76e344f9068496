"""From Python source to IR: one visitor over the gast tree, under the types of the arguments.

The visitor is a partial evaluator. What is known when the function is compiled (functions,
modules, strings, structures, the ranks of arrays) is decided now; what is not becomes IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend import inputs
from gradscribe.frontend.calls import (
    builtin_functions,
    callables,
    iterating,
    iterator_tools,
    object_builtins,
    own_rules,
    remembering,
)
from gradscribe.frontend.calls.definitions import AlwaysRaisesError, EverOtherTypesError
from gradscribe.frontend.calls.frames import run_frame
from gradscribe.frontend.data.results import result_tree
from gradscribe.frontend.dependencies import identities
from gradscribe.frontend.effects import Attribute, Given, attributes_of, effects_of, given_by
from gradscribe.frontend.frame import Frame
from gradscribe.frontend.interface import Argument, CaptureCallback, Lowered, Path, Place
from gradscribe.frontend.lowering import Lowering, MisfitError, SplitError
from gradscribe.frontend.source import Source, nested_too_deeply, source_of
from gradscribe.frontend.splitting import without_none
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, Parameter
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, Node

__all__ = ["Argument", "Lowered", "lower"]

del (
    builtin_functions,
    callables,
    iterating,
    iterator_tools,
    object_builtins,
    own_rules,
    remembering,
)  # they have entered what they know


def lower(
    function: FunctionType,
    arguments: Sequence[Argument],
    facts: Facts,
    capture: CaptureCallback,
    keyed: frozenset[Place] = frozenset(),
) -> Lowered:
    """The IR of a function for arguments of these types.

    arguments: one for each parameter, in order. facts: holds the samples of the specializing
    call, and receives the guards. capture: types an implicit input (see `interface`). keyed: the
    places of the dicts whose keys were found to be known at run time only (`RunTimeKeyError`).

    Raises `UnsupportedError` (or one of its kinds) for what cannot be compiled, and
    `SourceNotFoundError` where there is no source.
    """
    builder = Builder(facts)
    lowering = Lowering(builder, capture, keyed)
    arguments = tuple(arguments)  # captures are added to the caller's list
    lowering.parameters = tuple(argument.name for argument in arguments)
    source = source_of(function.__code__)
    given = _names_of_leaves(source)
    names: dict[str, Any] = {}
    parameters = []
    for position, argument in enumerate(arguments):
        parameter, found = inputs.bind(lowering, argument, given.get(argument.name), position)
        parameters.append(parameter)
        names[argument.name] = found
    objects = list(given_by(parameters, tuple(names.values()), lowering.contents))
    attributes = [
        attribute
        for number, (parameter, item) in enumerate(zip(parameters, names.values(), strict=True))
        for attribute in attributes_of(Path(number), parameter, item, lowering.contents)
    ]
    lowering.recursion.names.add(source.name)
    try:
        frame = Frame(source, function, names)
        result = without_none(lowering, frame, run_frame(lowering, source.node, frame))
    except (AlwaysRaisesError, EverOtherTypesError, MisfitError) as error:
        raise UnsupportedError(error.what, error.advice, error.location) from None
    except SplitError as split:
        raise UnsupportedError(
            "this is of one kind or of another at run time",
            "bind it to a name by a statement of its own first",
            split.location,
        ) from None
    except RecursionError:
        raise nested_too_deeply(source.location(source.node)) from None
    builder.location = source.location(source.node)
    return _lowered(lowering, function, parameters, objects, attributes, result)


def _lowered(
    lowering: Lowering,
    function: FunctionType,
    parameters: list[Parameter],
    given: list[Given],
    attributes: list[Attribute],
    result: Any,
) -> Lowered:
    """What has been lowered, as a function, with all that it depends on and changes.

    given, attributes: the objects in the arguments, as they were at the start.
    """
    tree, yields = result_tree(lowering, result)
    captured = [parameter for _, parameter in lowering.captures]
    start = len(parameters)
    leaves = sum(len(parameter.leaves) for parameter in parameters)
    for item in given_by(captured, tuple(lowering.captured.values()), lowering.entered):
        leaf = None if item.leaf is None else item.leaf + leaves
        given.append(replace(item, argument=item.argument + start, leaf=leaf))
    for (capture, parameter), item in zip(
        lowering.captures, lowering.captured.values(), strict=True
    ):
        attributes += attributes_of(capture.path, parameter, item, lowering.entered)
    parameters = parameters + captured
    values = tuple(leaf for parameter in parameters for leaf in parameter.leaves)
    effects = effects_of(lowering, given, attributes, values, result)
    identities(lowering)
    body = Block(values, tuple(lowering.builder.operations), tuple(yields))
    name = function.__name__ if function.__name__.isidentifier() else "function"
    facts = lowering.builder.facts
    plain = Function(name, tuple(parameters), body, tree, facts, function.__doc__)
    effectful = plain
    is_plain = not effects.changes and not effects.attributes
    if not is_plain or any(origin is not None for origin in effects.origins):
        every = zip((*yields, *effects.leaves), effects.origins, strict=True)
        new = tuple(leaf for leaf, origin in every if origin is None)
        body = replace(body, yields=new)
        effectful = replace(plain, body=body, result=Node(tuple, (LEAF,) * len(new)))
    return Lowered(
        plain,
        effectful,
        effects.changes,
        effects.attributes,
        effects.origins,
        tuple(found for found, _ in lowering.captures),
        tuple(lowering.dependencies.values()),
        effects.stored,
        effects.distinct,
        effects.unclear,
        tuple(n for n, leaf in enumerate(values) if leaf in lowering.assumed_contiguous),
    )


def _names_of_leaves(source: Source) -> dict[str, Any]:
    """The names by which the function unpacks its own parameters, as nested tuples."""
    import gast

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
