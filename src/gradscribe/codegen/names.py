"""A Python variable for every value that is not folded.

Values that are one variable in the user's program become one again: what a loop carries, what
branches merge, an array and its next state after a store. Two values share a variable only
where neither is needed any more when the other is assigned; otherwise the text has a move.
Variables of one name that are needed at the same time are told apart as `h` and `h_1`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from gradscribe.codegen.interference import Interference
from gradscribe.codegen.uses import IN_PLACE, Uses, is_foreign
from gradscribe.ir.core import CALL, IF, LOOP, Block, Function, Value, walk
from gradscribe.ir.flow import Loop, merges
from gradscribe.ir.roles import cotangents
from gradscribe.ir.trees import Leaf
from gradscribe.ir.types import BOOL, Collected, Scalar
from gradscribe.primitives.control import CAUGHT
from gradscribe.primitives.indexing import LENGTH
from gradscribe.primitives.lifetimes import ENDS, successors
from gradscribe.primitives.raising import is_attempt

_INDICES = ("i", "j", "k", "l")


@dataclass(eq=False)
class _Variable:
    """Values that share a variable. fixed: the name is part of the function's signature. alone: no
    other variable may have its name (what `except … as` binds is unbound after it), and no other
    value joins it. lasting: no other variable may have its name, which holds what unread code has
    made, and lives as long as the function does."""

    members: list[Value]
    neighbours: set[Value]
    name: str = ""
    fixed: bool = False
    alone: bool = False
    lasting: bool = False

    @property
    def shares_name(self) -> bool:
        """Whether other variables may have its name, where they are not needed at one time."""
        return not (self.alone or self.lasting)


_TRIED = 32
"""So many versions of a name are tried for a variable that is not live with those that have it."""


@dataclass
class Names:
    """The name of each value that is a variable, and all names taken in the function."""

    of: dict[Value, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    nobody: str = "_"
    """The name of what nobody reads: `_`, unless the program reads a variable of that name."""


def name_variables(
    function: Function, uses: Uses, unnamed: Collection[Value], interference: Interference
) -> Names:
    """unnamed: values that need no variable (folded ones, tuples that are taken apart)."""
    naming = _Naming(function, uses, unnamed, interference)
    naming.join_in_place(function.body)
    naming.join_merged(function.body)
    return naming.assign()


class _Naming:
    def __init__(
        self,
        function: Function,
        uses: Uses,
        unnamed: Collection[Value],
        interference: Interference,
    ) -> None:
        self._function = function
        self._uses = uses
        self._variable: dict[Value, _Variable] = {}
        self._numbers: dict[str, int] = {}
        self._order = {value: order for order, value in enumerate(uses.home)}
        own = {p.leaves[0]: p.name for p in function.parameters if isinstance(p.tree, Leaf)}
        for value in uses.home:
            if value not in unnamed:
                neighbours = set(interference.neighbours.get(value, ()))
                is_record = isinstance(value.type, Collected) and value not in own
                name = "" if is_record else clean(value.name) or own.get(value, "")
                is_own = own.get(value) == name
                producer = uses.producer.get(value)
                caught = producer is not None and producer.primitive is CAUGHT
                self._variable[value] = _Variable(
                    [value], neighbours, name, is_own, caught, is_foreign(producer)
                )

    # which values share a variable

    def join_in_place(self, block: Block) -> None:
        """What must share a variable: an array and its next state; a carried value's roles."""
        for operation in block.operations:
            for region in operation.regions:
                self.join_in_place(region)
            if operation.primitive in IN_PLACE:
                self._join(operation.operands[0], operation.result, must=True)
            elif operation.primitive is LOOP:
                for carried in Loop(operation).carried:
                    for other in (carried.result, *carried.tested):
                        self._join(carried.parameter, other, must=True)

    def join_merged(self, block: Block) -> None:
        """What had better share a variable: the two sides of a move."""
        for operation in block.operations:
            if operation.callee in ENDS:
                for successor in successors(operation):
                    self._join(operation.operands[0], successor)
            elif operation.primitive is LOOP:
                phis = Loop(operation).carried
                for phi in phis:
                    self._join(phi.parameter, phi.following)
                for phi in phis:
                    self._join(phi.parameter, phi.initial)
            elif operation.primitive is IF:
                for value, result in merges(operation):
                    self._join(result, value)
            for region in operation.regions:
                self.join_merged(region)

    def _join(self, a: Value, b: Value, must: bool = False) -> None:
        one, other = self._variable.get(a), self._variable.get(b)
        if one is None or other is None or one is other or one.alone or other.alone:
            return
        if not must:
            if one.name and other.name and one.name != other.name:
                return
            if self._interfere(one, other):
                return
        if other.fixed or (not one.name and not one.fixed):
            one.name = other.name or one.name
        one.fixed |= other.fixed
        one.lasting |= other.lasting
        one.members += other.members
        one.neighbours |= other.neighbours
        for member in other.members:
            self._variable[member] = one

    def _interfere(self, one: _Variable, other: _Variable) -> bool:
        if len(one.members) > len(other.members):
            one, other = other, one
        return not other.neighbours.isdisjoint(one.members)

    # what they are called

    def assign(self) -> Names:
        parameters = {parameter.name for parameter in self._function.parameters}
        parameters |= _called(self._function)
        names = Names(taken=parameters)
        users = {clean(v.name) for v in self._uses.home if not isinstance(v.type, Collected)}
        self._cotangents = cotangents(self._function)
        hints = dict(_hints(self._function.body))
        holders: dict[str, list[_Variable]] = {}
        variables = list(dict.fromkeys(self._variable.values()))
        for variable in sorted(variables, key=self._precedence):
            for name in self._candidates(variable, hints):
                if not variable.name and name in users:
                    continue
                others = holders.setdefault(name, [])
                if not others and name in parameters and not variable.fixed:
                    continue
                if others and not all(one.shares_name for one in (variable, *others)):
                    continue
                if not any(self._interfere(variable, other) for other in others):
                    others.append(variable)
                    break
            names.taken.add(name)
            names.of.update(dict.fromkeys(variable.members, name))
            if name == names.nobody and any(map(self._uses.of, variable.members)):
                names.nobody = "__"
        return names

    def _precedence(self, variable: _Variable) -> tuple[bool, bool, int]:
        order = min(map(self._order.__getitem__, variable.members))
        return not variable.fixed, not variable.name, order

    def _candidates(self, variable: _Variable, hints: dict[Value, str]) -> Iterator[str]:
        base = variable.name
        if not base:
            first = min(variable.members, key=self._order.__getitem__)
            base = next((hints[v] for v in variable.members if v in hints), "")
            base = base or self._plain(variable, first)
            if base == "i":
                yield from _INDICES
        yield base
        yield from (f"{base}_{number}" for number in range(1, _TRIED))
        while True:  # of names that many have, one that nobody has
            self._numbers[base] = number = self._numbers.get(base, _TRIED - 1) + 1
            yield f"{base}_{number}"

    def _plain(self, variable: _Variable, first: Value) -> str:
        """The name of a temporary that nobody named."""
        if isinstance(first.type, Collected):
            return "undo" if first.name == "undo" else "steps"
        producer = self._uses.producer.get(first)
        if producer is not None and producer.primitive is LENGTH:
            return "n"
        return "t" if self._cotangents.isdisjoint(variable.members) else "d_t"


