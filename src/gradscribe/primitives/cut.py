"""`stop_gradient`: the identity, without derivative."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from gradscribe.ir.core import Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Type


def _same_type(facts: Facts, callee: Any, x: Type) -> Type:
    return x


STOP_GRADIENT = Primitive(
    "stop_gradient",
    _same_type,
    Signature([Parameter("x", Parameter.POSITIONAL_OR_KEYWORD)]),
    view=True,
    cheap=True,
)
"""x itself; emitted as nothing. Entered under `gs.stop_gradient` by `gradscribe.api`."""
