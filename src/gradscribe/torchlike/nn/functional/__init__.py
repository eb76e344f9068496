"""The functions that models are made of, by PyTorch's names and arguments.

Each is a Python function over Tensors; what it computes is a formula over arrays that eager
Tensors record as one node (`torchlike.nn.formulas`), so that compiled functions may call it, too.
Arrays among the arguments are taken for Tensors.
"""

from gradscribe.torchlike.nn.functional import (  # noqa: F401  their rows
    activations,
    attention,
    blocks,
    convolution,
    dropouts,
    greatest,
    losses,
    margins,
    means,
    normalization,
    padding,
    resampling,
)
from gradscribe.torchlike.nn.functional.given_arrays import publish
from gradscribe.torchlike.nn.functional.rows import FUNCTIONAL

__all__ = publish(FUNCTIONAL, globals())
