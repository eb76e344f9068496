"""What is called in a recorded run in place of functions of Python and NumPy, which their arguments
are not told of: functions that make new arrays, and convert values; `math`, `eval`, and texts.

Each does what its function does; arrays that are made anew record, and so does what is made of
values of the run.
"""

from __future__ import annotations

import ast
import functools
import json
import math
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.ir.probing import in_class, probe
from gradscribe.primitives import interpreter
from gradscribe.primitives.contract_kinds import parameters
from gradscribe.primitives.log_calls import goes_through_others, only_shown
from gradscribe.primitives.registry import COMPOSITIONS, PRIMITIVES
from gradscribe.recording import classes, operations, places, protocol, sums, texts, trials
from gradscribe.recording.arrays import (
    Memory,
    RecordedArray,
    constant,
    holds_active,
    is_active,
    is_recorded,
)
from gradscribe.recording.following import OWN_NAMES
from gradscribe.recording.layouts import lies_in
from gradscribe.recording.levels import plain, refuse_told, refused, tell, values_in
from gradscribe.recording.snapshots import value_of_array

Callee = Any


def recording(value: Any) -> Any:
    """A new array as one that records."""
    if type(value) is np.ndarray and value.dtype.kind in "fc":
        return RecordedArray(Memory(value))
    return value


def is_new(made: Any, value: Any) -> bool:
    """Whether an array that is made of a value is known to have memory of its own."""
    if type(value) is np.ndarray:
        return not np.may_share_memory(made, value)
    return type(value) in (list, tuple)


def apart(value: Any, array: Any) -> Any:
    """What is made of an array as an array that records, if it is a new one."""
    return recording(value) if is_new(value, array) or not isinstance(array, np.ndarray) else value


def _creating(function: Callee) -> Callee:
    """A function that makes a new array."""

    @functools.wraps(function)
    def create(*args: Any, **kwargs: Any) -> Any:
        return recording(function(*args, **kwargs))

    return create


