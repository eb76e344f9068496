"""Results that go into arrays at hand: `out=`, `where=`, `np.add.at`, and functions that only
change an array."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from gradscribe.errors import GradscribeError
from gradscribe.frontend.containers.masks import with_mask
from gradscribe.frontend.containers.stores import accumulate, check_dtype, refuse_other_step, store
from gradscribe.frontend.containers.subscripts import part_of
from gradscribe.frontend.memory.aliasing import refuse_overlap, shares
from gradscribe.frontend.memory.contiguity import is_contiguous
from gradscribe.frontend.memory.outside_kinds import is_transformed
from gradscribe.frontend.prelude import array_changes
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.indices import as_array, step_of
from gradscribe.frontend.values.values import FrontendValue, Ref, Static, TupleOf
from gradscribe.ir.core import Method
from gradscribe.ir.probing import probe
from gradscribe.primitives.registry import PRIMITIVES

_ADDITIONS = {np.add: operator.add, np.subtract: operator.sub}


def change(
    lowering: Lowering,
    node: Any,
    function: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
    index: int | None = None,
) -> FrontendValue:
    """Lower one of `array_changes` as a part of the user's statement. index: which argument is an
    index, that may be a tuple."""
    location, start = lowering.builder.location, len(lowering.builder.operations)
    try:
        arguments, keywords = array_changes.by_position(function, arguments, keywords)
    except TypeError as error:
        lowering.raises(node, error)
    arguments = tuple(
        a if i == index and isinstance(a, TupleOf) else as_array(lowering, node, a)
        for i, a in enumerate(arguments)
    )
    target, *others = arguments
    by_item: Sequence[Any] = (
        others if function in (array_changes.place, array_changes.fill_diagonal) else ()
    )
    if function is array_changes.copyto:
        keywords = with_mask(lowering, node, np.copyto, keywords)
        by_item = (*others[2:], keywords.get("where"))
        if isinstance(target, Ref) and others:
            refuse_other_step(lowering, node, target, others[0])
    if any(shares(lowering, item, target) for item in by_item if isinstance(item, Ref)):
        refuse_overlap(lowering, node)
    arguments = (target, *(_apart(lowering, node, other, target) for other in others))
    keywords = {name: _apart(lowering, node, item, target) for name, item in keywords.items()}
    is_by_item = function in (array_changes.put, array_changes.put_values)
    storing = lowering.exceptions.storing_partly() if is_by_item else nullcontext()
    try:
        with storing:
            result = lowering.call(node, Static(function), arguments, keywords)
    except GradscribeError as error:
        error.location = location
        raise
    if location is not None:
        lowering.builder.relocate(start, location)
    return result


def _apart(lowering: Lowering, node: Any, item: FrontendValue, target: Any) -> FrontendValue:
    """An argument as it is before the target is stored to, of which it may be a part."""
    if isinstance(item, Ref) and shares(lowering, item, target):
        return lowering.call(node, Static(np.copy), (item,), {})
    return item


def ufunc_at(callee: Any) -> Any:
    """The ufunc of which this is the method `at`; None for anything else."""
    is_method = isinstance(callee, types.BuiltinMethodType) and callee.__name__ == "at"
    owner = probe(callee, "__self__") if is_method else None
    return owner if isinstance(owner, np.ufunc) else None


def change_at(
    lowering: Lowering, node: Any, ufunc: Any, arguments: tuple[FrontendValue, ...]
) -> FrontendValue:
    """`ufunc.at(x, index, values)`."""
    x, index, *values = arguments
    if isinstance(x, Ref) and not values and ufunc.nin == 1:
        alone = (x, index, Static(ufunc))
        return change(lowering, node, array_changes.change_each_alone, alone, {}, 1)
    if not isinstance(x, Ref) or len(values) != 1:
        lowering.unsupported(
            node,
            f"this call of `{ufunc.__name__}.at` is not supported",
            "call it as `.at(array, index, values)`",
        )
    step = step_of(lowering, node, index)
    if ufunc in _ADDITIONS:
        accumulate(lowering, node, part_of(x, step), _ADDITIONS[ufunc], values[0])
        return Static(None)
    each = (x, index, values[0], Static(ufunc))
    return change(lowering, node, array_changes.change_each, each, {}, 1)


# -- out= and where= -------------------------------------------------------------------------------


def destination(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> tuple[Any, Any, tuple[Any, ...], dict[str, Any]]:
    """What is given as `out` and (of ufuncs) as `where`, None where it is not; and the arguments
    without them. An operation of the user's may have arguments of these names."""
    keywords = dict(with_mask(lowering, node, callee, keywords))
    if is_transformed(callee) or not _fits(callee, arguments, keywords):
        return None, None, arguments, keywords
    out = keywords.pop("out", None)
    where = keywords.pop("where", None) if isinstance(callee, np.ufunc) else None
    position = _position_of_out(callee)
    if position is not None and len(arguments) > position:
        names, later = _positional(callee)[position + 1 :], arguments[position + 1 :]
        if len(later) > len(names):
            return None, None, arguments, keywords  # too many: the call tells what is wrong
        keywords.update(zip(names, later, strict=False))
        arguments, out = arguments[:position], arguments[position]
    if isinstance(out, TupleOf) and len(out.items) == 1:
        out = out.items[0]
    out = None if _is(out, None) else out
    where = None if _is(where, True) else where
    return out, where, arguments, keywords


