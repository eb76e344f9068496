"""The table of primitives, and the decorators that fill it.

An entry is one decorated function, its derivative rule, in the file of its family:

    @elementwise(np.tanh, math.tanh)
    def tanh(out, x):
        return 1 - out * out

    @adjoint(np.sum, method="sum", type=reduction, tangent=LINEAR)
    def sum(out, x, axis=None, keepdims=False, *, d_out): ...

The rule's parameters (without `out` and `d_out`) are the parameters by which calls of the
named functions are bound. Rules are never run by the compiler; they are lowered and inlined.

What a rule returns is aligned with these parameters: a tuple of as many results, or the one
result for the first. (An `adjoint` rule may leave out results at the end.) The result for a
parameter that is a tuple of operands (np.stack) is a tuple itself, inside the outer one.
`None` stands for no derivative, `UNKNOWN` for one that is not known. A cotangent may still have
the axes and the dtype that broadcasting gave it: the compiler sums and casts. That of a number may
be an array of rank 0, and conversely.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradscribe.ir.core import Linearity, Primitive
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Type
from gradscribe.primitives.typing import elementwise_type


class Partial(enum.Enum):
    """What a rule may give for an operand in place of a derivative."""

    UNKNOWN = enum.auto()


UNKNOWN = Partial.UNKNOWN
"""The derivative by an operand that has one, which nobody knows: a program that needs it is
refused."""

LINEAR = Linearity.LINEAR
BILINEAR = Linearity.BILINEAR

PRIMITIVES: dict[Any, Primitive] = {}
"""The primitive of every function that the compiler knows (np.tanh, math.tanh, operator.add)."""

METHODS: dict[str, Primitive] = {}
"""The primitive of every array method and attribute that is one (`x.sum()`, `x.T`)."""

PUBLIC: dict[Any, Any] = {}
"""The public function of a private ufunc that it hands its arguments to."""

COMPOSITIONS: dict[Any, Callable[..., Any]] = {}
"""Functions that are made of other operations, and the Python functions that say how."""

CALLED: set[Callable[..., Any]] = set()
"""Of these Python functions, those that tell derivatives alone: the value is that of a call."""

KNOWN_PARAMETERS: dict[Callable[..., Any], frozenset[str]] = {}
"""Of these Python functions, parameters that have to be known when a call is compiled."""

VARIANTS: dict[Any, Callable[..., Any]] = {}
"""Of functions that are primitives, what calls with further arguments are made of."""

HOLOMORPHIC: set[Primitive] = set()
"""Operations of optional families whose rules are right for complex numbers, once conjugated."""

GRADIENTS: set[Primitive] = set()
"""Those whose rules conjugate what is to be, as all do that have several results."""

NOT_HOLOMORPHIC: set[Primitive] = set()
"""Elementwise operations that give complex numbers of complex numbers, but have no derivative by
them: the rules are for real numbers alone."""

DISTRIBUTIONS: dict[type, Any] = {}
"""The distributions of SciPy that have derivatives, by their classes: a frozen one has a copy."""

STAND_INS: dict[type, Any] = {}
"""Classes in Python that stand for those of a library, with an object of the latter."""

NAMED = frozenset(
    (
        *(getattr(np.linalg, name) for name in ("eig", "eigh", "svd", "qr", "slogdet")),
        *(np.unique_all, np.unique_counts, np.unique_inverse),
    )
)
"""Functions whose several results are a namedtuple."""

Rule = TypeVar("Rule", bound=Callable[..., Any])
TypeRule = Callable[..., Type]


@functools.cache
def class_of_results(callee: Any) -> type:
    """The namedtuple that a function among `NAMED` gives."""
    return type(callee(np.eye(1)))


def register(primitive: Primitive, callables: tuple[Any, ...], methods: tuple[str, ...]) -> None:
    """Enter a primitive under all its spellings."""
    for callee in callables:
        PRIMITIVES[callee] = primitive
    for method in methods:
        METHODS[method] = primitive


def primitive_of(callee: Any) -> Primitive | None:
    """The primitive of a function that is in the table, or of an operation of the user's, which
    has its own: nothing else holds that, so that both end when the user lets go of it."""
    own = probe(callee, "__gradscribe_primitive__")
    return own if isinstance(own, Primitive) else PRIMITIVES.get(callee)


def available(module: Any, name: str) -> tuple[Any, ...]:
    """A function that the module has in some of its versions; none in others."""
    return (getattr(module, name),) if hasattr(module, name) else ()


def elementwise(
    *callables: Any,
    methods: tuple[str, ...] = (),
    type: TypeRule = elementwise_type,
    pole: bool = False,
    masks: bool = False,
    cheap: bool = False,
) -> Callable[[Rule], Rule]:
    """An elementwise operation; the rule `(out, *operands)` gives its partial derivatives."""

    def enter(rule: Rule) -> Rule:
        primitive = Primitive(
            rule.__name__.rstrip("_"),
            type,
            _call_signature(rule),
            adjoint=rule,
            elementwise=True,
            callee=callables[0] if callables else None,
            pole=pole,
            masks=masks,
            cheap=cheap,
        )
        register(primitive, callables, methods)
        return rule

    return enter


def adjoint(
    *callables: Any,
    type: TypeRule,
    methods: tuple[str, ...] = (),
    tangent: Callable[..., Any] | Linearity | None = None,
    view: bool = False,
    cheap: bool = False,
    pole: bool = False,
    masks: bool = False,
    static: tuple[str, ...] = (),
    partial: bool = False,
    signature: Callable[..., Any] | None = None,
) -> Callable[[Rule], Rule]:
    """An operation whose rule `(out, *parameters, d_out)` gives the operands' cotangents.

    signature: a function with the parameters of the call, where one of them takes several
    arguments, which the rule is given as a tuple.
    """

    def enter(rule: Rule) -> Rule:
        primitive = Primitive(
            rule.__name__.rstrip("_"),
            type,
            inspect.signature(signature) if signature else _call_signature(rule),
            adjoint=rule,
            tangent=tangent,
            callee=callables[0] if callables else None,
            static=frozenset(static),
            view=view,
            cheap=cheap,
            pole=pole,
            masks=masks,
            partial=partial,
        )
        register(primitive, callables, methods)
        return rule

    return enter


def constant(
    *callables: Any,
    type: TypeRule,
    name: str = "",
    methods: tuple[str, ...] = (),
    signature: Callable[..., Any] | None = None,
    cheap: bool = True,
    effect: bool = False,
) -> Primitive:
    """An operation without derivative: comparisons, integers, creation of arrays.

    signature: a function with the parameters of the call, where its own cannot be inspected.
    """
    primitive = Primitive(
        name or callables[0].__name__,
        type,
        inspect.signature(signature or callables[0]),
        cheap=cheap,
        effect=effect,
        callee=callables[0] if callables else None,
    )
    register(primitive, callables, methods)
    return primitive


def composition(
    *callables: Any, static: tuple[str, ...] = (), called: bool = False
) -> Callable[[Rule], Rule]:
    """Operations that are made of others, as NumPy's own `np.ptp` is.

    The function says how, in the operations and the order in which NumPy computes, so that the
    result is the same to the last bit. Calls are inlined like a helper of the user's; its
    parameters are those of the call. A text among them is the name of a method. static: integers
    among the parameters that have to be known, besides axes. called: what NumPy or SciPy computes
    has other last bits, so that the value is that of a call, and only its derivatives are made of
    the others.
    """

    def enter(function: Rule) -> Rule:
        COMPOSITIONS.update(dict.fromkeys(callables, function))
        KNOWN_PARAMETERS[function] = frozenset(static)
        if called:
            CALLED.add(function)
        return function

    return enter


def variant(*callables: Any, called: bool = False) -> Callable[[Rule], Rule]:
    """Calls of a primitive with arguments that its rule does not have, as the calls of it, and of
    other operations, that they are made of. A text among them is the name of a method. called: as
    for a composition."""

    def enter(function: Rule) -> Rule:
        if called:
            CALLED.add(function)
        VARIANTS.update(dict.fromkeys(callables, function))
        return function

    return enter


def _call_signature(rule: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(rule)
    parameters = [p for n, p in signature.parameters.items() if n not in ("out", "d_out")]
    return inspect.Signature(parameters)
