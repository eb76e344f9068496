"""Operations that only the compiler makes: constants, tuples, lists, side effects, copies."""

from __future__ import annotations

from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Primitive
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import (
    BOOL,
    INT,
    Array,
    Collected,
    Opaque,
    Scalar,
    Sequence,
    Tuple,
    Type,
    is_integer,
    join_items,
    one_of,
)
from gradscribe.primitives.registry import GRADIENTS, LINEAR, register
from gradscribe.primitives.typing import TypeRuleError, type_of


def signature(*names: str) -> Signature:
    """The signature of an operation that only the compiler makes."""
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def _constant_type(facts: Facts, callee: Any, value: Any) -> Type:
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        return Opaque(type(value)) if isinstance(value, (str, type(None))) else Opaque()
    type_ = type_of(value)
    if isinstance(value, (int, np.integer)) and is_integer(type_):
        return replace(type_, value=Affine.of(int(value)))
    return type_


CONSTANT = Primitive("constant", _constant_type, signature("value"), cheap=True)
"""A number (or a string, None, … as an opaque value), given as attribute `value`."""

UNDEF = Primitive("undef", lambda facts, callee, type: type, signature("type"), cheap=True)
"""A value that is never read; emits nothing. Its type is given as attribute `type`."""

TUPLE = Primitive(
    "tuple",
    lambda facts, callee, items: Tuple(tuple(items)),
    signature("items"),
    tangent=LINEAR,
    cheap=True,
)
"""A tuple value, where one is needed as an item of a list or a record."""


def _item_type(facts: Facts, callee: Any, x: Type, position: int) -> Type:
    assert isinstance(x, Tuple)
    return x.items[position]


ITEM = Primitive("item", _item_type, signature("x", "position"), tangent=LINEAR, cheap=True)
"""An item of a tuple value, at a static position."""


def _list_type(facts: Facts, callee: Any, items: tuple[Type, ...], item: Type) -> Type:
    for other in items:
        item = join_items(item, other, facts)
    return Sequence(item, Affine.of(len(items)))


LIST = Primitive("list", _list_type, signature("items", "item"), tangent=LINEAR)
"""A new list of these items; attribute `item` is the item type (of an empty one, too)."""


def _append_type(facts: Facts, callee: Any, x: Type, value: Type) -> Type:
    assert isinstance(x, Sequence)
    return Sequence(join_items(x.item, value, facts), None if x.length is None else x.length + 1)


APPEND = Primitive("append", _append_type, signature("x", "value"), tangent=LINEAR)
"""The list `x` with `value` at its end (as a value: x itself stays as it was)."""


def _pop_type(facts: Facts, callee: Any, x: Type) -> Type:
    assert isinstance(x, Sequence)
    return Sequence(x.item, None if x.length is None else x.length + -1)


POP = Primitive("pop", _pop_type, signature("x"), tangent=LINEAR)
"""The list `x` without its last item; the item itself is `get(x, -1)` before."""


def check_position(index: Any) -> None:
    """Refuse what is no integer as the place of an item in a list."""
    type_ = index if isinstance(index, Type) else type_of(index)
    is_list = isinstance(type_, (Array, Sequence, Tuple)) and getattr(type_, "rank", 1) > 0
    is_number = isinstance(type_, (Scalar, Array)) and np.dtype(type_.dtype).kind not in "iub"
    if is_list or is_number:
        raise TypeRuleError("the places of a list's items are integers", "convert it: `int(i)`")


def _get_type(facts: Facts, callee: Any, x: Type, index: Any) -> Type:
    assert isinstance(x, Sequence)
    check_position(index)
    return one_of(x.item)


GET = Primitive("get", _get_type, signature("x", "index"), tangent=LINEAR, cheap=True)
"""The item of a list at an integer (static or operand)."""


def _set_type(facts: Facts, callee: Any, x: Type, index: Any, value: Type) -> Type:
    assert isinstance(x, Sequence)
    check_position(index)
    return Sequence(join_items(x.item, value, facts), x.length)


