"""Methods of Tensor that are no functions of `gs`: conversions, new Tensors like it, changes of all
elements, protocols of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.memory_formats import contiguous_format, is_arranged
from gradscribe.runtime.arrays.rows import FUNCTION, IN_PLACE_FUNCTION, operation
from gradscribe.runtime.arrays.size import sizes as read_sizes
from gradscribe.runtime.operations import common as functions
from gradscribe.runtime.operations import (
    complex_numbers,
    indexing,
    inplace,
    numpy_protocol,
    random_fills,
    shaping,
    special,
    viewing,
)
from gradscribe.runtime.operations.accumulating import accumulate
from gradscribe.runtime.operations.eager import apply, part
from gradscribe.runtime.operations.launcher_text import INDEXED, TAKEN
from gradscribe.runtime.operations.launching import launched
from gradscribe.runtime.operations.regions import region
from gradscribe.runtime.tensors import constants, copies, creation, queries, randomness
from gradscribe.runtime.tensors.backward import tensor_backward
from gradscribe.runtime.tensors.tensor import Tensor, legacy_array, wrap


def conversion(dtype: dtypes.Dtype) -> Callable[..., Tensor]:
    def method(self: Tensor, *, memory_format: Any = None) -> Tensor:
        return functions.to_dtype(self, dtype)

    return method


def _zero_(self: Tensor) -> Tensor:
    """Set all elements to zero."""
    return _fill_(self, 0)


def _fill_(self: Tensor, value: Any) -> Tensor:
    """Set all elements to a value."""
    if isinstance(value, Tensor) and value.array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.array.ndim} dimensions."
        )
    return inplace.assign(self, value)


def _copy_(self: Tensor, source: Tensor) -> Tensor:
    """Set the elements to those of another Tensor, cast and broadcast."""
    if isinstance(source, complex) and self.array.dtype.kind != "c":
        source = source.real
    return inplace.assign(self, source, "CopyBackwards")


def _to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool = False,
    memory_format: Any = None,
    **_: Any,
) -> Tensor:
    """Converted to a dtype (or the dtype of another Tensor); there is one device."""
    for argument in args:
        if isinstance(argument, Tensor):
            dtype = argument.array.dtype
        elif isinstance(argument, (dtypes.PublicDtype, np.dtype, type)):
            dtype = argument
        elif argument is not None and not isinstance(argument, bool):
            device = argument
    if device is not None:
        dtypes.check_device(device)
    converted = self if dtype is None else functions.to_dtype(self, dtype)
    if memory_format is None or is_arranged(converted.array, memory_format):
        return functions.clone(self) if copy and converted is self else converted
    return functions.clone(converted, memory_format=memory_format)


def _type(self: Tensor, dtype: Any = None) -> Any:
    """The name of the type, as in `torch.DoubleTensor`; or converted to a dtype."""
    if dtype is None:
        return dtypes.type_name(self.dtype)
    return functions.to_dtype(self, dtypes.default() if dtype is Tensor else dtype)


def _type_as(self: Tensor, other: Tensor) -> Tensor:
    """Converted to the dtype of another Tensor."""
    return functions.to_dtype(self, other.dtype)


def _where(self: Tensor, condition: Any, other: Any) -> Tensor:
    """The elements where the condition holds, else those of `other`."""
    chosen: Tensor = functions.where(condition, self, other)
    return chosen


def _polygamma(self: Tensor, n: int) -> Tensor:
    """The derivative of `digamma` of order n."""
    return special.polygamma(n, self)


def _contiguous(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The Tensor itself, or a copy with the elements in order."""
    if self.is_contiguous(memory_format):
        return self
    return functions.clone(self, memory_format=memory_format or contiguous_format)


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if self.array.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(shaping.unbind(self))


def _reversed_axes(self: Tensor) -> Tensor:
    """The transpose: all axes reversed."""
    return shaping.reversed_axes(self)


def _adjoint_matrix(self: Tensor) -> Tensor:
    """The transpose of a matrix, conjugated."""
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
        )
    return viewing.adjoint(self) if self.ndim else self


