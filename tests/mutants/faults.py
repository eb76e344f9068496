"""Sixty faults, each a small change of one place in `src/gradscribe`.

They are planted one by one to see whether the test suite finds them. Each is a slip that a good
engineer could make, and each changes what a user sees: a value, a derivative, a dtype, an
argument, an error that is missing. They were chosen without looking at the tests.

`before` occurs exactly once in its file; `after` stands in its place. The file is one table.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "sign",
    "transposed operand",
    "dropped accumulation",
    "off-by-one in a slice",
    "skipped copy",
    "swapped branch",
    "wrong dtype",
    "forgotten guard",
    "wrong constant",
    "stale value",
)


@dataclass(frozen=True)
class Fault:
    """path: below `src/gradscribe`. what: what is wrong then, as a user would see it."""

    kind: str
    path: str
    before: str
    after: str
    what: str


FAULTS = (
    # -- rules ---------------------------------------------------------------------------------
    Fault(
        "forgotten guard",
        "primitives/linalg.py",
        "diagonal if axis1 % 2 == 0 else diagonal.T",
        "diagonal if axis1 == 0 else diagonal.T",
        "The gradient of np.trace of an off-diagonal over axes -2 and -1 is transposed.",
    ),
    Fault(
        "sign",
        "primitives/elementwise.py",
        "return 1, -(x // y)",
        "return 1, -np.trunc(x / y)",
        "The derivative of np.mod by its second operand is wrong where the signs differ.",
    ),
    Fault(
        "transposed operand",
        "primitives/padding.py",
        "for a in (axes if isinstance(axes, tuple) else (axes,))[::-1]:",
        "for a in axes if isinstance(axes, tuple) else (axes,):",
        "The gradient of square windows over two axes takes one axis of a window for the other.",
    ),
    Fault(
        "dropped accumulation",
        "primitives/scipy/sums.py",
        "change = change + shares * d_b",
        "change = shares * d_b",
        "In forward mode, logsumexp of numbers and weights that both vary loses the numbers' part.",
    ),
    Fault(
        "swapped branch",
        "primitives/selection.py",
        "tuple(zip(condlist, choices))[::-1]:",
        "tuple(zip(condlist, choices)):",
        "Where several conditions of np.select hold, the last one decides instead of the first.",
    ),
    Fault(
        "dropped accumulation",
        "primitives/sorting.py",
        "np.add.at(d_x, places, d_out)",
        "d_x[places] = d_out",
        "The gradient of np.take_along_axis counts an element that is taken twice once.",
    ),
    # -- adjoint -------------------------------------------------------------------------------
    Fault(
        "forgotten guard",
        "transforms/adjoint/__init__.py",
        "last=may_repeat(path))",
        "last=False)",
        "Of values stored by indices that repeat, those that were overwritten get a gradient, too.",
    ),
    Fault(
        "off-by-one in a slice",
        "transforms/adjoint/lists.py",
        "like = scope.primal(x)\n        length",
        "like = scope.primal(y)\n        length",
        "The gradient of two lists of unequal lengths, joined, is cut at the length of the second.",
    ),
    Fault(
        "forgotten guard",
        "transforms/adjoint/mirrors.py",
        "is_cut = any(cotangent is None or cotangent in masked for cotangent in found)",
        "is_cut = any(cotangent in masked for cotangent in found)",
        "A gradient is NaN at a pole that only the other side of an `if` would have read.",
    ),
    Fault(
        "swapped branch",
        "transforms/adjoint/iterations.py",
        "start = call(self.parent.builder, operator.sub, length, iterations)\n"
        "        return self._range(start, length)",
        "return self._range(zero_, iterations)",
        "The gradient of a loop backwards over an array, left early, goes to the first elements.",
    ),
    Fault(
        "wrong dtype",
        "transforms/adjoint/projection.py",
        "if isinstance(wanted, Scalar) and wanted.weak:\n        return cotangent",
        "if isinstance(wanted, Scalar):\n        return cotangent",
        "The gradient with respect to a NumPy float32 scalar is a float64.",
    ),
    Fault(
        "dropped accumulation",
        "transforms/adjoint/rules.py",
        "    partial = partial * count\n    if",
        "    if",
        "x + x has the gradient of x.",
    ),
    # -- tangent -------------------------------------------------------------------------------
    Fault(
        "swapped branch",
        "transforms/tangent/stores.py",
        "d_value = tangent.of(value) or constant(tangent.builder, 0.0)\n    return",
        "d_value = tangent.of(value)\n"
        "    if d_value is None:\n"
        "        return tangent.required(x)\n"
        "    return",
        "In forward mode, a number stored in an array keeps the tangent of what it overwrites.",
    ),
    Fault(
        "swapped branch",
        "transforms/tangent/fitting.py",
        "if is_complex(given) and not is_complex(wanted):",
        "if is_complex(given) and is_complex(wanted):",
        "In forward mode, a real result of complex numbers has a wrong, complex tangent.",
    ),
    Fault(
        "forgotten guard",
        "transforms/tangent/poles.py",
        "any(source is None or source in self._masked for source in sources)",
        "any(source in self._masked for source in sources)",
        "In forward mode, constants that a branch puts in front of a pole give NaN.",
    ),
    Fault(
        "forgotten guard",
        "transforms/tangent/__init__.py",
        '"where", "shift", "k"',
        '"where", "k"',
        "In forward mode, np.roll by a computed shift does not roll the tangent.",
    ),
    Fault(
        "sign",
        "transforms/tangent/__init__.py",
        "partial = conjugates.conjugate(self.builder, partial)\n                term",
        "term",
        "In forward mode, abs of complex numbers counts imaginary parts negatively.",
    ),
    Fault(
        "forgotten guard",
        "transforms/tangent/regions.py",
        "c.parameter in active or c.result in active for",
        "c.parameter in active for",
        "In forward mode, what each iteration assigns anew has a zero tangent after the loop.",
    ),
    # -- bufferize and records -----------------------------------------------------------------
    Fault(
        "skipped copy",
        "transforms/passes/bufferize/__init__.py",
        " or WORLD in s.aliases",
        "",
        "A gradient that is a view of the cotangent shares the memory of the caller's array.",
    ),
    Fault(
        "wrong dtype",
        "transforms/passes/bufferize/in_place.py",
        "return same_dims and (a.dtype, a.module) == (b.dtype, b.module)",
        "return same_dims and a.module == b.module",
        "Complex cotangents are stored in place in real arrays and lose their imaginary parts.",
    ),
    Fault(
        "transposed operand",
        "transforms/passes/bufferize/in_place.py",
        "operator.sub: False",
        "operator.sub: True",
        "A difference whose second term alone may be overwritten comes out with the other sign.",
    ),
    Fault(
        "forgotten guard",
        "transforms/passes/bufferize/buffers.py",
        "    if operation.primitive.name in READ_ONLY:\n        sources.append(WORLD)\n",
        "",
        "The gradient of a mean is a read-only array, to which nothing can be added in place.",
    ),
    Fault(
        "skipped copy",
        "transforms/passes/records/flatten_records.py",
        "    edits.before[first.mirror].append(copy)\n    _edit(group, stack, copied, edits)\n",
        "    _edit(group, stack, parameter, edits)\n",
        "An adjoint of nested loops empties the caller's record and fails when it is run again.",
    ),
    Fault(
        "forgotten guard",
        "transforms/passes/records/iteration_counts.py",
        " and _is(one, 1)",
        "",
        "A counter that a loop raises by 2 is taken for the number of iterations.",
    ),
    # -- aliasing ------------------------------------------------------------------------------
    Fault(
        "forgotten guard",
        "frontend/memory/aliasing.py",
        "if levels is not None and levels < depth:",
        "if levels is not None and levels <= depth:",
        "A store to a list that may be one of two others is not refused, and they do not see it.",
    ),
    Fault(
        "forgotten guard",
        "frontend/values/values.py",
        "for other in (b, *b.overlaps)",
        "for other in (b,)",
        "A store to an array that another name may stand for is not refused, nor seen there.",
    ),
    Fault(
        "forgotten guard",
        "frontend/memory/contiguity.py",
        "return axes[first].step in (None, 1) and all(axes[n] == whole for n in others)",
        "return all(axes[n] == whole for n in others)",
        "The reshape of a slice with a step is taken for a view, and a store to it for one there.",
    ),
    Fault(
        "off-by-one in a slice",
        "ir/overlaps.py",
        "return start + low, start + high + array.itemsize",
        "return start + low, start + high",
        "Two items of a list that share one element are stored to without an AliasingError.",
    ),
    Fault(
        "stale value",
        "frontend/memory/places.py",
        "    _read_again(lowering, [other for other in kept if other not in changed])\n",
        "",
        "A row read from a list of lists before another name changed it shows what it was.",
    ),
    Fault(
        "skipped copy",
        "api/directional.py",
        "if position in shared or (isinstance(leaf, list) and position < results)",
        "if isinstance(leaf, list) and position < results",
        "To change the result of gs.vjp in place changes the gradients that its pullback gives.",
    ),
    # -- frontend ------------------------------------------------------------------------------
    Fault(
        "swapped branch",
        "frontend/joins/exits.py",
        "return always_leaves(last.body) and always_leaves(last.orelse)",
        "return always_leaves(last.body) or always_leaves(last.orelse)",
        "A branch that returns on one side only of an inner `if` returns None on the other.",
    ),
    Fault(
        "wrong constant",
        "frontend/control/list_lengths.py",
        "start + count * each",
        "start + count",
        "A list that grows by two items in each iteration is said to have grown by one.",
    ),
    Fault(
        "off-by-one in a slice",
        "frontend/control/patterns.py",
        "middle = slice(Static(star), Static(stop) if stop else None)",
        "middle = slice(Static(star), Static(stop))",
        "`case [first, *rest]` binds an empty rest.",
    ),
    Fault(
        "transposed operand",
        "frontend/containers/dicts.py",
        "for owner in (first, second))",
        "for owner in (second, first))",
        "In `a | b` of dicts that share a key, the item of the first one is taken.",
    ),
    Fault(
        "swapped branch",
        "frontend/prelude/prelude.py",
        "if item_key > best_key:",
        "if item_key >= best_key:",
        "`max` of a list by a key gives the last of several items that are largest.",
    ),
    Fault(
        "stale value",
        "frontend/containers/iteration_items.py",
        "Enumerated(rest, after)",
        "Enumerated(rest, start)",
        "`enumerate` counts the second item as the first where a first iteration stands by itself.",
    ),
    # -- codegen -------------------------------------------------------------------------------
    Fault(
        "forgotten guard",
        "codegen/precedence.py",
        "return UNARY if negative else ATOM",
        "return ATOM",
        "A power of a negative number is printed without parentheses, and so is negative.",
    ),
    Fault(
        "forgotten guard",
        "codegen/spellings.py",
        "        and same(left.comparators[-1], first.left)\n",
        "",
        "`x > 1 and b < a` is printed as one chain of comparisons, `x > 1` of what follows.",
    ),
    Fault(
        "sign",
        "codegen/literals.py",
        "return scope.numpy(name) if value > 0 else ast.UnaryOp(ast.USub(), scope.numpy(name))",
        "return scope.numpy(name)",
        "The constant -inf becomes inf in generated code.",
    ),
    Fault(
        "stale value",
        "codegen/normalize.py",
        "        if shape.reversed:\n"
        "            for record, _ in pairs:\n"
        "                yield _in_iteration_order(record, operation)\n",
        "",
        "The adjoint of a loop backwards reads the values of its iterations in the wrong order.",
    ),
    Fault(
        "transposed operand",
        "codegen/assignments.py",
        "if derived and isinstance(value.op, _COMMUTATIVE) and same(value.right, read):",
        "if derived and same(value.right, read):",
        "A derivative `s = t - s` is printed as `s -= t`, with the other sign.",
    ),
    Fault(
        "wrong dtype",
        "codegen/assignments.py",
        'return bool(np.can_cast(value.dtype, array.dtype, "same_kind"))',
        'return bool(np.can_cast(value.dtype, array.dtype, "unsafe"))',
        "`a[:2] = a[:2] * 1.5` of integers, which truncates, raises an error when compiled.",
    ),
    # -- engine --------------------------------------------------------------------------------
    Fault(
        "skipped copy",
        "runtime/graph/engine.py",
        "            waiting[index] = present + cotangent\n",
        "            present += cotangent\n            waiting[index] = present\n",
        "A backward from two Tensors, one made of the other, changes the given cotangents.",
    ),
    Fault(
        "skipped copy",
        "runtime/graph/hooks.py",
        "for hook in tuple(hooks.values()):",
        "for hook in hooks.values():",
        "A hook that removes itself while it is called breaks the backward.",
    ),
    Fault(
        "stale value",
        "runtime/graph/grad_mode.py",
        "        _asked().set(self._previous)\n        return super().__call__(function)",
        "        return super().__call__(function)",
        "`@set_grad_enabled(False)` on a function turns recording off for everything after it.",
    ),
    Fault(
        "wrong constant",
        "runtime/tensors/backward.py",
        "True if i < count - 1 else retain_graph",
        "True if i < count else retain_graph",
        "A graph is kept after `grad(..., is_grads_batched=True)`: a second backward is no error.",
    ),
    Fault(
        "off-by-one in a slice",
        "runtime/modes/checkpoint.py",
        "return run(chain[size * (segments - 1) :])(input)",
        "return run(chain[size * segments - 1 :])(input)",
        "`checkpoint_sequential` leaves out functions of the last segment.",
    ),
    Fault(
        "wrong dtype",
        "runtime/operations/pieces.py",
        "whole = np.zeros(self.shape, self.dtype)",
        "whole = np.zeros(self.shape)",
        "The gradient of the pieces of a float32 Tensor (`split`, `unbind`) is a float64.",
    ),
    # -- eager Tensors -------------------------------------------------------------------------
    Fault(
        "wrong dtype",
        "runtime/tensors/promotion.py",
        "result = promote(result, dtypes.complex64 if is_complex else weaker)",
        "result = promote(result, weaker)",
        "A complex64 result (float32 times a complex128 without axes) becomes complex128.",
    ),
    Fault(
        "wrong constant",
        "runtime/operations/ordering.py",
        "middle = np.take(order, [(array.shape[dim] - 1) // 2], axis=dim)",
        "middle = np.take(order, [array.shape[dim] // 2], axis=dim)",
        "The median along an axis of evenly many elements is the upper of the middle two.",
    ),
    Fault(
        "wrong constant",
        "runtime/operations/indexing.py",
        "return places[-1] - places[0] >= len(places)",
        "return places[-1] - places[0] > len(places)",
        "`x[0, :, index]` has its axes in NumPy's order instead of PyTorch's.",
    ),
    Fault(
        "skipped copy",
        "runtime/operations/inplace.py",
        'rest = np.array(d_base, copy=True, order="C")',
        'rest = np.asarray(d_base, order="C")',
        "A store into a Tensor makes zeros of cotangents that belong to other Tensors.",
    ),
    Fault(
        "forgotten guard",
        "runtime/tensors/views.py",
        'origin = "" if former is None else former.origin',
        'origin = ""',
        "A view of one of several views (`unbind`) may be changed in place without an error.",
    ),
    Fault(
        "transposed operand",
        "torchlike/nn/formulas/losses.py",
        "scale = 1 + (weights[-1] - 1) * target",
        "scale = 1 + (weights[0] - 1) * target",
        "Binary cross entropy with a weight and a pos_weight takes the one for the other.",
    ),
    # -- simplify, compiler, api ---------------------------------------------------------------
    Fault(
        "forgotten guard",
        "transforms/passes/simplify/dce.py",
        "if start is not None and stop is not None and step is not None and step.known == 1:",
        "if start is not None and stop is not None and step is not None:",
        "A loop over zip(range(0, n, 2), x) that ignores the index makes n iterations.",
    ),
    Fault(
        "dropped accumulation",
        "transforms/passes/simplify/stores.py",
        "    if may_repeat(path):\n        return None\n    between",
        "    between",
        "The gradient of x[index] with a repeated index keeps one part of the sum only.",
    ),
    Fault(
        "sign",
        "transforms/passes/simplify/algebra.py",
        "return rewriter.replacement(operation, operator.sub, right, left)",
        "return rewriter.replacement(operation, operator.sub, left, right)",
        "The negative of a difference in a derivative is that difference.",
    ),
    Fault(
        "forgotten guard",
        "compiler/keys.py",
        "return slice, value.start, value.stop, value.step",
        "return slice, value.start, value.stop",
        "A function compiled for x[0:6:1] is run for the slice 0:6:2, too.",
    ),
    Fault(
        "forgotten guard",
        "compiler/entry.py",
        '[f"lies_in_order({self.leaves[leaf]})" for leaf in self.contiguous]',
        "[]",
        "What was compiled for a C-ordered array is run for its transpose, with a wrong gradient.",
    ),
    Fault(
        "transposed operand",
        "api/functional.py",
        "positions = [order.index(number) for number in numbers]",
        "positions = [numbers.index(number) for number in order]",
        "Gradients with argnums=(2, 0, 1) come in another order than asked for.",
    ),
)
