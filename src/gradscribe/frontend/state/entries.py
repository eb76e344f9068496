"""What the parts of the frontend ask of each other.

A call has arguments, arguments have operators, operators call methods, and methods have bodies: the
functions that lower these need each other. Each stands in a module of its own, and is reached as a
method of `Lowering`, so that none of these modules imports another one for it. `frontend/__init__`
hands the functions in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.values.values import FrontendValue, ListRef
from gradscribe.ir.core import Primitive, Value

Entry = Callable[..., Any]
Giving = Callable[..., FrontendValue]
"""An entry function that gives a value."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The functions, each of which takes a `Lowering` first."""

    statements: Entry
    expression: Giving
    operate: Giving
    truth: Entry
    membership: Giving
    attribute: Giving
    assign: Entry
    unpacked: Entry
    captured_variable: Giving
    misfit: Entry
    call: Giving
    apply_primitive: Giving
    inline: Giving
    inline_frame: Giving
    listed: Entry
    leave: Entry


class Enclosing(Protocol):
    """The recursive function that is being lowered, as it stands in the one that calls it."""

    stores: Any

    def take_known(self) -> None: ...

    def given_lists(self) -> Iterator[tuple[str, ListRef]]: ...

    def take(self, key: Any, value: Any, path: AccessPath, name: str) -> FrontendValue: ...


class EntryMethods:
    """The entry functions, as methods of a `Lowering`."""

    entries: Entries

    def statements(self, nodes: Sequence[Any]) -> None:
        """Lower a block, as far as control reaches."""
        self.entries.statements(self, nodes)

    def expression(self, node: Any) -> FrontendValue:
        """The frontend value of an expression."""
        return self.entries.expression(self, node)

    def operate(self, node: Any, callee: Any, *operands: FrontendValue) -> FrontendValue:
        """An operator on frontend values: folded if static, on tuples and lists as Python does."""
        return self.entries.operate(self, node, callee, *operands)

    def truth(self, item: FrontendValue) -> bool | Value:
        """The truth value: known, or as an IR value that Python tests at run time."""
        found: bool | Value = self.entries.truth(self, item)
        return found

    def membership(
        self, node: Any, wanted: bool, item: FrontendValue, container: FrontendValue
    ) -> FrontendValue:
        """`item in container`, or `not in`."""
        return self.entries.membership(self, node, wanted, item, container)

    def attribute(self, node: Any, owner: FrontendValue, name: str) -> FrontendValue:
        """`owner.name`."""
        return self.entries.attribute(self, node, owner, name)

    def assign(self, target: Any, item: FrontendValue) -> None:
        """Bind or store a value to an assignment target."""
        self.entries.assign(self, target, item)

    def unpacked(
        self, node: Any, item: FrontendValue, expected: int | None = None
    ) -> tuple[FrontendValue, ...]:
        """The items of a value whose number of items is known, or expected: then it is compared at
        run time."""
        found: tuple[FrontendValue, ...] = self.entries.unpacked(self, node, item, expected)
        return found

    def captured_variable(self, value: Any, path: AccessPath, name: str) -> FrontendValue:
        """The implicit input for a variable from outside."""
        return self.entries.captured_variable(self, value, path, name)

    def misfit(
        self, primitive: Primitive, callee: Any, arguments: Mapping[str, Any], error: Exception
    ) -> UnsupportedError:
        """The refusal for what the type rule of a primitive says of its arguments."""
        found: UnsupportedError = self.entries.misfit(self, primitive, callee, arguments, error)
        return found

    def call(
        self,
        node: Any,
        callee: FrontendValue,
        arguments: tuple[FrontendValue, ...],
        keywords: Mapping[str, FrontendValue],
    ) -> FrontendValue:
        """`callee(*arguments, **keywords)`."""
        return self.entries.call(self, node, callee, arguments, keywords)

    def apply_primitive(
        self,
        node: Any,
        primitive: Primitive,
        callee: Any,
        arguments: tuple[FrontendValue, ...],
        keywords: Mapping[str, FrontendValue],
    ) -> FrontendValue:
        """Emit a primitive, its arguments bound by its signature; its result, of the class that its
        type rule says, goes to `out`."""
        return self.entries.apply_primitive(self, node, primitive, callee, arguments, keywords)

    def inline(
        self,
        node: Any,
        function: Any,
        arguments: tuple[FrontendValue, ...],
        keywords: Mapping[str, FrontendValue] | None = None,
        name: str = "",
    ) -> FrontendValue:
        """Call a function of our own: all of it belongs to the user's statement. What it gives is
        of the class that it says. name: that of what it returns."""
        return self.entries.inline(self, node, function, arguments, keywords, name)

    def inline_frame(self, node: Any, frame: Any) -> FrontendValue:
        """Lower the body of a function in a new frame; its return value."""
        return self.entries.inline_frame(self, node, frame)

    def listed(self, node: Any, source: FrontendValue) -> ListRef:
        """`list(source)`."""
        found: ListRef = self.entries.listed(self, node, source)
        return found

    def leave(self, before: Any) -> None:
        """Bring into step, where an iteration or a side of a branch ends, what unread code may
        see."""
        self.entries.leave(self, before)
