"""Calls of primitives: arguments are bound by the signature; views stay views; a result goes to
`out`."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from gradscribe.errors import UnknownTypeError
from gradscribe.frontend.calls import arranging, inlining, options, powers
from gradscribe.frontend.containers import array_likes, known_integers, object_arrays, out_arguments
from gradscribe.frontend.containers.subscripts import cut
from gradscribe.frontend.kinds import tensors
from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import contiguity, outside, sharing
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.prelude import prelude
from gradscribe.frontend.state import known_inputs, wording
from gradscribe.frontend.state.interruptions import MisfitError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import (
    PLAIN_NUMBERS,
    FrontendValue,
    ListRef,
    Ref,
    Static,
    Storage,
    TupleOf,
)
from gradscribe.ir.core import Linearity, Method, Primitive, Value
from gradscribe.ir.types import Array, is_complex
from gradscribe.primitives.control import CONSTANT, RUN
from gradscribe.primitives.indexing import READ_ONLY
from gradscribe.primitives.real_numbers import KINDS_BY_VALUE
from gradscribe.primitives.registry import METHODS, NAMED, PRIMITIVES, VARIANTS, class_of_results
from gradscribe.primitives.shaping import respelled
from gradscribe.primitives.typing import elementwise_type

_ONE_TUPLE = {"reshape": "shape", "transpose": "axes"}
"""Methods that take their tuple also as separate arguments."""

_CONVERSIONS = (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
"""Functions that return their argument, or a copy if that is of another dtype."""

_MAKING = (np.array, np.asarray, np.asanyarray)
"""Functions that say by `copy` whether they give an array of its own."""

_ARRAYS_OF = (np.array, *_CONVERSIONS)
"""Functions that give NumPy's arrays, of Tensors, too."""

_OF_ARRAYS = frozenset({"copy", "ndmin", "subok"})
"""Options of `np.array` that say whether, and in which form, a new array is made."""

_STATIC = frozenset(
    {"axis", "axes", "axis1", "axis2", "source", "destination", "shape", "dtype", "keepdims"}
    | {"offset", "ddof", "order", "index", "path", "decimals", "endpoint"}
)
"""Parameters of primitives that stay static where the program gives a constant."""


