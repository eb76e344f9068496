"""Random numbers: drawn once, in order, in the forward part.

The type of what is drawn is that of a draw from a fresh generator, with the lengths that `size`
and the parameters say.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from gradscribe.frontend.calls import opaque
from gradscribe.frontend.data.attributes import shape_of
from gradscribe.frontend.data.stores import store
from gradscribe.frontend.data.subscripts import read_item
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.outside_kinds import RandomGenerator
from gradscribe.frontend.values import ListRef, Ref, Static, TupleOf
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Method
from gradscribe.ir.types import Array, Opaque, Tuple, Type
from gradscribe.primitives.typing import dims_of, shape_dims, type_of

_SIZES = {
    0: "random random_sample standard_normal standard_exponential standard_cauchy",
    1: "choice exponential poisson chisquare standard_t standard_gamma rayleigh geometric weibull "
    "pareto power dirichlet zipf logseries",
    2: "normal uniform integers randint binomial gamma beta laplace wald lognormal logistic gumbel "
    "vonmises multivariate_normal multinomial f negative_binomial noncentral_chisquare",
    3: "triangular hypergeometric noncentral_f",
}
_SIZE_POSITIONS = {name: at for at, names in _SIZES.items() for name in names.split()}
"""At which position each method takes its `size`."""

_VECTORS = frozenset({"multivariate_normal", "dirichlet", "multinomial"})
"""Distributions of vectors: the last axis of a draw is that of the first parameters."""

_REARRANGED = frozenset({"permutation", "permuted"})
_FILLING = frozenset({"random", "standard_normal", "standard_exponential", "standard_gamma"})


def generator_of(callee: Any) -> type | None:
    """The class of the generator whose method a callable is (`np.random.normal`)."""
    owner = type(getattr(callee, "__self__", None))
    return owner if issubclass(owner, RandomGenerator) else None


def made_by(callee: Any) -> type | None:
    """The class of the generator that a callable makes."""
    if isinstance(callee, type):
        return callee if issubclass(callee, RandomGenerator) else None
    is_default = getattr(callee, "__name__", "") == "default_rng"
    return np.random.Generator if is_default and callee is np.random.default_rng else None


def _fresh(cls: Any) -> Any:
    """A generator that nobody else uses."""
    return np.random.default_rng(0) if issubclass(cls, np.random.Generator) else cls(0)


def draw(
    lowering: Lowering,
    node: Any,
    cls: type,
    callee: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """A call of a generator's method. callee: the function; or a `Method`, the generator then
    being the first argument."""
    is_method = isinstance(callee, Method)
    name = callee.name if is_method else callee.__name__
    given = arguments[1:] if is_method else arguments
    if name == "shuffle":
        return _shuffle(lowering, node, cls, callee, arguments, keywords)
    if keywords.get("out", Static(None)) != Static(None):
        return _fill(lowering, node, cls, callee, arguments, keywords)
    if name == "permutation" and isinstance(given[0], Ref) and not keywords:
        return _permuted(lowering, node, cls, callee, arguments)
    type_ = _type(lowering, node, cls, name, given, keywords)
    return opaque.emit(lowering, callee, arguments, keywords, type_)


def _fill(
    lowering: Lowering,
    node: Any,
    cls: type,
    callee: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """`random(out=x)`, as the store of as many numbers: what it draws is the same."""
    target = keywords["out"]
    name = callee.name if isinstance(callee, Method) else callee.__name__
    if name not in _FILLING or "size" in keywords or not isinstance(target, Ref):
        what = f"`out` of `{name}` is not supported"
        lowering.unsupported(node, what, "store what it draws: `x[...] = ...`")
    rest = {key: item for key, item in keywords.items() if key != "out"}
    rest["size"] = shape_of(lowering, target)
    drawn = draw(lowering, node, cls, callee, arguments, rest)
    store(lowering, node, target, lowering.value(drawn))
    return target


def _shuffle(
    lowering: Lowering,
    node: Any,
    cls: type,
    callee: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """`shuffle(x)`, as the store of a permutation: what it draws is the same."""
    target = arguments[-1]
    type_ = lowering.value(target).type if isinstance(target, Ref) else None
    if cls is random.Random or keywords or not (isinstance(type_, Array) and type_.rank == 1):
        lowering.unsupported(
            node, "`shuffle` of this value is not supported", "index with a permutation instead"
        )
    owner = getattr(callee, "__self__", None)
    permute = Method("permutation") if owner is None else owner.permutation
    permuted = draw(lowering, node, cls, permute, arguments, {})
    store(lowering, node, target, lowering.value(permuted))
    return Static(None)


def _permuted(
    lowering: Lowering, node: Any, cls: type, callee: Any, arguments: tuple[Any, ...]
) -> Any:
    """`permutation(x)` of an array, by a permutation of its indices: what it draws is the same."""
    *generator, x = arguments
    length, *_ = shape_of(lowering, x).items
    indices = draw(lowering, node, cls, callee, (*generator, length), {})
    return read_item(lowering, node, x, indices)


def _type(
    lowering: Lowering,
    node: Any,
    cls: type,
    name: str,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Type:
    position = _SIZE_POSITIONS.get(name, len(arguments))
    size = keywords.get("size", arguments[position] if position < len(arguments) else None)
    if name in ("rand", "randn") and arguments:
        size = TupleOf(arguments)
    if isinstance(size, Static) and size.value is None:
        size = None
    parameters = [item for item in (*arguments, *keywords.values()) if item is not size]
    found = _sample(lowering, node, cls, name, arguments, keywords, size)
    if found is None or isinstance(found, (str, bytes, dict)):
        return Opaque(type(found))
    if isinstance(found, list):
        lowering.unsupported(
            node, f"lists that `{name}` draws are not supported", "draw an array instead"
        )
    if not isinstance(found, np.ndarray):
        return type_of(found)
    return Array(found.dtype.name, _dims(lowering, name, found, parameters, size))


def _dims(
    lowering: Lowering, name: str, found: Any, parameters: list[Any], size: Any
) -> tuple[Affine, ...]:
    """The lengths of an array that is drawn."""
    dims = [dims_of(lowering.value(p).type) for p in parameters if isinstance(p, Ref)]
    first = dims[0] if dims else ()
    if name in _REARRANGED:
        return first or shape_dims(_shape(lowering, parameters[0]))
    if size is None and name not in _VECTORS and name != "choice":
        return lowering.builder.facts.broadcast(dims)
    leading = () if size is None else shape_dims(_shape(lowering, size))
    trailing = found.ndim - len(leading)
    inner = first[len(first) - trailing :]
    if len(inner) < trailing:
        inner = tuple(Affine.of(n) for n in found.shape[len(leading) :])
    return (*leading, *inner)


def _shape(lowering: Lowering, size: Any) -> Any:
    """A size as the type of a shape argument."""
    if isinstance(size, Static):
        return size.value
    if isinstance(size, (TupleOf, ListRef)):
        items = size.items if isinstance(size, TupleOf) else lowering.contents[size.storage]
        return tuple(_shape(lowering, item) for item in items)
    return lowering.value(size).type


def _sample(
    lowering: Lowering,
    node: Any,
    cls: type,
    name: str,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    size: Any,
) -> Any:
    """What the method draws, for small arguments, from a generator of our own."""

    def plain(item: Any) -> Any:
        if item is size and size is not None:
            shape = _shape(lowering, size)
            if isinstance(shape, Tuple):
                shape = shape.items
            return (1,) * len(shape) if isinstance(shape, tuple) else 1
        return opaque.sampled(lowering, item)

    try:
        if name in ("rand", "randn"):
            return getattr(_fresh(cls), name)(*(1 for _ in arguments))
        named = {key: plain(item) for key, item in keywords.items()}
        return getattr(_fresh(cls), name)(*map(plain, arguments), **named)
    except Exception as error:
        return lowering.unsupported(
            node,
            f"the type of what `{name}` draws is not known: {error}",
            "draw outside of the function, and pass the numbers in",
        )
