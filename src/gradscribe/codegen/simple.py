"""The statements of operations without regions.

`SIMPLE` gives, by primitive, the function that writes an operation's statement; all other
operations are assigned to their variable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradscribe.codegen.assignments import (
    accumulated,
    assign,
    assign_name,
    casts_in_place,
    change_of,
    changed,
    computes_with_numbers,
)
from gradscribe.codegen.definitions import definition, is_definition
from gradscribe.codegen.heads import target
from gradscribe.codegen.listing import Listing, is_derived
from gradscribe.codegen.objects import augmenting, changing
from gradscribe.codegen.rewriting import call_method, name, negation, same, without_minus
from gradscribe.codegen.uses import is_foreign, stored_value
from gradscribe.ir.core import CALL, Block, Location, Operand, Operation, Primitive, walk
from gradscribe.ir.types import Scalar
from gradscribe.primitives import control, indexing, lists
from gradscribe.primitives.lifetimes import ENDS
from gradscribe.primitives.raising import may_raise


def write_simple(listing: Listing, operation: Operation) -> None:
    """Add the statement of an operation without regions."""
    if is_definition(operation):
        _define(listing, operation)
        return
    SIMPLE.get(operation.primitive, _assign)(listing, operation)


def _assign(listing: Listing, operation: Operation) -> None:
    """`x = …`; a result that nobody reads is computed only for its effect, which may be that it
    raises what a `try` around it handles."""
    if operation.callee in ENDS:
        _let_go(listing, operation)
        return
    (result,) = operation.results
    change = None if listing.plan.is_used(result) else changing(listing, operation)
    if change is not None:
        listing.add(change, operation.location)
        return
    is_held = bool(result.name) and is_foreign(operation)
    if not (listing.plan.is_used(result) or is_held):
        caught, makers = tuple(listing.catching), listing.plan.uses.makers(operation)
        primitive = operation.primitive
        lasts = primitive.effect or (primitive.lasting and not is_derived(operation.location))
        if lasts or may_raise(operation, caught, makers):
            listing.add(ast.Expr(listing.write.operation(operation)), operation.location)
        return
    bound = target(listing.plan, result)
    if is_held:
        bound = name(listing.plan.names.of[result])
    augmented = augmenting(listing, operation, bound)
    if augmented is not None:
        listing.add(augmented, operation.location)
        return
    expression = listing.write.operation(operation)
    if isinstance(bound, ast.Name):
        derived = is_derived(operation.location)
        numbers = computes_with_numbers(operation)
        statement = assign_name(bound.id, expression, numbers, derived)
    else:
        statement = assign(bound, expression)
    listing.add(statement, operation.location)


def _let_go(listing: Listing, operation: Operation) -> None:
    """`del x`, where nothing is needed any more that is in this variable. What was made outside of
    a loop is there once, though it may be let go several times; what one branch has made may not be
    there."""
    plan, names = listing.plan, listing.plan.names.of
    value, made = operation.operands[0], plan.uses.producer.get(operation.operands[0])
    own = names.get(value)
    home = plan.uses.home
    every = list(_in_order(plan.function.body))
    before, after = every[: every.index(operation)], every[every.index(operation) + 1 :]
    gone = {value, *(o.operands[0] for o in before if o.callee in ENDS)}
    gone.update(r for b in (made.regions if made else ()) for o in walk(b) for r in o.results)
    there = {result for o in before for result in o.results}
    sharing = {other for other in there if names.get(other) == own}
    ends = [o for o in after if o.callee in ENDS and o.operands[0] is value]
    is_kept = any(home[o.result][0] is home[operation.result][0] for o in ends)  # by another name
    if own is None or is_kept or not sharing <= gone or value in plan.after[operation]:
        return
    is_there = is_foreign(made)
    if is_there and home[operation.operands[0]][0] is home[operation.result][0]:
        listing.add(ast.Delete([ast.Name(own, ast.Del())]), operation.location)
    else:
        listing.add(assign_name(own, ast.Constant(None), False, False), operation.location)


def _in_order(block: Block) -> Iterator[Operation]:
    """All operations, those in the regions of another one before it."""
    for operation in block.operations:
        for region in operation.regions:
            yield from _in_order(region)
        yield operation


def _define(listing: Listing, operation: Operation) -> None:
    """`def f(…): …`, of a function of the user's."""
    if listing.plan.is_used(operation.result):
        name = listing.plan.names.of[operation.result]
        listing.add(definition(listing.write, operation, name), operation.location)


