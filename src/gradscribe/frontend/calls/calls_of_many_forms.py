"""Calls of NumPy that mean different operations, or several: `np.diag`, `np.split`, `np.array`.

`np.diag` of a vector makes a matrix, of a matrix it is a view. The parts that `np.split` gives are
the slices that they are.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from gradscribe.frontend.containers import known_integers, unpacking
from gradscribe.frontend.containers.out_arguments import store_result
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.kinds import number_classes
from gradscribe.frontend.kinds.static_values import stands_for
from gradscribe.frontend.memory import outside
from gradscribe.frontend.memory.sequences import known_items, new_list
from gradscribe.frontend.opaque import folded_calls, unknown
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state.handlers import Handler, enter, handles
from gradscribe.frontend.state.interruptions import MisfitError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.indices import as_array
from gradscribe.frontend.values.values import (
    FrontendValue,
    Ref,
    Static,
    TupleOf,
    is_number,
    known_objects,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Method, Value
from gradscribe.ir.types import INT, Array, Scalar, is_complex
from gradscribe.primitives.array_parts import cross_in_plane, out_of_plane
from gradscribe.primitives.eigenvalues import as_complex
from gradscribe.primitives.einsum import EINSUM_VIEW, axes_of_view, subscripts_of_lists
from gradscribe.primitives.orthogonal import wide_qr
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.typing import TypeRuleError


@handles(np.diag)
def _diag(
    lowering: Lowering, node: Any, /, v: FrontendValue, k: FrontendValue = Static(0)
) -> FrontendValue:
    """What NumPy calls `diagflat` or `diagonal`."""
    vector = v
    if not isinstance(vector, (Ref, Value)):
        vector = lowering.call(node, Static(np.asarray), (vector,), {})
    type_ = lowering.value(vector).type
    if not isinstance(type_, Array) or type_.rank not in (1, 2):
        lowering.raises(node, ValueError("Input must be 1- or 2-d."))
    is_vector = type_.rank == 1
    function = np.diagflat if is_vector else np.diagonal
    return lowering.apply_primitive(node, PRIMITIVES[function], function, (vector, k), {})


@handles(np.split)
def _split(
    lowering: Lowering,
    node: Any,
    /,
    ary: FrontendValue,
    indices_or_sections: FrontendValue,
    axis: FrontendValue = Static(0),
) -> FrontendValue:
    array, parts = ary, indices_or_sections
    axis = known_integers.settled(lowering, node, axis)
    if isinstance(parts, Value):
        parts = known_integers.settled(lowering, node, parts)
    if not isinstance(axis, Static):
        lowering.unsupported(
            node,
            "this call of `split` is not supported",
            "call it as `np.split(array, parts, axis)`, the axis a literal",
        )
    if stands_for(parts, int):
        count = parts.value
        if count < 1:
            lowering.raises(node, ValueError("number sections must be larger than 0"))
        bounds: list[Any] = [
            lowering.inline(node, prelude.end_of_part, (array, Static(i), parts, axis))
            for i in range(1, count)
        ]
    elif (items := _items(lowering, parts)) is not None:
        bounds = list(items)
    elif unpacking.is_counted(lowering, parts):
        bounds = list(lowering.unpacked(node, parts))
    else:
        lowering.unsupported(
            node,
            "the parts must be known when the function is compiled",
            "write them as a literal, or slice the array",
        )
    ends = [Static(None), *bounds, Static(None)]
    slices = itertools.pairwise(ends)
    return new_list(
        lowering,
        tuple(
            lowering.inline(node, prelude.part, (array, start, stop, axis))
            for start, stop in slices
        ),
    )


def _items(lowering: Lowering, item: FrontendValue) -> tuple[Any, ...] | None:
    if stands_for(item, (tuple, list)):
        return tuple(map(Static, item.value))
    return known_items(lowering, item)


@handles(np.array)
def _array(
    lowering: Lowering,
    node: Any,
    /,
    *given: FrontendValue,
    copy: FrontendValue | None = None,
    **options: FrontendValue,
) -> FrontendValue:
    """`np.array(…, copy=True)`."""
    if copy is not None and copy != Static(True):
        options["copy"] = copy
    return lowering.apply_primitive(node, PRIMITIVES[np.array], np.array, given, options)


@handles(np.diff)
def _diff(
    lowering: Lowering,
    node: Any,
    /,
    a: FrontendValue,
    n: FrontendValue = Static(1),
    axis: FrontendValue = Static(-1),
    prepend: FrontendValue = Static(None),
    append: FrontendValue = Static(None),
) -> FrontendValue:
    if known_integers.settled(lowering, node, n) == Static(0):
        return as_array(lowering, node, a)
    if (prepend, append) != (Static(None), Static(None)):
        a = lowering.inline(node, prelude.extended, (a, axis, prepend, append))
    return lowering.apply_primitive(node, PRIMITIVES[np.diff], np.diff, (a, n, axis), {})


@handles(np.size)
def _size(
    lowering: Lowering, node: Any, /, a: FrontendValue, axis: FrontendValue = Static(None)
) -> FrontendValue:
    """Of a number, 1; along an axis, a length."""
    array, axis = a, known_integers.settled(lowering, node, axis)
    known = folded_calls.folded(lowering, node, np.size, (array, axis), {})
    if known is not None:
        return known
    if not isinstance(axis, Static):
        return lowering.unsupported(node, "these axes are not supported", "pass one, as a number")
    found = unknown.asked(lowering, np.size, (array, axis), INT)
    if found is not None:
        return found
    if axis.value is not None:
        lengths = lowering.call(node, Static(np.shape), (array,), {})
        return read_item(lowering, node, lengths, axis)
    if is_number(array):
        return Static(1)
    return lowering.apply_primitive(node, PRIMITIVES[np.size], np.size, (array,), {})


@handles(np.cross)
def _cross(
    lowering: Lowering,
    node: Any,
    /,
    a: FrontendValue,
    b: FrontendValue,
    *axes: FrontendValue,
    **options: FrontendValue,
) -> FrontendValue:
    """Of two components, too."""
    operands = tuple(as_array(lowering, node, x) for x in (a, b))
    if not (axes or options):
        flat = [isinstance(x, (Ref, Value)) and _has_two(lowering, x) for x in operands]
        if all(flat):
            return lowering.inline(node, cross_in_plane, operands)
        operands = tuple(
            lowering.inline(node, out_of_plane, (x,)) if is_flat else x
            for x, is_flat in zip(operands, flat, strict=True)
        )
    given = (*operands, *axes)
    return lowering.apply_primitive(node, PRIMITIVES[np.cross], np.cross, given, options)


@handles(np.linalg.qr)
def _qr(
    lowering: Lowering, node: Any, /, a: FrontendValue, *mode: FrontendValue, **named: FrontendValue
) -> FrontendValue:
    """A wide matrix has a rule of its own."""
    matrix = as_array(lowering, node, a)
    type_ = lowering.value(matrix).type
    wide = False
    if isinstance(type_, Array) and type_.rank > 1:
        wide = lowering.builder.facts.at_least(type_.dims[-2] - type_.dims[-1], 0) is False
    primitive = PRIMITIVES[wide_qr if wide else np.linalg.qr]
    return lowering.apply_primitive(node, primitive, np.linalg.qr, (matrix, *mode), named)


def _has_two(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether the last axis has two components, which is then assumed of all calls."""
    type_, facts = lowering.value(item).type, lowering.builder.facts
    if not isinstance(type_, Array) or not type_.rank or facts.sampled(type_.dims[-1]) != 2:
        return False
    return facts.equal(type_.dims[-1], Affine.of(2)) is True


