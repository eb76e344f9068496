"""Between nested Python values and flat leaves, by small generated functions.

A `Tree` is known when a function is specialized, so taking its leaves and building it again
are each one Python expression, compiled once.
"""

from __future__ import annotations

import collections
import collections.abc as abc
import operator
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from gradscribe.compiler.item_texts import NAMESPACE, item_text
from gradscribe.compiler.keys import array_of
from gradscribe.frontend.interface import Argument
from gradscribe.ir import overlaps
from gradscribe.ir.trees import (
    Constant,
    Leaf,
    Node,
    Tree,
    numbers_of,
    rebuilt,
    with_attributes,
    with_numbers,
)
from gradscribe.ir.types import Array, Opaque, Sequence, Tuple, Type


def leaf_expressions(tree: Tree, expression: str) -> Iterator[str]:
    """For each leaf of a tree that is found at `expression`, where it is found."""
    if isinstance(tree, Leaf):
        yield expression
    if isinstance(tree, Node):
        for step, child in zip(_steps(tree), tree.children, strict=True):
            yield from leaf_expressions(child, expression + step)


def container_expressions(tree: Tree, expression: str) -> Iterator[str]:
    """For each list, dict and object in a tree that is found at `expression`, where it is found."""
    if isinstance(tree, Node):
        if not issubclass(tree.cls, tuple):
            yield expression
        for step, child in zip(_steps(tree), tree.children, strict=True):
            yield from container_expressions(child, expression + step)


def _steps(node: Node) -> abc.Sequence[str]:
    if node.cls is dict:
        return [item_text(key) for key in node.keys or ()]
    if node.keys is not None:
        return [f".{name}" for name in node.keys]
    return [f"[{index}]" for index in range(len(node.children))]


def flattener(tree: Tree) -> Callable[[Any], tuple[Any, ...]]:
    """The function from a value of this structure to its leaves."""
    if isinstance(tree, Leaf):
        return lambda value: (value,)
    items = "".join(f"{text}, " for text in leaf_expressions(tree, "value"))
    function: Callable[[Any], tuple[Any, ...]] = eval(f"lambda value: ({items})", NAMESPACE)
    return function


def builder(tree: Tree) -> Callable[[abc.Sequence[Any]], Any]:
    """The function from leaves to the value of this structure."""
    (build,) = builders([tree])
    return lambda leaves: build(leaves, {})


Builder = Callable[[abc.Sequence[Any], dict[int, Any]], Any]
"""A function from leaves, and the objects of several trees that are made, to a value."""


def builders(trees: abc.Sequence[Tree], known: abc.Set[int] = frozenset()) -> list[Builder]:
    """The functions from leaves to the values of these structures: a list, dict or object that
    stands in them twice is made once. known: the numbers of those that are there already."""
    counts = collections.Counter(number for tree in trees for number in numbers_of(tree))
    shared = known | {number for number, count in counts.items() if count > 1}
    return [_builder(with_numbers(tree, shared)) for tree in trees]


def _builder(tree: Tree) -> Builder:
    namespace: dict[str, Any] = {"with_attributes": with_attributes}
    text = _build(tree, iter(range(1 << 30)), namespace)
    function: Builder = eval(f"lambda leaves, made: {text}", namespace)
    return function


def _build(tree: Tree, numbers: Iterator[int], namespace: dict[str, Any]) -> str:
    if isinstance(tree, Leaf):
        return f"leaves[{next(numbers)}]"
    if isinstance(tree, Constant):
        return _name(tree.value, namespace)
    text = _build_node(tree, numbers, namespace)
    return text if tree.number is None else f"made.setdefault({tree.number}, {text})"


def _build_node(tree: Node, numbers: Iterator[int], namespace: dict[str, Any]) -> str:
    children = [_build(child, numbers, namespace) for child in tree.children]
    if tree.cls is tuple:
        return f"({''.join(f'{child}, ' for child in children)})"
    if tree.cls is list:
        return f"[{', '.join(children)}]"
    if tree.cls is dict:
        items = zip(tree.keys or (), children, strict=True)
        return "{" + ", ".join(f"{_name(k, namespace)}: {child}" for k, child in items) + "}"
    fields = zip(tree.keys or (), children, strict=True)
    given = ", ".join(f"{name}={child}" for name, child in fields)
    return f"with_attributes({_name(tree.cls, namespace)}, {given})"


