"""From the arguments of a Python call to typed IR arguments.

`Binder` turns positional and keyword arguments into one value for each parameter, as Python
itself would. `ArgumentTypes` types those values, leaf by leaf: Python and NumPy numbers,
arrays, lists of one item type; tuples, dicts, dataclasses and other lists by structure; flags,
strings, functions and objects as constants. It also knows where in a call each symbolic
length is found, which is what the entry guards are made of.
"""

from __future__ import annotations

import enum
import inspect
import itertools
import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from gradscribe.compiler import keys
from gradscribe.compiler.item_texts import item_text, shown_key
from gradscribe.errors import ArgumentError, UnsupportedDtypeError, UnsupportedError
from gradscribe.frontend.interface import Argument, RunTimeObject
from gradscribe.ir.affine import Affine, Source, Symbol
from gradscribe.ir.core import Location
from gradscribe.ir.generators import RandomGenerator
from gradscribe.ir.probing import derived_number, has, is_dataclass, probe, redefined
from gradscribe.ir.trees import LEAF, Constant, Leaf, Node, Tree, attributes_beside
from gradscribe.ir.types import Array, Never, Opaque, Scalar, Sequence, Tuple, Type


class Binder:
    """Binds calls of one `def`: every call gives one value per parameter, in order.

    `*args` is one tuple and `**kwargs` one dict. Python does the work: the binder is a function
    with the same parameters that returns them (see `bound` for a call that does not fit).
    """

    def __init__(self, code: CodeType) -> None:
        self.names = code.co_varnames[: _parameter_count(code)]
        text = (
            f"def bind({_parameter_list(code)}): return ({''.join(f'{n}, ' for n in self.names)})"
        )
        namespace: dict[str, Any] = {}
        exec(text, namespace)
        self._code: CodeType = namespace["bind"].__code__

    def of(self, function: FunctionType) -> FunctionType:
        """The binder with this function's name and defaults."""
        bind = FunctionType(self._code, {}, function.__name__, function.__defaults__)
        bind.__kwdefaults__ = function.__kwdefaults__
        bind.__qualname__ = function.__qualname__
        return bind


