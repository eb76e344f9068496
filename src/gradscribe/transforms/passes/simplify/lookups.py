"""Look-ups of keys in lists, where the answer is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradscribe.ir.core import Operation, Value
from gradscribe.primitives.control import RUN
from gradscribe.transforms.passes.simplify.table import exact

if TYPE_CHECKING:
    from gradscribe.transforms.passes.simplify.rewriter import Rewriter


@exact(RUN)
def known_answer(rewriter: Rewriter, operation: Operation) -> Value | None:
    """Whether a key is there, or its place."""
    answer = rewriter.lookups.answers.get(operation.result)
    return rewriter.constant(answer, operation) if isinstance(answer, bool) else answer
