"""`gs.autograd`: gradients of Tensors, custom Functions, grad modes, checks.

Only names stand here; the code is in `gradscribe.runtime`.
"""

from gradscribe.autograd import function as function
from gradscribe.autograd import grad_mode as grad_mode
from gradscribe.runtime.backward import backward, grad
from gradscribe.runtime.function import Function
from gradscribe.runtime.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from gradscribe.runtime.gradcheck import GradcheckError, gradcheck, gradgradcheck
from gradscribe.runtime.variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
