"""What has a derivative, as data: `gs.supported()`, and the page `docs/functions.md`.

The functions of NumPy and of Python's `math` are asked for in the tables of the compiler, so that
what is told here is what is there.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradscribe.frontend.calls import mathematics
from gradscribe.frontend.state.handlers import handler_of
from gradscribe.ir.core import Primitive
from gradscribe.primitives import optional
from gradscribe.primitives.limits import LIMITS, WITHOUT_DERIVATIVE
from gradscribe.primitives.registry import (
    COMPOSITIONS,
    DISTRIBUTIONS,
    METHODS,
    PRIMITIVES,
    UNKNOWN,
    primitive_of,
)

_MODULES: dict[str, ModuleType] = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "math": math,
}
_UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer")
_REASONS = {name: reason for reason, names in WITHOUT_DERIVATIVE.items() for name in names.split()}


@dataclass(frozen=True)
class Support:
    """What is known of a function.

    name: as it is written (`"np.linalg.inv"`, `"ndarray.sum"`, `"np.add.reduce"`).
    modes: those in which it is differentiated, compiled and eager; none where there is no
    derivative.
    limits: what is refused, chosen, or left out; or why there is no derivative.
    """

    name: str
    modes: tuple[str, ...]
    limits: str = ""


def supported() -> tuple[Support, ...]:
    """All functions of NumPy and of `math`, methods of arrays and of ufuncs that have a derivative
    here, and those that have none, with the reason; functions of SciPy that have one, where it is
    installed; functions of `torchlike.nn.functional`.

    >>> next(entry for entry in supported() if entry.name == "np.linalg.inv").modes
    ('reverse', 'forward')
    """
    found = [(name, _of_function(name, function)) for name, function in public_functions()]
    entries = [Support(name, *known) for name, known in found if known is not None]
    entries += [
        Support(f"ndarray.{name}", ("reverse", "forward"), LIMITS.get(f"ndarray.{name}", ""))
        for name in sorted({*METHODS, *(c for c in COMPOSITIONS if isinstance(c, str))})
        if hasattr(np.ndarray, name) and (name not in METHODS or _has_rule(METHODS[name]))
    ]
    return tuple(entries + _of_scipy() + _of_networks())


def _of_networks() -> list[Support]:
    """The functions of `torchlike.nn.functional`."""
    from gradscribe.torchlike.nn import (
        functional,
    )  # only here: it is imported when it is first named

    names = [f"torchlike.nn.functional.{name}" for name in functional.__all__]
    return [
        Support(name, (), reason) if reason else Support(name, ("reverse", "forward"))
        for name, reason in zip(names, map(_reason, names), strict=True)
    ]


def _of_scipy() -> list[Support]:
    """The functions and distributions of SciPy that have a derivative; of distributions of several
    numbers, the methods."""
    entries = []
    for library in optional.enter_all():
        for name, value in _named_parts(sys.modules[library]):
            primitive = PRIMITIVES.get(value)
            if primitive is None and value not in COMPOSITIONS:
                continue
            if primitive is None or _has_rule(primitive):
                public = f"{library}.{name}"
                limits = "" if primitive is None else _limits_of_rule(primitive)
                limits = LIMITS.get(public, limits)
                entries.append(Support(public, ("reverse", "forward"), limits))
    return entries


def _named_parts(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What can be called in a module, and the methods of its distributions of several numbers: of
    those with a location and a scale, all have the same."""
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or not isinstance(value, Hashable) or not callable(value):
            continue
        if type(value) in DISTRIBUTIONS and not hasattr(value, "numargs"):
            methods = [method for method in dir(value) if not method.startswith("_")]
            yield from ((f"{name}.{method}", getattr(value, method)) for method in methods)
        else:
            yield name, value


def _limits_of_rule(primitive: Primitive) -> str:
    """The operands by which a rule gives `UNKNOWN`, read from its source."""
    if primitive.signature is None or primitive.adjoint is None:
        return ""
    tree = ast.parse(textwrap.dedent(inspect.getsource(primitive.adjoint)))
    unknown = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
        for name, partial in zip(primitive.signature.parameters, node.value.elts, strict=False)
        if isinstance(partial, ast.Name) and partial.id == UNKNOWN.name
    ]
    return f"not by {' and '.join(f'`{name}`' for name in unknown)}" if unknown else ""


def public_functions() -> list[tuple[str, Any]]:
    """The functions of the modules, and the methods of their ufuncs, by name."""
    found = []
    for prefix, module in _MODULES.items():
        for name in sorted(getattr(module, "__all__", None) or vars(module)):
            function = getattr(module, name)
            if name.startswith("_") or not callable(function) or isinstance(function, type):
                continue
            found.append((f"{prefix}.{name}", function))
            if isinstance(function, np.ufunc) and is_of_two(function):
                methods = ((m, getattr(function, m)) for m in _UFUNC_METHODS)
                found += [(f"{prefix}.{name}.{m}", method) for m, method in methods]
    return [*found, ("np.lib.stride_tricks.sliding_window_view", sliding_window_view)]


def is_of_two(ufunc: np.ufunc) -> bool:
    """Whether a ufunc takes two elements and gives one, so that it has methods for many."""
    return (ufunc.nin, ufunc.nout, ufunc.signature) == (2, 1, None)


def _of_function(name: str, function: Any) -> tuple[tuple[str, ...], str] | None:
    """The modes and the limits of a function; None where nothing is known of it."""
    reason = _reason(name)
    if reason is not None:
        return (), reason
    primitive = primitive_of(function)
    handler = handler_of(function)
    is_composed = handler is not None and handler.__module__ == mathematics.__name__
    has_rule = primitive is not None and _has_rule(primitive)
    if primitive is None:
        has_rule = handler is not None
    if has_rule or is_composed or function in COMPOSITIONS:
        return ("reverse", "forward"), LIMITS.get(name, "")
    return None


def _reason(name: str) -> str | None:
    """Why a function has no derivative: a method of a ufunc for the reason of the ufunc, or (but
    for `outer`) for that of its `reduce`."""
    owner, _, method = name.rpartition(".")
    names = [name, owner] if method in _UFUNC_METHODS else [name]
    names += [f"{owner}.reduce"] if method in ("accumulate", "reduceat") else []
    return next((_REASONS[n] for n in names if n in _REASONS), None)


def _has_rule(primitive: Primitive) -> bool:
    return primitive.adjoint is not None or primitive.tangent is not None