def _called(function: Function) -> set[str]:
    """The names of the functions that a function calls."""
    calls = (operation for operation in walk(function.body) if operation.primitive is CALL)
    callees = (operation.attributes["function"] for operation in calls)
    return {getattr(callee, "name", callee) for callee in callees}


def _hints(block: Block) -> Iterator[tuple[Value, str]]:
    """Names for values by the part that they play."""
    for operation in block.operations:
        for region in operation.regions:
            yield from _hints(region)
        if operation.primitive is CAUGHT:
            yield operation.result, "error"
        if is_attempt(operation):
            yield from ((r, "completed") for r in operation.results if r.type == BOOL)
        elif operation.primitive is IF and _is_flag(operation.operands[0]):
            yield operation.operands[0], "branch"
        elif operation.primitive is LOOP:
            loop = Loop(operation)
            for kind, _, item in loop.iterated:
                if kind != "collected":
                    yield item, "i" if kind == "range" else "item"
            yield from ((flag, "again") for flag in loop.exits)


def _is_flag(condition: Value) -> bool:
    """Whether a condition is a bool, Python's or NumPy's, and not a number or an array."""
    return isinstance(condition.type, Scalar) and condition.type.dtype == "bool"


def clean(name: str) -> str:
    """The name as an identifier."""
    name = re.sub(r"\W", "_", name)
    if keyword.iskeyword(name) or name[:1].isdigit():
        return name + "_"
    return name
