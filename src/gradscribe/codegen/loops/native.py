"""A generated function that Numba compiles, or reads from disk, when it is first called."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from gradscribe.codegen.load import execute
from gradscribe.codegen.loops.cache import MODULE, compiled
from gradscribe.codegen.loops.checked import float_power, mathematics, power
from gradscribe.codegen.loops.checks import Refusal, refusal
from gradscribe.codegen.loops.classes import Classes, classes_of_results
from gradscribe.codegen.loops.emit import render_loops
from gradscribe.codegen.loops.integers import OF_ARGUMENTS
from gradscribe.codegen.loops.rewriting import FLOAT_POWER, FOREVER, POWER
from gradscribe.codegen.loops.simd import SIMD, simd
from gradscribe.errors import MissingLibraryError, UnsupportedError
from gradscribe.ir.core import Function, Value
from gradscribe.ir.trees import Node, Tree
from gradscribe.ir.types import Scalar, Sequence
from gradscribe.numpy_errors import is_usual


class Native:
    """A function as native code, and as NumPy's where that cannot, or must not, run.

    function: as it is emitted, with loops for its operations on arrays; or why there is none.
    plain: gives the same function of the NumPy tier.
    """

    def __init__(
        self, function: Function | Refusal, plain: Callable[[], Callable[..., Any]]
    ) -> None:
        self._plain = plain
        refused = function if isinstance(function, Refusal) else refusal(function)
        self._refused = refused
        if not isinstance(function, Refusal):
            self._function = function
        self.is_native = refused is None
        self.report = "native" if refused is None else f"NumPy: {refused}"

    def __call__(self, *args: Any) -> Any:
        if self.is_native and is_usual() and all(map(_is_small, args)):
            try:
                return self._finished(self._run(args))
            except Exception as error:  # whatever it is, the NumPy tier says it, or knows better
                self._note(error)
        return self._plain()(*args)

    @cached_property
    def source(self) -> str:
        """The text of the native function."""
        if self._refused is not None:
            what = f"as native code, {self._refused}"
            raise UnsupportedError(what, "see `.source` for NumPy's tier")
        return render_loops(self._function).text

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        rendered = render_loops(self._function)
        bindings = {name: _native(value) for name, value in rendered.bindings.items()}
        bindings |= {POWER: power(), FLOAT_POWER: float_power(), FOREVER: True, SIMD: simd()}
        bindings["__name__"] = MODULE
        filename = f"<gradscribe loops: {self._function.name}>"
        loaded = execute(rendered.text, filename, bindings)[self._function.name]
        return compiled(loaded, rendered.text, rendered.bindings, _OPTIONS)

    def _run(self, args: tuple[Any, ...]) -> Any:
        if not any(isinstance(argument, list) for argument in args):
            return self._compiled(*args)
        with warnings.catch_warnings():  # of Numba's, that its lists will be others
            warnings.simplefilter("ignore")
            return self._compiled(*args)

    def _note(self, error: Exception) -> None:
        """Leave native code for good where it cannot be compiled."""
        if type(error).__module__.startswith("numba"):
            first = next(iter(str(error).splitlines()), "")
            self.is_native = False
            self.report = f"NumPy: Numba does not compile it ({type(error).__name__}: {first})"

    def _finished(self, result: Any) -> Any:
        """The result with NumPy's numbers where the NumPy tier has them."""
        if not any(self._numpy):
            return result
        return _finished(self._function.result, result, iter(self._numpy))

    @cached_property
    def _numpy(self) -> list[Callable[[Any], Any] | None]:
        """For each leaf of the result that is a number of NumPy's, its class."""
        classes = classes_of_results(self._function)
        return list(map(_numpy_class, self._function.body.yields, classes))


def _numpy_class(value: Value, classes: Classes) -> Callable[[Any], Any] | None:
    """The class of a result, or of a result's items, that are numbers of NumPy's."""
    type_ = value.type.item if isinstance(value.type, Sequence) else value.type
    if not isinstance(type_, Scalar) or type_.weak or classes is Classes.PYTHON:
        return None
    return np.dtype(type_.dtype).type


def _finished(tree: Tree, result: Any, classes: Iterator[Callable[[Any], Any] | None]) -> Any:
    if isinstance(tree, Node):
        pairs = zip(tree.children, result, strict=True)
        return tuple([_finished(child, part, classes) for child, part in pairs])
    made = next(classes)
    if made is None:
        return result
    return list(map(made, result)) if isinstance(result, list) else made(result)


def _is_small(argument: Any) -> bool:
    """Whether an argument is, and holds, none of the integers that native code is not made for."""
    if argument.__class__ is list:
        return all(map(_is_small, argument))
    return argument.__class__ is not int or -_MOST <= argument <= _MOST


_OPTIONS = {"error_model": "python", "boundscheck": True}
"""Of Numba: divisions by zero raise, and so do indices out of bounds."""

_MOST = (1 << OF_ARGUMENTS) - 1


def _native(value: Any) -> Any:
    return mathematics() if value is math else value


def require_numba() -> None:
    """Raise the error for `jit=True` where Numba is not installed."""
    if importlib.util.find_spec("numba") is None:
        raise MissingLibraryError(
            "`jit=True` needs Numba, which is not installed",
            "install it: pip install 'gradscribe[jit]'",
        )
