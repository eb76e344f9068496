"""What is checked, and read, on entry of a compiled function, as one tiny generated function.

A specialization holds for a call if the types match (that is the key), if what was resolved
when compiling is still there (`Dependency`), if captured values have the same types, and if
the relations between lengths hold that were assumed (`Guard`). All of that is said as Python
expressions over `a`, the tuple of all values of a call.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CellType, CodeType, FunctionType
from typing import Any, NoReturn

from gradscribe.compiler import item_texts
from gradscribe.compiler.item_texts import item_text, key_text
from gradscribe.compiler.keys import Key, contents_of, items_key, key_of, lies_in_order
from gradscribe.compiler.outside_state import OutsideState
from gradscribe.errors import AliasingError, UnsupportedError
from gradscribe.frontend.interface import STATE, AccessPath, Capture, Dependency, Step
from gradscribe.ir.affine import Affine, Source, Symbol
from gradscribe.ir.alike import is_alike
from gradscribe.ir.core import Location
from gradscribe.ir.lengths import Facts, Guard
from gradscribe.ir.probing import has
from gradscribe.primitives.users_code import users_code

Values = tuple[Any, ...]
"""The function called, then one value for each of its parameters, then the captured values."""

_MATCH = """
def match(a):
    try:{dependencies}
        a += ({captured})
        return a if {conditions} else None
    except (AttributeError, KeyError, IndexError, ValueError, TypeError):
        return None  # a name, cell or attribute that was there is gone
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one lowering assumes of a call. leaves, sources: expressions for each leaf, and for
    each length or integer that a symbol stands for. constants: expressions for the static objects
    among the arguments, with the objects. capture_keys: None for what may be anything. known_keys:
    expressions for the lists whose items are known one by one, with the keys of these."""

    function: FunctionType
    arguments: int
    constants: Sequence[tuple[str, Any]]
    captures: Sequence[Capture]
    capture_keys: Sequence[Key | None]
    dependencies: Sequence[Dependency]
    leaves: Sequence[str]
    sources: Mapping[Source, str]
    contiguous: Sequence[int]
    otherwise: Sequence[int]
    known_keys: Sequence[tuple[str, Key]]
    lent: Sequence[int]

    def matcher(self, facts: Facts) -> Callable[[Values], Values | None]:
        """The function that, for a call whose key matches, gives its values with the captured
        ones, or None where the call needs another specialization: for this entry, and what was
        assumed since."""
        if facts.conditions:
            dependencies = (*self.dependencies, *facts.conditions)
            return replace(self, dependencies=dependencies)._matcher(facts.guards)
        return self._matcher(facts.guards)

    def _matcher(self, guards: Sequence[Guard]) -> Callable[[Values], Values | None]:
        names = self._names()
        checked = "".join(f"\n        {line}" for line in self._checked(names))
        conditions = [
            f"key_of({argument(self.arguments + i)}) == {names.of(key)}"
            for i, key in enumerate(self.capture_keys)
            if key is not None
        ]
        conditions += [f"items_key({list_}) == {names.of(key)}" for list_, key in self.known_keys]
        conditions += [_guard(guard, self.sources) for guard in guards]
        conditions += [f"lies_in_order({self.leaves[leaf]})" for leaf in self.contiguous]
        conditions += [f"not lies_in_order({self.leaves[leaf]})" for leaf in self.otherwise]
        text = _MATCH.format(
            dependencies=checked,
            captured="".join(f"{self._captured(names, c, guards)}, " for c in self.captures),
            conditions=" and ".join(conditions) or "True",
        )
        exec(text, names.namespace)
        match: Callable[[Values], Values | None] = names.namespace["match"]
        return match

    def _captured(self, names: _Names, capture: Capture, guards: Sequence[Guard]) -> str:
        """The expression for a captured value; for what was found outside, an object that finds
        all of it again."""
        if capture.path.root is not STATE:
            return names.path(capture.path)
        nothing = Capture(capture.name, AccessPath(None))
        captures = [nothing if other is capture else other for other in self.captures]
        find = replace(self, captures=captures)._matcher(guards)
        objects = {number for number, key in enumerate(self.capture_keys) if key is None}
        objects.update(self.lent)
        first = self.arguments + 1

        def state(values: Values) -> OutsideState:
            def read() -> Values | None:
                found = find(values)
                return None if found is None else found[first:]

            return OutsideState(read, objects, values[1:first])

        return f"{names.of(state)}(a)"

    def _checked(self, names: _Names) -> Iterator[str]:
        """Statements that check the dependencies: what an object is, before something of it is
        read. Another function's may have a property there, or make an item that is asked for."""
        named = list(names.share(list(self._paths())))
        depths = {_depth(dependency) for dependency in self.dependencies}
        for depth in sorted(depths.union(depth for depth, _ in named)):
            yield from (line for at, line in named if at == depth)
            checks = [
                _CHECKS[dependency.kind](names, dependency)
                for dependency in self.dependencies
                if _depth(dependency) == depth
            ]
            if checks:
                yield f"if not ({' and '.join(checks)}): return None"

    def refuse_unsteady(self, values: Values, location: Location | None) -> NoReturn:
        """Refuse what does not hold even for the call that the lowering was made for: an object
        that is another one each time that it is read."""
        names = self._names()
        for dependency in self.dependencies:
            check = _CHECKS[dependency.kind](names, dependency)
            if not eval(check, names.namespace, {"a": values}):
                if dependency.kind == "other":
                    raise AliasingError(
                        "an object is found under two names, of which one is an argument",
                        "pass a copy of it",
                        location,
                    )
                what = f"`{dependency.path.steps[-1][1]}` is another object at each reading"
                raise UnsupportedError(what, "read it once, before the call", location)
        raise UnsupportedError(
            "what is found outside is another object at each reading",
            "read it once, before the call, and pass it in",
            location,
        )

    def finder(self, paths: Iterable[AccessPath]) -> Callable[[Values], Values]:
        """The function that finds, for the values of a call, what these paths lead to."""
        names = self._names()
        text = "".join(f"{names.path(path)}, " for path in paths)
        function: Callable[[Values], Values] = eval(f"lambda a: ({text})", names.namespace)
        return function

    def _names(self) -> _Names:
        names = _Names([("a[0]", self.function), *self.constants])
        for dependency in self.dependencies:
            if dependency.kind == "function":
                names.enter_function(names.path(dependency.path), dependency.value)
        return names

    def _paths(self) -> Iterator[AccessPath]:
        """All that is read at each call."""
        for dependency in self.dependencies:
            yield dependency.path
            if dependency.kind in ("same", "other"):
                yield dependency.value
            if dependency.kind == "distinct":
                yield from dependency.value
        yield from (capture.path for capture in self.captures)