def _name(value: Any, namespace: dict[str, Any]) -> str:
    name = f"k{len(namespace)}"
    namespace[name] = value
    return name


def is_wrapped(type_: Type) -> bool:
    """Whether a leaf of this type comes in a Tensor, or is a list of Tensors."""
    if isinstance(type_, Sequence):
        return is_wrapped(type_.item)
    if isinstance(type_, Tuple):
        return any(map(is_wrapped, type_.items))
    return isinstance(type_, Array) and type_.spelling != "numpy"


Made = dict[int, Any]
"""What was made of lists and arrays, by their identities: what is one stays one."""


def unwrapped(value: Any, made: Made | None = None) -> Any:
    """A leaf with the array for each Tensor; with the number for one without axes."""
    if isinstance(value, (list, tuple)):
        return _rebuilt(unwrapped, value, made)
    array = array_of(value)
    return array if array is value or array.ndim else array[()]


def copied(value: Any, made: Made | None = None) -> Any:
    """A leaf that shares no memory with this one (Tensors, which count their changes, stay)."""
    made = {} if made is None else made
    if isinstance(value, (list, tuple)):
        return _rebuilt(copied, value, made)
    if not isinstance(value, np.ndarray):
        return value
    if id(value) not in made:
        is_plain = type(value) is np.ndarray
        made[id(value)] = overlaps.copied(value) if is_plain else value.copy(order="K")
    return made[id(value)]


def _rebuilt(function: Callable[[Any, Made], Any], value: Any, made: Made | None) -> Any:
    made = {} if made is None else made
    if id(value) not in made:
        items = [function(item, made) for item in value]
        is_other = function is copied or any(map(operator.is_not, items, value))
        made[id(value)] = rebuilt(value, items) if is_other else value
    return made[id(value)]


def zero_like(value: Any) -> Any:
    """Zeros in the structure of a leaf; None for an object that is no number."""
    if isinstance(value, (list, tuple)):
        return rebuilt(value, map(zero_like, value))
    if issubclass(type(value), np.ndarray):
        return np.zeros_like(value)
    cls = type(value)
    if not issubclass(cls, np.generic):  # a class derived from `int` may not take a zero
        cls = next((base for base in cls.__mro__ if base in _PLAIN), cls)
    return cls(0) if issubclass(cls, _NUMBERS) else None


_PLAIN = (bool, int, float, complex)
_NUMBERS = (*_PLAIN, np.number, np.bool_)


class Layout:
    """How the values of a call correspond to the leaves of the IR function.

    arguments: the typed arguments, then captures. expressions: for each leaf, where it stands
    in `a`, the values of a call.
    """

    def __init__(self, arguments: abc.Sequence[Argument], expressions: abc.Sequence[str]) -> None:
        self._tree = Node(tuple, tuple(argument.tree for argument in arguments))
        self._expressions = expressions
        types = [type_ for argument in arguments for type_ in argument.types]
        self.wrapped = any(map(is_wrapped, types))
        """Whether some leaf comes in a Tensor, which the generated code must not see."""
        self._objects = frozenset(i for i, type_ in enumerate(types) if isinstance(type_, Opaque))

    @cached_property
    def leaves(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        """The leaves of a call's values (the function called is no leaf)."""
        items = "".join(f"{text}, " for text in self._expressions)
        function: Callable[[Any], tuple[Any, ...]] = eval(f"lambda a: ({items})", NAMESPACE)
        return function

    def plain(self, leaves: abc.Sequence[Any]) -> list[Any]:
        """The leaves with arrays for Tensors; objects that are known by their class are themselves,
        lists among them."""
        made: Made = {}
        return [
            leaf if number in self._objects else unwrapped(leaf, made)
            for number, leaf in enumerate(leaves)
        ]

    @cached_property
    def arguments(self) -> Callable[[abc.Sequence[Any]], tuple[Any, ...]]:
        """The arguments of the generated functions, from the leaves."""
        return builder(self._tree)
