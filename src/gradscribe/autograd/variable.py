"""`gs.autograd.variable`: where old code imports `Variable` from."""

from gradscribe.runtime.tensors.variable import Variable

__all__ = ["Variable"]
