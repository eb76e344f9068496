"""NumPy's names of arguments, which PyTorch's functions understand beside their own.

`x.max(axis=0, keepdims=True)` is `x.max(dim=0, keepdim=True)`, `gs.exp(x=x)` is `gs.exp(x)`.
The functions of `gs` that PyTorch gives an `out=` take it here, too (`outputs.py`), and those that
make Tensors `layout=` and `pin_memory=` (`places.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeVar, cast

from gradscribe.runtime.arrays.places import NAMES as TAKE_PLACE
from gradscribe.runtime.arrays.places import drop_place
from gradscribe.runtime.operations.launching import ROWS, launched
from gradscribe.runtime.operations.outputs import NAMES as TAKE_OUT
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

Spelled = dict[Any, tuple[Callable[..., Any], Mapping[str, str]]]
SPELLED: Spelled = {}
"""For each function that understands other names: the function without them, and the names."""

_made: dict[Any, Any] = {}


def spelled(function: Any) -> Any:
    """A function that understands NumPy's names of its arguments, and `out=`, too; anything else
    as it is."""
    if not isinstance(function, FunctionType):
        return function
    if function not in _made:
        names, takes_out = _other_names(function), function.__name__ in TAKE_OUT
        places = function.__name__ in TAKE_PLACE
        known = names or takes_out or places
        made: Any = function
        if known:
            made = _with_names(function, names, takes_out, places)
        if function in ROWS:
            made = launched(made, *ROWS[function])
            SPELLED[made] = function, names
        _made[function] = made
        _made[made] = made
    return _made[function]


def _other_names(function: FunctionType) -> dict[str, str]:
    code = inspect.unwrap(function).__code__  # `inspect.signature` would take `gs` a while
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    is_open = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {
        other: name
        for other, name in _OTHER_NAMES.items()
        if other not in parameters and (name in parameters or is_open)
    }


def _with_names(
    function: FunctionType, names: Mapping[str, str], takes_out: bool, takes_place: bool
) -> Callable[..., Any]:
    def respelling(*args: Any, **options: Any) -> Any:
        options = respelled(options, names)
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

    called.__gradscribe_function__ = respelling  # type: ignore[attr-defined]
    if takes_out:
        signature = inspect.signature(function)
        if "out" not in signature.parameters:
            called.__signature__ = _with_out(signature)  # type: ignore[attr-defined]
    SPELLED[called] = function, names
    return called


Taking = TypeVar("Taking", bound=Callable[..., Any])


def taking_out(function: Taking) -> Taking:
    """The function, which understands NumPy's names of its arguments and `out=`, too."""
    made: Any = _with_names(
        cast(FunctionType, function), _other_names(cast(FunctionType, function)), True, False
    )
    return made  # type: ignore[no-any-return]


def _with_out(signature: inspect.Signature) -> inspect.Signature:
    """The parameters of a function, and `out`."""
    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = list(signature.parameters.values())
    is_open = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    parameters.insert(len(parameters) - is_open, out)
    return signature.replace(parameters=parameters)


def respelled(options: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Keyword arguments under the function's own names."""
    return {names.get(name, name): value for name, value in options.items()}
