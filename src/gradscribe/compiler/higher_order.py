"""Gradients of gradients, as IR: tangents of the one adjoint (DESIGN §1.5).

The gradient of one component of a gradient is, by the symmetry of second derivatives, the
derivative of the gradient along that component's axis. So `grad(grad(… f))` is the gradient of
f, differentiated forward once for each further `grad`; and the pullback of a cotangent through
a gradient is the derivative of the whole gradient along that cotangent.

Where the user gave rules, second derivatives need not be symmetric: there each gradient is the
adjoint of the one before.
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
from gradscribe.compiler.surroundings import inline
from gradscribe.ir.core import Function
from gradscribe.ir.trees import LEAF, Node
from gradscribe.transforms import tangent
from gradscribe.transforms.derivatives.given_rules import has_given_rules
from gradscribe.transforms.passes.simplify import simplify

Chain = Sequence[tuple[int, ...]]
"""The leaves of each `grad`, from the innermost. All but the last are single scalar leaves,
which is what makes each gradient one number."""


def nested_gradient(primal: Function, chain: Chain, *, with_value: bool = False) -> Function:
    """The gradient by the leaves chain[-1] of … of the gradient by the leaf chain[0] of primal.

    with_value: return (the innermost-but-one gradient, the gradient).
    """
    find = _gradient_by_adjoints if has_given_rules(primal) else _gradient_by_tangents
    function = find(primal, chain, with_value)
    tree = gradient_tree(primal, chain[-1])
    result = Node(tuple, (LEAF, tree)) if with_value else tree
    name = f"{primal.name}_gradient_{len(chain)}"
    return simplify(replace(function, name=name, result=result))


def nested_pullback(primal: Function, chain: Chain, active: tuple[int, ...]) -> Function:
    """(all leaves, a cotangent for each leaf of chain[-1]) -> cotangents of the active leaves,
    through `nested_gradient`. Every parameter and result is one leaf."""
    active = tuple(sorted({*active, *(leaf for leaves in chain for leaf in leaves)}))
    name = f"{primal.name}_pullback_{len(chain)}"
    if has_given_rules(primal):
        return Stages(flat(nested_gradient(primal, chain)), active).flat_gradient(name)
    whole = _whole_gradient(primal, chain, active)
    last = range(len(whole.body.yields) - len(active), len(whole.body.yields))
    whole = simplify(only_results(whole, last))
    along = tangent.differentiate(whole, chain[-1], inline, of_gradient=True)
    return simplify(replace(flat(tangent_only(along)), name=name))


def _gradient_by_adjoints(primal: Function, chain: Chain, with_value: bool) -> Function:
    last = function = primal
    for leaves in chain:
        joined = Stages(function, leaves).joined
        last = bind_ones(joined.function, joined.seeds)
        results = len(function.body.yields)
        function = simplify(only_results(last, range(results, results + len(leaves))))
    return last if with_value else function


def _gradient_by_tangents(primal: Function, chain: Chain, with_value: bool) -> Function:
    active = tuple(sorted({leaf for leaves in chain for leaf in leaves}))
    function = _whole_gradient(primal, chain, active)
    results = range(len(function.body.yields) - len(active), len(function.body.yields))
    picked = [results[active.index(leaf)] for leaf in chain[-1]]
    value = [active.index(chain[-2][0])] if with_value else []
    return only_results(function, [*value, *picked])


def _whole_gradient(primal: Function, chain: Chain, active: tuple[int, ...]) -> Function:
    """The gradient by all active leaves, of the last but one gradient of the chain. For longer
    chains its results are that one gradient by all active leaves, then its own gradient."""
    joined = Stages(primal, active).joined
    results = len(primal.body.yields)
    function = only_results(joined.function, range(results, results + len(active)))
    function = bind_ones(function, joined.seeds)
    for (leaf,) in chain[:-1]:
        last = range(len(function.body.yields) - len(active), len(function.body.yields))
        function = simplify(only_results(function, last))
        along = tangent.differentiate(function, (leaf,), inline, of_gradient=True)
        function = bind_ones(along, along.parameters[-1:])
        function = only_results(function, range(2 * len(active)))
    return function
