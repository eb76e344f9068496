"""PyTorch's namespace, as far as there is any here: `import gradscribe.torchlike as torch`.

All functions of Tensors under PyTorch's names, with `nn`, `linalg`, `fft`, `special` and `signal`,
which are imported when they are first named, beside what `gradscribe` itself offers of these.
Nothing is made here: the functions stand where their derivatives are, and nothing below knows of
this.
"""

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

from gradscribe import autograd as autograd
from gradscribe import cuda as cuda
from gradscribe import utils as utils
from gradscribe.runtime.absent import absent_from_module
from gradscribe.runtime.loading import LOADING
from gradscribe.runtime.namespace import *  # noqa: F403
from gradscribe.runtime.namespace import __all__ as _names
from gradscribe.version import __version__ as __version__

__all__ = ["autograd", "cuda", "fft", "linalg", "nn", "signal", "special", "testing", "utils"]
__all__ += _names

_MODULES = frozenset({"fft", "linalg", "nn", "signal", "special", "testing"})
"""Modules that are imported when they are first named."""


def _enter_modules() -> None:
    """Let `import gradscribe.torchlike.autograd`, and its kind, find the modules themselves."""
    for module in (autograd, cuda, utils):
        name = module.__name__.replace("gradscribe", __name__, 1)
        sys.modules[name] = module
        for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
            inner = importlib.import_module(f"{module.__name__}.{found.name}")
            sys.modules[f"{name}.{found.name}"] = inner


_enter_modules()

if TYPE_CHECKING:
    from gradscribe import testing as testing
    from gradscribe.torchlike import fft, linalg, nn, signal, special
else:  # a type checker would take every name for granted

    def __getattr__(name: str) -> Any:
        """A module that is imported when it is first named."""
        if name not in _MODULES:
            raise absent_from_module(name)
        home = "gradscribe.testing" if name == "testing" else f"{__name__}.{name}"
        with LOADING:
            found = globals()[name] = importlib.import_module(home)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
