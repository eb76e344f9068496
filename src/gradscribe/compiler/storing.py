"""What a function stores outside of its arguments, when a derivative of it is called.

Generated code changes nothing that it is given: it returns what is new, which whoever calls it
stores. First derivatives return that besides. What calls a function in several places, or runs a
derivative of a derivative, has it computed apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradscribe.compiler.primal import Primal
from gradscribe.compiler.variadic import called_by
from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.interface import AccessPath, Step
from gradscribe.ir.core import Function, Value
from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree, node_of
from gradscribe.ir.types import Array
from gradscribe.ir.types import Sequence as ListOf
from gradscribe.transforms.passes.simplify import simplify
from gradscribe.transforms.passes.without_effects import effect_of, silenced


def computed_apart(function: Function, values: Sequence[Value]) -> Function:
    """The function that returns these values of a function, and does nothing besides; refused where
    another run of it might give others."""
    body = replace(function.body, yields=tuple(values))
    result = Node(tuple, (LEAF,) * len(values))
    apart = simplify(silenced(simplify(replace(function, body=body, result=result))))
    effect = effect_of(apart)
    if effect is not None:
        raise UnsupportedError(
            f"`{function.name}` stores outside what it draws, or what unread code gives it: a "
            "derivative of higher order computes that in a run of its own",
            "draw it before the call, and pass it in; or return it, and store it after the call",
            effect.location,
        )
    return apart


class Given:
    """Which of the parameters of a lowering the caller of a transform gives, and so never finds
    changed.

    numbers: those that it gives for certain; by_the_callable: those that it never does, for a
    method or a partial does. Any other may have a default.
    """

    def __init__(self, primal: Primal, first: int, named: Collection[str]) -> None:
        """first: how many the callable itself gives before all others. named: those that it gives
        by name."""
        function = primal.user_function
        names = primal.parameters
        code = function.__code__
        positional = code.co_varnames[: code.co_argcount]
        defaults = {*positional[len(positional) - len(function.__defaults__ or ()) :]}
        defaults |= {*(function.__kwdefaults__ or ())} | {*named}
        self._primal = primal
        self.by_the_callable = frozenset(range(first))
        self.numbers = frozenset(
            number for number, name in enumerate(names) if number >= first and name not in defaults
        )

    @property
    def is_all_that_changes(self) -> bool:
        """Whether nothing else is stored to."""
        lowered, own = self._primal.lowered, self._primal.own_arguments
        owners = [change.owner for change in lowered.attributes]
        owners += [change.owner for change in lowered.containers]
        owners += [
            lowered.captures[c.argument - own].path for c in lowered.changes if c.argument >= own
        ]
        return all(map(self._gives, owners)) and all(
            change.argument in self.numbers for change in lowered.changes if change.argument < own
        )

    def refuse_unclear(self) -> None:
        """Refuse a function that may change what is outside, in a way that is not followed."""
        primal = self._primal
        leaf = 0
        for number, typed in enumerate(primal.arguments):
            for type_ in typed.types:
                is_changed = leaf in primal.lowered.unclear and isinstance(type_, (Array, ListOf))
                if is_changed and not self._gives(self._path(number)):
                    raise AliasingError(
                        f"`{primal.name}` may change `{primal.leaf_names[leaf]}` in place, under a "
                        "name that stands for several arrays or lists, which is not followed",
                        "store into each under a name of its own",
                        primal.location,
                    )
                leaf += 1

    def refuse_handed(self) -> None:
        """Refuse a Jacobian of a function that stores to what its caller does not give: it gives
        the function copies."""
        primal = self._primal
        if called_by(primal.user_function) is primal.user_function:
            return
        for number in sorted(primal.lowered.handed - self.numbers):
            raise UnsupportedError(
                f"`{primal.name}` stores to `{primal.arguments[number].name}`, a default or what a "
                "partial holds: Jacobians do not follow that",
                "let it reach that as a variable from outside, or return what it stores",
                primal.location,
            )

    def _path(self, number: int) -> AccessPath:
        own = self._primal.own_arguments
        return (
            AccessPath(number) if number < own else self._primal.lowered.captures[number - own].path
        )

    def _gives(self, path: AccessPath) -> bool:
        """Whether what a path leads to belongs to the arguments: lists, tuples, dicts, dataclasses
        and arrays do, and what is in them; other objects do not."""
        if not isinstance(path.root, int) or path.root not in self.numbers:
            return False
        return _is_within(self._primal.arguments[path.root].tree, path.steps)


def _is_within(tree: Tree, steps: Sequence[Step]) -> bool:
    if isinstance(tree, Node):
        if not steps:
            return True
        keys = tree.keys if tree.keys is not None else tuple(range(len(tree.children)))
        return _is_within(tree.children[keys.index(steps[0][1])], steps[1:])
    if isinstance(tree, Constant):
        return _is_part(tree.value, steps)
    assert isinstance(tree, Leaf)
    return not steps


def _is_part(value: Any, steps: Sequence[Step]) -> bool:
    for kind, step in steps:
        if node_of(value) is None:
            return False
        value = getattr(value, step) if kind == "attribute" else value[step]
    return isinstance(value, np.ndarray) or node_of(value) is not None
