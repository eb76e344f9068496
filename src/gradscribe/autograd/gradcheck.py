"""`gs.autograd.gradcheck`, as a module: derivatives against finite differences."""

from gradscribe.runtime.modes.gradcheck import gradcheck, gradgradcheck
from gradscribe.runtime.modes.jacobian_check import GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