def _depth(dependency: Dependency) -> int:
    """How many steps lead to what is checked."""
    paths = [dependency.path]
    if dependency.kind in ("same", "other"):
        paths.append(dependency.value)
    if dependency.kind == "distinct":
        paths += dependency.value
    return max(len(path.steps) for path in paths)


def _beginnings(path: AccessPath) -> Iterator[AccessPath]:
    """The objects through which a path leads."""
    return (AccessPath(path.root, path.steps[:count]) for count in range(1, len(path.steps) + 1))


def steps_text(steps: Iterable[Step]) -> str:
    """What is written after an object for these attributes and items of it."""
    return "".join(_TEXTS[kind](step) for kind, step in steps)


_TEXTS: dict[str, Callable[[Any], str]] = {
    "attribute": lambda name: f".{name}",
    "item": item_text,
    "entry": lambda key: f".get({key_text(key)}, absent)",
}
"""What is written for a step."""


def argument(number: int) -> str:
    """The expression for an argument; captured values follow after the last one."""
    return f"a[{number + 1}]"


class _Names:
    """Names for the objects that the generated function mentions.

    functions: the function called, and others that came as arguments. Their closure cells and
    defaults are read off them: each closure that one `def` makes has its own, and what is
    compiled for one of them serves them all.
    """

    def __init__(self, functions: Iterable[tuple[str, Any]]) -> None:
        self.namespace: dict[str, Any] = {
            **item_texts.NAMESPACE,
            "items_key": items_key,
            "key_of": key_of,
            "lies_in_order": lies_in_order,
            "users_code": users_code,
            "is_alike": is_alike,
            "has": has,
            "is_made_of": _is_made_of,
        }
        self._names: dict[int, str] = {}
        self._cells: dict[int, str] = {}
        self._functions: dict[int, str] = {}
        self._shared: dict[Any, str] = {}
        for expression, function in functions:
            self.enter_function(expression, function)

    def enter_function(self, expression: str, function: Any) -> None:
        """Note where a function is found at each call, and so its cells."""
        inner = inspect.getattr_static(function, "__gradscribe_function__", None)
        if inner is not None:
            self.enter_function(f"{expression}.__gradscribe_function__", inner)
        if not isinstance(function, FunctionType):
            return
        self._functions.setdefault(id(function), expression)
        for number, cell in enumerate(function.__closure__ or ()):
            if id(cell) not in self._cells:
                text = self._cells[id(cell)] = f"{expression}.__closure__[{number}]"
                self.enter_function(f"{text}.cell_contents", contents_of(cell))

    def of(self, value: Any) -> str:
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"k{len(self._names)}"
            self.namespace[name] = value
        return name

    def share(self, paths: Sequence[AccessPath]) -> Iterator[tuple[int, str]]:
        """Statements that name the objects through which several of these paths lead, each with
        how many steps lead there."""
        begun = [begin for path in paths for begin in _beginnings(path)]
        often = Counter(begin.place for begin in begun)
        for begin in sorted(begun, key=lambda begin: len(begin.steps)):
            if often[begin.place] > 1 and begin.place not in self._shared:
                text = self.path(begin)
                name = self._shared[begin.place] = f"s{len(self._shared)}"
                yield len(begin.steps), f"{name} = {text}"

    def path(self, path: AccessPath) -> str:
        """The expression for what a path leads to."""
        for begin in reversed(list(_beginnings(path))):
            if begin.place in self._shared:
                return self._shared[begin.place] + steps_text(path.steps[len(begin.steps) :])
        if isinstance(path.root, int):
            text = argument(path.root)
        elif isinstance(path.root, CellType) and id(path.root) in self._cells:
            text = self._cells[id(path.root)]
        elif isinstance(path.root, FunctionType) and id(path.root) in self._functions:
            text = self._functions[id(path.root)]
        else:
            text = self.of(path.root)
        return text + steps_text(path.steps)


