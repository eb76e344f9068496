"""Statements that change objects of which nothing is known: `o[i] = x`, `o.a += x`, `del o[i]`.

In the IR these are calls of functions of `operator`; here they are written as Python writes them.
"""

from __future__ import annotations

import ast
import operator

from gradscribe.codegen.listing import Listing
from gradscribe.codegen.rewriting import same
from gradscribe.codegen.spellings import written_out
from gradscribe.ir.core import Operand, Operation

_AUGMENTED: dict[object, type[ast.operator]] = {
    operator.iadd: ast.Add,
    operator.isub: ast.Sub,
    operator.imul: ast.Mult,
    operator.itruediv: ast.Div,
    operator.ifloordiv: ast.FloorDiv,
    operator.imod: ast.Mod,
    operator.ipow: ast.Pow,
    operator.imatmul: ast.MatMult,
    operator.iand: ast.BitAnd,
    operator.ior: ast.BitOr,
    operator.ixor: ast.BitXor,
    operator.ilshift: ast.LShift,
    operator.irshift: ast.RShift,
}


def changing(listing: Listing, operation: Operation) -> ast.stmt | None:
    """The statement that changes an item or attribute of an object, where the operation does."""
    place = _place(listing, operation)
    if place is None:
        return None
    args = operation.attributes["args"]
    if len(args) == 2:
        return ast.Delete([place])
    if isinstance(args[2], Operand):
        stored = operation.operands[args[2].index]
        made = listing.plan.uses.producer.get(stored)
        if made is not None and stored in listing.plan.folded and made.callee in _AUGMENTED:
            former, change = (listing.write.argument(made, a) for a in made.attributes["args"])
            if same(former, place):
                return ast.AugAssign(place, _AUGMENTED[made.callee](), change)
    value = written_out(listing.write, listing.write.argument(operation, args[2]))
    return ast.Assign([place], value)


def augmenting(listing: Listing, operation: Operation, bound: ast.expr) -> ast.stmt | None:
    """`o += x`, where that is bound to the same name."""
    symbol = _AUGMENTED.get(operation.callee)
    if symbol is None or not isinstance(bound, ast.Name):
        return None
    former, change = (listing.write.argument(operation, a) for a in operation.attributes["args"])
    return ast.AugAssign(bound, symbol(), change) if same(former, bound) else None


def _place(listing: Listing, operation: Operation) -> ast.Attribute | ast.Subscript | None:
    """The item or attribute that is stored to or deleted."""
    if operation.callee not in (setattr, delattr, operator.setitem, operator.delitem):
        return None
    owner, key = (listing.write.argument(operation, a) for a in operation.attributes["args"][:2])
    if operation.callee in (operator.setitem, operator.delitem):
        return ast.Subscript(owner, key, ast.Store())
    if not isinstance(key, ast.Constant):
        return None
    return ast.Attribute(owner, str(key.value), ast.Store())
