"""Functions with `*args`, for calls with a given number of arguments.

Callers count arguments, not parameters: `argnums=2` of `f(a, *xs)` is the second of `xs`. So such
a function is compiled, for each number of arguments, by way of one that has them all as
parameters:

    def f(a, xs_0, xs_1):
        return callee(a, xs_0, xs_1)
"""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gradscribe.ir.probing import probe

_FILENAME = "<gradscribe call"
_serial = itertools.count(1)


def is_variadic(function: FunctionType) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_VARARGS)


def spread(function: FunctionType, count: int) -> FunctionType:
    """The function that calls `function` with `count` positional arguments. Those of one `def`
    share their code, and so what is compiled."""
    code = function.__code__
    names = list(code.co_varnames)
    positional, rest = names[: code.co_argcount], names[code.co_argcount :]
    only, (variadic, *rest) = rest[: code.co_kwonlyargcount], rest[code.co_kwonlyargcount :]
    numbered = (f"{variadic}_{number}" for number in itertools.count())
    fresh = (name for name in numbered if name not in names)
    positional += itertools.islice(fresh, max(0, count - len(positional)))
    keywords = rest[0] if code.co_flags & inspect.CO_VARKEYWORDS else ""
    name = function.__name__ if function.__name__.isidentifier() else "function"
    made = _maker(name, tuple(positional), tuple(only), keywords)(function)
    if count <= code.co_argcount:
        made.__defaults__ = function.__defaults__
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def calling(callee: Any, like: FunctionType, first: int) -> FunctionType:
    """The function that calls `callee` with arguments of the names that `like` has for its own,
    but for the first ones."""
    code = like.__code__
    stop = code.co_argcount + code.co_kwonlyargcount
    only = code.co_varnames[code.co_argcount : stop]
    variadic = code.co_varnames[stop] if is_variadic(like) else ""
    name = probe(callee, "__name__", "").replace("<lambda>", "function")
    made = _maker(
        name if name.isidentifier() else "function",
        code.co_varnames[first : code.co_argcount],
        only,
        "",
        variadic,
    )(callee)
    made.__defaults__, made.__kwdefaults__ = like.__defaults__, like.__kwdefaults__
    return made


def called_by(function: FunctionType) -> FunctionType:
    """The user's function that a function made here calls, maybe by way of others; any other
    function is that itself."""
    while function.__code__.co_filename.startswith(_FILENAME):
        (cell,) = function.__closure__ or ()
        callee = cell.cell_contents
        if not isinstance(callee, FunctionType) and not hasattr(callee, "target"):
            return function  # of a library: the call is all the source that there is
        function = callee if isinstance(callee, FunctionType) else callee.target.function
    return function


@functools.lru_cache(maxsize=1024)
def _maker(
    name: str,
    positional: tuple[str, ...],
    only: tuple[str, ...],
    keywords: str,
    variadic: str = "",
) -> Callable[[Any], FunctionType]:
    """From a function to the one that calls it."""
    star = [f"*{variadic}", *only] if only or variadic else []
    more = [f"**{keywords}"] if keywords else []
    rest = [f"*{variadic}"] if variadic else []
    given = ", ".join([*positional, *rest, *(f"{name}={name}" for name in only), *more])
    taken = {name, *positional, *only, keywords, variadic}
    callee = next(c for c in map("callee{}".format, ("", *range(len(taken)))) if c not in taken)
    text = (
        f"def make({callee}):\n"
        f"    def {name}({', '.join([*positional, *star, *more])}):\n"
        f"        return {callee}({given})\n"
        f"    return {name}\n"
    )
    filename = f"{_FILENAME} {next(_serial)}: {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Callable[[FunctionType], FunctionType]] = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["make"]