def _call(listing: Listing, operation: Operation) -> None:
    expression = listing.write.operation(operation)
    targets = [target(listing.plan, result) for result in operation.results]
    if not targets:
        statement: ast.stmt = ast.Expr(expression)
    elif len(targets) == 1:
        statement = assign(targets[0], expression)
    else:
        statement = assign(ast.Tuple(targets, ast.Store()), expression)
    listing.add(statement, operation.location)


def _undef(listing: Listing, operation: Operation) -> None:
    """Nothing is written for a value that is never read, or that a header binds."""


def _store(listing: Listing, operation: Operation) -> None:
    array, value = operation.operands[0], _stored(listing, operation)
    view = _view(listing, operation)
    change = change_of(view, value, is_derived(operation.location))
    in_place = casts_in_place(operation.operands[1].type, array.type)
    if change is not None and in_place and not _drops_axes(listing, operation, view, value):
        statement: ast.stmt = changed(_place(view), *change)
    else:
        statement = assign(_subscripted(view), value)
    listing.add(statement, _origin(listing, operation))


def _accumulate(listing: Listing, operation: Operation) -> None:
    if indexing.may_repeat(operation.attributes["path"]):
        listing.add(ast.Expr(_accumulated_at(listing, operation)), operation.location)
        return
    place = _place(_view(listing, operation))
    listing.add(accumulated(place, _stored(listing, operation)), _origin(listing, operation))


def _origin(listing: Listing, operation: Operation) -> Location | None:
    """Where a store comes from: from what makes the cotangent that is written in it."""
    value = stored_value(operation)
    if value is None or not value.name or value not in listing.plan.folded:
        return operation.location
    location = listing.plan.uses.producer[value].location
    return location if is_derived(location) else operation.location


def _accumulated_at(listing: Listing, operation: Operation) -> ast.expr:
    """`np.add.at(x, idx, value)`, or `np.subtract.at` where value has a leading minus."""
    place, value = _subscripted(_view(listing, operation)), _stored(listing, operation)
    positive = without_minus(value)
    function = listing.write.scope.numpy("add" if positive is None else "subtract")
    index: ast.expr = place.slice
    if any(isinstance(node, ast.Slice) for node in ast.walk(index)):
        index = ast.Subscript(listing.write.scope.numpy("s_"), index, ast.Load())
    arguments = [place.value, index, value if positive is None else positive]
    return ast.Call(ast.Attribute(function, "at", ast.Load()), arguments, [])


def _drops_axes(listing: Listing, store: Operation, read: ast.expr, value: ast.expr) -> bool:
    """Whether the sum of a part of an array and something is stored to that part without its
    leading axes, as `=` does, and `+=` does not."""
    assert isinstance(value, ast.BinOp)
    made = listing.plan.uses.producer.get(store.operands[1])
    part = made and made.attributes.get("x" if same(value.left, read) else "y")
    if made is None or not isinstance(part, Operand):
        return False
    before, after = made.operands[part.index].type, made.result.type
    return getattr(before, "rank", 0) < getattr(after, "rank", 0)


def _view(listing: Listing, operation: Operation) -> ast.expr:
    """The part of the array that is stored to."""
    array = listing.write.value(operation.operands[0])
    return listing.write.view(operation, array, operation.attributes["path"])


def _stored(listing: Listing, operation: Operation) -> ast.expr:
    return listing.write.argument(operation, operation.attributes["value"])


def _place(view: ast.expr) -> ast.Name | ast.Subscript:
    """A view as the target of an in-place operation."""
    return view if isinstance(view, ast.Name) else _subscripted(view)


def _subscripted(view: ast.expr) -> ast.Subscript:
    """A view as the target of an assignment: `a[...]` for a whole array."""
    if isinstance(view, ast.Subscript):
        return view
    return ast.Subscript(view, ast.Constant(...), ast.Store())


