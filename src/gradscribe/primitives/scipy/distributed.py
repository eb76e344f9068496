"""What the methods of all distributions of `scipy.stats` have in common.

A distribution gives the partial derivatives of its log density, in its standard form, by the
number and by the parameters of its shape. Of that the rules of all its methods are made: those of
densities, of distribution functions (whose derivative is the density), and of their inverses. A
call with a location and a scale is the call of the standard form that SciPy makes of it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from gradscribe.ir.core import Primitive
from gradscribe.primitives.elementwise import is_pythons
from gradscribe.primitives.registry import (
    COMPOSITIONS,
    DISTRIBUTIONS,
    STAND_INS,
    UNKNOWN,
    VARIANTS,
    register,
)
from gradscribe.primitives.typing import elementwise_type


def real_power(x, exponent):
    """x ** exponent; of negative numbers NaN, also of Python's, whose powers are complex."""
    if is_pythons(x) and is_pythons(exponent):
        return np.float_power(x, exponent)
    return x**exponent


class _Standard(inspect.Signature):
    """The signature of a method in its standard form: of a number and as many shapes."""

    __slots__ = ("shapes",)
    shapes: int

    def bind(self, /, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        if kwargs or len(args) != 1 + self.shapes:
            raise TypeError("it has a location, a scale or names of its arguments")
        return super().bind(*args)


def _type(facts, callee, x, shapes=()):
    return elementwise_type(facts, callee, x=x, **{f"shape_{i}": s for i, s in enumerate(shapes)})


def enter(method: Any, rule: Callable[..., Any], variant: Callable[..., Any]) -> None:
    """Enter a method of a distribution: its rule in the standard form, and its other calls.

    rule: gives the partial derivatives by the number, and by the shapes as a tuple.
    """
    names = _shapes(method)
    x = inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = _Standard([x, inspect.Parameter("shapes", inspect.Parameter.VAR_POSITIONAL)])
    signature.shapes = len(names)
    name = f"{method.__self__.name}.{method.__name__}"
    primitive = Primitive(name, _type, signature, adjoint=rule, elementwise=True, callee=method)
    register(primitive, (method,), ())
    VARIANTS[method] = variant


def _shapes(method: Any) -> tuple[str, ...]:
    """The names of the parameters of a distribution's shape."""
    return tuple(
        (method.__self__.shapes or "").replace(" ", "").split(",")[: method.__self__.numargs]
    )


def continuous(distribution: Any, by_shapes: Any = None) -> Callable[[Any], Any]:
    """Enter the methods of a continuous distribution, by the derivatives of its log density.

    by_shapes: the derivatives of the distribution function by the shapes, where they are known.
    """

    def decorator(score: Any) -> Any:
        located = functools.partial(_entered, distribution)
        bounded = _is_bounded(distribution)
        located("logpdf", _log_density(score, bounded), _less_log_scale)
        located("pdf", _density(score), _by_scale)
        located("cdf", _distribution(distribution.pdf, 1, by_shapes), _at)
        located("sf", _distribution(distribution.pdf, -1, by_shapes), _at)
        located("logcdf", _log_distribution(distribution.logpdf, 1, by_shapes), _at)
        located("logsf", _log_distribution(distribution.logpdf, -1, by_shapes), _at)
        located("ppf", _inverse(distribution.pdf, 1, by_shapes), _moved)
        located("isf", _inverse(distribution.pdf, -1, by_shapes), _moved)
        return score

    return decorator


def _is_bounded(distribution: Any) -> bool:
    """Whether there are numbers that it does not give; the bounds may depend on the shapes."""
    own = type(distribution)._get_support is not stats.rv_continuous._get_support
    return own or bool(np.isfinite(distribution.a) or np.isfinite(distribution.b))


def discrete(distribution: Any, by_shapes: Any = None) -> Callable[[Any], Any]:
    """Enter the methods of a discrete distribution, by the derivatives of its log probability, and
    of its distribution function, by its parameters."""

    def decorator(score: Any) -> Any:
        _entered(distribution, "logpmf", _of_parameters(_log_density, score), _shifted)
        _entered(distribution, "pmf", _of_parameters(_density, score), _shifted)
        for name, made in (("", _distribution), ("log", _log_distribution)):
            _entered(distribution, f"{name}cdf", made(None, 1, by_shapes), _shifted)
            _entered(distribution, f"{name}sf", made(None, -1, by_shapes), _shifted)
        return score

    return decorator


def _entered(distribution: Any, name: str, rule: Any, form: Any) -> None:
    method = getattr(distribution, name)
    enter(method, rule, form(method))
    _enter_frozen(distribution)


# -- distributions with given parameters ---------------------------------------------------------


class Frozen:
    """What the call of a distribution gives: its methods with these shapes, location and scale.
    Which of them it has, the object of SciPy's says that it stands for."""

    def __init__(self, distribution, args, kwds):
        self._distribution, self.args, self.kwds = distribution, args, kwds

    def logpdf(self, x):
        return self._distribution.logpdf(x, *self.args, **self.kwds)

    def pdf(self, x):
        return self._distribution.pdf(x, *self.args, **self.kwds)

    def logpmf(self, k):
        return self._distribution.logpmf(k, *self.args, **self.kwds)

    def pmf(self, k):
        return self._distribution.pmf(k, *self.args, **self.kwds)

    def cdf(self, x):
        return self._distribution.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x):
        return self._distribution.logcdf(x, *self.args, **self.kwds)

    def sf(self, x):
        return self._distribution.sf(x, *self.args, **self.kwds)

    def logsf(self, x):
        return self._distribution.logsf(x, *self.args, **self.kwds)

    def ppf(self, q):
        return self._distribution.ppf(q, *self.args, **self.kwds)

    def isf(self, q):
        return self._distribution.isf(q, *self.args, **self.kwds)

    def entropy(self):
        return self._distribution.entropy(*self.args, **self.kwds)

    def mean(self):
        return self._distribution.mean(*self.args, **self.kwds)

    def median(self):
        return self._distribution.ppf(0.5, *self.args, **self.kwds)

    def std(self):
        return self._distribution.std(*self.args, **self.kwds)

    def var(self):
        return self._distribution.var(*self.args, **self.kwds)


