"""Rules that users give for operations of their own (`@gs.primitive`), where they are applied.

A rule is compiled into the derivative like any rule, if it can be; otherwise it is called as it
is, at run time, and what it gives cannot be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradscribe.errors import NoDerivativeError, UnsupportedError
from gradscribe.frontend.calls import dispatch as calls
from gradscribe.frontend.calls import handlers, inlining, opaque, unpacking
from gradscribe.frontend.calls import iteration_prelude as prelude
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import PartialOf, Static, TupleOf
from gradscribe.ir.types import Array, Scalar, Tuple, Type, is_differentiable
from gradscribe.primitives.control import RUN

PULLBACKS: list[Any] = []
"""`gs.vjp` (entered by the layer above)."""


@dataclass(eq=False)
class OwnRules:
    """What is known of an operation of the user's."""

    name: str
    function: Callable[..., Any]
    rules: dict[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Adjoint:
    """Called as `(out, *parameters, d_out=…)`, for the cotangents of the parameters."""

    own: OwnRules
    __gradscribe_primitive__ = True


@dataclass(frozen=True, eq=False)
class Tangent:
    """Called as `(out, *parameters, d_…=…)`, for the tangent of out."""

    own: OwnRules
    __gradscribe_primitive__ = True


class Conforming:
    """A rule that is called as it is; its results are given the types of what they belong to."""

    def __init__(self, rule: Callable[..., Any], name: str, likes: int) -> None:
        self.rule, self.likes = rule, likes
        self.refusal = ""  # what is said to whom differentiates it, if anything is to be
        self.__name__ = name
        self.__module__ = rule.__module__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The first `likes` arguments are what the results belong to; the rest is the rule's."""
        likes, given = arguments[: self.likes], arguments[self.likes :]
        results = self.rule(*given, **keywords)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        results = (*results, *[None] * (len(likes) - len(results)))
        return tuple(map(conformed, results, likes))


def conformed(result: Any, like: Any) -> Any:
    """A derivative of the type of what it belongs to: summed to its shape, zero for None."""
    if result is None:
        return np.zeros_like(like) if isinstance(like, np.ndarray) else type(like)(0)
    if isinstance(like, np.ndarray):
        result = np.asarray(result, like.dtype)
        extra = tuple(range(result.ndim - like.ndim))
        result = result.sum(extra) if extra else result
        spread = tuple(i for i, n in enumerate(like.shape) if n == 1 and result.shape[i] != 1)
        return result.sum(spread, keepdims=True) if spread else result
    return type(like)(np.asarray(result).sum())


def _apply_adjoint(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    rule, out, *given = arguments
    own: OwnRules = rule.value.own
    function = own.rules.get("adjoint")
    if function is None:
        raise NoDerivativeError(
            f"`{own.name}` has no rule for its derivative",
            f"give it one by `@{own.name}.adjoint`",
            lowering.builder.location,
        )
    compiled = _compiled(lowering, node, function, (out, *given), keywords)
    return compiled or _called(lowering, f"{own.name}_adjoint", function, given, out, keywords)


def _compiled(
    lowering: Lowering, node: Any, function: Any, arguments: tuple[Any, ...], keywords: Any
) -> Any:
    """What a rule gives when it is lowered; None where that is not possible."""
    contents, views = dict(lowering.contents), dict(lowering.views)
    made = len(lowering.builder.operations)
    try:
        return calls.call(lowering, node, Static(function), arguments, keywords)
    except NoDerivativeError:
        raise
    except UnsupportedError:
        del lowering.builder.operations[made:]
        lowering.contents, lowering.views = contents, views
        return None


def _called(
    lowering: Lowering, name: str, function: Any, operands: Any, out: Any, keywords: Any
) -> Any:
    """What a rule gives when it is called at run time: cotangents for all floating operands."""
    types = [_floating(lowering, item) for item in operands]
    likes = [item for item, type_ in zip(operands, types, strict=True) if type_ is not None]
    callee = Conforming(_selecting(function, types), name, len(likes))
    found = tuple(type_ for type_ in types if type_ is not None)
    given = (*likes, out, *operands)
    made = opaque.emit(lowering, callee, given, keywords, Tuple(found), RUN)
    results = iter(unpacking.unpacked(lowering, None, made))
    return TupleOf(tuple(Static(None) if t is None else next(results) for t in types))


def _selecting(function: Callable[..., Any], types: list[Type | None]) -> Callable[..., Any]:
    """The rule, giving only the cotangents of floating operands."""

    def selected(*arguments: Any, **keywords: Any) -> Any:
        results = function(*arguments, **keywords)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        results = (*results, *[None] * (len(types) - len(results)))
        return tuple(r for r, t in zip(results, types, strict=True) if t is not None)

    selected.__module__ = function.__module__
    return selected


def _floating(lowering: Lowering, item: Any) -> Type | None:
    if isinstance(item, (Static, TupleOf)):
        return None
    type_ = lowering.value(item).type
    return type_ if isinstance(type_, (Array, Scalar)) and is_differentiable(type_) else None


def _apply_tangent(lowering: Lowering, node: Any, arguments: Any, keywords: Any) -> Any:
    rule, out, *given = arguments
    own: OwnRules = rule.value.own
    function = own.rules.get("tangent")
    if function is not None:
        compiled = _compiled(lowering, node, function, (out, *given), keywords)
        if compiled is not None:
            return compiled
        type_ = lowering.value(out).type
        callee = Conforming(function, f"{own.name}_tangent", 1)
        items = (out, out, *given)
        made = opaque.emit(lowering, callee, items, keywords, Tuple((type_,)), RUN)
        return unpacking.unpacked(lowering, None, made)[0]
    if "adjoint" not in own.rules:
        raise NoDerivativeError(
            f"`{own.name}` has no rule for its derivative",
            f"give it one by `@{own.name}.adjoint` or `@{own.name}.tangent`",
            lowering.builder.location,
        )
    zero = zero_of(lowering, node, out)
    pull = PartialOf(Static(Adjoint(own)), (out, *given), {})
    active = [i for i, item in enumerate(given) if _floating(lowering, item) is not None]
    tangents = tuple(list(keywords.values())[i] for i in active)
    chosen = Static(tuple(active))
    transposed = (Static(PULLBACKS[0]), pull, zero, chosen, TupleOf(tangents))
    return inlining.inline(lowering, node, prelude.transposed, transposed)


def zero_of(lowering: Lowering, node: Any, out: Any) -> Any:
    type_ = lowering.value(out).type
    if not isinstance(type_, Scalar):
        return calls.call(lowering, node, Static(np.zeros_like), (out,), {})
    zero = np.dtype(type_.dtype).type(0)
    return lowering.constant(zero.item() if type_.weak else zero)


handlers.OBJECTS.update({Adjoint: _apply_adjoint, Tangent: _apply_tangent})
