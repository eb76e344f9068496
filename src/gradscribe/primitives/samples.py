"""Python's `statistics`: means and deviations of the numbers in a list, tuple or array.

They are computed exactly and rounded once, so the function itself is called; the derivatives are
those of the formulas.
"""

from __future__ import annotations

import statistics

import numpy as np

from gradscribe.ir.types import FLOAT, Array, Scalar, Sequence
from gradscribe.primitives.joining import to_each
from gradscribe.primitives.numbers import in_form
from gradscribe.primitives.registry import adjoint
from gradscribe.primitives.typing import TypeRuleError, number_type

FUNCTIONS = (
    statistics.mean,
    *(statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev),
    *(statistics.geometric_mean, statistics.harmonic_mean),
)
_PLAIN = (statistics.pstdev, statistics.stdev)
"""Functions that give a float whatever kind of number they are given."""


def _type(facts, callee, data):
    items = _items(data)
    if not items or any(item.dtype != "float64" for item in items):
        what = f"`statistics.{callee.__name__}` of these items is not supported"
        raise TypeRuleError(what, "convert them: `[float(v) for v in data]`")
    weak = callee in _PLAIN or all(item.weak for item in items)
    return FLOAT if weak else Scalar("float64", weak=False)


def _items(data):
    """The types of the items."""
    if isinstance(data, Sequence) and isinstance(data.item, Scalar):
        return [data.item]
    if isinstance(data, Array) and data.rank == 1:
        return [Scalar(data.dtype, weak=False)]
    given = data if isinstance(data, (tuple, list)) else ()
    types = [number_type(item) for item in given]
    return types if all(isinstance(type_, Scalar) for type_ in types) else []


def _mean_tangent(out, data, *, d_data):
    return np.sum(np.array(d_data)) / len(data)


@adjoint(statistics.mean, type=_type, tangent=_mean_tangent)
def mean(out, data, *, d_out):
    return (to_each(d_out / len(data), data),)


def _deviations(data):
    values = np.array(data)
    return values - np.mean(values)


def _pvariance_tangent(out, data, *, d_data):
    return 2 * np.dot(_deviations(data), np.array(d_data)) / len(data)


@adjoint(statistics.pvariance, type=_type, tangent=_pvariance_tangent)
def pvariance(out, data, *, d_out):
    return (in_form(2 * d_out / len(data) * _deviations(data), data),)


def _variance_tangent(out, data, *, d_data):
    return 2 * np.dot(_deviations(data), np.array(d_data)) / (len(data) - 1)


@adjoint(statistics.variance, type=_type, tangent=_variance_tangent)
def variance(out, data, *, d_out):
    return (in_form(2 * d_out / (len(data) - 1) * _deviations(data), data),)


def _pstdev_tangent(out, data, *, d_data):
    return np.dot(_deviations(data), np.array(d_data)) / (len(data) * (out + (out == 0)))


@adjoint(statistics.pstdev, type=_type, tangent=_pstdev_tangent)
def pstdev(out, data, *, d_out):
    return (in_form(d_out / (len(data) * (out + (out == 0))) * _deviations(data), data),)


def _stdev_tangent(out, data, *, d_data):
    return np.dot(_deviations(data), np.array(d_data)) / ((len(data) - 1) * (out + (out == 0)))


@adjoint(statistics.stdev, type=_type, tangent=_stdev_tangent)
def stdev(out, data, *, d_out):
    return (in_form(d_out / ((len(data) - 1) * (out + (out == 0))) * _deviations(data), data),)


def _geometric_tangent(out, data, *, d_data):
    return out / len(data) * np.sum(np.array(d_data) / np.array(data))


@adjoint(statistics.geometric_mean, type=_type, tangent=_geometric_tangent)
def geometric_mean(out, data, *, d_out):
    return (in_form(d_out * out / len(data) / np.array(data), data),)


def _harmonic_tangent(out, data, *, d_data):
    return out * out / len(data) * np.sum(np.array(d_data) / np.array(data) ** 2)


@adjoint(statistics.harmonic_mean, type=_type, tangent=_harmonic_tangent)
def harmonic_mean(out, data, *, d_out):
    return (in_form(d_out * out * out / len(data) / np.array(data) ** 2, data),)
