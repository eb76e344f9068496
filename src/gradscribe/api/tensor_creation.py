"""What the functions that make Tensors mean inside compiled code: NumPy's, whose arrays then have
Tensor's methods. A Tensor without axes is a number there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api.tensor_handlers import cut, left_out, same, spelled
from gradscribe.compiler.keys import KEYS
from gradscribe.frontend.calls import application
from gradscribe.frontend.containers import subscripts
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.memory import outside
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, is_number
from gradscribe.ir.types import Opaque, Scalar, Type
from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.operations import distinct
from gradscribe.runtime.tensors import creation, randomness
from gradscribe.runtime.tensors.queries import is_tensor
from gradscribe.runtime.tensors.tensor import Tensor

_NONE, _FALSE = Static(None), Static(False)


def _finished(
    lowering: Lowering,
    node: Any,
    array: Any,
    dtype: Any = _NONE,
    device: Any = _NONE,
    requires_grad: Any = _FALSE,
) -> Any:
    """A new Tensor of an array that was made for it."""
    if static_values.object_of(lowering, node, requires_grad):
        lowering.unsupported(
            node,
            "a Tensor with `requires_grad=True` that is made inside of compiled code",
            "make it outside, and pass it or capture it",
        )
    if lowering.has_tensors:
        array = subscripts.cut(lowering, array)
    return _taken(lowering, node, array, dtype)


def _taken(
    lowering: Lowering, node: Any, array: Any, dtype: Any = _NONE, device: Any = _NONE
) -> Any:
    """A Tensor of an array that is no Tensor; derivatives pass through."""
    if static_values.object_of(lowering, node, dtype) is not None:
        wanted = _dtype(lowering, node, dtype)
        if getattr(lowering.value(array).type, "dtype", "") != wanted.value.name:
            array = application.apply_method(lowering, node, array, "astype", (wanted,), {})
    return spelled(lowering, node, array, "tensor")


def _array_of(lowering: Lowering, node: Any, /, data: Any, dtype: Any) -> Any:
    """A new array of data: Python floats get the default floating type."""
    is_array = isinstance(data, Ref)
    if is_number(data):
        return _number_of(lowering, node, data)
    array = lowering.call(node, Static(np.array), (data,), {})
    default = _default_dtype(lowering, node)
    if is_array or static_values.object_of(lowering, node, dtype) is not None:
        return array
    type_ = lowering.value(array).type
    if getattr(type_, "dtype", None) == "float64" != default.value.name:
        return application.apply_method(lowering, node, array, "astype", (default,), {})
    return array


def _number_of(lowering: Lowering, node: Any, data: Any) -> Any:
    """A Tensor without axes is NumPy's number here."""
    type_ = lowering.value(data).type
    assert isinstance(type_, Scalar)
    dtype = np.dtype(type_.dtype)
    if type_.weak and dtype.kind == "f":
        dtype = _default_dtype(lowering, node).value
    return lowering.call(node, Static(dtype.type), (data,), {})


def _default_dtype(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    return outside.external(
        lowering, dtypes.default(), AccessPath(vars(dtypes)).item("_default"), "dtype"
    )


def _dtype(lowering: Lowering, node: Any, item: Any, /) -> Any:
    _default_dtype(lowering, node)
    return Static(dtypes.to_dtype(static_values.object_of(lowering, node, item)))


def _source(lowering: Lowering, node: Any, /, *arguments: Any) -> Any:
    """The package's generator, which `manual_seed` replaces: asked for at each call; or NumPy's
    that is given."""
    given = [item for item in arguments if getattr(item, "value", item) is not None]
    if given and not all(map(unknown.is_opaque, given)):
        lowering.unsupported(
            node,
            "a generator of the package in compiled code",
            "use `gs.manual_seed`, or give it `np.random.default_rng(seed)`",
        )
    type_ = Opaque(np.random.Generator)
    return unknown.emit(lowering, randomness.source, tuple(given), {}, type_)


def _at_run_time(function: Any, type_: Type) -> handlers.Handler:
    """A call that reads or changes the state of the package's generator, in the order of the
    program."""

    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return unknown.emit(lowering, function, tuple(arguments), keywords, type_)

    return handler


HANDLERS: dict[Any, handlers.Handler] = {
    distinct.recorded: cut,
    creation.finished: _finished,
    creation.taken: _taken,
    creation._array_of: _array_of,
    randomness.source: _source,
    randomness.manual_seed: _at_run_time(randomness.manual_seed, Opaque()),
    randomness.seed: _at_run_time(randomness.seed, Scalar("int64")),
    randomness.initial_seed: _at_run_time(randomness.initial_seed, Scalar("int64")),
    randomness.get_rng_state: _at_run_time(randomness.get_rng_state, Opaque()),
    randomness.set_rng_state: _at_run_time(randomness.set_rng_state, Opaque()),
    creation.check_bounds: left_out,
    creation._plain: same,
    dtypes.default: _default_dtype,
    dtypes.get_default_dtype: _default_dtype,
    dtypes.to_dtype: _dtype,
}


def _typed(made: Any) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return lowering.call(node, Static(made.make), arguments, keywords)

    return handler


def _is_tensor(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """`gs.is_tensor(x)`"""
    item = next(iter((*arguments, *keywords.values())))
    return lowering.call(node, Static(isinstance), (item, Static(Tensor)), {})


handlers.enter({is_tensor: _is_tensor})
handlers.enter(HANDLERS)
for _class in creation.TYPED_CONSTRUCTORS.values():
    handlers.enter({_class: _typed(_class)})
outside.CONSTANTS.add(dtypes.PublicDtype)
KEYS[dtypes.PublicDtype] = lambda dtype: (dtypes.PublicDtype, dtype)