def _full(shape: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.full`."""
    if not is_recorded(fill_value):
        return recording(texts.read(np.full(shape, fill_value, *args, **kwargs), fill_value))
    if not args and kwargs.get("dtype") is None:
        kwargs["dtype"] = np.asarray(plain(fill_value._present())).dtype
    made = recording(np.empty(shape, *args, **kwargs))
    made[...] = fill_value
    return made


def _full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.full_like`."""
    if not is_recorded(fill_value):
        return recording(texts.read(np.full_like(a, fill_value, *args, **kwargs), fill_value))
    made = recording(np.empty_like(operations.uncovered(a), *args, **kwargs))
    made[...] = fill_value
    return made


def _array(value: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.array`."""
    dtype = args[0] if args else kwargs.get("dtype")
    value, kwargs = _asked(value, {"copy": True, **kwargs})
    value, copy = of_objects(value, dtype), kwargs["copy"]
    if_needed = getattr(copy, "value", copy) in _IF_NEEDED
    if not any(map(is_recorded, values_in(value))):
        made = texts.read(np.array(value, *args, **kwargs), value)
        return recording(made) if not if_needed or is_new(made, value) else made
    np.array(operations.uncovered(value), *args, **kwargs)  # raises what NumPy raises of it
    if type(value) is RecordedArray and if_needed:
        array = _as_recorded(value, dtype, kwargs.get("order"), copy)
        return _with_axes(array, kwargs.get("ndmin", 0))
    try:
        made = protocol.array_of(value, dtype)
    except ValueError:
        if dtype is None or np.dtype(dtype) != object:
            raise
        what = "arrays that are differentiated, among other objects in one array of objects"
        raise refused(NoDerivativeError(what, "keep them in a list")) from None
    order = args[1] if len(args) > 1 and isinstance(args[1], str) else kwargs.get("order")
    if str(order).upper() in ("C", "F"):
        made = made.copy(order)
    return _with_axes(made, kwargs.get("ndmin", 0))


def _asked(value: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What an object gives for an array, and the options of the call: it may have made the copy."""
    method = probe(type(value), "__array__") if kwargs.get("copy") is not None else None
    if method is None or "copy" not in parameters(method):
        return classes.called(value, "__array__"), kwargs
    found = classes.called(value, "__array__", copy=kwargs["copy"])
    return found, kwargs if found is value else {**kwargs, "copy": None}


def of_objects(value: Any, dtype: Any) -> Any:
    """A value that is made an array of this dtype: for an array of objects, of which some are
    values of the run, one that records."""
    if type(value) is not np.ndarray or value.dtype != object or dtype is None:
        return value
    is_kept = np.dtype(dtype) == object or not any(map(is_recorded, value.flat))
    return value if is_kept else RecordedArray(Memory(value_of_array(value)))


_CONVERTER = probe(sys.modules.get("numpy._core._multiarray_umath"), "_array_converter")


class _Converter:
    """`_array_converter` of NumPy, by which its functions take and give arrays of any class: its
    own, of the plain values, tells what depends on these alone."""

    def __init__(self, *values: Any) -> None:
        self._own = _CONVERTER(*operations.uncovered(values))
        self._arrays = tuple(map(_to_array, values))
        self.scalar_input = self._own.scalar_input
        self.result_type = self._own.result_type

    def __getitem__(self, place: int) -> Any:
        return self._arrays[place]

    def as_arrays(self, **options: Any) -> tuple[Any, ...]:
        """The values as arrays; numbers stay what they are where that is asked."""
        found = self._own.as_arrays(**options)
        return tuple(map(_in_place_of, self._arrays, found))

    def wrap(self, array: Any, /, to_scalar: bool | None = None) -> Any:
        """A result, a number if all values are, or as is asked."""
        if not is_recorded(array):
            return self._own.wrap(array, to_scalar=to_scalar)
        is_number = all(self.scalar_input) if to_scalar is None else to_scalar
        return array[()] if is_number and not np.ndim(array) else array


def _in_place_of(array: Any, own: Any) -> Any:
    is_plain = type(own) is np.ndarray and type(array) in (np.ndarray, RecordedArray)
    return array if is_plain else own


def _broadcast_arrays(*args: Any, **kwargs: Any) -> Any:
    """`np.broadcast_arrays`, of arrays: what is made of a number, or list, can be stored to."""
    return np.broadcast_arrays(*[apart(_to_array(value), value) for value in args], **kwargs)


_IF_NEEDED = (False, None, 2)
"""Values of `copy`, of members of NumPy's enumeration, too, for which the array may be the same."""


def _with_axes(array: Any, count: int) -> Any:
    missing = count - np.ndim(array)
    return array.reshape((1,) * missing + array.shape) if missing > 0 else array


def _as_array(function: Callee) -> Callee:
    """`np.asarray` and its kind: an array that records is one already. Those that lay it out make
    an axis of a number."""
    axes, own_order = _LAYING_OUT.get(function, (0, None))

    @functools.wraps(function)
    def convert(value: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = args[0] if args else kwargs.get("dtype")
        value, kwargs = _asked(value, kwargs)
        value = of_objects(value, dtype)
        order = args[1] if len(args) > 1 else kwargs.get("order")
        order = own_order or order
        if any(map(is_recorded, values_in(value))):
            function(operations.uncovered(value), *args, **kwargs)  # raises what NumPy raises of it
        if type(value) is RecordedArray:
            array = _as_recorded(value, dtype, order, kwargs.get("copy"))
            return _with_axes(array.copy() if kwargs.get("copy") else array, axes)
        if not any(map(is_recorded, values_in(value))):
            made = texts.read(function(value, *args, **kwargs), value)
            return recording(made) if is_new(made, value) else made
        return _with_axes(protocol.array_of(value, dtype), axes)

    return convert


_LAYING_OUT = {np.ascontiguousarray: (1, "C"), np.asfortranarray: (1, "F")}


_to_array = _as_array(np.asanyarray)


def _as_recorded(given: Any, dtype: Any, order: str | None, copy: Any) -> Any:
    """The same array where it has the dtype, and lies in memory as is wanted; else a copy, which
    `copy=False` forbids."""
    array = given if dtype is None else given.astype(dtype, copy=False)
    array = array if lies_in(order, array) else array.copy(order)
    if copy is False and array is not given:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return array


def _float(*args: Any) -> Any:
    """`float(x)`."""
    if args and isinstance(args[0], (str, bytes, bytearray)):
        refuse_told()
    args = tuple([classes.called(value, "__float__") for value in args])
    if not (args and is_recorded(args[0]) and is_active(args[0])):
        return float(*args)
    value, *others = args
    number = plain(value._present())
    if np.iscomplexobj(number):
        return float(*args)
    float(number, *others)  # raises what Python raises of it
    return value if type(number) is float else value.item()


def _reading(function: Callee) -> Callee:
    """A function that reads values from texts or files."""

    def read(*args: Any, **kwargs: Any) -> Any:
        refuse_told()
        return function(*args, **kwargs)

    return read


def _evaluating(function: Callee) -> Callee:
    """`eval` or `exec`, which read numbers from a text, and variables where they are called."""

    def evaluate(source: Any, globals: Any = None, locals: Any = None, **kwargs: Any) -> Any:
        refuse_told()
        if globals is None:
            frame = sys._getframe(1)
            globals, locals = frame.f_globals, frame.f_locals if locals is None else locals
        return function(source, globals, globals if locals is None else locals, **kwargs)

    return evaluate


def reading_texts(function: Callee) -> Callee:
    """A function that reads a number where it is given a text."""

    def read(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, (str, bytes, bytearray)) for value in args):
            refuse_told()
        return function(*args, **kwargs)

    return read


def _number(kind: type) -> Callee:
    """`np.float64(x)`."""

    def convert(*args: Any) -> Any:
        if args and isinstance(args[0], str):
            refuse_told()
        is_complex = issubclass(kind, (complex, np.complexfloating))
        args = tuple([classes.as_number(value, is_complex=is_complex) for value in args])
        if len(args) != 1 or not holds_active(args):
            return kind(*args)
        array = protocol.array_of(args[0], kind)
        return array[()]

    return convert


def _type(*args: Any, **kwargs: Any) -> Any:
    """`type(x)`."""
    if len(args) == 1 and is_recorded(args[0]):
        return args[0].__class__
    made = type(*args, **kwargs)
    if len(args) == 3 and "__module__" not in args[2]:
        made.__module__ = sys._getframe(1).f_globals.get("__name__", made.__module__)
    return made


def _isinstance(value: Any, kinds: Any) -> Any:
    """`isinstance(x, kinds)`: a protocol may ask for methods in the class itself."""
    return isinstance(plain(value._present()) if is_recorded(value) else value, kinds)


def _variables(function: Callee) -> Callee:
    """`locals()`, and `vars()` alike."""

    def variables(*args: Any) -> Any:
        if args:
            return function(*args)
        found = sys._getframe(1).f_locals
        return {name: value for name, value in found.items() if name not in OWN_NAMES}

    return variables


def _of_math(function: Callee) -> Callee:
    """A function of `math`."""
    own = f"__{function.__name__}__"  # `__floor__`, and its kind, are asked first

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and in_class(type(args[0]), own, None) is not None:
            found = classes.called(args[0], own)
            return found if found is not args[0] else function(*args)
        if function not in _OF_INTEGERS:
            args = tuple(map(classes.as_float, args))
        if not holds_active((args, kwargs)):
            return function(*args, **kwargs)
        if function in PRIMITIVES or function in COMPOSITIONS:
            named = {name: _float_of(value) for name, value in kwargs.items()}
            return operations.run(function, tuple(map(_float_of, args)), named)
        return function(*args, **kwargs)

    return call


_OF_INTEGERS = (math.comb, math.factorial, math.gcd, math.isqrt, math.lcm, math.perm)


def _frexp(x: Any) -> Any:
    """`math.frexp(x)`: the mantissa, which has a derivative, is `x / 2**exponent`."""
    mantissa, exponent = math.frexp(operations.uncovered(x))
    return (_of_math(math.ldexp)(x, -exponent) if holds_active(x) else mantissa), exponent


def _modf(x: Any) -> Any:
    """`math.modf(x)`: the fraction, which has a derivative, is the remainder by one."""
    fraction, whole = math.modf(operations.uncovered(x))
    return (_of_math(math.fmod)(x, 1.0) if holds_active(x) else fraction), whole


def _float_of(value: Any) -> Any:
    return _float(value) if is_recorded(value) and not np.ndim(value) else value


def telling(function: Callee) -> Callee:
    """A function that makes a text."""

    def make(*args: Any, **kwargs: Any) -> Any:
        if holds_active((args, kwargs)):
            tell()
        return function(*operations.uncovered(args), **operations.uncovered(kwargs))

    return make


def logging_(function: Callee) -> Callee:
    """A function of `logging`. Handlers and filters of the user's may do what they like with what
    it shows: they get the values of the run."""

    def log(*args: Any, **kwargs: Any) -> Any:
        if holds_active((args, kwargs)):
            tell()
        if goes_through_others(function, probe(function, "__self__")):
            return function(*args, **kwargs)
        given = operations.map_values(constant, args)
        try:
            return only_shown(function, *given, **kwargs)
        except UnsupportedError as error:
            raise refused(error) from None

    return log


def _plainly(function: Callee) -> Callee:
    """A function whose results are truth values and integers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*operations.uncovered(args), **operations.uncovered(kwargs))

    return call


FUNCTIONS: dict[Any, Callee] = {
    **{
        function: _creating(function)
        for function in (
            *(np.zeros, np.empty, np.ones, np.eye, np.identity, np.linspace, np.copy),
            *(np.zeros_like, np.empty_like, np.ones_like),
        )
    },
    **{
        function: trials.named_first("a", _as_array(function))
        for function in (np.asarray, np.asanyarray, *_LAYING_OUT)
    },
    np.array: trials.named_first("object", _array),
    np.broadcast_arrays: _broadcast_arrays,
    np.full: _full,
    np.full_like: _full_like,
    _CONVERTER: _Converter,
    **{
        function: _of_math(function)
        for name, function in vars(math).items()
        if callable(function) and not name.startswith("_")
    },
    math.frexp: _frexp,
    math.modf: _modf,
    **{f: _plainly(f) for f in (math.isnan, math.isinf, math.isfinite, math.isclose)},
    **{function: _evaluating(function) for function in (eval, exec)},
    **{function: _variables(function) for function in (locals, vars)},
    **{function: places.refusing(function) for function in interpreter.TELLING},
    **{f: places.filtering(f) for f in (warnings.filterwarnings, warnings.simplefilter)},
    **{
        function: _reading(function)
        for function in (
            json.loads,
            json.load,
            ast.literal_eval,
            np.loadtxt,
            np.genfromtxt,
            np.load,
            np.fromstring,
            np.fromfile,
        )
    },
    float: _float,
    sum: sums.total,
    **{kind: reading_texts(kind) for kind in (int, complex, Decimal, Fraction)},
    **{kind.__new__: reading_texts(kind.__new__) for kind in (int, float, complex)},
    type: _type,
    isinstance: _isinstance,
    **{kind: _number(kind) for kind in (np.float64, np.float32, np.complex128, np.complex64)},
}
"""The functions, and what is called in their place."""
