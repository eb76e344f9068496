"""Calls of NumPy's functions on what a user's function holds in a recorded run.

Values of the run become operands of a `call`, and so do the user's own arrays, of which the record
keeps a copy. A result is a value of the run again, and a view where NumPy gives one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from gradscribe.errors import (
    GradscribeError,
    NoDerivativeError,
    SourceNotFoundError,
    UnsupportedError,
)
from gradscribe.ir.core import Operand
from gradscribe.ir.probing import plain_number, probe
from gradscribe.primitives import optional
from gradscribe.primitives.registry import COMPOSITIONS, VARIANTS, primitive_of
from gradscribe.recording import calls, prelude, texts
from gradscribe.recording.arrays import (
    PLAIN,
    Memory,
    RecordedArray,
    check_class,
    holds_active,
    is_recorded,
    is_taken_for_array,
    lent,
    present,
    shown,
)
from gradscribe.recording.layouts import agrees, is_value_of, laid_like, piece, standing_for
from gradscribe.recording.levels import Traced, plain, refused, values_in
from gradscribe.recording.snapshots import value_of_array
from gradscribe.recording.trials import Trial
from gradscribe.recording.views import Call, part_of_a_list, read_only, viewed
from gradscribe.runtime.graph.grad_mode import grad_enabled

_READ_ONLY = frozenset({np.broadcast_to, np.broadcast_arrays})
"""What gives an array that has a number at several places."""

_PIECES = frozenset({np.trim_zeros})
"""Functions that give a piece of an array, which they find by what is in it."""

_LIBRARIES = frozenset({"numpy", "scipy", "builtins"})

_NOTHING: Any = object()

_POWERS = (operator.pow, np.power, np.float_power)


def run(callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None) -> Any:
    """What a call gives. Lists and tuples in the arguments may have values of the run in them."""
    optional.enter_imported()
    return refusing(_run, callee, args, kwargs or {})


def refusing(how: Any, callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a call gives; an error that plain Python does not raise, the program may not handle."""
    try:
        return how(callee, args, kwargs)
    except GradscribeError as error:
        raise_own(error, lambda: callee(*uncovered(args), **uncovered(dict(kwargs))))
        raise refused(error) from None


def raise_own(error: GradscribeError, run: Callable[[], Any]) -> None:
    """Where plain Python raises, too: what it raises, in its own words. run: does the same to plain
    values, which are read-only."""
    try:
        run()
    except GradscribeError:
        raise error from None
    except Exception as own:  # the program's own
        raise (error if "read-only" in texts.said_by(own) else own) from None


