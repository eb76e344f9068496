"""What Tensors have outside of compiled code only: the graph, the state of autograd, memory."""

from __future__ import annotations

import inspect
from typing import Any

from gradscribe.api.tensor_handlers import OUTSIDE, refused
from gradscribe.frontend.state.handlers import Handler
from gradscribe.runtime.operations import factorizations, inplace
from gradscribe.runtime.tensors import backward
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.runtime.tensors.variable import Variable

_GRAPH = (
    *("backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"),
    *("requires_grad_", "detach_"),
)
_LAYOUT = ("stride", "is_contiguous", "data_ptr", "dim_order", "is_set_to")
_STATE = ("requires_grad", "is_leaf", "grad", "grad_fn", "output_nr", "retains_grad", "_version")

_INNER = "use `gs.grad` or `gs.vjp` of an inner function, or call it outside of the function"

REFUSED: dict[Any, Handler] = {
    **{
        function: refused(f"`autograd.{function.__name__}`", _INNER)
        for function in (backward.grad, backward.backward)
    },
    Variable: refused("`Variable`", "use the Tensor itself, or `x.data`"),
    inplace.rearrange: refused(
        "exchanging axes in place", "use the form without underscore, and assign its result"
    ),
    **{vars(Tensor)[name]: refused(f"`{name}`", OUTSIDE) for name in _GRAPH},
    **{
        getattr(Tensor, name): refused(f"`{name}`, the layout of memory,", OUTSIDE)
        for name in _LAYOUT
    },
    **{
        function: refused(f"`{function.__name__}`", OUTSIDE)
        for function in (factorizations.lu, factorizations.geqrf)
    },
    **{inspect.getattr_static(Tensor, name).fget: refused(f"`{name}`", OUTSIDE) for name in _STATE},
}
