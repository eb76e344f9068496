"""The calls on which every rule is tested, by family."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradscribe.primitives import shaping
from gradscribe.primitives.registry import available
from tests.primitives.cases_selection import INTERPOLATION, SELECTION
from tests.primitives.cases_statistics import REDUCTIONS, STATISTICS
from tests.primitives.harness import case
from tests.primitives.samples import array, positive, regular

# -- elementwise -----------------------------------------------------------------------------

DOMAINS: dict[Any, tuple[float, float]] = {
    operator.neg: (-2, 2),
    operator.pos: (-2, 2),
    np.negative: (-2, 2),
    np.positive: (-2, 2),
    np.reciprocal: (0.5, 2),
    np.square: (-2, 2),
    np.sqrt: (0.2, 3),
    np.cbrt: (0.2, 3),
    np.exp: (-2, 2),
    np.exp2: (-2, 2),
    np.expm1: (-1, 1),
    np.log: (0.2, 3),
    np.log2: (0.2, 3),
    np.log10: (0.2, 3),
    np.log1p: (-0.8, 3),
    np.sin: (-3, 3),
    np.cos: (-3, 3),
    np.tan: (-1, 1),
    np.arcsin: (-0.9, 0.9),
    np.arccos: (-0.9, 0.9),
    np.arctan: (-3, 3),
    np.sinh: (-2, 2),
    np.cosh: (-2, 2),
    np.tanh: (-2, 2),
    np.arcsinh: (-2, 2),
    np.arccosh: (1.2, 3),
    np.arctanh: (-0.9, 0.9),
    np.radians: (-90, 90),
    np.deg2rad: (-90, 90),
    np.degrees: (-2, 2),
    np.rad2deg: (-2, 2),
    abs: (0.1, 2),
    operator.abs: (-2, -0.1),
    np.abs: (-2, -0.1),
    np.fabs: (-2, -0.1),
    np.sign: (0.1, 2),
    np.floor: (0.1, 0.9),
    np.ceil: (0.1, 0.9),
    np.trunc: (0.1, 0.9),
    np.fix: (0.1, 0.9),
    np.rint: (0.1, 0.4),
    np.sinc: (-2, 2),
    np.i0: (-3, 3),
    np.nan_to_num: (-2, 2),
    np.real: (-2, 2),
    np.imag: (-2, 2),
    np.conjugate: (-2, 2),
    np.spacing: (1.1, 1.9),
    np.round: (0.1, 0.4),
    "round": (0.1, 0.4),
}
MATH_DOMAINS: dict[Any, tuple[float, float]] = {
    math.sqrt: (0.2, 3),
    math.exp: (-2, 2),
    math.expm1: (-1, 1),
    math.log: (0.2, 3),
    math.log2: (0.2, 3),
    math.log10: (0.2, 3),
    math.log1p: (-0.8, 3),
    math.sin: (-3, 3),
    math.cos: (-3, 3),
    math.tan: (-1, 1),
    math.asin: (-0.9, 0.9),
    math.acos: (-0.9, 0.9),
    math.atan: (-3, 3),
    math.sinh: (-2, 2),
    math.cosh: (-2, 2),
    math.tanh: (-2, 2),
    math.asinh: (-2, 2),
    math.acosh: (1.2, 3),
    math.atanh: (-0.9, 0.9),
    math.radians: (-90, 90),
    math.degrees: (-2, 2),
    math.fabs: (-2, -0.1),
    math.erf: (-2, 2),
    math.erfc: (-2, 2),
    math.gamma: (0.3, 4),
    math.lgamma: (0.3, 4),
    float: (-2, 2),
    np.float64: (-2, 2),  # (of arrays it depends on NumPy's version what comes out)
}
SHAPES = [(), (1,), (0,), (3,), (2, 3), (2, 1, 3)]

UNARY = [
    case(callee, array(*shape, low=low, high=high))
    for callee, (low, high) in DOMAINS.items()
    for shape in SHAPES
    if not (shape == () and callee in ("round",))
]
UNARY += [
    case(callee, np.float64(array(low=low, high=high)))
    for callee, (low, high) in MATH_DOMAINS.items()
]

BINARY_CALLEES = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    np.add,
    np.divide,
    np.remainder,
    np.fmod,
    np.power,
    np.float_power,
    np.logaddexp,
    np.logaddexp2,
    np.nextafter,
    np.hypot,
    np.arctan2,
    np.copysign,
    np.heaviside,
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
]
PAIRS = [
    ((), ()),
    ((3,), (3,)),
    ((3,), ()),
    ((), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((0,), (1,)),
]
BINARY = [
    case(callee, array(*a, low=0.3, high=3), array(*b, low=0.3, high=3))
    for callee in BINARY_CALLEES
    for a, b in PAIRS
]
BINARY += [
    case(callee, np.float64(1.3), np.float64(0.7))
    for callee in (
        *BINARY_CALLEES,
        max,
        min,
        math.pow,
        math.atan2,
        math.hypot,
        math.fmod,
        math.copysign,
        math.remainder,
    )
]
BINARY += [case(math.log, np.float64(1.3), np.float64(2.5)), case(round, np.float64(1.31), 1)]
BINARY += [case(callee, np.float64(1.3), -2) for callee in (math.ldexp, np.ldexp)]
BINARY += [case(np.ldexp, array(2, 3), np.array([1, 0, 2]))]
BINARY += [
    case(fma, np.float64(1.3), np.float64(0.7), np.float64(-2.0)) for fma in available(math, "fma")
]
BINARY += [
    case(operator.pow, array(3, low=0.3, high=2), exponent)
    for exponent in (0, 1, 2, 3, -1, 2.0, 0.5, 1.5, -2.5)
]
BINARY += [case(operator.pow, base, array(3)) for base in (2, 0.5)]
BINARY += [case(operator.pow, array(2), np.array([True, False])), case(np.power, array(2), True)]

CHOICES = [
    case(np.mod, np.array([-2.3, 2.3, 1.9]), np.array([0.7, -0.7, 0.4])),
    case(np.fmod, np.array([-2.3, 2.3, 1.9]), np.array([0.7, -0.7, 0.4])),
    case(np.where, np.array([True, False, True]), array(3), array(3)),
    case(np.where, np.array([True, False, True]), array(3), 0.0),
    case(np.where, np.array([[True], [False]]), array(3), array(2, 3)),
    case(np.where, np.array(True), np.float64(1.0), np.float64(2.0)),
    case(np.clip, np.array([-1.0, 0.5, 3.0]), 0.0, 2.0),
    case(np.clip, np.array([-1.0, 0.5, 3.0]), np.float64(0.0), np.float64(2.0)),
    case(np.clip, np.array([-1.0, 0.5, 3.0]), np.array([0.0, 0.1, 0.2]), None),
    case(np.clip, np.array([-1.0, 0.5, 3.0]), None, 2),
    case(np.clip, np.array([-1.0, 0.5, 3.0]), np.float64(2.0), np.float64(1.0)),
    case("clip", array(2, 3), -1, 1),
]

# -- shaping ---------------------------------------------------------------------------------

SHAPING = [
    case(np.reshape, array(2, 3), (3, 2)),
    case(np.reshape, array(2, 3), -1),
    case(np.reshape, array(2, 3), (2, -1)),
    case(np.reshape, array(2, 3, 4), (-1, 4)),
    case(np.reshape, array(2, 3, 4), (6, -1, 2)),
    case(np.reshape, array(2, 3), (3, 2), order="F"),
    case(np.reshape, array(4), (1, 4, 1)),
    case(np.reshape, array(), (1,)),
    case("reshape", array(2, 3), (6,)),
    case(np.ravel, array(2, 3)),
    case(np.ravel, array(2, 3), order="F"),
    case(np.ravel, array(3)),
    case(np.ravel, array()),
    case("ravel", array(2, 3)),
    case("flatten", array(2, 3)),
    case(np.transpose, array(2, 3)),
    case(np.transpose, array(3)),
    case(np.transpose, array(2, 3, 4)),
    case(np.transpose, array(2, 3, 4), (1, 2, 0)),
    case(np.transpose, array(2, 3, 4), axes=(-1, 0, 1)),
    case("T", array(2, 3)),
    case("transpose", array(2, 3, 4), (2, 0, 1)),
    case("mT", array(2, 3, 4)),
    case(np.matrix_transpose, array(2, 3, 4)),
    case(np.swapaxes, array(2, 3, 4), 0, -1),
    case("swapaxes", array(2, 3, 4), 0, 1),
    case(np.moveaxis, array(2, 3, 4), 0, -1),
    case(np.moveaxis, array(2, 3, 4), (0, 1), (2, 0)),
    case(np.expand_dims, array(3), 0),
    case(np.expand_dims, array(2, 3), (0, -1)),
    case(np.expand_dims, array(), 0),
    case(np.squeeze, array(1, 3, 1)),
    case(np.squeeze, array(1, 3, 1), axis=0),
    case(np.squeeze, array(1, 3, 1), axis=(0, -1)),
    case("squeeze", array(1, 1)),
    case(np.broadcast_to, array(3), (2, 3)),
    case(np.broadcast_to, array(2, 1), (4, 2, 3)),
    case(np.broadcast_to, np.float64(2.0), (2, 3)),
    case(np.flip, array(2, 3)),
    case(np.flip, array(2, 3), axis=1),
    case(np.flip, array(2, 3), axis=(0, 1)),
    case("astype", array(3), np.float32),
    case(np.copy, array(2, 3)),
    case("copy", array(2, 3)),
    case(np.asarray, array(2, 3)),
    case(shaping.respelled, array(2, 3), "tensor"),
    case(np.asarray, np.float64(2.0)),
    case(np.ascontiguousarray, array(2, 3)),
    case(np.ascontiguousarray, array()),
]

# -- joining and creation --------------------------------------------------------------------

JOINING = [
    case("tolist", array(3)),
    case("tolist", array(2, 3)),
    case(list, array(3)),
    case(list, array(2, 3)),
    case(np.concatenate, (array(2), array(3))),
    case(np.concatenate, (array(2, 2), array(2, 3)), axis=1),
    case(np.concatenate, [array(2, 3), array(2, 3)], axis=-1),
    case(np.concatenate, (array(2), array(2, 3)), axis=None),
    case(np.concatenate, (array(), array(0, 3), array(3)), axis=None),
    case(np.concatenate, [array(2, 3), array(2, 3)], axis=None),
    case(np.concatenate, (array(1, 3), array(0, 3), array(2, 3))),
    case(np.stack, (array(3), array(3))),
    case(np.stack, (array(2, 3), array(2, 3)), axis=1),
    case(np.stack, [array(2, 3), array(2, 3)], axis=-1),
    case(np.stack, [np.float64(1.0), np.float64(2.0)]),
    case(np.hstack, (array(2), array(3))),
    case(np.hstack, (array(2, 2), array(2, 3))),
    case(np.hstack, (np.float64(1.0), np.float64(2.0))),
    case(np.hstack, (np.float64(1.0), array(3), np.float64(2.0))),
    case(np.column_stack, (array(3), array(3))),
    case(np.column_stack, (array(3, 2), array(3), array(3, 1))),
    case(np.column_stack, (array(3), array(3, 2), array(3))),
    case(np.column_stack, (np.float64(1.0), np.float64(2.0))),
    case(np.vstack, (array(3), array(3))),
    case(np.vstack, (array(2, 3), array(1, 3))),
    case(np.vstack, (np.float64(1.0), np.float64(2.0))),
    case(np.vstack, (array(2, 3), array(3), array(3))),
    case(np.vstack, (array(3), array(2, 3), array(3))),
    case(np.array, array(2, 3)),
    case(np.array, np.float64(1.0)),
    case(np.array, (np.float64(1.0), np.float64(2.0))),
    case(np.array, ((np.float64(1.0), np.float64(2.0)), (np.float64(3.0), np.float64(4.0)))),
    case(np.array, (array(3), array(3))),
    case(sum, (np.float64(1.0), np.float64(2.0))),
    case(sum, (array(3), array(3)), np.float64(2.0)),
    case(math.fsum, (np.float64(1.0), np.float64(2.0))),
    case(math.fsum, array(4)),
    case(math.dist, array(3), array(3)),
    case(math.dist, (np.float64(1.0), np.float64(2.0)), (np.float64(0.5), np.float64(4.0))),
    *(case(sumprod, array(3), array(3)) for sumprod in available(math, "sumprod")),
    case(sum, array(4)),
    case(sum, array(2, 3)),
    case(np.full, (2, 3), np.float64(2.0)),
    case(np.full, 3, np.float64(2.0)),
    case(np.full, (2, 3), array(3)),
    case(np.full_like, np.zeros((2, 3), int), np.float64(2.0), dtype=float),
    case(np.arange, np.float64(0.5), np.float64(3.1), np.float64(0.3)),
    case(np.arange, np.float64(0.5), 3.2),
    case(np.arange, 3, 0, np.float64(-0.7)),
    case(np.linspace, np.float64(0.5), np.float64(2.0), 5),
    case(np.linspace, np.float64(0.5), np.float64(2.0), 4, endpoint=False),
    case(np.linspace, array(3), array(2, 1), 4),
    case(np.linspace, array(3), np.float64(2.0), 4, axis=-1),
]

# -- products --------------------------------------------------------------------------------

MATMUL_SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((5, 2, 0), (0, 4)),
    ((0, 3), (3,)),
]
PRODUCTS = [
    *(case(operator.matmul, array(*a), array(*b)) for a, b in MATMUL_SHAPES),
    *(case(np.dot, array(*a), array(*b)) for a, b in MATMUL_SHAPES if a[:-2] == b[:-2] == ()),
    case(np.dot, array(5, 2, 3), array(3)),
    case(np.dot, array(5, 2, 3), array(3, 4)),
    case(np.dot, array(5, 2, 3), array(2, 3, 4)),
    case(np.dot, array(3), array(2, 3, 4)),
    case(np.dot, array(3), np.float64(2.0)),
    case(np.dot, np.float64(2.0), array(2, 3)),
    case("dot", array(2, 3), array(3)),
    case(np.inner, array(3), array(3)),
    case(np.inner, array(2, 3), array(3)),
    case(np.inner, array(2, 3), array(4, 3)),
    case(np.inner, array(5, 2, 3), array(4, 3)),
    case(np.inner, np.float64(2.0), array(3)),
    case(np.outer, array(3), array(4)),
    case(np.outer, array(2, 3), array(4)),
    case(np.outer, array(3), np.float64(2.0)),
    case(np.vecdot, array(2, 3), array(3)),
    case(np.linalg.vecdot, array(2, 3), array(2, 3), axis=0),
    case(np.matvec, array(2, 3), array(3)),
    case(np.matvec, array(5, 2, 3), array(4, 1, 3)),
    case(np.vecmat, array(2), array(2, 3)),
    case(np.vecmat, array(4, 1, 2), array(5, 2, 3)),
    case(np.linalg.multi_dot, (array(2, 3), array(3, 4))),
    case(np.linalg.multi_dot, (array(3), array(3, 4), array(4, 2))),
    case(np.linalg.multi_dot, (array(3), array(3, 4), array(4, 2), array(2))),
    case(np.vdot, array(3), array(3)),
    case(np.vdot, array(2, 3), array(2, 3)),
    case(np.trace, array(3, 3)),
    case(np.trace, array(3, 4), offset=1),
    case(np.trace, array(3, 4), offset=-1, axis1=1, axis2=0),
    case(np.trace, array(2, 3, 4), axis1=1, axis2=2),
    case(np.trace, array(2, 3, 4), offset=1, axis1=0, axis2=1),
    case(np.trace, array(2, 3, 4), offset=1, axis1=1, axis2=2),
    case(np.trace, array(2, 3, 4), axis1=2, axis2=0),
]

# -- matrices ----------------------------------------------------------------------------------

STACKS = [(3, 3), (2, 3, 3)]
VECTOR_ORDERS = [None, 0, 1, 2, 3, 2.5, np.inf, -np.inf]
MATRIX_ORDERS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]
MATRICES = [
    *(case(f, regular(*s)) for f in (np.linalg.inv, np.linalg.det) for s in STACKS),
    *(case(f, positive(*s)) for f in (np.linalg.cholesky, np.linalg.eigvalsh) for s in STACKS),
    case(np.linalg.eigvalsh, positive(3, 3), UPLO="U"),
    *(case(np.linalg.svdvals, array(*s)) for s in [(3, 3), (4, 3), (2, 3, 4)]),
    *(
        case(np.linalg.solve, regular(*a), array(*b))
        for a in STACKS
        for b in [(3,), (3, 2), (2, 3, 4)]
    ),
    *(case(np.linalg.pinv, array(*s)) for s in [(3, 3), (4, 3), (3, 4), (2, 4, 3)]),
    *(case(np.linalg.norm, array(4), ord) for ord in VECTOR_ORDERS),
    *(case(np.linalg.norm, array(4, 3), ord, axis=1) for ord in VECTOR_ORDERS),
    *(case(np.linalg.norm, array(4, 3), ord) for ord in MATRIX_ORDERS),
    *(case(np.linalg.norm, array(2, 4, 3), ord, axis=(0, 2)) for ord in MATRIX_ORDERS),
    case(np.linalg.norm, array(2, 4, 3)),
    case(np.linalg.norm, array(2, 4, 3), axis=-1, keepdims=True),
    case(np.linalg.norm, array(4, 3), "nuc", axis=(1, 0), keepdims=True),
]

# -- parts of arrays -----------------------------------------------------------------------------

PARTS = [
    *(case(callee, array(3, 3), k) for callee in (np.tril, np.triu) for k in (0, 1, -1)),
    case(np.tril, array(2, 3, 4)),
    case(np.triu, array(4, 2), k=-1),
    case(np.diagonal, array(3, 3)),
    case(np.diagonal, array(3, 4), 1),
    case(np.diagonal, array(3, 3), -1),
    case(np.diagonal, array(2, 3, 4), 1, 1, 2),
    case("diagonal", array(4, 3), -1),
    case(np.diagflat, array(3)),
    case(np.diagflat, array(3), -2),
    case(np.roll, array(4), 1),
    case(np.roll, array(2, 3), -1, axis=1),
    case(np.roll, array(2, 3), 4),
    case(np.roll, array(2, 3), (1, -1), axis=(0, 1)),
    case(np.diff, array(4)),
    case(np.diff, array(2, 4), axis=0),
    case(np.diff, array(2, 4), 2),
    case(np.diff, array(5), n=3),
    case(np.cross, array(3), array(3)),
    case(np.cross, array(4, 3), array(3)),
    *(
        case(np.tensordot, array(*a), array(*b), axes=axes)
        for a, b, axes in [
            ((2, 3), (3, 4), 1),
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3), (4, 5), 0),
            ((2, 3, 4), (4, 5, 2), ((0, 2), (2, 0))),
            ((2, 3), (2, 3), ((1, 0), (1, 0))),
            ((3, 2), (3,), (0, 0)),
        ]
    ),
]


SUMMATION = [
    case(np.einsum, subscripts, *(array(*shape) for shape in shapes))
    for subscripts, shapes in [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ij->ji", [(2, 3)]),
        ("ij->i", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("i,i", [(3,), (3,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]),
        ("ij,jk,ik->i", [(2, 3), (3, 3), (2, 3)]),
        ("ij,k->k", [(2, 3), (2,)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("iij,i->j", [(2, 2, 3), (2,)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (4, 2)]),
        ("...i,...i", [(2, 3), (3,)]),
        ("i...->...", [(2, 3)]),
        ("...,...", [(2, 1), (1, 3)]),
    ]
]

ELEMENTWISE = UNARY + BINARY
OTHERS = (
    CHOICES
    + REDUCTIONS
    + STATISTICS
    + SHAPING
    + SELECTION
    + INTERPOLATION
    + JOINING
    + PRODUCTS
    + MATRICES
    + PARTS
    + SUMMATION
)
ALL = ELEMENTWISE + OTHERS