class FrozenContinuous(Frozen):
    """Stands for `rv_continuous_frozen`."""


class FrozenDiscrete(Frozen):
    """Stands for `rv_discrete_frozen`."""


STAND_INS[FrozenContinuous] = stats.norm()
STAND_INS[FrozenDiscrete] = stats.poisson(1)


def _enter_frozen(distribution):
    """Let the call of a distribution give its methods with these parameters."""
    is_continuous = isinstance(distribution, stats.rv_continuous)
    cls = FrozenContinuous if is_continuous else FrozenDiscrete

    def frozen(*args, **kwds):
        return cls(distribution, args, kwds)

    DISTRIBUTIONS[type(distribution)] = distribution
    COMPOSITIONS[distribution] = frozen


# -- rules of the standard form ------------------------------------------------------------------


def _log_density(score, bounded=True):
    def rule(out, x, shapes):
        by_x, *by_shapes = score(x, *shapes)
        if not bounded:
            return by_x, tuple(by_shapes)
        inside = out > -np.inf
        return _inside(inside, by_x), tuple(_inside(inside, p) for p in by_shapes)

    return rule


def _inside(inside, partial):
    if partial is None or partial is UNKNOWN:
        return partial
    return np.where(inside, partial, 0)


def _density(score):
    def rule(out, x, shapes):
        by_x, *by_shapes = score(x, *shapes)
        return _times(out, by_x), tuple(_times(out, p) for p in by_shapes)

    return rule


def _times(out, partial):
    if partial is None or partial is UNKNOWN:
        return partial
    return out * np.where(out == 0, 0, partial)


