"""gradscribe: derivatives of ordinary Python functions over arrays, as readable Python source.

    import gradscribe as gs

    @gs.differentiable
    def loss(w, x, y): ...

    gs.grad(loss)(w, x, y)

`gs.grad` and its kind take and return plain values; `gs.tensor` and the functions beside it are
the Tensor API that PyTorch users know. `gs.autograd` and `gs.errors` are modules; `gs.nn`,
`gs.linalg`, `gs.fft`, `gs.special`, `gs.signal` and `gs.testing` are, too, imported when first
named, as is the compiler: a program that only computes with Tensors does not wait for it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gradscribe import autograd, cuda, errors, utils
from gradscribe.runtime.absent import absent_from_module
from gradscribe.runtime.loading import LOADING
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

_MODULES = frozenset({"fft", "linalg", "nn", "signal", "special", "testing"})
"""Modules that are imported when they are first named."""

if TYPE_CHECKING:
    from gradscribe import fft, linalg, nn, signal, special, testing
    from gradscribe.api import (
        Specialization,
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
    from gradscribe.api.differentiable import DifferentiableFunction, differentiable
    from gradscribe.coverage import supported
else:  # a type checker would take every name for granted

    def __getattr__(name: str) -> Any:
        """What is imported when it is first named: the compiler, too."""
        if name not in __all__ and name not in _MODULES:
            raise absent_from_module(name)
        home = name if name in _MODULES else "coverage" if name == "supported" else "api"
        with LOADING:
            module = importlib.import_module(f"gradscribe.{home}")
        found = globals()[name] = module if home == name else getattr(module, name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
