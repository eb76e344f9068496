"""From Python source to IR: one visitor over the gast tree, under the types of the arguments.

The visitor is a partial evaluator. What is known when the function is compiled (functions,
modules, strings, structures, the ranks of arrays) is decided now; what is not becomes IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from gradscribe.frontend import scope
from gradscribe.frontend.frames import run_frame
from gradscribe.frontend.interface import Argument, CaptureCallback, Lowered
from gradscribe.frontend.lowering import Frame, Lowering
from gradscribe.frontend.results import result_tree
from gradscribe.frontend.source import Source, source_of
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function
from gradscribe.ir.lengths import Facts

__all__ = ["Argument", "Lowered", "lower"]


def lower(
    function: FunctionType,
    arguments: Sequence[Argument],
    facts: Facts,
    capture: CaptureCallback,
) -> Lowered:
    """The IR of a function for arguments of these types.

    arguments: one for each parameter, in order. facts: holds the samples of the specializing
    call, and receives the guards. capture: types an implicit input (see `interface`).

    Raises `UnsupportedError` (or one of its kinds) for what cannot be compiled, and
    `SourceNotFoundError` where there is no source.
    """
    builder = Builder(facts)
    lowering = Lowering(builder, capture)
    source = source_of(function.__code__)
    given = _names_of_leaves(source)
    names: dict[str, Any] = {}
    parameters = []
    for position, argument in enumerate(arguments):
        parameter, found = scope.bind(lowering, argument, given.get(argument.name), position)
        parameters.append(parameter)
        names[argument.name] = found
    at_entry = dict(lowering.contents)
    lowering.recursion.names.add(source.name)
    result = run_frame(lowering, source.node, Frame(source, function, names))
    builder.location = source.location(source.node)
    tree, leaves = result_tree(lowering, result)
    parameters += [parameter for _, parameter in lowering.captures]
    values = [leaf for parameter in parameters for leaf in parameter.leaves]
    body = Block(tuple(values), tuple(builder.operations), tuple(leaves))
    name = function.__name__ if function.__name__.isidentifier() else "function"
    stored = [
        number
        for number, leaf in enumerate(values)
        if any(at_entry.get(storage) is leaf for storage in lowering.stored)
    ]
    return Lowered(
        Function(name, tuple(parameters), body, tree, facts, function.__doc__),
        tuple(found for found, _ in lowering.captures),
        tuple(lowering.dependencies.values()),
        tuple(stored),
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