def _same_object(names: _Names, dependency: Dependency) -> str:
    return f"{names.path(dependency.path)} is {names.of(dependency.value)}"


def _same_function(names: _Names, dependency: Dependency) -> str:
    text, function = names.path(dependency.path), dependency.value
    made_of = f"{names.of(function.__code__)}, {names.of(function.__globals__)}"
    return f"({text} is {names.of(function)} or is_made_of({text}, {made_of}))"


def _is_made_of(value: Any, code: CodeType, namespace: dict[str, Any]) -> bool:
    """Whether a value is a function of this code, in this module, without attributes."""
    return (
        value.__class__ is FunctionType
        and value.__code__ is code
        and value.__globals__ is namespace
        and not value.__dict__
    )


def _equal(names: _Names, dependency: Dependency) -> str:
    text, cls = names.path(dependency.path), names.of(type(dependency.value))
    return f"{text}.__class__ is {cls} and {text} == {names.of(dependency.value)}"


def _same_class(names: _Names, dependency: Dependency) -> str:
    return f"{names.path(dependency.path)}.__class__ is {names.of(dependency.value)}"


def _same_code(names: _Names, dependency: Dependency) -> str:
    return f"{names.path(dependency.path)}.__code__ is {names.of(dependency.value)}"


def _same_length(names: _Names, dependency: Dependency) -> str:
    return f"len({names.path(dependency.path)}) == {dependency.value}"


def _same_keys(names: _Names, dependency: Dependency) -> str:
    return f"tuple({names.path(dependency.path)}) == {names.of(dependency.value)}"


def _one_object(names: _Names, dependency: Dependency) -> str:
    return f"{names.path(dependency.path)} is {names.path(dependency.value)}"


def _two_objects(names: _Names, dependency: Dependency) -> str:
    return f"{names.path(dependency.path)} is not {names.path(dependency.value)}"


def _different_objects(names: _Names, dependency: Dependency) -> str:
    paths = (dependency.path, *dependency.value)
    return f"len({{{', '.join(f'id({names.path(path)})' for path in paths)}}}) == {len(paths)}"


def _has_attribute(names: _Names, dependency: Dependency) -> str:
    return f"has({names.path(dependency.path)}, {dependency.value!r})"


def _has_no_attribute(names: _Names, dependency: Dependency) -> str:
    return f"not {_has_attribute(names, dependency)}"


def _without_key(names: _Names, dependency: Dependency) -> str:
    return f"{key_text(dependency.value)} not in {names.path(dependency.path)}"


def _shows_to(names: _Names, dependency: Dependency) -> str:
    return f"users_code({names.path(dependency.path)}) == {names.of(dependency.value)}"


def _same_answer(names: _Names, dependency: Dependency) -> str:
    asked, found = dependency.value
    return f"issubclass({names.path(dependency.path)}, {names.of(asked)}) is {found}"


def _as_alike(names: _Names, dependency: Dependency) -> str:
    return f"is_alike({names.path(dependency.path)}, {names.of(dependency.value)})"


_CHECKS: dict[str, Callable[[_Names, Dependency], str]] = {
    "identity": _same_object,
    "function": _same_function,
    "equality": _equal,
    "class": _same_class,
    "code": _same_code,
    "length": _same_length,
    "keys": _same_keys,
    "names": _same_keys,
    "same": _one_object,
    "other": _two_objects,
    "distinct": _different_objects,
    "present": _has_attribute,
    "absent": _has_no_attribute,
    "without": _without_key,
    "shows": _shows_to,
    "subclass": _same_answer,
    "alike": _as_alike,
}


def _guard(guard: Guard, sources: Mapping[Source, str]) -> str:
    return f"{_expression(guard.expression, sources)} {guard.relation} 0"


def _expression(expression: Affine, sources: Mapping[Source, str]) -> str:
    terms = [str(expression.constant)] if expression.constant or not expression.terms else []
    for symbol, coefficient in expression.terms:
        terms.append(f"{coefficient} * {_symbol(symbol, sources)}")
    return " + ".join(terms)


def _symbol(symbol: Symbol, sources: Mapping[Source, str]) -> str:
    if symbol.formula is not None:
        parts = ["" if p is None else _expression(p, sources) for p in symbol.formula.parts]
        return f"({symbol.formula.text(parts)})"
    assert symbol.source is not None, "guards are relations between arguments"
    return sources[symbol.source]