def apply_method(
    lowering: Lowering,
    node: Any,
    receiver: FrontendValue,
    name: str,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """`receiver.name(...)` for a method or attribute that is a primitive."""
    if name == "copy":
        keywords = {**dict(zip(("order",), arguments, strict=False)), **keywords}
        arguments = arguments[1:]
    if name in _ONE_TUPLE and len(arguments) > 1:
        arguments = (TupleOf(arguments),)
    return apply_primitive(
        lowering, node, METHODS[name], Method(name), (receiver, *arguments), keywords
    )


def apply_primitive(
    lowering: Lowering,
    node: Any,
    primitive: Primitive,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """Emit a primitive, its arguments bound by its signature; its result goes to `out`."""
    assert primitive.signature is not None
    objects = object_arrays.made(lowering, node, callee, arguments, keywords)
    if objects is not None:
        return objects
    if getattr(callee, "__module__", None) == "math":
        arguments = tuple(_real_part(lowering, node, argument) for argument in arguments)
    if callee in _ARRAYS_OF and arguments and tensors.is_tensor(lowering, arguments[0]):
        spelling = (arguments[0], Static("numpy"))
        respell = PRIMITIVES[respelled]
        array = apply_primitive(lowering, node, respell, respelled, spelling, {})
        arguments = (array, *arguments[1:])
    if callee in _MAKING and not keywords.keys().isdisjoint(_OF_ARRAYS):
        return _array(lowering, node, callee, arguments, keywords)
    if callee in arranging.CONVERSIONS:
        arranged, arguments, keywords = arranging.of_order(lowering, callee, arguments, keywords)
        if arranged is not callee:
            how = PRIMITIVES[arranged]
            found = apply_primitive(lowering, node, how, arranged, arguments, keywords)
            if callee is np.asarray_chkfinite:
                found = apply_primitive(lowering, node, primitive, callee, (found,), {})
            return found
    out, where, arguments, keywords = out_arguments.destination(
        lowering, node, callee, arguments, keywords
    )
    if out is not None or where is not None:
        given = (*arguments, *keywords.values())
        with lowering.exceptions.storing_partly():  # it raises when all is stored
            result = apply_primitive(lowering, node, primitive, callee, arguments, keywords)
        return out_arguments.store_result(lowering, node, (callee, given), result, out, where)
    variant = VARIANTS.get(callee.name if isinstance(callee, Method) else callee)
    asked = (arguments, keywords)
    has_order = options.says_how_it_lies(callee, keywords)
    is_reordered = options.says_c_order(callee, keywords)
    lowering.layouts.are_asked |= has_order
    keywords = options.essential(callee, primitive.signature, variant, keywords)
    if isinstance(callee, np.ufunc) and "dtype" in keywords:
        dtype = keywords.pop("dtype")
        _check_loop(lowering, node, callee, arguments, dtype)
        arguments = tuple(lowering.inline(node, prelude.converted, (a, dtype)) for a in arguments)
    keywords = _by_own_names(callee, primitive.signature, keywords)
    try:
        bound = primitive.signature.bind(*arguments, **keywords)
    except TypeError as error:
        if variant is not None:
            return inlining.made_of(lowering, node, callee, variant, arguments, keywords)
        lowering.unsupported(
            node,
            f"this call of `{wording.name_of(callee)}` is not supported: {error}",
            f"call it as {wording.name_of(callee)}{_call_form(primitive.signature)}",
        )
    result = _emitted(lowering, node, primitive, callee, bound)
    if is_reordered and isinstance(result, Ref):
        has_order = not contiguity.is_contiguous(lowering, lowering.load(result))
    if not has_order or "order" in keywords:
        return result
    return _as_asked(lowering, primitive, callee, asked, result)


def _as_asked(
    lowering: Lowering,
    primitive: Primitive,
    callee: Any,
    asked: tuple[tuple[Any, ...], dict[str, Any]],
    result: FrontendValue,
) -> FrontendValue:
    """An array in the order of memory that it is asked for, if it is new and nothing in it is
    differentiated: unread code may ask how it lies. Of other arrays that is forgotten."""
    type_ = lowering.value(result).type if isinstance(result, Ref) else None
    if not isinstance(result, Ref) or not isinstance(type_, Array) or type_.rank < 2:
        return result
    is_new = not result.path and not primitive.view
    if is_new and not any(may_vary(lowering, item) for item in (*asked[0], *asked[1].values())):
        return unknown.emit(lowering, callee, *asked, type_, RUN)
    lowering.layouts.are_forgotten = True
    return result


def _real_part(lowering: Lowering, node: Any, item: FrontendValue) -> FrontendValue:
    """What functions of `math`, which ask for a float, compute with: complex numbers of NumPy
    give their real part, Python's raise."""
    if isinstance(item, Value) and is_complex(item.type) and not getattr(item.type, "weak", True):
        return apply_primitive(lowering, node, PRIMITIVES[float], float, (item,), {})
    return item


def _emitted(
    lowering: Lowering, node: Any, primitive: Primitive, callee: Any, bound: inspect.BoundArguments
) -> FrontendValue:
    """Emit a primitive; what it gives may be a view of an argument, or one itself."""
    tree = _trees(lowering, node, primitive, callee, bound)
    given = wording.values_in(tree)
    if any(map(unknown.holds_state, given)) and not any(
        may_vary(lowering, item, surely=True) for item in given
    ):
        type_ = lowering.type_of(primitive, tree, callee)
        return unknown.call(lowering, node, callee, bound.args, bound.kwargs, type_)
    first = next(iter(bound.arguments.values()), None)
    if isinstance(first, Ref):
        if callee in _OF_COMPLEX and not is_complex(lowering.load(first).type):
            return first
        if primitive is PRIMITIVES[np.imag] and not is_complex(lowering.load(first).type):
            zeros = PRIMITIVES[np.zeros_like]
            zero = apply_primitive(lowering, node, zeros, np.zeros_like, (first,), {})
            made = lowering.array(lowering.value(zero))
            made.storage.read_only = True
            return made
        if primitive.view:
            return _view(lowering, primitive, callee, first, tree)
    try:
        result = lowering.wrap(lowering.emit(primitive, tree, callee))
        if isinstance(result, Ref) and not primitive.elementwise:
            _refuse_objects(lowering, node, tree)
        if primitive.name in READ_ONLY and isinstance(result, Ref):
            result.storage.read_only = True
        if callee in powers.POWERS:
            powers.check_kind(lowering, tree, result)
        check = KINDS_BY_VALUE.get(primitive)
        if check is not None and isinstance(result, Ref) and not lowering.frame.is_of_package:
            value = lowering.load(result)
            if not is_complex(value.type):
                lowering.plain(PRIMITIVES[check], {"x": value})
        return _named_results(callee, result) if isinstance(result, TupleOf) else result
    except (MisfitError, UnknownTypeError) as error:
        error.location = lowering.location(node)
        raise


def _refuse_objects(lowering: Lowering, node: Any, tree: dict[str, Any]) -> None:
    """An integer beyond 64 bits: the array that NumPy makes of it is one of Python's objects."""
    for given in wording.values_in(tree):
        made = lowering.builder.definition(given)
        number = made.attributes["value"] if made and made.primitive is CONSTANT else None
        if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64:
            lowering.unsupported(
                node,
                f"NumPy makes an array of Python objects of the integer {number}, beyond 64 bits",
                f"write it as a float: {float(number)}" if abs(number) < 1e300 else "leave it out",
            )


def _trees(
    lowering: Lowering, node: Any, primitive: Primitive, callee: Any, bound: inspect.BoundArguments
) -> dict[str, Any]:
    """The arguments of a primitive as it takes them, by name; in `bound`, arrays are made of what
    stands for one."""
    given = set(bound.arguments)
    for name in given & (known_integers.NAMES | primitive.static):
        bound.arguments[name] = known_integers.settled(lowering, node, bound.arguments[name])
    bound.arguments = array_likes.converted(
        lowering, node, primitive, callee, bound.arguments, _STATIC
    )
    bound.apply_defaults()
    tree: dict[str, Any] = {}
    for parameter in bound.signature.parameters.values():
        item = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL and parameter.name in given:
            item = TupleOf(item)
        tree[parameter.name] = (
            _argument(lowering, node, primitive, callee, parameter.name, item)
            if parameter.name in given
            else item
        )
    return tree


def _named_results(callee: Any, results: TupleOf) -> TupleOf:
    return TupleOf(results.items, class_of_results(callee)) if callee in NAMED else results


_OF_COMPLEX = (Method("conj"), Method("conjugate"))
"""The methods that give an array itself, if it is real (the functions give a copy)."""


def _array(
    lowering: Lowering, node: Any, callee: Any, arguments: tuple[FrontendValue, ...], keywords: Any
) -> FrontendValue:
    """`np.array(x, copy=…, ndmin=…)`: without `copy`, what `np.asarray` gives; with more axes in
    front, if it has fewer than `ndmin`."""
    given: dict[str, Any] = {
        name: known_option(lowering, node, name, keywords[name])
        for name in _OF_ARRAYS & keywords.keys()
    }
    rest = {name: item for name, item in keywords.items() if name not in given}
    copy = given.get("copy", True if callee is np.array else None)
    if not isinstance(copy, np._CopyMode):
        modes = np._CopyMode.ALWAYS, np._CopyMode.NEVER
        copy = np._CopyMode.IF_NEEDED if copy is None else modes[not copy]
    is_copy, is_never = copy is np._CopyMode.ALWAYS, copy is np._CopyMode.NEVER
    result = lowering.call(node, Static(np.array if is_copy else np.asarray), arguments, rest)
    if is_never and not _is_view_of(result, arguments[0]):
        what = "Unable to avoid copy while creating an array as requested."
        lowering.raises(node, ValueError(what))
    rank = getattr(lowering.value(result).type, "rank", 0)
    for _ in range(given.get("ndmin", 0) - rank):
        result = lowering.call(node, Static(np.expand_dims), (result, Static(0)), {})
    return result


def _is_view_of(result: Any, item: FrontendValue) -> bool:
    return isinstance(item, Ref) and isinstance(result, Ref) and result.storage is item.storage


def _check_loop(
    lowering: Lowering,
    node: Any,
    callee: np.ufunc,
    arguments: tuple[FrontendValue, ...],
    dtype: Any,
) -> None:
    """Raise what NumPy raises where a function has no loop for a dtype."""
    wanted = dtype.value if isinstance(dtype, Static) else None
    if wanted is None:
        return
    try:
        with np.errstate(all="ignore"):
            callee(*(np.ones((), wanted) for _ in arguments), dtype=wanted)
    except TypeError as error:
        lowering.raises(node, error)


def known_option(lowering: Lowering, node: Any, name: str, item: FrontendValue) -> Any:
    """The value of an option of a call, which has to be known."""
    if isinstance(item, Static):
        return item.value
    known_inputs.demand(lowering, item)
    return lowering.unsupported(
        node, f"`{name}` must be known when the function is compiled", "write its value"
    )


def _argument(
    lowering: Lowering, node: Any, primitive: Primitive, callee: Any, name: str, item: FrontendValue
) -> Any:
    """One bound argument as an attribute tree with IR values in it."""
    item = outside.opened(lowering, item)
    if isinstance(item, Static):
        has_no_rule = primitive.adjoint is None and not isinstance(primitive.tangent, Linearity)
        runs_static = has_no_rule or primitive is PRIMITIVES[np.arange]  # literals tell its length
        if name in _STATIC or name in primitive.static or not isinstance(item.value, PLAIN_NUMBERS):
            return item.value
        if runs_static and not primitive.elementwise and not _elementwise_constant(primitive):
            return item.value
        return lowering.constant(item.value)
    is_no_dtype = name == "dtype" and _is_unknown(lowering, item)
    if isinstance(item, TupleOf) and not is_no_dtype:
        return tuple(_argument(lowering, node, primitive, callee, name, i) for i in item.items)
    items = known_items(lowering, item)
    if items is not None and not is_no_dtype:
        return [_argument(lowering, node, primitive, callee, name, i) for i in items]
    if isinstance(item, (Value, Ref, ListRef)) and not is_no_dtype:
        return lowering.value(item)
    return lowering.unsupported(
        node,
        f"this argument of {wording.operation(primitive, callee)} is not supported",
        "pass numbers, arrays, or tuples and lists of them",
    )


def _is_unknown(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether this is a tuple or list that is empty, or holds what is computed."""
    items = known_items(lowering, item) or ()
    is_known = bool(items) and not any(isinstance(part, (Value, Ref)) for part in items)
    return isinstance(item, (TupleOf, ListRef)) and not is_known


def _elementwise_constant(primitive: Primitive) -> bool:
    """Whether this is a comparison or the like: operands without derivative."""
    return primitive.type_rule is elementwise_type


def _view(
    lowering: Lowering, primitive: Primitive, callee: Any, owner: Ref, tree: dict[str, Any]
) -> FrontendValue:
    """A view: later stores through it, or to its base, are seen through both. What may be a copy is
    an array of its own that may overlap the base."""
    arguments = dict(tree)
    arguments.pop(next(iter(tree)))
    certain = arranging.is_view(lowering, primitive, callee, owner, tree)
    if callee in _CONVERSIONS:
        type_ = lowering.load(owner).type
        assert isinstance(type_, Array)
        if isinstance(arguments["dtype"], Value):
            unknown.refuse(lowering, lowering.frame.statement)
        if np.dtype(arguments["dtype"] or type_.dtype) != np.dtype(type_.dtype):
            return arranging.arranged(lowering, primitive, callee, tree)
        if certain and type_.rank and type_.spelling == "numpy":
            return owner
    if not certain:
        made = arranging.arranged(lowering, primitive, callee, tree)
        if arranging.is_copy(lowering, callee, owner, tree):
            return made

        def shares(base: Storage) -> Value | None:
            if "shape" not in tree:
                return sharing.lies_in_order(lowering, owner, arranging.order_of(callee, tree))
            type_ = lowering.value(made).type
            return sharing.is_reshaped_in_place(
                lowering, owner, type_, tree["shape"], tree["order"]
            )

        return sharing.link(lowering, made, [owner.storage], shares)
    view = Ref(owner.storage, (*owner.path, (primitive, arguments, callee)))
    value = lowering.load(view)
    found = view if isinstance(value.type, Array) else value
    return cut(lowering, found) if lowering.modes.cutting else found


def _by_own_names(
    callee: Any, signature: inspect.Signature, keywords: dict[str, FrontendValue]
) -> dict[str, Any]:
    """Keywords by the primitive's parameters, where the callee has other names for them."""
    if keywords.keys() <= signature.parameters.keys():
        return keywords
    positional = [n for n, p in signature.parameters.items() if p.kind is not p.KEYWORD_ONLY]
    names = dict(zip(_parameters_of(callee), positional, strict=False))
    return {
        names.get(name, name) if name not in signature.parameters else name: item
        for name, item in keywords.items()
    }


@functools.cache
def _parameters_of(callee: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(callee).parameters)
    except (TypeError, ValueError):
        return ()


def _call_form(signature: inspect.Signature) -> str:
    """A signature without annotations, as one would write the call."""
    return str(signature.replace(return_annotation=inspect.Signature.empty))
