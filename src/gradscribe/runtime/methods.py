"""Attaches operators and methods to Tensor: the same functions as in the `gs` namespace.

Imported once, by the package; everything here stands above `tensor.py`, which therefore cannot
name it in the class body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.runtime import (
    dtypes,
    functions,
    indexing,
    inplace,
    numpy_protocol,
    randomness,
    shaping,
)
from gradscribe.runtime.adaptors import PUBLIC_MODULE
from gradscribe.runtime.backward import tensor_backward
from gradscribe.runtime.size import sizes
from gradscribe.runtime.tensor import Tensor, wrap

Function = Callable[..., Any]

# fmt: off
_NO_METHODS = {
    "array_equal", "axis_of", "cat", "concat", "concatenate", "is_tensor", "logsigmoid", "softplus",
    "stack", "to_dtype", "where",
}
# fmt: on
"""The functions of the table that are not methods, too."""

# fmt: off
_IN_PLACE = (
    "abs", "acos", "add", "asin", "atan", "ceil", "clamp", "clip", "cos", "cosh", "div", "exp",
    "expm1", "floor", "floor_divide", "fmod", "log", "log10", "log1p", "log2", "masked_fill",
    "mul", "neg", "pow", "reciprocal", "relu", "remainder", "round", "rsqrt", "sigmoid", "sign",
    "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "trunc",
)
# fmt: on
"""The methods that have an in-place form, `x.name_(...)`."""

_OPERATORS: dict[str, Function] = {
    "add": functions.add,
    "sub": functions.sub,
    "mul": functions.mul,
    "truediv": functions.div,
    "floordiv": functions.floor_divide,
    "mod": functions.remainder,
    "pow": functions.pow,
    "matmul": functions.matmul,
    "and": functions.bitwise_and,
    "or": functions.bitwise_or,
    "xor": functions.bitwise_xor,
}
"""Binary operators: each has a reflected and an in-place form."""

_COMPARISONS: dict[str, Function] = {
    "lt": functions.lt,
    "le": functions.le,
    "gt": functions.gt,
    "ge": functions.ge,
    "eq": functions.eq,
    "ne": functions.ne,
}

_UNARY: dict[str, Function] = {
    "neg": functions.neg,
    "pos": functions.positive,
    "abs": functions.abs,
    "invert": functions.bitwise_not,
}

_OPERANDS = (Tensor, int, float, complex, np.ndarray, np.generic)


def _operator(function: Function) -> Function:
    def method(self: Tensor, other: Any) -> Any:
        return function(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    return method


def _reflected(function: Function) -> Function:
    def method(self: Tensor, other: Any) -> Any:
        return function(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    return method


def _in_place(function: Function) -> Function:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return inplace.update(self, function, *args, **kwargs)

    return method


def _conversion(dtype: dtypes.Dtype) -> Function:
    def method(self: Tensor) -> Tensor:
        return functions.to_dtype(self, dtype)

    return method


# --- methods that are no functions ------------------------------------------------------------


def _zero_(self: Tensor) -> Tensor:
    """Set all elements to zero."""
    return _fill_(self, 0)


def _fill_(self: Tensor, value: Any) -> Tensor:
    """Set all elements to a value."""
    return inplace.assign(self, value)


def _copy_(self: Tensor, source: Tensor) -> Tensor:
    """Set the elements to those of another Tensor, cast and broadcast."""
    return inplace.assign(self, source)


def _to(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    """Converted to a dtype (or the dtype of another Tensor); there is one device."""
    for argument in args:
        if isinstance(argument, Tensor):
            dtype = argument.array.dtype
        elif argument is not None and argument != "cpu":
            dtype = argument
    return self if dtype is None else functions.to_dtype(self, dtype)


def _type(self: Tensor, dtype: Any = None) -> Any:
    """The name of the type, as in `torch.DoubleTensor`; or converted to a dtype."""
    return dtypes.type_name(self.dtype) if dtype is None else functions.to_dtype(self, dtype)


def _type_as(self: Tensor, other: Tensor) -> Tensor:
    """Converted to the dtype of another Tensor."""
    return functions.to_dtype(self, other.dtype)


def _where(self: Tensor, condition: Any, other: Any) -> Tensor:
    """The elements where the condition holds, else those of `other`."""
    chosen: Tensor = functions.where(condition, self, other)
    return chosen


def _contiguous(self: Tensor) -> Tensor:
    """The Tensor itself, or a copy with the elements in order."""
    return self if self.is_contiguous() else functions.clone(self)


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if self.array.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(shaping.unbind(self))


def _reversed_axes(self: Tensor) -> Tensor:
    """The transpose: all axes reversed."""
    return shaping.permute(self, *reversed(range(self.ndim)))


def _reversed(self: Tensor) -> Tensor:
    """All axes in the other direction."""
    return shaping.flip(self, *range(self.ndim))


def _matrix_transpose(self: Tensor) -> Tensor:
    """The last two axes exchanged."""
    return shaping.transpose(self, -1, -2)


def _new_zeros(self: Tensor, *shape: Any) -> Tensor:
    """Zeros of the same dtype."""
    return wrap(np.zeros(sizes(shape), self.dtype))


def _new_ones(self: Tensor, *shape: Any) -> Tensor:
    """Ones of the same dtype."""
    return wrap(np.ones(sizes(shape), self.dtype))


def _set_(self: Tensor, *source: Any, **_: Any) -> Tensor:
    """Refused: a Tensor keeps its memory."""
    raise UnsupportedError(
        "`set_`, which gives a Tensor other memory", "make a new Tensor, or use `copy_`"
    )


def _resize_(self: Tensor, *sizes: Any, **_: Any) -> Tensor:
    """Refused: a Tensor keeps its memory."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    raise UnsupportedError(
        "`resize_`, which gives a Tensor other memory", "make a new Tensor, or use `reshape`"
    )


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    copy = wrap(self.array.copy())
    copy.needs_grad = self.needs_grad
    memo[id(self)] = copy
    if self.grad is not None:
        copy._grad = _deepcopy(self.grad, memo)
    return copy


