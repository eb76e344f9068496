"""The functions of `gs.nn.functional` over arrays, as the compiler differentiates them.

Each is a plain function over NumPy arrays, which eager Tensors record as one node and compiled
code calls. Here they are entered among the modules in which methods have NumPy's meaning.
"""

from gradscribe.frontend.kinds.tensors import ARRAY_MODULES

_FAMILIES = (
    *("activations", "attention", "convolution", "losses", "normalization", "padding", "pooling"),
    "resampling",
)

ARRAY_MODULES.update(f"{__name__}.{family}" for family in _FAMILIES)
