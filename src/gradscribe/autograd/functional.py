"""`gs.autograd.functional`: Jacobians and Hessians of functions of Tensors, and their products."""

from gradscribe.runtime.modes.functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
