"""Random numbers: drawn once, in order, in the forward part.

The type of what is drawn is that of a draw from a fresh generator, with the lengths that `size`
and the parameters say.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradscribe.frontend.containers import lengths
from gradscribe.frontend.containers.shapes import shape_of
from gradscribe.frontend.containers.stores import store
from gradscribe.frontend.containers.subscripts import read_item
from gradscribe.frontend.memory.contiguity import is_contiguous
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import foreign, trial_calls, unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Ref, Static, TupleOf, known_objects
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Method
from gradscribe.ir.generators import RandomGenerator
from gradscribe.ir.probing import probe
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
_OUT_POSITIONS = {"random": 2, "standard_normal": 2, "standard_exponential": 3, "standard_gamma": 3}


def generator_of(callee: Any) -> type | None:
    """The class of the generator whose method a callable is (`np.random.normal`)."""
    owner = type(probe(callee, "__self__"))
    return owner if issubclass(owner, RandomGenerator) else None


def _fresh(cls: Any) -> Any:
    """A generator that nobody else uses."""
    return np.random.default_rng(0) if issubclass(cls, np.random.Generator) else cls(0)


def draw(
    lowering: Lowering,
    node: Any,
    cls: type,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    """A call of a generator's method. callee: the function; or a `Method`, the generator then
    being the first argument."""
    return _drawn(lowering, _Draw(node, cls, callee, arguments, keywords))


@dataclass(frozen=True, slots=True)
class _Draw:
    """A call of a method of a generator of class `cls`."""

    node: Any
    cls: type
    callee: Any
    arguments: tuple[FrontendValue, ...]
    keywords: dict[str, FrontendValue]

    @property
    def name(self) -> str:
        return str(self.callee.name if self._is_method else self.callee.__name__)

    @property
    def given(self) -> tuple[Any, ...]:
        """The arguments without the generator."""
        return self.arguments[1:] if self._is_method else self.arguments

    @property
    def out(self) -> FrontendValue:
        """What is to be filled."""
        at = _OUT_POSITIONS.get(self.name, len(self.given))
        by_position = self.given[at] if at < len(self.given) else Static(None)
        return self.keywords.get("out", by_position)

    @property
    def _is_method(self) -> bool:
        return isinstance(self.callee, Method)


def _drawn(lowering: Lowering, call: _Draw) -> FrontendValue:
    if call.name == "shuffle":
        return _shuffle(lowering, call)
    if (target := call.out) != Static(None):
        return _fill(lowering, call, target)
    if call.name == "permutation" and isinstance(call.given[0], Ref) and not call.keywords:
        return _permuted(lowering, call)
    if call.name == "choice" and _may_differ(lowering, call):
        return _chosen(lowering, call)
    type_ = _type(lowering, call)
    found = unknown.emit(lowering, call.callee, call.arguments, call.keywords, type_)
    is_given = call.cls is random.Random  # draws one of the objects themselves
    return foreign.possible_view(lowering, found, call.given) if is_given else found


def _may_differ(lowering: Lowering, call: _Draw) -> bool:
    """Whether one of several items is chosen by Python, which are not known to be of one type."""
    if not issubclass(call.cls, random.Random) or call.keywords or len(call.given) != 1:
        return False
    (given,) = call.given
    items = known_items(lowering, given)
    if items is None:
        return not isinstance(given, Static)
    known = known_objects(items)
    return known is None or len(set(map(type, known))) != 1


def _chosen(lowering: Lowering, call: _Draw) -> FrontendValue:
    """`choice(items)` of Python's generators, as the item at a number that is drawn: it is one of
    the objects themselves."""
    *generator, items = call.arguments
    length = lengths.length(lowering, items)
    if length == Static(0):
        lowering.raises(call.node, IndexError("Cannot choose from an empty sequence"))
    owner = probe(call.callee, "__self__")
    numbered = Method("randrange") if owner is None else owner.randrange
    number = _drawn(lowering, replace(call, callee=numbered, arguments=(*generator, length)))
    return read_item(lowering, call.node, items, number)


def _fill(lowering: Lowering, call: _Draw, target: FrontendValue) -> FrontendValue:
    """`random(out=x)`, as the store of as many numbers: what it draws is the same, if x is an array
    of that type in C order. Any other is given as it lies in memory, in whose order it is filled,
    or which NumPy refuses."""
    if not isinstance(target, Ref):
        what = f"`out` of `{call.name}` is not supported"
        advice = "store what it draws: `x[...] = ...`"
        lowering.unsupported(call.node, what, advice, python=ValueError)
    if (numbers := _as_drawn(lowering, call, target)) is not None:
        store(lowering, call.node, target, lowering.value(_drawn(lowering, numbers)))
        return target
    given = (call.arguments, call.keywords)
    contract = foreign.method_contract(call.cls, call.name, call.arguments)
    type_ = lowering.load(target).type
    foreign.call(lowering, call.node, call.callee, given, type_, contract)
    return target


def _as_drawn(lowering: Lowering, call: _Draw, target: Ref) -> _Draw | None:
    """The call that draws the numbers with which one with `out=target` fills that, in this order;
    None if that is not so."""
    size_at = _SIZE_POSITIONS.get(call.name)
    if size_at is None or len(call.given) > size_at or "size" in call.keywords:
        return None
    rest = {key: item for key, item in call.keywords.items() if key != "out"}
    drawn = replace(call, keywords={**rest, "size": shape_of(lowering, target)})
    filled = lowering.load(target)
    is_same = _type(lowering, drawn) == filled.type and is_contiguous(lowering, filled)
    return drawn if is_same else None


def _shuffle(lowering: Lowering, call: _Draw) -> FrontendValue:
    """`shuffle(x)`, as the store of a permutation: what it draws is the same."""
    target = call.arguments[-1]
    type_ = lowering.value(target).type if isinstance(target, Ref) else None
    is_vector = isinstance(type_, Array) and type_.rank == 1
    if not isinstance(target, Ref) or call.cls is random.Random or call.keywords or not is_vector:
        lowering.unsupported(
            call.node,
            "`shuffle` of this value is not supported",
            "index with a permutation instead",
        )
    owner = probe(call.callee, "__self__")
    permute = Method("permutation") if owner is None else owner.permutation
    permuted = _drawn(lowering, replace(call, callee=permute, keywords={}))
    store(lowering, call.node, target, lowering.value(permuted))
    return Static(None)


def _permuted(lowering: Lowering, call: _Draw) -> FrontendValue:
    """`permutation(x)` of an array, by a permutation of its indices: what it draws is the same."""
    *generator, x = call.arguments
    length, *_ = shape_of(lowering, x).items
    indices = _drawn(lowering, replace(call, arguments=(*generator, length), keywords={}))
    return read_item(lowering, call.node, x, indices)


def _type(lowering: Lowering, call: _Draw) -> Type:
    """The type of what is drawn."""
    name, given = call.name, call.given
    position = _SIZE_POSITIONS.get(name, len(given))
    size = call.keywords.get("size", given[position] if position < len(given) else None)
    if name in ("rand", "randn") and given:
        size = TupleOf(given)
    if isinstance(size, Static) and size.value is None:
        size = None
    parameters = [item for item in (*given, *call.keywords.values()) if item is not size]
    found = _sample(lowering, call, size)
    if found is None or isinstance(found, (str, bytes, dict)):
        return Opaque(type(found))
    if isinstance(found, list):
        lowering.unsupported(
            call.node, f"lists that `{name}` draws are not supported", "draw an array instead"
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
    items = known_items(lowering, size)
    if items is not None:
        return tuple(_shape(lowering, item) for item in items)
    return lowering.value(size).type


def _sample(lowering: Lowering, call: _Draw, size: Any) -> Any:
    """What the method draws, for small arguments, from a generator of our own."""

    def plain(item: Any) -> Any:
        if item is size and size is not None:
            shape = _shape(lowering, size)
            if isinstance(shape, Tuple):
                shape = shape.items
            return (1,) * len(shape) if isinstance(shape, tuple) else 1
        return trial_calls.sampled(lowering, item)

    try:
        method = getattr(_fresh(call.cls), call.name)
        if call.name in ("rand", "randn"):
            return method(*(1 for _ in call.given))
        named = {key: plain(item) for key, item in call.keywords.items()}
        return method(*map(plain, call.given), **named)
    except Exception as error:
        return lowering.unsupported(
            call.node,
            f"the type of what `{call.name}` draws is not known: {error}",
            "draw outside of the function, and pass the numbers in",
            python=type(error),
        )
