"""The package as compiled code is to know it: Tensors, and `vjp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradscribe.api import tensor_creation, tensor_dtypes, tensor_functions
from gradscribe.api.directional import vjp
from gradscribe.api.tensor_handlers import as_array, as_tensor
from gradscribe.compiler import surroundings
from gradscribe.compiler.keys import KEYS
from gradscribe.compiler.signatures import enter_array_class
from gradscribe.frontend.memory import outside
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.state.package import Package, TensorClass
from gradscribe.frontend.values.values import FrontendValue
from gradscribe.runtime.arrays import composites, dtypes, matrix_composites
from gradscribe.runtime.operations import activations, calculus, factorizations, products
from gradscribe.runtime.operations.spellings import is_parameter, other_names
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.runtime.tensors.typed_constructors import TypedTensor
from gradscribe.runtime.tensors.variable import Variable


def _dtype_of_class(cls: Any) -> str | None:
    """`gs.FloatTensor` asks for the dtype of a Tensor."""
    return np.dtype(cls.dtype.dtype).name if isinstance(cls, TypedTensor) else None


def _own_keywords(
    lowering: Lowering, node: Any, function: Any, keywords: Mapping[str, FrontendValue]
) -> dict[str, FrontendValue]:
    """Keyword arguments under the function's own names, not NumPy's."""
    names = other_names(function)
    if "out" in keywords and not is_parameter(function, "out"):
        lowering.unsupported(
            node,
            "`out=` of a function of Tensors",
            "assign the result to a name, or store it with `y[...] = …`",
        )
    return {names.get(name, name): item for name, item in keywords.items()}


def enter() -> None:
    """Let the compiler know of Tensors."""
    own = TensorClass(
        Tensor,
        {Variable: Tensor},
        _dtype_of_class,
        dtypes.PublicDtype,
        as_tensor,
        as_array,
        tensor_dtypes.PROMOTIONS,
        (
            *(
                "gradscribe.torchlike.nn.functional.",
                "gradscribe.torchlike.linalg",
                "gradscribe.torchlike.fft",
            ),
            "gradscribe.torchlike.special",
            *(module.__name__ for module in (activations, calculus, factorizations, products)),
        ),
        (
            "gradscribe.torchlike.nn.formulas.",
            "gradscribe.runtime.arrays.special_composites",
            *(module.__name__ for module in (composites, matrix_composites)),
        ),
        _own_keywords,
    )
    surroundings.enter(Package(own, vjp))
    for module in (tensor_creation, tensor_dtypes, tensor_functions):
        handlers.enter(module.HANDLERS)
    enter_array_class(Tensor, lambda tensor: tensor.array, spelling="tensor")
    outside.CONSTANTS.add(dtypes.PublicDtype)
    KEYS[dtypes.PublicDtype] = lambda dtype: (dtypes.PublicDtype, dtype)
