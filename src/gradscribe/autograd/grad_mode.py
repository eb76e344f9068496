"""`gs.autograd.grad_mode`: whether operations are recorded."""

from gradscribe.runtime.graph.grad_mode import (
    enable_grad,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from gradscribe.runtime.graph.inference import inference_mode
from gradscribe.runtime.operations.inplace import preserved_versions

_unsafe_preserve_version_counter = preserved_versions

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