def _reversed(self: Tensor) -> Tensor:
    """The first axis in the other direction."""
    return shaping.flip(self, 0) if self.ndim else self


def _set_real(self: Tensor, value: Any) -> None:
    inplace.assign(complex_numbers.real(self), value)


def _set_imag(self: Tensor, value: Any) -> None:
    inplace.assign(complex_numbers.imag(self), value)


def _matrix_transpose(self: Tensor) -> Tensor:
    """The last two axes exchanged."""
    if self.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return shaping.transpose(self, -1, -2) if self.ndim else self


def _new(make: Any) -> Any:
    """`x.new_zeros(…)` and its kind, of the same dtype where none is named."""

    def method(self: Tensor, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        made: Tensor = make(*args, dtype=self.array.dtype if dtype is None else dtype, **options)
        return made

    method.__doc__ = f"`{make.__name__}`, of the same dtype where none is named."
    return method


def _new_legacy(self: Tensor, *data: Any) -> Tensor:
    """Legacy: a Tensor of the same dtype, of data or of these sizes."""
    return wrap(legacy_array(data, self.array.dtype))


def _fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the elements of the main diagonal to a value. wrap: of a tall matrix, again after the
    last column."""
    shape = self.array.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len({*shape}) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    tall = len(shape) == 2 and shape[0] > shape[1]
    rows = np.arange(shape[0] if wrap and tall else min(shape))
    if wrap and tall:
        rows = rows[(rows % (shape[1] + 1)) < shape[1]]
        place: Any = rows, rows % (shape[1] + 1)
    else:
        place = (rows,) * len(shape)
    indexing.setitem(self, place, fill_value)
    return self


def _set_(self: Tensor, *source: Any, **_: Any) -> Tensor:
    """Refused: a Tensor keeps its memory."""
    raise UnsupportedError(
        "`set_`, which gives a Tensor other memory", "make a new Tensor, or use `copy_`"
    )


def _resize_as_(self: Tensor, the_template: Tensor, **_: Any) -> Tensor:
    """`resize_` to the shape of another Tensor."""
    return _resize_(self, the_template.array.shape)


def _resize_(self: Tensor, *sizes: Any, **_: Any) -> Tensor:
    """Refused where the shape is another one: a Tensor keeps its memory."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if read_sizes(sizes) == self.array.shape:
        return self
    raise UnsupportedError(
        "`resize_`, which gives a Tensor other memory", "make a new Tensor, or use `reshape`"
    )


def _apply_(self: Tensor, function: Callable[..., Any], *others: Tensor, name: str) -> Tensor:
    """Set each element to what a function of Python makes of it, and of others in its place."""
    if any(tensor.requires_grad for tensor in (self, *others)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    arrays = np.broadcast_arrays(self.array, *(other.array for other in others))
    found = [function(*items) for items in zip(*(a.ravel().tolist() for a in arrays), strict=True)]
    return inplace.assign(self, np.array(found, self.array.dtype).reshape(self.array.shape))


def _map_each_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Set each element to what a function of Python makes of it."""
    return _apply_(self, callable, name="apply_")


def _map_pairs_(self: Tensor, tensor: Tensor, callable: Callable[..., Any]) -> Tensor:
    """Set each element to what a function makes of it and of another's element."""
    return _apply_(self, callable, tensor, name="map_")


def _map_triples_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[..., Any]) -> Tensor:
    """Set each element to what a function makes of it and of two others' elements."""
    return _apply_(self, callable, x, y, name="map2_")


def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same elements of the same memory, in the same shape."""
    first, second = self.array, tensor.array
    where = [(a.ctypes.data, a.shape, a.strides) for a in (first, second)]
    return where[0] == where[1]


def _new_empty_strided(self: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    """`empty_strided`, of the same dtype where none is named."""
    return constants.empty_strided(size, stride, **{"dtype": self.dtype, **options})


def _refuse_deleting(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


_KINDS_OF_OTHERS = [
    "is_cuda",
    "is_ipu",
    "is_maia",
    "is_meta",
    "is_mkldnn",
    "is_mps",
    "is_mtia",
    "is_nested",
    "is_quantized",
    "is_sparse",
    "is_sparse_csr",
    "is_vulkan",
    "is_xla",
    "is_xpu",
]


def _as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """A view of the whole Tensor that is an instance of a class of the user's, without a call of
    its `__init__`. What is computed of it are Tensors as ever."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise RuntimeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    alias: Tensor = apply(indexing.ALIAS, (self,), ((Ellipsis,),))
    alias.__class__ = cls
    return alias


@operation(FUNCTION | IN_PLACE_FUNCTION, shapes="(…) -> (…)")
def fill(input: Tensor, value: Any) -> Tensor:
    """A copy with all elements set to a value."""
    return _fill_(input.clone(), value)


@operation(FUNCTION | IN_PLACE_FUNCTION, shapes="(…) -> (…)")
def detach(input: Tensor) -> Tensor:
    """A view outside the graph."""
    return input.detach()


operation(IN_PLACE_FUNCTION, name="zero", shapes="(…) -> (…)")(_zero_)


_getitem = launched(launched(indexing.getitem, INDEXED, indexing.GETITEM), TAKEN, indexing.SLICE)


METHODS: dict[str, Any] = {
    "_accumulate": accumulate,
    "_part": part,
    "_region": region,
    "as_subclass": _as_subclass,
    "backward": tensor_backward,
    "zero_": _zero_,
    "fill_": _fill_,
    "copy_": _copy_,
    "set_": _set_,
    "resize_": _resize_,
    "resize_as_": _resize_as_,
    **dict.fromkeys(_KINDS_OF_OTHERS, property(lambda self: False)),
    "name": property(lambda self: None),
    "apply_": _map_each_,
    "map_": _map_pairs_,
    "map2_": _map_triples_,
    "is_set_to": _is_set_to,
    "is_pinned": queries.is_distributed,
    "is_shared": queries.is_distributed,
    "to_dense": queries.resolve_conj,
    "is_cpu": property(lambda self: True),
    "bernoulli": randomness.bernoulli,
    "bernoulli_": random_fills.bernoulli_,
    "cauchy_": random_fills.cauchy_,
    "exponential_": random_fills.exponential_,
    "geometric_": random_fills.geometric_,
    "log_normal_": random_fills.log_normal_,
    "multinomial": randomness.multinomial,
    "random_": random_fills.random_,
    "uniform_": random_fills.uniform_,
    "normal_": random_fills.normal_,
    "to": _to,
    "type": _type,
    "type_as": _type_as,
    "where": _where,
    "polygamma": _polygamma,
    "contiguous": _contiguous,
    "T": property(_reversed_axes),
    "mT": property(_matrix_transpose),
    "H": property(_adjoint_matrix),
    "mH": property(viewing.adjoint),
    "real": property(complex_numbers.real, _set_real),
    "imag": property(complex_numbers.imag, _set_imag),
    "new": _new_legacy,
    "new_empty": _new(constants.empty),
    "new_empty_strided": _new_empty_strided,
    "new_full": _new(constants.full),
    "new_ones": _new(constants.ones),
    "new_tensor": _new(creation.tensor),
    "new_zeros": _new(constants.zeros),
    "fill_diagonal_": _fill_diagonal_,
    "__iter__": _iterate,
    "__reversed__": _reversed,
    "__deepcopy__": copies.deepcopied,
    "__reduce__": copies.reduced,
    "__getitem__": _getitem,
    "__delitem__": _refuse_deleting,
    "__setitem__": indexing.setitem,
    "__array_ufunc__": numpy_protocol.array_ufunc,
    "__array_function__": numpy_protocol.array_function,
}

CONVERSIONS: dict[str, dtypes.Dtype] = {
    "double": dtypes.float64,
    "float": dtypes.float32,
    "half": dtypes.float16,
    "long": dtypes.int64,
    "int": dtypes.int32,
    "short": dtypes.int16,
    "char": dtypes.int8,
    "byte": dtypes.uint8,
    "bool": dtypes.bool_,
    "cdouble": dtypes.complex128,
    "cfloat": dtypes.complex64,
}
"""The methods that convert to a dtype."""
