"""Objects of users' classes that have `__getitem__`, and no `__iter__`.

Python asks them for the items of 0, 1 and so on, until that raises IndexError; `__len__` is not
asked. Where it is certain that the items end at the length, they are those of a range, which loops
count and unroll; else they are asked for one by one.
"""

from __future__ import annotations

from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.memory import at_once
from gradscribe.frontend.objects import construction
from gradscribe.frontend.prelude.iteration_prelude import NumberedItems
from gradscribe.frontend.state.interruptions import AlwaysRaisesError, HasRaisedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import protocols
from gradscribe.frontend.values.iterations import ItemsByNext
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.core import Operation
from gradscribe.ir.types import Array, Scalar, Sequence
from gradscribe.primitives.control import RAISE
from gradscribe.primitives.raising import may_raise


def length(lowering: Lowering, node: Any, owner: FrontendValue) -> FrontendValue | None:
    """The length of an object, if its items end there; None where that is not certain."""
    trial = lowering.trial()
    count = protocols.call(lowering, node, owner, "__len__")
    if count is None:
        return None
    is_end = not at_once.changes_something(lowering, trial)
    is_end = is_end and _ends_at(lowering, node, owner, count)
    if is_end and isinstance(count, Static) and count.value:
        is_end = not _ends_at(lowering, node, owner, Static(count.value - 1))
    if is_end:
        return count
    trial.take_back()
    return None


def asked_in_turn(lowering: Lowering, node: Any, owner: FrontendValue) -> ItemsByNext:
    """The items, each of them asked for when it is taken."""
    return ItemsByNext(construction.instantiate(lowering, node, NumberedItems, (owner,), {}))


def _ends_at(lowering: Lowering, node: Any, owner: FrontendValue, count: FrontendValue) -> bool:
    """Whether the item of this number is certain to raise IndexError. It is lowered on trial."""
    trial = lowering.trial()
    try:
        protocols.call_own(lowering, node, owner, "__getitem__", count)
    except AlwaysRaisesError as error:
        return issubclass(error.cls, IndexError)
    except HasRaisedError:
        raising = trial.operations[-1]
        return raising.primitive is RAISE and may_raise(raising, (IndexError,), trial.operations)
    except UnsupportedError as error:
        return isinstance(error, IndexError)
    else:
        return _is_past_the_end(lowering, trial.operations)
    finally:
        trial.take_back()


def _is_past_the_end(lowering: Lowering, made: list[Operation]) -> bool:
    """Whether all these look-ups at a number are past the end of an array or list."""
    looked = [o for o in made if o.regions or may_raise(o, (IndexError,), made)]
    numbers = [(o, _numbers(o)) for o in looked]
    asked = [(o, given) for o, given in numbers if given or o.regions]
    facts = lowering.builder.facts
    return bool(asked) and all(
        any(length is not None and facts.equal(number, length) for number in given)
        for o, given in asked
        for length in [_length(o)]
    )


def _numbers(operation: Operation) -> list[Any]:
    """The integers among the operands, as far as they are known."""
    types = [value.type for value in operation.operands[1:]]
    return [t.value for t in types if isinstance(t, Scalar) and t.value is not None]


def _length(operation: Operation) -> Any:
    type_ = operation.operands[0].type if operation.operands else None
    if isinstance(type_, Array) and type_.rank:
        return type_.dims[0]
    return type_.length if isinstance(type_, Sequence) else None
