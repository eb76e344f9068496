"""What the functions that make Tensors mean inside compiled code: NumPy's, whose arrays then have
Tensor's methods. A Tensor without axes is a number there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradscribe.api.tensor_dtypes import default_dtype, dtype_of
from gradscribe.api.tensor_handlers import left_out, same, spelled
from gradscribe.frontend.calls import application
from gradscribe.frontend.containers import subscripts
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.opaque import unknown
from gradscribe.frontend.state.handlers import Handler
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, is_number
from gradscribe.ir.types import Opaque, Scalar, Type
from gradscribe.runtime.tensors import constants, creation, randomness
from gradscribe.runtime.tensors.typed_constructors import TYPED_CONSTRUCTORS

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
        wanted = dtype_of(lowering, node, dtype)
        if getattr(lowering.value(array).type, "dtype", "") != wanted.value.name:
            array = application.apply_method(lowering, node, array, "astype", (wanted,), {})
    return spelled(lowering, node, array, "tensor")


def _array_of(lowering: Lowering, node: Any, /, data: Any, dtype: Any) -> Any:
    """A new array of data: Python floats get the default floating type."""
    is_array = isinstance(data, Ref)
    if is_number(data):
        return _number_of(lowering, node, data)
    array = lowering.call(node, Static(np.array), (data,), {})
    default = default_dtype(lowering, node)
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
        dtype = default_dtype(lowering, node).value
    return lowering.call(node, Static(dtype.type), (data,), {})


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


def _at_run_time(function: Any, type_: Type) -> Handler:
    """A call that reads or changes the state of the package's generator, in the order of the
    program."""

    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return unknown.emit(lowering, function, tuple(arguments), keywords, type_)

    return handler


def _typed(made: Any) -> Handler:
    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return lowering.call(node, Static(made.make), arguments, keywords)

    return handler


HANDLERS: dict[Any, Handler] = {
    creation.finished: _finished,
    creation.taken: _taken,
    creation.array_of: _array_of,
    randomness.source: _source,
    randomness.manual_seed: _at_run_time(randomness.manual_seed, Opaque()),
    randomness.seed: _at_run_time(randomness.seed, Scalar("int64")),
    randomness.initial_seed: _at_run_time(randomness.initial_seed, Scalar("int64")),
    randomness.get_rng_state: _at_run_time(randomness.get_rng_state, Opaque()),
    randomness.set_rng_state: _at_run_time(randomness.set_rng_state, Opaque()),
    constants.check_bounds: left_out,
    creation.plain: same,
    **{made: _typed(made) for made in TYPED_CONSTRUCTORS.values()},
}
