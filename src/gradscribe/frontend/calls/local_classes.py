"""Classes that a function defines.

Such a class is made when the function is compiled, as the class of Python that it is: decorators
(`@dataclass`, `@property`), bases and metaclasses do to it what they always do. In the place of
its methods stand functions that are never run; a call of one lowers the method, in the frame that
it closes over.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import types
from collections.abc import Callable
from typing import Any, ClassVar

import gast

from gradscribe.errors import GradscribeError
from gradscribe.frontend.calls import inlining
from gradscribe.frontend.memory import sequences
from gradscribe.frontend.opaque.folded_calls import known_object
from gradscribe.frontend.state import dependencies
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.handlers import handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    FrontendValue,
    ListRef,
    LocalFunction,
    Static,
    known_objects,
)
from gradscribe.ir.probing import probe
from gradscribe.primitives.users_code import making_a_class

_DECORATORS = (
    *(property, staticmethod, classmethod, functools.cached_property, functools.cache),
    *(abc.abstractmethod, functools.total_ordering, dataclasses.dataclass, enum.unique),
)
"""What a method or class may be decorated with."""

_MAKERS = (dataclasses.dataclass, dataclasses.field, enum.auto)
"""Functions whose result describes a class."""


@dataclasses.dataclass(eq=False)
class Method:
    """What a function that stands for a method stands for. lowering: that of the function which
    defines the class."""

    function: LocalFunction
    lowering: Lowering
    cls: type | None = None


def method_of(function: Any) -> Method | None:
    """The method that a function stands for, if it does."""
    method: Method | None = probe(function, "__gradscribe_method__")
    return method


def define(lowering: Lowering, node: Any) -> None:
    """A `class` statement."""
    body = _Body(lowering, node)
    bases = tuple(body.object_of(base) for base in node.bases)
    options = {keyword.arg: body.object_of(keyword.value) for keyword in node.keywords}
    items = body.items()
    runs = making_a_class(bases, options, items.values())
    if runs is not None:
        lowering.unsupported(
            node,
            f"making this class runs `{runs}`, which reads or changes what is outside of it",
            "define the class outside",
        )
    try:
        cls = types.new_class(node.name, bases, options, lambda made: _fill(made, items))
        for decorator in reversed(node.decorator_list):
            cls = body.decorator(decorator)(cls)
    except GradscribeError:
        raise
    except (TypeError, ValueError) as error:
        lowering.raises(node, error, f"this class cannot be made: {error}")
    if issubclass(cls, BaseException) and body.methods:
        what = "an exception of a class that a function defines has methods, which Python calls"
        lowering.unsupported(node, what, "define the class outside")
    for method in body.methods:
        method.cls = cls
    dependencies.LOCAL_CLASSES.add(cls)
    lowering.frame.names[node.name] = Static(cls)


def _fill(made: dict[str, Any], items: dict[str, Any]) -> None:
    """Enter the items one by one: the namespace of an enumeration follows each."""
    for name in items:
        made[name] = items[name]


class _Body:
    """The body of a class: its names, which are seen by what follows in it, not by its methods."""

    def __init__(self, lowering: Lowering, node: Any) -> None:
        outer = lowering.frame
        self._lowering = lowering
        self._node = node
        self._outer = outer
        self._qualified_name = f"{outer.qualified_name}.<locals>.{node.name}"
        self._source = dataclasses.replace(outer.source, local_names=frozenset())
        self._frame = Frame(self._source, outer.function, {}, outer, end=outer.end)
        self._made: dict[LocalFunction, Any] = {}
        self._annotations: dict[str, Any] = {}
        self.methods: list[Method] = []

    def items(self) -> dict[str, Any]:
        """What the class gets, by name."""
        items: dict[str, Any] = {
            "__module__": self._outer.function.__module__,
            "__qualname__": self._qualified_name,
        }
        for statement in self._node.body:
            self._define(statement, items)
        return items | ({"__annotations__": self._annotations} if self._annotations else {})

    def _define(self, node: Any, items: dict[str, Any]) -> None:
        if isinstance(node, gast.FunctionDef):
            self._bind(node, node.name, self._method(node, items), items)
        elif isinstance(node, gast.Assign):
            for target in node.targets:
                self._bind(node, self._name(node, target), self._item(node.value), items)
        elif isinstance(node, gast.AnnAssign):
            name = self._name(node, node.target)
            self._annotations[name] = _annotation(node.annotation)
            if node.value is not None:
                self._bind(node, name, self._item(node.value), items)
        elif not isinstance(node, gast.Pass) and not _is_constant(node):
            self._refuse(node, "this statement in the body of a class is not supported")

    def _bind(self, node: Any, name: str, item: FrontendValue, items: dict[str, Any]) -> None:
        self._frame.names[name] = item
        items[name] = self._python_object(node, item)

    def _name(self, node: Any, target: Any) -> str:
        if not isinstance(target, gast.Name):
            self._refuse(node, "this statement in the body of a class is not supported")
        return str(target.id)

    def _method(self, node: Any, items: dict[str, Any]) -> FrontendValue:
        function = inlining.local_function(self._lowering, node)
        if not node.decorator_list:
            return function
        made = self._python_object(node, function)
        for decorator in reversed(node.decorator_list):
            made = self._accessor(decorator, items, self.decorator)(made)
        return Static(made)

    def _accessor(self, node: Any, items: dict[str, Any], otherwise: Callable[[Any], Any]) -> Any:
        """`name.setter` of a property of this class, or another decorator."""
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
            owner = items.get(node.value.id)
            if isinstance(owner, property):
                return getattr(owner, node.attr)
        return otherwise(node)

    def decorator(self, node: Any) -> Any:
        """What is called with a class or method."""
        if isinstance(node, gast.Call):
            return self.object_of(node)
        found = self._evaluated(node)
        if isinstance(found, Static) and found.value in _DECORATORS:
            return found.value
        what = "this decorator in a class that a function defines is not supported"
        return self._refuse(node, what)

    def object_of(self, node: Any) -> Any:
        """The Python object that an expression gives."""
        return self._python_object(node, self._item(node))

    def _item(self, node: Any) -> FrontendValue:
        """What an expression gives; calls that describe the class are carried out."""
        if isinstance(node, gast.Call):
            callee = self._evaluated(node.func)
            if isinstance(callee, Static) and any(callee.value is maker for maker in _MAKERS):
                given = [self.object_of(argument) for argument in node.args]
                named = {k.arg: self.object_of(k.value) for k in node.keywords}
                return Static(callee.value(*given, **named))
        return self._evaluated(node)

    def _evaluated(self, node: Any) -> FrontendValue:

        self._lowering.frames.append(self._frame)
        try:
            found = self._lowering.expression(node)
        finally:
            self._lowering.frames.pop()
        if isinstance(found, LocalFunction) and found.frame is self._frame:
            found = dataclasses.replace(found, frame=self._outer)
        return found

    def _python_object(self, node: Any, item: FrontendValue) -> Any:
        if isinstance(item, LocalFunction):
            if item not in self._made:
                self._made[item] = self._standing_for(item)
            return self._made[item]
        if isinstance(item, Static):
            return item.value
        below = sequences.known_items(self._lowering, item)
        if below is None:
            return self._refuse(
                node,
                "what a class holds is not known when it is compiled",
                "store it in `__init__`",
            )
        if isinstance(item, ListRef) and not below:
            return self._refuse(
                node, "a class holds a list that its objects share", "make the list in `__init__`"
            )
        return tuple([self._python_object(node, part) for part in below])

    def _standing_for(self, local: LocalFunction) -> Any:
        """A function of Python that stands for a method."""

        def method(*args: Any, **kwargs: Any) -> FrontendValue:
            raise TypeError("a method of a class that a compiled function defines")

        method.__name__ = getattr(local.node, "name", "<lambda>")
        method.__qualname__ = f"{self._qualified_name}.{method.__name__}"
        found = Method(local, self._lowering)
        method.__dict__["__gradscribe_method__"] = found
        self.methods.append(found)
        return method

    def _refuse(
        self, node: Any, what: str, advice: str = "define the class outside"
    ) -> FrontendValue:
        return self._lowering.unsupported(node, what, advice)


def _is_constant(node: Any) -> bool:
    """Whether this is a docstring, or `...`."""
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


def _annotation(node: Any) -> Any:
    """What an annotation says of a field of a dataclass: whether it is one."""
    names = {getattr(n, "id", getattr(n, "attr", "")) for n in gast.walk(node)}
    if "InitVar" in names:
        return dataclasses.InitVar[object]
    return ClassVar[Any] if "ClassVar" in names else object


@handles(collections.namedtuple)
def _named_tuple(
    lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: FrontendValue
) -> Static:
    """`namedtuple(…)`: one class for each description."""
    given = [known_object(lowering, item) for item in (*arguments, *keywords.values())]
    known = known_objects(given)
    if known is None:
        lowering.unsupported(
            node, "what `namedtuple` is given is not known here", "make the class outside"
        )
    plain = list(map(_hashable, known))
    named = dict(zip(keywords, plain[len(arguments) :], strict=True))
    return Static(_named_tuple_class(*plain[: len(arguments)], **named))


def _hashable(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item


@functools.cache
def _named_tuple_class(*description: Any, **options: Any) -> type:
    return collections.namedtuple(*description, **options)


def call(
    lowering: Lowering,
    node: Any,
    method: Method,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """Call what stands for a method."""
    if method.lowering is not lowering:
        _check_variables(lowering, node, method.function)
    return inlining.call_local(lowering, node, method.function, arguments, keywords, method.cls)


def _check_variables(lowering: Lowering, node: Any, function: LocalFunction) -> None:
    """A recursive function is a function of its own, which has no variables of the one that defines
    the class."""
    frame: Frame | None = function.frame
    read = {n.id for n in gast.walk(function.node) if isinstance(n, gast.Name)}
    while frame is not None:
        for name in sorted(read & frame.names.keys()):
            if not isinstance(frame.names[name], Static):
                what = f"a method of a class that the function defines reads `{name}` of it in a"
                advice = f"define the class outside, or store `{name}` in the object"
                lowering.unsupported(node, f"{what} recursion", advice)
        frame = frame.outer
