"""Where arrays are not zero: indices, as many as there are elements that are not."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Tuple, Type
from gradscribe.primitives.registry import register
from gradscribe.primitives.typing import TypeRuleError


def _nonzero_type(facts: Facts, callee: Any, x: Type, count: Affine) -> Type:
    if not isinstance(x, Array) or not x.rank:
        raise TypeRuleError("an array without axes has no indices", "use its one item")
    if callee is np.argwhere:
        return Array("int64", (count, Affine.of(x.rank)), x.module)
    indices = Array("int64", (count,), x.module)
    return indices if callee is np.flatnonzero else Tuple((indices,) * x.rank)


NONZERO = Primitive(
    "nonzero",
    _nonzero_type,
    Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("x", "count")]),
    callee=np.nonzero,
)
"""np.nonzero(x) and its likes. count: how many elements of x are not zero (see `GATHER`)."""

register(NONZERO, (np.nonzero, np.flatnonzero, np.argwhere), ())