def _append(listing: Listing, operation: Operation) -> None:
    owner = listing.write.value(operation.operands[0])
    value = _stored(listing, operation)
    if operation.operands[0] in listing.plan.uses.keys:
        place = ast.Subscript(owner, value, ast.Store())
        length = ast.Call(name("len"), [owner], [])
        listing.add(assign(place, length), operation.location)
        return
    listing.add(ast.Expr(call_method(owner, "append", value)), operation.location)


def _set(listing: Listing, operation: Operation) -> None:
    if lists.put_back(operation, listing.plan.uses.producer.get):
        return  # the item was changed where it is
    owner = listing.write.value(operation.operands[0])
    index = listing.write.argument(operation, operation.attributes["index"])
    place = ast.Subscript(owner, index, ast.Store())
    value = _stored(listing, operation)
    item = operation.operands[operation.attributes["value"].index]
    statement: ast.stmt = assign(place, value)
    change = change_of(place, value, is_derived(operation.location))
    if change is not None and isinstance(item.type, Scalar):
        statement = changed(place, *change)
    listing.add(statement, _origin(listing, operation))


def _set_section(listing: Listing, operation: Operation) -> None:
    owner = listing.write.value(operation.operands[0])
    place = listing.write.subscript(operation, owner, (operation.attributes["index"],))
    listing.add(assign(place, _stored(listing, operation)), operation.location)


def _insert(listing: Listing, operation: Operation) -> None:
    owner = listing.write.value(operation.operands[0])
    index = listing.write.argument(operation, operation.attributes["index"])
    call = call_method(owner, "insert", index, _stored(listing, operation))
    listing.add(ast.Expr(call), operation.location)


def _delete(listing: Listing, operation: Operation) -> None:
    owner = listing.write.value(operation.operands[0])
    index = listing.write.argument(operation, operation.attributes["index"])
    place = ast.Subscript(owner, index, ast.Del())
    listing.add(ast.Delete([place]), operation.location)


def _pop(listing: Listing, operation: Operation) -> None:
    """`xs.pop()`; right after `x = xs[-1]` these are one statement."""
    owner = listing.write.value(operation.operands[0])
    pop = call_method(owner, "pop")
    last = listing.statements[-1] if listing.statements else None
    if isinstance(last, ast.Assign) and _is_last_item(last.value, owner):
        last.value = pop
    else:
        listing.add(ast.Expr(pop), operation.location)


def _is_last_item(value: ast.expr, owner: ast.expr) -> bool:
    return (
        isinstance(value, ast.Subscript)
        and same(value.value, owner)
        and isinstance(value.slice, ast.Constant)
        and value.slice.value == -1
    )


def _raise(listing: Listing, operation: Operation) -> None:
    exception, cause = operation.attributes["exception"], operation.attributes["cause"]
    error = listing.write.argument(operation, exception)
    origin = None if cause is None else listing.write.argument(operation, cause)
    listing.add(ast.Raise(error, origin), operation.location)


def _assert(listing: Listing, operation: Operation) -> None:
    message = operation.attributes["message"]
    text = None if message is None else listing.write.argument(operation, message)
    condition = listing.write.argument(operation, operation.attributes["condition"])
    listing.add(ast.Assert(condition, text), operation.location)


def _check(listing: Listing, operation: Operation) -> None:
    """`if not condition: raise error(what, advice)`."""
    condition = listing.write.argument(operation, operation.attributes["condition"])
    texts = [operation.attributes[name] for name in ("what", "advice")]
    error = listing.write.scope.reference(operation.attributes["error"])
    call = ast.Call(error, [ast.Constant(text) for text in texts if text], [])
    with listing.nested(operation.location) as refusal:
        listing.add(ast.Raise(call), operation.location)
    listing.add(ast.If(negation(condition), refusal, []), operation.location)


SIMPLE: dict[Primitive, Callable[[Listing, Operation], None]] = {
    CALL: _call,
    control.UNDEF: _undef,
    control.ATTEMPT: _undef,
    control.CAUGHT: _undef,
    control.APPEND: _append,
    control.PUSH: _append,
    control.SET: _set,
    control.POP: _pop,
    lists.SET_SECTION: _set_section,
    lists.INSERT: _insert,
    lists.DELETE: _delete,
    control.RAISE: _raise,
    control.ASSERT: _assert,
    control.CHECK: _check,
    indexing.STORE: _store,
    indexing.ACCUMULATE: _accumulate,
}