def _of_parameters(made, score):
    def by_all(x, *shapes):
        return None, *score(x, *shapes)

    return made(by_all)


def _unknown(x, *shapes):
    return (UNKNOWN,) * len(shapes)


def _distribution(density, sign, by_shapes):
    partials = by_shapes or _unknown

    def rule(out, x, shapes):
        by_all = tuple(_scaled(p, sign) for p in partials(x, *shapes))
        return None if density is None else sign * density(x, *shapes), by_all

    return rule


def _scaled(partial, factor):
    return UNKNOWN if partial is UNKNOWN else factor * partial


def _per_part(partial, sign, log_part):
    """The partial derivative of a logarithm, by that of the part of the distribution."""
    if partial is UNKNOWN:
        return UNKNOWN
    return np.where(partial == 0, 0, sign * partial * np.exp(-log_part))


def _log_distribution(log_density, sign, by_shapes):
    partials = by_shapes or _unknown

    def rule(out, x, shapes):
        by_all = tuple(_per_part(p, sign, out) for p in partials(x, *shapes))
        if log_density is None:
            return None, by_all
        log = log_density(x, *shapes)
        return sign * np.exp(np.where(log == -np.inf, log, log - out)), by_all

    return rule


def _inverse(density, sign, by_shapes):
    partials = by_shapes or _unknown

    def rule(out, x, shapes):
        slope = 1 / density(out, *shapes)
        by_all = tuple(_scaled(p, -slope) for p in partials(out, *shapes))
        return sign * slope, by_all

    return rule


# -- calls with a location and a scale -----------------------------------------------------------


def _parted(names, args, named):
    """The shapes, the location and the scale among the arguments of a call."""
    given = _given((*names, "loc", "scale"), args, named)
    return _shapes_of(names, given), given.get("loc", 0), given.get("scale", 1)


def _given(names, args, named):
    """The arguments of a call by their names."""
    if len(args) > len(names):
        raise TypeError(f"takes {len(names)} arguments beside the number, {len(args)} are given")
    for name in named:
        if name not in names[len(args) :]:
            raise TypeError(f"got an unexpected keyword argument {name!r}, or two values for it")
    return dict(zip(names, args, strict=False)) | named


def _shapes_of(names, given):
    for name in names:
        if name not in given:
            raise TypeError(f"missing a required argument: {name!r}")
    return [given[name] for name in names]


def _positive(scale):
    """SciPy gives nan for any other scale."""
    if np.ndim(scale) == 0:
        return scale if scale > 0 else np.nan
    return np.where(scale > 0, scale, np.nan)


def _less(x, loc):
    """The difference, as SciPy computes it: where x is of integers, the numbers of 64 bits."""
    if np.asarray(x).dtype.kind in "iu":
        loc = np.asarray(loc)
    return x - loc


def _at(method):
    names = _shapes(method)

    def variant(x, *args, **named):
        shapes, loc, scale = _parted(names, args, named)
        return method(_less(x, loc) / _positive(scale), *shapes)

    return variant


def _by_scale(method):
    names = _shapes(method)

    def variant(x, *args, **named):
        shapes, loc, scale = _parted(names, args, named)
        scale = _positive(scale)
        return method(_less(x, loc) / scale, *shapes) / scale

    return variant


def _less_log_scale(method):
    names = _shapes(method)

    def variant(x, *args, **named):
        shapes, loc, scale = _parted(names, args, named)
        return method(_less(x, loc) / scale, *shapes) - np.log(scale)  # nan, where that is none

    return variant


def _moved(method):
    names = _shapes(method)

    def variant(q, *args, **named):
        shapes, loc, scale = _parted(names, args, named)
        return method(q, *shapes) * _positive(scale) + loc

    return variant


def _shifted(method):
    names = _shapes(method)

    def variant(k, *args, **named):
        given = _given((*names, "loc"), args, named)
        return method(k - given.get("loc", 0), *_shapes_of(names, given))

    return variant
