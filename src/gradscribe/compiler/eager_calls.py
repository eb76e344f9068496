"""A single call as a Python function with source, so that the compiler can be given it.

An eager operation of the runtime is a callee with some arguments that are leaves and others
that are static. As source,

    def sum(x0):
        return callee(x0, axis=(0, 1))

it is lowered like any function of a user, and nothing else in the compiler knows of it.
"""

from __future__ import annotations

import cmath
import functools
import itertools
import keyword
import linecache
import math
import operator
import weakref
from collections.abc import Collection, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.ir.core import Operand, SliceOf
from gradscribe.ir.probing import module_of_class, plain_number, probe

_serial = itertools.count(1)
_LITERALS = frozenset({type(None), bool, int, str, type(Ellipsis)})


def function_of_call(
    callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: int
) -> FunctionType:
    """The function of `leaves` arguments x0, x1, … that returns `callee(*args, **kwargs)`, where
    `Operand(i)` in args and kwargs stands for x_i. Equal calls give one function."""
    namespace: dict[str, Any] = {"callee": callee}
    texts = [_text(argument, namespace) for argument in args]
    if callee is operator.getitem:
        index = args[1] if len(args) > 1 else kwargs["index"]
        call = f"{texts[0]}[{_index_text(index, namespace)}]"
    else:
        texts += [f"{name}={_text(value, namespace)}" for name, value in kwargs.items()]
        call = f"callee({', '.join(texts)})"
    name = probe(callee, "__name__", "operation")
    if not name.isidentifier() or keyword.iskeyword(name) or name in namespace:
        name = "operation"
    parameters = ", ".join(f"x{i}" for i in range(leaves))
    text = f"def {name}({parameters}):\n    return {call}\n"
    return _define(name, text, tuple(namespace.items()))


def closure_of_call(
    callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any], operands: Collection[int]
) -> FunctionType:
    """The function of x0, x1, … that returns `callee(*args, **kwargs)`, where these are the
    arguments of these numbers (those by name are counted last). All else it finds in its closure:
    calls that differ in it have functions of one code."""
    values = [*args, *kwargs.values()]
    names = [f"x{i}" for i in range(len(operands))]
    found = iter(names)
    texts = [next(found) if i in operands else f"item{i}" for i in range(len(values))]
    others = {f"item{i}": value for i, value in enumerate(values) if i not in operands}
    named = [f"{n}={text}" for n, text in zip(kwargs, texts[len(args) :], strict=True)]
    call = f"callee({', '.join([*texts[: len(args)], *named])})"
    text = (
        f"def make({', '.join(['callee', *others])}):\n"
        f"    def apply({', '.join(names)}):\n"
        f"        return {call}\n"
        f"    return apply\n"
    )
    made: FunctionType = _define("make", text, ())(callee, **others)
    return made


_MADE = "<gradscribe operation"


def forget_own_place(error: GradscribeError) -> None:
    """Let an error show no place in a function that is made here: tracebacks show the user's."""
    if error.location is not None and error.location.filename.startswith(_MADE):
        error.location = None


@functools.lru_cache(maxsize=4096)
def _define(name: str, text: str, names: tuple[tuple[str, Any], ...]) -> FunctionType:
    """Run a `def` whose text can be read back."""
    namespace = dict(names)
    filename = f"{_MADE} {next(_serial)}: {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), namespace)
    function: FunctionType = namespace[name]
    weakref.finalize(function, linecache.cache.pop, filename, None)
    return function


def _text(tree: Any, namespace: dict[str, Any]) -> str:
    if isinstance(tree, Operand):
        return f"x{tree.index}"
    if isinstance(tree, (tuple, list)):
        items = "".join(f"{_text(item, namespace)}, " for item in tree)
        return f"({items})" if isinstance(tree, tuple) else f"[{items}]"
    if isinstance(tree, dict):
        pairs = (f"{_text(k, namespace)}: {_text(v, namespace)}" for k, v in tree.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(tree, slice):
        parts = (_text(part, namespace) for part in (tree.start, tree.stop, tree.step))
        return f"slice({', '.join(parts)})"
    if type(tree) in _LITERALS:
        return repr(tree)
    if type(tree) is float and math.isinf(tree):
        return "1e999" if tree > 0 else "-1e999"
    if type(tree) is float and math.isnan(tree):
        return "float('nan')"
    if type(tree) is complex and not cmath.isfinite(tree):
        return f"complex({_text(tree.real, namespace)}, {_text(tree.imag, namespace)})"
    if type(tree) in (float, complex):
        return repr(tree)
    if module_of_class(type(tree)) == "numpy" and isinstance(tree, (np.number, np.bool_)):
        cls = type(tree)
        namespace[cls.__name__] = cls
        return f"{cls.__name__}({_text(tree.item(), namespace)})"
    number = plain_number(tree)
    if number is not tree:
        return _text(number, namespace)
    name = f"static{len(namespace)}"
    namespace[name] = tree
    return name


def _index_text(index: Any, namespace: dict[str, Any]) -> str:
    items = index if isinstance(index, tuple) else (index,)
    texts = [_slice_text(item, namespace) for item in items]
    return ", ".join(texts) + ("," if len(texts) == 1 and isinstance(index, tuple) else "") or "()"


def _slice_text(item: Any, namespace: dict[str, Any]) -> str:
    if not isinstance(item, (SliceOf, slice)):
        return _text(item, namespace)
    start, stop, step = (
        "" if part is None else _text(part, namespace)
        for part in (item.start, item.stop, item.step)
    )
    return f"{start}:{stop}" + (f":{step}" if step else "")
