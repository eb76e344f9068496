"""Which exceptions operations may raise at run time, given that their types fit."""

from __future__ import annotations

import functools
import math
import operator
import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import CALL, IF, Block, Method, Operation, walk
from gradscribe.ir.probing import module_of_class, probe
from gradscribe.ir.types import Scalar, is_integer
from gradscribe.primitives import control, functions, indexing, real_numbers

Classes = tuple[type[BaseException], ...]

_SILENT = frozenset(
    {
        control.CONSTANT,
        control.UNDEF,
        control.TUPLE,
        control.ITEM,
        control.LIST,
        control.APPEND,
        control.LEN,
        control.COPY,
        control.STOP_GRADIENT,
        control.GIVEN,
        control.KEPT,
        control.ZEROS_LIKE,
        control.ADD_ITEMS,
        functions.FUNCTION,
        control.CAUGHT,
        control.CHECK,
        *real_numbers.CHECKS,
        control.ATTEMPT,
        control.EXIT,
        indexing.LENGTH,
        indexing.SIZE,
    }
)
_LOOKUPS = frozenset(
    {
        indexing.GETITEM,
        indexing.STORE,
        indexing.ACCUMULATE,
        indexing.GATHER,
        control.GET,
        control.SET,
        control.POP,
    }
)
_DIVISIONS = frozenset({operator.truediv, operator.floordiv, operator.mod})
_TOTAL = frozenset(
    {operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs}
    | {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
    | {operator.not_, operator.and_, operator.or_, operator.xor, operator.invert, float, bool}
)
"""What Python can do with any numbers."""

_GROWING = frozenset(
    {operator.pow, operator.lshift, math.factorial, math.comb, math.perm, math.prod, int}
)
_KEEPING = frozenset(
    {operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs}
    | {operator.floordiv, operator.or_, operator.xor, operator.invert}
)
_FLOATS = 2**1000
"""Python's integers up to here are floats, too, and what is computed of a few of them."""

_LIBRARIES = frozenset(
    {"gradscribe", "numpy", "cupy", "scipy", "math", "builtins", "operator", "_operator"}
)
_ANYTHING: Classes = (Exception,)


def is_attempt(operation: Operation) -> bool:
    """Whether an operation is a `try`: an `if` whose second side handles what was caught."""
    if operation.primitive is not IF:
        return False
    return any(o.primitive is control.CAUGHT for o in operation.regions[1].operations)


def always_raises(block: Block) -> bool:
    """Whether nothing comes after this block (what handles an exception may raise)."""
    last = block.operations[-1] if block.operations else None
    if last is not None and last.primitive is IF:
        return all(map(always_raises, last.regions))
    return last is not None and last.primitive is control.RAISE


def taken_down(operation: Operation) -> Classes:
    """What the program takes down in the block that an operation enters: the warnings that are
    shown there (see `warnings.catch_warnings`)."""
    if operation.primitive is not control.ENTER or operation.callee is not warnings.catch_warnings:
        return ()
    record = operation.attributes["keywords"].get("record", False)
    return () if record is False else (RuntimeWarning,)


def is_strict(enter: Operation) -> bool:
    """Whether a manager may make an exception, or what the program takes down, of an invalid value:
    what is computed under it is computed by the program itself alone."""
    if enter.callee is np.errstate:
        return any(how not in ("ignore", "warn") for how in enter.attributes["keywords"].values())
    return enter.callee is warnings.catch_warnings


def may_raise(operation: Operation, caught: Classes, around: Iterable[Operation] = ()) -> bool:
    """Whether an operation, its regions included, may raise one of these exceptions. around:
    operations among which the exception that a `raise` raises was made. (A refusal passes all
    handlers, as it is no exception of the program's.)"""
    operations = [operation]
    for region in operation.regions:
        operations += walk(region)
    made = {result: o for o in (*around, *operations) for result in o.results}
    return any(_meets(_with_warnings(_raised(o, made)), caught) for o in operations)


def _with_warnings(raised: Classes) -> Classes:
    """Where NumPy may raise a `FloatingPointError` it may warn, which raises if that is so set."""
    return (*raised, RuntimeWarning) if _meets(raised, (FloatingPointError,)) else raised


def _meets(raised: Classes, caught: Classes) -> bool:
    return any(issubclass(r, c) or issubclass(c, r) for r in raised for c in caught)


def _raised(operation: Operation, made: dict[Any, Operation]) -> Classes:
    primitive = operation.primitive
    if primitive in _SILENT or operation.regions:
        return ()
    if primitive is control.RAISE:
        return _class_of_exception(operation, made)
    if primitive is control.ASSERT:
        return (AssertionError,)
    if primitive is control.EFFECT and makes_exception(operation.callee):
        return ()
    if primitive in (control.EFFECT, control.RUN, control.ENTER, CALL):
        return _ANYTHING
    if primitive in _LOOKUPS:
        return IndexError, FloatingPointError
    if probe(operation.callee, "__module__", "") in ("numpy.linalg", "numpy.linalg._linalg"):
        return np.linalg.LinAlgError, FloatingPointError
    if _converts_vast(operation, made):
        return ValueError, ArithmeticError
    if operation.callee in _DIVISIONS:
        divisor = made.get(operation.operands[1])
        if divisor is not None and divisor.primitive is control.CONSTANT:
            return (ZeroDivisionError,) if not divisor.attributes["value"] else ()
        if all(isinstance(v.type, Scalar) for v in operation.operands):
            return (ArithmeticError,)  # also of NumPy's numbers: the sum of no items is an int
    if primitive.elementwise and isinstance(operation.callee, np.ufunc):
        is_own = getattr(np, operation.callee.__name__, None) is operation.callee
        return (FloatingPointError,) if is_own else _ANYTHING  # by `scipy.special.errstate`
    numbers = [v.type for v in operation.operands if isinstance(v.type, Scalar)]
    if len(numbers) == len(operation.operands):
        if operation.callee not in _TOTAL:
            return ValueError, ArithmeticError  # also of NumPy's: a float is handed on as one
        if all(number.weak for number in numbers):
            return ()
    if primitive.elementwise and _module_of(operation.callee) != "math":
        return (FloatingPointError,)
    is_known = _is_of_libraries(operation.callee) and _module_of(operation.callee) != "scipy"
    return (ValueError, ArithmeticError, IndexError) if is_known else _ANYTHING


def _converts_vast(operation: Operation, made: dict[Any, Operation]) -> bool:
    """Whether an integer that may be greater than any float becomes one, or meets one."""
    numbers = [v for v in operation.operands if isinstance(v.type, Scalar)]
    converts = operation.callee in (float, operator.truediv) or any(
        not is_integer(number.type) for number in numbers
    )
    return converts and any(_is_vast(number, made) for number in numbers)


def _is_vast(number: Any, made: dict[Any, Operation]) -> bool:
    """Whether an integer of Python's may be greater than any float."""
    operation = made.get(number)
    if operation is None or not is_integer(number.type) or not number.type.weak:
        return False
    if operation.primitive is control.CONSTANT:
        return bool(abs(operation.attributes["value"]) > _FLOATS)
    if operation.callee in _KEEPING:
        return any(_is_vast(operand, made) for operand in operation.operands)
    return operation.callee in _GROWING


def heeds_values(function: Any) -> bool:
    """Whether a function of a library, written in Python, warns, as `np.polyfit` does, or says what
    becomes of invalid values that come in it, as `np.linalg.cond` does."""
    return not _named_by(function).isdisjoint({"warn", "errstate"})


@functools.cache
def _named_by(function: Any, depth: int = 3) -> frozenset[str]:
    """The names in the code of a function of a library, and of those that it calls."""
    found = probe(function, "_implementation") or probe(function, "__wrapped__") or function
    if not isinstance(found, types.FunctionType) or not depth:
        return frozenset()
    names = found.__code__.co_names
    called = [found.__globals__.get(name) for name in names]
    below = (_named_by(f, depth - 1) for f in called if callable(f) and _is_of_libraries(f))
    return frozenset(names).union(*below)


class GivenUpError(BaseException):
    """A run of compiled code ends, to be done in another way: the program knows nothing of it."""


def may_refuse(operation: Operation) -> bool:
    """Whether an operation may raise what no handler of the program is to take for an exception of
    its own: a refusal, or a `GivenUpError`."""
    if operation.primitive in (CALL, control.CHECK):
        return True
    if isinstance(operation.callee, Method):
        return False
    return _module_of(operation.callee) in ("gradscribe", "recorded")


def _is_of_libraries(callee: Any) -> bool:
    """Whether what is called is a function or method of NumPy or Python, no primitive of a user."""
    return isinstance(callee, Method) or _module_of(callee) in _LIBRARIES


def _module_of(callee: Any) -> str:
    """The package of what is called."""
    module: str = probe(callee, "__module__") or module_of_class(type(callee))
    return module.partition(".")[0]


def _class_of_exception(operation: Operation, made: dict[Any, Operation]) -> Classes:
    maker = made.get(operation.operands[0]) if operation.operands else None
    if maker is not None and maker.primitive is control.EFFECT and makes_exception(maker.callee):
        return () if issubclass(maker.callee, UnsupportedError) else (maker.callee,)
    exception = operation.attributes["exception"]
    return (type(exception),) if isinstance(exception, BaseException) else _ANYTHING


def makes_exception(callee: Any) -> bool:
    """Whether what is called is the class of an exception."""
    return isinstance(callee, type) and issubclass(callee, BaseException)