SET = Primitive("set", _set_type, signature("x", "index", "value"), tangent=LINEAR)
"""The list `x` with the item at `index` replaced."""


def _len_type(facts: Facts, callee: Any, x: Type) -> Type:
    if isinstance(x, Sequence) and x.length is not None:
        return Scalar("int64", True, x.length)
    return INT


LEN = Primitive("len", _len_type, signature("x"), cheap=True)
"""The length of a list."""


def _same_type(facts: Facts, callee: Any, x: Type) -> Type:
    return x


COPY = Primitive("copy", lambda facts, callee, x, optional=False: x, signature("x"), tangent=LINEAR)
"""A new array (or list) with the same contents. optional: there may be None in its
place (or, for its derivative, a zero), which stays."""

LEFT = Primitive("left", _same_type, signature("x"), tangent=LINEAR)
"""The list x, as what a list from outside is left with: its items may be those that this has had.
It is a result of the function; `bufferize` takes it for x."""

STOP_GRADIENT = Primitive("stop_gradient", _same_type, signature("x"), view=True, cheap=True)
"""x itself, of which no derivative is taken; emitted code shows just x."""


def stop_gradient(x: Any) -> Any:
    """x, unchanged; derivatives do not pass through it."""
    return x


register(STOP_GRADIENT, (stop_gradient,), ())


def _given_adjoint(out: Any, value: Any, inputs: Any, saved: Any, rules: Any, *, d_out: Any) -> Any:
    return None, rules.pull(out, inputs, saved, d_out)


def _given_tangent(
    out: Any, value: Any, inputs: Any, saved: Any, rules: Any, *, d_inputs: Any
) -> Any:
    return rules.push(out, inputs, saved, d_inputs)


def _kept_adjoint(out: Any, value: Any, x: Any, *, d_out: Any) -> Any:
    return None, d_out


def _kept_tangent(out: Any, value: Any, x: Any, *, d_x: Any) -> Any:
    return d_x


GIVEN = Primitive(
    "given",
    lambda facts, callee, value, inputs, saved, rules: value,
    signature("value", "inputs", "saved", "rules"),
    adjoint=_given_adjoint,
    tangent=_given_tangent,
    view=True,
    cheap=True,
)
"""value itself, taken for a function of `inputs` whose derivative the user gives: `rules.pull` and
`rules.push`, which may read what was saved. Emitted code shows just value."""

KEPT = Primitive(
    "kept",
    lambda facts, callee, value, x: value,
    signature("value", "x"),
    adjoint=_kept_adjoint,
    tangent=_kept_tangent,
    view=True,
    cheap=True,
)
"""value itself, taken for a function of what x is one of, with the same derivatives: an array after
a change of which no derivative is taken. Emitted code shows just value."""

GRADIENTS.update((GIVEN, KEPT))

ZEROS_LIKE = Primitive("zeros_like", lambda facts, callee, x, optional=False: x, signature("x"))
"""Zeros of the type of x: for arrays np.zeros_like; for lists, a list of zeros. optional: where a
list has no value yet, it has no items."""

ADD_ITEMS = Primitive("add_items", lambda facts, callee, x, y: x, signature("x", "y"))
"""The sum of two cotangents of the same list or tuple, item by item."""


def _effect_type(
    facts: Facts,
    callee: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    type: Type = Opaque(),  # noqa: B008
    reached: tuple[Any, ...] = (),
) -> Type:
    return type


EFFECT = Primitive("effect", _effect_type, signature("args", "keywords", "type"), effect=True)
"""A call of `callee` for its side effect, or for a value that is never differentiated, of the
type that the attribute `type` gives. reached: the arrays that it may write to."""

LENT = Primitive("lent", _same_type, signature("x"))
"""A copy of the array x, in the same order of memory, for calls that may write to it."""

