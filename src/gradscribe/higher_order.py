"""Gradients of gradients, as IR: tangents of the one adjoint (DESIGN §1.5).

The gradient g of f by x is the first derivative; the gradient of one component of g is, by the
symmetry of second derivatives, the derivative of g along that component's axis. So
`grad(grad(… f))` is the gradient of f, differentiated forward once for each further `grad`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradscribe.ir.core import Function
from gradscribe.ir.trees import LEAF, Node
from gradscribe.stages import Stages, bind_ones, gradient_tree, only_results
from gradscribe.transforms import tangent
from gradscribe.transforms.simplify import simplify


def nested_gradient(
    primal: Function, chain: Sequence[tuple[int, ...]], *, with_value: bool = False
) -> Function:
    """The gradient by the leaves chain[-1] of … of the gradient by the leaf chain[0] of primal.

    All but the last of the chain are single scalar leaves, which is what makes each gradient
    one number. with_value: return (the innermost-but-one gradient, the gradient).
    """
    active = tuple(sorted({leaf for leaves in chain for leaf in leaves}))
    joined = Stages(primal, active).joined
    results = len(primal.body.yields)
    function = only_results(joined.function, range(results, results + len(active)))
    function = bind_ones(function, joined.seeds)
    value = function.body.yields[0]
    for (leaf,) in chain[:-1]:
        along = tangent.differentiate(simplify(function), (leaf,))
        along = bind_ones(along, along.parameters[-1:])
        value = along.body.yields[active.index(leaf)]
        function = only_results(along, range(len(active), 2 * len(active)))
    picked = [function.body.yields[active.index(leaf)] for leaf in chain[-1]]
    tree = gradient_tree(primal, chain[-1])
    if with_value:
        picked, tree = [value, *picked], Node(tuple, (LEAF, tree))
    body = replace(function.body, yields=tuple(picked))
    name = f"{primal.name}_gradient_{len(chain)}"
    return simplify(replace(function, name=name, body=body, result=tree))
