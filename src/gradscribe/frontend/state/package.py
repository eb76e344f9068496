"""What the package around the compiler gives the frontend to know: its Tensors, and `vjp`.

The frontend knows of neither: it is handed this object, in which the layers above say what they
mean in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gradscribe.frontend.values.values import FrontendValue


@dataclass(frozen=True, eq=False, slots=True)
class TensorClass:
    """The class of Tensors: arrays whose methods have PyTorch's meaning.

    cls: the class whose methods arrays with the spelling "tensor" have. aliases: classes that stand
    for it. dtype_of_class: the dtype that a class of Tensors asks for (None: any other class).
    dtype_of: the dtype of a Tensor, as programs see it, for NumPy's. as_tensor: the handler that
    makes an array a Tensor to the program; as_array: that of `.array` of a Tensor. promotions: what
    is done to the operands of an operator, one of which is a Tensor, so that the result has the
    dtype that the operator has for Tensors. over_tensors: how the names of modules begin whose
    functions are written over Tensors: the arrays that a program gives them have the methods of
    Tensors there. over_arrays: the same of those whose functions are written over arrays: there
    methods mean NumPy's, whatever they are given. own_keywords: the keyword arguments of a call of
    a function that is wrapped for users (`__gradscribe_function__`), for the function itself.
    """

    cls: type
    aliases: Mapping[Any, type]
    dtype_of_class: Callable[[Any], str | None]
    dtype_of: Callable[[Any], Any]
    as_tensor: Callable[..., FrontendValue]
    as_array: Callable[..., FrontendValue]
    promotions: Mapping[Any, Callable[..., Any]]
    over_tensors: tuple[str, ...]
    over_arrays: tuple[str, ...]
    own_keywords: Callable[..., dict[str, FrontendValue]]


@dataclass(frozen=True, eq=False, slots=True)
class Package:
    """tensors: None as long as no Tensors can come in. vjp: the transform of that name."""

    tensors: TensorClass | None = None
    vjp: Callable[..., Any] | None = None
