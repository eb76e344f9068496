"""What rules that users give (`@op.adjoint`, `@op.tangent`) return, checked against the values that
it belongs to: how many derivatives there are, in which structure, of which dtypes and shapes.

It is what PyTorch allows: None is zero, and a cotangent may have more axes than its value, or be
longer where the value has length one; then it is summed. A rule is checked when it is lowered, and
for what only the run tells, or where it is called as it is, at run time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from gradscribe.errors import GradscribeError, RuleError
from gradscribe.frontend.syntax.source import plain_function, source_of
from gradscribe.ir.affine import Affine
from gradscribe.ir.lengths import Facts
from gradscribe.ir.places import place_of

Lengths = Sequence[Affine]

_Given = TypeVar("_Given")
"""What a rule is given, and gives: frontend values, or, at run time, arrays and numbers."""


def derivatives_of(kind: str, names: Sequence[str]) -> list[str]:
    """The names by which a rule is given the derivatives. (A parameter may be called like one.)"""
    return ["d_out"] if kind == "adjoint" else [f"d_{name}" for name in names]


def keyword_only(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that a function takes by their names only."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


def _has_no_return(function: Callable[..., Any]) -> bool:
    plain = plain_function(function)
    if plain is None or plain.__name__ == "<lambda>":
        return False
    try:
        source = source_of(plain.__code__)
    except GradscribeError:
        return False
    return source.returns_nothing and not source.tells_none


def sums_to(facts: Facts, given: Lengths, wanted: Lengths) -> bool | None:
    """Whether a gradient of one shape can be summed to the other; None if that is not known."""
    if len(given) < len(wanted):
        return False
    known = [
        length.known == 1 or facts.equal(found, length)
        for found, length in zip(given[len(given) - len(wanted) :], wanted, strict=True)
    ]
    return False if False in known else None if None in known else True


def is_same_shape(facts: Facts, given: Lengths, wanted: Lengths) -> bool | None:
    """Whether a tangent is of the shape of its result; None if that is not known."""
    if len(given) != len(wanted):
        return False
    known = [facts.equal(*lengths) for lengths in zip(given, wanted, strict=True)]
    return False if False in known else None if None in known else True


def has_sum_of_shape(given: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a gradient of one shape can be summed to the other."""
    ends = zip(given[::-1], wanted[::-1], strict=False)
    return len(given) >= len(wanted) and all(n == to or to == 1 for n, to in ends)


@dataclass(frozen=True, eq=False)
class GivenRule:
    """A rule of an operation. names: of the parameters that an adjoint gives cotangents of."""

    operation: str
    kind: str
    function: Callable[..., Any]
    names: tuple[str, ...]

    @property
    def derivative(self) -> str:
        """What is called what it gives."""
        return "cotangent" if self.kind == "adjoint" else "tangent"

    def arguments(
        self, out: _Given, operands: Sequence[_Given]
    ) -> tuple[list[_Given], dict[str, _Given]]:
        """What it is called with: by name what it takes by name only."""
        named = keyword_only(self.function).difference(derivatives_of(self.kind, self.names))
        pairs = list(zip(self.names, operands, strict=True))
        return (
            [out, *(item for name, item in pairs if name not in named)],
            {name: item for name, item in pairs if name in named},
        )

    def error(self, what: str, advice: str) -> RuleError:
        """What is said of a result that does not fit."""
        return RuleError(what, advice, place_of(self.function))

    def check_returned(self, anything: bool) -> None:
        """Raise the error for a rule without `return`, where it has returned nothing."""
        if not anything and _has_no_return(self.function):
            advice = f"return a {self.derivative}; `return None` says that it is zero"
            raise self.error(f"the {self.kind} of `{self.operation}` has no `return`", advice)

    def arranged(
        self, given: Sequence[_Given], is_none: Sequence[bool], due: Sequence[bool]
    ) -> list[_Given | None]:
        """The cotangents, one for each parameter: None for one that is left out, at the end, and
        has nothing to differentiate. due: which have."""
        count = len(due)
        if not all(is_none[count:]) or any(due[len(given) :]):
            raise self.error(
                f"the {self.kind} of `{self.operation}` gives "
                f"{_number(len(given), 'cotangent')} for {_number(count, 'parameter')}",
                f"return one for each of ({', '.join(self.names)}), and None for zero",
            )
        return [*given[:count], *[None] * (count - len(given))]

    def has_written(self) -> RuleError:
        """The error for a rule that wrote to its arguments."""
        return self.error(
            f"the {self.kind} of `{self.operation}` wrote to an argument",
            "let it return new arrays",
        )

    def refuse_structure(self, name: str, given: str, wanted: str) -> RuleError:
        """The error for a result that is of another kind than its value."""
        return self.error(
            f"the {self.kind} of `{self.operation}` gives {given} as the {self.derivative} of "
            f"{name}, which is {wanted}",
            f"return {wanted}, or None for zero",
        )

    def check_dtype(self, name: str, given: np.dtype[Any], wanted: np.dtype[Any]) -> None:
        """Raise the error for numbers that cannot be a derivative of numbers of that dtype."""
        if given.kind == "f" or (given.kind == "c" and wanted.kind == "c"):
            return
        advice = "convert it, as in `.astype(float)`"
        if given.kind == "c":
            advice = "return its real part, `np.real(…)`"
        raise self.error(
            f"the {self.kind} of `{self.operation}` gives numbers of {given} as the "
            f"{self.derivative} of {name}, which is of {wanted}",
            advice,
        )

    def shape_error(self, name: str, given: str, wanted: str) -> RuleError:
        """The error for an array of a shape that does not fit."""
        return self.error(
            f"the {self.kind} of `{self.operation}` gives a {self.derivative} of shape {given} for "
            f"{name}, which has shape {wanted}",
            "return it in the shape of the value, or None for zero",
        )

    def fits(self, given: Sequence[int], wanted: Sequence[int]) -> bool:
        """Whether a derivative of one shape is, or can be summed to be, of the other."""
        if self.kind == "adjoint":
            return has_sum_of_shape(given, wanted)
        return tuple(given) == tuple(wanted)


