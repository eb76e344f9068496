"""Which operations are better done in place, and which stores are better not.

A derived operation on a cotangent that is dead afterwards reuses its array: `d_h *= t`. The
other way round, a store to a whole array that would have to be copied first makes a new array
at once: `x = x * t`, not `x = x.copy()` and then `x *= t`.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from gradscribe.ir.core import Function, Operand, Operation, Value, walk
from gradscribe.ir.lengths import Facts
from gradscribe.ir.roles import cotangents, is_derived
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.control import COPY
from gradscribe.primitives.indexing import ACCUMULATE, STORE, is_whole
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.typing import TypeRuleError
from gradscribe.transforms.building import reshapes
from gradscribe.transforms.passes.bufferize.aliasing import Aliasing
from gradscribe.transforms.passes.simplify.rewriter import count_uses

_AUGMENTED: dict[Any, bool] = {
    operator.add: True,
    operator.mul: True,
    operator.sub: False,
    operator.truediv: False,
}
"""Operators that have an in-place form, and whether their operands may be exchanged."""


def reusable(function: Function, aliasing: Aliasing) -> dict[Operation, int]:
    """The derived operations that can be done in place, and on which operand: a cotangent that
    is a statement of its own already (it has a name, is read more than once, or was made so).

    names: those of the variables whose arrays are reused."""
    operations = list(walk(function.body))
    uses = count_uses(function)
    derivatives = cotangents(function)
    reused: dict[Operation, int] = {}
    names: dict[Value, str] = {}
    for operation in operations:
        exchangeable = _AUGMENTED.get(operation.callee)
        if exchangeable is None or not is_derived(operation) or len(operation.operands) != 2:
            continue
        for number in (0, 1) if exchangeable else (0,):
            x = operation.operands[number]
            name = names.get(x, x.name)
            is_folded = not x.name and uses[x] == 1 and x not in names
            if x not in derivatives or is_folded or operation.result.name not in ("", name):
                continue
            if _may_reuse(operation, x, aliasing, function.facts):
                reused[operation] = number
                names[operation.result] = operation.result.name or name
                break
    return reused


def _may_reuse(operation: Operation, x: Value, aliasing: Aliasing, facts: Facts) -> bool:
    """Whether the result can take the place of x: an array of the same type, and nothing that
    shares its memory is read later."""
    result = operation.result
    if not _same_array(facts, x.type, result.type):
        return False
    (buffer,) = aliasing.buffers(x).values()
    others = (s for value in operation.operands for s in aliasing.buffers(value).values())
    if any(other in buffer.aliases for other in others):
        return False
    return _is_free(x, operation, aliasing)


def _is_free(x: Value, operation: Operation, aliasing: Aliasing) -> bool:
    """Whether nothing that shares the memory of an array is read after an operation."""
    (buffer,) = aliasing.buffers(x).values()
    live = aliasing.live[operation].difference(operation.results)
    return not aliasing.conflicts(buffer, live)


def _same_array(facts: Facts, a: Type, b: Type) -> bool:
    if not (isinstance(a, Array) and isinstance(b, Array)) or a.rank != b.rank:
        return False
    pairs = zip(a.dims, b.dims, strict=True)
    same_dims = all(x == y or facts.normalize(x) == facts.normalize(y) for x, y in pairs)
    return same_dims and (a.dtype, a.module) == (b.dtype, b.module)


# -- stores to whole arrays --------------------------------------------------------------------


def out_of_place(function: Function, aliasing: Aliasing) -> dict[Operation, Operation | None]:
    """What to do instead of stores to whole arrays that would be copied first: operations and
    their replacements (None: nothing is left to do)."""
    operations = list(walk(function.body))
    uses = count_uses(function)
    definitions = {result: o for o in operations for result in o.results if uses[result] == 1}
    replacements: dict[Operation, Operation | None] = {}
    if any(reshapes(operation.attributes.get("path", ())) for operation in operations):
        return replacements  # arrays have to stay in C order
    for operation in operations:
        if operation.primitive not in (STORE, ACCUMULATE):
            continue
        if not is_whole(operation.attributes["path"]):
            continue
        if (operation, operation.attributes["x"].index) not in aliasing.copies.operands:
            continue
        instead = _stored if operation.primitive is STORE else _added
        made = {v: o for v, o in definitions.items() if o not in replacements}
        replacements.update(instead(operation, made, aliasing, function.facts))
    return replacements


Definitions = dict[Value, Operation]
"""What makes each value that is used once."""


def _stored(
    store: Operation, definitions: Definitions, aliasing: Aliasing, facts: Facts
) -> dict[Operation, Operation | None]:
    """`x[...] = v`: the operation that makes v makes the new x; or v is copied instead of x."""
    value = store.operands[store.attributes["value"].index]
    if not _same_array(facts, store.result.type, value.type):
        return {}
    made = definitions.get(value)
    if (
        made is not None
        and not made.regions
        and not made.primitive.view
        and value not in aliasing.copies.results
        and value.name in ("", store.result.name)
        and _is_free(value, store, aliasing)
    ):
        results = tuple(store.result if result is value else result for result in made.results)
        return {store: None, made: replace(made, results=results)}
    return {store: _new(COPY, None, (value,), store, ("x",))}


def _added(
    accumulate: Operation, definitions: Definitions, aliasing: Aliasing, facts: Facts
) -> dict[Operation, Operation | None]:
    """`x[...] += v`: the sum, or the difference where v is a negative."""
    x, value = (accumulate.operands[accumulate.attributes[name].index] for name in ("x", "value"))
    negative = definitions.get(value)
    callee: Any = operator.add
    replaced: dict[Operation, Operation | None] = {}
    if negative is not None and negative.primitive is PRIMITIVES[operator.neg]:
        callee, value = operator.sub, negative.operands[0]
        replaced[negative] = None
    primitive = PRIMITIVES[callee]
    try:
        type_ = primitive.type_rule(facts, callee, x=x.type, y=value.type)
    except TypeRuleError:
        return {}
    if not _same_array(facts, type_, accumulate.result.type):
        return {}
    replaced[accumulate] = _new(primitive, callee, (x, value), accumulate, ("x", "y"))
    return replaced


def _new(
    primitive: Any,
    callee: Any,
    operands: tuple[Value, ...],
    store: Operation,
    names: tuple[str, ...],
) -> Operation:
    attributes = {name: Operand(number) for number, name in enumerate(names)}
    return Operation(
        primitive, operands, store.results, attributes, location=store.location, callee=callee
    )