def _run(callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    whole = args[0] if args else kwargs.get("filt")
    if callee in _PIECES and type(whole) is RecordedArray:
        part = callee(*uncovered(args), **uncovered(dict(kwargs)))
        return getitem(whole, piece(part, lent(whole)))
    primitive = primitive_of(callee)
    if primitive is not None and callee not in COMPOSITIONS and callee not in VARIANTS:
        if primitive.adjoint is None and primitive.tangent is None:
            found = _plainly(callee, args, kwargs)
            if holds_active((args, dict(kwargs))) and _gives_objects(callee, found):
                raise without_rule(callee)
            return found
    elif primitive is None and not (callee in COMPOSITIONS or _is_own(callee)):
        return _of_unknown(callee, args, kwargs)
    return run_known(callee, args, kwargs)


def run_known(
    callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], given: Any = _NOTHING
) -> Any:
    """What a call gives that the compiler can differentiate. given: what it gives for the plain
    values, where that is known."""
    primitive = primitive_of(callee)
    if any(probe(value, "__closure__") for value in values_in((args, dict(kwargs)))):
        raise without_rule(callee)  # values of the run may be in such a function
    is_view = primitive is not None and primitive.view
    if is_view and not args:
        first, *others = kwargs
        args, kwargs = (kwargs[first],), {name: kwargs[name] for name in others}
    operands = Operands(numbers=primitive is not None and _takes_numbers(callee, primitive))
    if callee in _POWERS and type(exponent := plain_number(args[1])) is int:
        tree: tuple[Any, ...] = (operands.add(args[0]), exponent)
    else:
        tree = tuple(map(operands.add, args))
    named = {name: operands.add_array(value) for name, value in kwargs.items()}
    is_traced = any(type(value) is Traced for value in operands.values)
    if not grad_enabled() and is_traced:
        found = callee(*uncovered(args), **uncovered(dict(kwargs)))
        return cut(found, (args, dict(kwargs)))
    arrays = {
        item.index: array
        for item, array in zip((*tree, *named.values()), (*args, *kwargs.values()), strict=True)
        if isinstance(item, Operand) and isinstance(array, np.ndarray)
    }
    is_recorded_array = any(type(array) is RecordedArray for array in arrays.values())
    is_asked = "order" in kwargs or _is_made_of_others(callee)
    if given is _NOTHING and is_asked and (is_traced or is_recorded_array):
        given = _given(callee, args, kwargs)  # raises, and warns, as NumPy does
    if given is not _NOTHING:
        views = [item for item in values_in(given) if _shares_memory(item, args, kwargs)]
        if not all(_shares_memory(item, [*arrays.values()], {}) for item in views):
            if is_traced:
                raise part_of_a_list(callee)
            return _plainly(callee, args, kwargs)
        is_view |= bool(views)
    if operands.others and (is_view or is_traced):
        check_class(operands.others[0])
    if is_view and is_recorded_array:
        return viewed(arrays, Call(callee, tree, named, operands.values, ()))
    if not is_traced:
        return _plainly(callee, args, kwargs)
    try:
        derivatives = calls.derivatives_at(callee, tree, named, operands.values)
        with nullcontext() if given is _NOTHING else calls.silent():
            out = calls.evaluate(derivatives, operands.values, is_first=True)
    except SourceNotFoundError as error:  # of a function that is an argument
        raise without_rule(callee) from error
    if given is not _NOTHING:
        found = _in_place_of(callee, given, out)
    else:
        found = shown(out[0]) if derivatives.is_leaf else tuple(map(shown, out))
    return map_values(read_only, found) if callee in _READ_ONLY else found