_WITH_OUT = frozenset(
    {"all", "any", "argmax", "argmin", "choose", "clip", "compress", "conj", "conjugate"}
    | {"cumprod", "cumsum", "dot", "max", "mean", "min", "prod", "ptp", "round", "std", "sum"}
    | {"take", "trace", "var"}
)
"""The methods of arrays that take `out`."""


def _fits(
    callee: Any, arguments: tuple[FrontendValue, ...], keywords: dict[str, FrontendValue]
) -> bool:
    """Whether a callee takes so many arguments, and `out`."""
    if isinstance(callee, np.ufunc):
        return len(arguments) <= callee.nin + callee.nout
    if isinstance(callee, Method):
        return "out" not in keywords or callee.name in _WITH_OUT
    names = _positional(callee)
    if "out" in names:
        return len(arguments) <= len(names)
    return "out" not in keywords or not names or "out" in _keyword_only(callee)


def _is(given: Any, value: Any) -> bool:
    return isinstance(given, Static) and given.value is value


def _position_of_out(callee: Any) -> int | None:
    """By which position `out` may be given."""
    if isinstance(callee, np.ufunc):
        return callee.nin if callee.nout == 1 else None
    return None if isinstance(callee, Method) else _position_in_signature(callee)


def _position_in_signature(callee: Any) -> int | None:
    names = _positional(callee)
    return names.index("out") if "out" in names else None


@functools.lru_cache(maxsize=1024)
def _positional(callee: Any) -> tuple[str, ...]:
    """The names of the parameters that may be given by position."""
    try:
        parameters = inspect.signature(callee).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


@functools.lru_cache(maxsize=1024)
def _keyword_only(callee: Any) -> tuple[str, ...]:
    """The names of the parameters that are given by name alone; `out` among them if any name is
    taken, as of NumPy's functions that hand on what they are given."""
    parameters = inspect.signature(callee).parameters.values()
    takes_any = callee is not np.pad and (callee.__module__ or "").startswith("numpy")
    takes_any &= any(p.kind is p.VAR_KEYWORD for p in parameters)
    names = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    return (*names, "out") if takes_any else names


def _check_shape(lowering: Lowering, node: Any, result: Any, out: Any) -> None:
    axes, wanted_axes = (getattr(lowering.value(x).type, "rank", 0) for x in (result, out))
    if axes != wanted_axes:
        lowering.unsupported(
            node,
            f"a result of {axes} axes with `out=` of {wanted_axes}",
            "give `out=` an array of the shape of the result",
        )
    lowering.inline(node, array_changes.check_fits, (result, out))


def _check_layout(lowering: Lowering, node: Any, out: Ref) -> None:
    """Refuse the functions of NumPy's that take `out` in C order alone, where it is made, or
    taken, otherwise."""
    value = lowering.value(out)
    is_made = lowering.builder.definition(value) is not None
    if is_made and not is_contiguous(lowering, value):
        lowering.unsupported(
            node,
            "`np.dot` takes no `out=` that does not lie in C order",
            "use `np.matmul`, or give `out=` an array that is made in C order",
            python=ValueError,
        )


_OF_UFUNCS = (np.clip, np.outer, Method("clip"))
"""Functions whose results are broadcast to `out`, as those of ufuncs."""

_UNBUFFERED = (np.concatenate, np.stack, np.ptp)
"""Functions that store to `out` before they have read all that they are given."""


def store_result(
    lowering: Lowering,
    node: Any,
    call: tuple[Any, tuple[FrontendValue, ...]],
    result: Any,
    out: Any,
    where: Any,
) -> FrontendValue:
    """The array `out`, with a result stored in it (where the mask says so). call: the callee, and
    what it is given."""
    callee, given_items = call
    if callee in _UNBUFFERED and any(shares(lowering, item, out) for item in given_items):
        refuse_overlap(lowering, node)
    if isinstance(out, Static):
        lowering.raises(node, TypeError("return arrays must be of ArrayType"))
    if not isinstance(out, Ref):
        lowering.unsupported(
            node,
            "`where=` without an array to store in leaves the other elements undefined"
            if out is None
            else "`out=` must be one array",
            "give `out=` an array with the values wanted there",
        )
    given, wanted = (getattr(lowering.value(x).type, "dtype", None) for x in (result, out))
    check_dtype(lowering, node, out, lowering.value(result).type)
    if given != wanted and not isinstance(callee, np.ufunc):
        lowering.unsupported(
            node,
            f"the result is {given}, but `out=` is of {wanted}",
            "make `out=` of the dtype of the result, or convert with `.astype`",
        )
    if not isinstance(callee, np.ufunc) and callee not in _OF_UFUNCS:
        _check_shape(lowering, node, result, out)
    if callee in (np.dot, np.linalg.multi_dot, Method("dot")):
        _check_layout(lowering, node, out)
    if where is not None:
        choice = (where, result, out)
        result = lowering.apply_primitive(node, PRIMITIVES[np.where], np.where, choice, {})
    store(lowering, node, out, result)
    return out
