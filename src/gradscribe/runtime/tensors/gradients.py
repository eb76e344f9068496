"""The gradient of a Tensor: `grad`, and which dtype it may have."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.tensors.array_methods import Array

OWN = "the dtype of the leaf"
"""What `grad_dtype` of a leaf is until it is set."""


Self = TypeVar("Self", bound="GradientAttributes")


class GradientAttributes:
    """A base of Tensor."""

    __slots__ = ("_grad",)

    array: Array
    _node: Any
    _grad: Any
    _leaf: Any

    if TYPE_CHECKING:

        @property
        def is_leaf(self) -> bool: ...

        @property
        def retains_grad(self) -> bool: ...

        def _leaf_state(self) -> Any: ...

    @property
    def grad(self: Self) -> Self | None:
        """The gradient that `backward` has accumulated here; None before."""
        if self._grad is None and self._node is not None and not self.retains_grad:
            warnings.warn(_GRAD_OF_NON_LEAF, stacklevel=2)
        gradient: Self | None = self._grad
        return gradient

    @grad.setter
    def grad(self, gradient: Any) -> None:
        if gradient is not None:
            _check_gradient(self, gradient)
        self._grad = gradient

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> Any:
        """The dtype that the gradient of this leaf has: that of the leaf unless it was set; None
        where any is allowed."""
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        found = wanted_dtype(self)
        return None if found is None else dtypes.PublicDtype(found)

    @grad_dtype.setter
    def grad_dtype(self, dtype: Any) -> None:
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        wanted = None if dtype is None else dtypes.to_dtype(dtype)
        present = self._grad
        if present is not None and wanted is not None and wanted != present.array.dtype:
            found = dtypes.cpp_name(present.array.dtype)
            raise RuntimeError(
                f"Cannot set grad_dtype to '{dtypes.scalar_name(wanted)}' because there is already "
                f"a gradient with dtype '{found}'. Please clear the "
                "gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
                "matches the existing gradient's dtype."
            )
        self._leaf_state().grad_dtype = wanted


def wanted_dtype(tensor: GradientAttributes) -> dtypes.Dtype | None:
    """The dtype that the gradient of a Tensor must have; None: any."""
    wanted: Any = OWN if tensor._leaf is None else tensor._leaf.grad_dtype
    return tensor.array.dtype if wanted is OWN else wanted


_GRAD_OF_NON_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)


def _check_gradient(tensor: GradientAttributes, gradient: Any) -> None:
    if not isinstance(gradient, GradientAttributes):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(gradient).__name__}"
        )
    if gradient is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    wanted = wanted_dtype(tensor)
    if wanted is not None and gradient.array.dtype != wanted:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{dtypes.cpp_name(gradient.array.dtype)}' "
            f"to a tensor with grad_dtype '{dtypes.scalar_name(wanted)}'. The gradient must match "
            "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
            "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
            "downstream systems that assume they match."
        )
    if gradient.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(gradient.array.shape)}' to a tensor "
            f"of size '{list(tensor.array.shape)}'. Please ensure that the gradient and the tensor "
            "are the same size"
        )