def _number(count: int, of: str) -> str:
    return f"{count} {of}" + ("s" if count != 1 else "")


# -- at run time -----------------------------------------------------------------------------------


def is_due(value: Any) -> bool:
    """Whether a value, or one in it, has a derivative."""
    if isinstance(value, (tuple, list)):
        return any(map(is_due, value))
    return isinstance(value, (np.ndarray, np.generic, float, complex)) and (
        np.asarray(value).dtype.kind in "fc"
    )


def conforming(rule: GivenRule, name: str, result: Any, like: Any) -> Any:
    """A derivative as a rule that was called gave it, made one of its value: in its structure, of
    its shape and dtype, zero for None; None where there is nothing to differentiate."""
    if not is_due(like):
        return None
    if isinstance(like, (tuple, list)):
        if result is None:
            result = [None] * len(like)
        if not isinstance(result, (tuple, list)) or len(result) != len(like):
            raise rule.refuse_structure(name, kind_of(result), kind_of(like))
        return type(like)(
            conforming(rule, f"{name}[{i}]", item, of)
            for i, (item, of) in enumerate(zip(result, like, strict=True))
        )
    if result is None:
        return conformed(None, like)
    if isinstance(result, (tuple, list, dict, str)):
        raise rule.refuse_structure(name, kind_of(result), kind_of(like))
    found, wanted = np.asarray(result), np.asarray(like)
    if type(result) is not int:
        rule.check_dtype(name, found.dtype, wanted.dtype)
    if not rule.fits(found.shape, wanted.shape):
        raise rule.shape_error(name, str(found.shape), str(wanted.shape))
    return conformed(found, like)


def conformed(result: Any, like: Any) -> Any:
    """A derivative that fits, of the type of what it belongs to: summed to its shape, zero for
    None."""
    if result is None:
        return np.zeros_like(like) if isinstance(like, np.ndarray) else type(like)(0)
    if isinstance(like, np.ndarray):
        result = np.asarray(result, like.dtype)
        extra = tuple(range(result.ndim - like.ndim))
        result = result.sum(extra) if extra else result
        spread = tuple(i for i, n in enumerate(like.shape) if n == 1 and result.shape[i] != 1)
        return np.asarray(result.sum(spread, keepdims=True) if spread else result)
    return type(like)(np.asarray(result).sum())


def kind_of(value: Any) -> str:
    """What a value is called in errors."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}" if value.ndim else "an array without axes"
    if isinstance(value, (int, float, complex, np.generic)):
        return "a number"
    return f"a {type(value).__name__}"
