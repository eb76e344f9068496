"""Simplify: constants, algebra, common subexpressions, dead code.

Assumes a verified function of value semantics (before bufferize). Guarantees a function of the
same results; what was computed by the user's own statements is computed by the same operations,
bit for bit (only derived operations are rewritten algebraically), and effects happen as before.

One iteration is a forward pass that rewrites operation by operation (`rewriter`, `regions`,
with the rules of `constants`, `algebra`, `shapes`, `stores`, `lists`, `lookups` and `tuples`), one
that fuses neighbouring branches on one condition (`fusion`), and a backward one that
drops what nobody reads, through the carried values of loops (`dce`). Each is linear in the size of
the function; iterations end when nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection

from gradscribe.ir.core import Function, Value
from gradscribe.transforms.passes.simplify import (
    algebra,
    constants,
    lists,
    lookups,
    shapes,
    stores,
    tuples,
)
from gradscribe.transforms.passes.simplify.dce import eliminate_dead_code
from gradscribe.transforms.passes.simplify.fusion import fuse_branches
from gradscribe.transforms.passes.simplify.rewriter import rewrite

_ITERATIONS = 20
"""More are never needed in practice; a bound in case two rules should undo each other."""


def simplify(function: Function, seeds: Collection[Value] = ()) -> Function:
    """An equivalent, smaller function; the function itself where there is nothing to gain.

    seeds: the parameters that belong to the adjoint part of a joined function; operations of
    the primal will not read them.
    """
    function = eliminate_dead_code(function, keep_ranges=True)
    for _ in range(_ITERATIONS):
        before = function
        function = fuse_branches(rewrite(function, seeds))
        if function is before:
            break
        function = eliminate_dead_code(function, keep_ranges=True)
    return eliminate_dead_code(function)


__all__ = ["algebra", "constants", "lists", "lookups", "shapes", "simplify", "stores", "tuples"]