def _rebuild(array: Any, requires_grad: bool) -> Tensor:
    tensor = wrap(array)
    tensor.needs_grad = requires_grad
    return tensor


def _reduce(self: Tensor) -> Any:
    return _rebuild, (self.array, self.requires_grad and self.is_leaf)


_OTHERS: dict[str, Any] = {
    "backward": tensor_backward,
    "zero_": _zero_,
    "fill_": _fill_,
    "copy_": _copy_,
    "set_": _set_,
    "resize_": _resize_,
    "is_cuda": property(lambda self: False),
    "is_sparse": property(lambda self: False),
    "uniform_": randomness.uniform_,
    "normal_": randomness.normal_,
    "to": _to,
    "type": _type,
    "type_as": _type_as,
    "where": _where,
    "contiguous": _contiguous,
    "T": property(_reversed_axes),
    "mT": property(_matrix_transpose),
    "H": property(_matrix_transpose),
    "new_zeros": _new_zeros,
    "new_ones": _new_ones,
    "__iter__": _iterate,
    "__reversed__": _reversed,
    "__deepcopy__": _deepcopy,
    "__reduce__": _reduce,
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "__array_ufunc__": numpy_protocol.array_ufunc,
    "__array_function__": numpy_protocol.array_function,
}

_CONVERSIONS: dict[str, dtypes.Dtype] = {
    "double": dtypes.float64,
    "float": dtypes.float32,
    "half": dtypes.float16,
    "long": dtypes.int64,
    "int": dtypes.int32,
    "short": dtypes.int16,
    "char": dtypes.int8,
    "byte": dtypes.uint8,
    "bool": dtypes.bool_,
}


def attach() -> None:
    """Give Tensor its operators and methods."""
    own = (functions.__name__, shaping.__name__, PUBLIC_MODULE)
    for name, function in {**vars(functions), **vars(shaping)}.items():
        is_public = isinstance(function, FunctionType) and not name.startswith("_")
        if is_public and function.__module__ in own and name not in _NO_METHODS:
            setattr(Tensor, name, function)
    for name in _IN_PLACE:
        setattr(Tensor, f"{name}_", _named(_in_place(getattr(functions, name)), f"{name}_"))
    for name, function in _OPERATORS.items():
        setattr(Tensor, f"__{name}__", _named(_operator(function), f"__{name}__"))
        setattr(Tensor, f"__r{name}__", _named(_reflected(function), f"__r{name}__"))
        setattr(Tensor, f"__i{name}__", _named(_in_place(function), f"__i{name}__"))
    for name, function in _COMPARISONS.items():
        setattr(Tensor, f"__{name}__", _named(_operator(function), f"__{name}__"))
    for name, function in _UNARY.items():
        setattr(Tensor, f"__{name}__", function)
    for name, dtype in _CONVERSIONS.items():
        setattr(Tensor, name, _named(_conversion(dtype), name))
    attribute: object
    for name, attribute in _OTHERS.items():
        setattr(Tensor, name, attribute)


def _named(function: Function, name: str) -> Function:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    return function


attach()
