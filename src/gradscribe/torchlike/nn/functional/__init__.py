"""The functions that models are made of, by PyTorch's names and arguments.

Each is a Python function over Tensors; what it computes is a formula over arrays that eager
Tensors record as one node (`torchlike.nn.formulas`), so that compiled functions may call it, too.
Arrays among the arguments are taken for Tensors.
"""

# ruff: noqa: F403
from gradscribe.torchlike.nn.functional import (
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
from gradscribe.torchlike.nn.functional.activations import *
from gradscribe.torchlike.nn.functional.attention import *
from gradscribe.torchlike.nn.functional.blocks import *
from gradscribe.torchlike.nn.functional.convolution import *
from gradscribe.torchlike.nn.functional.dropouts import *
from gradscribe.torchlike.nn.functional.given_arrays import taking_arrays
from gradscribe.torchlike.nn.functional.greatest import *
from gradscribe.torchlike.nn.functional.losses import *
from gradscribe.torchlike.nn.functional.margins import *
from gradscribe.torchlike.nn.functional.means import *
from gradscribe.torchlike.nn.functional.normalization import *
from gradscribe.torchlike.nn.functional.padding import *
from gradscribe.torchlike.nn.functional.resampling import *

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += blocks.__all__
__all__ += convolution.__all__
__all__ += dropouts.__all__
__all__ += greatest.__all__
__all__ += losses.__all__
__all__ += margins.__all__
__all__ += means.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += resampling.__all__

globals().update({name: taking_arrays(globals()[name]) for name in __all__})
