"""`gs.autograd`: gradients of Tensors, custom Functions, grad modes, checks.

Only names stand here; the code is in `gradscribe.runtime`.
"""

from gradscribe.autograd import anomaly_mode as anomaly_mode
from gradscribe.autograd import forward_ad as forward_ad
from gradscribe.autograd import function as function
from gradscribe.autograd import functional as functional
from gradscribe.autograd import grad_mode as grad_mode
from gradscribe.autograd import gradcheck as _module_of_that_name  # noqa: F401  (loaded, then hidden)
from gradscribe.autograd import graph as graph
from gradscribe.autograd import profiler as profiler
from gradscribe.autograd import variable as variable
from gradscribe.runtime.graph.anomaly import detect_anomaly, set_detect_anomaly
from gradscribe.runtime.graph.grad_mode import (
    enable_grad,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from gradscribe.runtime.graph.inference import inference_mode
from gradscribe.runtime.modes.function import Function
from gradscribe.runtime.modes.gradcheck import gradcheck, gradgradcheck
from gradscribe.runtime.modes.jacobian_check import GradcheckError
from gradscribe.runtime.modes.profile import is_profiling as _profiler_enabled  # noqa: F401
from gradscribe.runtime.modes.profile import kineto_available
from gradscribe.runtime.operations.saved_values import SavedTensor
from gradscribe.runtime.tensors.backward import backward, grad
from gradscribe.runtime.tensors.variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "SavedTensor",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "kineto_available",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_unsafe_preserve_version_counter = grad_mode._unsafe_preserve_version_counter
