"""What calls give that are tried when the function is compiled: on values of the same types.

Comes in: a call of a function that only computes, of integers and arrays as the frontend has them.
Goes out: what it gives for samples of these, and the type of that.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import re
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque.known_values import MOST_ITEMS, KnownValues, NotKnownError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.wording import name_of
from gradscribe.frontend.values.values import (
    FrontendValue,
    Ref,
    Static,
    TupleOf,
    scalar_type,
)
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.core import Primitive, Value
from gradscribe.ir.known import all_known
from gradscribe.ir.probing import probe
from gradscribe.ir.statics import CONSTANTS
from gradscribe.ir.types import Array, Scalar, Tuple, Type, is_integer
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.result_types import check_result, form_of
from gradscribe.primitives.typing import type_of


def type_on_trial(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> Type | None:
    """The type of the result, as a call on sampled integers and small arrays tells it."""
    found = tried(lowering, callee, arguments, keywords)
    return type_of_sample(found, (*arguments, *keywords.values()))


def type_of_sample(found: Any, given: Iterable[FrontendValue]) -> Type | None:
    """The type of what a call on trial gave. given: to the call, in the program."""
    return result_type(found, exact=all(isinstance(item, Static) for item in given))


def tried(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> Any:
    """What such a call gives: for what it is given in the specializing call, if that is known. Else
    None where it raises, or gives numbers of another type for arrays of other numbers, as
    `np.emath.sqrt` does. The lengths that are not known are tried as 2, and as those that are;
    integers as 3, and as 1, which is a place in the shortest of these arrays.
    Compiled code trusts what it is given: integers may be places in memory, as are the numbers in a
    result of `linkage`, and it may not end for distances that are negative. It is tried once, and
    not on integers of ours; what another call gave on trial is given as it is."""
    items = (*arguments, *keywords.values())
    is_checked, is_derived = _checks_arguments(callee), any(_is_sample(lowering, i) for i in items)
    if not is_checked and any(map(functools.partial(_holds_integers, lowering), items)):
        return None
    given = [lowering.value(item).type for item in items if isinstance(item, Ref)]
    known = {dim.known for type_ in given if isinstance(type_, Array) for dim in type_.dims}
    lengths = (2, *sorted(n for n in known if n is not None and 2 < n <= _TRIED))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_checked:
            with contextlib.suppress(Exception):
                values = KnownValues(lowering, of_call=True)
                plain = [values.of(item) for item in arguments]
                return callee(*plain, **{k: values.of(item) for k, item in keywords.items()})
        for number, length in itertools.product(_NUMBERS, lengths):
            try:
                plain = [sampled(lowering, item, length, number) for item in arguments]
                named = {k: sampled(lowering, i, length, number) for k, i in keywords.items()}
                found = callee(*plain, **named)
            except Exception:
                continue
            if not is_checked or (is_derived and not _is_of_python(callee)):
                return found
            try:
                kinds = "if" if _is_of_python(callee) else "f"
                far = {key: _far_away(item, kinds) for key, item in named.items()}
                other = callee(*(_far_away(item, kinds) for item in plain), **far)
            except Exception:  # it takes no such numbers
                return found
            return found if _dtypes(found) == _dtypes(other) else None
    return None


def always_raised(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> Exception | None:
    """What a function of NumPy's raises for arguments of these types, whatever the numbers in them
    are, if it does so for other lengths, too; then those that it says are of the call."""
    facts, call = lowering.builder.facts, (callee, arguments, keywords)
    lengths: tuple[Length, ...] = (*(lambda _, n=n: n for n in (2, 3, 7)), facts.likely)
    raised = (_raised(lowering, call, length) for length in lengths)
    return _raised(lowering, call, facts.sampled) if all(raised) else None


Length = Callable[[Affine], int | None]
"""Tells a length that is not known."""


def _raised(
    lowering: Lowering,
    call: tuple[Any, tuple[FrontendValue, ...], Mapping[str, FrontendValue]],
    length: Length,
) -> Exception | None:
    """The error of a call on arrays of these lengths, if it is the same for all numbers in them."""
    callee, arguments, keywords = call
    raised: dict[tuple[type[Exception], str], Exception] = {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fill in _FILLS:
            try:
                plain = [_filled(lowering, item, length, fill) for item in arguments]
                named = {k: _filled(lowering, item, length, fill) for k, item in keywords.items()}
            except NoSampleError:
                return None
            try:
                callee(*plain, **named)
            except Exception as error:
                raised.setdefault((type(error), str(error)), error)
            else:
                return None
    found = next(iter(raised.values()))  # integers may be places in an array, others than here
    return found if len(raised) == 1 and not isinstance(found, IndexError) else None


def samples(
    lowering: Lowering,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Arguments of these types, of the lengths of the specializing call: any, the same with zeros
    around them, and such as all functions take, positive numbers and positive definite matrices.
    None where there are no such arguments."""
    length = lowering.builder.facts.likely
    for fill in (_FILLS[-1], _within_zeros, _positive):
        try:
            plain = [_filled(lowering, item, length, fill) for item in arguments]
            named = {k: _filled(lowering, item, length, fill) for k, item in keywords.items()}
        except NoSampleError:
            return
        yield plain, named


