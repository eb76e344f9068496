"""Handlers that many functions of Tensors have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.frontend.containers import known_integers, subscripts
from gradscribe.frontend.kinds import static_values
from gradscribe.frontend.state import handlers
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import ListRef, Ref, Static, TupleOf
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array
from gradscribe.primitives.shaping import respelled


def spelled(lowering: Lowering, node: Any, item: Any, spelling: str) -> Any:
    """The same array, with the methods of Tensors or of NumPy's arrays."""
    if not isinstance(item, Ref):
        return item
    type_ = lowering.load(item).type
    if not isinstance(type_, Array) or type_.spelling == spelling:
        return item
    if spelling == "tensor" and not type_.rank:
        return subscripts.read_item(lowering, node, item, TupleOf(()))
    return lowering.call(node, Static(respelled), (item, Static(spelling)), {})


def as_tensor(lowering: Lowering, node: Any, item: Any, /, *rest: Any, **named: Any) -> Any:
    return spelled(lowering, node, item, "tensor")


def as_array(lowering: Lowering, node: Any, item: Any, /, *rest: Any, **named: Any) -> Any:
    """`x.array`: outside the graph."""
    return spelled(lowering, node, subscripts.cut(lowering, item), "numpy")


def numpy(lowering: Lowering, node: Any, item: Any, /, *rest: Any, **named: Any) -> Any:
    """`x.numpy()`: eager mode refuses it in the graph, so no derivative may get lost here."""
    return spelled(lowering, node, item, "numpy")


def same(lowering: Lowering, node: Any, item: Any, /, *rest: Any, **named: Any) -> Any:
    return item


def left_out(lowering: Lowering, node: Any, /, *rest: Any, **named: Any) -> Any:
    """A check that compiled code does without."""
    return Static(None)


def cut(lowering: Lowering, node: Any, item: Any, /, *rest: Any, **named: Any) -> Any:
    return subscripts.cut(lowering, item)


def calling(callee: Any) -> handlers.Handler:
    """A Tensor function that is one of NumPy's, with the same arguments."""

    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        result = lowering.call(node, Static(callee), arguments, keywords)
        return spelled(lowering, node, result, "tensor")

    return handler


def folded(function: Callable[..., Any]) -> handlers.Handler:
    """A helper that is run when the function is compiled: integers in it become known."""

    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        given = [known_value(lowering, node, item) for item in arguments]
        named = {name: known_value(lowering, node, item) for name, item in keywords.items()}
        try:
            return Static(function(*given, **named))
        except GradscribeError:
            raise
        except Exception as error:
            return lowering.raises(node, error)

    return handler


def known_value(lowering: Lowering, node: Any, item: Any) -> Any:
    if isinstance(item, Value):
        return known_integers.static_integer(lowering, node, item)
    if isinstance(item, (TupleOf, ListRef)):
        return tuple(known_value(lowering, node, i) for i in lowering.unpacked(node, item))
    return static_values.object_of(lowering, node, item)


def refused(what: str, advice: str) -> handlers.Handler:
    def handler(lowering: Lowering, node: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return lowering.unsupported(node, f"{what} inside of compiled code", advice)

    return handler


OUTSIDE = "do this outside of the compiled function"
