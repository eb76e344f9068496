"""What users call: the function of a row with all that is understood around it.

NumPy's names of arguments stand for PyTorch's: `x.max(axis=0, keepdims=True)` is
`x.max(dim=0, keepdim=True)`, `gs.exp(x=x)` is `gs.exp(x)`. Functions take `out=` where their row
says so (`outputs.py`), and those that make Tensors `layout=` and `pin_memory=` (`places.py`). Calls
of the usual kind go the short way (`launching.py`). Compiled code calls the function itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from gradscribe.runtime.arrays.places import drop_place
from gradscribe.runtime.arrays.rows import FUNCTION, OUT, PLACE, ROW_OF, Row, Table
from gradscribe.runtime.operations.launching import launched
from gradscribe.runtime.operations.outputs import stored
from gradscribe.tracebacks import shorten

_OTHER_NAMES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
}


def public(row: Row) -> Any:
    """What users call for a row."""
    return _made(row.function, bool(row.spelling & OUT), bool(row.spelling & PLACE))


def spelled(function: Any) -> Any:
    """What users call for a function, which may have no row; anything else as it is."""
    if not isinstance(function, FunctionType) or function in _PUBLIC:
        return function
    row = ROW_OF.get(function)
    return _made(function, False, False) if row is None else public(row)


_PUBLIC: set[Any] = set()


@functools.cache
def _made(function: FunctionType, takes_out: bool, takes_place: bool) -> Any:
    names, row = other_names(function), ROW_OF.get(function)
    made: Any = function
    if names or takes_out or takes_place:
        made = _with_names(function, names, takes_out, takes_place)
    if row is not None and row.launcher is not None:
        made = launched(made, *row.launcher)
    _PUBLIC.add(made)
    return made


def publish(table: Table, namespace: dict[str, Any]) -> list[str]:
    """Put what users call in a namespace, and say what it is called."""
    names = [name for name, row in table.rows.items() if row.spelling & FUNCTION]
    namespace.update({name: public(table.rows[name]) for name in names})
    return sorted(names)


def other_names(function: FunctionType) -> dict[str, str]:
    """The names of NumPy's that a function understands for its own."""
    parameters, is_open = _parameters(function)
    return {
        other: name
        for other, name in _OTHER_NAMES.items()
        if other not in parameters and (name in parameters or is_open)
    }


def _parameters(function: FunctionType) -> tuple[tuple[str, ...], bool]:
    """The names of the parameters, and whether there may be others."""
    code = inspect.unwrap(function).__code__  # `inspect.signature` would take `gs` a while
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names, bool(code.co_flags & inspect.CO_VARKEYWORDS)


def is_parameter(function: FunctionType, name: str) -> bool:
    """Whether this is the name of a parameter."""
    return name in _parameters(function)[0]


def _with_names(
    function: FunctionType, names: Mapping[str, str], takes_out: bool, takes_place: bool
) -> Callable[..., Any]:
    def respelling(*args: Any, **options: Any) -> Any:
        options = {names.get(name, name): value for name, value in options.items()}
        if takes_place:
            drop_place(options)
        out = options.pop("out", None) if takes_out else None
        if out is not None:
            return stored(function, args, options, out)
        return function(*args, **options)

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            return respelling(*args, **options) if options else function(*args)
        except Exception as error:
            shorten(error)
            raise

    called.__gradscribe_function__ = function  # type: ignore[attr-defined]
    if takes_out:
        signature = inspect.signature(function)
        if "out" not in signature.parameters:
            called.__signature__ = _with_out(signature)  # type: ignore[attr-defined]
    return called


def _with_out(signature: inspect.Signature) -> inspect.Signature:
    """The parameters of a function, and `out`."""
    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = list(signature.parameters.values())
    is_open = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    parameters.insert(len(parameters) - is_open, out)
    return signature.replace(parameters=parameters)