@handles(np.einsum)
def _einsum(
    lowering: Lowering, node: Any, /, *arguments: FrontendValue, **keywords: FrontendValue
) -> FrontendValue:
    """`np.einsum(x, [0, 1], y, [1], [0])`: axes by their numbers."""
    if arguments and not (isinstance(arguments[0], Static) or len(arguments) < 2):
        lists = [
            _numbers(
                lowering, known_integers.settled(lowering, node, outside.opened(lowering, item))
            )
            for item in (*arguments[1::2], *arguments[len(arguments) // 2 * 2 :])
        ]
        if None not in lists:
            text = subscripts_of_lists(lists, len(arguments) // 2)  # type: ignore[no-untyped-call]
            arguments = (Static(text), *arguments[: len(arguments) // 2 * 2 : 2])
    subscripts = arguments[0] if arguments else None
    if len(arguments) == 2 and isinstance(subscripts, Static):
        view, out = _view_of_axes(lowering, node, subscripts, arguments[1]), keywords.get("out")
        if view is not None and out not in (None, Static(None)):
            copied = lowering.call(node, Static(np.copy), (view,), {})
            return store_result(lowering, node, (np.einsum, arguments), copied, out, None)
        if view is not None:
            return view
    return lowering.apply_primitive(node, PRIMITIVES[np.einsum], np.einsum, arguments, keywords)


def _view_of_axes(
    lowering: Lowering, node: Any, subscripts: Static, operand: Any
) -> FrontendValue | None:
    """What `np.einsum` of one operand gives where it sums nothing: the view of it that NumPy gives
    then, whatever dtype and order are asked for; else None."""
    array = as_array(lowering, node, operand)
    type_ = lowering.value(array).type
    if not isinstance(type_, Array) or not type_.rank:
        return None
    try:
        found = axes_of_view(subscripts.value, type_.rank)  # type: ignore[no-untyped-call]
    except TypeRuleError:
        return None  # the call that sums tells what is wrong
    if found is None:
        return None
    axes, result = map(Static, found)
    if axes == result:
        return array
    if len(axes.value) == len(result.value):
        return lowering.call(node, Static(np.transpose), (array, result), {})
    return lowering.apply_primitive(node, EINSUM_VIEW, np.einsum, (array, axes, result), {})


def _numbers(lowering: Lowering, item: FrontendValue) -> list[Any] | None:
    """The items of a list of which all are known."""
    items = _items(lowering, item)
    return None if items is None else known_objects(items)


def _eigen(callee: Any) -> Handler:
    """`np.linalg.eig(a)` and `eigvals`, whose results are complex here whatever the values are: of
    real matrices NumPy's are complex only where a value is."""

    def handler(lowering: Lowering, node: Any, /, a: FrontendValue) -> FrontendValue:
        result = lowering.apply_primitive(node, PRIMITIVES[callee], callee, (a,), {})
        if is_complex(lowering.value(a).type):
            return result
        parts = result.items if isinstance(result, TupleOf) else (result,)
        items = tuple(_as_complex(lowering, node, part) for part in parts)
        return TupleOf(items, result.cls) if isinstance(result, TupleOf) else items[0]

    return handler


@handles(as_complex)
def _as_complex(lowering: Lowering, node: Any, /, x: FrontendValue) -> FrontendValue:
    """A conversion at run time, whatever the compiler takes x for."""
    value = lowering.value(x)
    assert isinstance(value.type, Array)
    tree = {"x": value, "dtype": np.result_type(value.type.dtype, np.complex64)}
    return lowering.wrap(lowering.emit(PRIMITIVES[as_complex], tree, Method("astype")))


@handles(np.iscomplexobj)
def _iscomplexobj(lowering: Lowering, node: Any, /, x: FrontendValue) -> FrontendValue:
    return _compare_kind(lowering, node, operator.eq, x)


@handles(np.isrealobj)
def _isrealobj(lowering: Lowering, node: Any, /, x: FrontendValue) -> FrontendValue:
    return _compare_kind(lowering, node, operator.ne, x)


def _compare_kind(lowering: Lowering, node: Any, compare: Any, x: FrontendValue) -> FrontendValue:
    """Whether `x.dtype.kind` is that of complex numbers, where `x.dtype` may be asked."""
    array = lowering.call(node, Static(np.asarray), (x,), {})
    kind = lowering.attribute(node, lowering.attribute(node, array, "dtype"), "kind")
    return lowering.call(node, Static(compare), (kind, Static("c")), {})


@handles(np.result_type)
def _result_type(lowering: Lowering, node: Any, /, *arrays_and_dtypes: FrontendValue) -> Static:
    """Known, as the types of all arrays and numbers are."""
    return Static(np.result_type(*(_kind(lowering, item) for item in arrays_and_dtypes)))


def _kind(lowering: Lowering, item: FrontendValue) -> Any:
    """A dtype, or a number of Python's, which takes on that of the others."""
    if isinstance(item, Static):
        return item.value
    type_ = lowering.value(item).type
    if not isinstance(type_, (Array, Scalar)):
        raise MisfitError("it takes arrays, numbers and dtypes", "", lowering.builder.location)
    by_user = not lowering.frame.is_of_package
    if by_user and number_classes.are_several(lowering, lowering.value(item)):
        number_classes.refuse_dtype(lowering, lowering.frame.statement)
    number = np.zeros((), type_.dtype)
    return number.item() if isinstance(type_, Scalar) and type_.weak else number.dtype


enter({callee: _eigen(callee) for callee in (np.linalg.eig, np.linalg.eigvals)})
