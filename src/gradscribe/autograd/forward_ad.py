"""`gs.autograd.forward_ad`: forward mode, by dual Tensors."""

from typing import Any

from gradscribe.runtime.modes.dual import (
    UnpackedDualTensor,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    is_forward_enabled,
    level_number,
    make_dual,
    set_forward_enabled,
    unpack_dual,
)

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_is_fwd_grad_enabled = is_forward_enabled
_set_fwd_grad_enabled = set_forward_enabled


def __getattr__(name: str) -> Any:
    """`_current_level`: the number of the innermost dual level; -1 outside of any."""
    if name == "_current_level":
        return level_number()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