def _within_zeros(shape: tuple[int, ...]) -> Any:
    numbers = _FILLS[-1](shape)
    for axis in range(len(shape)):
        along = np.moveaxis(numbers, axis, 0)
        along[:1] = along[-1:] = 0.0
    return numbers


def _positive(shape: tuple[int, ...]) -> Any:
    """Positive numbers; symmetric and positive definite, if they are square matrices."""
    numbers = np.abs(np.random.default_rng(1).normal(size=shape))
    if len(shape) > 1 and shape[-1] == shape[-2]:
        return (numbers + np.swapaxes(numbers, -1, -2)) / (8 * shape[-1]) + np.eye(shape[-1])
    return np.asarray(numbers)


_PLAIN = (*CONSTANTS, type, np.dtype, types.NoneType, types.EllipsisType)

_FILLS: tuple[Callable[[Any], Any], ...] = (
    np.ones,
    np.zeros,
    *(lambda shape, number=number: np.full(shape, number) for number in (-2.0, 7.0)),
    lambda shape: np.asarray(np.random.default_rng(0).normal(size=shape)),
)


def _filled(
    lowering: Lowering, item: FrontendValue, length: Length, fill: Callable[[Any], Any]
) -> Any:
    """A value of the same type, of these numbers where they are not known."""
    if isinstance(item, Static) and isinstance(item.value, _PLAIN):
        return item.value
    items = known_items(lowering, item)
    if items is not None:
        given = [_filled(lowering, below, length, fill) for below in items]
        return tuple(given) if isinstance(item, TupleOf) else given
    type_ = lowering.value(item).type if isinstance(item, Ref) else scalar_type(item)
    if not isinstance(type_, (Array, Scalar)) or np.dtype(type_.dtype).kind not in "biufc":
        raise NoSampleError
    if is_integer(type_) and length == lowering.builder.facts.likely and type_.value is not None:
        known = length(type_.value)
        if known is not None:
            return known
    dims = type_.dims if isinstance(type_, Array) else ()
    lengths = [length(dim) if dim.known is None else dim.known for dim in dims]
    shape = all_known(lengths)
    if shape is None or math.prod(shape) > MOST_ITEMS:
        raise NoSampleError
    values = np.abs(fill(shape)) if np.dtype(type_.dtype).kind == "u" else fill(shape)
    values = values.astype(type_.dtype)
    if isinstance(type_, Array):
        return values
    return values.item() if type_.weak else values[()]


def _is_of_python(callee: Any) -> bool:
    """Whether a function is Python's or NumPy's own: these raise for what they cannot take."""
    module = str(probe(callee, "__module__") or probe(type(callee), "__module__"))
    own = ("builtins", "math", "numpy", "operator", "_operator")
    return module.partition(".")[0] in own and type(callee).__name__ != "fortran"


def _checks_arguments(callee: Any) -> bool:
    """Likewise, or a ufunc, or one that is written in Python, or takes no places in memory."""
    if type(callee).__name__ == "fortran":  # f2py converts integers to what it computes in
        return not re.search(r"input rank-\d array\('i'\)", callee.__doc__)
    written = isinstance(inspect.unwrap(callee), (types.FunctionType, np.ufunc))
    return written or _is_of_python(callee)


def _far_away(sample: Any, kinds: str) -> Any:
    is_signed = isinstance(sample, np.ndarray) and sample.dtype.kind in kinds
    return (-4 * sample).astype(sample.dtype) if is_signed else sample


def _is_sample(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is what another call gave on trial."""
    return isinstance(item, Ref) and lowering.value(item) in lowering.samples


def _holds_integers(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether an argument is, or holds, an array of integers that are not known."""
    if isinstance(item, TupleOf):
        return any(_holds_integers(lowering, below) for below in item.items)
    if not isinstance(item, Ref) or _is_sample(lowering, item):
        return False
    type_ = lowering.value(item).type
    return isinstance(type_, Array) and np.dtype(type_.dtype).kind in "iu"


def _dtypes(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_dtypes, result))
    return getattr(result, "dtype", type(result))