LENT_ITSELF = Primitive("lent_itself", _same_type, signature("x"))
"""The array x itself, which is nothing but memory that unread calls share: they may have its
address for longer than the function runs."""

WRITTEN = Primitive("written", lambda facts, callee, x, call: x, signature("x", "call"), view=True)
"""The lent array x as the call whose result is `call` left it. Emitted code shows just x."""

RENEW = Primitive(
    "renew",
    lambda facts, callee, x, value: Opaque(),
    signature("x", "value"),
    effect=True,
    callee=np.copyto,
)
"""Store the array value in the memory x that unread calls share, for the next of them to see."""

REREAD = Primitive("reread", lambda facts, callee, x, call: x, signature("x", "call"))
"""A copy of what is in the array x after a call, which may have written to it: x is no value of
the IR, but memory that such calls share."""

RUN = Primitive("run", _effect_type, signature("args", "keywords", "type"))
"""Likewise, of a function without side effects."""

RAISE = Primitive(
    "raise",
    lambda facts, callee, exception, cause: Opaque(),
    signature("exception", "cause"),
    effect=True,
)
"""`raise exception from cause`; ends its block."""

ASSERT = Primitive(
    "assert",
    lambda facts, callee, condition, message: Opaque(),
    signature("condition", "message"),
    effect=True,
)
"""`assert condition, message`."""

CHECK = Primitive(
    "check",
    lambda facts, callee, condition, what, advice, error: Opaque(),
    signature("condition", "what", "advice", "error"),
    effect=True,
)
"""Refuses a run in which the condition does not hold, with an error of this class: the compiler has
taken it to. No handler of the program takes that for an exception of its own."""

ENTER = Primitive("enter", _effect_type, signature("args", "keywords", "type"), effect=True)
"""Begins a `with` block: the manager is `callee(*args, **keywords)`, or, without callee, the one
argument. The result is what the manager hands out (`as`). An EXIT in the same block ends it."""

EXIT = Primitive("exit", _effect_type, signature("args", "keywords"), effect=True)
"""Ends the innermost `with` block that an ENTER of the same callee began; of the same arguments,
if it is one of RESUMED."""

ATTEMPT = Primitive(
    "attempt", lambda facts, callee, catches: BOOL, signature("catches"), effect=True
)
"""The condition of the `if` that a `try` is: whether what its first side does was done without one
of the exceptions `catches`; otherwise, its second side is what handles them."""

CAUGHT = Primitive("caught", lambda facts, callee, cls: Opaque(cls), signature("cls"), effect=True)
"""The exception that was caught, at the start of what handles it; of the class `cls` or below."""


def attempted() -> None:
    """Callee of the ENTER and EXIT around the body of a `try` with `finally`."""


def finally_done() -> None:
    """Callee of the ENTER and EXIT around what `finally` does, which follow right after."""


RESUMED = frozenset({np.errstate})
"""Managers that say how numbers are computed: the adjoint of what they surround is computed under
them, too, and where nothing is left to be computed, they go."""


FORMAT = Primitive("format", lambda facts, callee, parts: Opaque(), signature("parts"))
"""An f-string: parts are strings and (value, conversion, format) triples."""

FORMAT_NOW = replace(FORMAT, name="format_now", effect=True)
"""One that shows an object which may change, or whose methods may change something."""


def _push_type(facts: Facts, callee: Any, stack: Type, value: Type) -> Type:
    return Opaque()


def _stack_pop_type(facts: Facts, callee: Any, stack: Type) -> Type:
    assert isinstance(stack, Collected)
    return stack.item


STACK = Primitive("stack", lambda facts, callee, item: Collected(item), signature("item"))
"""A new, empty stack of records (made by flatten_records; the only mutable value of the IR)."""

PUSH = Primitive("push", _push_type, signature("stack", "value"), effect=True)
STACK_POP = Primitive("stack_pop", _stack_pop_type, signature("stack"), effect=True)
