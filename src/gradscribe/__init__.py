"""gradscribe: derivatives of ordinary Python functions over arrays, as readable Python source.

    import gradscribe as gs

    @gs.differentiable
    def loss(w, x, y): ...

    gs.grad(loss)(w, x, y)

`gs.grad` and its kind take and return plain values; `gs.tensor` and the functions beside it are
the Tensor API that PyTorch users know. `gs.testing`, `gs.autograd` and `gs.errors` are modules;
`gs.nn`, `gs.linalg`, `gs.fft`, `gs.special` and `gs.signal` are, too, imported when first named.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from gradscribe import autograd, cuda, errors, testing, utils
from gradscribe.api import (
    DifferentiableFunction,
    Specialization,
    differentiable,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    primitive,
    stop_gradient,
    trace,
    value_and_grad,
    vjp,
)
from gradscribe.coverage import supported
from gradscribe.runtime.absent import absent_from_module
from gradscribe.runtime.namespace import *  # noqa: F403
from gradscribe.runtime.namespace import __all__ as _runtime_names

__version__ = "0.1.0"

__all__ = [
    "DifferentiableFunction",
    "Specialization",
    "autograd",
    "cuda",
    "differentiable",
    "errors",
    "fft",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linalg",
    "nn",
    "primitive",
    "signal",
    "special",
    "stop_gradient",
    "supported",
    "testing",
    "trace",
    "utils",
    "value_and_grad",
    "vjp",
]
__all__ += _runtime_names

_WHEN_NAMED = frozenset({"_C", "fft", "linalg", "nn", "signal", "special"})
"""Modules that are imported when they are first named."""

if TYPE_CHECKING:
    from gradscribe import _C as _C
    from gradscribe import fft, linalg, nn, signal, special
else:  # a type checker would take every name for granted

    def __getattr__(name: str) -> ModuleType:
        if name in _WHEN_NAMED:
            return importlib.import_module(f"gradscribe.{name}")
        raise absent_from_module(name)