def cut(found: Any, given: Any) -> Any:
    """What is computed under `no_grad`: without derivative. Where it is a view of what was given,
    neither may be stored to."""
    arrays = [array for array in values_in(given) if type(array) is RecordedArray]

    def apart(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = RecordedArray(Memory(value.copy(order="K")))
        made._memory.show(a for a in arrays if np.may_share_memory(plain(a._present()), value))
        return made

    return map_values(apart, found)


def _is_own(callee: Any) -> bool:
    return getattr(callee, "__module__", None) == prelude.__name__


def getitem(array: Any, index: Any) -> Any:
    """`array[index]`."""
    if is_truth(index):
        array, index = getitem(array, None), np.reshape(plain(present(index)), 1)
    operands = Operands(numbers=False)
    operands.add(array)
    if not grad_enabled() and type(operands.values[0]) is Traced:
        return cut(plain(present(array))[uncovered(index)], array)
    items, integers = operands.add_index(index)
    return viewed(
        {0: array}, Call(operator.getitem, (Operand(0), items), {}, operands.values, integers)
    )


def is_truth(index: Any) -> bool:
    """Whether an index takes all of an array or nothing: `array[True]`."""
    return isinstance(index, (bool, np.bool_)) or (
        isinstance(index, np.ndarray) and not index.ndim and index.dtype == bool
    )


def _takes_numbers(callee: Any, primitive: Any) -> bool:
    """Whether the numbers in a call are operands like arrays; else they are known."""
    is_operation = isinstance(callee, np.ufunc) or getattr(callee, "__module__", "") == "_operator"
    return (is_operation and primitive.elementwise) or callee in (np.where, operator.matmul)


_LIKE_ARRAYS = (bool, np.bool_, list, tuple, range, np.ndarray)
"""What stands for an array in an index."""


class Operands:
    """The operands of a call: values, and `Operand`s for them in the arguments.

    numbers: whether plain numbers are operands, too. others: arrays of other classes than NumPy's
    own, of which the results are of those classes.
    """

    def __init__(self, *, numbers: bool) -> None:
        self.values: list[Any] = []
        self.others: list[Any] = []
        self._numbers = numbers

    def add(self, value: Any) -> Any:
        """An argument in the terms of the compiler."""
        if self._numbers and isinstance(value, (int, float, complex, np.generic)):
            number = plain_number(present(value))
            return self._operand(int(number) if type(number) is bool else number)
        return self.add_array(value)

    def add_array(self, value: Any) -> Any:
        """An argument in the terms of the compiler, of which plain numbers are known."""
        if is_recorded(value):
            return self._operand(present(value))
        if isinstance(value, (tuple, list)):
            items = [self.add_array(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, np.ndarray):
            if type(value) not in PLAIN:
                self.others.append(value)
                value = np.array(value)
            return self._operand(value_of_array(value))
        if is_taken_for_array(value):
            return self.add_array(value.__array__())
        return value.item() if isinstance(value, np.bool_) else plain_number(value)

    def add_index(self, index: Any) -> tuple[tuple[Any, ...], list[int]]:
        """An index in the terms of the compiler, and the integers in it."""
        items = index if isinstance(index, tuple) else (index,)
        arrays = [self._item(item) for item in items]
        integers: list[int] = []
        return tuple(self._integer(item, integers) for item in arrays), integers

    def _item(self, item: Any) -> Any:
        item = item.__array__() if is_taken_for_array(item) else item
        if isinstance(item, _LIKE_ARRAYS) or is_recorded(item):
            array = np.asarray(plain(present(item)))
            if array.size == 0 and not isinstance(item, np.ndarray):
                array = array.astype(np.intp)
            if array.ndim or array.dtype.kind == "b":
                return self._operand(array.copy())
            item = array[()]
        return item

    def _integer(self, item: Any, integers: list[int]) -> Any:
        if isinstance(item, slice):
            item.indices(0)  # raises where its parts are no integers
            start, stop = (self._integer(part, integers) for part in (item.start, item.stop))
            return slice(start, stop, None if item.step is None else operator.index(item.step))
        if item is None or item is Ellipsis or isinstance(item, Operand):
            return item
        try:
            integer = operator.index(item)
        except TypeError:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer "
                "or boolean arrays are valid indices"
            ) from None
        if integer < 0:
            return integer
        integers.append(integer)
        return Operand(len(self.values) + len(integers) - 1)

    def _operand(self, value: Any) -> Operand:
        self.values.append(value)
        return Operand(len(self.values) - 1)


def uncovered(value: Any) -> Any:
    """Arguments (of a call, or all its keyword arguments) with plain arrays, which cannot be
    changed, for what belongs to the run. What stands in a dict or object, NumPy does not read."""
    if isinstance(value, dict):
        return {name: _uncovered(item) for name, item in value.items()}
    return _uncovered(value)


def _uncovered(value: Any) -> Any:
    if is_recorded(value):
        array = lent(value)
        if isinstance(array, np.ndarray):
            array = array.view()
            array.flags.writeable = False
        return array
    if isinstance(value, (tuple, list)):
        items = list(map(_uncovered, value))
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def map_values(function: Callable[[Any], Any], value: Any) -> Any:
    """A result of NumPy's with each of its arrays and numbers replaced."""
    if isinstance(value, (tuple, list)):
        items = [map_values(function, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return function(value)


def _plainly(callee: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a call gives that no derivative goes through."""
    return _shown(callee, args, kwargs, _given(callee, args, kwargs))


def _gives_objects(callee: Any, given: Any) -> bool:
    """Whether a result has objects, which NumPy may have been given: `np.logical_or(objects, x)`,
    as Python's `or`, gives one of both."""
    is_ufunc = isinstance(getattr(callee, "__self__", callee), np.ufunc)
    return any(
        value.dtype.hasobject if isinstance(value, (np.ndarray, np.generic)) else is_ufunc
        for value in values_in(given)
    )


def _shown(callee: Any, args: Any, kwargs: Mapping[str, Any], given: Any) -> Any:
    """What a call has given that no derivative goes through."""
    if any(_shares_memory(item, args, kwargs) for item in values_in(given)):
        return Trial(callee, args, kwargs, is_only=True).store()
    return map_values(shown, given)


def _given(callee: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a call gives for the plain values, which it may not write to."""
    try:
        return callee(*uncovered(args), **uncovered(dict(kwargs)))
    except ValueError as error:
        if "read-only" not in texts.said_by(error):  # NumPy has no class of errors for it
            raise
        name = probe(callee, "__name__", "") or type(callee).__name__
        raise refused(
            UnsupportedError(
                f"`{name}` changes an array that it is given", "give it a copy, and use that"
            )
        ) from error


def _shares_memory(item: Any, args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether a result, which is no view that is known, shares memory with an argument."""
    return isinstance(item, np.ndarray) and any(
        isinstance(array, np.ndarray) and np.may_share_memory(item, array)
        for array in _plain_values((args, dict(kwargs)))
    )


def _of_unknown(callee: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a function gives that has no rule of its own. Integers and truth values have no
    derivative; else the compiler may know what the function is made of."""
    given = _given(callee, args, kwargs)
    found: list[Any] = []
    map_values(found.append, given)
    operands = Operands(numbers=False)
    operands.add((args, list(kwargs.values())))
    is_active = any(type(value) is Traced for value in operands.values)
    if is_active:
        texts.note(found)
    if not is_active and not any(_shares_memory(item, args, kwargs) for item in found):
        return _shown(callee, args, kwargs, given)
    if not any(_may_be_differentiable(item) for item in found):
        return map_values(shown, given)
    try:
        return run_known(callee, args, kwargs, given)
    except UnsupportedError as error:
        raise without_rule(callee) from error


def _may_be_differentiable(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind not in "biuSUM"
    return not isinstance(value, (bool, int, str, bytes, type(None), np.dtype, type))


def without_rule(callee: Any) -> NoDerivativeError:
    """The error for a function that is not known."""
    module = getattr(callee, "__module__", None) or "numpy"
    name = f"{module}.{getattr(callee, '__name__', callee)}"
    return refused(
        NoDerivativeError(
            f"`{name}` has no derivative, and its result depends on what is differentiated",
            "make it a `gs.primitive` and give it one",
        )
    )


def _plain_values(tree: Any) -> Iterator[Any]:
    return map(lent, values_in(tree))


def _is_made_of_others(callee: Any) -> bool:
    """Whether what the compiler computes for a call of a library may be of other operations than
    its own: such results may lie otherwise in memory, or differ by rounding, and such operations
    do not check what the function checks."""
    if isinstance(callee, np.ufunc):
        return False
    return (getattr(callee, "__module__", None) or "numpy").partition(".")[0] in _LIBRARIES


def _in_place_of(callee: Any, given: Any, out: tuple[Any, ...]) -> Any:
    """What a call of a library has given, with the derivatives of what was computed for it. (What
    depends on the types alone, such as a flag, was not computed.) Where these are not the same but
    for rounding, as singular vectors of the other sign, it is what was computed."""
    results, computed = list(out), list[Any]()
    for value in values_in(given):
        fits = bool(results) and is_value_of(value, plain(results[0]))
        computed.append(_real_as(value, results.pop(0)) if fits else None)
    if results:
        raise without_rule(callee)
    pairs = zip(values_in(given), computed, strict=True)
    is_same = all(one is None or agrees(value, plain(one)) for value, one in pairs)
    following = iter(computed)

    def result(value: Any) -> Any:
        one = next(following)
        if one is None:
            return shown(value)
        return shown(standing_for(value, one) if is_same else laid_like(one, value))

    return map_values(result, given)


def _real_as(value: Any, computed: Any) -> Any:
    """What was computed for a result of NumPy's, real where that is: eigenvalues, for which the
    compiler, which knows types alone, has complex numbers."""
    if np.iscomplexobj(value) or not np.iscomplexobj(plain(computed)):
        return computed
    return present(run(np.real, (shown(computed),)))