def bound(
    bind: Callable[..., tuple[Any, ...]],
    function: FunctionType,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> tuple[Any, ...]:
    """What the binder of a function makes of a call; `ArgumentError`, in Python's words, where
    the arguments do not fit."""
    try:
        return bind(*args, **keywords)
    except TypeError as error:
        raise ArgumentError(
            str(error),
            f"its parameters are {inspect.signature(function, follow_wrapped=False)}",
            parameter_location(function, function.__name__),
        ) from None


def _parameter_count(code: CodeType) -> int:
    variadic = bool(code.co_flags & inspect.CO_VARARGS) + bool(
        code.co_flags & inspect.CO_VARKEYWORDS
    )
    return code.co_argcount + code.co_kwonlyargcount + variadic


def _parameter_list(code: CodeType) -> str:
    """The parameters as in the `def`; defaults are given to the function object later."""
    names: Iterator[str] = iter(code.co_varnames)
    positional = list(itertools.islice(names, code.co_argcount))
    keyword_only = list(itertools.islice(names, code.co_kwonlyargcount))
    if code.co_posonlyargcount:
        positional.insert(code.co_posonlyargcount, "/")
    if code.co_flags & inspect.CO_VARARGS:
        keyword_only.insert(0, f"*{next(names)}")
    elif keyword_only:
        keyword_only.insert(0, "*")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keyword_only.append(f"**{next(names)}")
    return ", ".join(positional + keyword_only)


class ArgumentTypes:
    """The typed arguments, then captures, of one specialization.

    samples: the lengths and integers of the specializing call. names: of each leaf, for people.
    contiguous: the leaves that are arrays in C order. values: of the leaves that are small. leaves:
    for each leaf, the Python expression that reaches it from `a`, the tuple of all values of a
    call. constants: likewise for each static object, with the object. sources: likewise for each
    length or integer that a symbol stands for. known: the expressions of lists that are described
    item by item even if these have one type; known_keys: those expressions, with the keys of the
    items.
    """

    def __init__(self, known: frozenset[str] = frozenset()) -> None:
        self.known = known
        self.known_keys: list[tuple[str, keys.Key]] = []
        self.samples: dict[Symbol, int] = {}
        self.names: list[str] = []
        self.leaves: list[str] = []
        self.types: list[Type] = []
        self.values: list[Any] = []
        self.constants: list[tuple[str, Any]] = []
        self.sources: dict[Source, str] = {}
        self.contiguous: list[int] = []
        self._has_tensor = False

    def add(self, name: str, value: Any, expression: str, *, sampled: bool = True) -> Argument:
        """Type one value, found at `expression`; its leaves follow those added before.

        sampled: assume from this call what the program leaves open (not so for values that
        only stand for a type string).
        """
        place = _Place(self, name, expression, sampled)
        first = len(self.leaves)
        self._has_tensor = False
        tree, types = describe(value, place)
        contiguous = frozenset(n - first for n in self.contiguous if n >= first and sampled)
        others = frozenset(range(len(types)) if sampled else ()) - contiguous
        values = tuple(self.values[first:]) if sampled else ()
        return Argument(name, tree, tuple(types), contiguous, others, self._has_tensor, values)

    def note_tensor(self) -> None:
        """Called for each Tensor in the value that is being typed."""
        self._has_tensor = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: its name for people, its expression, and whether it may be used
    as a sample. leaf, axes: set inside the items of a list, whose axes are numbered through.
    """

    arguments: ArgumentTypes
    name: str
    expression: str
    sampled: bool
    leaf: int | None = None
    axes: Iterator[int] | None = None

    def below(self, step: str, shown: str = "") -> _Place:
        """The place of a part. step: what is written after the value for it; shown: what people
        write, where that differs."""
        name = self.name + (shown or step)
        return replace(self, name=name, expression=self.expression + step)

    def symbol(
        self, suffix: str, axis: int | None, minimum: int | None, expression: str, sample: int
    ) -> Symbol:
        """A new symbol that is found at `expression` in each call."""
        leaf = len(self.arguments.leaves) if self.leaf is None else self.leaf
        source = Source(leaf, axis)
        symbol = Symbol(self.name + suffix, minimum, source)
        self.arguments.sources[source] = expression
        if self.sampled:
            self.arguments.samples[symbol] = sample
        return symbol


@singledispatch
def describe(value: Any, place: _Place) -> tuple[Tree, list[Type]]:
    """The tree of a value and the types of its leaves, which are entered in the order met."""
    if keys.is_structure(type(value)):
        names = keys.field_names(type(value))
        children = [getattr(value, name) for name in names]
        places = [place.below(f".{name}") for name in names]
        beside = tuple(attributes_beside(value)) if is_dataclass(type(value)) else ()
        return _describe_node(Node(type(value), (), names, beside=beside), children, places)
    if isinstance(value, np.generic):
        return _describe_leaf(value, place)
    return _describe_constant(value, place)


@describe.register(tuple)
def _describe_tuple(value: tuple[Any, ...], place: _Place) -> tuple[Tree, list[Type]]:
    _check_meaning(value, place)
    if has(type(value), "_fields"):
        return describe.dispatch(object)(value, place)
    places = [place.below(f"[{index}]") for index in range(len(value))]
    node = Node(tuple, (), None, _derived(value, tuple))
    return _describe_node(node, list(value), places)


@describe.register(list)
def _describe_list(value: list[Any], place: _Place) -> tuple[Tree, list[Type]]:
    _check_meaning(value, place)
    if place.expression in place.arguments.known:
        place.arguments.known_keys.append((place.expression, keys.items_key(value)))
    elif not value or keys.is_uniform(value):
        return Leaf(_derived(value, list)), _describe_leaf(value, place)[1]
    places = [place.below(f"[{index}]") for index in range(len(value))]
    return _describe_node(Node(list, (), None, _derived(value, list)), value, places)


@describe.register(dict)
def _describe_dict(value: dict[Any, Any], place: _Place) -> tuple[Tree, list[Type]]:
    _check_meaning(value, place)
    places = [place.below(item_text(key), f"[{shown_key(key)}]") for key in value]
    node = Node(dict, (), tuple(value), _derived(value, dict))
    return _describe_node(node, list(value.values()), places)


def _derived(value: Any, base: type) -> type | None:
    return None if type(value) is base else type(value)


def _check_meaning(value: Any, place: _Place) -> None:
    """Refuse a list, tuple or dict whose class gives it another meaning."""
    own = redefined(type(value))
    if own is not None:
        kind = next(k.__name__ for k in (tuple, list, dict) if isinstance(value, k))
        raise UnsupportedError(
            f"`{place.name}` is a {type(value).__name__}, which has a `{own}` of its own",
            f"pass a plain one: `{kind}({place.name})`, or an object that holds it",
        )


def _describe_node(
    node: Node, children: list[Any], places: list[_Place]
) -> tuple[Tree, list[Type]]:
    trees: list[Tree] = []
    types: list[Type] = []
    for child, place in zip(children, places, strict=True):
        tree, below = describe(child, place)
        trees.append(tree)
        types += below
    return replace(node, children=tuple(trees)), types


def _describe_leaf(value: Any, place: _Place) -> tuple[Tree, list[Type]]:
    type_ = run_time_type(value, place)
    if keys.lies_in_order(value):
        place.arguments.contiguous.append(len(place.arguments.leaves))
    place.arguments.names.append(place.name)
    place.arguments.leaves.append(place.expression)
    place.arguments.types.append(type_)
    place.arguments.values.append(keys.looked_at(value))
    return LEAF, [type_]


def _describe_constant(value: Any, place: _Place) -> tuple[Tree, list[Type]]:
    place.arguments.constants.append((place.expression, value))
    return Constant(value), []


def _describe_number(value: Any, place: _Place) -> tuple[Tree, list[Type]]:
    kind = derived_number(value)
    if isinstance(value, enum.Enum) and kind is None:
        return _describe_constant(value, place)
    if kind is not None:
        raise UnsupportedError(
            f"`{place.name}` is a {type(value).__name__}, of a class derived from {kind}",
            f"pass a plain number: `{kind}({place.name})`, or an object that holds one",
        )
    return _describe_leaf(value, place)


for _cls in (int, float, complex):
    describe.register(_cls, _describe_number)
describe.register(np.ndarray, _describe_leaf)
describe.register(bool, _describe_constant)


@singledispatch
def run_time_type(value: Any, place: _Place) -> Type:
    """The type of a leaf, or of an item of a list."""
    return Scalar(_dtype_name(value.dtype, place), weak=False)


@run_time_type.register(np.ndarray)
def _array_type(array: Any, place: _Place) -> Type:
    if type(array) not in (np.ndarray, np.memmap):
        raise UnsupportedError(
            f"`{place.name}` is a {type(array).__name__}, whose operators need not mean what "
            "NumPy's do",
            f"pass a plain array: `np.asarray({place.name})`",
        )
    dtype = _dtype_name(array.dtype, place)
    return Array(dtype, tuple(_length(n, axis, place) for axis, n in enumerate(array.shape)))


def _length(length: int, axis: int, place: _Place) -> Affine:
    number = axis if place.axes is None else next(place.axes)
    if length < keys.MANY:
        return Affine.of(length)
    expression = f"{place.expression}.shape[{axis}]"
    return Affine.of(place.symbol(f":{axis}", number, keys.MANY, expression, length))


@run_time_type.register(RunTimeObject)
def _object_type(value: RunTimeObject, place: _Place) -> Type:
    return Opaque(type(value.target))


@run_time_type.register(RandomGenerator)
def _generator_type(value: Any, place: _Place) -> Type:
    return Opaque(type(value))


describe.register(RandomGenerator, _describe_leaf)
describe.register(RunTimeObject, _describe_leaf)


@run_time_type.register(int)
def _integer_type(value: int, place: _Place) -> Type:
    if place.leaf is not None:
        return Scalar("int64")
    return Scalar("int64", True, Affine.of(place.symbol("", None, None, place.expression, value)))


@run_time_type.register(float)
def _float_type(value: float, place: _Place) -> Type:
    if isinstance(value, np.generic):
        return run_time_type.dispatch(object)(value, place)
    return Scalar("float64")


@run_time_type.register(complex)
def _complex_type(value: complex, place: _Place) -> Type:
    if isinstance(value, np.generic):
        return run_time_type.dispatch(object)(value, place)
    return Scalar("complex128")


@run_time_type.register(list)
def _sequence_type(value: list[Any], place: _Place) -> Type:
    if not value:
        return Sequence(Never(), Affine.of(0))
    if place.leaf is None:
        leaf, axes = len(place.arguments.leaves), itertools.count()
        item = replace(place.below("[0]"), leaf=leaf, axes=axes)
        expression = f"len({place.expression})"
        length = Affine.of(place.symbol(":len", -1, 1, expression, len(value)))
        return Sequence(run_time_type(value[0], item), length)
    return Sequence(run_time_type(value[0], place.below("[0]")))


@run_time_type.register(tuple)
def _tuple_type(value: tuple[Any, ...], place: _Place) -> Type:
    return Tuple(tuple(run_time_type(v, place.below(f"[{i}]")) for i, v in enumerate(value)))


def _dtype_name(dtype: np.dtype[Any], place: _Place) -> str:
    if dtype.kind not in "biufc":
        raise UnsupportedDtypeError(
            f"`{place.name}` has dtype {dtype}, which is not a numeric one",
            "convert it first, for example with `.astype(float)`",
        )
    if not dtype.isnative:
        raise UnsupportedDtypeError(
            f"`{place.name}` has dtype {dtype.str}, of another byte order than this machine's",
            "convert it first, for example with `.astype(float)`",
        )
    return str(dtype.name)


def enter_array_class(cls: type, unwrap: Callable[[Any], Any], spelling: str) -> None:
    """Make a class that wraps an array known to keys and types (the runtime's Tensor).

    unwrap: the array in it. spelling: whose meaning its methods have (`Array.spelling`).
    """

    def key(value: Any) -> keys.Key:
        array = unwrap(value)
        return cls, array.dtype, keys.AXIS_CLASSES[array.shape]

    def exact_key(value: Any) -> keys.Key:
        array = unwrap(value)
        return cls, array.dtype, array.shape

    def type_(value: Any, place: _Place) -> Type:
        place.arguments.note_tensor()
        array_type = _array_type(unwrap(value), place)
        assert isinstance(array_type, Array)
        if not array_type.rank:  # compiled code is given the number in it
            return Scalar(array_type.dtype, weak=False)
        return replace(array_type, spelling=spelling)

    keys.enter_array_class(cls, key, exact_key)
    describe.register(cls, _describe_leaf)
    run_time_type.register(cls, type_)


def parameter_location(function: FunctionType, name: str) -> Location | None:
    """Where a parameter (or the name of the function) stands in the `def` of a function."""
    filename, first = function.__code__.co_filename, function.__code__.co_firstlineno
    word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    for line in range(first, first + 20):
        text = linecache.getline(filename, line)
        is_decorator = text.lstrip().startswith("@")
        found = None if is_decorator else word.search(text)
        if found is not None:
            start, end = (len(text[:column].encode()) for column in found.span())
            return Location(filename, line, start, end, text.strip())
    return None


def type_text(types: Iterator[Type], tree: Tree) -> str:
    """The types of one argument, as people write them: `(float64[:, :], float)`."""
    if isinstance(tree, Leaf):
        return leaf_text(next(types))
    if isinstance(tree, Constant):
        return str(probe(tree.value, "__name__") or repr(tree.value))
    children = [type_text(types, child) for child in tree.children]
    if tree.keys is not None:
        children = [f"{key}: {child}" for key, child in zip(tree.keys, children, strict=True)]
    opening, closing = _BRACKETS.get(tree.cls, (f"{tree.cls.__name__}(", ")"))
    return f"{opening}{', '.join(children)}{closing}"


_BRACKETS: dict[type, tuple[str, str]] = {tuple: ("(", ")"), list: ("[", "]"), dict: ("{", "}")}


def leaf_text(type_: Type) -> str:
    """A type as it would be given to `specialize`."""
    if isinstance(type_, Array):
        axes = (":" if dim.known is None else str(dim.known) for dim in type_.dims)
        return f"{type_.dtype}[{', '.join(axes)}]"
    if isinstance(type_, Sequence):
        return f"list[{leaf_text(type_.item)}]"
    if isinstance(type_, Tuple):
        return f"tuple[{', '.join(map(leaf_text, type_.items))}]"
    return repr(replace(type_, value=None) if isinstance(type_, Scalar) else type_)