_NUMBERS = (3, 1)
"""Integers that are not known, as they are tried."""

_TRIED = 64
"""A length up to which a call costs little."""


def made(lowering: Lowering, result: FrontendValue, tried: Any) -> FrontendValue:
    """A result, with names for its items as the one on trial has them, which may stand for it."""
    _remember(lowering, result, tried)
    if isinstance(result, TupleOf):
        result = TupleOf(tuple(result.items[n] for n in _places(tried)), result.cls)
        fields = probe(type(tried), "_fields")
        if isinstance(fields, tuple) and len(fields) == len(result.items):
            return TupleOf(result.items, type(tried))
    return result


def _places(items: tuple[Any, ...]) -> list[int]:
    """For each item, its place; for an array that is there before, the first of its places. (Equal
    numbers may be one object here, and others in a call.)"""
    ids = [id(item) if isinstance(item, np.ndarray) else n for n, item in enumerate(items)]
    return list(map(ids.index, ids))


def _remember(lowering: Lowering, result: FrontendValue, tried: Any) -> None:
    if isinstance(result, TupleOf):
        for item, sample in zip(result.items, tried, strict=True):
            _remember(lowering, item, sample)
    elif isinstance(result, Ref) and isinstance(tried, np.ndarray):
        lowering.samples[lowering.value(result)] = tried
        result.storage.read_only |= not tried.flags.writeable


def emitted(
    lowering: Lowering, primitive: Primitive, tree: Mapping[str, Any], callee: Any, is_sure: bool
) -> Value:
    """Append a call. Where the type of its result is not sure, the program checks it."""
    result = lowering.emit(primitive, tree, callee)
    form = None if is_sure else form_of(result.type)
    if form is not None:
        tree = {"x": result, "name": name_of(callee), "form": form}
        lowering.plain(PRIMITIVES[check_result], tree)
    return result


def is_sure(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> bool:
    """Whether a call that has been tried gives a result of that type each time: a ufunc, or what
    f2py has made, which ask for no more than types, or a call of what does not change."""
    items = (*arguments, *keywords.values())
    is_static = all(isinstance(item, Static) for item in items)
    if is_static or isinstance(callee, np.ufunc) or type(callee).__name__ == "fortran":
        return True
    known = KnownValues(lowering, of_call=False)
    with contextlib.suppress(NotKnownError):
        for item in items:
            known.of(item)
        return _checks_arguments(callee)
    return False


class NoSampleError(Exception):
    """There is nothing that could stand for a value."""


def sampled(lowering: Lowering, item: FrontendValue, length: int = 2, whole: int = 3) -> Any:
    """A value of the same type; integers that are known in the specializing call, as there."""
    if isinstance(item, Static):
        return item.value
    if isinstance(item, TupleOf):
        return tuple(sampled(lowering, below, length, whole) for below in item.items)
    number = scalar_type(item)
    if number is not None:
        if is_integer(number):
            known = number.value and lowering.builder.facts.sampled(number.value)
            return whole if known is None else known
        return np.dtype(number.dtype).type(0.5).item()
    items = known_items(lowering, item)
    if items is not None:
        return [sampled(lowering, below, length, whole) for below in items]
    if isinstance(item, Ref):
        value = lowering.value(item)
        if value in lowering.samples:
            return lowering.samples[value].copy()
        type_ = value.type
        assert isinstance(type_, Array)
        lengths = [length if dim.known is None else dim.known for dim in type_.dims]
        place = 1.0 if all(n > 1 for n in lengths) else 0.0  # in an array of that length
        values = np.full(lengths, place if np.dtype(type_.dtype).kind in "iu" else 0.5)
        if type_.rank > 1:  # LAPACK may ask for a positive definite matrix
            values += np.eye(lengths[-2], lengths[-1])
        return values.astype(type_.dtype)
    raise NoSampleError


def result_type(result: Any, exact: bool) -> Type | None:
    """The type of a result that was found on trial. exact: its lengths are those of any call."""
    if isinstance(result, tuple):
        items = all_known([result_type(item, exact) for item in result])
        return None if items is None else Tuple(tuple(items))
    if not isinstance(result, (bool, int, float, complex, np.generic, np.ndarray)):
        return None
    if not isinstance(result, np.ndarray):
        return type_of(result)
    if result.dtype.kind not in "biufc" or not result.dtype.isnative:
        return None
    dims = (Affine.of(n) if exact else Affine.of(Symbol("length")) for n in result.shape)
    return Array(result.dtype.name, tuple(dims))
