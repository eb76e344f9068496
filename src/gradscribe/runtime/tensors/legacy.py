"""Attributes of Tensors that only older programs use, and those that there are none of."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from gradscribe.runtime.absent import absent_from_tensor
from gradscribe.runtime.tensors.volatile import SPREADING

_VOLATILE = "volatile is deprecated. Use `with gs.no_grad():` instead."


class LegacyAttributes:
    """A base of Tensor."""

    __slots__ = ()

    grad_fn: Any

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise absent_from_tensor(name)

    def __div__(self: Any, other: Any) -> Any:
        return self / other

    def __rdiv__(self: Any, other: Any) -> Any:
        return other / self

    def __idiv__(self: Any, other: Any) -> Any:
        self /= other
        return self

    def __nonzero__(self) -> bool:
        return bool(self)

    def __long__(self: Any) -> int:
        return int(self)

    @property
    def volatile(self) -> bool:
        """Whether this, and all that is computed of it, requires no gradient."""
        warnings.warn(_VOLATILE, DeprecationWarning, stacklevel=2)
        return SPREADING.has(self)

    @volatile.setter
    def volatile(self: Any, value: bool) -> None:
        warnings.warn(_VOLATILE, DeprecationWarning, stacklevel=2)
        (SPREADING.mark if value else SPREADING.unmark)(self)

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")
