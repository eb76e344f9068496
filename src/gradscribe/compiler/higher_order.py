"""Gradients of gradients, as IR: tangents of the one adjoint (DESIGN §1.5).

The gradient of one component of a gradient is, by the symmetry of second derivatives, the
derivative of the gradient along that component's axis. So `grad(grad(… f))` is the gradient of
f, differentiated forward once for each further `grad`; and the pullback of a cotangent through
a gradient is the derivative of the whole gradient along that cotangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradscribe.compiler.stages import (
    Stages,
    bind_ones,
    flat,
    gradient_tree,
    only_results,
    tangent_only,
)
from gradscribe.ir.core import Function
from gradscribe.ir.trees import LEAF, Node
from gradscribe.transforms import tangent
from gradscribe.transforms.given_rules import by_adjoint
from gradscribe.transforms.simplify import simplify

Chain = Sequence[tuple[int, ...]]
"""The leaves of each `grad`, from the innermost. All but the last are single scalar leaves,
which is what makes each gradient one number."""


def nested_gradient(primal: Function, chain: Chain, *, with_value: bool = False) -> Function:
    """The gradient by the leaves chain[-1] of … of the gradient by the leaf chain[0] of primal.

    with_value: return (the innermost-but-one gradient, the gradient).
    """
    active = tuple(sorted({leaf for leaves in chain for leaf in leaves}))
    function = _whole_gradient(primal, chain, active)
    results = function.body.yields[-len(active) :]
    picked = [results[active.index(leaf)] for leaf in chain[-1]]
    tree = gradient_tree(primal, chain[-1])
    if with_value:
        value = function.body.yields[active.index(chain[-2][0])]
        picked, tree = [value, *picked], Node(tuple, (LEAF, tree))
    body = replace(function.body, yields=tuple(picked))
    name = f"{primal.name}_gradient_{len(chain)}"
    return simplify(replace(function, name=name, body=body, result=tree))


def nested_pullback(primal: Function, chain: Chain, active: tuple[int, ...]) -> Function:
    """(all leaves, a cotangent for each leaf of chain[-1]) -> cotangents of the active leaves,
    through `nested_gradient`. Every parameter and result is one leaf."""
    active = tuple(sorted({*active, *(leaf for leaves in chain for leaf in leaves)}))
    whole = _whole_gradient(primal, chain, active)
    last = range(len(whole.body.yields) - len(active), len(whole.body.yields))
    along = tangent.differentiate(simplify(only_results(whole, last)), chain[-1])
    name = f"{primal.name}_pullback_{len(chain)}"
    return simplify(replace(flat(tangent_only(along)), name=name))


def _whole_gradient(primal: Function, chain: Chain, active: tuple[int, ...]) -> Function:
    """The gradient by all active leaves, of the last but one gradient of the chain. For longer
    chains its results are that one gradient by all active leaves, then its own gradient."""
    joined = Stages(primal, active).joined
    results = len(primal.body.yields)
    function = only_results(by_adjoint(joined.function), range(results, results + len(active)))
    function = bind_ones(function, joined.seeds)
    for (leaf,) in chain[:-1]:
        last = range(len(function.body.yields) - len(active), len(function.body.yields))
        along = tangent.differentiate(simplify(only_results(function, last)), (leaf,))
        function = bind_ones(along, along.parameters[-1:])
        function = only_results(function, range(2 * len(active)))
    return function
