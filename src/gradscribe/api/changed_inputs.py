"""Inputs of an `autograd.Function` that its `forward` changes in place, in compiled code.

One that `ctx.mark_dirty` names becomes the result that it is returned as: whatever shares its
memory sees that. Any other holds what `forward` has stored, of which no derivative is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from gradscribe.errors import NoDerivativeError
from gradscribe.frontend.containers.stores import store
from gradscribe.frontend.memory import places
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.state.handlers import ObjectsOf, handles
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Ref, Static, Storage, may_overlap
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array, is_differentiable
from gradscribe.primitives.control import GIVEN, KEPT
from gradscribe.primitives.registry import PRIMITIVES
from gradscribe.primitives.shaping import respelled
from gradscribe.runtime.modes.function_outputs import NO_INPUT, NOT_RETURNED, SEVERAL, unmarked


@dataclass(frozen=True)
class _Unmarked:
    """The rules of an array that a Function has changed without `mark_dirty`: its derivatives are
    refused."""

    function: str

    @property
    def pull(self) -> _Unmarked:
        return self

    push = pull


def keep_derivatives(
    lowering: Lowering, function: str, before: Mapping[Storage, Any], dirty: Sequence[Any]
) -> None:
    """Give the arrays that have changed since, where no derivative is taken, the derivatives that
    they had, if they are, or share memory with, what is marked as dirty. before: the contents of
    all storages."""
    marked = [storage for item in dirty for storage in storages(lowering, item)]
    for storage, contents in before.items():
        now = lowering.contents[storage]
        if now is contents or not isinstance(now, Value) or not isinstance(contents, Value):
            continue
        if not isinstance(now.type, Array) or not is_differentiable(now.type):
            continue
        if any(may_overlap(storage, one) for one in marked):
            made = lowering.plain(KEPT, {"value": now, "x": contents}, name=storage.name)
        else:
            rules = _Unmarked(function)
            tree = {"value": now, "inputs": (contents,), "saved": (), "rules": rules}
            made = lowering.plain(GIVEN, tree, name=storage.name)
        lowering.contents[storage] = made


@handles(ObjectsOf(_Unmarked))
def _refuse_unmarked(
    lowering: Lowering, node: Any, callee: Static, /, *call: Any, **named: Any
) -> NoReturn:
    raise NoDerivativeError(*unmarked(callee.value.function), lowering.builder.location)


def is_same(item: Any, other: Any) -> bool:
    """Whether two values are one Tensor."""
    if isinstance(item, Ref) and isinstance(other, Ref):
        return item.storage is other.storage and item.path == other.path
    return item is other


def checked(
    lowering: Lowering, node: Any, dirty: Sequence[Any], inputs: Sequence[Any], items: Sequence[Any]
) -> list[bool]:
    """Which of the results are dirty inputs. Raises what eager mode raises for what is marked and
    no result, or no input."""
    for marked in dirty:
        if not isinstance(marked, Ref):
            lowering.unsupported(
                node,
                "`mark_dirty` of a number: in compiled code, numbers are not changed in place",
                "give the Function a Tensor with axes, or return a new Tensor",
            )
        if not any(is_same(marked, item) for item in items):
            raise RuntimeError(NOT_RETURNED)
        if not any(is_same(marked, given) for given in inputs):
            raise RuntimeError(NO_INPUT)
    found = [any(is_same(marked, item) for marked in dirty) for item in items]
    is_view = [known and _is_view(item) for item, known in zip(items, found, strict=True)]
    if any(is_view) and sum(isinstance(item, (Ref, Value)) for item in items) > 1:
        raise RuntimeError(SEVERAL)
    return found


def _is_view(item: Ref) -> bool:
    return any(primitive is not PRIMITIVES[respelled] for primitive, _, _ in item.path)


def stored(lowering: Lowering, node: Any, target: Ref, made: Any) -> Ref:
    """The input, as the result that it has become."""
    if target.path:
        store(lowering, node, target, made)
        return target
    with places.changing(lowering, target.storage):
        lowering.contents[target.storage] = lowering.value(made)
    lowering.changes.stored.add(target.storage)
    return target
